"""Langfuse's exports, in each form that its documents name, become records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.acts import capture_langfuse
from evh.errors import Refusal
from evh.project import captures
from evh.project.find import Project
from tests.conftest import CommandLine

# The keys of Observation in Langfuse's public API, and those of the blob storage export, from the page "Blob
# storage export field reference" of langfuse.com/docs.
OBSERVATION = {
    "id": "o1",
    "traceId": "t1",
    "type": "GENERATION",
    "name": "decide",
    "startTime": "2026-07-01T09:00:00.000Z",
    "endTime": "2026-07-01T09:00:01.500Z",
    "model": "gpt-4o-mini",
    "modelParameters": {"temperature": 0.2},
    "input": [{"role": "system", "content": "Decide."}, {"role": "user", "content": "My card is lost."}],
    "output": {"role": "assistant", "content": "escalate"},
    "promptName": "triage",
    "promptVersion": 7,
    "usageDetails": {"input": 21, "output": 2, "total": 23},
    "costDetails": {"total": 0.001},
    "level": "DEFAULT",
    "environment": "production",
}
SPAN = {"id": "o0", "traceId": "t1", "type": "SPAN", "startTime": "2026-07-01T09:00:00Z", "input": "x"}
BLOB = {
    "id": "o1",
    "trace_id": "t1",
    "type": "GENERATION",
    "name": "decide",
    "start_time": "2026-07-01 09:00:00.000000",
    "end_time": "2026-07-01 09:00:01.500000",
    "provided_model_name": "gpt-4o-mini",
    "model_parameters": '{"temperature": 0.2}',
    "input": json.dumps(OBSERVATION["input"]),
    "output": json.dumps(OBSERVATION["output"]),
    "prompt_name": "triage",
    "prompt_version": 7,
    "usage_details": {"input": 21, "output": 2, "total": 23},
    "cost_details": {"total": 0.001},
    "level": "DEFAULT",
    "environment": "production",
}


def csv_of(*rows: dict[str, Any]) -> str:
    """The rows as CSV: structures and texts as the table's export writes them."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {key: json.dumps(one) if isinstance(one, dict | list) else one for key, one in row.items()}
        )
    return out.getvalue()


FORMS = {
    "o.json": json.dumps([SPAN, OBSERVATION]),
    "o.jsonl": json.dumps(SPAN) + "\n" + json.dumps(OBSERVATION) + "\n",
    "page.json": json.dumps({"data": [SPAN, OBSERVATION], "meta": {"cursor": None}}),
    "o.csv": csv_of(SPAN, OBSERVATION),
    "blob.jsonl": json.dumps(SPAN) + "\n" + json.dumps(BLOB) + "\n",
    "trace.json": json.dumps(
        {"id": "t1", "timestamp": "2026-07-01T09:00:00Z", "observations": [SPAN, OBSERVATION], "scores": []}
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_the_export_gives_one_record(name: str, tmp_path: Path) -> None:
    """The generation is taken, the span counted; model, prompt version and settings are there."""
    path = tmp_path / name
    path.write_text(FORMS[name], encoding="utf-8")
    made = capture_langfuse.read(path)
    assert made.dropped == {"observation of the type SPAN": 1}
    (record,) = made.records
    assert (record["record_id"], record["item"], record["output"]) == ("o1", "My card is lost.", "escalate")
    assert record["production"] == {
        "model": "gpt-4o-mini",
        "prompt_name": "triage",
        "prompt_version": "7",
        "prompt_sha256": "55f749c89b4597ba5fcf532d1985f09acd0991511704eb48cb8a93a094312ff2",
        "settings": {"temperature": 0.2},
    }
    assert record["fields"] == {
        "name": "decide",
        "environment": "production",
        "level": "DEFAULT",
        "tokens_in": 21,
        "tokens_out": 2,
        "cost_usd": 0.001,
    }


@pytest.mark.parametrize("name", FORMS)
def test_every_form_becomes_a_capture(name: str, project: Project, evh: CommandLine) -> None:
    """The time is the end of the call, whichever way it is written."""
    path = project.root / name
    path.write_text(FORMS[name], encoding="utf-8")
    evh.ok("capture", "--as", "c", "--from-file", path, "--format", "langfuse")
    (record,) = captures.records(project, captures.read(project, "c"))
    assert record["ts"] == "2026-07-01T09:00:01.5Z"


def test_traces_are_records_where_the_rows_are_traces(tmp_path: Path) -> None:
    """A trace has no type; its input may be an object of the application's own."""
    path = tmp_path / "traces.json"
    path.write_text(
        json.dumps(
            [
                {
                    "id": "t1",
                    "timestamp": "2026-07-01T09:00:00Z",
                    "input": {"question": "Lost?"},
                    "output": "yes",
                },
                {
                    "id": "t2",
                    "timestamp": None,
                    "input": {"a": 1, "b": 2},
                    "output": {"verdict": "no", "sure": 1},
                },
            ]
        )
    )
    one, two = capture_langfuse.read(path).records
    assert (one["item"], one["output"], one["ts"]) == ("Lost?", "yes", "2026-07-01T09:00:00Z")
    assert (two["item"], two["output"], two["ts"]) == ('{"a":1,"b":2}', '{"sure":1,"verdict":"no"}', None)
    assert two["production"] is None


def test_scores_are_outcomes_of_what_they_are_about(tmp_path: Path) -> None:
    """A score names its observation; a category is its text."""
    scores = [
        {
            "name": "helpful",
            "value": 1,
            "observationId": "o1",
            "timestamp": "2026-07-02T00:00:00Z",
            "source": "API",
        },
        {"name": "tone", "value": 0, "stringValue": "rude", "observationId": "o1", "source": "ANNOTATION"},
        {"name": "other", "value": 1, "observationId": "o9"},
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"trace": {"id": "t1"}, "observations": [OBSERVATION], "scores": scores}))
    (record,) = capture_langfuse.read(path).records
    assert record["outcomes"] == [
        {"kind": "helpful", "value": 1, "ts": "2026-07-02T00:00:00Z", "by": "api"},
        {"kind": "tone", "value": "rude", "ts": None, "by": "annotation"},
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[]", "nothing-to-take"),
        (json.dumps([SPAN]), "nothing-to-take"),
        ("[1]", "bad-langfuse"),
        ("5", "bad-langfuse"),
    ],
)
def test_what_is_no_export_is_refused(text: str, code: str, tmp_path: Path) -> None:
    """With what was found in its place."""
    path = tmp_path / "o.json"
    path.write_text(text)
    with pytest.raises(Refusal) as refusal:
        capture_langfuse.read(path)
    assert refusal.value.code == code
