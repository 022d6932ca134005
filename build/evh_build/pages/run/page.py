"""A run: its figures, settings and fingerprint, and the items it failed on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.pages.runs.page import RunView, run_view
from evh_build.source import command, flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.records.run import Run
    from evh_build.source import Source

MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class WrongRow:
    """An item that a run failed on or got wrong: its page, what was decided, the error."""

    item: Link
    decision: str | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A run's page.

    Attributes:
        run: the run as lists show it.
        derived_from: the run that its outputs come from.
        scores: its figures, the primary first.
        settings: what was sent, key by key.
        fingerprint: what identifies it, key by key.
        wrong: items that failed or whose ``correct`` is 0, the first ones.
        n_wrong: how many there are.
        sheet: the page of its dataset's sheet.
    """

    run: RunView
    derived_from: Link | None
    scores: tuple[tuple[str, float], ...]
    settings: tuple[tuple[str, str], ...]
    fingerprint: tuple[tuple[str, str], ...]
    wrong: tuple[WrongRow, ...]
    n_wrong: int
    sheet: str | None


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a run."""
    for key, run in source.gathered.runs.items():
        path = source.urls.run(key)
        if path is None:
            continue
        rows = source.rows_of("run", "wrong", run=key)
        yield Leaf(
            path,
            Context(
                title=run.run_id,
                section="runs",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Runs", urls.RUNS)),
                commands=(
                    command(
                        "its rows of the sheet",
                        "inspect",
                        "--sheet",
                        "--dataset-id",
                        run.dataset_id,
                        "--runs",
                        run.run_id,
                    ),
                    command("every run", "runs"),
                ),
                run=run_view(source, run),
                derived_from=_origin(source, run),
                scores=tuple(
                    sorted(run.scores.items(), key=lambda one: (one[0] != run.primary_metric, one[0]))
                ),
                settings=flat(dict(run.params)),
                fingerprint=flat({"version": run.fingerprint.get("version"), **dict(run.fingerprint)}),
                wrong=tuple(
                    WrongRow(
                        Link(row["item_id"], source.urls.item(run.dataset_id, row["item_id"])),
                        row["decision"],
                        row["error"],
                    )
                    for row in rows[:MOST_ROWS]
                ),
                n_wrong=len(rows),
                sheet=source.urls.sheet(run.dataset_id),
            ),
        )


def _origin(source: Source, run: Run) -> Link | None:
    origin = (run.derived or {}).get("from")
    if not isinstance(origin, str):
        return None
    key = origin if "/" in origin else f"runs/{origin}"
    return Link(origin, source.urls.run(key) if key != run.key else None)


PAGE = Page("run", Context, make, queries=("wrong",))
