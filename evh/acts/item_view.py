"""One item in full: its text, every output, every label, and where else its bytes occur."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts.sheet_columns import ArmData, label_column
from evh.acts.sheet_model import Cell, LabelColumn, ScoreColumn
from evh.acts.sources import Sources
from evh.project import arms, datasets
from evh.project.shelf import read_each
from evh.records.pick import Pick
from evh.records.shape import Scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.project.find import Project


@dataclass(frozen=True, slots=True)
class ItemArm:
    """What one arm did on the item; ``cell.scores`` are aligned with ``scores``.

    ``run_id`` is the run whose output is shown. Of an arm that ran several times ``repeats`` are the ids of
    its runs, oldest first, and ``told`` says in words that the scores are means over them; else empty.
    """

    name: str
    run_id: str
    recorded: bool
    cell: Cell
    scores: tuple[ScoreColumn, ...]
    latency_ms: float | None
    tokens_in: float | None
    tokens_out: float | None
    cost_usd: float | None
    repeats: tuple[str, ...] = ()
    told: str = ""


@dataclass(frozen=True, slots=True)
class ItemLabel:
    """One label of the item: the set, the raw text, and what the set recorded beside it."""

    column: LabelColumn
    text: str
    note: str | None = None
    slice: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """An item of some dataset."""

    dataset_id: str
    item_id: str


@dataclass(frozen=True, slots=True)
class ItemView:
    """One item in full. ``text`` is None where its bytes are not here; ``elsewhere`` are equal bytes."""

    dataset_id: str
    item_id: str
    sha256: str
    fields: Mapping[str, Scalar]
    lineage: Mapping[str, Any]
    text: str | None
    arms: tuple[ItemArm, ...]
    labels: tuple[ItemLabel, ...]
    elsewhere: tuple[Place, ...]
    picked: Pick | None
    notes: tuple[str, ...]


def view_item(
    project: Project,
    dataset_id: str,
    item_id: str,
    runs: Sequence[str] = (),
    *,
    sources: Sources | None = None,
) -> ItemView:
    """Return one item in full.

    Args:
        project: the project.
        dataset_id: the dataset.
        item_id: the item.
        runs: the arms shown; all that ran on the dataset by default.
        sources: the project's records where the caller has read them already.

    Raises:
        Refusal: no such dataset, item or arm.
    """
    sources = sources or Sources(project)
    dataset = sources.datasets.get(dataset_id) or datasets.read(project, dataset_id)
    item = datasets.item(dataset, item_id)
    covering = sources.covering(dataset)
    columns = tuple(label_column(one, dataset, sources) for one in covering)
    made = []
    for arm in arms.of_dataset(project, dataset_id, runs, all_runs=sources.runs):
        data = ArmData(arm, sources, dataset, columns, with_outputs=True)
        row = data.rows.get(item_id)
        made.append(
            ItemArm(
                name=arm.name,
                run_id=arm.run.run_id,
                recorded=arm.recorded,
                cell=data.cell(item_id),
                scores=data.column.scores,
                latency_ms=row.latency_ms if row else None,
                tokens_in=row.tokens_in if row else None,
                tokens_out=row.tokens_out if row else None,
                cost_usd=row.cost_usd if row else None,
                repeats=tuple(run.run_id for run in data.column.repeats),
                told=data.column.told_repeats,
            )
        )
    labels = []
    for one, column in zip(covering, columns, strict=True):
        if item.sha256 in one.texts:
            held = one.label_set.items.values() if one.label_set else ()
            noted = next((entry for entry in held if entry.sha256 == item.sha256), None)
            labels.append(
                ItemLabel(
                    column,
                    one.texts[item.sha256],
                    noted.note if noted else None,
                    noted.slice if noted else None,
                )
            )
    found = read_each([item], lambda one: datasets.item_bytes(project, dataset, one), sources.problems)
    pick = sources.picks.get((dataset_id, item_id))
    return ItemView(
        dataset_id=dataset_id,
        item_id=item_id,
        sha256=item.sha256,
        fields=item.fields,
        lineage=item.lineage,
        text=found[0].decode("utf-8", "replace") if found else None,
        arms=tuple(made),
        labels=tuple(labels),
        elsewhere=tuple(
            Place(other.dataset_id, twin.item_id)
            for other in sources.datasets.values()
            for twin in other.items
            if twin.sha256 == item.sha256 and (other.dataset_id, twin.item_id) != (dataset_id, item_id)
        ),
        picked=None if pick is None or pick.op == "drop" else pick,
        notes=tuple(sources.notes()),
    )
