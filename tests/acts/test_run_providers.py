"""`evh run` of each provider that asks no model server: what it is given, and how one item fails alone."""

from __future__ import annotations

import time

import pytest

from evh.project import runs
from evh.project.find import Project
from tests.acts.running import (
    adapter,
    command,
    rows_of,
    three_items,
)
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check


@pytest.fixture
def build(project: Project) -> Builder:
    """The project of `three_items`."""
    return three_items(project)


def test_python_asks_the_adapter(build: Builder, evh: CommandLine) -> None:
    """call_system gets the text and the params; tokens, cost, extra metrics and meta are kept."""
    code = """
from evh.adapters import Result

def call_system(text, params):
    return Result(params["prefix"] + text, tokens_in=1000, tokens_out=500, latency_ms=12.5,
                  extra={"steps": len(text)}, meta={"trace": [1]})
"""
    build.config(
        "c",
        dataset_id="d",
        adapter=adapter(build.project, code),
        params={"provider": "python", "prefix": "> ", "usd_per_mtok_in": 2, "usd_per_mtok_out": 4},
    )
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    one = rows_of(build.project, row)["two"]
    assert (one.decision, one.tokens_in, one.tokens_out, one.latency_ms) == ("> beta", 1000, 500, 12.5)
    assert one.cost_usd == pytest.approx(0.004)  # 1,000 tokens at 2 and 500 at 4 dollars a million
    assert one.scores == {"steps": 4}
    assert one.hidden["_meta"] == {"trace": [1]}
    assert row["scores"] == {"steps": pytest.approx((5 + 4 + 5) / 3)}


def test_an_adapter_cannot_change_the_settings_of_the_next_item(build: Builder, evh: CommandLine) -> None:
    """Each call gets its own copy of params: what one changes, no other sees and no file records."""
    code = "def call_system(text, params):\n    params['n'][0] += 1\n    return str(params['n'][0])\n"
    build.config(
        "c", dataset_id="d", adapter=adapter(build.project, code), params={"provider": "python", "n": [0]}
    )
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    assert [one.decision for one in rows_of(build.project, row).values()] == ["1", "1", "1"]
    assert runs.read(build.project, row["run_id"]).params["n"] == [0]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("raise ValueError('no beta')", "data/adapters/mine.py:3: ValueError: no beta"),
        ("raise SystemExit(3)", "data/adapters/mine.py:3: SystemExit: 3"),
        ("return None", "returned NoneType, not a Result with a text output"),
        ("return '\\ud800'", "the output holds a lone surrogate"),
        ("from evh.adapters import Result; return Result('x', cost_usd=float('nan'))", "cost_usd is nan"),
        ("from evh.adapters import Result; return Result('x', extra={'m': 'y'})", "extra: m is 'y'"),
        (
            "from evh.adapters import Result; return Result('x', meta={'m': {1}})",
            "meta cannot be written as JSON",
        ),
    ],
)
def test_a_failing_call_takes_no_other_item_down(
    build: Builder, evh: CommandLine, code: str, error: str
) -> None:
    """One item fails: a row with its error and no score; the others are scored; exit 3."""
    text = f"def call_system(text, params):\n    if text == 'beta':\n        {code}\n    return text\n"
    build.config("c", dataset_id="d", adapter=adapter(build.project, text), params={"provider": "python"})
    outcome = evh("run", "--config", "c", "--labels", "d/s", "--json")
    assert outcome.code == 3
    check(outcome.json, "run")
    row = outcome.json["runs"][0]
    assert (row["n_errors"], row["n_scored"], row["scores"]["correct"]) == (1, 1, 1.0)
    assert [one["item_id"] for one in outcome.json["failed"]] == ["two"]
    assert error in outcome.json["failed"][0]["error"]
    failed = rows_of(build.project, row)["two"]
    assert failed.error == outcome.json["failed"][0]["error"]
    assert (dict(failed.scores), failed.decision) == ({}, None)


def test_a_failing_item_is_told_to_people(build: Builder, evh: CommandLine) -> None:
    """Without --json the failed item and its reason stand on stderr, and the exit code is 3."""
    text = "def call_system(text, params):\n    return 1 / (text != 'beta') and text\n"
    build.config("c", dataset_id="d", adapter=adapter(build.project, text), params={"provider": "python"})
    outcome = evh("run", "--config", "c")
    assert outcome.code == 3
    assert "1 item failed" in outcome.err
    assert "two" in outcome.err
    assert "ZeroDivisionError" in outcome.err


@pytest.mark.parametrize("hook", ["decide(output)", "score(output, reference)"])
def test_a_failing_scorer_takes_no_other_item_down(build: Builder, evh: CommandLine, hook: str) -> None:
    """decide or score raising on one output fails that row; the output is kept, to be scored again."""
    text = f"def {hook}:\n    if output == 'alpha':\n        raise KeyError('k')\n    return " + (
        "output\n" if hook.startswith("decide") else "{'correct': 0.0}\n"
    )
    name = adapter(build.project, text)
    build.config("c", dataset_id="d", adapter=name)
    outcome = evh("run", "--config", "c", "--labels", "d/s", "--json")
    assert outcome.code == 3
    assert [one["item_id"] for one in outcome.json["failed"]] == ["one"]
    adapter(build.project, "")
    run_id = outcome.json["runs"][0]["run_id"]
    again = evh.ok("rescore", "--run", run_id, "--labels", "d/s", "--json").json["runs"][0]
    assert (again["n_errors"], again["scores"]["correct"]) == (0, 0.5)


def test_a_failing_summary_does_not_lose_the_run(build: Builder, evh: CommandLine) -> None:
    """summarise raising leaves the run finished without its figures, and says so."""
    name = adapter(build.project, "def summarise(rows):\n    raise RuntimeError('no')\n")
    build.config("c", dataset_id="d", adapter=name)
    document = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json
    assert document["runs"][0]["scores"]["correct"] == 0.5
    assert "RuntimeError: no" in document["warnings"][0]


def test_an_item_that_is_not_utf8_fails_alone(project: Project, evh: CommandLine) -> None:
    """Bytes that are no text cannot be echoed: that item fails, the other is answered."""
    from evh.project import datasets
    from evh.records.dataset import Dataset, Item

    datasets.write_new(project, Dataset("d", (Item("a", ""), Item("b", ""))), {"a": b"\xff", "b": b"ok"})
    Builder(project).config("c", dataset_id="d")
    outcome = evh("run", "--config", "c", "--json")
    assert (outcome.code, outcome.json["runs"][0]["n_errors"]) == (3, 1)
    assert "not UTF-8" in outcome.json["failed"][0]["error"]


def test_command_gets_the_bytes_and_gives_its_stdout(build: Builder, evh: CommandLine) -> None:
    """The item is on stdin, stdout is the output; four run at once, and the rows keep the order."""
    command(build, "import sys\nsys.stdout.write(sys.stdin.read().upper())\n")
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    rows = rows_of(build.project, row)
    assert [one.decision for one in rows.values()] == ["ALPHA", "BETA", "GAMMA"]
    assert all(one.latency_ms > 0 for one in rows.values())
    identity = runs.read(build.project, row["run_id"]).fingerprint["system_under_test"]
    assert list(identity["command_files"]) == ["answer.py"]


def test_command_may_be_one_line(build: Builder, evh: CommandLine) -> None:
    """A command line is split as a shell would, and no shell is started."""
    build.config("c", dataset_id="d", params={"provider": "command", "command": "printf '%s' '$HOME x'"})
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    assert rows_of(build.project, row)["one"].decision == "$HOME x"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import sys\nsys.exit('broken ' * 3)", "the command ended with 1: broken broken broken"),
        ("import time\ntime.sleep(60)", "no answer within 0.5 s"),
        ("import sys\nsys.stdout.buffer.write(b'\\xff')", "the output is not UTF-8"),
    ],
)
def test_a_failing_command_is_that_items_error(
    build: Builder, evh: CommandLine, code: str, error: str
) -> None:
    """A code other than 0, a timeout, bytes that are no UTF-8: each is the item's error."""
    guarded = "import sys\nif sys.stdin.read() != 'beta':\n    print('fine')\n    sys.exit()\n" + code
    command(build, guarded, timeout_s=0.5 if "sleep" in code else 60)
    outcome = evh("run", "--config", "c", "--json")
    assert outcome.code == 3
    assert [one["item_id"] for one in outcome.json["failed"]] == ["two"]
    assert error in outcome.json["failed"][0]["error"]


def test_a_timeout_ends_what_the_command_started(build: Builder, evh: CommandLine) -> None:
    """A grandchild that holds the pipes open does not hold the run."""
    command(build, "import subprocess\nsubprocess.run(['sleep', '30'])\n", timeout_s=0.3)
    started = time.monotonic()
    assert evh("run", "--config", "c", "--json").code == 3
    assert time.monotonic() - started < 10


def test_recorded_reads_the_capture(project: Project, evh: CommandLine) -> None:
    """By the lineage's record, else by the bytes; no latency; what was not recorded is in no mean."""
    build = Builder(project)
    build.capture(
        "k",
        [
            {"record_id": "1", "item": "aa", "output": "yes"},
            {"record_id": "2", "item": "bb", "output": "no"},
            {"record_id": "3", "item": "cc"},
        ],
    )
    texts = {"a": "aa", "b": "bb", "c": "cc"}
    build.dataset("d", texts, lineage={"a": {"capture": "k", "record_id": "1"}})
    build.labels("d", "s", {"a": "yes", "b": "yes", "c": "yes"})
    build.config("c", dataset_id="d", params={"provider": "recorded", "capture": "k"})
    document = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json
    row = document["runs"][0]
    rows = rows_of(project, row)
    assert [one.decision for one in rows.values()] == ["yes", "no", None]
    assert rows["c"].error == "not recorded"
    assert all(one.latency_ms is None and one.cost_usd is None for one in rows.values())
    assert (row["scores"]["correct"], row["n_scored"], row["n_errors"]) == (0.5, 2, 1)
    assert row["derived"] == {"kind": "recorded", "from": "k"}


def test_recorded_never_trusts_another_captures_numbers(project: Project, evh: CommandLine) -> None:
    """Record 1 of another capture is another record: such an item is found by its bytes or not at all."""
    build = Builder(project)
    build.capture("k", [{"record_id": "1", "item": "aa", "output": "wrong"}])
    build.capture("other", [{"record_id": "1", "item": "bb", "output": "x"}])
    build.dataset("d", {"a": "aa", "b": "bb"}, lineage={"b": {"capture": "other", "record_id": "1"}})
    build.config("c", dataset_id="d", params={"provider": "recorded", "capture": "k"})
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    assert [one.error for one in rows_of(project, row).values()] == [None, "not recorded"]


def test_recorded_takes_a_named_key(project: Project, evh: CommandLine) -> None:
    """params.field names the record's key; a value that is no text is its compact JSON."""
    build = Builder(project)
    build.capture("k", [{"record_id": "1", "item": "aa", "was": {"b": 1, "a": 2}}])
    build.dataset("d", {"a": "aa"})
    build.config("c", dataset_id="d", params={"provider": "recorded", "capture": "k", "field": "was"})
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    assert rows_of(project, row)["a"].decision == '{"a":2,"b":1}'


def test_recorded_refuses_to_choose_between_two_records(project: Project, evh: CommandLine) -> None:
    """Two records of the same bytes with different outputs: the item fails, and neither is guessed."""
    build = Builder(project)
    build.capture(
        "k",
        [{"record_id": "1", "item": "aa", "output": "x"}, {"record_id": "2", "item": "aa", "output": "y"}],
    )
    build.dataset("d", {"a": "aa"})
    build.config("c", dataset_id="d", params={"provider": "recorded", "capture": "k"})
    outcome = evh("run", "--config", "c", "--json")
    assert outcome.code == 3
    row = outcome.json["runs"][0]
    assert "2 records of these bytes" in str(rows_of(project, row)["a"].error)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("error", ["Own('odd')", "GeneratorExit()", "Mute()"])
def test_whatever_an_adapter_raises_fails_that_item_alone(
    build: Builder, evh: CommandLine, error: str, threads: str
) -> None:
    """No exception of its code ends the run: the others are answered, and the run is finished."""
    text = f"""
class Own(BaseException):
    pass

class Mute(Exception):
    def __str__(self):
        raise ValueError

def call_system(text, params):
    if text == "beta":
        raise {error}
    return text
"""
    build.config("c", dataset_id="d", adapter=adapter(build.project, text), params={"provider": "python"})
    done = evh("run", "--config", "c", "--concurrency", threads, "--json")
    assert done.code == 3, done.err
    rows = rows_of(build.project, done.json["runs"][0])
    assert [one.decision for one in rows.values()] == ["alpha", None, "gamma"]
    assert error.partition("(")[0] in str(rows["two"].error)


def test_what_an_adapter_prints_is_not_in_the_document(build: Builder, evh: CommandLine) -> None:
    """stdout holds one JSON document, however talkative the project's code is."""
    code = "print('hello')\ndef call_system(text, params):\n    print('calling')\n    return text\n"
    build.config("c", dataset_id="d", adapter=adapter(build.project, code), params={"provider": "python"})
    outcome = evh.ok("run", "--config", "c", "--json")
    assert outcome.json["evh"] == "run/1"
    assert "calling" in outcome.err
