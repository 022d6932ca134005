"""Two arms compared on a dataset: how often they decided alike, and item by item what moved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.project.memory import Same
from evh_build import fragments, urls
from evh_build.answers import answers
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.paired import TestView, test_view
from evh_build.pairs import comparison, pairs
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markupsafe import Markup

    from evh.acts.compare_runs import Comparison, Moved
    from evh.acts.sheet_model import ArmColumn, Cell
    from evh_build.page import Command
    from evh_build.source import Mark, Source

MOST_ROWS = 500
MOST_KINDS = 10
MARKS = {
    0.0: ' <span class="wrong">✗<span class="sr"> wrong</span></span>',
    1.0: ' <span class="right">✓<span class="sr"> right</span></span>',
}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two arms: its page, its run's page, its flags, and on how many items it scored better."""

    arm: Link
    run: str | None
    recorded: bool
    own: bool
    fitted: bool
    better: int | None


@dataclass(frozen=True, slots=True)
class Kind:
    """How often one decided this and the other that."""

    first: str | None
    second: str | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The page that compares two arms.

    Attributes:
        dataset: the dataset.
        sides: the two arms.
        metric: the metric by which one is better on an item; empty where no arm has one.
        against: what it was scored against.
        n_items: how many items the dataset has.
        n_both: how many both arms decided.
        n_same: how many of those they decided alike.
        share: ``n_same`` as a share of ``n_both``.
        kinds: the commonest ways in which they decided differently.
        n_kinds: how many ways there are.
        rows: the items that moved, the first ones, as rows of the table.
        n_shown: how many rows there are.
        n_moved: how many items moved.
        sheet: the page of the dataset's sheet.
        test: the paired test of the two; None where they have no figure in common.
        notes: what a reader must know.
    """

    dataset: Link
    sides: tuple[Side, Side]
    metric: str
    against: Mark | None
    n_items: int
    n_both: int
    n_same: int
    share: float | None
    kinds: tuple[Kind, ...]
    n_kinds: int
    rows: Markup
    n_shown: int
    n_moved: int
    sheet: str | None
    test: TestView | None
    notes: tuple[str, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give a page for each pair that has one."""
    for name in source.gathered.datasets:
        for first, second in pairs(source, name):
            found = comparison(source, name, first, second)
            if found is not None:
                path = source.urls.compare(name, first, second)
                yield Leaf(path, _context(source, found, path))


def _context(source: Source, found: Comparison, path: str) -> Context:
    name = found.dataset_id
    first, second = found.arms
    against = found.against.ref if found.against else None
    unread = source.gathered.sources.notes()  # told on the home page
    told = _Told(answers(source, name, against), _previews(source, name))
    moved = _moved(source, found, told, path)
    tested = source.gathered.deciding.pair(name, first.name, second.name)
    dataset = source.urls.dataset(name)
    return Context(
        title=f"{first.name} and {second.name}",
        section="arms",
        crumbs=(
            Crumb("Home", urls.HOME),
            Crumb("Arms", urls.ARMS),
            *((Crumb(name, dataset),) if dataset else ()),
        ),
        commands=_commands(found),
        dataset=Link(name, dataset),
        sides=(_side(source, found, 0), _side(source, found, 1)),
        metric=found.metric,
        against=source.mark(found.against) if found.against else None,
        n_items=found.n_items,
        n_both=found.n_both,
        n_same=found.n_same,
        share=found.n_same / found.n_both if found.n_both else None,
        kinds=moved.kinds,
        n_kinds=moved.n_kinds,
        rows=moved.rows,
        n_shown=min(len(found.rows), MOST_ROWS),
        n_moved=len(found.rows),
        sheet=source.urls.sheet(name),
        test=test_view(source, tested, unread) if tested else None,
        notes=tuple(note for note in found.notes if note not in unread),
    )


def _commands(found: Comparison) -> tuple[Command, ...]:
    first, second = found.arms
    both = f"{first.name},{second.name}"
    on = ("--dataset-id", found.dataset_id)
    return (
        command("the same on the terminal", "inspect", *on, "--runs", both),
        command("the paired test of the two", "pair-test", first.name, second.name, *on),
        command("only where they decided differently", "inspect", *on, "--runs", both, "--disagree"),
        command(
            "a sheet to label where they differ",
            "label-sheet", *on, "--items", "disagree", "--runs", both, "--out", "sheet.csv",
        ),
    )  # fmt: skip


def _side(source: Source, found: Comparison, at: int) -> Side:
    arm = found.arms[at]
    place = arm.position(found.metric, found.against)
    column = None if place is None else arm.scores[place]
    return Side(
        arm=Link(arm.name, source.urls.arm(arm.run.config_id)),
        run=source.urls.run(arm.run.key),
        recorded=arm.recorded,
        own=bool(column and column.own),
        fitted=bool(column and column.fitted),
        better=found.n_better[at] if found.n_better else None,
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What is told of every item beside what the arms did: the right answer, the start of its text."""

    answers: Mapping[str, str]
    previews: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What moved: the first rows as HTML, the commonest ways of deciding differently, how many there are."""

    rows: Markup
    kinds: tuple[Kind, ...]
    n_kinds: int


def _moved(source: Source, found: Comparison, told: _Told, path: str) -> _Shown:
    rows, root = found.rows[:MOST_ROWS], urls.root_of(path)
    pages = [source.urls.full(found.dataset_id, row.item_id) for row in rows]

    def make() -> _Shown:
        kinds = Counter(
            (_decided(row.cells[0]), _decided(row.cells[1])) for row in found.rows if row.decided_otherwise
        )
        ranked = sorted(kinds.items(), key=lambda one: (-one[1], str(one[0])))
        return _Shown(
            fragments.rows(
                _row(found, row, fragments.link(row.item_id, page, root), told)
                for row, page in zip(rows, pages, strict=True)
            ),
            tuple(Kind(one, other, n) for (one, other), n in ranked[:MOST_KINDS]),
            len(ranked),
        )

    names = [arm.name for arm in found.arms]
    return source.gathered.kept(
        ("moved", path), (), make,
        Same(found.rows), names, found.against is None, Same(told.answers), Same(told.previews), pages,
    )  # fmt: skip


def _row(found: Comparison, row: Moved, head: str, told: _Told) -> str:
    preview = fragments.text(told.previews.get(row.item_id, ""))
    cells = [
        fragments.cell(_decision(cell, arm, score, row.better))
        for cell, arm, score in zip(row.cells, found.arms, row.scores, strict=True)
    ]
    if found.against:
        cells.append(fragments.cell(fragments.text(told.answers.get(row.item_id)) or "—"))
    return fragments.row(f'{head}<span class="preview">{preview}</span>' if preview else head, cells)


def _decision(cell: Cell, arm: ArmColumn, score: float | None, better: str | None) -> str:
    """Return what an arm decided, whether it is right or how it scored, and whether it is the better one."""
    if cell.error is not None:
        return f'<span class="flag">failed</span> {fragments.text(cell.error)}'
    decided = fragments.text(cell.decision) or '<span class="quiet">no decision</span>'
    mark = ""
    if score is not None:
        mark = MARKS.get(score, f' <span class="quiet">{score:.3g}</span>')
    return f'<span class="decided">{decided}</span>{mark}' + (
        ' <span class="crown">better</span>' if better == arm.name else ""
    )


def _decided(cell: Cell) -> str | None:
    return None if cell.error is not None else cell.decision


def _previews(source: Source, dataset_id: str) -> Mapping[str, str]:
    sheet = source.gathered.sheet(dataset_id)
    rows = sheet.rows if sheet else ()
    key = ("previews", dataset_id)
    return source.once(key, lambda: source.steady(key, {row.item_id: row.preview for row in rows}))


PAGE = Page("compare", Context, make)
