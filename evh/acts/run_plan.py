"""What `run` would do: the arm, the items, the target, the fingerprint, and every reason why not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from evh.acts import misspelt, scoring
from evh.adapters import loader, providers
from evh.errors import Refusal
from evh.project import configs, datasets, fingerprint, labels, runs
from evh.project.shelf import read_each
from evh.records.config import MOST_REPEATS
from evh.store.hashing import sha256_file, sha256_text
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from evh.acts.scoring import Target
    from evh.adapters.hooks import Adapter
    from evh.adapters.providers import Provider
    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.dataset import Dataset, Item
    from evh.records.run import Run

T = TypeVar("T")
OTHERS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that `run` would do.

    ``items`` are those that it asks (the first ``limit``). ``target`` is what the outputs are scored against,
    or None. ``folder`` is the ``runs*`` folder. Runs ``first`` to ``of`` of the repeats are made; where
    ``resumed`` is set, it is the first of them.
    """

    config: Config
    dataset: Dataset
    items: tuple[Item, ...]
    adapter: Adapter
    provider: Provider
    target: Target | None
    fingerprint: Mapping[str, Any]
    folder: str
    threads: int
    limit: int | None = None
    first: int = 1
    of: int = 1
    resumed: Run | None = None
    notes: tuple[str, ...] = ()

    def says(self) -> list[str]:
        """Return what would be done, a sentence each."""
        against = f"scored against {self.target.ref}" if self.target else "not scored: no labels are named"
        if self.resumed:
            first = f"go on with {self.resumed.key}"
        else:
            first = f"write data/{self.folder}/{self.config.config_id}_<time>"
        times = self.of - self.first + 1
        asked = f"{plural(len(self.items), 'item')} of {self.dataset.dataset_id}"
        said = [f"{first}: {asked}, answered by {self.config.provider}, {against}"]
        return [*said, f"do so {times} times"] if times > 1 else said


def plan(
    project: Project,
    config: Config,
    *,
    dataset_id: str | None = None,
    labels_ref: str | None = None,
    resume: bool = False,
    repeat: int | None = None,
    limit: int | None = None,
    concurrency: int | None = None,
) -> Plan:
    """Return what running an arm would do.

    Args:
        project: the project.
        config: the arm.
        dataset_id: the dataset; the config's own by default.
        labels_ref: ``<dataset>/<set>`` to score against; by default what the config names.
        resume: go on with the latest unfinished run of this arm on this dataset.
        repeat: how many runs to make; the config's ``repeats`` by default.
        limit: only the first so many items.
        concurrency: how many items to ask at once; the provider's own number by default.

    Raises:
        Refusal: with every reason why the arm cannot run.
    """
    misspelt.refuse(project, config)
    _refuse_repeats(repeat)
    _refuse_other_folder(project)
    wanted = dataset_id or config.dataset_id
    if not wanted:
        raise Refusal(
            "no-dataset",
            f"which dataset should {config.config_id!r} run on?",
            why=[f"{config.config_id}: dataset_id: is missing, and no --dataset-id was given"],
            next=f"evh run --config {config.config_id} --dataset-id DATASET",
        )
    unfinished = _unfinished(project, config, wanted)
    if resume:
        if unfinished is None:
            raise Refusal(
                "nothing-to-resume",
                f"there is no unfinished run of {config.config_id} on {wanted}",
                why=["every run of it that began has finished; a finished run is never added to"],
                next=f"evh run --config {config.config_id} --dataset-id {wanted}",
            )
        number = unfinished.extra.get("limit")
        limit = number if isinstance(number, int) else None
        labels_ref = labels_ref or unfinished.labels
    together = _Together()
    beside = configs.path_of(project, config.config_id).parent
    adapter = together.read(lambda: loader.load(project, config.adapter, beside=beside))
    dataset = together.read(lambda: datasets.read(project, wanted))
    notes: list[str] = []
    target = together.read(lambda: _target(project, config, dataset, labels_ref, notes)) if dataset else None
    identity = together.read(lambda: _prompt(project, config))
    provider = together.read(lambda: providers.open_provider(project, config, adapter)) if adapter else None
    if dataset and not dataset.items:
        together.problems.append(Refusal("no-items", f"the dataset {wanted} has no items"))
    together.refuse(f"the arm {config.config_id!r} cannot run on {wanted}")
    if adapter is None or dataset is None or provider is None or identity is None:  # pragma: no cover
        raise AssertionError  # each of them was refused above
    items = dataset.items if limit is None else dataset.items[:limit]
    if isinstance(provider, providers.Recorded):
        _refuse_unrecorded(config, dataset, items, provider)
    made = fingerprint.make(
        arm={
            "config_id": config.config_id,
            "model_record": config.model_record,
            "fitted_on": list(config.fitted_on),
        },
        data={
            "dataset": dataset.dataset_id,
            "items_sha256": datasets.digest(dataset),
            "limit": limit,
            **(target.identity() if target else {"reference_id": None}),
        },
        instrument={"adapter": adapter.name, "adapter_sha256": adapter.identity, "files": adapter.files},
        system_under_test={
            "provider": config.provider,
            "model": config.model,
            "params": dict(config.params),
            **identity,
            **provider.identity,
            # Of a recorded arm nothing of the adapter's answers: what decides its outputs is the capture.
            "adapter": {} if config.recorded else adapter.fingerprint(config.params, config.config_id),
        },
    )
    first, of = 1, config.repeats if repeat is None else repeat
    if resume and unfinished:
        _refuse_other(unfinished, made)
        first, of = _begun_repeats(unfinished)
    elif unfinished:
        notes.append(f"{unfinished.key} is unfinished; --resume goes on with it, and this is a new run")
    return Plan(
        config=config,
        dataset=dataset,
        items=items,
        adapter=adapter,
        provider=provider,
        target=target,
        fingerprint=made,
        folder=_folder(target, dataset.dataset_id),
        threads=concurrency or provider.threads,
        limit=limit,
        first=first,
        of=of,
        resumed=unfinished if resume else None,
        notes=tuple(notes),
    )


def settings_of(plan: Plan) -> dict[str, Any]:
    """Return the settings that a run records: the config's, with the hash of its prompt or its capture."""
    known = {
        key: plan.fingerprint["system_under_test"].get(key) for key in ("prompt_sha256", "capture_sha256")
    }
    return {**plan.config.params, **{key: value for key, value in known.items() if value is not None}}


def default_targets(config: Config, dataset_id: str) -> tuple[list[str], list[str]]:
    """Return what a config scores on a dataset by itself: (``labels/…`` and ``<tier>/<name>`` refs, notes).

    A label set of another dataset says nothing here; a bare set's name is one of the dataset's.
    """
    refs, notes = [], []
    if config.reference:
        refs.append(config.reference.removeprefix("references/"))
    if config.labels:
        owner, _ = labels.split_ref(config.labels, dataset_id=dataset_id)
        if owner == dataset_id:
            refs.append(f"labels/{config.labels.removeprefix('labels/')}")
        else:
            notes.append(f"{config.config_id} names the labels {config.labels}, of another dataset: not used")
    return refs, notes


def read_target(project: Project, dataset: Dataset, ref: str) -> Target:
    """Return the target that ``labels/<dataset>/<set>``, ``labels/<set>`` or ``<tier>/<name>`` names."""
    if ref.startswith("labels/"):
        return scoring.target_of_labels(project, dataset, ref)
    return scoring.target_of_reference(project, dataset, ref)


class _Together:
    """Reads several things, each of which may be refused, to refuse all of them at once."""

    def __init__(self) -> None:
        self.problems: list[Refusal] = []

    def read(self, deed: Callable[[], T]) -> T | None:
        """Return what ``deed`` gives, or None after keeping its Refusal."""
        return next(iter(read_each([None], lambda _: deed(), self.problems)), None)

    def refuse(self, what: str) -> None:
        """Raise what was refused: the one Refusal as it is, or all of them as one."""
        if len(self.problems) == 1:
            raise self.problems[0]
        if self.problems:
            ways = [refusal.next for refusal in self.problems if refusal.next]
            raise Refusal(
                "cannot-run",
                what,
                why=[f"{one.what}: {reason}" for one in self.problems for reason in one.why or ("",)],
                next="; ".join(dict.fromkeys(ways)) or None,
            )


def _target(
    project: Project, config: Config, dataset: Dataset | None, labels_ref: str | None, notes: list[str]
) -> Target | None:
    if dataset is None:
        return None
    if labels_ref:
        return scoring.target_of_labels(project, dataset, labels_ref)
    refs, said = default_targets(config, dataset.dataset_id)
    notes += said
    if len(refs) > 1:
        notes.append(f"scored against {refs[0]}; for {refs[1]}: evh rescore")
    at_home = not config.dataset_id or config.dataset_id == dataset.dataset_id
    for ref in refs:
        problems: list[Refusal] = []
        found = read_each([ref], lambda one: read_target(project, dataset, one), problems)
        if found:
            return found[0]
        if at_home:
            raise problems[0]
        notes.append(f"not scored against {ref}, which the config names: {problems[0].what}")
    return None


def _prompt(project: Project, config: Config) -> dict[str, Any]:
    named, inline = config.params.get("prompt_file"), config.params.get("prompt")
    if isinstance(named, str) and named:
        path = configs.resolve(project, config, named)
        if path is None:
            raise Refusal(
                "no-such-prompt",
                f"the prompt of {config.config_id!r} is not here",
                why=[f"{config.config_id}: params.prompt_file: {named}: no such file"],
                next="write the prompt, or mend the config",
            )
        return {"prompt_sha256": sha256_file(path)}
    return {"prompt_sha256": sha256_text(inline)} if isinstance(inline, str) else {}


def _refuse_unrecorded(
    config: Config, dataset: Dataset, items: tuple[Item, ...], provider: providers.Recorded
) -> None:
    reasons = provider.missing_outputs()
    if reasons:
        raise Refusal(
            "not-recorded",
            f"no record of {config.params.get('capture')!r} holds what production answered",
            why=reasons,
            next="name the key that holds it (evh arm-from-capture --field KEY, params.field in the config), "
            "or write recorded_output in an adapter: evh help adapters",
        )
    if not any(provider.records_of(item) for item in items):
        raise Refusal(
            "nothing-recorded",
            f"no item of {dataset.dataset_id} was recorded in {config.params.get('capture')!r}",
            why=[f"{dataset.dataset_id}: none of {plural(len(items), 'item')} is there by lineage or bytes"],
            next="evh captures; name the capture that the dataset was made from",
        )


def _unfinished(project: Project, config: Config, dataset_id: str) -> Run | None:
    begun = [runs.running(project, path) for path in runs.unfinished(project)]
    mine = [run for run in begun if run and (run.config_id, run.dataset_id) == (config.config_id, dataset_id)]
    return max(mine, key=lambda run: (run.created_at, run.run_id), default=None)


def _refuse_other(unfinished: Run, made: Mapping[str, Any]) -> None:
    began, now = unfinished.fingerprint.get("hash"), made["hash"]
    if began != now:
        raise Refusal(
            "other-fingerprint",
            f"{unfinished.run_id} cannot go on: it began as another arm than the one that is here now",
            why=[
                f"{unfinished.key}: it began with fingerprint {began}; now it is {now}",
                *fingerprint.differences(unfinished.fingerprint, made),
            ],
            next="put back what changed, or start anew: the same command without --resume",
        )


def _begun_repeats(unfinished: Run) -> tuple[int, int]:
    """Return which of how many runs an unfinished one is, as its ``running.json`` says."""
    repeated = unfinished.extra.get("repeat")
    if repeated is None:
        return 1, 1
    number, of = (repeated.get(key) if isinstance(repeated, dict) else None for key in ("number", "of"))
    if not (type(number) is int and type(of) is int and 1 <= number <= of <= MOST_REPEATS):
        raise Refusal(
            "bad-record",
            f"{unfinished.run_id} cannot go on",
            why=[
                f"{unfinished.key}: {runs.RUNNING}: repeat: is not {{number, of}} of 1 to {MOST_REPEATS} runs"
            ],
            next="start anew: the same command without --resume",
        )
    return number, of


def _refuse_repeats(repeat: int | None) -> None:
    if repeat is not None and not 1 <= repeat <= MOST_REPEATS:
        raise Refusal(
            "bad-options",
            "that many runs are not made at once",
            why=[f"--repeat {repeat}: it can be 1 to {MOST_REPEATS}"],
            next="evh run --help",
        )


def _refuse_other_folder(project: Project) -> None:
    """Refuse an ``EVAL_RUNS_DIR`` that holds anything but runs: nothing is written among a user's files."""
    place = runs.place_of(project, runs.MEASURED)
    if not project.environ.get("EVAL_RUNS_DIR") or not os.path.lexists(place):
        return
    if not place.is_dir():
        what, others = "names a file", [place]
    else:
        entries = sorted(path for path in place.iterdir() if not path.name.startswith("."))
        what, others = "names a folder of other things", [path for path in entries if not _is_run(path)]
    if others:
        more = len(others) - OTHERS_SHOWN
        raise Refusal(
            "not-a-runs-folder",
            f"EVAL_RUNS_DIR {what}: nothing is written there",
            why=[
                *(f"{path}: is no folder of a run" for path in others[:OTHERS_SHOWN]),
                *([f"{place}: and {more} more"] if more > 0 else []),
            ],
            next="name an empty folder or one of runs, or unset EVAL_RUNS_DIR",
        )


def _is_run(path: Path) -> bool:
    """Tell whether an entry is a run's folder: one that began, or one that is about to and still empty."""
    if path.is_symlink() or not path.is_dir():
        return False
    kept = {one.name for one in path.iterdir()}
    return not kept or not kept.isdisjoint({runs.METRICS, runs.RUNNING, runs.ROWS, runs.ROWS_LARGE})


def _folder(target: Target | None, dataset_id: str) -> str:
    if target is None or not target.is_labels:
        return runs.MEASURED
    return runs.labels_folder(dataset_id, target.reference_id.rsplit("/", 1)[-1])
