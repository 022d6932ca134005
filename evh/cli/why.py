"""``evh why``: what one number rests on, and whether those files are still the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evh.cli.common import command, emit, project, say, warn
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.acts.why import Answer

FIGURE = "figure"
HEX = 12
"""How many digits of a hash people see; ``--json`` has all."""


@command("why", example="evh why agree:cve_2024_07_08/cisa,cve_2024_07_08/known_exploited#kappa")
@click.argument("ref", metavar="REF")
@click.option("--dataset-id", metavar="D", help="Of two sets' agreement: the dataset whose items count.")
def why(*, ref: str, dataset_id: str | None, as_json: bool) -> None:
    """Show the provenance of one number: runs, sets, guideline, promotion, scorer, each file's sha256.

    REF is run:RUN#METRIC, sheet:DATASET/ITEM#ARM.METRIC, sheet:DATASET/ITEM#winner,
    sheet:DATASET#ARM.METRIC, sheet:DATASET#ARM.win_rate or agree:DATASET/SET,DATASET/SET#FIGURE; the pages of
    the catalog give it ready to copy. Exit 1 when a file is no longer what was recorded, or a figure what its
    rows give.
    """
    from evh.acts import why as act

    answer = act.explain(project(), ref, dataset_id=dataset_id)
    if as_json:
        rows = [
            {
                "depth": one.depth,
                "kind": one.kind,
                "ref": one.ref,
                "told": one.told or None,
                "file": one.file,
                "recorded": one.recorded,
                "recorded_by": one.by,
                "found": one.found,
                "matches": one.matches,
            }
            for one in answer.links
        ]
        value = {"ref": answer.ref, "value": answer.value, "how": answer.how}
        emit("why", "links", rows, warnings=answer.warnings, **value, n_changed=len(answer.changed))
    else:
        _tell(answer)
    if answer.changed:
        click.get_current_context().exit(1)


def _tell(answer: Answer) -> None:
    value = "undefined" if answer.value is None else answer.value
    say(f"{one_line(answer.ref)} = {one_line(str(value))}")
    say(one_line(answer.how, 400))
    say()
    for one in answer.links:
        mark = {True: "matches", False: "CHANGED", None: "no record"}[one.matches]
        if one.recorded and one.matches is None:
            mark = "not here"
        digest = (one.found or one.recorded or "")[:HEX]
        told = f": {one_line(one.told, 200)}" if one.told else ""
        say(f"{mark:<9} {'  ' * one.depth}{one.kind} {one_line(one.ref)}{told}")
        if one.file or digest:
            where = f"{one_line(one.file, 200)} {digest}" if one.file else digest
            say(f"          {'  ' * one.depth}  {where}")
        if one.matches is False and one.recorded:
            now = one.found[:HEX] if one.found else "missing"
            who = one.by or "its record"
            say(f"          {'  ' * one.depth}  {who} says {one.recorded[:HEX]}, it is {now}")
    say()
    files = [one for one in answer.links if one.kind != FIGURE]
    held = sum(one.matches is True for one in files)
    changed = sum(one.matches is False for one in files)
    say(
        f"{plural(held, 'record')} of {held + changed:,} match"
        if changed
        else f"all {plural(held, 'recorded hash', 'recorded hashes')} match"
    )
    for one in answer.links:
        if one.kind == FIGURE and one.matches is False:
            say(f"{one_line(one.ref)} is not what its rows give")
    warn(answer.warnings)
