"""``evh labels``: every label set, its coverage, and how the sets agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.acts.labels import LabelsReport, Pair, SetSummary, TaskAgreement
    from evh.project.find import Project

TOO_FEW = "too few to say"


@common.command("labels", example="evh labels --dataset-id d --confusion")
@click.option(
    "--dataset-id", metavar="D", help="The sets on this dataset's bytes (default: every dataset's)."
)
@click.option("--task", metavar="T", help="The sets of this task only.")
@click.option("--confusion", is_flag=True, help="Show each pair's confusion matrix.")
def labels(dataset_id: str | None, task: str | None, confusion: bool, as_json: bool) -> None:
    """Every label set on a dataset, wherever it lies: source, coverage, agreement, promotion."""
    from evh.acts import labels as act
    from evh.errors import Refusal

    project = common.project()
    problems: list[Refusal] = []
    if dataset_id is None:
        reports = act.report_all(project, task=task, problems=problems)
    else:
        reports = [act.report(project, dataset_id, task=task, problems=problems)]
    warnings = [f"{problem.what}: {'; '.join(problem.why)}" for problem in problems]
    if as_json:
        common.emit("labels", "datasets", [_report_row(one) for one in reports], warnings=warnings)
        return
    for position, report in enumerate(reports):
        if position:
            common.say()
        _show(report, confusion=confusion)
    if not reports:
        common.say("no dataset yet" if task is None else f"no dataset has a set of the task {task}")
    common.warn(warnings)
    common.next_steps(_next(project, reports, confusion=confusion))


def _next(project: Project, reports: list[LabelsReport], *, confusion: bool) -> list[str]:
    from evh.acts import steps
    from evh.project import captures

    labelled = [report for report in reports if report.tasks]
    if len(labelled) > 1:
        return ["evh labels --dataset-id D" + ("" if confusion else " --confusion")]
    if labelled:
        (report,) = labelled
        name = report.dataset_id
        sets = [one for task in report.tasks for one in task.sets if one.kind == "labels"]
        made = (
            [f"evh labels --dataset-id {name} --confusion"] if report.tasks[0].pairs and not confusion else []
        )
        if sets:
            made.append(steps.score_labels(project, name, [one.ref for one in sets]))
            if not any(one.kind == "reference" and one.own for task in report.tasks for one in task.sets):
                made.append(steps.promote(name, [one.ref for one in sets]))
        return list(dict.fromkeys(made))
    if not reports:
        return []
    name = reports[0].dataset_id if len(reports) == 1 else "D"
    known = captures.ids(project)
    capture = known[0] if len(known) == 1 else "C"
    sheet = steps.label_sheet(name) if len(reports) == 1 else "evh label-sheet --dataset-id D --out sheet.csv"
    ruled = f"evh label-from-capture --dataset-id {name} --capture {capture} --map RULES.yaml --set SET"
    return [sheet, ruled] if known else [sheet]


def _show(report: LabelsReport, *, confusion: bool) -> None:
    from evh.cli.table import table

    common.say(f"{report.dataset_id}: {report.n_items:,} items")
    if not report.tasks:
        common.say("  no label set labels its bytes yet")
    for task in report.tasks:
        common.say()
        common.say(f"task {task.task}" if task.task else "no task named")
        table(
            ["set", "source", "by", "labelled", "answers", "most frequent", "promoted into"],
            [_set_cells(one) for one in task.sets],
            right=(3, 4),
            keep=(0,),
            drop=(2, 4, 6),
        )
        for note in _notes(task):
            common.say(f"  {note}")
        if task.pairs:
            common.say()
            table(
                ["pair", "n", "same", "only share one", "kappa", "AC1", ""],
                [_pair_cells(pair) for pair in task.pairs],
                right=(1, 2, 3, 4, 5),
            )
            common.say(f"  {_alpha(task)}")
        if confusion:
            for pair in task.pairs:
                _matrix(pair)


def _set_cells(one: SetSummary) -> tuple[object, ...]:
    share = "" if one.majority_share is None else f" {one.majority_share:.0%}"
    return (
        one.ref if one.own else f"{one.ref} (by bytes)",
        one.source_kind or ("no promotion on record" if one.kind == "reference" else None),
        one.by or None,
        f"{one.covered:,} of {one.of:,}",
        one.distinct,
        None if one.majority is None else _shown(one.majority) + share,
        ", ".join(one.promoted_into) or ("reference" if one.kind == "reference" else None),
    )


def _notes(task: TaskAgreement) -> list[str]:
    made = []
    for one in task.sets:
        if one.n_preceding:
            made.append(
                f"{one.ref}: for {one.n_preceding:,} of {one.n_timed:,} labels the outcome came before the "
                "decision, or on the same day: production may have known it"
            )
        if one.reads_output:
            made.append(
                f"{one.ref}: it takes its answer from the recorded decision, so production is right by it"
            )
        if one.conflicts:
            made.append(
                f"{one.ref}: {plural(one.conflicts, 'text')} of equal bytes got different answers: no label"
            )
        if one.distinct == 1:
            made.append(f"{one.ref}: one answer only, so it measures the recall of that answer")
    return made


def _pair_cells(pair: Pair) -> tuple[object, ...]:
    one = pair.agreement
    marks = [TOO_FEW] if one.too_few else []
    if pair.derived:
        marks.append("one was promoted from the other")
    if pair.guideline_differs:
        marks.append("guidelines differ")
    if one.paradox:
        marks.append(
            f"one answer dominates: prevalence {one.prevalence or 0.0:.2f}, bias {one.bias or 0.0:.2f}"
        )
    return (
        f"{pair.a} × {pair.b}",
        one.n,
        None if one.same_share is None else f"{one.same_share:.1%}",
        None if one.sharing_share is None else f"{one.sharing_share:.1%}",
        one.kappa,
        one.ac1,
        "; ".join(marks),
    )


def _alpha(task: TaskAgreement) -> str:
    figure = "—" if task.alpha is None else f"{task.alpha:.3f}"
    few = f" ({TOO_FEW})" if task.alpha_too_few else ""
    return (
        f"Krippendorff's alpha (nominal) over all sets: {figure}, {task.alpha_n:,} texts labelled twice{few}"
    )


def _matrix(pair: Pair) -> None:
    from evh.cli.table import table

    matrix = pair.agreement.confusion
    common.say()
    common.say(f"rows {pair.a}, columns {pair.b}")
    table(
        ["", *(_shown(text) for text in matrix.categories), "in all"],
        [(_shown(text), *row, sum(row)) for text, row in zip(matrix.categories, matrix.counts, strict=True)],
        right=range(1, len(matrix.categories) + 2),
    )


def _shown(text: str) -> str:
    from evh.records.answers import shown

    return one_line(shown(text), 40)


def _report_row(report: LabelsReport) -> dict[str, Any]:
    return {
        "dataset_id": report.dataset_id,
        "n_items": report.n_items,
        "tasks": [
            {
                "task": task.task,
                "alpha": task.alpha,
                "alpha_scale": "nominal",
                "alpha_n": task.alpha_n,
                "alpha_too_few": task.alpha_too_few,
                "sets": [_set_row(one) for one in task.sets],
                "pairs": [_pair_row(pair) for pair in task.pairs],
            }
            for task in report.tasks
        ],
    }


def _set_row(one: SetSummary) -> dict[str, Any]:
    return {
        "ref": one.ref,
        "kind": one.kind,
        "source": one.source_kind,
        "by": one.by or None,
        "own": one.own,
        "covered": one.covered,
        "of": one.of,
        "guideline_sha256": one.guideline,
        "promoted_into": list(one.promoted_into),
        "n_answers": one.distinct,
        "majority": one.majority,
        "majority_share": one.majority_share,
        "n_preceding": one.n_preceding,
        "n_timed": one.n_timed,
        "reads_output": one.reads_output,
        "n_conflicts": one.conflicts,
    }


def _pair_row(pair: Pair) -> dict[str, Any]:
    one = pair.agreement
    interval = one.same_interval
    return {
        "a": pair.a,
        "b": pair.b,
        "n": one.n,
        "n_same": one.same,
        "same_share": one.same_share,
        "same_low": interval.low if interval else None,
        "same_high": interval.high if interval else None,
        "n_sharing": one.sharing,
        "sharing_share": one.sharing_share,
        "kappa": one.kappa,
        "ac1": one.ac1,
        "prevalence": one.prevalence,
        "bias": one.bias,
        "paradox": one.paradox,
        "too_few": one.too_few,
        "guideline_differs": pair.guideline_differs,
        "derived": pair.derived,
        "categories": list(one.confusion.categories),
        "counts": [list(row) for row in one.confusion.counts],
    }
