"""What a sheet's options come to: the metric and the set that draw the winner, and the rows that are kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.acts.figures import Against
from evh.acts.sheet_columns import STAND_IN, ArmData
from evh.acts.sheet_model import ArmColumn, LabelColumn
from evh.errors import Refusal
from evh.measure.scores import distinct_answers
from evh.project.shelf import missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.sources import Sources
    from evh.records.dataset import Dataset
    from evh.records.goal import Goal
    from evh.records.shape import Scalar

TIERS = {"gold": 0, "silver": 1}


@dataclass(frozen=True, slots=True)
class Where:
    """One ``--where field:value``: rows whose field has that value as text; an empty value is "absent"."""

    field: str
    value: str

    def holds(self, fields: Mapping[str, Scalar]) -> bool:
        """Tell whether an item's fields have the value."""
        return text_of(fields.get(self.field)) == self.value


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a sheet, resolved.

    ``positions`` gives, for each arm that may win (its place among the arms), the place of its score column
    that draws the winner: no floor, no trial, none that is flagged. ``notes`` say what was chosen or left out
    for a reason.
    """

    metric: str
    row_metric: str
    higher: bool
    against: Against | None
    positions: Mapping[int, int]
    new_vs: str | None
    wrong_against: str | None
    where: tuple[Where, ...]
    notes: tuple[str, ...]


@dataclass
class _Asked:
    """Reasons being gathered, so that one Refusal tells them all."""

    refusals: list[Refusal] = field(default_factory=list)

    def finish(self) -> None:
        if len(self.refusals) == 1:
            raise self.refusals[0]
        if self.refusals:
            first = self.refusals[0]
            reasons = [f"{one.what}: {'; '.join(one.why)}" for one in self.refusals]
            raise Refusal(first.code, "the sheet cannot be made as asked", why=reasons, next=first.next)


def text_of(value: Scalar | None) -> str:
    """Return a field's value as ``--where`` writes it: ``true``, ``false``, a whole number without ``.0``."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def choose(
    dataset: Dataset,
    data: Sequence[ArmData],
    labels: tuple[LabelColumn, ...],
    texts: Sequence[Mapping[str, str]],
    sources: Sources,
    *,
    metric: str | None,
    against: str | None,
    new_vs: str | None,
    wrong_against: str | None,
    where: Sequence[str],
    higher: bool | None = None,
) -> Choices:
    """Return what the options of a sheet come to; ``higher`` None is what the adapters say is better.

    Raises:
        Refusal: every option that names something that is not there.
    """
    asked = _Asked()
    notes: list[str] = []
    arms = tuple(one.column for one in data)
    known = {column.metric for arm in arms for column in arm.scores}
    figures = {name for one in data for _, scores in one.figures for name in scores}
    if metric is not None and metric not in known | figures:
        asked.refusals.append(
            missing("metric", metric, known | figures, next=f"evh runs --dataset-id {dataset.dataset_id}")
        )
    distinct = {
        column.ref: distinct_answers(
            held[item.sha256] for item in dataset.items if item.sha256 in held
        )
        for column, held in zip(labels, texts, strict=True)
    }  # fmt: skip
    wrong_ref = _wrong_ref(dataset, labels, wrong_against, asked)
    chosen = _against(
        dataset, arms, labels,
        distinct=distinct, named=against, metric=metric if metric in known else None,
        looked_at=wrong_ref, asked=asked,
    )  # fmt: skip
    compared = _new_vs(dataset, sources, new_vs, asked)
    kept = tuple(one for text in where if (one := _where(dataset, text, asked)) is not None)
    asked.finish()
    wanted = metric or _primary(data, chosen)
    row_metric = wanted if wanted in known else STAND_IN if STAND_IN in known else ""
    if wanted and row_metric != wanted:
        notes.append(
            f"{wanted} has no value per item: {row_metric} draws each row's winner"
            if row_metric
            else f"{wanted} has no value per item and no arm has {STAND_IN}: no row has a winner"
        )
    positions = {
        at: position
        for at, arm in enumerate(arms)
        if (position := arm.position(row_metric, chosen)) is not None
    }
    notes += _barred(arms, positions)
    if chosen is not None and chosen.ref in distinct and distinct[chosen.ref] < 2:
        positions = {}
        notes.append(
            f"{chosen.ref} holds fewer than two distinct answers: it measures recall of that answer only, "
            "so no winner is drawn from it"
        )
    if higher is None or row_metric != wanted:
        higher = all(arms[at].scores[position].higher for at, position in positions.items())
    return Choices(
        metric=wanted,
        row_metric=row_metric,
        higher=higher,
        against=chosen,
        positions=positions,
        new_vs=compared,
        wrong_against=wrong_ref,
        where=kept,
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """The metric and set that are asked for, by options or by a goal, and what to tell of them.

    ``higher`` is the goal's word on what is better, where its metric is taken; else None.
    """

    metric: str | None
    against: str | None
    higher: bool | None = None
    notes: tuple[str, ...] = ()


def by_goal(
    goal: Goal | None, data: Sequence[ArmData], *, metric: str | None, against: str | None, named: bool
) -> Wanted:
    """Return the metric and set of a sheet: what the options name, else the goal's.

    A goal that was not named gives only what is there: a metric or set that no arm has is told.
    """
    if goal is None:
        return Wanted(metric, against)
    notes = []
    figures = {name for one in data for _, scores in one.figures for name in scores}
    figures |= {column.metric for one in data for column in one.column.scores}
    if metric is None and goal.metric is not None:
        if named or goal.metric in figures:
            metric = goal.metric
        elif figures:
            notes.append(f"the goal {goal.goal_id} goes by {goal.metric}, which no arm here has")
    if against is None and goal.against is not None:
        columns = [column for one in data for column in one.column.scores]
        mine = [column for column in columns if column.metric == metric] or columns
        refs = {column.against.ref for column in mine if column.against}
        if goal.against in refs:
            against = goal.against
        elif refs:  # a judge's metric goes by no set
            notes.append(
                f"the goal {goal.goal_id} goes by {goal.against}, which no arm here was scored against"
            )
    return Wanted(metric, against, goal.higher if metric == goal.metric else None, tuple(notes))


def resolve_ref(text: str, columns: Sequence[LabelColumn | Against], dataset_id: str) -> list[str]:
    """Return the refs that a set's name on the command line can mean; best one where it is exact.

    ``labels/D/S``, ``D/S``, ``tier/name``, a bare set's name of this dataset, or a bare name.
    """
    refs = list(dict.fromkeys(column.ref for column in columns))
    exact = (text, f"labels/{text}", f"labels/{dataset_id}/{text}", text.removeprefix("references/"))
    for candidate in exact:
        if candidate in refs:
            return [candidate]
    return list(dict.fromkeys(column.ref for column in columns if column.name == text))


def _against(
    dataset: Dataset,
    arms: tuple[ArmColumn, ...],
    labels: tuple[LabelColumn, ...],
    *,
    distinct: Mapping[str, int],
    named: str | None,
    metric: str | None,
    looked_at: str | None,
    asked: _Asked,
) -> Against | None:
    """Return the set that draws the winner: the named one, else the one that errors are looked for by.

    Else that which tells answers apart, of the dataset's task, a reference before a label set, that most arms
    were scored against, of no arm's own outputs, of the best tier, that labels most of the items; by name
    last.
    """
    counts: Counter[Against] = Counter()
    owned = set()
    for arm in arms:
        for one in {column.against for column in arm.scores if metric in (None, column.metric)}:
            if one is not None:
                counts[one] += 1
        owned |= {column.against for column in arm.scores if column.own}
    if named is not None:
        refs = resolve_ref(named, list(counts), dataset.dataset_id)
        if len(refs) == 1:
            return next(one for one in counts if one.ref == refs[0])
        scored = ", ".join(sorted(one.ref for one in counts)) or "nothing"
        reason = f"it can be {' or '.join(refs)}" if refs else f"the arms were scored against {scored}"
        asked.refusals.append(
            Refusal(
                "not-scored" if not refs else "ambiguous-set",
                f"no arm here was scored against {named!r}" if not refs else f"{named!r} names several sets",
                why=[f"--against {named}: {reason}"],
                next=f"evh rescore --dataset-id {dataset.dataset_id} --labels {dataset.dataset_id}/SET",
            )
        )
        return None
    at_hand = next((one for one in counts if one.ref == looked_at), None)
    if at_hand is not None and distinct.get(at_hand.ref, 2) > 1:
        return at_hand
    other_task = {column.ref for column in labels if not column.same_task}
    covered = {column.ref: column.n for column in labels}

    def rank(one: Against) -> tuple[object, ...]:
        return (
            distinct.get(one.ref, 2) < 2,
            one.ref in other_task,
            one.kind == "labels",
            -counts[one],
            one in owned,
            TIERS.get(one.tier or "", len(TIERS)),
            -covered.get(one.ref, 0),
            one.ref,
        )

    return min(counts, key=rank, default=None)


def _primary(data: Sequence[ArmData], against: Against | None) -> str:
    """Return the primary metric of most arms on the scoring that draws the winner."""
    names = Counter(name for one in data for where, name in one.primaries if where == against and name)
    if names:
        return names.most_common(1)[0][0]
    firsts = [column.metric for one in data for column in one.column.scores if column.primary]
    return firsts[0] if firsts else ""


def _barred(arms: tuple[ArmColumn, ...], positions: dict[int, int]) -> list[str]:
    """Take the arms that may not win out of ``positions`` and return why, a sentence each."""
    notes = []
    for at in list(positions):
        column = arms[at].scores[positions[at]]
        ref = column.against.ref if column.against else ""
        if column.own:
            notes.append(
                f"{arms[at].name} is measured on its own labels ({ref}): it wins no row and never leads"
            )
        elif column.fitted:
            notes.append(
                f"{arms[at].name} was fitted on items of this dataset: it wins no row, and never leads"
            )
        if column.own or column.fitted or arms[at].floor or arms[at].trial is not None:
            del positions[at]
    floors = [arm.name for arm in arms if arm.floor]
    if floors:
        named = ", ".join(floors)
        notes.append(f"{named}: floors, that show what is easy: in no signal, winners of no row, no leaders")
    return notes


def _wrong_ref(
    dataset: Dataset, labels: tuple[LabelColumn, ...], named: str | None, asked: _Asked
) -> str | None:
    if named is None:
        return None
    refs = resolve_ref(named, labels, dataset.dataset_id)
    next_step = f"evh labels --dataset-id {dataset.dataset_id}"
    if not refs:
        asked.refusals.append(missing("set", named, [one.ref for one in labels], next=next_step))
    elif len(refs) > 1:
        asked.refusals.append(
            Refusal(
                "ambiguous-set",
                f"{named!r} names several sets",
                why=[f"--wrong-against {named}: it can be {' or '.join(refs)}"],
                next="write it as DATASET/SET or TIER/NAME",
            )
        )
    elif not next(one for one in labels if one.ref == refs[0]).same_task:
        asked.refusals.append(
            Refusal(
                "other-task",
                f"{refs[0]} speaks of another task than {dataset.dataset_id}",
                why=[f"--wrong-against {named}: a decision is never wrong by labels of another task"],
                next=next_step,
            )
        )
    return refs[0] if len(refs) == 1 else None


def _new_vs(dataset: Dataset, sources: Sources, named: str | None, asked: _Asked) -> str | None:
    if named is None:
        governed = [
            one.dataset_id
            for one in sources.datasets.values()
            if one.governed and one.dataset_id != dataset.dataset_id
        ]
        if len(governed) > 1:
            wanted = {
                name
                for pick in sources.picks.values()
                if pick.dataset_id == dataset.dataset_id and pick.op != "drop"
                for name in pick.targets
            }
            governed = [name for name in governed if name in wanted]
        return governed[0] if len(governed) == 1 else None
    if named not in sources.datasets:
        asked.refusals.append(missing("dataset", named, sources.datasets, next="evh datasets"))
        return None
    if named == dataset.dataset_id:
        asked.refusals.append(
            Refusal(
                "same-dataset",
                "a dataset holds nothing that is new to itself",
                why=[f"--new-vs {named}: it is the sheet's own dataset"],
                next="name the governed dataset that these items may join",
            )
        )
        return None
    return named


def _fields_told(dataset: Dataset, names: Sequence[str]) -> str:
    told = f"the fields {', '.join(sorted(names))}" if names else "no fields"
    return f"{dataset.dataset_id}: its items have {told}"


def _where(dataset: Dataset, text: str, asked: _Asked) -> Where | None:
    names = sorted({name for item in dataset.items for name in item.fields}, key=len, reverse=True)
    for name in names:
        if text.startswith(f"{name}:"):
            return Where(name, text[len(name) + 1 :])
    name, colon, _ = text.partition(":")
    if colon:
        asked.refusals.append(
            missing("field", name, names, next=f"evh dataset-items --dataset-id {dataset.dataset_id}")
        )
    else:
        asked.refusals.append(
            Refusal(
                "bad-where",
                "--where takes FIELD:VALUE",
                why=[f"--where {text}: it has no ':'", _fields_told(dataset, names)],
                next=f"write --where {min(names, default='FIELD')}:VALUE",
            )
        )
    return None
