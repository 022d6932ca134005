"""The arms of a dataset side by side, in groups by what they were scored against."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import field, judged_columns
from evh.measure.scores import floor_rate
from evh_build.all_pairs import PairsView, pairs_view
from evh_build.forest import axis_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.acts.field_model import Field, FieldArm
    from evh.acts.figures import Against
    from evh.acts.sheet_model import ArmColumn, Footer, Sheet
    from evh.project.arms import Arm
    from evh_build.source import Mark, Source

MOST_COLUMNS = 7
_FIRST = ("accuracy", "correct", "recall")


@dataclass(frozen=True, slots=True)
class Standing:
    """One arm's figures against one set, aligned with the group's metrics.

    ``low`` and ``high`` are the 95 % interval of the first metric, as the field has it; None for none.
    ``n`` items of ``of`` were scored, ``errors`` failed. ``own`` and ``fitted`` are flags that keep the arm
    from leading, and so does ``trial``, over how many items its run was one; a ``floor`` shows what is easy.
    ``verdict`` is its word in the group's field, and ``judged`` all that the field says of it; None where it
    has no first metric.
    """

    arm: str
    path: str | None
    run: str | None
    recorded: bool
    values: tuple[float | None, ...]
    low: float | None
    high: float | None
    n: int
    of: int
    errors: int
    own: bool
    fitted: bool
    floor: bool = False
    trial: int | None = None
    verdict: str | None = None
    judged: FieldArm | None = None

    @property
    def flagged(self) -> bool:
        """Whether its figure says less than it seems."""
        return self.own or self.fitted or self.trial is not None


@dataclass(frozen=True, slots=True)
class JudgeMark:
    """The judge that scored a group's arms, with its page; ``validated`` tells that people measured it."""

    name: str
    path: str | None
    validated: bool


def judge_mark(source: Source, made: Field) -> JudgeMark | None:
    """Return the judge by whose metric a field ranks its arms; None where it is a run's own metric."""
    one = made.judge
    return JudgeMark(one.scorer, source.urls.judge(one.scorer), one.validated) if one else None


@dataclass(frozen=True, slots=True)
class Group:
    """Arms scored against one set (``mark`` None: against none), best first by the first metric.

    Flagged arms stand last, whatever their figure: an arm by its own labels never leads.

    ``majority`` is the share that an arm always giving the commonest answer would get right. ``low`` and
    ``high`` are the ends of the chart's axis. ``leads`` marks the group that draws the sheet's winner.
    ``field`` ranks its arms by the first metric, as every other view does, ``pairs`` holds every two of them
    where they are few; None where none has a figure. ``told`` says in words how the verdicts were made.
    ``judge`` is set where nothing but a judge has scored the arms.
    """

    mark: Mark | None
    metrics: tuple[str, ...]
    higher: bool
    rows: tuple[Standing, ...]
    majority: float | None
    low: float
    high: float
    leads: bool
    field: Field | None = None
    told: str = ""
    pairs: PairsView | None = None
    judge: JudgeMark | None = None

    @property
    def flagged(self) -> bool:
        """Whether one of its arms is flagged."""
        return any(one.flagged for one in self.rows)


def groups(source: Source, dataset_id: str) -> tuple[Group, ...]:
    """Return a dataset's groups: that of the sheet's winner, references (gold, then silver), label sets."""
    return source.once(("groups", dataset_id), lambda: _groups(source, dataset_id))


def _groups(source: Source, dataset_id: str) -> tuple[Group, ...]:
    sheet = source.gathered.sheet(dataset_id)
    if sheet is None:
        return ()
    found: dict[str, Against | None] = {}
    for footer in sheet.footer:
        for against, _ in footer.figures:
            found.setdefault(against.ref if against else "", against)
    arms = {arm.name: arm for arm in source.gathered.arms.get(dataset_id, ())}
    made = [_group(source, sheet, against, arms) for against in found.values()]
    if not made and (judged := _by_judge(source, sheet, arms)) is not None:
        return (judged,)
    return tuple(sorted(made, key=_order))


def _group(source: Source, sheet: Sheet, against: Against | None, arms: Mapping[str, Arm]) -> Group:
    ref = against.ref if against else None
    held = [
        (arm, footer, figures)
        for arm, footer in zip(sheet.arms, sheet.footer, strict=True)
        for one, figures in footer.figures
        if (one.ref if one else None) == ref
    ]
    metrics = _metrics(sheet, held)
    higher = all(arm.run.higher_is_better(metrics[0]) for arm, _, _ in held) if metrics else True
    rows = [_standing(source, sheet, one, ref=ref, metrics=metrics, arms=arms) for one in held]
    ranked = _field(source, sheet, against, metrics, arms)
    judged = {one.name: one for one in ranked.arms} if ranked else {}
    rows = [
        replace(_with_repeats(one, arm), judged=arm, verdict=arm.verdict, low=arm.low, high=arm.high)
        if (arm := judged.get(one.arm)) is not None
        else one
        for one in rows
    ]
    rows.sort(key=lambda one: (one.flagged, _rank(one.values, higher=higher), one.arm))
    values = [value for one in rows for value in (*one.values[:1], one.low, one.high) if value is not None]
    unit = all(0 <= value <= 1 for value in values)
    return Group(
        mark=source.mark(against) if against else None,
        metrics=metrics,
        higher=higher,
        rows=tuple(rows),
        majority=_majority(sheet, ref),
        low=0.0 if unit else min(values),
        high=1.0 if unit else max(values),
        leads=sheet.against is not None and sheet.against.ref == ref,
        field=replace(ranked, pairs=()) if ranked else None,
        pairs=pairs_view(source, ranked) if ranked else None,
        told=field.told(ranked) if ranked and any(one.verdict for one in ranked.arms) else "",
    )


def _field(
    source: Source,
    sheet: Sheet,
    against: Against | None,
    metrics: tuple[str, ...],
    arms: Mapping[str, Arm],
) -> Field | None:
    """Return the group's field: the verdicts that the leaderboard, the goals and the sheet give too."""
    sources = source.gathered.sources
    dataset = sources.datasets.get(sheet.dataset_id)
    found = [arms[one.name] for one in sheet.arms if one.name in arms]
    if dataset is None or not metrics or not found:
        return None
    rules = source.gathered.deciding.rules(sheet.dataset_id, metrics[0])
    key = ("field", sheet.dataset_id, against.ref if against else "", metrics[0])
    made = source.gathered.kept_of(
        sheet.dataset_id,
        key,
        lambda: field.verdicts(sources, dataset, found, metric=metrics[0], against=against, rules=rules),
    )
    return made if made.arms else None


def _with_repeats(one: Standing, arm: FieldArm) -> Standing:
    """Return an arm's line with what the field says of all its repeats, and whether its run was a trial."""
    if arm.spread is None:
        return replace(one, trial=arm.trial)
    return replace(one, values=(arm.value, *one.values[1:]), n=arm.n, errors=arm.errors, trial=arm.trial)


def _by_judge(source: Source, sheet: Sheet, arms: Mapping[str, Arm]) -> Group | None:
    """Return the arms by the judge that the sheet goes by, where no run has a score of its own."""
    sources = source.gathered.sources
    dataset = sources.datasets.get(sheet.dataset_id)
    found = [arms[one.name] for one in sheet.arms if one.name in arms]
    judged = judged_columns.by_judge(sources, sheet.dataset_id, found, sheet.judge) if sheet.judge else None
    if dataset is None or judged is None:
        return None
    rules = source.gathered.deciding.rules(sheet.dataset_id, judged.metric)
    ranked = field.verdicts(sources, dataset, judged.arms, metric=judged.metric, against=None, rules=rules)
    rows = tuple(
        Standing(
            arm=one.name,
            path=source.urls.arm(one.run.config_id),
            run=source.urls.run(one.run.key),
            recorded=one.recorded,
            values=(one.value,),
            low=one.low,
            high=one.high,
            n=one.n,
            of=one.of,
            errors=one.errors,
            own=one.own,
            fitted=one.fitted,
            floor=one.floor,
            trial=one.trial,
            verdict=one.verdict,
            judged=one,
        )
        for one in ranked.arms
    )
    axis = axis_of(value for one in rows for value in (*one.values, one.low, one.high))
    return Group(
        mark=None,
        metrics=(judged.metric,),
        higher=ranked.higher,
        rows=rows,
        majority=None,
        low=axis.low,
        high=axis.high,
        leads=True,
        field=replace(ranked, pairs=()),
        told=field.told(ranked) if ranked.leaders else "",
        pairs=pairs_view(source, ranked),
        judge=judge_mark(source, ranked),
    )


def _majority(sheet: Sheet, ref: str | None) -> float | None:
    """Return the share of the labelled items that the commonest answer is right on."""
    at = next((at for at, column in enumerate(sheet.labels) if column.ref == ref), None)
    if at is None:
        return None
    commonest = floor_rate([text for row in sheet.rows if (text := row.labels[at]) is not None])
    return commonest.share if commonest else None


def _metrics(sheet: Sheet, held: list[tuple[ArmColumn, Footer, Mapping[str, float]]]) -> tuple[str, ...]:
    names = {name for _, _, figures in held for name in figures}
    if "accuracy" in names:  # the mean of `correct` under another name
        names -= {"correct"} - {sheet.metric}
    primary = [arm.run.primary_metric for arm, _, _ in held if arm.run.primary_metric in names]
    first = sheet.metric if sheet.metric in names else primary[0] if primary else None
    ranked = sorted(names, key=lambda name: (name != first, not name.startswith(_FIRST), name))
    return tuple(ranked[:MOST_COLUMNS])


def _standing(
    source: Source,
    sheet: Sheet,
    held: tuple[ArmColumn, Footer, Mapping[str, float]],
    *,
    ref: str | None,
    metrics: tuple[str, ...],
    arms: Mapping[str, Arm],
) -> Standing:
    arm, footer, figures = held
    places = [at for at, one in enumerate(arm.scores) if (one.against.ref if one.against else None) == ref]
    first = arm.position(metrics[0], arm.scores[places[0]].against) if metrics and places else None
    scored = max((footer.counts[at] for at in places), default=0)
    if first is not None:
        at = sheet.arms.index(arm)
        given = [score for row in sheet.rows if (score := row.cells[at].scores[first]) is not None]
        scored = len(given)  # an item can have other metrics and not this one
    known = arms.get(arm.name)
    run = known.against(ref) if known and ref else known.run if known else None
    return Standing(
        arm=arm.name,
        path=source.urls.arm(arm.run.config_id),
        run=source.urls.run((run or arm.run).key),
        recorded=arm.recorded,
        values=tuple(figures.get(name) for name in metrics),
        low=None,
        high=None,
        n=scored,
        of=footer.of,
        errors=footer.errors,
        own=any(arm.scores[at].own for at in places),
        fitted=any(arm.scores[at].fitted for at in places),
        floor=arm.floor,
    )


def _rank(values: tuple[float | None, ...], *, higher: bool) -> tuple[bool, float]:
    first = values[0] if values else None
    return (first is None, 0.0 if first is None else -first if higher else first)


def _order(one: Group) -> tuple[object, ...]:
    mark = one.mark
    return (
        not one.leads,
        mark is None,
        mark and mark.kind != "reference",
        mark and mark.tier != "gold",
        mark and mark.ref,
    )
