"""A run: its figures, settings and fingerprint, and the items it failed on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import fsum
from statistics import median
from typing import TYPE_CHECKING, Any

from evh.project.arms import scored_against
from evh.project.memory import Same
from evh_build import urls
from evh_build.answers import answers
from evh_build.page import Command, Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.pages.runs.page import RunView, run_view
from evh_build.run_figures import Figure, figures
from evh_build.since import Since, since
from evh_build.source import command, flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evh.records.run import Prediction, Run
    from evh_build.source import Source

MOST_ROWS = 200
MOST_KINDS = 6


@dataclass(frozen=True, slots=True)
class WrongRow:
    """An item that a run failed on or got wrong: its page, what was decided, what is right, the error."""

    item: Link
    decision: str | None
    answer: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class WrongKind:
    """How often one thing was decided where the set says another."""

    decision: str
    answer: str
    n: int


@dataclass(frozen=True, slots=True)
class Spent:
    """What the calls took, over the items that tell it; a recorded run made none."""

    latency_ms: float | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A run's page.

    Attributes:
        run: the run as lists show it.
        derived_from: the run that its outputs come from.
        figures: its figures with their intervals, the primary first.
        settings: what was sent, key by key.
        fingerprint: what identifies it, key by key.
        since: what differs from the arm's run before it; None for the first.
        spent: the median latency, the tokens and the cost; None where nothing is on record.
        kinds: the ways of being wrong, the most frequent first.
        wrong: items that failed or whose ``correct`` is 0, the first ones.
        n_wrong: how many there are.
        sheet: the page of its dataset's sheet.
    """

    run: RunView
    derived_from: Link | None
    figures: tuple[Figure, ...]
    settings: tuple[tuple[str, str], ...]
    fingerprint: tuple[tuple[str, str], ...]
    since: Since | None
    spent: Spent | None
    kinds: tuple[WrongKind, ...]
    wrong: tuple[WrongRow, ...]
    n_wrong: int
    sheet: str | None


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a run."""
    for key, run in source.gathered.runs.items():
        path = source.urls.run(key)
        if path is None:
            continue
        wrong = _wrong(source, run)
        derived = (run.derived or {}).get("kind") == "rescored"
        yield Leaf(
            path,
            Context(
                title=run.run_id,
                section="runs",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Runs", urls.RUNS)),
                commands=(
                    command(
                        "its rows of the sheet",
                        "inspect", "--sheet", "--dataset-id", run.dataset_id, "--runs", run.run_id,
                    ),
                    command("the runs of this dataset", "runs", "--dataset-id", run.dataset_id),
                    command("what its figure rests on, file by file", "why", _figure(run)),
                    *_since_commands(source, run),
                ),
                run=run_view(source, run),
                derived_from=_origin(source, run),
                figures=figures(source, run),
                settings=flat(dict(run.params)),
                fingerprint=flat({"version": run.fingerprint.get("version"), **dict(run.fingerprint)}),
                since=since(source, run),
                spent=None if run.recorded or derived else _spent(source, run),
                kinds=wrong.kinds,
                wrong=wrong.rows,
                n_wrong=wrong.n,
                sheet=source.urls.sheet(run.dataset_id),
            ),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Wrong:
    """What a run failed on or got wrong: the first rows, how many there are, the ways of being wrong."""

    rows: tuple[WrongRow, ...]
    n: int
    kinds: tuple[WrongKind, ...]


def _wrong(source: Source, run: Run) -> _Wrong:
    rows = source.rows_of("run", "wrong", run=run.key)
    right = answers(source, run.dataset_id, scored_against(run))
    pages = [source.urls.full(run.dataset_id, row["item_id"]) for row in rows[:MOST_ROWS]]

    def make() -> _Wrong:
        shown = zip(rows[:MOST_ROWS], pages, strict=True)
        return _Wrong(
            tuple(
                WrongRow(Link(row["item_id"], path), row["decision"], right.get(row["item_id"]), row["error"])
                for row, path in shown
            ),
            len(rows),
            _kinds(rows, right),
        )

    return source.gathered.kept(("wrong", run.key), (), make, rows, right, pages)


def _kinds(rows: list[dict[str, Any]], right: Mapping[str, str]) -> tuple[WrongKind, ...]:
    counted = Counter(
        (str(row["decision"]), right[row["item_id"]])
        for row in rows
        if row["error"] is None and row["decision"] is not None and row["item_id"] in right
    )
    ranked = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    return tuple(WrongKind(decision, answer, n) for (decision, answer), n in ranked[:MOST_KINDS])


def _spent(source: Source, run: Run) -> Spent | None:
    rows = source.gathered.predictions(run)
    return source.gathered.kept(("spent", run.key), (), lambda: _sums(rows), Same(rows))


def _sums(rows: tuple[Prediction, ...]) -> Spent | None:
    latency = [row.latency_ms for row in rows if row.latency_ms is not None]
    sums = {
        name: [value for row in rows if (value := getattr(row, name)) is not None]
        for name in ("tokens_in", "tokens_out", "cost_usd")
    }
    if not latency and not any(sums.values()):
        return None
    return Spent(
        latency_ms=median(latency) if latency else None,
        tokens_in=int(fsum(sums["tokens_in"])) if sums["tokens_in"] else None,
        tokens_out=int(fsum(sums["tokens_out"])) if sums["tokens_out"] else None,
        cost_usd=fsum(sums["cost_usd"]) if sums["cost_usd"] else None,
    )


def _since_commands(source: Source, run: Run) -> tuple[Command, ...]:
    before = source.gathered.deciding.previous(run)
    if before is None:
        return ()
    return (command("what differs from the run before it", "runs", "--diff", before.key, run.key),)


def _figure(run: Run) -> str:
    """Return the name of a run's main figure for ``evh why``; of an unscored run the count of its items."""
    metric = run.shown_metric
    return f"run:{run.key}#{metric if metric in run.scores else 'n_items'}"


def _origin(source: Source, run: Run) -> Link | None:
    origin = (run.derived or {}).get("from")
    if not isinstance(origin, str):
        return None
    key = origin if "/" in origin else f"runs/{origin}"
    return Link(origin, source.urls.run(key) if key != run.key else None)


PAGE = Page("run", Context, make, queries=("wrong",))
