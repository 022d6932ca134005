"""A run or a label set, written for another tool. Data that is private leaves only when that is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.acts import scoring
from evh.acts.export_formats import FORMATS, Exported, Subject
from evh.errors import Refusal
from evh.project import arms, datasets, labels, runs
from evh.project.shelf import read_each
from evh.records.answers import answers
from evh.store import atomic

if TYPE_CHECKING:
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.labelset import LabelSet
    from evh.records.run import Run

REPLACED = "texts that are not UTF-8: what is not is written as U+FFFD"


@dataclass(frozen=True, slots=True)
class Plan:
    """The file that would be written.

    Attributes:
        out: where.
        data: its bytes.
        what: ``run <key>`` or ``labels <dataset>/<set>``.
        n_rows: rows, samples or tasks in it.
        warnings: what a person should know, a sentence each.
        config: a labelling configuration that fits it, where the format has one.
    """

    out: Path
    data: bytes = field(repr=False)
    what: str
    dataset_id: str
    n_rows: int
    warnings: tuple[str, ...]
    config: str | None = None


def plan(
    project: Project,
    *,
    run_id: str | None,
    set_ref: str | None,
    kind: str,
    out: Path,
    private_ok: bool = False,
) -> Plan:
    """Return the file that a run or a label set becomes.

    Args:
        project: the project.
        run_id: the run, or ``<folder>/<run_id>``; or None.
        set_ref: in its place a label set, ``<dataset>/<set>``.
        kind: one of `export_formats.FORMATS`.
        out: the file; it must not be there.
        private_ok: write the items of a private dataset, or of one that may not be given on.

    Raises:
        Refusal: neither or both named; a private dataset, or one that may not be given on; a file in the way,
            or one that would lie among the project's records; labels or outputs that changed since they were
            recorded.
    """
    if (run_id is None) == (set_ref is None):
        raise Refusal(
            "which-one",
            "one run or one label set is exported at a time",
            why=["give --run R, or --set DATASET/SET"],
            next="evh runs; evh labels",
        )
    if out.resolve().is_relative_to(project.data.resolve()):
        raise Refusal(
            "in-data",
            f"nothing is exported into {project.show(project.data)}",
            why=[f"{out}: what lies there is the project's own records"],
            next="choose another --out",
        )
    if out.exists():
        raise _in_the_way(out)
    if run_id is not None:
        subject = _of_run(project, runs.read(project, run_id))
    else:
        label_set = labels.read(project, *labels.split_ref(str(set_ref)))
        subject = _of_set(project, label_set)
    warnings = _allowed(subject.dataset, private_ok=private_ok)
    made: Exported = FORMATS[kind](subject)
    if subject.n_replaced:
        warnings.append(f"{subject.n_replaced:,} {REPLACED}")
    return Plan(
        out=out,
        data=made.data,
        what=subject.name,
        dataset_id=subject.dataset.dataset_id,
        n_rows=made.n_rows,
        warnings=(*warnings, *subject.notes, *made.notes),
        config=made.config,
    )


def commit(plan: Plan) -> None:
    """Write the file, whole; one that is there meanwhile is refused."""
    try:
        atomic.write_new_file(plan.out, plan.data)
    except FileExistsError:
        raise _in_the_way(plan.out) from None


def _in_the_way(out: Path) -> Refusal:
    return Refusal(
        "existing-file",
        f"{out} is there already",
        why=[f"{out}: an export never overwrites a file"],
        next="choose another --out",
    )


def _allowed(dataset: Dataset, *, private_ok: bool) -> list[str]:
    """Refuse data that may not leave unless that was said; then tell of it."""
    place = f"datasets/{dataset.dataset_id}.json"
    reasons = []
    if dataset.visibility != "public":
        reasons.append(f"{place}: visibility: {dataset.visibility}")
    if not dataset.redistributable:
        reasons.append(f"{place}: redistributable: false: its texts may not be given on")
    if reasons and not private_ok:
        raise Refusal(
            "private-dataset",
            f"the items of {dataset.dataset_id} would leave the project",
            why=reasons,
            next="--private-ok where that is meant; dataset-set --visibility public where it is public",
        )
    return [f"{reason}: written because of --private-ok" for reason in reasons]


def _of_run(project: Project, run: Run) -> Subject:
    if run.judged:
        raise Refusal("judged-run", f"{run.key} holds judgements, not outputs", next="evh runs")
    dataset = datasets.read(project, run.dataset_id)
    rows = runs.predictions(project, run)
    outputs = runs.outputs(project, run, rows, verify=True)
    unknown = [row.item_id for row in rows if row.item_id not in dataset.by_id]
    if unknown:
        raise Refusal(
            "unknown-item",
            f"{run.key} holds items that {dataset.dataset_id} does not",
            why=[f"{run.key}: {item_id}" for item_id in unknown],
            next="evh validate",
        )
    texts, replaced = _texts(project, dataset, [row.item_id for row in rows])
    targets, notes = _targets(project, run, dataset)
    return Subject(
        name=f"run {run.key}",
        made_at=project.stamp(),
        dataset=dataset,
        texts=texts,
        n_replaced=replaced,
        run=run,
        rows=rows,
        outputs=outputs,
        targets=targets,
        notes=tuple(notes),
    )


def _of_set(project: Project, label_set: LabelSet) -> Subject:
    dataset = datasets.read(project, label_set.dataset_id)
    given = labels.texts(project, label_set, verify=True)
    here = [item_id for item_id in given if item_id in dataset.by_id]
    texts, replaced = _texts(project, dataset, here)
    return Subject(
        name=f"labels {label_set.ref}",
        made_at=project.stamp(),
        dataset=dataset,
        texts=texts,
        n_replaced=replaced,
        label_set=label_set,
        targets={item_id: answers(given[item_id]) for item_id in here},
        labels={item_id: given[item_id] for item_id in here},
    )


def _texts(project: Project, dataset: Dataset, item_ids: list[str]) -> tuple[dict[str, str], int]:
    wanted = set(item_ids)
    raw = datasets.texts(project, dataset, [one for one in dataset.items if one.item_id in wanted])
    made = {item_id: data.decode("utf-8", "replace") for item_id, data in raw.items()}
    return made, sum(made[item_id].encode() != data for item_id, data in raw.items())


def _targets(project: Project, run: Run, dataset: Dataset) -> tuple[Mapping[str, tuple[str, ...]], list[str]]:
    """Return the answers that a run was scored against, where they are here, else a note of them."""
    against = arms.scored_against(run)
    if against is None:
        return {}, []

    def read(ref: str) -> scoring.Target:
        if ref.startswith("labels/"):
            return scoring.target_of_labels(project, dataset, ref.removeprefix("labels/"))
        return scoring.target_of_reference(project, dataset, ref)

    problems: list[Refusal] = []
    found = read_each([against], read, problems)
    if not found:
        return {}, [
            f"{run.key} was scored against {against}, which cannot be read here: no targets are written"
        ]
    return {item_id: answers(text) for item_id, text in found[0].texts.items()}, []
