"""Why a number is what it is: what it was computed from, and whether those files are still the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import labels as labels_act
from evh.acts.sheet import build_sheet
from evh.acts.sources import Sources
from evh.acts.why_chain import Chain, Evidence
from evh.errors import Refusal
from evh.measure.numbers import mean
from evh.project import arms, datasets, labels, runs
from evh.project.arms import scored_against
from evh.project.shelf import missing
from evh.store.text import plural

if TYPE_CHECKING:
    from evh.acts.sheet_model import ArmColumn, Sheet
    from evh.project.find import Project
    from evh.records.run import Run

__all__ = ["FIGURES", "Answer", "Evidence", "explain"]

FIGURES = {
    "same": "same_share",
    "kappa": "kappa",
    "ac1": "ac1",
    "alpha": "alpha",
    "kappa_linear": "kappa_linear",
    "kappa_quadratic": "kappa_quadratic",
    "masi": "masi",
    "n": "n",
}
"""The figures of two sets' agreement that a reference may name, and the attribute that holds each."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One number, how it came about, and everything that it rests on, nearest first.

    ``value`` is None where the number is undefined. ``changed`` are the links that no longer match.
    """

    ref: str
    value: float | str | None
    how: str
    links: tuple[Evidence, ...]
    warnings: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[Evidence, ...]:
        """What was recorded and is no longer so."""
        return tuple(one for one in self.links if one.matches is False)


def explain(project: Project, ref: str, *, dataset_id: str | None = None) -> Answer:
    """Return the provenance of one number.

    Args:
        project: the project.
        ref: ``run:<run>#<metric>`` (``<run>`` is a run's id, or ``<folder>/<id>`` for one of its scorings),
            ``sheet:<dataset>/<item>#<arm>.<metric>`` (``@<set>`` chooses the scoring where there are several;
            ``decision`` is a metric here), or ``agree:<set>,<set>#<figure>`` with a figure of `FIGURES`; a
            set is ``<dataset>/<set>`` or a reference set's ``<tier>/<name>``.
        dataset_id: of two sets' agreement, the dataset whose items count; by default that of the first.

    Raises:
        Refusal: a reference of no such form; a run, item, arm, metric, set or figure that is not there.

    Cost: every file that the number rests on is read and hashed once.
    """
    kind, colon, rest = ref.partition(":")
    if not colon or kind not in {"run", "sheet", "agree"} or "#" not in rest:
        raise _no_such_form(ref)
    if dataset_id is not None and kind != "agree":
        why = [f"{ref}: names its dataset itself"]
        raise Refusal(
            "bad-options", "--dataset-id goes with agree: alone", why=why, next="leave out --dataset-id"
        )
    sources = Sources(project)
    if kind == "agree":
        return _agree(project, sources, ref, rest, dataset_id)
    return (_run if kind == "run" else _sheet)(project, sources, ref, rest)


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
    same = [one for one in sources.runs if one.run_id == run.run_id and one.key != run.key]
    notes = [f"the same run scored elsewhere: run:{one.key}#{metric}" for one in same if metric in one.scores]
    return _answer(ref, figures[metric], _how_run(sources, run, metric), chain, notes)


def _how_run(sources: Sources, run: Run, metric: str) -> str:
    if metric == "n_items":
        return f"the items of {run.dataset_id} that {run.config_id} was run on"
    if metric == "n_errors":
        return "the rows that hold an error in place of an answer"
    against = _against(run)
    values = [row.scores[metric] for row in sources.predictions(run) if metric in row.scores]
    if not values:
        return f"a figure over the whole run, by the scorer of {run.adapter or 'its adapter'}{against}"
    again = mean(values)
    stated = run.scores[metric]
    same = again is not None and abs(again - stated) <= 1e-12 * max(1.0, abs(stated))
    told = "and is that again" if same else f"but the rows now give {again!r}"
    return f"the mean of {plural(len(values), 'row')}{against}, {told}"


def _against(run: Run) -> str:
    ref = scored_against(run)
    return f" against {ref}" if ref else ""


def _sheet(project: Project, sources: Sources, ref: str, rest: str) -> Answer:
    dataset_id, slash, cell = rest.partition("/")
    if not slash:
        raise _no_such_form(ref)
    dataset = sources.datasets.get(dataset_id) or datasets.read(project, dataset_id)
    cuts = [at for at, letter in enumerate(cell) if letter == "#"]
    found = [(cell[:at], cell[at + 1 :]) for at in cuts if cell[:at] in dataset.by_id]
    if not found:
        told = missing(
            "item",
            cell.rpartition("#")[0],
            dataset.by_id,
            next=f"evh dataset-items --dataset-id {dataset_id}",
        )
        raise told
    item_id, column = found[-1]
    names = {run.config_id for run in sources.runs if run.dataset_id == dataset_id}
    names |= {run.run_id for run in sources.runs if run.dataset_id == dataset_id}
    arm = max((one for one in names if column.startswith(f"{one}.")), key=len, default=None)
    if arm is None:
        raise missing("arm", column.partition(".")[0], names, next=f"evh runs --dataset-id {dataset_id}")
    metric, _, against = column[len(arm) + 1 :].partition("@")
    configs = {run.config_id for run in sources.runs}
    sheet = build_sheet(
        project, dataset_id, () if arm in configs else (arm,), sources=sources, with_outputs=False,
        with_previews=False,
    )  # fmt: skip
    at = next(at for at, one in enumerate(sheet.arms) if one.name == arm)
    row = next(one for one in sheet.rows if one.item_id == item_id)
    shown = sheet.arms[at]
    chain = Chain(project, sources, item_id)
    if metric == "decision":
        chain.run(shown.run)
        how = f"the stored decision of {arm} on {item_id}"
        return _answer(ref, row.cells[at].decision, how, chain, [])
    position = _position(sheet, shown, metric, against, ref)
    column_read = shown.scores[position]
    wanted = column_read.against.ref if column_read.against else None
    mine = next(one for one in arms.of_dataset(project, dataset_id, [arm], all_runs=sources.runs))
    run = next(
        (one for one in mine.scored if scored_against(one) == wanted and _has(sources, one, metric)), mine.run
    )
    chain.run(run)
    others = [
        f"{row.cells[at].scores[n]!r} against {one.against.ref}: add @{one.against.ref}"
        for n, one in enumerate(shown.scores)
        if not against and one.metric == metric and n != position and one.against is not None
    ]
    error = row.cells[at].error
    how = f"{metric} of {arm} on {item_id}{f' against {wanted}' if wanted else ''}" + (
        f"; the item failed: {error}" if error else ""
    )
    return _answer(ref, row.cells[at].scores[position], how, chain, others)


def _has(sources: Sources, run: Run, metric: str) -> bool:
    return any(metric in row.scores for row in sources.predictions(run))


def _position(sheet: Sheet, arm: ArmColumn, metric: str, against: str, ref: str) -> int:
    """Return which score column a reference names: by its set, else the one that draws the sheet's winner."""
    found = [at for at, one in enumerate(arm.scores) if one.metric == metric]
    if against:
        named, own = against.removeprefix("references/"), f"labels/{sheet.dataset_id}/"
        found = [
            at
            for at in found
            if (one := arm.scores[at].against) is not None
            and named in (one.ref, one.ref.removeprefix("labels/"), one.ref.removeprefix(own))
        ]
    if not found:
        known = sorted({f"{arm.name}.{one.metric}" for one in arm.scores} | {f"{arm.name}.decision"})
        raise Refusal(
            "no-such-metric",
            f"{ref!r} names no score of {arm.name} on {sheet.dataset_id}",
            why=[f"{arm.name}: there is {', '.join(known)}"],
            next=f"evh inspect --sheet --dataset-id {sheet.dataset_id}",
        )
    preferred = [at for at in found if arm.scores[at].against == sheet.against]
    return (preferred or found)[0]


def _agree(project: Project, sources: Sources, ref: str, rest: str, dataset_id: str | None) -> Answer:
    pair, _, figure = rest.rpartition("#")
    names = [one.strip() for one in pair.split(",")]
    if len(names) != 2:
        raise _no_such_form(ref)
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
    return _answer(ref, value, how, chain, [])


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


def _answer(ref: str, value: float | str | None, how: str, chain: Chain, notes: list[str]) -> Answer:
    return Answer(ref, value, how, tuple(chain.links), (*notes, *chain.notes()))


def _no_such_form(ref: str) -> Refusal:
    return Refusal(
        "bad-ref",
        f"{ref!r} names no number",
        why=[
            "run:RUN#METRIC is a run's figure",
            "sheet:DATASET/ITEM#ARM.METRIC is a cell of a dataset's sheet",
            f"agree:DATASET/SET,DATASET/SET#FIGURE is two sets' agreement ({', '.join(FIGURES)})",
        ],
        next="evh why --help",
    )
