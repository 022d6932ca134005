"""An item in full: its text and fields, every arm's output, every label, and where else these bytes occur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.records.answers import shown
from evh_build import known, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.source import Mark, command, flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.acts.sheet_model import ArmColumn, Row, Sheet
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
    replaced: bool
    lineage: tuple[tuple[str, str], ...]
    capture: str | None
    signals: Signals | None
    heads: tuple[ScoreHead, ...]
    outputs: tuple[OutputView, ...]
    labels: tuple[LabelView, ...]
    elsewhere: tuple[Link, ...]
    pick: Pick | None


def make(source: Source) -> Iterator[Leaf]:
    """Give a page an item of each dataset that is small enough; of others the sheet shows each in full."""
    for name, dataset in source.gathered.datasets.items():
        if len(dataset.items) > source.gathered.project.settings.item_pages:
            continue
        sheet = source.gathered.sheet(name)
        rows = {row.item_id: row for row in sheet.rows} if sheet else {}
        for at, item in enumerate(dataset.items):
            path = source.urls.item(name, item.item_id)
            if path is not None:
                yield Leaf(path, _context(source, dataset, at, sheet, rows.get(item.item_id)))


def _context(source: Source, dataset: Dataset, at: int, sheet: Sheet | None, row: Row | None) -> Context:
    name, item = dataset.dataset_id, dataset.items[at]
    text, cut, replaced = _text(source, dataset, item)
    neighbours = [
        Link(dataset.items[place].item_id, source.urls.item(name, dataset.items[place].item_id))
        if 0 <= place < len(dataset.items)
        else None
        for place in (at - 1, at + 1)
    ]
    heads = _heads(sheet)
    target = known.a_target(source, name)
    return Context(
        title=item.item_id,
        section="datasets",
        crumbs=(
            Crumb("Home", urls.HOME),
            Crumb("Datasets", urls.DATASETS),
            Crumb(name, source.urls.dataset(name) or urls.DATASETS),
        ),
        commands=(
            command("the same on the terminal", "inspect", "--dataset-id", name, "--item", item.item_id),
            command(
                "keep it for the next version",
                "pick", "--dataset-id", name, "--item", item.item_id, *(("--for", target) if target else ()),
            ),
            command(
                "label it", "label-sheet", "--dataset-id", name, "--item", item.item_id, "--out", "sheet.csv"
            ),
        ),
        dataset_id=name,
        item=item,
        position=at + 1,
        of=len(dataset.items),
        previous=neighbours[0],
        following=neighbours[1],
        row=source.row(name, item.item_id),
        text=text,
        cut=cut,
        replaced=replaced,
        lineage=flat(dict(item.lineage)),
        capture=source.urls.capture(str(item.lineage.get("capture") or "")),
        signals=row.signals if row else None,
        heads=tuple(ScoreHead(metric, source.mark_of_ref(ref) if ref else None) for metric, ref in heads),
        outputs=_outputs(source, sheet, row, heads),
        labels=_labels(source, name, item, row),
        elsewhere=tuple(
            Link(
                f"{twin['twin_dataset']}/{twin['twin_item']}",
                source.urls.full(twin["twin_dataset"], twin["twin_item"]),
            )
            for twin in source.rows_of("item", "twins", dataset_id=name, item_id=item.item_id)
        ),
        pick=row.picked if row else None,
    )  # fmt: skip


def _text(source: Source, dataset: Dataset, item: Item) -> tuple[str | None, int, bool]:
    data = source.gathered.texts(dataset).get(item.item_id)
    if data is None:
        return None, 0, False
    text = data.decode("utf-8", "replace")
    most = source.max_item_text
    return text[:most], max(len(text) - most, 0), "\ufffd" in text


def _heads(sheet: Sheet | None) -> list[tuple[str, str | None]]:
    """Return every (metric, set) that some arm has a score of, in the order of the sheet."""
    columns = [column for arm in sheet.arms for column in arm.scores] if sheet else []
    return list(dict.fromkeys((one.metric, one.against.ref if one.against else None) for one in columns))


def _outputs(
    source: Source, sheet: Sheet | None, row: Row | None, heads: list[tuple[str, str | None]]
) -> tuple[OutputView, ...]:
    if sheet is None or row is None:
        return ()
    made = []
    for arm, cell in zip(sheet.arms, row.cells, strict=True):
        if cell.output is None and cell.decision is None and cell.error is None:
            continue
        output = None if cell.output is None or cell.output.strip() == cell.decision else cell.output
        most = source.max_item_text
        made.append(
            OutputView(
                arm=Link(arm.name, source.urls.arm(arm.run.config_id)),
                recorded=arm.recorded,
                decision=cell.decision,
                output=output[:most] if output else None,
                cut=output is not None and len(output) > most,
                error=cell.error,
                scores=_scores(arm, cell.scores, heads),
                won=arm.name in row.winners,
            )
        )
    return tuple(made)


def _scores(
    arm: ArmColumn, values: tuple[float | None, ...], heads: list[tuple[str, str | None]]
) -> tuple[ScoreView, ...]:
    held = {
        (column.metric, column.against.ref if column.against else None): ScoreView(
            value, column.own, column.fitted
        )
        for column, value in zip(arm.scores, values, strict=True)
    }
    return tuple(held.get(head, ScoreView(None, own=False, fitted=False)) for head in heads)


def _labels(source: Source, name: str, item: Item, row: Row | None) -> tuple[LabelView, ...]:
    wrong = set(row.signals.wrong_by) if row else set()
    found: list[dict[str, Any]] = source.rows_of("item", "labels", dataset_id=name, item_id=item.item_id)
    return tuple(
        LabelView(
            mark=source.mark_of_ref(one["ref"]),
            dataset_id=one["from_dataset"],
            task=_task(source, one["ref"]),
            answer=shown(one["label"] or ""),
            note=one["note"],
            slice=one["slice"],
            wrong=one["ref"] in wrong,
        )
        for one in found
    )


def _task(source: Source, ref: str) -> str:
    held = source.gathered
    if ref.startswith("labels/"):
        return held.sources.task_of(held.label_sets[ref.removeprefix("labels/")])
    return held.sources.task_of_reference(held.references[ref])


PAGE = Page("item", Context, make, queries=("labels", "twins"))
