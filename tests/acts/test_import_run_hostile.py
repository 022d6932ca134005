"""A log with one value changed to anything else: a run, or a Refusal; never a traceback or a silent loss."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.acts.import_run import Asked, plan
from evh.errors import Refusal
from evh.project.find import Project
from evh.records import run as record
from evh.store import strict
from tests.acts.mutating import changed, places
from tests.acts.tool_logs import (
    events,
    inspect_log,
    lm_line,
    only,
    promptfoo,
    put,
    result,
    sample,
    three_reports,
    words,
)
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes

LOGS: dict[str, Any] = {
    "promptfoo": promptfoo(result({"item_id": "i1", "report": "x"}, "file", namedScores={"polite": 0.75})),
    "inspect": inspect_log(sample("i1", 1, "file", {"match": "C"}, metadata={"item_id": "i1"})),
    "lm-eval": [lm_line(0, doc={"item_id": "i1", "q": "x"})],
    "openai-evals": events(
        ("t.0", "raw_sample", {"item_id": "i1"}),
        ("t.0", "sampling", {"prompt": "x", "sampled": ["file"]}),
        ("t.0", "match", {"correct": True, "expected": "file", "sampled": "file"}),
        ("t.0", "metrics", {"f1": 0.5}),
    ),
}
VALUES = [10**400, -1, 1e308, None, "x", [], {}, [1], {"a": 1}, True, float("nan"), float("inf"), "\ud800"]


@pytest.fixture
def d(project: Project) -> Builder:
    """The project of `three_reports`."""
    return three_reports(project)


def name_of(tool: str) -> str:
    """Return a name that `put` writes a tool's log under."""
    return "log.jsonl" if tool in ("lm-eval", "openai-evals") else "log.json"


@pytest.mark.parametrize("tool", LOGS)
@pytest.mark.parametrize("value", VALUES, ids=[f"{str(one)[:9]!a}" for one in VALUES])
def test_any_one_value_changed_is_taken_or_refused(
    d: Builder, project: Project, tool: str, value: Any
) -> None:
    """Each value of each tool's log in turn becomes a huge number, a negative one, another type.

    What is taken can be written.
    """
    for at in places(LOGS[tool]):
        path = put(project, name_of(tool), changed(LOGS[tool], at, value))
        try:
            made = plan(project, dataset_id="d", source=path, config_id="arm", asked=Asked(tool))
        except Refusal:
            continue
        for one in made.runs:
            strict.dump_manifest(record.dump(one.run))
            for row in one.rows:
                strict.dump_line(record.dump_prediction(row))
                assert all(number is None or number >= 0 for number in (row.latency_ms, row.cost_usd)), at


@pytest.mark.parametrize(
    ("tool", "at", "said"),
    [
        ("promptfoo", ("results", "results", 0, "cost"), "cost_usd"),
        ("promptfoo", ("results", "results", 0, "latencyMs"), "latency_ms"),
        ("promptfoo", ("results", "results", 0, "response", "tokenUsage", "prompt"), "tokens_in"),
        ("inspect", ("samples", 0, "output", "time"), "latency_ms"),
        ("inspect", ("samples", 0, "model_usage", "mockllm/model", "output_tokens"), "tokens_out"),
    ],
)
@pytest.mark.parametrize(("value", "why"), [(-5, ", below 0"), (10**400, ", not a finite number")])
def test_a_measure_that_cannot_be_is_refused(
    d: Builder, evh: CommandLine, *, tool: str, at: tuple[Any, ...], said: str, value: int, why: str
) -> None:
    """No cost, count or time is below 0 or beyond what a number holds: told with the row, nothing written."""
    path = put(d.project, name_of(tool), changed(LOGS[tool], at, value))
    before = tree_bytes(d.project.data)
    (reason,) = evh.refused("bad-measure", *words(path, tool)).json["refused"]["why"]
    assert f": {said}: is " in reason
    assert reason.endswith(why)
    assert tree_bytes(d.project.data) == before


def test_a_negative_measure_in_a_table_is_refused(d: Builder, project: Project, evh: CommandLine) -> None:
    """In CSV too."""
    path = put(project, "s.csv", "item_id,output,latency_ms\ni1,file,-5\n")
    assert evh.refused("bad-measure", *words(path, "csv")).json["refused"]["why"] == [
        f"{path}: row 2 (i1): latency_ms: is -5, below 0"
    ]


@pytest.mark.parametrize(
    ("tool", "at", "value", "told"),
    [
        ("promptfoo", ("results", "results", 0, "namedScores"), [1], "1 namedScores that is no object"),
        ("promptfoo", ("results", "results", 0, "cost"), "0.1", "1 cost that is no number"),
        ("promptfoo", ("results", "results", 0, "score"), "0.9", "1 score that is no number"),
        (
            "promptfoo",
            ("results", "results", 0, "response", "tokenUsage"),
            5,
            "1 tokenUsage that is no object",
        ),
        ("inspect", ("samples", 0, "output", "time"), "1.5", "1 time that is no number"),
        ("inspect", ("samples", 0, "model_usage"), "x", "1 model_usage that is no object"),
        ("inspect", ("samples", 0, "scores"), [1], "1 scores that is no object"),
        ("lm-eval", (0, "metrics"), ["nope"], "1 metric that is named and not there"),
        ("lm-eval", (0, "arguments"), 5, "1 arguments that is no list"),
        ("lm-eval", (0, "filtered_resps"), [5], "1 response that is no text"),
        ("openai-evals", (0, "spec"), 5, "1 spec that is no object"),
        ("openai-evals", (5, "data"), [1], "1 data that is no object"),
    ],
)
def test_what_has_another_type_is_counted(
    d: Builder, evh: CommandLine, *, tool: str, at: tuple[Any, ...], value: Any, told: str
) -> None:
    """What cannot be taken is told and stands in the run's record."""
    path = put(d.project, name_of(tool), changed(LOGS[tool], at, value))
    outcome = evh.ok(*words(path, tool), "--json")
    assert f"{path.name}: not taken: {told}" in outcome.json["warnings"]
    run, _, _ = only(d.project)
    assert json.loads(json.dumps(run.extra["imported"]))["dropped"] == {told[2:]: 1}
