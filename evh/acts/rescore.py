"""Score stored outputs again: against labels, a reference, or by a scorer that changed. Nothing is called."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import run_totals, scoring, steps
from evh.acts.run import Done, Failed
from evh.acts.run_plan import default_targets, read_target
from evh.adapters import loader
from evh.errors import Refusal
from evh.project import arms, configs, datasets, fingerprint, runs
from evh.project.shelf import left_out, read_each
from evh.store import parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evh.acts.scoring import Target
    from evh.adapters.hooks import Adapter
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.run import Prediction, Run


@dataclass(frozen=True, slots=True)
class Job:
    """One run to score against one target, and the ``runs-…`` folder that the result goes to."""

    run: Run
    target: Target
    folder: str
    adapter: Adapter
    dataset: Dataset
    fitted_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that `rescore` would write: a run a job, in place of an earlier scoring of the same run."""

    jobs: tuple[Job, ...]
    notes: tuple[str, ...] = ()

    def says(self) -> list[str]:
        """Return what would be done, a sentence each."""
        return [
            f"write data/{job.folder}/{job.run.run_id}: {job.run.key} scored against {job.target.ref}"
            for job in self.jobs
        ]


def plan(
    project: Project,
    *,
    run_ids: Sequence[str] = (),
    dataset_id: str | None = None,
    labels_ref: str | None = None,
    reference: str | None = None,
) -> Plan:
    """Return what scoring again would write.

    Args:
        project: the project.
        run_ids: the runs; those that were scored again stand for the run that holds their outputs.
        dataset_id: in place of ``run_ids``: the latest run of every arm on this dataset, with its repeats.
        labels_ref: ``<dataset>/<set>`` to score against.
        reference: in place of ``labels_ref``: ``<tier>/<name>``. With neither, each run is scored against
            what its config names, else against what it was scored against.

    Raises:
        Refusal: with every run that cannot be scored again and why.
    """
    if bool(run_ids) == bool(dataset_id):
        raise Refusal(
            "which-runs",
            "rescore needs to know which runs",
            why=["give --run (once for each), or --dataset-id for the latest run of every arm on it"],
            next="evh runs",
        )
    if labels_ref and reference:
        raise Refusal(
            "two-targets",
            "score against one thing at a time",
            why=["--labels and --reference were both given"],
        )
    problems: list[Refusal] = []
    unread: list[Refusal] = []
    reader = _Reader(project, labels_ref, f"{reference}" if reference else None)
    if dataset_id:
        reader.dataset(dataset_id)  # refused where it is not there
    chosen = _chosen(project, run_ids, dataset_id, problems, unread)
    jobs = [job for jobs in read_each(chosen, reader.jobs, problems) for job in jobs]
    if problems:
        raise _together(problems)
    return Plan(tuple(jobs), (*left_out(unread), *dict.fromkeys(reader.notes)))


def commit(project: Project, plan: Plan, *, progress: Callable[[int, int], None] | None = None) -> Done:
    """Score what was planned and return the runs as written.

    Args:
        project: the project.
        plan: from `plan`.
        progress: called with (runs done, runs).
    """
    made: list[Run] = []
    failed: list[Failed] = []
    notes = list(plan.notes)
    stored: dict[str, tuple[tuple[Prediction, ...], dict[str, str]]] = {}
    sources: dict[str, Mapping[str, bytes]] = {}
    for number, job in enumerate(plan.jobs, start=1):
        if job.run.key not in stored:
            stored.clear()  # the jobs of a run come one after the other
            rows = runs.predictions(project, job.run)
            stored[job.run.key] = rows, runs.outputs(project, job.run, rows, verify=True)
        rows, outputs = stored[job.run.key]
        name = job.dataset.dataset_id
        if job.adapter.reads_source and name not in sources:
            sources[name] = datasets.texts(project, job.dataset)
        scored = scoring.score(
            job.adapter,
            rows,
            outputs,
            job.target,
            place=name,
            sources=sources.get(name) if job.adapter.reads_source else None,
            with_outputs=len(rows) > parquet.ROWS_AS_TEXT,
        )
        final = scored.rows
        run = runs.write_scored(project, _scored_run(project, job, scored), final)
        made.append(run)
        before = {row.item_id for row in rows if row.error is not None}
        failed += [
            Failed(run.run_id, row.item_id, row.error)
            for row in final
            if row.error is not None and row.item_id not in before
        ]
        notes += [f"{run.key}: {problem}" for problem in scored.problems]
        if progress:
            progress(number, len(plan.jobs))
    return Done(tuple(made), tuple(failed), tuple(notes))


class _Reader:
    """Makes the jobs of each run, reading each dataset, target, config and adapter once."""

    def __init__(self, project: Project, labels_ref: str | None, reference: str | None) -> None:
        self.notes: list[str] = []
        self._project = project
        self._named = f"labels/{labels_ref.removeprefix('labels/')}" if labels_ref else reference
        self._datasets: dict[str, Dataset] = {}
        self._targets: dict[tuple[str, str], Target] = {}

    def dataset(self, dataset_id: str) -> Dataset:
        """Return a dataset."""
        if dataset_id not in self._datasets:
            self._datasets[dataset_id] = datasets.read(self._project, dataset_id)
        return self._datasets[dataset_id]

    def jobs(self, run: Run) -> list[Job]:
        """Return one job for each target of a run."""
        if run.judged:
            raise Refusal("judged-run", f"{run.key} holds judgements, not outputs", next="evh runs")
        dataset = self.dataset(run.dataset_id)
        known = configs.exists(self._project, run.config_id)
        config = configs.read(self._project, run.config_id) if known else None
        beside = configs.path_of(self._project, run.config_id).parent
        adapter = loader.load(self._project, config.adapter if config else run.adapter, beside=beside)
        refs = [self._named] if self._named else []
        if not refs and config:
            refs, notes = default_targets(config, run.dataset_id)
            self.notes += notes
        if not refs:
            against = arms.scored_against(run)
            refs = [against] if against else []
        if not refs:
            raise Refusal(
                "no-target",
                f"what should {run.run_id} be scored against?",
                why=[f"{run.key}: its config names no labels and no reference, and it was never scored"],
                next=steps.score_run(self._project, run.dataset_id, run.run_id),
            )
        made = []
        for ref in refs:
            key = (run.dataset_id, ref)
            if key not in self._targets:
                self._targets[key] = read_target(self._project, dataset, ref)
            target = self._targets[key]
            fitted = run.extra.get("fitted_on") or (config.fitted_on if config else ())
            made.append(
                Job(
                    run,
                    target,
                    _folder(self._project, run, target),
                    adapter,
                    dataset,
                    tuple(map(str, fitted)),
                )
            )
        return made


def _chosen(
    project: Project,
    run_ids: Sequence[str],
    dataset_id: str | None,
    problems: list[Refusal],
    unread: list[Refusal],
) -> list[Run]:
    """Return the runs to score; ``unread`` gets those of a dataset that may be among them, if any."""
    if dataset_id:
        everything = runs.read_all(project, unread)
        latest = arms.of_dataset(project, dataset_id, all_runs=everything)
        found = [one.run for arm in latest for one in arms.repeats(arm, everything)]
        if not found:
            raise Refusal(
                "no-runs",
                f"no arm has run on {dataset_id}",
                why=[f"{dataset_id}: there is no finished run of it"],
                next=f"evh run --config ARM --dataset-id {dataset_id}",
            )
        return found
    named = read_each(
        dict.fromkeys(run_ids), lambda name: _with_outputs(project, runs.read(project, name)), problems
    )
    return list({run.key: run for run in named}.values())


def _with_outputs(project: Project, run: Run) -> Run:
    """Return the run that holds the outputs: what a scored-again run was made from, where it is here."""
    seen = {run.key}
    while (run.derived or {}).get("kind") == "rescored":
        source = runs.source_of(project, run)
        if source is None or source.key in seen:
            return run
        seen.add(source.key)
        run = source
    return run


def _folder(project: Project, run: Run, target: Target) -> str:
    """Return where the scored run goes: never over a measured run, which holds outputs.

    Against labels that is ``runs-labels-<dataset>-<set>``; where the run itself was measured there, against
    that same set, ``runs-rescored-labels-<dataset>-<set>``. ``runs-rescored`` has one place a run; a second
    reference gets a folder of its own, so that scores against the first stay.
    """
    if not target.is_labels:
        there = runs.place_of(project, runs.RESCORED) / run.run_id
        if not (there / runs.METRICS).exists():
            return runs.RESCORED
        against = arms.scored_against(runs.read_path(project, runs.RESCORED, there))
        same = against in (None, target.ref)
        return runs.RESCORED if same else f"{runs.RESCORED}-{target.ref.replace('/', '-')}"
    folder = runs.labels_folder(*target.reference_id.removeprefix("labels/").split("/", 1))
    measured = folder == run.folder or _is_measured(project, folder, run.run_id)
    return f"{runs.RESCORED}-{folder.removeprefix('runs-')}" if measured else folder


def _is_measured(project: Project, folder: str, run_id: str) -> bool:
    """Tell whether a run lies there that holds outputs: as files, or in the rows of a measured run."""
    there = runs.place_of(project, folder) / run_id
    if (there / "outputs").exists():
        return True
    if not (there / runs.METRICS).exists():
        return False
    found = read_each([there], lambda one: runs.read_path(project, folder, one), [])
    return any((one.derived or {}).get("kind") != "rescored" for one in found)


def _scored_run(project: Project, job: Job, scored: scoring.Scored) -> Run:
    run = job.run
    began = run.fingerprint
    data = began.get("data")
    same = {key: value for key, value in (data if isinstance(data, dict) else {}).items() if key == "limit"}
    return replace(
        run,
        folder=job.folder,
        created_at=project.stamp(),
        adapter=job.adapter.name,
        n_items=len(scored.rows),
        n_errors=scored.n_errors,
        primary_metric=job.adapter.primary_metric,
        metric_kinds=job.adapter.metric_kinds,
        metric_directions=job.adapter.metric_directions,
        scores=scored.scores,
        reference_id=job.target.reference_id,
        reference_tier=job.target.tier,
        build=fingerprint.build(),
        fingerprint=fingerprint.make(
            arm=began.get("arm") or {"config_id": run.config_id},
            data={
                "dataset": run.dataset_id,
                "items_sha256": datasets.digest(job.dataset),
                **same,
                **job.target.identity(),
            },
            instrument=job.adapter.instrument,
            system_under_test=began.get("system_under_test") or {},
        ),
        warmup_ms=None,
        derived={"kind": "rescored", "from": run.key},
        predictions=None,
        extra={
            **({"fitted_on": list(job.fitted_on)} if job.fitted_on else {}),
            "n_scored": scored.n_scored,
            **{key: run.extra[key] for key in run_totals.KEYS if key in run.extra},
            **({"problems": list(scored.problems)} if scored.problems else {}),
        },
    )


def _together(problems: Sequence[Refusal]) -> Refusal:
    if len({(one.code, one.what, one.why) for one in problems}) == 1:
        return problems[0]
    ways = {one.code: one.next for one in reversed(problems) if one.next}  # the first of each kind
    return Refusal(
        "cannot-rescore",
        "not every run can be scored again, so none was",
        why=dict.fromkeys(
            f"{one.what}: {reason}" if reason else one.what for one in problems for reason in one.why or ("",)
        ),
        next="; ".join(dict.fromkeys(ways.values())) or None,
    )
