"""What moved between two arms, item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.sheet import Against, ArmColumn, Cell, Filters, Row, build_sheet
from evh.acts.sources import Sources
from evh.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.project.find import Project


@dataclass(frozen=True, slots=True)
class Moved:
    """One item that the two arms decided or scored differently.

    ``scores`` are theirs on the comparison's metric. ``better`` names the arm that scored better; None where
    they tie or one has no score.
    """

    item_id: str
    preview: str
    cells: tuple[Cell, Cell]
    scores: tuple[float | None, float | None]
    better: str | None
    decided_otherwise: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two arms over one dataset.

    ``n_both`` items were decided by both, ``n_same`` of them alike. ``n_better`` counts the items on which
    the first and the second scored better; None where no item has a score of both. ``rows`` are the items
    that moved, in the dataset's order.
    """

    dataset_id: str
    arms: tuple[ArmColumn, ArmColumn]
    metric: str
    against: Against | None
    n_items: int
    n_both: int
    n_same: int
    n_better: tuple[int, int] | None
    rows: tuple[Moved, ...]
    notes: tuple[str, ...]


def compare_runs(
    project: Project,
    dataset_id: str,
    runs: Sequence[str],
    *,
    metric: str | None = None,
    against: str | None = None,
    disagree: bool = False,
    where: tuple[str, ...] = (),
    with_texts: bool = True,
    sources: Sources | None = None,
) -> Comparison:
    """Return what moved between two arms.

    Args:
        project: the project.
        dataset_id: the dataset.
        runs: exactly two config or run ids.
        metric: the metric compared, as in `build_sheet`.
        against: the set it was scored against, as in `build_sheet`.
        disagree: only the items that the two decided differently.
        where: ``field:value`` texts; the counts are of the rows that they keep.
        with_texts: read the outputs and the items' texts; without them `Cell.output` is None and
            `Moved.preview` is empty.
        sources: the project's records where the caller has read them already.

    Raises:
        Refusal: not two arms, or what `build_sheet` refuses.
    """
    if len(set(runs)) != 2:
        raise Refusal(
            "two-arms",
            "a comparison takes exactly two arms",
            why=[f"--runs {','.join(runs) or '(none)'}: {len(set(runs))} named"],
            next=f"evh inspect --dataset-id {dataset_id} --runs A,B; for more: evh inspect --sheet",
        )
    sources = sources or Sources(project)
    sheet = build_sheet(
        project,
        dataset_id,
        runs,
        metric=metric,
        against=against,
        filters=Filters(where=where),
        with_outputs=with_texts,
        with_previews=with_texts,
        sources=sources,
    )
    first, second = sheet.arms
    places = tuple(arm.position(sheet.row_metric, sheet.against) for arm in sheet.arms)
    names = (first.name, second.name)
    order = {item.item_id: at for at, item in enumerate(sources.datasets[dataset_id].items)}
    moved: list[Moved] = []
    won: list[str | None] = []
    both = same = scored = 0
    for row in sorted(sheet.rows, key=lambda row: order[row.item_id]):
        one, two = row.cells
        answered = one.decision is not None and two.decision is not None
        both += answered
        same += answered and not row.signals.disagree
        scores = _score(row, 0, places[0]), _score(row, 1, places[1])
        scored += None not in scores
        better = _better(scores, names, higher=sheet.higher)
        won.append(better)
        if row.signals.disagree or (not disagree and (better or one.error != two.error)):
            moved.append(Moved(row.item_id, row.preview, (one, two), scores, better, row.signals.disagree))
    return Comparison(
        dataset_id=dataset_id,
        arms=(first, second),
        metric=sheet.row_metric,
        against=sheet.against,
        n_items=len(sheet.rows),
        n_both=both,
        n_same=same,
        n_better=(won.count(names[0]), won.count(names[1])) if scored else None,
        rows=tuple(moved),
        notes=sheet.notes,
    )


def _score(row: Row, arm: int, place: int | None) -> float | None:
    return None if place is None else row.cells[arm].scores[place]


def _better(scores: tuple[float | None, float | None], names: tuple[str, str], *, higher: bool) -> str | None:
    one, two = scores
    if one is None or two is None or one == two:
        return None
    return names[0] if (one > two) == higher else names[1]
