"""What moved between two arms, item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import sheet_footer
from evh.acts.sheet_layout import lay_out
from evh.acts.sources import Sources
from evh.errors import Refusal
from evh.measure import signals
from evh.project.memory import Same

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.figures import Against
    from evh.acts.sheet_layout import Layout
    from evh.acts.sheet_model import ArmColumn, Cell
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
    """Return what moved between two arms: their decisions are held against each other, whoever they are.

    The sheet's signal *disagree* leaves a floor out; a floor that is named here is one of the two.

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
    layout = lay_out(
        sources, dataset_id, runs, metric=metric, against=against, where=where, with_outputs=with_texts
    )
    choices = layout.choices
    if with_texts:
        moved = _moved(layout, sources.previews(layout.dataset))
    else:
        runs_here = tuple(run.key for arm in layout.found for run in (arm.run, *arm.scored))
        moved = sources.memory.kept(
            ("moved", dataset_id, runs_here), (), lambda: _moved(layout, {}),
            Same(layout.dataset), [Same(one) for one in layout.columns], choices, Same(layout.same),
        )  # fmt: skip
    footer = sheet_footer.lines(sources, layout, {})
    return Comparison(
        dataset_id=dataset_id,
        arms=(layout.arms[0], layout.arms[1]),
        metric=choices.row_metric,
        against=choices.against,
        n_items=moved.n_items,
        n_both=moved.n_both,
        n_same=moved.n_same,
        n_better=moved.n_better,
        rows=tuple(one for one in moved.rows if one.decided_otherwise) if disagree else moved.rows,
        notes=sheet_footer.notes(sources, layout, sheet_footer.Verdicts(footer, "", ())),
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    """The counts of a `Comparison`, and every item that moved."""

    n_items: int
    n_both: int
    n_same: int
    n_better: tuple[int, int] | None
    rows: tuple[Moved, ...]


def _moved(layout: Layout, previews: Mapping[str, str]) -> _Counted:
    choices, items = layout.choices, layout.dataset.items
    places = tuple(arm.position(choices.row_metric, choices.against) for arm in layout.arms)
    names = (layout.arms[0].name, layout.arms[1].name)
    rows: list[Moved] = []
    won: list[str | None] = []
    shown = both = same = scored = 0
    for item, one, two in zip(items, *(arm.cells(items) for arm in layout.columns), strict=True):
        if not all(kept.holds(item.fields) for kept in choices.where):
            continue
        shown += 1
        answered = one.decision is not None and two.decision is not None
        apart = signals.disagree((one.decision, two.decision), layout.same)
        both += answered
        same += answered and not apart
        scores = _score(one, places[0]), _score(two, places[1])
        scored += None not in scores
        better = _better(scores, names, higher=choices.higher)
        won.append(better)
        if apart or better or one.error != two.error:
            preview = previews.get(item.item_id, "")
            rows.append(Moved(item.item_id, preview, (one, two), scores, better, apart))
    better_on = (won.count(names[0]), won.count(names[1])) if scored else None
    return _Counted(shown, both, same, better_on, tuple(rows))


def _score(cell: Cell, place: int | None) -> float | None:
    return None if place is None else cell.scores[place]


def _better(scores: tuple[float | None, float | None], names: tuple[str, str], *, higher: bool) -> str | None:
    one, two = scores
    if one is None or two is None or one == two:
        return None
    return names[0] if (one > two) == higher else names[1]
