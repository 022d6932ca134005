"""How many more labels would tell two arms apart, and which items to label first."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import steps
from evh.acts.pair_test import check_level
from evh.acts.sheet import build_sheet
from evh.acts.sources import Sources
from evh.errors import Refusal
from evh.measure import power
from evh.project import goals
from evh.records.judge import scorer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.figures import Against
    from evh.acts.sheet_model import Cell, Row, Sheet
    from evh.measure.power import Differences
    from evh.project.find import Project

FEWEST = 2


@dataclass(frozen=True, slots=True)
class First:
    """One item to label: its id, the start of its text, the two decisions, and why it comes where it does.

    ``unlabelled``: no set of the task labels its bytes. ``new``: the fields whose value the governed dataset
    never had.
    """

    item_id: str
    preview: str
    decisions: tuple[str | None, str | None]
    differ: bool
    unlabelled: bool
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """What separating two arms takes.

    Attributes:
        dataset_id: the dataset.
        arms: the two arms' names.
        metric: the metric compared.
        against: what the scores so far were made against; None where the arms share no scoring.
        task: the task that is labelled.
        alpha: the level of the two-sided sign-flip test.
        goal: the goal that sets the level, or None: it was named, or is 0.05.
        power: the chance to find the difference that is planned for.
        seen: the paired differences so far, first arm minus second, turned so that more is better.
        needed: how many items both arms must be scored on in all, drawn as those so far were; None where no
            number would tell them apart, as far as one can see, or nothing was seen.
        more: how many labels that is from here.
        n_differ: items on which the arms decided differently.
        n_open: of those, the ones that are not scored yet.
        more_differ: how many more labels it takes when only items are labelled on which the arms differ; None
            where that cannot be said.
        power_if_all: the power once every such item is labelled; None where that cannot be said.
        smallest: the smallest mean difference that as many items as so far show at this power; None where
            they show none.
        first: the items that are not scored yet, those to label first at the top.
        notes: what a person should know, a sentence each.
    """

    dataset_id: str
    arms: tuple[str, str]
    metric: str
    against: Against | None
    task: str
    alpha: float
    goal: str | None
    power: float
    seen: Differences
    needed: int | None
    more: int | None
    n_differ: int
    n_open: int
    more_differ: int | None
    power_if_all: float | None
    smallest: float | None
    first: tuple[First, ...]
    notes: tuple[str, ...]


def plan(
    project: Project,
    dataset_id: str,
    runs: Sequence[str],
    *,
    metric: str | None = None,
    against: str | None = None,
    alpha: float | None = None,
) -> LabelPlan:
    """Return how many more labels would separate two arms, and the items in the order to label them.

    The number is the one that gives the paired sign-flip test 80 % power, if the next differences are like
    those seen (`evh.measure.power`). Items on which the arms decided alike add no difference, so labelling
    only the others is the shorter way. The order: the arms differ, no set labels it, a field is new.

    Args:
        project: the project.
        dataset_id: the dataset.
        runs: exactly two config or run ids.
        metric: the metric compared, as in `build_sheet`.
        against: the set whose scores are gone by, as in `build_sheet`.
        alpha: the level; by default the goal's, where the goals on this dataset name one, else 0.05.

    Raises:
        Refusal: not two arms; a level that is none; a judge's metric, named or the one that the arms are
            compared by: no label moves it; what `build_sheet` refuses.
    """
    if len(set(runs)) != 2:
        raise Refusal(
            "two-arms",
            "a label plan is for exactly two arms",
            why=[f"--runs {','.join(runs) or '(none)'}: {len(set(runs))} named"],
            next=f"evh runs --dataset-id {dataset_id}",
        )
    check_level(alpha)
    sources = Sources(project)
    sheet = build_sheet(project, dataset_id, runs, metric=metric, against=against, sources=sources)
    _refuse_judged(sheet, named=metric is not None)
    level, goal, notes = _level(project, dataset_id, alpha)
    notes += sheet.notes
    column = next((one for one in sheet.labels if sheet.against and one.ref == sheet.against.ref), None)
    task = column.task if column else sources.datasets[dataset_id].task
    order = {item.item_id: at for at, item in enumerate(sources.datasets[dataset_id].items)}
    rows = sorted(sheet.rows, key=lambda row: order[row.item_id])
    places = [arm.position(sheet.row_metric, sheet.against) for arm in sheet.arms]
    own = [
        arm.name for arm, at in zip(sheet.arms, places, strict=True) if at is not None and arm.scores[at].own
    ]
    if own:
        notes.append(f"what {' and '.join(own)} scored on labels of its own making is not gone by")
        places = [None, None]
    scored = {row.item_id: one for row in rows if (one := _difference(sheet, row, places)) is not None}
    seen = power.describe(list(scored.values()))
    needed = power.items_needed(seen, alpha=level)
    differing = [row for row in rows if row.signals.disagree]
    open_rows = [row for row in rows if row.item_id not in scored and all(map(_answered, row.cells))]
    n_open = sum(row.signals.disagree for row in open_rows)
    rate = _rate(differing, scored)
    found = LabelPlan(
        dataset_id=dataset_id,
        arms=(sheet.arms[0].name, sheet.arms[1].name),
        metric=sheet.row_metric,
        against=sheet.against,
        task=task,
        alpha=level,
        goal=goal,
        power=power.POWER,
        seen=seen,
        needed=needed,
        more=None if needed is None else max(0, needed - seen.n),
        n_differ=len(differing),
        n_open=n_open,
        more_differ=_more_differ(seen, needed, rate),
        power_if_all=_power_if_all(seen, rate, n_open, level),
        smallest=power.smallest_difference(seen, seen.n, alpha=level),
        first=tuple(sorted((_first(sheet, row, task) for row in open_rows), key=_rank)),
        notes=(),
    )
    few = max(FEWEST, project.settings.min_overlap)
    return _with_notes(found, notes, few)


def _refuse_judged(sheet: Sheet, *, named: bool) -> None:
    """Refuse a metric that a judge gave; the way out is one that labels decide, or the first labels."""
    if scorer_of(sheet.row_metric) is None:
        return
    names = [arm.name for arm in sheet.arms]
    held = [{one.metric for one in arm.scores if scorer_of(one.metric) is None} for arm in sheet.arms]
    own = sorted(set.intersection(*held)) if held else []
    here = shlex.join(["--runs", ",".join(names)])
    origin = "it was named" if named else "the arms here are compared by it"
    pair = shlex.join(
        ["evh", "pair-test", *names, "--dataset-id", sheet.dataset_id, "--metric", sheet.row_metric]
    )
    if own:
        follow = f"evh label-plan --dataset-id {sheet.dataset_id} {here} --metric {shlex.quote(own[0])}"
    else:
        follow = steps.label_sheet(sheet.dataset_id, f"--items disagree {here}")
    raise Refusal(
        "judges-metric",
        "no number of labels moves what a judge gave",
        why=[
            f"{sheet.row_metric}: {origin}, and a judge gave it",
            f"{' and '.join(names)}: both were scored by {', '.join(own)}, which labels decide"
            if own
            else f"{' and '.join(names)}: they share no score that labels decide",
        ],
        next=f"{follow}; what the judge's items could show: {pair}",
    )


def _level(project: Project, dataset_id: str, alpha: float | None) -> tuple[float, str | None, list[str]]:
    if alpha is not None:
        return alpha, None, []
    named = goals.levels(project, dataset_id, [])
    if not named:
        return power.ALPHA, None, []
    goal = min(named, key=lambda one: (named[one], one))
    if len(set(named.values())) == 1:
        return named[goal], goal, []
    said = ", ".join(f"{one} {level:g}" for one, level in sorted(named.items()))
    return (
        named[goal],
        goal,
        [f"the goals on {dataset_id} name several levels ({said}): the strictest is taken"],
    )


def _difference(sheet: Sheet, row: Row, places: Sequence[int | None]) -> float | None:
    """Return first minus second on one row, turned so that more is better; None: one has no score."""
    values = [None if at is None else cell.scores[at] for cell, at in zip(row.cells, places, strict=True)]
    if values[0] is None or values[1] is None:
        return None
    apart = values[0] - values[1]
    return apart if sheet.higher else -apart


def _answered(cell: Cell) -> bool:
    return cell.error is None and (cell.decision is not None or cell.output is not None)


def _rate(differing: Sequence[Row], scored: dict[str, float]) -> float | None:
    """Return the share of the labelled items on which the arms decided differently that their scores tell."""
    told = [scored[row.item_id] for row in differing if row.item_id in scored]
    return sum(one != 0 for one in told) / len(told) if told else None


def _more_differ(seen: Differences, needed: int | None, rate: float | None) -> int | None:
    if needed is None or not rate:
        return None
    return max(0, math.ceil((needed * seen.share - seen.nonzero) / rate - 1e-9))


def _power_if_all(seen: Differences, rate: float | None, n_open: int, alpha: float) -> float | None:
    if rate is None or not seen.nonzero:
        return None
    return power.power_of(seen, round((seen.nonzero + rate * n_open) / seen.share), alpha=alpha)


def _first(sheet: Sheet, row: Row, task: str) -> First:
    labelled = any(
        text is not None and column.task == task
        for column, text in zip(sheet.labels, row.labels, strict=True)
    )
    one, two = row.cells
    return First(
        item_id=row.item_id,
        preview=row.preview,
        decisions=(one.decision, two.decision),
        differ=row.signals.disagree,
        unlabelled=not labelled,
        new=row.signals.new,
    )


def _rank(one: First) -> tuple[bool, bool, bool]:
    return not one.differ, not one.unlabelled, not one.new


def _with_notes(found: LabelPlan, notes: list[str], few: int) -> LabelPlan:
    from dataclasses import replace

    seen = found.seen
    if not seen.n:
        notes.append("no item was scored for both arms yet: label a first batch, score it, and plan again")
    elif not seen.nonzero:
        notes.append(
            f"the two score alike on all {seen.n:,} items that both were scored on: nothing to go by"
        )
    elif seen.n < few:
        notes.append(f"{seen.n:,} items are too few to say: take the number as a first guess")
    if seen.nonzero and found.needed is None:
        notes.append("the differences cancel out: no number of labels would tell the arms apart, as it looks")
    if found.power_if_all is not None and found.needed is not None and (found.more or 0) > 0:
        short = found.more_differ is not None and found.more_differ > found.n_open
        if short:
            notes.append(
                f"this dataset has {found.n_open:,} items left on which the arms differ: with all of them "
                f"labelled the test has {found.power_if_all:.0%} power; more items are needed"
            )
    if found.n_open:
        notes.append(
            "labels of only the items on which the arms differ compare the two; their means over such items "
            "are no rates of the dataset"
        )
    return replace(found, notes=tuple(dict.fromkeys(notes)))
