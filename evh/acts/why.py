"""Why a number is what it is: what it was computed from, and whether those files are still the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts import labels as labels_act
from evh.acts import why_sheet
from evh.acts.sources import Sources
from evh.acts.why_chain import Chain
from evh.acts.why_model import FIGURES, Answer, Evidence, no_such_form
from evh.errors import Refusal
from evh.project import labels, runs
from evh.project.shelf import missing

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh.records.run import Run

__all__ = ["FIGURES", "Answer", "Evidence", "explain"]


def explain(project: Project, ref: str, *, dataset_id: str | None = None) -> Answer:
    """Return the provenance of one number.

    Args:
        project: the project.
        ref: ``run:<run>#<metric>`` (``<run>`` is a run's id, or ``<folder>/<id>`` for one of its scorings),
            ``sheet:<dataset>/<item>#<arm>.<metric>`` (``@<set>`` chooses the scoring where there are several;
            ``decision`` is a metric here), ``sheet:<dataset>/<item>#winner``,
            ``sheet:<dataset>#<arm>.<metric>`` for the footer's figure, ``sheet:<dataset>#<arm>.win_rate``
            (``judge_winner`` and ``judge_win_rate`` are the judge's), or
            ``agree:<set>,<set>#<figure>`` with a figure of `FIGURES`; a
            set is ``<dataset>/<set>`` or a reference set's ``<tier>/<name>``.
        dataset_id: of two sets' agreement, the dataset whose items count; by default that of the first.

    Raises:
        Refusal: a reference of no such form; a run, item, arm, metric, set or figure that is not there.

    Cost: every file that the number rests on is read and hashed once.
    """
    kind, colon, rest = ref.partition(":")
    if not colon or kind not in {"run", "sheet", "agree"} or "#" not in rest:
        raise no_such_form(ref)
    if dataset_id is not None and kind != "agree":
        why = [f"{ref}: names its dataset itself"]
        raise Refusal(
            "bad-options", "--dataset-id goes with agree: alone", why=why, next="leave out --dataset-id"
        )
    sources = Sources(project)
    if kind == "agree":
        return _agree(project, sources, ref, rest, dataset_id)
    return (_run if kind == "run" else why_sheet.explain)(project, sources, ref, rest)


def _run(project: Project, sources: Sources, ref: str, rest: str) -> Answer:
    name, _, metric = rest.partition("#")
    run = runs.read(project, name)
    if run.shown_metric is None and "/" not in name:  # the unscored run stands for its scorings
        scored = [one for one in sources.runs if one.run_id == run.run_id and metric in one.scores]
        run = scored[0] if len(scored) == 1 else run
    figures: dict[str, float] = {**run.scores, "n_items": run.n_items, "n_errors": run.n_errors}
    if metric not in figures:
        others = [one for one in sources.runs if one.run_id == run.run_id and metric in one.scores]
        raise Refusal(
            "no-such-metric",
            f"the run {run.key} has no figure {metric!r}",
            why=[
                f"{run.key}: there is {', '.join(sorted(figures))}",
                *(f"{one.key} has it: run:{one.key}#{metric}" for one in others),
            ],
            next="name one of them after the #",
        )
    chain = Chain(project, sources)
    chain.run(run)
    how = _how_counted(run, metric)
    if how is None:
        how = chain.figure(run, metric)
    same = [one for one in sources.runs if one.run_id == run.run_id and one.key != run.key]
    notes = [f"the same run scored elsewhere: run:{one.key}#{metric}" for one in same if metric in one.scores]
    return chain.answer(ref, figures[metric], how, notes)


def _how_counted(run: Run, metric: str) -> str | None:
    if metric == "n_items":
        return f"the items of {run.dataset_id} that {run.config_id} was run on"
    if metric == "n_errors":
        return "the rows that hold an error in place of an answer"
    return None


def _agree(project: Project, sources: Sources, ref: str, rest: str, dataset_id: str | None) -> Answer:
    pair, _, figure = rest.rpartition("#")
    names = [one.strip() for one in pair.split(",")]
    if len(names) != 2:
        raise no_such_form(ref)
    if figure not in FIGURES:
        raise missing("figure", figure, FIGURES, next="name one of them after the #")
    one, other = (_set(project, sources, name) for name in names)
    if one == other:
        raise Refusal(
            "same-set", "a set agrees with itself", why=[f"{one}: named twice"], next="name two sets"
        )
    owner = dataset_id or _owner(sources, one)
    problems: list[Refusal] = []
    report = labels_act.report(project, owner, problems=problems)
    found = next(
        (pair for task in report.tasks for pair in task.pairs if {pair.a, pair.b} == {one, other}), None
    )
    if found is None:
        raise Refusal(
            "no-such-pair",
            f"{one} and {other} are not compared on {owner}",
            why=[f"{owner}: one of them labels none of its items, or they answer two tasks"],
            next=f"evh labels --dataset-id {owner}",
        )
    value = getattr(found.agreement, FIGURES[figure])
    how = (
        f"{figure} of {found.a} and {found.b} over the {found.agreement.n:,} texts of {owner} that both "
        f"label, {found.agreement.same:,} of them alike"
    )
    if found.derived:
        how += "; one was made from the other, so they agree by construction"
    chain = Chain(project, sources)
    for name in (found.a, found.b):
        if name in sources.sets:
            chain.labels(name, 0, None, None)
        else:
            chain.reference(name, 0, None, None)
    chain.dataset(owner, 0, None, None)
    sources.problems += problems
    return chain.answer(ref, value, how)


def _set(project: Project, sources: Sources, name: str) -> str:
    """Return a set's ref as the agreement names it: ``<dataset>/<set>``, else ``<tier>/<name>``."""
    short = (
        name.removeprefix("references/") if name.startswith("references/") else name.removeprefix("labels/")
    )
    if short in sources.sets or short in sources.references:
        return short
    owner, set_name = labels.split_ref(short)
    labels.read(project, owner, set_name)  # raises what there is
    return short


def _owner(sources: Sources, ref: str) -> str:
    return sources.sets[ref].dataset_id if ref in sources.sets else sources.references[ref].dataset_id
