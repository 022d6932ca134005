"""What `judge` would do: the outputs, the questions, who is asked, what is known already, and why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.acts import judge_import, misspelt, model_calls
from evh.acts.judge_prompt import ALPHABET, Question
from evh.acts.judge_units import Frame, Judged
from evh.acts.judge_verdict import load, unfit
from evh.adapters import loader, providers
from evh.errors import Refusal
from evh.project import arms, configs, datasets, judged, judges, models, runs
from evh.project.shelf import read_each
from evh.records.judge import GRADE, PICK
from evh.records.shape import is_number
from evh.store.hashing import sha256, sha256_text
from evh.store.strict import compact
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.acts.judge_units import Unit
    from evh.acts.model_calls import ModelCalls
    from evh.adapters.providers import Provider
    from evh.project.arms import Arm
    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.dataset import Dataset
    from evh.records.judge import Judge
    from evh.records.run import Run

NO_JUDGE = ("recorded",)


@dataclass(frozen=True, slots=True)
class Asker:
    """One judge's model: the config, what asks it, the hash of what it sends, and its prices."""

    config: Config
    provider: Provider | ModelCalls
    sha256: str
    prices: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that `judge` would do.

    Attributes:
        judge: the judge.
        question: what it asks, with the rubric's text.
        rubric_sha256: of the rubric's text.
        dataset: the dataset.
        arms: whose outputs are judged.
        askers: config → who is asked; empty where verdicts come from a file.
        frame: what the questions have in common.
        items: the dataset's items, each with the outputs or why it is left out.
        texts: item id → its text.
        outputs: sha256 → the output.
        units: every question.
        waiting: those without a verdict, each once.
        imported: the verdicts of a file, as rows to append.
        salt: of the marks and letters.
        concurrency: how many questions are asked at once; None adapts to the server.
        max_cost: a cap on what this pass costs, in US dollars, what is known already included.
        spent: the known costs of the verdicts that are here.
        notes: what a person should know.
    """

    judge: Judge
    question: Question
    rubric_sha256: str
    dataset: Dataset
    arms: tuple[Arm, ...]
    askers: Mapping[str, Asker]
    frame: Frame
    items: tuple[Judged, ...]
    texts: Mapping[str, str]
    outputs: Mapping[str, str]
    units: tuple[Unit, ...]
    waiting: tuple[Unit, ...]
    imported: tuple[dict[str, Any], ...] | None = None
    salt: str = ""
    concurrency: int | None = None
    max_cost: float | None = None
    spent: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def judge_sha256(self) -> str:
        """The judge's identity: what is asked, of whom, how often, and how verdicts are combined."""
        return judge_sha(self.judge, self.frame)

    def says(self) -> list[str]:
        """Return what would be done, a sentence each."""
        known = len({one.key for one in self.units}) - len(self.waiting)
        names = ", ".join(arm.name for arm in self.arms)
        if self.imported is None:
            asked = ", ".join(self.frame.askers)
            first = f"ask {asked}: {plural(len(self.waiting), 'question')} ({known:,} are answered already)"
        else:
            first = f"take {plural(len(self.imported), 'verdict')} from the file"
        where = f"data/{judged.folder(self.judge.scorer)}/"
        return [first, f"write {where}<run> for {names} on {self.dataset.dataset_id}"]


def judge_sha(judge: Judge, frame: Frame) -> str:
    """Return the identity of a judge: two judged runs with the same one were judged alike."""
    return sha256_text(
        compact([frame.question_sha256, sorted(frame.askers.items()), judge.combine, frame.repeats])
    )


def plan(
    project: Project,
    scorer: str,
    dataset_id: str,
    names: Sequence[str] = (),
    *,
    verdicts: Path | None = None,
    max_cost: float | None = None,
    concurrency: int | None = None,
) -> Plan:
    """Return what judging would do.

    Args:
        project: the project.
        scorer: the judge, ``data/judges/<scorer>.yaml``.
        dataset_id: the dataset whose items' outputs are judged.
        names: config or run ids; all arms that ran on the dataset by default.
        verdicts: a CSV file of verdicts that were given elsewhere: nothing is asked (see `judge_import`).
        max_cost: what the pass may cost, in US dollars, verdicts that are here already included.
        concurrency: how many questions are asked at once.

    Raises:
        Refusal: with every reason why it cannot be done.

    Cost: reads every output of the runs; hashes each.
    """
    judge = judges.read(project, scorer)
    judged.refuse_filled(project, scorer)
    rubric = judges.rubric_of(project, judge)
    dataset = datasets.read(project, dataset_id)
    found = arms.of_dataset(project, dataset_id, names)
    _refuse_arms(judge, dataset_id, found, max_cost)
    notes: list[str] = []
    askers = {} if verdicts else _askers(project, judge, notes)
    shas = {name: imported_sha(name) if verdicts else askers[name].sha256 for name in judge.judges}
    salt = judged.salt(project, scorer) or judged.new_salt()
    rubric_sha = sha256_text(rubric)
    frame = Frame(judge.kind, judge.question_sha(rubric_sha), shas, judge.repeats, salt)
    by_arm = [_outputs(project, arm.run) for arm in found]
    texts, unreadable = _texts(project, dataset)
    items = of_items(dataset, judge.kind, [arm.name for arm in found], by_arm, unreadable)
    notes += [*_left_out(items), *_own(askers, found)]
    units = frame.units(items)
    known = judged.verdicts(project, scorer, unfit=unfit(judge, {one.key for one in units}))
    imported = None
    if verdicts is not None:
        imported = judge_import.read(verdicts, judge, frame, items, found, at=project.stamp(), notes=notes)
        known = {**known, **{row["key"]: row for row in imported}}
    waiting = {one.key: one for one in units if load((known.get(one.key) or {}).get("said")) is None}
    asked_before = {one.key for one in units} & known.keys()
    return Plan(
        judge=judge,
        question=Question(judge, rubric),
        rubric_sha256=rubric_sha,
        dataset=dataset,
        arms=tuple(found),
        askers=askers,
        frame=frame,
        items=items,
        texts=texts,
        outputs={sha256(text.encode()): text for one in by_arm for text in one.values()},
        units=tuple(units),
        waiting=tuple(waiting.values()),
        imported=imported,
        salt=salt,
        concurrency=concurrency,
        max_cost=max_cost,
        spent=tuple(known[key]["cost_usd"] for key in asked_before if is_number(known[key].get("cost_usd"))),
        notes=tuple(notes),
    )


def imported_sha(name: str) -> str:
    """Return the identity of a judge whose verdicts came in a file: nobody here knows what it sent."""
    return sha256_text(compact({"imported": name}))


def of_items(
    dataset: Dataset,
    kind: str,
    names: Sequence[str],
    outputs: Sequence[Mapping[str, str]],
    unreadable: Mapping[str, str],
) -> tuple[Judged, ...]:
    """Return the items of a pass.

    Args:
        dataset: the dataset.
        kind: the judge's.
        names: the arms.
        outputs: for each arm item id → its output.
        unreadable: item id → why its text cannot be shown.
    """
    made = []
    for item in dataset.items:
        shas = {
            at: sha256(one[item.item_id].encode()) for at, one in enumerate(outputs) if item.item_id in one
        }
        lacking = [name for at, name in enumerate(names) if at not in shas]
        reason = unreadable.get(item.item_id)
        if reason is None and lacking and (kind != GRADE or not shas):
            reason = f"no output of {', '.join(lacking)}"
        made.append(Judged(item, shas, reason))
    return tuple(made)


def _refuse_arms(judge: Judge, dataset_id: str, found: Sequence[Arm], max_cost: float | None) -> None:
    reasons = []
    keys = [arm.run.key for arm in found]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    reasons += [f"--runs: {key} is named twice" for key in twice]
    if judge.kind != GRADE and len(found) < 2:
        reasons.append(
            f"--runs: a {judge.kind} judge needs two arms at least; {dataset_id} has {len(found)} here"
        )
    if not found and judge.kind == GRADE:
        reasons.append(f"{dataset_id}: no arm has run on it")
    if judge.kind == PICK and len(found) > len(ALPHABET):
        reasons.append(f"--runs: there are {len(ALPHABET)} letters for {len(found)} arms")
    if max_cost is not None and not (is_number(max_cost) and max_cost > 0):
        reasons.append(f"--max-cost {max_cost}: is not an amount of US dollars above 0")
    if reasons:
        raise Refusal(
            "cannot-judge",
            f"{judge.scorer!r} cannot judge that",
            why=reasons,
            next=f"evh judge --scorer {judge.scorer} --dataset-id {dataset_id} --runs A,B",
        )


def _askers(project: Project, judge: Judge, notes: list[str]) -> dict[str, Asker]:
    problems: list[Refusal] = []
    made = read_each(judge.judges, lambda name: _asker(project, name, notes), problems)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise Refusal(
            "cannot-judge",
            f"{judge.scorer!r} cannot judge",
            why=[f"{one.what}: {reason}" for one in problems for reason in one.why or ("",)],
            next="; ".join(dict.fromkeys(one.next for one in problems if one.next)) or None,
        )
    return {one.config.config_id: one for one in made}


def _asker(project: Project, name: str, notes: list[str]) -> Asker:
    config = misspelt.read(project, name)
    misspelt.refuse(project, config)
    if config.provider in NO_JUDGE:
        raise Refusal(
            "no-judge",
            f"the config {name!r} cannot judge",
            why=[f"{name}: params.provider: {config.provider} replays a capture and answers no question"],
            next="verdicts that were given elsewhere come in by evh judge --from-file FILE",
        )
    if model_calls.is_model(project, config):
        record = models.read(project, config.model_record) if config.model_record else None
        calls = model_calls.open_model(project, config, record)
        if calls.prompt.user != "{{item}}" or calls.prompt.fields:
            raise Refusal(
                "judge-prompt",
                f"the config {name!r} has a prompt of its own",
                why=[f"{name}: a judge is asked by its rubric: it may have a system text alone"],
                next="take params.prompt out of it, or make another config for judging",
            )
        notes += calls.notes
        record_sha = record.identity() if record else None
        identity = {"request": calls.identity["request"], "model_record_sha256": record_sha}
        return Asker(config, calls, sha256_text(compact(identity)), calls.prices)
    adapter = loader.load(project, config.adapter, beside=configs.path_of(project, name).parent)
    provider = providers.open_provider(project, config, adapter)
    identity = {
        "provider": config.provider,
        "params": dict(config.params),
        "adapter_sha256": adapter.identity,
        "identity": dict(provider.identity),
    }
    return Asker(config, provider, sha256_text(compact(identity)), config.params)


def _outputs(project: Project, run: Run) -> Mapping[str, str]:
    """Return a run's outputs; those of rows that failed are none."""
    rows = runs.predictions(project, run)
    found = runs.outputs(project, run, rows, verify=True)
    return {row.item_id: found[row.item_id] for row in rows if row.error is None and row.item_id in found}


def _texts(project: Project, dataset: Dataset) -> tuple[dict[str, str], dict[str, str]]:
    """Return the items' texts, and why an item has none that can be shown."""
    texts: dict[str, str] = {}
    unreadable: dict[str, str] = {}
    for item_id, data in datasets.texts(project, dataset).items():
        place = f"{dataset.dataset_id}/{item_id}"
        problems: list[Refusal] = []
        for text in read_each([data], lambda one, place=place: providers.text_of(one, place), problems):  # type: ignore[misc]
            texts[item_id] = text
        for one in problems:
            unreadable[item_id] = "; ".join(one.why) or one.what
    return texts, unreadable


def _own(askers: Mapping[str, Asker], found: Sequence[Arm]) -> list[str]:
    """Return which judges judge outputs of their own model: they are known to favour them."""
    return [
        f"{name} judges outputs of its own model {model!r}: {arm.name}"
        for name, asker in askers.items()
        for arm in found
        if (model := getattr(asker.provider, "model", None)) and arm.run.params.get("model") == model
    ]


def _left_out(items: Sequence[Judged]) -> list[str]:
    counts: dict[str, int] = {}
    for one in items:
        if one.left_out is not None:
            counts[one.left_out] = counts.get(one.left_out, 0) + 1
    told = sorted(counts.items(), key=lambda pair: -pair[1])
    return [f"{plural(n, 'item')} not judged: {reason}" for reason, n in told[:5]]
