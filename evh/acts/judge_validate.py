"""A judge measured against people: how often it says what they say, beyond chance, in either order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evh.acts.judge_plan import judge_sha, of_items
from evh.acts.judge_tally import Tally
from evh.acts.judge_units import Frame
from evh.acts.judge_validation import OneJudge, Order, Validation
from evh.acts.kept_intervals import KeptIntervals
from evh.errors import Refusal
from evh.measure.agreement import compare_sets
from evh.measure.intervals import wilson
from evh.measure.scores import majority_rate
from evh.project import datasets, judged, judges, labels, runs
from evh.records.answers import answers, canonical, comparable, shown
from evh.records.judge import GRADE, PAIRWISE, plain
from evh.store.hashing import sha256_text
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.measure.scores import Majority
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.judge import Judge
    from evh.records.labelset import LabelSet
    from evh.records.run import Run

TIE = "tie"
_SAME = 1e-9


def measure(
    project: Project,
    scorer: str,
    labels_ref: str,
    *,
    names: Sequence[str] = (),
    mapped: Mapping[str, str] | None = None,
) -> Validation:
    """Return how a judge compares with people. It asks nothing and writes nothing under ``data/``.

    Of a pick or a pairwise judge a label names the arm that is best (its config or run), or says ``tie``; an
    accept-list names several. Of a grade it is a number, of the one arm that ``names`` gives.

    Args:
        project: the project.
        scorer: the judge.
        labels_ref: ``<dataset>/<set>``: the people's labels, of items that were judged.
        names: the arms, where several passes of the judge are there; for a grade the arm that was labelled.
        mapped: what a label's text stands for, such as ``{"first": "arm_a"}``.

    Raises:
        Refusal: no such judge or set; a set that no person made; no judged run by the judge's present rubric;
            labels that name no arm judged, or are no grades.

    Cost: reads the judged runs, their outputs and the judge's verdicts.
    """
    judge = judges.read(project, scorer)
    rubric_sha = sha256_text(judges.rubric_of(project, judge))
    owner, name = labels.split_ref(labels_ref)
    label_set = labels.read(project, owner, name)
    if label_set.kind != "person":
        raise Refusal(
            "not-people",
            f"{label_set.ref} was not labelled by people",
            why=[f"{label_set.ref}: its source is {label_set.kind}; a judge is measured against people"],
            next="evh label-sheet and evh label-import make a person's set",
        )
    made = _judged(project, judge, rubric_sha, label_set, names)
    dataset = datasets.read(project, made[0].dataset_id)
    arms = _names(made)
    said = labels.by_sha(label_set, labels.texts(project, label_set, verify=True))
    known = {item.item_id: item for item in dataset.items}
    notes: list[str] = []
    people, verdicts, errors = _sides(
        project, judge, made, said=said, known=known, mapped=mapped or {}, notes=notes
    )
    n_both = len(people.keys() & verdicts.keys())
    if not n_both:
        raise Refusal(
            "nothing-in-common",
            f"no item that {label_set.ref} labels has a verdict of {scorer!r}",
            why=[f"{plural(len(people), 'item')} labelled, {plural(len(verdicts), 'item')} with a verdict"],
            next=f"evh judge --scorer {scorer} --dataset-id {dataset.dataset_id} --runs {','.join(arms)}",
        )
    points = (
        {text: float(text) for text in {*people.values(), *verdicts.values()}} if judge.kind == GRADE else {}
    )
    found = compare_sets(verdicts, people, min_overlap=project.settings.min_overlap, points=points)
    kept = KeptIntervals(project)
    intervals = kept.of_pairs([None if found.too_few else found.confusion])[0]
    kept.save()
    best = majority_rate(people[key] for key in people if key in verdicts)
    if found.too_few:
        notes.append(f"{plural(found.n, 'item')} in common are too few to say")
    if len({people[key] for key in people if key in verdicts}) < 2:
        notes.append(f"{label_set.ref} gives one answer on all of them: the figures say nothing of any other")
    if best is not None and found.same_share is not None:
        notes += _beside_one_answer(found.same_share, best)
    if found.paradox:
        notes.append("agreement is high and kappa low, for one answer dominates: read AC1")
    judge_id = str((made[0].judged or {}).get("judge_sha256") or "")
    return Validation(
        judge=judge,
        dataset_id=dataset.dataset_id,
        arms=arms,
        runs=tuple(run.key for run in made),
        labels=label_set.ref,
        labels_sha256=label_set.labels_sha256,
        rubric_sha256=rubric_sha,
        judge_sha256=judge_id,
        n_labelled=len(people),
        n_judged=len(verdicts),
        agreement=found,
        intervals=intervals,
        baseline=best.share if best else None,
        baseline_answer=best.answers[0] if best else None,
        mean_error=math.fsum(errors) / len(errors) if errors else None,
        orders=_orders(project, judge, made, dataset=dataset, people=people, notes=notes),
        notes=tuple(notes),
    )


def _beside_one_answer(share: float, best: Majority) -> list[str]:
    """Return that always giving one answer agrees as often as the judge, or more often; else nothing."""
    always = f"always saying {shown(best.answers[0])!r} would agree"
    if math.isclose(share, best.share, abs_tol=_SAME):
        return [f"{always} as often ({best.share:.1%})"]
    if share < best.share:
        return [f"{always} more often: {best.share:.1%}, where the judge reaches {share:.1%}"]
    return []


def write(project: Project, found: Validation) -> Path:
    """Set ``validated_by`` in the judge's file: its other lines stay byte for byte.

    Raises:
        Refusal: too few items to say anything; a judged run that does not say who judged; a file that evh
            does not change (it tells the line to write).
    """
    reasons = []
    if found.agreement.too_few:
        reasons.append(
            f"{plural(found.agreement.n, 'item')} in common; {project.settings.min_overlap} are the fewest"
        )
    if not found.judge_sha256:
        reasons.append(f"{found.runs[0]}: it does not say who judged")
    if reasons:
        raise Refusal(
            "not-measured",
            f"{found.judge.scorer!r} is not measured by that",
            why=reasons,
            next=f"evh label-sheet --dataset-id {found.dataset_id}, to label more",
        )
    return judges.write_validation(project, found.judge.scorer, found.record(project.stamp()))


def _judged(
    project: Project, judge: Judge, rubric_sha: str, label_set: LabelSet, names: Sequence[str]
) -> list[Run]:
    """Return the runs of the pass to measure: the latest one by the present rubric that labels speak of."""
    mine = [
        run
        for run in runs.read_all(project, [])
        if run.judged and run.folder == judged.folder(judge.scorer) and not run.judged.get("sheet_sha256")
    ]
    present = [run for run in mine if (run.judged or {}).get("rubric_sha256") == rubric_sha]
    of_dataset = [run for run in present if run.dataset_id == label_set.dataset_id] or present
    where = of_dataset[-1].dataset_id if of_dataset else label_set.dataset_id
    passes: dict[tuple[str, ...], list[Run]] = {}
    for run in of_dataset:
        if run.dataset_id == where:
            passes.setdefault(tuple((run.judged or {}).get("together") or [run.key]), []).append(run)
    next_step = f"evh judge --scorer {judge.scorer} --dataset-id {label_set.dataset_id} --runs A,B"
    if not passes:
        other = f"{len(mine)} by another rubric" if mine else "none"
        raise Refusal(
            "not-judged",
            f"there is no judged run of {judge.scorer!r} by its present rubric",
            why=[f"data/{judged.folder(judge.scorer)}: {other}"],
            next=next_step,
        )
    wanted = list(dict.fromkeys(names))
    whole = [held for together, held in passes.items() if len(held) == len(together) or judge.kind == GRADE]
    if wanted:
        chosen = [
            [run for name in wanted for run in held if name in (run.config_id, run.run_id)] for held in whole
        ]
        fits = [held for held in chosen if len(held) == len(wanted)]
        if judge.kind != GRADE:
            fits = [
                held for held, of in zip(chosen, whole, strict=True) if len(held) == len(wanted) == len(of)
            ]
    else:
        fits = whole
    if not fits:
        raise Refusal(
            "not-judged",
            f"{judge.scorer!r} has not judged these arms together",
            why=[
                f"judged together: {', '.join(run.config_id for run in held)}"
                for held in whole or passes.values()
            ],
            next=next_step,
        )
    found = max(fits, key=lambda held: max(run.created_at for run in held))
    if judge.kind == GRADE and len(found) > 1:
        raise Refusal(
            "which-arm",
            "a grade is of one arm's output",
            why=[f"{judge.scorer} graded {', '.join(run.config_id for run in found)}"],
            next=f"name the one that {label_set.ref} grades: --runs {found[0].config_id}",
        )
    return found


def _names(made: Sequence[Run]) -> tuple[str, ...]:
    """Return what each arm is called: its config, or its run where two runs are of one config."""
    configs = [run.config_id for run in made]
    return tuple(run.config_id if configs.count(run.config_id) == 1 else run.run_id for run in made)


def _sides(
    project: Project,
    judge: Judge,
    made: Sequence[Run],
    *,
    said: Mapping[str, str],
    known: Mapping[str, Any],
    mapped: Mapping[str, str],
    notes: list[str],
) -> tuple[dict[str, str], dict[str, str], list[float]]:
    """Return the people's answers and the judge's, by item, and the distances of grades."""
    rows = [{row.item_id: row for row in runs.predictions(project, run)} for run in made]
    labelled = {item_id: said[item.sha256] for item_id, item in known.items() if item.sha256 in said}
    if judge.kind == GRADE:
        return _grades(judge, rows[0], labelled, notes)
    reasons: dict[str, None] = {}
    people: dict[str, str] = {}
    arms = _names(made)
    stands_for = {name: arm for run, arm in zip(made, arms, strict=True) for name in (arm, run.run_id)}
    for item_id, text in labelled.items():
        words = [mapped.get(one, one) for one in answers(text)]
        unknown = [one for one in words if one != TIE and one not in stands_for]
        for one in unknown:
            reasons[f"{one_line(one, 80)!r} names no arm: {', '.join(arms)} or tie"] = None
        if not unknown:
            people[item_id] = _word([stands_for[one] for one in words if one != TIE] or arms, arms)
    if reasons:
        raise Refusal(
            "not-of-arms",
            "the labels do not say which arm is best",
            why=list(reasons),
            next=f"say what a label stands for: --map LABEL={arms[0]}",
        )
    verdicts = {}
    for item_id in known:
        shares = [
            next((value for name, value in row.scores.items() if plain(name) == judge.metric), None)
            for held in rows
            if (row := held.get(item_id)) is not None
        ]
        given = [share for share in shares if share is not None]
        if len(given) == len(made):
            top = max(given)
            best = [
                arm for arm, share in zip(arms, given, strict=True) if math.isclose(share, top, abs_tol=_SAME)
            ]
            verdicts[item_id] = _word(best, arms)
    return people, verdicts, []


def _word(best: Sequence[str], arms: Sequence[str]) -> str:
    """Return who is best as one text: an arm, ``tie`` for all of them, else an accept-list."""
    unique = set(best)
    return TIE if len(unique) == len(set(arms)) and len(unique) > 1 else canonical(unique)


def _grades(
    judge: Judge, rows: Mapping[str, Any], labelled: Mapping[str, str], notes: list[str]
) -> tuple[dict[str, str], dict[str, str], list[float]]:
    people: dict[str, float] = {}
    reasons = []
    for item_id, text in labelled.items():
        try:
            grade = float(comparable(text))
        except ValueError:
            reasons.append(f"{item_id}: {one_line(text, 40)!r} is no number")
            continue
        if judge.scale.holds(grade):
            people[item_id] = grade
        else:
            reasons.append(f"{item_id}: {one_line(text, 40)} is off the scale {judge.scale}")
    if reasons:
        raise Refusal("not-grades", f"the labels are no grades of {judge.scale}", why=reasons)
    given = {
        item_id: value
        for item_id, row in rows.items()
        for name, value in row.scores.items()
        if plain(name) == judge.metric
    }
    if any(value != int(value) for value in (*given.values(), *people.values())):
        notes.append("grades are rounded to whole numbers for the confusion, kappa and AC1 (halves up)")
    errors = [abs(given[item_id] - people[item_id]) for item_id in people if item_id in given]
    return (
        {item_id: f"{math.floor(grade + 0.5):d}" for item_id, grade in people.items()},
        {item_id: f"{math.floor(grade + 0.5):d}" for item_id, grade in given.items()},
        errors,
    )


def _orders(
    project: Project,
    judge: Judge,
    made: Sequence[Run],
    *,
    dataset: Dataset,
    people: Mapping[str, str],
    notes: list[str],
) -> tuple[OneJudge, ...]:
    """Return each judge in both orders; () where the pass is not of two arms, or its verdicts are gone."""
    if judge.kind != PAIRWISE or len(made) != 2:
        return ()
    about = made[0].judged or {}
    askers = about.get("askers")
    if not isinstance(askers, dict):
        return ()
    repeats = about.get("repeats")
    frame = Frame(
        judge.kind, str(about.get("question_sha256")), askers, repeats if isinstance(repeats, int) else 1
    )
    if judge_sha(judge, frame) != about.get("judge_sha256"):
        notes.append("the judge's file has changed since: the orders are those of the judged runs")
    sources = [runs.read(project, str((run.judged or {}).get("run"))) for run in made]
    outputs = []
    for run in sources:
        rows = runs.predictions(project, run)
        held = runs.outputs(project, run, rows)
        outputs.append(
            {row.item_id: held[row.item_id] for row in rows if row.error is None and row.item_id in held}
        )
    arms = _names(made)
    items = [one for one in of_items(dataset, judge.kind, arms, outputs, {}) if one.left_out is None]
    items = [one for one in items if one.item.item_id in people]
    tally = Tally(judge, frame, items, 2, judged.verdicts(project, judge.scorer))
    found = []
    for asker in askers:
        orders = []
        for places in ((0, 1), (1, 0)):
            read = correct = n = 0
            for one in items:
                pair = tuple(one.outputs[at] for at in places)
                if pair[0] == pair[1]:
                    continue
                for number in range(1, frame.repeats + 1):
                    n += 1
                    said = tally.said(asker, one, pair, number)
                    if said is not None:
                        read += 1
                        words = [arms[places[place]] for place in said.places]
                        correct += _word(words, arms) == people[one.item.item_id]
            orders.append(
                Order(
                    first=arms[places[0]],
                    second=arms[places[1]],
                    n=n,
                    read=read,
                    correct=correct,
                    accuracy=correct / read if read else None,
                    accuracy_of_all=correct / n if n else None,
                    interval=wilson(correct, read),
                )
            )
        both = [order.accuracy for order in orders if order.accuracy is not None]
        found.append(
            OneJudge(
                judge=asker,
                orders=tuple(orders),
                accuracy=math.fsum(both) / 2 if len(both) == 2 else None,
                position=tally.position(asker, items),
            )
        )
    return tuple(found)
