"""``evh labels``: every label set, its coverage, and how the sets agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evh.cli import common
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.acts.labels import Anchoring, LabelsReport, Pair, SetSummary, TaskAgreement
    from evh.measure.intervals import Interval
    from evh.project.find import Project

TOO_FEW = "too few to say"
MOST_COSTS = 8
MOST_ITEMS = 6


@common.command("labels", example="evh labels --dataset-id d --confusion")
@click.option(
    "--dataset-id", metavar="D", help="The sets on this dataset's bytes (default: every dataset's)."
)
@click.option("--task", metavar="T", help="The sets of this task only.")
@click.option("--confusion", is_flag=True, help="Show each pair's table, and where the two part.")
@click.option(
    "--scale",
    type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
    help="What the answers are (default: as evh.toml declares of the task, else nominal).",
)
@click.option("--order", metavar="A,B,C", help="The answers of an ordinal scale, from first to last.")
def labels(
    dataset_id: str | None,
    task: str | None,
    *,
    confusion: bool,
    scale: str | None,
    order: str | None,
    as_json: bool,
) -> None:
    """Every label set on a dataset, wherever it lies: source, coverage, agreement, promotion.

    Agreement is Cohen's kappa, Gwet's AC1 and Krippendorff's alpha, each with a bootstrap interval. Answers
    that are ordered or numbers have weighted kappa too, and alpha of their scale: name it with --scale and
    --order, or once for a task in evh.toml ([tasks.TASK] with scale and order).
    """
    from evh.acts import labels as act
    from evh.acts import task_scale
    from evh.errors import Refusal

    project = common.project()
    problems: list[Refusal] = []
    chosen = task_scale.given(scale, order)
    if dataset_id is None:
        reports = act.report_all(project, task=task, scale=chosen, problems=problems)
    else:
        reports = [act.report(project, dataset_id, task=task, scale=chosen, problems=problems)]
    warnings = [f"{problem.what}: {'; '.join(problem.why)}" for problem in problems]
    if as_json:
        from evh.cli.labels_json import report_row

        common.emit("labels", "datasets", [report_row(one) for one in reports], warnings=warnings)
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
                made.append(steps.promote_or_label(project, name, [one.ref for one in sets]))
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
            _pairs(task)
            for line in _over_all(task):
                common.say(f"  {line}")
        if confusion:
            for pair in task.pairs:
                _matrix(pair)


def _pairs(task: TaskAgreement) -> None:
    from evh.cli.table import table

    # Of two answers every weighting is the unweighted kappa.
    weighted = any(pair.agreement.kappa_linear is not None and _answers(pair) > 2 for pair in task.pairs)
    masi = any(pair.agreement.masi is not None for pair in task.pairs)
    headers = ["pair", "n", "same", "only share one", "kappa", "AC1", "alpha"]
    headers += ["linear", "quadratic"] if weighted else []
    headers += ["MASI"] if masi else []
    table(
        [*headers, ""],
        [_pair_cells(pair, weighted=weighted, masi=masi) for pair in task.pairs],
        right=range(1, len(headers)),
        drop=(3, 6),
    )


def _answers(pair: Pair) -> int:
    return len(pair.agreement.confusion.categories)


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
        if one.anchoring is not None:
            made.append(f"{one.ref}: {_anchored(one.anchoring)}")
        if one.distinct == 1:
            made.append(f"{one.ref}: one answer only, so it measures the recall of that answer")
    return made


def _anchored(one: Anchoring) -> str:
    told = []
    for name, same, n in (("in sight", one.shown_same, one.shown), ("hidden", one.hidden_same, one.hidden)):
        if n:
            told.append(f"{same / n:.0%} of {n:,} labels are the proposal where it was {name}")
    if one.difference is not None and one.interval is not None:
        told.append(
            f"seeing it pulls by {one.difference:+.0%} [{one.interval.low:+.0%}, {one.interval.high:+.0%}]"
        )
    return "; ".join(told)


def _pair_cells(pair: Pair, *, weighted: bool, masi: bool) -> tuple[object, ...]:
    one = pair.agreement
    return (
        f"{pair.a} × {pair.b}",
        one.n,
        None if one.same_share is None else f"{one.same_share:.1%}",
        None if one.sharing_share is None else f"{one.sharing_share:.1%}",
        _with_ends(one.kappa, pair.kappa_interval),
        _with_ends(one.ac1, pair.ac1_interval),
        _with_ends(one.alpha, pair.alpha_interval),
        *([one.kappa_linear, one.kappa_quadratic] if weighted else []),
        *([one.masi] if masi else []),
        "; ".join(_marks(pair)),
    )


def _marks(pair: Pair) -> list[str]:
    one = pair.agreement
    marks = [TOO_FEW] if one.too_few else []
    if pair.derived:
        marks.append("one was made from the other")
    if pair.same_person:
        marks.append(f"ceiling: {one_line(pair.same_person, 40)} twice")
    if pair.guideline_differs:
        marks.append("guidelines differ")
    if one.paradox:
        marks.append(
            f"one answer dominates: prevalence {one.prevalence or 0.0:.2f}, bias {one.bias or 0.0:.2f}"
        )
    if one.settled:
        marks.append(f"{one.settled:,} settled since")
    return marks


def _with_ends(value: float | None, interval: Interval | None) -> str | None:
    if value is None:
        return None
    return f"{value:.3f}" + (f" [{interval.low:.2f}, {interval.high:.2f}]" if interval else "")


def _over_all(task: TaskAgreement) -> list[str]:
    few = f" ({TOO_FEW})" if task.alpha_too_few else ""
    over = (
        "all sets" if len(task.pooled) == len(task.sets) else f"{len(task.pooled)} of {len(task.sets)} sets"
    )
    made = []
    for one in task.alphas:
        name = {"masi": "MASI", "jaccard": "Jaccard"}.get(one.scale, one.scale)
        figure = _with_ends(one.value, one.interval) or "—"
        made.append(
            f"Krippendorff's alpha ({name}) over {over}: {figure}, {task.alpha_n:,} texts labelled twice{few}"
        )
    if task.fleiss is not None:
        made.append(f"Fleiss' kappa over {over}: {task.fleiss:.3f}, {task.fleiss_raters} labels of each text")
    if len(task.pooled) < len(task.sets) and len(task.pooled) > 1:
        left = ", ".join(one.ref for one in task.sets if one.ref not in task.pooled)
        made.append(f"left out of alpha, as made from another set here or a second pass: {left}")
    if task.guidelines > 1:
        made.append(f"alpha pools sets under {task.guidelines} different guidelines")
    if task.off_scale:
        off = ", ".join(f"{_shown(label)} ({count:,})" for label, count in task.off_scale[:5])
        more = len(task.off_scale) - 5
        made.append(
            f"not on the {task.scale.kind} scale, which therefore gives no alpha: {off}"
            + (f" and {more:,} more" if more > 0 else "")
        )
    own = set(task.pooled)
    return made + [line for pair in task.pairs if {pair.a, pair.b} <= own for line in _several(pair)]


def _several(pair: Pair) -> list[str]:
    """Say why a set that accepts several answers looks worse by kappa than it is."""
    one = pair.agreement
    if not one.sharing:
        return []
    wide = " and ".join(
        f"{count:,} labels of {ref}"
        for ref, count in zip((pair.a, pair.b), one.several, strict=True)
        if count
    )
    told = (
        f"{pair.a} × {pair.b}: {wide} accept several answers. Kappa, AC1 and nominal alpha take such a label "
        f"for another answer; on {one.sharing:,} of {one.n:,} texts the two share one. MASI weighs that."
    )
    return [told]


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
    for cost in pair.costs[:MOST_COSTS]:
        items = ", ".join(one_line(item, 60) for item in cost.items[:MOST_ITEMS])
        more = len(cost.items) - MOST_ITEMS
        common.say(
            f"  {cost.count:,} × {_shown(cost.a)} against {_shown(cost.b)}: {items}"
            + (f" and {more:,} more" if more > 0 else "")
        )
    if len(pair.costs) > MOST_COSTS:
        common.say(f"  and {len(pair.costs) - MOST_COSTS:,} more ways to differ; --json has all")
    if pair.agreement.settled:
        common.say(f"  {plural(pair.agreement.settled, 'difference')} settled by a later set")


def _shown(text: str) -> str:
    from evh.records.answers import shown

    return one_line(shown(text), 40)
