"""An item in full: its text and fields, every arm's output, every label, and where else these bytes occur."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from evh.project.memory import Same
from evh.records.answers import shown
from evh_build import known, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.source import Mark, command, flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evh.acts.sheet_model import ArmColumn, Cell, Row, ScoreColumn, Sheet
    from evh.measure.signals import Signals
    from evh.records.dataset import Dataset, Item
    from evh.records.pick import Pick
    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class ScoreHead:
    """A column of scores: the metric, and what it was made against."""

    metric: str
    mark: Mark | None


@dataclass(frozen=True, slots=True)
class ScoreView:
    """One score of an output, None where it has none; and the flags of the arm there."""

    value: float | None
    own: bool
    fitted: bool


@dataclass(frozen=True, slots=True)
class OutputView:
    """What an arm answered: its decision, its whole output where that says more, its error.

    ``scores`` are aligned with the page's heads.
    """

    arm: Link
    recorded: bool
    repeat: str
    told: str
    decision: str | None
    output: str | None
    cut: bool
    error: str | None
    scores: tuple[ScoreView, ...]
    won: bool


@dataclass(frozen=True, slots=True)
class LabelView:
    """What a set says of the item. ``wrong`` tells whether the first arm is wrong by it."""

    mark: Mark
    dataset_id: str
    task: str
    answer: str
    note: str | None
    slice: str | None
    wrong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """An item's page.

    Attributes:
        dataset_id: its dataset.
        item: the item's id, hash, fields and lineage.
        position: its place in the dataset, from 1.
        of: how many items the dataset has.
        previous: the item before it.
        following: the item after it.
        row: its row in the sheet.
        text: its text; None where its bytes are not here.
        cut: how many characters of the text are not shown.
        kept_back: why it is not shown; empty where it may be.
        replaced: the text is not UTF-8: bytes that cannot be read are shown as a mark.
        lineage: where it came from, key by key.
        capture: the page of its capture.
        signals: why to look at it; None where there is no sheet.
        heads: the columns of scores.
        outputs: what every arm answered.
        labels: every label, reference sets first.
        elsewhere: other items with the same bytes.
        pick: the pick that waits for it.
    """

    dataset_id: str
    item: Item
    position: int
    of: int
    previous: Link | None
    following: Link | None
    row: str | None
    text: str | None
    cut: int
    kept_back: str
    replaced: bool
    lineage: tuple[tuple[str, str], ...]
    capture: str | None
    signals: Signals | None
    heads: tuple[ScoreHead, ...]
    outputs: tuple[OutputView, ...]
    labels: tuple[LabelView, ...]
    elsewhere: tuple[Link, ...]
    pick: Pick | None


@dataclass(frozen=True, slots=True)
class _Arm:
    """An arm as the pages of a dataset show it; ``places`` are its score columns, aligned with the heads."""

    name: str
    link: Link
    recorded: bool
    repeat: str
    told: str
    scores: tuple[ScoreColumn, ...]
    places: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class _Common:
    """All that the pages of a dataset's items are made of, beside what each item has of its own.

    ``pages`` are the items' own, ``sheet`` that of the sheet; ``sets`` tell each set's mark and task.
    """

    name: str
    n_items: int
    pages: Same[Mapping[str, str]]
    crumbs: tuple[Crumb, ...]
    target: str
    sheet: str | None
    captures: Mapping[str, str | None]
    heads: tuple[ScoreHead, ...]
    arms: tuple[_Arm, ...]
    sets: Mapping[str, tuple[Mark, str]]
    most: int
    kept_back: str


@dataclass(frozen=True, slots=True)
class _Own:
    """What an item has of its own: place, neighbours, bytes, its sheet's row, what sets say of it, twins."""

    item: Same[Item]
    at: int
    previous: str | None
    following: str | None
    text: bytes | None
    row: Same[Row | None]
    labels: list[dict[str, Any]]
    elsewhere: tuple[Link, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give a page an item of each dataset that is small enough; of others the sheet shows each in full.

    A page is made of `_Common` and `_Own` and of nothing else, so that it is kept while those are equal.
    """
    for name, dataset in source.gathered.datasets.items():
        if len(dataset.items) > source.gathered.project.settings.item_pages:
            continue
        sheet = source.gathered.sheet(name)
        common = source.steady(("items", name), _common(source, dataset, sheet))
        rows = {row.item_id: row for row in sheet.rows} if sheet else {}
        texts = source.gathered.texts(dataset)
        said = source.grouped("item", "labels", "dataset_id", "item_id")
        twins = source.grouped("item", "twins", "dataset_id", "item_id")
        ids = [None, *(item.item_id for item in dataset.items), None]
        for at, item in enumerate(dataset.items):
            key = (name, item.item_id)
            own = _Own(
                Same(item),
                at,
                ids[at],
                ids[at + 2],
                texts.get(item.item_id),
                Same(rows.get(item.item_id)),
                said.get(key, []),
                _twins(source, twins[key]) if key in twins else (),
            )
            path = common.pages.held[item.item_id]
            yield source.leaf(path, partial(_context, common, own), common, own)


def _common(source: Source, dataset: Dataset, sheet: Sheet | None) -> _Common:
    held, name = source.gathered, dataset.dataset_id
    heads = _heads(sheet)
    named = {str(item.lineage.get("capture") or "") for item in dataset.items}
    sets: dict[str, str] = {ref: held.sources.task_of_reference(one) for ref, one in held.references.items()}
    sets |= {f"labels/{ref}": held.sources.task_of(one) for ref, one in held.label_sets.items()}
    return _Common(
        name=name,
        n_items=len(dataset.items),
        pages=Same(source.urls.items(name)),
        crumbs=(
            Crumb("Home", urls.HOME),
            Crumb("Datasets", urls.DATASETS),
            Crumb(name, source.urls.dataset(name) or urls.DATASETS),
        ),
        target=known.a_target(source, name),
        sheet=source.urls.sheet(name),
        captures={one: source.urls.capture(one) for one in sorted(named)},
        heads=tuple(ScoreHead(metric, source.mark_of_ref(ref) if ref else None) for metric, ref in heads),
        arms=tuple(_arm(source, arm, heads) for arm in sheet.arms) if sheet else (),
        sets={ref: (source.mark_of_ref(ref), task) for ref, task in sets.items()},
        most=source.max_item_text,
        kept_back=held.kept_back(name),
    )


def _arm(source: Source, arm: ArmColumn, heads: list[tuple[str, str | None]]) -> _Arm:
    at = {
        (one.metric, one.against.ref if one.against else None): place for place, one in enumerate(arm.scores)
    }
    link = Link(arm.name, source.urls.arm(arm.run.config_id))
    places = tuple(at.get(head) for head in heads)
    return _Arm(arm.name, link, arm.recorded, arm.repeat, arm.told_repeats, arm.scores, places)


def _twins(source: Source, rows: list[dict[str, Any]]) -> tuple[Link, ...]:
    return tuple(
        Link(
            f"{twin['twin_dataset']}/{twin['twin_item']}",
            source.urls.full(twin["twin_dataset"], twin["twin_item"]),
        )
        for twin in rows
    )


def _context(common: _Common, own: _Own) -> Context:
    name, item, row = common.name, own.item.held, own.row.held
    text, cut, replaced = _text(own.text, common.most)
    on = ("--dataset-id", name, "--item", item.item_id)
    return Context(
        title=item.item_id,
        section="datasets",
        crumbs=common.crumbs,
        commands=(
            command("the same on the terminal", "inspect", *on),
            command(
                "keep it for the next version",
                "pick", *on, *(("--for", common.target) if common.target else ()),
            ),
            command("label it", "label-sheet", *on, "--out", "sheet.csv"),
        ),
        dataset_id=name,
        item=item,
        position=own.at + 1,
        of=common.n_items,
        previous=_neighbour(common, own.previous),
        following=_neighbour(common, own.following),
        row=f"{common.sheet}#row={item.item_id}" if row and common.sheet else None,
        text=text,
        cut=cut,
        kept_back=common.kept_back,
        replaced=replaced,
        lineage=flat(dict(item.lineage)),
        capture=common.captures[str(item.lineage.get("capture") or "")],
        signals=row.signals if row else None,
        heads=common.heads,
        outputs=_outputs(common, row),
        labels=_labels(common, own),
        elsewhere=own.elsewhere,
        pick=row.picked if row else None,
    )  # fmt: skip


def _neighbour(common: _Common, item_id: str | None) -> Link | None:
    return None if item_id is None else Link(item_id, common.pages.held[item_id])


def _text(data: bytes | None, most: int) -> tuple[str | None, int, bool]:
    if data is None:
        return None, 0, False
    text = data.decode("utf-8", "replace")
    return text[:most], max(len(text) - most, 0), "\ufffd" in text


def _heads(sheet: Sheet | None) -> list[tuple[str, str | None]]:
    """Return every (metric, set) that some arm has a score of, in the order of the sheet."""
    columns = [column for arm in sheet.arms for column in arm.scores] if sheet else []
    return list(dict.fromkeys((one.metric, one.against.ref if one.against else None) for one in columns))


def _outputs(common: _Common, row: Row | None) -> tuple[OutputView, ...]:
    if row is None:
        return ()
    made = []
    for arm, cell in zip(common.arms, row.cells, strict=True):
        if cell.output is None and cell.decision is None and cell.error is None:
            continue
        output = None if cell.output is None or cell.output.strip() == cell.decision else cell.output
        made.append(
            OutputView(
                arm=arm.link,
                recorded=arm.recorded,
                repeat=arm.repeat,
                told=arm.told,
                decision=cell.decision,
                output=output[: common.most] if output else None,
                cut=output is not None and len(output) > common.most,
                error=cell.error,
                scores=tuple(_score(arm, cell, place) for place in arm.places),
                won=arm.name in row.winners,
            )
        )
    return tuple(made)


def _score(arm: _Arm, cell: Cell, place: int | None) -> ScoreView:
    if place is None:
        return ScoreView(None, own=False, fitted=False)
    return ScoreView(cell.scores[place], arm.scores[place].own, arm.scores[place].fitted)


def _labels(common: _Common, own: _Own) -> tuple[LabelView, ...]:
    row = own.row.held
    wrong = set(row.signals.wrong_by) if row else set()
    return tuple(
        LabelView(
            mark=common.sets[one["ref"]][0],
            dataset_id=one["from_dataset"],
            task=common.sets[one["ref"]][1],
            answer=shown(one["label"] or ""),
            note=one["note"],
            slice=one["slice"],
            wrong=one["ref"] in wrong,
        )
        for one in own.labels
    )


PAGE = Page("item", Context, make, queries=("labels", "twins"))
