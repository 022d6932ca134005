"""What production must match to run what was measured; and, against a capture, whether it did."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evh.acts import deploy_check, model_calls
from evh.errors import Refusal
from evh.project import baselines, captures, configs, datasets, models, runs
from evh.project.arms import latest_last, limit_of, scored_against, trial_of
from evh.project.shelf import missing, read_each
from evh.records.model import PRICES
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.acts.deploy_check import Check
    from evh.project.find import Project
    from evh.records.baseline import Baseline
    from evh.records.config import Config
    from evh.records.model import Model
    from evh.records.run import Run

NOT_SETTINGS = frozenset(
    {*model_calls.OWN, *PRICES, "prompt_sha256", "prompt_version", "capture", "capture_sha256", "field"}
)
"""Keys of a run's settings that are not sent to what answers."""


@dataclass(frozen=True, slots=True)
class RecordSetting:
    """A setting of the model record that the arm sent otherwise, or (``sent`` None) not at all."""

    name: str
    record: object
    sent: object | None


@dataclass(frozen=True, slots=True)
class DeploySheet:
    """Everything that production must match.

    Attributes:
        config_id: the arm.
        run: the run that it was read from.
        promotions: the baselines that promoted it, the newest first; empty: the latest run was read.
        provider, model: what answers, as it was asked.
        model_record: the model record that the arm names, or None.
        upstream: the name that the record says the server knows it by.
        deployment: the record's build: tag, digest, server, its settings.
        base_url: where it was asked.
        settings: every setting that was sent.
        not_sent: settings of the record that the arm did not send, or sent otherwise.
        prompt: the messages that were sent, with ``{{item}}`` in place of an item; empty where not known.
        prompt_file, prompt_sha256, prompt_version: where the prompt is, its hash, the name of its version.
        adapter, adapter_sha256: what reads the answers.
        dataset_id, items_sha256: what it was measured on.
        against: what it was measured against.
        fingerprint: the run's.
        check: what a capture says of it; None without one.
        notes: what a person should know.
        unknown: no baseline that can be read promoted it, and one cannot be read.
        whole: the request is known in full: ``settings`` are all that was sent.
        own: settings that the model record gives as the model's or its server's own.
    """

    config_id: str
    run: Run
    promotions: tuple[Baseline, ...]
    provider: str
    model: str | None
    model_record: str | None
    upstream: str | None
    deployment: Mapping[str, Any]
    base_url: str | None
    settings: Mapping[str, Any]
    not_sent: tuple[RecordSetting, ...]
    prompt: tuple[Mapping[str, str], ...]
    prompt_file: str | None
    prompt_sha256: str | None
    prompt_version: str | None
    adapter: str
    adapter_sha256: str | None
    dataset_id: str
    items_sha256: str | None
    against: str | None
    fingerprint: str | None
    check: Check | None
    notes: tuple[str, ...]
    unknown: bool = False
    whole: bool = False
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def promoted(self) -> bool:
        """Whether it was read from a promoted run."""
        return bool(self.promotions)


def deploy_sheet(
    project: Project, config_id: str, *, capture_id: str | None = None, goal_id: str | None = None
) -> DeploySheet:
    """Return what production must match to run an arm as it was measured.

    Args:
        project: the project.
        config_id: the arm. The run that a baseline promoted is read, the newest promotion's; else its latest.
        goal_id: the promotion for this goal is read before any other.
        capture_id: records of production to hold against it, each through the adapter's ``production_ran``.

    Raises:
        Refusal: no such arm, or one that never ran; a recorded arm, which is production itself; no such
            capture; an adapter that cannot read its records.
    """
    every = runs.read_all(project, [])
    unread: list[Refusal] = []
    run, promotions = _run(project, config_id, every, goal_id, unread)
    if run.recorded:
        raise Refusal(
            "recorded-arm",
            f"{config_id} replays production: there is nothing that production must match",
            why=[f"{run.key}: its outputs are those of the capture {run.params.get('capture')}"],
            next="name the arm that is, or would be, deployed: evh arms",
        )
    capture = captures.read(project, capture_id) if capture_id is not None else None
    config = next(iter(read_each([config_id], lambda one: configs.read(project, one), [])), None)
    notes = [f"left out: {one.what} ({'; '.join(one.why)})" for one in unread]
    if not promotions and unread:
        told = f"whether a run of {config_id} was promoted is not known"
        notes.append(f"{told}: this is its latest, {run.run_id}")
    elif not promotions:
        notes.append(f"no run of {config_id} was promoted: this is its latest, {run.run_id}")
    notes += _trial(project, run)
    record = _record(project, run, config, notes)
    sheet = _sheet(run, promotions, record, notes=_drift(run, config, notes))
    sheet = replace(sheet, unknown=bool(unread) and not promotions)
    if capture is None:
        return sheet
    check = deploy_check.check(project, sheet_facts(sheet), capture, adapter=run.adapter)
    return replace(sheet, check=check)


def sheet_facts(sheet: DeploySheet) -> deploy_check.Expected:
    """Return what a record of production is held against."""
    known = (sheet.model, sheet.upstream, sheet.model_record)
    return deploy_check.Expected(
        config_id=sheet.config_id,
        promoted=sheet.promoted,
        models=tuple(dict.fromkeys(name for name in known if name)),
        build={key: str(sheet.deployment[key]) for key in ("tag", "digest") if sheet.deployment.get(key)},
        prompt_sha256=sheet.prompt_sha256,
        prompt_version=sheet.prompt_version,
        settings=sheet.settings,
        whole=sheet.whole,
        own=sheet.own,
    )


def _run(
    project: Project, config_id: str, every: list[Run], goal_id: str | None, unread: list[Refusal]
) -> tuple[Run, tuple[Baseline, ...]]:
    """Return the run that is read and its promotions, after noting what baselines cannot be read."""
    mine = [run for run in every if run.config_id == config_id and not run.judged]
    by_id = {run.run_id: run for run in mine} | {run.key: run for run in mine}
    promoted = [one for one in baselines.read_all(project, unread) if one.run_id in by_id]
    promoted.sort(
        key=lambda one: (goal_id is not None and one.goal == goal_id, one.promoted_at, one.baseline_id),
        reverse=True,
    )
    if promoted:
        newest = promoted[0]
        run = by_id.get(newest.promoted_from) or by_id[newest.run_id]
        return run, tuple(one for one in promoted if one.run_id == run.run_id)
    whole = [run for run in mine if (run.derived or {}).get("kind") != "rescored"]
    if not whole:
        if configs.exists(project, config_id):
            raise Refusal(
                "never-ran",
                f"the arm {config_id!r} never ran",
                why=[f"{config_id}: there is no finished run of it, so nothing says what was sent"],
                next=f"evh run --config {config_id}",
            )
        raise missing("arm", config_id, {run.config_id for run in every}, next="evh arms")
    whole.sort(key=lambda run: (run.created_at, run.run_id))
    return latest_last(whole)[-1], ()


def _trial(project: Project, run: Run) -> list[str]:
    """Return a note where a run was a trial, not over the whole dataset."""
    limit = limit_of(run)
    if limit is None:
        return []
    dataset = next(iter(read_each([run.dataset_id], lambda one: datasets.read(project, one), [])), None)
    if dataset is None:
        return [f"{run.run_id} was run with a limit: measured on {plural(run.n_items, 'item')} only"]
    of = len(dataset.items)
    tried = trial_of(run, of)
    return [] if tried is None else [f"{run.run_id} was a trial: measured on {tried:,} of {of:,} items only"]


def _record(project: Project, run: Run, config: Config | None, notes: list[str]) -> Model | None:
    """Return the model record that the run names, after noting what became of it since."""
    arm, asked = _part(run, "arm"), _part(run, "system_under_test")
    named = arm.get("model_record") or (config.model_record if config else None)
    if not isinstance(named, str) or not named:
        return None
    problems: list[Refusal] = []
    found = read_each([named], lambda one: models.read(project, one), problems)
    if not found:
        notes.append(f"the model record {named}, which the arm names, cannot be read: {problems[0].what}")
        return None
    then = asked.get("model_record_sha256")
    if then is not None and then != found[0].identity():
        notes.append(f"the model record {named} says another build or other settings now than when it ran")
    return found[0]


def _drift(run: Run, config: Config | None, notes: list[str]) -> list[str]:
    """Return the notes with what the config says otherwise now than when it ran."""
    if config is None:
        return [*notes, f"the config {run.config_id} is not here: this is what its run recorded"]
    changed = sorted(
        key
        for key, value in config.params.items()
        if key not in PRICES and key not in ("seed", "model") and run.params.get(key) != value
    )
    if not changed:
        return notes
    told = ", ".join(changed)
    return [*notes, f"the config {run.config_id} says something else now than what ran: {told}"]


def _sheet(
    run: Run, promotions: tuple[Baseline, ...], record: Model | None, *, notes: list[str]
) -> DeploySheet:
    asked, instrument, data = (_part(run, key) for key in ("system_under_test", "instrument", "data"))
    request = _mapping(asked.get("request"))
    body = _mapping(request.get("body"))
    if body:
        settings = {key: value for key, value in body.items() if key not in model_calls.RESERVED[:2]}
        if "seed" in settings and "seed" in run.params:
            settings["seed"] = run.params["seed"]  # a repeat's own
    else:
        settings = {key: value for key, value in run.params.items() if key not in NOT_SETTINGS}
    return DeploySheet(
        config_id=run.config_id,
        run=run,
        promotions=promotions,
        provider=str(run.params.get("provider") or asked.get("provider") or ""),
        model=_text(body.get("model")) or _text(asked.get("model")) or _text(run.params.get("model")),
        model_record=record.model_id if record else _text(_part(run, "arm").get("model_record")),
        upstream=record.upstream or None if record else None,
        deployment=dict(record.deployment) if record else {},
        base_url=_text(request.get("base_url")) or _text(run.params.get("base_url")),
        settings=settings,
        not_sent=_not_sent(record, settings),
        prompt=_messages(body, run.params),
        prompt_file=_text(run.params.get("prompt_file")),
        prompt_sha256=_text(asked.get("prompt_sha256")) or _text(run.params.get("prompt_sha256")),
        prompt_version=_text(run.params.get("prompt_version")),
        adapter=run.adapter or "default",
        adapter_sha256=_text(instrument.get("adapter_sha256")),
        dataset_id=run.dataset_id,
        items_sha256=_text(data.get("items_sha256")),
        against=scored_against(run)
        or next((one.reference_id for one in promotions if one.reference_id), None),
        fingerprint=_text(run.fingerprint.get("hash")),
        check=None,
        notes=tuple(notes),
        whole=bool(body),
        own=_own(record),
    )


def _own(record: Model | None) -> dict[str, Any]:
    """Return the settings that a model record gives: its own, else those that its server was started with."""
    if record is None:
        return {}
    return {**_mapping(record.deployment.get("server_settings")), **record.settings}


def _not_sent(record: Model | None, settings: Mapping[str, Any]) -> tuple[RecordSetting, ...]:
    if record is None:
        return ()
    return tuple(
        RecordSetting(name, value, settings.get(name))
        for name, value in record.settings.items()
        if settings.get(name) != value
    )


def _messages(body: Mapping[str, Any], params: Mapping[str, Any]) -> tuple[Mapping[str, str], ...]:
    messages = body.get("messages")
    if isinstance(messages, list):
        return tuple(
            {"role": str(one.get("role")), "content": str(one.get("content"))}
            for one in messages
            if isinstance(one, dict)
        )
    given = (("system", params.get("system")), ("prompt", params.get("prompt")))
    return tuple({"role": role, "content": text} for role, text in given if isinstance(text, str))


def _part(run: Run, key: str) -> Mapping[str, Any]:
    return _mapping(run.fingerprint.get(key))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
