"""A dataset's sheet: every item with each arm's decision, the labels, the winner and the signals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.records.answers import shown
from evh_build import urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.source import SHEET_ROWS, Mark, command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.acts.sheet_model import ArmColumn, Row, Sheet
    from evh.measure.signals import Signals
    from evh_build.source import Source

MOST_FIELDS = 12
CUT = 120
SIGNALS = ("wrong", "disagree", "split", "new", "unlabelled")


@dataclass(frozen=True, slots=True)
class ArmHead:
    """An arm's column.

    ``judged`` tells whether its cells say right or wrong by the winner's set; its flags say why it cannot.
    """

    arm: Link
    recorded: bool
    judged: bool
    own: bool
    fitted: bool


@dataclass(frozen=True, slots=True)
class LabelHead:
    """A label or reference set's column, with how many of the items it labels."""

    mark: Mark
    task: str
    same_task: bool
    n: int


@dataclass(frozen=True, slots=True)
class ArmCell:
    """An arm's decision on one item; ``right`` None where it was not scored by the winner's metric."""

    text: str | None
    error: str | None
    right: bool | None
    score: float | None
    won: bool


@dataclass(frozen=True, slots=True)
class LabelCell:
    """What one set says of the item, and whether the first arm is wrong by it."""

    text: str | None
    against: bool


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One item's row."""

    position: int
    item_id: str
    path: str | None
    preview: str
    fields: tuple[str | None, ...]
    cells: tuple[ArmCell, ...]
    labels: tuple[LabelCell, ...]
    winners: str
    signals: Signals
    kinds: tuple[str, ...]
    picked: bool


@dataclass(frozen=True, slots=True)
class Foot:
    """An arm's footer: the mean of the winner's metric, over how many, failures, its share of the wins."""

    value: float | None
    n: int
    of: int
    errors: int
    win_rate: float | None
    figures: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A sheet's page.

    Attributes:
        dataset: the dataset's id and page.
        n_items: how many items it has.
        metric: the metric that draws each row's winner; empty where none is drawn.
        primary: the run-level metric that the footer shows.
        mark: the set that the winner is drawn by; None where there is none.
        arms: a column an arm; the first stands for production.
        labels: a column a label or reference set.
        fields: the names of the fields shown, the first ones.
        rows: the rows, those with most signals first.
        foot: a footer cell an arm.
        notes: sentences that a reader must see.
        counts: how many of all rows carry each signal.
        new_vs: the dataset that *new* compares with.
        left: how many rows are not shown.
    """

    dataset: Link
    n_items: int
    metric: str
    primary: str
    mark: Mark | None
    arms: tuple[ArmHead, ...]
    labels: tuple[LabelHead, ...]
    fields: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    foot: tuple[Foot, ...]
    notes: tuple[str, ...]
    counts: tuple[tuple[str, int], ...]
    new_vs: Link | None
    left: int


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a dataset; one whose sheet cannot be made says so in a note."""
    for name, dataset in source.gathered.datasets.items():
        path = source.urls.sheet(name)
        if path is None:
            continue
        sheet = source.gathered.sheet(name)
        yield Leaf(path, _context(source, name, len(dataset.items), sheet))


def _context(source: Source, name: str, n_items: int, sheet: Sheet | None) -> Context:
    places = _places(sheet) if sheet else ()
    rows = sheet.rows if sheet else ()
    kinds = Counter(kind for row in rows for kind in _kinds(row))
    primary = sheet.metric if sheet else ""
    words = ("inspect", "--sheet", "--dataset-id", name)
    return Context(
        title=f"Sheet of {name}",
        section="datasets",
        crumbs=(
            Crumb("Home", urls.HOME),
            Crumb("Datasets", urls.DATASETS),
            Crumb(name, source.urls.dataset(name) or urls.DATASETS),
        ),
        commands=(
            command("every row as a CSV", *words, "--csv", f"{name}.csv"),
            command("rows where the arms disagree", *words, "--disagree"),
            command("a sheet to label", "label-sheet", "--dataset-id", name, "--out", "sheet.csv"),
            command("keep an item for the next version", "pick", "--dataset-id", name, "--item", "ITEM"),
        ),
        dataset=Link(name, source.urls.dataset(name)),
        n_items=n_items,
        metric=sheet.row_metric if sheet else "",
        primary=primary,
        mark=source.mark(sheet.against) if sheet and sheet.against else None,
        arms=tuple(
            _head(source, arm, place) for arm, place in zip(sheet.arms if sheet else (), places, strict=True)
        ),
        labels=tuple(
            LabelHead(source.mark(one), one.task, one.same_task, one.n)
            for one in (sheet.labels if sheet else ())
        ),
        fields=sheet.fields[:MOST_FIELDS] if sheet else (),
        rows=tuple(_row(source, sheet, row, places) for row in rows[:SHEET_ROWS]) if sheet else (),
        foot=_foot(sheet, places) if sheet else (),
        notes=sheet.notes
        if sheet
        else ("The sheet cannot be made: the home page lists what could not be read.",),
        counts=tuple((kind, kinds[kind]) for kind in SIGNALS),
        new_vs=Link(sheet.new_vs, source.urls.dataset(sheet.new_vs)) if sheet and sheet.new_vs else None,
        left=max(len(rows) - SHEET_ROWS, 0),
    )


def _places(sheet: Sheet) -> tuple[int | None, ...]:
    """Return, for each arm, the place of the score column that draws the winner."""
    return tuple(arm.position(sheet.row_metric, sheet.against) for arm in sheet.arms)


def _head(source: Source, arm: ArmColumn, place: int | None) -> ArmHead:
    column = arm.scores[place] if place is not None else None
    return ArmHead(
        arm=Link(arm.name, source.urls.arm(arm.run.config_id)),
        recorded=arm.recorded,
        judged=column is not None,
        own=column.own if column else False,
        fitted=column.fitted if column else False,
    )


def _row(source: Source, sheet: Sheet, row: Row, places: tuple[int | None, ...]) -> SheetRow:
    cells = []
    for arm, cell, place in zip(sheet.arms, row.cells, places, strict=True):
        score = cell.scores[place] if place is not None else None
        text = cell.decision if cell.decision is not None else cell.output
        cells.append(
            ArmCell(
                text=_cut(text),
                error=_cut(cell.error),
                right=bool(score) if score in (0, 1) else None,
                score=score,
                won=arm.name in row.winners,
            )
        )
    shown_fields = sheet.fields[:MOST_FIELDS]
    return SheetRow(
        position=source.urls.position(sheet.dataset_id, row.item_id) or 0,
        item_id=row.item_id,
        path=source.urls.item(sheet.dataset_id, row.item_id),
        preview=_cut(row.preview) or "",
        fields=tuple(_field(row.fields.get(name)) for name in shown_fields),
        cells=tuple(cells),
        labels=tuple(
            LabelCell(None if text is None else _cut(shown(text)), column.ref in row.signals.wrong)
            for column, text in zip(sheet.labels, row.labels, strict=True)
        ),
        winners=_winners(row, len(sheet.arms)),
        signals=row.signals,
        kinds=_kinds(row),
        picked=row.picked is not None,
    )


def _kinds(row: Row) -> tuple[str, ...]:
    held = row.signals
    given = (held.wrong, held.disagree, held.split, held.new, held.unlabelled)
    return tuple(kind for kind, holds in zip(SIGNALS, given, strict=True) if holds)


def _winners(row: Row, arms: int) -> str:
    if len(row.winners) == arms and arms > 1:
        return "all"
    return ", ".join(row.winners)


def _foot(sheet: Sheet, places: tuple[int | None, ...]) -> tuple[Foot, ...]:
    made = []
    for footer, place in zip(sheet.footer, places, strict=True):
        ref = sheet.against.ref if sheet.against else None
        figures = next((held for one, held in footer.figures if (one.ref if one else None) == ref), {})
        made.append(
            Foot(
                value=footer.means[place] if place is not None else None,
                n=footer.counts[place] if place is not None else 0,
                of=footer.of,
                errors=footer.errors,
                win_rate=footer.win_rate,
                figures=tuple((name, value) for name, value in figures.items() if name == sheet.metric),
            )
        )
    return tuple(made)


def _field(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _cut(str(value))


def _cut(text: str | None) -> str | None:
    if text is None:
        return None
    flat = " ".join(text[: CUT * 8].split())
    return flat if len(flat) <= CUT else flat[: CUT - 1] + "…"


PAGE = Page("sheet", Context, make)
