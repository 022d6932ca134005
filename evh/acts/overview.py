"""What is in a project, what it says, and what to do next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import field_table, pick, steps
from evh.acts.production import looked_at, production
from evh.acts.runs import count_runs
from evh.acts.sheet import Against, Sheet, build_sheet
from evh.acts.sheet_arms import of_sheet
from evh.acts.sources import Sources
from evh.project import baselines, captures, configs, runs
from evh.project.arms import repeats, trial_of
from evh.records.answers import shown
from evh.records.judge import scorer_of

if TYPE_CHECKING:
    from evh.acts.field_table import Column
    from evh.project.find import Project
    from evh.records.capture import Capture


@dataclass(frozen=True, slots=True)
class ArmFigure:
    """An arm's figure on the scoring that a dataset's sheet draws its winners from; of repeats the mean.

    ``n`` items of the dataset were scored. ``own`` and ``fitted`` tell that it says less than it seems, and
    so does ``trial``: over how many items its run was one; None for a whole run.
    """

    arm: str
    recorded: bool
    metric: str
    value: float | None
    n: int
    own: bool
    fitted: bool
    trial: int | None
    errors: int


@dataclass(frozen=True, slots=True)
class WrongLabel:
    """How often production was wrong where the label is ``label``, as views show it."""

    label: str
    n: int
    of: int


@dataclass(frozen=True, slots=True)
class WrongCount:
    """Where production was wrong: ``n`` of the ``of`` items that ``ref`` labels and it decided.

    ``failed`` more items are labelled, but production gave no answer: they are no errors and no decisions.

    ``by_label`` splits the count by what the right answer is, the label that most of the errors have first.
    A set made from the arm's own decisions is left out, and a reference set promoted from a set that is
    listed too: it says the same.
    """

    arm: str
    recorded: bool
    ref: str
    n: int
    of: int
    by_label: tuple[WrongLabel, ...]
    failed: int = 0


@dataclass(frozen=True, slots=True)
class DatasetLine:
    """One dataset: its size, what labels it, its arms' figures, and where production was wrong."""

    dataset_id: str
    n_items: int
    governed: bool
    visibility: str
    sets: tuple[str, ...]
    references: tuple[str, ...]
    n_unlabelled: int
    against: Against | None
    arms: tuple[ArmFigure, ...]
    wrong: tuple[WrongCount, ...]


@dataclass(frozen=True, slots=True)
class CaptureLine:
    """One capture: how many records, and the datasets made from it."""

    capture_id: str
    n_records: int
    datasets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """A project in one screen.

    ``label_sets`` counts sets by source kind, ``reference_sets`` by tier. ``n_scorings`` is how often runs
    were scored against a set or by a judge. ``waiting`` counts picks by target (the empty text for none yet).
    ``next`` are command lines, the most useful first.
    """

    name: str
    datasets: tuple[DatasetLine, ...]
    captures: tuple[CaptureLine, ...]
    label_sets: Mapping[str, int]
    reference_sets: Mapping[str, int]
    n_configs: int
    n_runs: int
    n_scorings: int
    n_baselines: int
    unfinished: tuple[str, ...]
    waiting: Mapping[str, int]
    next: tuple[str, ...]
    notes: tuple[str, ...]


def overview(project: Project) -> Overview:
    """Return what is in a project. A record that cannot be read is a note and never stops the rest."""
    sources = Sources(project)
    all_captures = captures.read_all(project, sources.problems)
    all_configs = configs.read_all(project, sources.problems)
    all_baselines = baselines.read_all(project, sources.problems)
    lines = [_dataset(project, sources, name) for name in sources.datasets]
    made_of = {
        name: {str(item.lineage.get("capture")) for item in one.items if item.lineage.get("capture")}
        for name, one in sources.datasets.items()
    }
    capture_lines = tuple(
        CaptureLine(
            one.capture_id,
            one.n_records,
            tuple(sorted(name for name, of in made_of.items() if one.capture_id in of)),
        )
        for one in all_captures
    )
    unfinished = tuple(project.show(path) for path in runs.unfinished(project))
    report = pick.report(project, sources=sources)
    waiting = {group.target or "": len(group.picks) for group in report.groups}
    notes = sources.notes()
    counted = count_runs(sources.runs)
    return Overview(
        name=project.name,
        datasets=tuple(lines),
        captures=capture_lines,
        label_sets=dict(sorted(Counter(one.kind for one in sources.sets.values()).items())),
        reference_sets=dict(sorted(Counter(one.tier for one in sources.references.values()).items())),
        n_configs=len(all_configs),
        n_runs=counted.runs,
        n_scorings=counted.scorings,
        n_baselines=len(all_baselines),
        unfinished=unfinished,
        waiting=waiting,
        next=tuple(
            _next(
                project,
                lines,
                capture_lines=capture_lines,
                all_captures=all_captures,
                sources=sources,
                unfinished=unfinished,
                waiting=waiting,
            )
        ),
        notes=tuple(notes),
    )


def _dataset(project: Project, sources: Sources, dataset_id: str) -> DatasetLine:
    dataset = sources.datasets[dataset_id]
    sheet = build_sheet(project, dataset_id, sources=sources, with_outputs=False, with_previews=False)
    repeated = _repeated(project, sources, sheet)
    return DatasetLine(
        dataset_id=dataset_id,
        n_items=len(dataset.items),
        governed=dataset.governed,
        visibility=dataset.visibility,
        sets=tuple(one.ref for one in sheet.labels if one.kind == "labels" and one.n),
        references=tuple(one.ref for one in sheet.labels if one.kind == "reference"),
        n_unlabelled=sum(row.signals.unlabelled for row in sheet.rows),
        against=sheet.against,
        arms=_figures(sheet, repeated),
        wrong=_wrong(sheet, sources),
    )


def _repeated(project: Project, sources: Sources, sheet: Sheet) -> Mapping[str, Column]:
    """Return the arms that ran several times, as the leaderboard has them: the mean over the repeats."""
    found = [
        arm for arm in of_sheet(project, sheet.dataset_id, (), sources) if len(repeats(arm, sources.runs)) > 1
    ]
    if not found or scorer_of(sheet.metric) is not None:
        return {}
    ref = sheet.against.ref if sheet.against else None
    dataset = sources.datasets[sheet.dataset_id]
    table = field_table.read(sources, dataset, found, metric=sheet.metric, against=ref)
    return {one.arm.name: one for one in table.columns}


def _figures(sheet: Sheet, repeated: Mapping[str, Column]) -> tuple[ArmFigure, ...]:
    """Return the arms' figures, best first; flagged arms last, for they never lead."""
    made = []
    for arm, footer in zip(sheet.arms, sheet.footer, strict=True):
        place = arm.position(sheet.row_metric, sheet.against)
        mean = arm.position(sheet.metric, sheet.against)
        figures = dict(footer.figures).get(sheet.against, {})
        value = figures.get(sheet.metric)
        value = value if value is not None or mean is None else footer.means[mean]
        n, errors = 0 if place is None else footer.counts[place], footer.errors
        if arm.name in repeated:
            of_all = repeated[arm.name]
            value, n, errors = of_all.value, len(of_all.scored), of_all.errors
        made.append(
            ArmFigure(
                arm=arm.name,
                recorded=arm.recorded,
                metric=sheet.metric,
                value=value,
                n=n,
                own=place is not None and arm.scores[place].own,
                fitted=place is not None and arm.scores[place].fitted,
                trial=trial_of(arm.run, sheet.n_items),
                errors=errors,
            )
        )
    higher = all(arm.run.higher_is_better(sheet.metric) for arm in sheet.arms)

    def rank(one: ArmFigure) -> tuple[bool, bool, float, str]:
        value = one.value or 0.0
        flagged = one.own or one.fitted or one.trial is not None
        return flagged, one.value is None, -value if higher else value, one.arm

    return tuple(sorted(made, key=rank))


def _wrong(sheet: Sheet, sources: Sources) -> tuple[WrongCount, ...]:
    first = production(sheet)
    if first is None:
        return ()
    left_out = {one.ref for one in sheet.labels if sources.made_from(first.run, one.ref)}
    listed = {column.ref for column in sheet.labels}
    for column in sheet.labels:
        reference = sources.references.get(column.ref) if column.kind == "reference" else None
        if reference and reference.label_refs and {f"labels/{ref}" for ref in reference.label_refs} <= listed:
            left_out.add(column.ref)
    made = []
    for at, column in enumerate(sheet.labels):
        if not column.same_task or not column.n or column.ref in left_out:
            continue
        looked = looked_at(sheet, at)
        of = Counter(shown(row.labels[at] or "") for row in looked.decided)
        n = Counter(shown(row.labels[at] or "") for row in looked.wrong)
        by_label = tuple(
            WrongLabel(label, n[label], of[label]) for label in sorted(of, key=lambda one: (-n[one], one))
        )
        made.append(
            WrongCount(
                first.name, first.recorded, column.ref, n.total(), of.total(), by_label, failed=looked.failed
            )
        )
    return tuple(made)


def _next(
    project: Project,
    lines: list[DatasetLine],
    *,
    capture_lines: tuple[CaptureLine, ...],
    all_captures: list[Capture],
    sources: Sources,
    unfinished: tuple[str, ...],
    waiting: Mapping[str, int],
) -> list[str]:
    """Return command lines for the next step, at most eight, the most useful first."""
    if not lines and not capture_lines:
        return [
            "evh capture --as CAPTURE --from-file RECORDS.jsonl",
            "evh dataset-create --dataset-id DATASET --from-file ITEMS.csv",
        ]
    made = []
    for place in unfinished:
        name = place.rsplit("/", 1)[-1].rsplit("_", 1)[0]
        made.append(f"evh run --config {shlex.quote(name)} --resume")
    split = {one.parent for one in all_captures}
    replayed = {str(one.params["capture"]) for one in sources.runs if one.params.get("capture")}
    made += [
        f"evh dataset-from-capture --capture {one.capture_id} --dataset-id {one.capture_id}"
        for one in capture_lines
        if not one.datasets and one.capture_id not in split | replayed
    ]
    here = {one.capture_id for one in all_captures}
    for line in lines:
        made += _next_of(project, line, sources, here)
    if waiting:
        made.append("evh picks")
    if any(line.arms for line in lines):
        made.append("evh catalog-build")
    return list(dict.fromkeys(made))[:8]


def _next_of(project: Project, line: DatasetLine, sources: Sources, here: set[str]) -> list[str]:
    """Return what to do next with one dataset; ``here`` are the captures that are in the project."""
    name = line.dataset_id
    made = []
    if not line.sets and not line.references:
        made.append(steps.label_sheet(name))
    covered = _by_coverage(line, sources)
    said = {ref for ref in covered if _is_an_arms(ref, sources)}
    best = next((ref for ref in covered if ref not in said), None)
    own = sorted((ref for ref in covered if ref.partition("/")[0] == name), key=lambda ref: ref in said)
    if not line.arms:
        origin = next((one for one in _captures_of(sources, name) if one in here), None)
        made.append(steps.recorded_arm(project, name, origin) if origin else steps.run_arm(project, name))
    elif line.against is None and own:
        made.append(f"evh rescore --dataset-id {name} --labels {own[0]}")
    elif line.against is None and line.references:
        made.append(f"evh rescore --dataset-id {name} --reference {line.references[0]}")
    elif line.against is None and best:
        made.append(steps.promote(name, [best]))
    elif line.against is not None and any(not arm.n for arm in line.arms):
        flag = "--labels" if line.against.kind == "labels" else "--reference"
        made.append(f"evh rescore --dataset-id {name} {flag} {line.against.ref.removeprefix('labels/')}")
    if said and best is None and not line.references:
        made.append(steps.label_sheet(name, "--items all"))  # what an arm said is no reference for arms
    # Labels of every item, or of a dataset whose versions are made on purpose, are worth a reference.
    if best and not line.references and (line.governed or covered[best] == line.n_items):
        made.append(steps.promote(name, [best]))
    judged_by = _judged_by(line, sources)
    if judged_by:
        made.append(
            f"evh inspect --sheet --dataset-id {name} --wrong-against {judged_by.removeprefix('labels/')}"
        )
    return made


def _judged_by(line: DatasetLine, sources: Sources) -> str | None:
    """Return the set whose word on production's errors weighs most, of those by which it has any.

    A reference, or the set that one was promoted from; then a set that settles others, a person's, a rule's.
    What a model or an arm said is no such word.
    """
    arms = [run for run in sources.runs if run.dataset_id == line.dataset_id]
    promoted = {f"labels/{ref}" for one in line.references for ref in sources.references[one].label_refs}

    def weight(one: WrongCount) -> tuple[bool, bool, bool, int]:
        held = sources.sets.get(one.ref.removeprefix("labels/"))
        return (
            held is not None and one.ref not in promoted,
            held is not None and not held.parents,
            held is not None and held.kind != "person",
            -one.n,
        )

    def says(one: WrongCount) -> bool:
        held = sources.sets.get(one.ref.removeprefix("labels/"))
        if held is None or held.kind == "person":
            return True
        return held.kind == "rule" and not any(sources.made_from(run, one.ref) for run in arms)

    counted = sorted((one for one in line.wrong if one.n), key=weight)
    return next((one.ref for one in counted if says(one)), None)


def _by_coverage(line: DatasetLine, sources: Sources) -> dict[str, int]:
    """Return the sets on a dataset, as ``<dataset>/<set>`` → its items that they label, most first."""
    items = sources.datasets[line.dataset_id].items
    made = {}
    for ref in (one.removeprefix("labels/") for one in line.sets):
        labelled = sources.labelled(sources.sets[ref])
        made[ref] = sum(item.sha256 in labelled for item in items)
    return dict(sorted(made.items(), key=lambda pair: -pair[1]))


def _is_an_arms(ref: str, sources: Sources) -> bool:
    """Tell whether a set is what an arm said: made from its outputs, or from the decisions that it replays.

    What a person settled is the person's, whatever was settled.
    """
    held = sources.sets[ref]
    if held.from_arm or held.kind == "person":
        return held.from_arm
    latest = {run.config_id: run for run in sources.runs if not run.judged}
    return any(sources.made_from(run, f"labels/{ref}") for run in latest.values())


def _captures_of(sources: Sources, dataset_id: str) -> list[str]:
    items = sources.datasets[dataset_id].items
    return sorted({str(item.lineage["capture"]) for item in items if item.lineage.get("capture")})
