"""What `run` would do: the arm, the items, the target, the fingerprint, and every reason why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from evh.acts import misspelt, model_calls, model_prompt, ray_cluster, run_resume, run_retry, scoring
from evh.adapters import loader, providers
from evh.errors import Refusal
from evh.project import configs, datasets, fingerprint, labels, models, runs
from evh.project.shelf import read_each
from evh.records.config import MOST_REPEATS
from evh.records.shape import is_number
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evh.acts.model_calls import ModelCalls
    from evh.acts.run_retry import Taken
    from evh.acts.scoring import Target
    from evh.adapters.hooks import Adapter
    from evh.adapters.providers import Provider
    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.dataset import Dataset, Item
    from evh.records.model import Model
    from evh.records.run import Run

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that `run` would do.

    ``items`` are those that it asks (the first ``limit``). ``target`` is what the outputs are scored against,
    or None. ``folder`` is the ``runs*`` folder. Runs ``first`` to ``of`` of the repeats are made; where
    ``resumed`` is set, it is the first of them. ``concurrency`` is how many items are asked at once; None
    leaves it to the provider. ``prices`` are US dollars a million tokens, the config's before its model
    record's. ``max_cost`` caps what all its runs cost, in US dollars. ``finish`` asks nothing: what has no
    answer becomes a failed item. ``taken`` is the finished run whose answers are taken over. ``engine`` is
    ``ray`` to ask on a cluster, and empty in this process; it is no part of what is measured.
    """

    config: Config
    dataset: Dataset
    items: tuple[Item, ...]
    adapter: Adapter
    provider: Provider | ModelCalls
    target: Target | None
    fingerprint: Mapping[str, Any]
    folder: str
    concurrency: int | None = None
    limit: int | None = None
    first: int = 1
    of: int = 1
    resumed: Run | None = None
    prices: Mapping[str, Any] = field(default_factory=dict)
    max_cost: float | None = None
    finish: bool = False
    taken: Taken | None = None
    engine: str = ""
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
        by = self.config.provider
        if isinstance(self.provider, model_calls.ModelCalls):
            by = f"{self.provider.model} at {self.provider.server.base_url}"
        by += " on a Ray cluster" if self.engine else ""
        if self.finish:
            return [f"{first}, asking nothing: its items without an answer become failed ones, {against}"]
        if self.taken:
            asked = (
                f"{plural(self.taken.n_failed, 'item')} of {self.dataset.dataset_id} that failed, beside "
                f"{plural(self.taken.n, 'answer')} of {self.taken.run.key}"
            )
        said = [f"{first}: {asked}, answered by {by}, {against}"]
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
    max_cost: float | None = None,
    finish: bool = False,
    retry_failed: bool = False,
    engine: str = "",
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
        concurrency: how many items to ask at once; by default the provider's own number, and for a model
            server as many as it takes well.
        max_cost: what the runs may cost together, in US dollars, an earlier attempt's cost included.
        finish: go on with the latest unfinished run, ask nothing more, and let what has no answer fail.
        retry_failed: make a new run with the answers of the latest finished one, asking what failed in it.
        engine: ``ray`` asks on a cluster; empty: in this process.

    Raises:
        Refusal: with every reason why the arm cannot run.
    """
    misspelt.refuse(project, config)
    _refuse_options(config, repeat, max_cost, finish=finish, engine=engine)
    resume = resume or finish
    run_resume.refuse_other_folder(project)
    wanted = dataset_id or config.dataset_id
    if not wanted:
        raise Refusal(
            "no-dataset",
            f"which dataset should {config.config_id!r} run on?",
            why=[f"{config.config_id}: dataset_id: is missing, and no --dataset-id was given"],
            next=f"evh run --config {config.config_id} --dataset-id DATASET",
        )
    unfinished = run_resume.unfinished(project, config, wanted)
    taken = run_retry.latest(project, config, wanted) if retry_failed else None
    if taken is not None:
        limit, repeat = _limit_of(taken.run), 1
    if resume:
        began = run_resume.to_go_on(unfinished, config, wanted)
        limit, labels_ref = _limit_of(began), labels_ref or began.labels
    together = _Together()
    beside = configs.path_of(project, config.config_id).parent
    adapter = together.read(lambda: loader.load(project, config.adapter, beside=beside))
    dataset = together.read(lambda: datasets.read(project, wanted))
    notes: list[str] = []
    target = together.read(lambda: _target(project, config, dataset, labels_ref, notes)) if dataset else None
    asks_model = model_calls.is_model(project, config)
    record = together.read(lambda: _record(project, config, notes, needed=asks_model))
    identity = {} if asks_model else together.read(lambda: model_prompt.prompt_sha(project, config))
    provider: Provider | ModelCalls | None = None
    if asks_model:
        provider = together.read(lambda: model_calls.open_model(project, config, record, keyless=finish))
        notes += provider.notes if provider else ()
    elif adapter:
        provider = together.read(lambda: providers.open_provider(project, config, adapter))
    if dataset and not dataset.items:
        together.problems.append(Refusal("no-items", f"the dataset {wanted} has no items"))
    if dataset and isinstance(provider, model_calls.ModelCalls):
        together.read(lambda: _refuse_lacking(provider, dataset, dataset.items[:limit]))
    together.refuse(f"the arm {config.config_id!r} cannot run on {wanted}")
    if adapter is None or dataset is None or provider is None or identity is None:  # pragma: no cover
        raise AssertionError  # each of them was refused above
    items = dataset.items if limit is None else dataset.items[:limit]
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
        instrument=adapter.instrument,
        system_under_test={
            "provider": config.provider,
            "model": provider.model if isinstance(provider, model_calls.ModelCalls) else config.model,
            **({"model_record_sha256": record.identity()} if record else {}),
            # The name of the variable that holds a key is no part of what answers.
            "params": {key: value for key, value in config.params.items() if key != "api_key_env"},
            **identity,
            **provider.identity,
            # Of a recorded arm nothing of the adapter's answers: what decides its outputs is the capture.
            "adapter": {} if config.recorded else adapter.fingerprint(config.params, config.config_id),
        },
    )
    first, of = 1, config.repeats if repeat is None else repeat
    if taken is not None:
        run_retry.refuse_other(taken, made, asks_model=asks_model)
    if resume and unfinished:
        run_resume.refuse_other(unfinished, made)
        first, of = run_resume.begun_repeats(unfinished)
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
        concurrency=concurrency,
        limit=limit,
        first=first,
        of=of,
        resumed=unfinished if resume else None,
        prices=model_calls.prices_of(config, record),
        max_cost=max_cost,
        finish=finish,
        taken=taken,
        engine=engine,
        notes=tuple(notes),
    )


def _limit_of(run: Run) -> int | None:
    number = run.extra.get("limit")
    return number if isinstance(number, int) else None


def settings_of(plan: Plan, number: int = 1) -> dict[str, Any]:
    """Return the settings that a run records: the config's, with the hash of its prompt or its capture.

    Args:
        plan: the plan.
        number: which of the repeats it is, from 1: the seed is the one that this run sends.
    """
    known = {
        key: plan.fingerprint["system_under_test"].get(key) for key in ("prompt_sha256", "capture_sha256")
    }
    made = {**plan.config.params, **{key: value for key, value in known.items() if value is not None}}
    if isinstance(plan.provider, model_calls.ModelCalls):
        made |= {"model": plan.provider.model, **plan.provider.repeated(number)}
    return made


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


def _refuse_unrecorded(
    config: Config, dataset: Dataset, items: tuple[Item, ...], provider: Provider | ModelCalls
) -> None:
    if not isinstance(provider, providers.Recorded):
        return
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


def _record(project: Project, config: Config, notes: list[str], *, needed: bool) -> Model | None:
    """Return the model record that a config names; only an arm that asks a model must have it here."""
    if config.model_record is None:
        return None
    if needed or models.exists(project, config.model_record):
        return models.read(project, config.model_record)
    notes.append(f"{config.config_id} names the model record {config.model_record}, which is not here")
    return None


def _refuse_lacking(provider: ModelCalls, dataset: Dataset, items: tuple[Item, ...]) -> None:
    reasons = model_prompt.lacking(provider.prompt, dataset, items)
    if reasons:
        raise Refusal(
            "lacking-fields",
            f"the prompt names fields that not every item of {dataset.dataset_id} has",
            why=reasons,
            next="mend the prompt, or make the dataset with those fields (evh dataset-create --field)",
        )


def _refuse_options(
    config: Config, repeat: int | None, max_cost: float | None, *, finish: bool, engine: str
) -> None:
    reasons = []
    if repeat is not None and not 1 <= repeat <= MOST_REPEATS:
        reasons.append(f"--repeat {repeat}: it can be 1 to {MOST_REPEATS}")
    if max_cost is not None and not (is_number(max_cost) and max_cost > 0):
        reasons.append(f"--max-cost {max_cost}: is not an amount of US dollars above 0")
    if max_cost is not None and config.provider == "command":
        reasons.append("--max-cost: a command never tells what it costs, so no cap could be kept")
    missing = ray_cluster.not_installed() if engine else []
    if engine:
        reasons += ray_cluster.uncounted({"--max-cost": max_cost})
        reasons += ["--engine ray: --finish asks nothing"] if finish else []
    if reasons:
        ways = ["evh run --help", *([ray_cluster.INSTALL] if missing else [])]
        raise Refusal("bad-options", "that cannot be run", why=[*reasons, *missing], next="; ".join(ways))
    if missing:
        raise ray_cluster.no_ray()


def _folder(target: Target | None, dataset_id: str) -> str:
    if target is None or not target.is_labels:
        return runs.MEASURED
    return runs.labels_folder(dataset_id, target.reference_id.rsplit("/", 1)[-1])
