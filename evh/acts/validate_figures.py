"""Check of the figures of whole runs: what evh itself makes of rows and labels is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts.remade import Remaking
from evh.acts.sources import Sources
from evh.project import runs
from evh.project.arms import scored_against
from evh.store.text import plural

if TYPE_CHECKING:
    from evh.acts.findings import Findings

SHOWN = 3
"""How many figures a note names."""


def check(found: Findings) -> None:
    """Check each run's figures that no row has alone; those that cannot be made again are noted.

    What cannot be read is told by the other checks. The means are `validate_records`'s.
    """
    sources = Sources(found.project)
    remaking = Remaking(sources)
    for run in sources.runs:
        if run.judged:
            continue
        held = {name for row in sources.predictions(run) for name in row.scores}
        path = runs.path_of(found.project, run) / runs.METRICS
        trusted = []
        for metric in sorted(set(run.scores) - held):
            made = remaking.figure(run, metric)
            if made.holds is None:
                trusted.append(metric)
            elif not made.holds:
                against = scored_against(run)
                found.error(
                    "scores",
                    path,
                    f"{metric}: it says {made.stated:g}; its rows and {against} give {made.made:g}",
                )
        if trusted:
            more = f" and {len(trusted) - SHOWN} more" if len(trusted) > SHOWN else ""
            found.note(
                "on-trust",
                path,
                f"{plural(len(trusted), 'figure')} over the whole run, made by its adapter, not made again: "
                f"{', '.join(trusted[:SHOWN])}{more}",
            )
