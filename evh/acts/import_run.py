"""Another tool's outputs and scores become a run that says so: nothing is called and nothing is scored here.

The tool's scores stand as it gave them. What they were measured against is not known here, so the run names
no labels; `rescore` scores the same outputs against a label set of the dataset.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evh.acts import scoring
from evh.acts.import_tools import inspect, lm_eval, openai_evals, promptfoo, table
from evh.acts.import_tools.items import Matcher
from evh.adapters import loader
from evh.errors import Refusal
from evh.measure.numbers import mean
from evh.project import configs, datasets, fingerprint, imported, runs
from evh.records.run import MEASURES, Prediction, Run, bad_measure, bad_score
from evh.store import strict
from evh.store.hashing import sha256
from evh.store.names import check_id, item_stems
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.acts.import_tools.given import Log, Row
    from evh.adapters.hooks import Adapter
    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.dataset import Dataset, Item

TOOLS = {tool.NAME: tool for tool in (promptfoo, inspect, lm_eval, openai_evals, table)}
PROVIDER = "imported"
"""The provider of such a run: nothing here can run it again."""
NO_OUTPUT = "the log holds no output"
TAKEN = "metric whose name evh keeps for something else"
OTHER_PART = "row of another part"
KEPT = ("latency_ms", "tokens_in", "tokens_out", "cost_usd")
_RESERVED = frozenset({*MEASURES, "item_id", "output", "decision", "error", "scores"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a log beside the file; see the options of ``evh import-run``.

    ``part``: which of the log's arms to take, where it holds several. ``version``: the tool's, where the log
    does not tell. ``adapter``: what decides; by default the config's, else the project's.
    """

    tool: str
    part: str | None = None
    version: str | None = None
    adapter: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """One run that would be written; its id is given when it is."""

    run: Run
    rows: tuple[Prediction, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs that would be written: one, or one for each repeat that the log holds.

    Attributes:
        runs: with an empty ``run_id``.
        stems: item id → file stem.
        there: runs that an earlier try made of this log.
        group: the group of repeats that those are in, or None.
        found: how the items were found → how many rows.
        n_of: items of the dataset.
        warnings: what a person should know, a sentence each.
    """

    runs: tuple[Made, ...]
    stems: Mapping[str, str]
    there: tuple[str, ...]
    group: str | None
    found: Mapping[str, int]
    n_of: int
    warnings: tuple[str, ...]


def plan(project: Project, *, dataset_id: str, source: Path, config_id: str, asked: Asked) -> Plan:
    """Return the run that a tool's log becomes.

    Args:
        project: the project.
        dataset_id: the dataset that was evaluated; every item of the log must be one of it.
        source: the log.
        config_id: the arm; a config of that id may be here or not.
        asked: the tool, and how its log is read.

    Raises:
        Refusal: everything that is wrong with the log's rows at once: an item that the dataset lacks, one
            that stands twice, a score that is not finite, a cost, a count or a time below 0; several arms and
            none named; nothing in it; a log that was imported already.
    """
    check_id(config_id, "config")
    dataset = datasets.read(project, dataset_id)
    config = configs.read(project, config_id) if configs.exists(project, config_id) else None
    beside = configs.path_of(project, config_id).parent
    adapter = loader.load(project, asked.adapter or (config.adapter if config else ""), beside=beside)
    data = strict.read_bytes(source)
    log = TOOLS[asked.tool].read(data, str(source))
    dropped = Counter(log.dropped)
    parts = _parts(log, asked, source, dropped)
    kept = [row for row in log.rows if row.part in parts]
    matcher = Matcher(project, dataset, asked.tool)
    reasons: list[tuple[str, str]] = []
    grouped: dict[str, dict[str, Prediction]] = {part: {} for part in parts}
    places: dict[tuple[str, str], str] = {}
    for row in kept:
        item = matcher.item(row, reasons)
        scores = _scores(row, dropped, reasons)
        if item is None:
            continue
        before = places.setdefault((row.part, item.item_id), row.place)
        if before != row.place or item.item_id in grouped[row.part]:
            told = f", in the same repeat {row.part!r}" if log.repeats and len(parts) > 1 else ""
            reasons.append(("doubled-item", f"{row.place}: {item.item_id}: it stands in {before} too{told}"))
            continue
        grouped[row.part][item.item_id] = _prediction(row, item, scores, adapter)
    _refuse(reasons, source, asked.tool)
    facts = {
        "tool": asked.tool,
        "version": log.version or asked.version,
        "file": source.name,
        "file_sha256": sha256(data),
        "made_at": log.made_at,
        "dropped": dict(sorted(dropped.items())),
    }
    made = [
        _run(project, dataset, config_id, adapter, log, part, facts, _ordered(dataset, rows))
        for part, rows in grouped.items()
    ]
    there = _there(project, made)
    if there and len(there) == len(made):
        raise Refusal(
            "existing-run",
            f"{source.name} was imported already",
            why=[f"{run.key}: it was made from this log" for run in there.values()],
            next=f"evh runs --dataset-id {dataset_id}; another arm of it: --as CONFIG",
        )
    return Plan(
        runs=tuple(one for at, one in enumerate(made) if at not in there),
        stems=item_stems([item.item_id for item in dataset.items]),
        there=tuple(run.key for run in there.values()),
        group=next((run.repeat_group for run in there.values() if run.repeat_group), None),
        found=dict(matcher.found),
        n_of=len(dataset.items),
        warnings=(
            *_warnings(source, log, made, dropped, dataset, config),
            *(f"{run.key}: made from this log before, and left as it is" for run in there.values()),
        ),
    )


def commit(project: Project, plan: Plan) -> list[Run]:
    """Write each run, whole; return them as written. After a crash the same command makes the rest."""
    written = []
    group = plan.group
    for one in plan.runs:
        run_id = runs.new_run_id(project, one.run.config_id)
        if one.run.repeat_group is not None:
            group = group or run_id
        run = replace(
            one.run, run_id=run_id, repeat_group=group if one.run.repeat_group is not None else None
        )
        written.append(imported.write_new(project, run, one.rows, plan.stems))
    return written


def _parts(log: Log, asked: Asked, source: Path, dropped: Counter[str]) -> list[str]:
    """Return the parts of the log to take: the one asked for, the repeats, or the only one."""
    found = list(dict.fromkeys(row.part for row in log.rows))
    if not found:
        raise Refusal("nothing-in-it", f"{source} holds no rows", why=[f"{source}: no item is in it"])
    if asked.part is not None and asked.part in found:
        dropped[OTHER_PART] += sum(row.part != asked.part for row in log.rows)
        if not dropped[OTHER_PART]:
            del dropped[OTHER_PART]
        return [asked.part]
    if asked.part is None and (len(found) == 1 or log.repeats):
        return found
    named = ", ".join(repr(one) for one in found[:20])
    raise Refusal(
        "which-part",
        f"{source.name} holds several arms" if asked.part is None else f"{source.name} has no such part",
        why=[f"{source}: {'one run is one arm; its parts are' if asked.part is None else 'it has'} {named}"],
        next=f"--part {found[0]!r}: one import for each, with an --as of its own",
    )


def _scores(row: Row, dropped: Counter[str], reasons: list[tuple[str, str]]) -> dict[str, float]:
    made = {}
    for metric, value in row.scores.items():
        if metric.startswith("_") or metric in _RESERVED or not metric:
            dropped[TAKEN] += 1
        elif (wrong := bad_score(value)) is not None:
            reasons.append(("not-finite", f"{row.place}: {metric}: {wrong}"))
        else:
            made[metric] = value
    for name in KEPT:
        value = getattr(row, name)
        if value is not None and (wrong := bad_measure(value)) is not None:
            reasons.append(("bad-measure", f"{row.place}: {name}: {wrong}"))
    return made


def _prediction(row: Row, item: Item, scores: Mapping[str, float], adapter: Adapter) -> Prediction:
    output, error = row.output, row.error
    if output is None and error is None and not scores:
        error = NO_OUTPUT
    decision = None
    if output is not None and not _storable(output):
        output, error = None, "the output holds a lone surrogate, which has no bytes"
    if output is not None and error is None:
        text = output
        decision, error = scoring.attempt(lambda: adapter.decide(text, row.place), row.place)
    hidden: dict[str, Any] = {runs.OUTPUT_SHA: scoring.output_sha(output)} if output is not None else {}
    if row.meta:
        hidden["_meta"] = dict(row.meta)
    return Prediction(
        item.item_id,
        scores={} if error is not None else scores,
        latency_ms=row.latency_ms,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        cost_usd=row.cost_usd,
        output=output,
        decision=decision,
        error=error,
        hidden=hidden,
    )


def _storable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _refuse(reasons: Sequence[tuple[str, str]], source: Path, tool: str) -> None:
    if not reasons:
        return
    codes = {code for code, _ in reasons}
    following = "mend the log; nothing was written"
    if codes <= {"unknown-item", "changed-text"}:
        following = (
            "give each sample its item_id (a var, the metadata, a key of the document), "
            "or import over the dataset that was evaluated"
        )
    elif codes == {"doubled-item"}:
        following = "one item is answered once in a run: " + (
            f"name the trial of each row in a column {table.REPEAT}, or keep one row of each item"
            if tool == table.NAME
            else "name one arm (--part), or give each sample its item_id"
        )
    raise Refusal(
        codes.pop() if len(codes) == 1 else "bad-log",
        f"{source.name} cannot become a run",
        why=[reason for _, reason in reasons],
        next=following,
    )


def _ordered(dataset: Dataset, rows: Mapping[str, Prediction]) -> tuple[Prediction, ...]:
    return tuple(rows[item.item_id] for item in dataset.items if item.item_id in rows)


def _run(  # noqa: PLR0917 - one record's parts
    project: Project,
    dataset: Dataset,
    config_id: str,
    adapter: Adapter,
    log: Log,
    part: str,
    facts: Mapping[str, Any],
    rows: tuple[Prediction, ...],
) -> Made:
    columns: dict[str, list[float]] = {}
    for row in rows:
        for metric, value in row.scores.items():
            columns.setdefault(metric, []).append(value)
    means = {metric: mean(values) for metric, values in sorted(columns.items())}
    scores = {metric: value for metric, value in means.items() if value is not None}
    primary = next(
        (one for one in (adapter.primary_metric, log.primary) if one in scores), next(iter(scores), None)
    )
    model = log.models.get(part) or log.model
    prompt = log.prompts.get(part)
    params = {
        **log.settings,
        "provider": PROVIDER,
        **({"model": model} if model else {}),
        **({"prompt_sha256": prompt} if prompt else {}),
    }
    run = Run(
        run_id="",
        config_id=config_id,
        dataset_id=dataset.dataset_id,
        created_at=project.stamp(),
        adapter=adapter.name,
        params=params,
        n_items=len(rows),
        n_errors=sum(row.error is not None for row in rows),
        primary_metric=primary,
        scores=scores,
        build=None,  # what asked the model was another tool
        fingerprint=fingerprint.make(
            arm={"config_id": config_id},
            data={
                "dataset": dataset.dataset_id,
                "items_sha256": datasets.digest(dataset),
                "reference_id": None,
            },
            instrument={
                **adapter.instrument,
                "tool": facts["tool"],
                "tool_version": facts["version"],
            },
            system_under_test={
                "provider": PROVIDER,
                "model": model,
                "params": params,
                "file_sha256": facts["file_sha256"],
                "part": part or None,
            },
        ),
        repeat_group="" if log.repeats and len({row.part for row in log.rows}) > 1 else None,
        extra={imported.KEY: {**facts, "part": part or None}, "n_scored": sum(bool(r.scores) for r in rows)},
    )
    return Made(run, rows)


def _there(project: Project, made: Sequence[Made]) -> dict[int, Run]:
    """Return which of the planned runs this same log made already, by their place in the plan."""
    known = {}
    for run in runs.read_all(project, []):
        facts = imported.of_run(run)
        if facts is not None:
            known[run.config_id, run.dataset_id, facts.get("file_sha256"), facts.get("part")] = run
    found = {}
    for at, one in enumerate(made):
        facts = imported.of_run(one.run) or {}
        key = (one.run.config_id, one.run.dataset_id, facts.get("file_sha256"), facts.get("part"))
        if key in known:
            found[at] = known[key]
    return found


def _warnings(  # noqa: PLR0917 - what is told of
    source: Path,
    log: Log,
    made: Sequence[Made],
    dropped: Mapping[str, int],
    dataset: Dataset,
    config: Config | None,
) -> list[str]:
    told = list(log.notes)
    if dropped:
        counts = ", ".join(f"{count:,} {why}" for why, count in sorted(dropped.items()))
        told.append(f"{source.name}: not taken: {counts}")
    fewest = min(len(one.rows) for one in made)
    if fewest < len(dataset.items):
        told.append(
            f"{source.name}: {fewest:,} of {len(dataset.items):,} items of {dataset.dataset_id} are in it"
        )
    silent = sum(row.output is None and row.error is None for one in made for row in one.rows)
    if silent:
        told.append(f"{plural(silent, 'row')} with scores and no output: nothing there to score again")
    model = next((one.run.params.get("model") for one in made if one.run.params.get("model")), None)
    if config is not None and config.model and model and config.model != model:
        told.append(f"the log's model is {model}; configs/{config.config_id} names {config.model}")
    return told
