"""`evh run`: each provider, what is kept, how a killed run goes on, and every refusal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate

import evh as package
from evh.acts import run as act
from evh.acts.run_budget import Budget
from evh.acts.run_keep import Answer, Keeper
from evh.errors import Refusal
from evh.project import configs, runs
from evh.project.find import Project
from evh.records.run import Prediction
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes

SCHEMA = json.loads((Path(package.__file__).parent / "schemas" / "run.json").read_text("utf-8"))
TEXTS = {"one": "alpha", "two": "beta", "three": "gamma"}
PYTHON = Path(sys.executable)


@pytest.fixture
def build(project: Project) -> Builder:
    """A project with the dataset ``d`` of three items and a person's labels of two of them."""
    made = Builder(project)
    made.dataset("d", TEXTS)
    made.labels("d", "s", {"one": "alpha", "two": "something else"})
    return made


def adapter(project: Project, text: str, name: str = "mine.py") -> str:
    """Write an adapter and return how a config names it."""
    folder = project.data / "adapters"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return f"../adapters/{name}"


def rows_of(project: Project, row: dict[str, Any]) -> dict[str, Any]:
    """Return a run's predictions by item."""
    run = runs.read(project, row["run_id"], folder=row["folder"])
    return {one.item_id: one for one in runs.predictions(project, run)}


# --- what is kept ---


def test_echo_answers_with_the_items_own_text(build: Builder, evh: CommandLine) -> None:
    """The output of each item is its bytes, kept under outputs/, and its decision stands in the row."""
    build.config("c", dataset_id="d")
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    folder = build.project.data / "runs" / row["run_id"]
    assert row["run_id"] == "c_20261101T080232Z"
    assert {path.name: path.read_bytes() for path in (folder / "outputs").iterdir()} == {
        "one.txt": b"alpha",
        "two.txt": b"beta",
        "three.txt": b"gamma",
    }
    assert [one.decision for one in rows_of(build.project, row).values()] == ["alpha", "beta", "gamma"]
    assert sorted(path.name for path in folder.iterdir()) == ["metrics.json", "outputs", "predictions.jsonl"]


def test_the_document_is_what_the_schema_says(build: Builder, evh: CommandLine) -> None:
    """`run --json` gives the documented keys and no others, dry or not."""
    build.config("c", dataset_id="d", labels="d/s")
    for words in ([], ["--dry-run"]):
        validate(evh.ok("run", "--config", "c", "--json", *words).json, SCHEMA)


def test_a_dry_run_writes_nothing(build: Builder, evh: CommandLine) -> None:
    """--dry-run says what would be written and leaves every file as it was."""
    build.config("c", dataset_id="d")
    before = tree_bytes(build.project.root)
    said = evh.ok("run", "--config", "c", "--dry-run").out
    assert "3 items of d" in said
    assert tree_bytes(build.project.root) == before


def test_items_without_a_label_are_not_scored(build: Builder, evh: CommandLine) -> None:
    """Of three items two are labelled, one of them right: the mean is 1 of 2; the third is decided."""
    build.config("c", dataset_id="d")
    row = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json["runs"][0]
    assert (row["against"], row["source"], row["n_scored"], row["n_items"]) == ("labels/d/s", "person", 2, 3)
    assert row["scores"]["correct"] == 0.5
    rows = rows_of(build.project, row)
    assert {item: one.scores.get("correct") for item, one in rows.items()} == {
        "one": 1.0,
        "two": 0.0,
        "three": None,
    }
    assert rows["three"].decision == "gamma"


def test_a_run_against_labels_lives_apart(build: Builder, evh: CommandLine) -> None:
    """A run measured against a label set goes to runs-labels-…, with its outputs and an id of its own."""
    build.config("c", dataset_id="d")
    first = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    row = evh.ok("run", "--config", "c", "--labels", "d/s", "--json").json["runs"][0]
    assert row["folder"] == "runs-labels-d-s"
    assert (build.project.data / row["folder"] / row["run_id"] / "outputs" / "one.txt").exists()
    assert row["run_id"] == f"{first['run_id']}-2"


def test_items_of_equal_bytes_share_a_label(project: Project, evh: CommandLine) -> None:
    """Two items of the same bytes are both scored by the one label."""
    build = Builder(project)
    build.dataset("d", {"a": "same", "b": "same", "c": "other"})
    build.labels("d", "s", {"a": "same"})
    build.config("c", dataset_id="d", labels="s")
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    assert (row["n_scored"], row["scores"]["correct"]) == (2, 1.0)


def test_the_configs_reference_is_the_default(build: Builder, evh: CommandLine) -> None:
    """A run against the reference that its config names stays in runs/ and records the tier."""
    build.reference("gold/g", build.labels("d", "t", {"three": "gamma"}))
    build.config("c", dataset_id="d", reference="gold/g")
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    assert (row["folder"], row["against"], row["tier"], row["scores"]["correct"]) == (
        "runs",
        "gold/g",
        "gold",
        1.0,
    )


def test_a_configs_labels_of_another_dataset_are_not_used(build: Builder, evh: CommandLine) -> None:
    """The labels that a config names score their own dataset; on another the run says they do not."""
    build.dataset("e", {"x": "y"})
    build.config("c", dataset_id="d", labels="d/s")
    document = evh.ok("run", "--config", "c", "--dataset-id", "e", "--json").json
    assert document["runs"][0]["against"] is None
    assert document["warnings"] == ["c names the labels d/s, of another dataset: not used"]


def test_what_it_was_fitted_on_is_kept_and_flagged(build: Builder, evh: CommandLine) -> None:
    """fitted_on goes into metrics.json, and the run says that its score there is no evidence."""
    build.config("c", dataset_id="d", labels="d/s", fitted_on=("d",))
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    assert row["fitted_here"] is True
    metrics = json.loads(
        (build.project.data / row["folder"] / row["run_id"] / "metrics.json").read_text("utf-8")
    )
    assert metrics["fitted_on"] == ["d"]


def test_the_first_items_alone(build: Builder, evh: CommandLine) -> None:
    """--limit 2 asks the first two items, and the fingerprint says so."""
    build.config("c", dataset_id="d")
    row = evh.ok("run", "--config", "c", "--limit", "2", "--json").json["runs"][0]
    assert list(rows_of(build.project, row)) == ["one", "two"]
    assert runs.read(build.project, row["run_id"]).fingerprint["data"]["limit"] == 2


def test_repeats_share_a_group(build: Builder, evh: CommandLine) -> None:
    """--repeat 3 writes three runs with ids of their own and one repeat_group."""
    build.config("c", dataset_id="d")
    rows = evh.ok("run", "--config", "c", "--repeat", "3", "--json").json["runs"]
    base = "c_20261101T080232Z"
    assert [row["run_id"] for row in rows] == [base, f"{base}-2", f"{base}-3"]
    assert {row["repeat_group"] for row in rows} == {base}


def test_two_runs_of_one_clock_are_equal_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the clock fixed, the same project gives the same files wherever it lies, measured times aside."""
    trees = []
    for name in ("here", "there"):
        root = tmp_path / name
        (root / "data").mkdir(parents=True)
        project = Project.find(home=root)
        build = Builder(project)
        build.dataset("d", TEXTS)
        build.labels("d", "s", {"one": "alpha"})
        code = "def call_system(text, params):\n    return text.upper()\n"
        build.config("c", dataset_id="d", adapter=adapter(project, code), params={"provider": "python"})
        act.commit(project, act.plan(project, configs.read(project, "c"), labels_ref="d/s"))
        kept = tree_bytes(root)
        trees.append({path: _unmeasured(data) for path, data in kept.items() if ".locks" not in path})
    assert trees[0] == trees[1]
    assert str(tmp_path).encode() not in b"".join(trees[0].values())


def _unmeasured(data: bytes) -> bytes:
    return re.sub(
        rb'"(?:latency_ms|p50|p95)":[^,}]*|"sha256": "[^"]*"', b"", data
    )  # the hash follows from the latencies


# --- providers ---


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
    validate(outcome.json, SCHEMA)
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


def command(build: Builder, code: str, **params: Any) -> None:
    """Write the arm ``c``: a command that runs ``code`` for each item."""
    (build.project.root / "answer.py").write_text(code, "utf-8")
    words = [str(PYTHON), "answer.py"]
    build.config("c", dataset_id="d", params={"provider": "command", "command": words, **params})


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


# --- going on after a kill ---

SLOW = """
import os, sys, time
item = sys.stdin.read()
with open("calls.log", "a") as log:
    log.write(item + "\\n")
while item.endswith("9") and not os.path.exists("go"):
    time.sleep(0.02)
print(item.upper(), end="")
"""


def test_a_killed_run_goes_on_and_asks_nothing_twice(project: Project, evh: CommandLine) -> None:
    """SIGKILL in the middle of a run: --resume asks only what had no answer, and the end is a whole run.

    The command hangs on every tenth item, so that at the kill some items are answered, some are being asked
    and some are not begun. Only those being asked may be asked again.
    """
    build = Builder(project)
    build.dataset("d", {f"i{number:02}": f"t{number:02}" for number in range(40)})
    command(build, SLOW)
    log = project.root / "calls.log"
    words = [str(PYTHON), "-c", "from evh.cli.main import main; main()", "-C", str(project.root)]
    environ = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    process = subprocess.Popen([*words, "run", "--config", "c", "--concurrency", "2"], env=environ)
    deadline = time.monotonic() + 60
    while not log.exists() or log.read_text("utf-8").count("9\n") < 2:  # both askers hang
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (project.root / "go").touch()
    begun = runs.unfinished(project)
    assert len(begun) == 1
    half = runs.running(project, begun[0])
    assert half is not None
    answered = {row.item_id for row in runs.running_rows(project, half)}
    assert 0 < len(answered) < 40

    listed = evh.ok("runs", "--json").json
    assert [one["n_answered"] for one in listed["unfinished"]] == [len(answered)]

    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert (row["run_id"], row["n_items"], row["n_errors"]) == (half.run_id, 40, 0)
    assert [one.decision for one in rows_of(project, row).values()] == [f"T{n:02}" for n in range(40)]
    calls = log.read_text("utf-8").split()
    twice = {text for text in calls if calls.count(text) > 1}
    assert twice <= {"t09", "t19"}  # asked when the kill came, and never answered
    assert {text.replace("t", "i") for text in twice}.isdisjoint(answered)
    assert len(set(calls)) == 40


def begun_run(build: Builder, answered: dict[str, str]) -> Path:
    """Begin a run of the arm ``c`` on ``d`` as a kill would leave it, with some items answered."""
    project = build.project
    plan = act.plan(project, configs.read(project, "c"))
    run = act._begin(project, plan, 1, None)
    with Keeper(project, plan, run) as keeper:
        for item in plan.items:
            if item.item_id in answered:
                keeper.keep(item, Answer(Prediction(item.item_id), answered[item.item_id]))
    return runs.path_of(project, run)


def test_a_resumed_run_keeps_what_was_answered(build: Builder, evh: CommandLine) -> None:
    """An answer that is on the disk is taken as it is; the others are asked."""
    build.config("c", dataset_id="d")
    folder = begun_run(build, {"two": "answered before"})
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert row["run_id"] == folder.name
    assert [one.decision for one in rows_of(build.project, row).values()] == [
        "alpha",
        "answered before",
        "gamma",
    ]
    assert not (folder / "running.json").exists()


def test_an_output_that_is_not_the_one_recorded_is_asked_again(build: Builder, evh: CommandLine) -> None:
    """A changed output is no answer: its row names another hash."""
    build.config("c", dataset_id="d")
    folder = begun_run(build, {"one": "kept", "two": "lost"})
    rows = (folder / "predictions.jsonl").read_bytes()
    (folder / "predictions.jsonl").write_bytes(rows.replace(b'"output":"lost"', b'"output":"changed"'))
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert [one.decision for one in rows_of(build.project, row).values()] == ["kept", "beta", "gamma"]


def test_outputs_in_files_are_taken_too(build: Builder, evh: CommandLine) -> None:
    """A run that was scored and killed before its commit point has its outputs in files, named by hash.

    The output that is no longer the one is asked again.
    """
    build.config("c", dataset_id="d")
    folder = begun_run(build, {"one": "kept", "two": "lost"})
    lines = (folder / "predictions.jsonl").read_bytes()
    (folder / "outputs").mkdir()
    for stem, text in (("one", b"kept"), ("two", b"")):
        (folder / "outputs" / f"{stem}.txt").write_bytes(text)
    bare = re.sub(rb'"output":"[a-z]*",?', b"", lines).replace(b",}", b"}")
    (folder / "predictions.jsonl").write_bytes(bare)
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert [one.decision for one in rows_of(build.project, row).values()] == ["kept", "beta", "gamma"]


def test_a_torn_last_row_is_passed_over(build: Builder, evh: CommandLine) -> None:
    """predictions.jsonl cut at every byte of its last line: the run goes on, and that item is asked again."""
    build.config("c", dataset_id="d")
    folder = begun_run(build, {"one": "kept", "two": "lost"})
    whole = (folder / "predictions.jsonl").read_bytes()
    first = whole.index(b"\n") + 1
    state = tree_bytes(build.project.data)
    for cut in range(first, len(whole), 7):
        (folder / "predictions.jsonl").write_bytes(whole[:cut])
        row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
        assert [one.decision for one in rows_of(build.project, row).values()] == ["kept", "beta", "gamma"]
        (folder / "metrics.json").unlink()
        for path, data in state.items():
            (build.project.data / path).write_bytes(data)


def test_a_kill_before_the_commit_point_loses_nothing(build: Builder, evh: CommandLine) -> None:
    """Final rows without metrics.json are an unfinished run: it goes on and asks nothing."""
    code = """
def call_system(text, params):
    with open(params["log"], "a") as log:
        log.write(text + ";")
    return text
"""
    log = build.project.root / "log"
    params = {"provider": "python", "log": str(log)}
    build.config("c", dataset_id="d", adapter=adapter(build.project, code), params=params)
    plan = act.plan(build.project, configs.read(build.project, "c"))
    run = act._begin(build.project, plan, 1, None)
    beginning = (runs.path_of(build.project, run) / "running.json").read_bytes()
    act._run(build.project, plan, run, Budget(None))
    (runs.path_of(build.project, run) / "metrics.json").unlink()
    (runs.path_of(build.project, run) / "running.json").write_bytes(beginning)
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert row["run_id"] == run.run_id
    assert log.read_text("utf-8") == "alpha;beta;gamma;"


def test_a_run_that_is_going_on_is_not_taken_over(build: Builder, evh: CommandLine) -> None:
    """While one process runs, another's --resume is refused and told who holds it."""
    from evh.store.locks import held

    build.config("c", dataset_id="d")
    folder = begun_run(build, {})
    with held(build.project.locks, folder / "predictions.jsonl"):
        outcome = evh.refused("locked", "run", "--config", "c", "--resume")
    assert str(os.getpid()) in outcome.out


def test_an_unfinished_run_is_told_of(build: Builder, evh: CommandLine) -> None:
    """Without --resume a new run begins, and the unfinished one is named."""
    build.config("c", dataset_id="d")
    folder = begun_run(build, {"one": "x"})
    document = evh.ok("run", "--config", "c", "--json").json
    assert document["runs"][0]["run_id"] == f"{folder.name}-2"
    assert folder.name in document["warnings"][0]
    assert "evh run --config c --dataset-id d --resume" in evh.ok("runs").out


def test_a_resumed_repeat_makes_the_rest(build: Builder, evh: CommandLine) -> None:
    """Killed in the second of three repeats: --resume finishes it and makes the third, in the same group."""
    build.config("c", dataset_id="d", repeats=3)
    plan = act.plan(build.project, configs.read(build.project, "c"))
    ended = act._run(build.project, plan, act._begin(build.project, plan, 1, None), Budget(None))
    first = ended.run
    act._begin(build.project, plan, 2, first.repeat_group)
    rows = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"]
    assert [row["run_id"] for row in rows] == [f"{first.run_id}-2", f"{first.run_id}-3"]
    assert {row["repeat_group"] for row in rows} == {first.run_id}


# --- refusals ---


def unchanged(build: Builder, evh: CommandLine, code: str, *words: str) -> str:
    """Run a command line that must be refused, see that nothing was written, and return what it told."""
    before = tree_bytes(build.project.root)
    outcome = evh.refused(code, *words)
    assert tree_bytes(build.project.root) == before
    return outcome.out


def test_an_unknown_config_is_refused(build: Builder, evh: CommandLine) -> None:
    """The names that are there are told."""
    build.config("carol", dataset_id="d")
    assert "carol" in unchanged(build, evh, "no-such-config", "run", "--config", "carl")


def test_an_unknown_dataset_is_refused(build: Builder, evh: CommandLine) -> None:
    """So is a config that names no dataset, when none is given."""
    build.config("c")
    unchanged(build, evh, "no-such-dataset", "run", "--config", "c", "--dataset-id", "x")
    unchanged(build, evh, "no-dataset", "run", "--config", "c")


def test_a_missing_adapter_or_prompt_is_refused_with_all_reasons(build: Builder, evh: CommandLine) -> None:
    """A missing adapter and a missing prompt are told at once."""
    params = {"provider": "echo", "prompt_file": "../prompts/p.txt"}
    build.config("c", dataset_id="d", adapter="../adapters/gone.py", params=params)
    out = unchanged(build, evh, "cannot-run", "run", "--config", "c")
    assert "gone.py" in out
    assert "../prompts/p.txt" in out
    build.config("c2", dataset_id="d", adapter="../adapters/gone.py")
    unchanged(build, evh, "no-such-adapter", "run", "--config", "c2")
    build.config("c3", dataset_id="d", params=params)
    unchanged(build, evh, "no-such-prompt", "run", "--config", "c3")


def test_a_prompt_is_part_of_the_fingerprint(build: Builder, evh: CommandLine) -> None:
    """The prompt file's sha256 stands in the run's settings."""
    (build.project.data / "prompts").mkdir()
    (build.project.data / "prompts" / "p.txt").write_bytes(b"")
    build.config("c", dataset_id="d", params={"provider": "echo", "prompt_file": "../prompts/p.txt"})
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    # sha256 of no bytes, as published everywhere
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert runs.read(build.project, row["run_id"]).params["prompt_sha256"] == empty


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"provider": "openai", "model": "m"}, "no-base-url"),
        ({"provider": "martian"}, "unknown-provider"),
        ({"model": "m"}, "unknown-provider"),
        ({"provider": "python"}, "no-call-system"),
        ({"provider": "command"}, "bad-command"),
        ({"provider": "command", "command": "no-such-program-here"}, "bad-command"),
        ({"provider": "command", "command": "'open"}, "bad-command"),
        ({"provider": "command", "command": "true", "timeout_s": 0}, "bad-command"),
        ({"provider": "recorded"}, "bad-recorded"),
        ({"provider": "recorded", "capture": "gone"}, "no-such-capture"),
    ],
)
def test_a_provider_that_cannot_run_is_refused(
    build: Builder, evh: CommandLine, params: dict[str, Any], code: str
) -> None:
    """Before anything is written, with what to mend."""
    build.config("c", dataset_id="d", params=params)
    unchanged(build, evh, code, "run", "--config", "c")


def test_a_capture_of_other_items_is_refused(build: Builder, evh: CommandLine) -> None:
    """A recorded arm over a dataset of which nothing was recorded is a mistake, not a run of failures."""
    build.capture("k", [{"record_id": "1", "item": "zz", "output": "x"}])
    build.config("c", dataset_id="d", params={"provider": "recorded", "capture": "k"})
    unchanged(build, evh, "nothing-recorded", "run", "--config", "c")


def test_labels_of_another_dataset_are_refused(build: Builder, evh: CommandLine) -> None:
    """They are promoted first, and the command for it is given."""
    build.dataset("e", {"one": "alpha"})
    build.labels("e", "t", {"one": "alpha"})
    build.config("c", dataset_id="d")
    out = unchanged(build, evh, "other-dataset", "run", "--config", "c", "--labels", "e/t")
    assert "evh reference-promote --dataset-id d --labels e/t" in out
    unchanged(build, evh, "no-such-label-set", "run", "--config", "c", "--labels", "d/nope")


def test_an_edited_label_set_is_refused(build: Builder, evh: CommandLine) -> None:
    """Scoring recomputes the set's digest: a label that was edited in place is found."""
    build.config("c", dataset_id="d")
    (build.project.data / "labels" / "d" / "s" / "one.txt").write_bytes(b"edited")
    unchanged(build, evh, "edited-set", "run", "--config", "c", "--labels", "d/s")


def test_changed_item_bytes_are_refused(build: Builder, evh: CommandLine) -> None:
    """An item whose bytes are not those the dataset recorded is not asked."""
    build.config("c", dataset_id="d")
    (build.project.data / "sources" / "d" / "one.txt").write_bytes(b"edited")
    evh.refused("item-bytes", "run", "--config", "c")


def test_resume_with_nothing_to_resume_is_refused(build: Builder, evh: CommandLine) -> None:
    """A finished run is never added to."""
    build.config("c", dataset_id="d")
    evh.ok("run", "--config", "c")
    unchanged(build, evh, "nothing-to-resume", "run", "--config", "c", "--resume")
    unchanged(build, evh, "resume-as-begun", "run", "--config", "c", "--resume", "--limit", "1")


def test_resume_as_another_arm_is_refused_with_both_named(build: Builder, evh: CommandLine) -> None:
    """A config that changed since the run began: both fingerprints are told, and where they differ."""
    build.config("c", dataset_id="d", params={"provider": "echo", "temperature": 0})
    folder = begun_run(build, {"one": "x"})
    path = build.project.data / "configs" / "c.yaml"
    path.write_bytes(path.read_bytes().replace(b"temperature: 0", b"temperature: 1"))
    before = json.loads((folder / "running.json").read_bytes())["fingerprint"]["hash"]
    out = unchanged(build, evh, "other-fingerprint", "run", "--config", "c", "--resume")
    assert before in out
    assert "system_under_test.params.temperature: 0 → 1" in out


def test_what_an_adapter_prints_is_not_in_the_document(build: Builder, evh: CommandLine) -> None:
    """stdout holds one JSON document, however talkative the project's code is."""
    code = "print('hello')\ndef call_system(text, params):\n    print('calling')\n    return text\n"
    build.config("c", dataset_id="d", adapter=adapter(build.project, code), params={"provider": "python"})
    outcome = evh.ok("run", "--config", "c", "--json")
    assert outcome.json["evh"] == "run/1"
    assert "calling" in outcome.err


def test_many_items_are_parquet_with_their_outputs(project: Project, evh: CommandLine) -> None:
    """Over 5,000 rows the predictions are Parquet and hold the outputs; scoring again reads them."""
    build = Builder(project)
    build.dataset("d", {f"i{number}": f"t{number}" for number in range(5_001)})
    build.labels("d", "s", {"i7": "t7", "i8": "no"})
    build.config("c", dataset_id="d")
    row = evh.ok("run", "--config", "c", "--json").json["runs"][0]
    folder = project.data / "runs" / row["run_id"]
    assert sorted(path.name for path in folder.iterdir()) == ["metrics.json", "predictions.parquet"]
    again = evh.ok("rescore", "--run", row["run_id"], "--labels", "d/s", "--json").json["runs"][0]
    assert (again["n_scored"], again["scores"]["correct"], again["n_errors"]) == (2, 0.5, 0)
    third = evh.ok("rescore", "--run", f"runs-labels-d-s/{row['run_id']}", "--labels", "d/s", "--json").json
    assert third["runs"][0]["derived"]["from"] == f"runs/{row['run_id']}"


def test_an_interrupted_run_goes_on(project: Project, evh: CommandLine) -> None:
    """Ctrl-C ends the commands that still run, exits 130 at once, and leaves a run that can go on."""
    build = Builder(project)
    build.dataset("d", {f"i{number:02}": f"t{number:02}" for number in range(20)})
    command(build, SLOW)
    log = project.root / "calls.log"
    words = [str(PYTHON), "-c", "from evh.cli.main import main; main()", "-C", str(project.root)]
    environ = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    process = subprocess.Popen([*words, "run", "--config", "c"], env=environ, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not log.exists() or log.read_text("utf-8").count("9\n") < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(timeout=120) == 130
    finally:
        process.kill()
        process.wait()
    (project.root / "go").touch()
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert (row["n_items"], row["n_errors"]) == (20, 0)


# --- a config that says something else than was meant ---


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("adaptr: x.py\nparams: {provider: echo}\n", "adaptr: is not known; adapter is"),
        ("params: {provder: echo}\n", "params.provder: is not known; provider is"),
        ("params: {provider: recorded, capure: k}\n", "params.capure: is not known; capture is"),
        ("provider: echo\n", "provider: stands at the top; it belongs under params"),
    ],
)
def test_a_key_that_is_nearly_known_is_refused_by_name(
    build: Builder, evh: CommandLine, text: str, told: str
) -> None:
    """Before anything runs, and only then: the config is still listed."""
    configs.path_of(build.project, "c").parent.mkdir()
    configs.path_of(build.project, "c").write_text(f"config_id: c\ndataset_id: d\n{text}")
    why = evh.refused("unknown-key", "run", "--config", "c").json["refused"]["why"]
    assert f"data/configs/c.yaml: {told}" in why
    assert configs.read(build.project, "c").config_id == "c"


def test_keys_of_the_adapters_own_are_left_alone(build: Builder, evh: CommandLine) -> None:
    """A parameter that no provider reads, and a note: both are the user's."""
    build.config(
        "c", dataset_id="d", params={"provider": "echo", "timeout": 3, "prompts": 2}, extra={"owner": "me"}
    )
    evh.ok("run", "--config", "c")


def test_a_file_that_names_another_config_is_refused(build: Builder, evh: CommandLine) -> None:
    """copy.yaml, copied from c.yaml with its config_id, would run as c."""
    path = build.config("c", dataset_id="d")
    path.with_name("copy.yaml").write_bytes(path.read_bytes())
    refused = evh.refused("other-config", "run", "--config", "copy").json["refused"]
    assert refused["why"] == ["data/configs/copy.yaml: config_id: is 'c', and the file is named 'copy'"]


def test_python_without_an_adapter_says_that_none_is_named(build: Builder, evh: CommandLine) -> None:
    """Neither the config nor the project names one; a bundled one that is named is told by its name."""
    build.config("c", dataset_id="d", params={"provider": "python"})
    refused = evh.refused("no-call-system", "run", "--config", "c").json["refused"]
    assert "neither the config nor evh.toml names one" in refused["why"][0]
    assert refused["next"] == "evh help adapters"
    build.config("e", dataset_id="d", adapter="classification", params={"provider": "python"})
    why = evh.refused("no-call-system", "run", "--config", "e").json["refused"]["why"]
    assert "the bundled adapter 'classification' has none" in why[0]


def test_a_missing_adapter_is_told_at_the_places_it_is_written_for(build: Builder, evh: CommandLine) -> None:
    """Beside the config, then the project, as paths in the project."""
    build.config("c", dataset_id="d", adapter="nope.py")
    why = evh.refused("no-such-adapter", "run", "--config", "c").json["refused"]["why"]
    assert why == ["data/configs/nope.py: no such file", "nope.py: no such file"]


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


@pytest.mark.parametrize("repeats", ["0", "-1", "101", "1000000000", "1.5"])
def test_repeats_are_1_to_100(build: Builder, evh: CommandLine, repeats: str) -> None:
    """In the config: refused with the key; nothing is run."""
    folder = build.project.data / "configs"
    folder.mkdir()
    (folder / "c.yaml").write_text(f"dataset_id: d\nrepeats: {repeats}\nparams:\n  provider: echo\n", "utf-8")
    why = evh.refused("bad-record", "run", "--config", "c").json["refused"]["why"]
    assert why[0].startswith("data/configs/c.yaml: repeats: ")
    assert not (build.project.data / "runs").exists()


def test_repeat_is_1_to_100(build: Builder, evh: CommandLine) -> None:
    """As an option, and where the plan is asked from Python."""
    build.config("c", dataset_id="d")
    assert evh("run", "--config", "c", "--repeat", "101").code == 2
    with pytest.raises(Refusal, match="--repeat 0: it can be 1 to 100"):
        act.plan(build.project, configs.read(build.project, "c"), repeat=0)


def test_a_folder_of_other_things_takes_no_runs(
    build: Builder, evh: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EVAL_RUNS_DIR at somebody's files: refused before a byte is written; runs and an empty folder do."""
    build.config("c", dataset_id="d")
    place = tmp_path / "elsewhere"
    (place / "photos").mkdir(parents=True)
    (place / "photos" / "one.jpg").write_bytes(b"x")
    monkeypatch.setenv("EVAL_RUNS_DIR", str(place))
    before = tree_bytes(tmp_path)
    why = evh.refused("not-a-runs-folder", "run", "--config", "c").json["refused"]["why"]
    assert why == [f"{place / 'photos'}: is no folder of a run"]
    assert tree_bytes(tmp_path) == before
    (place / "photos" / "one.jpg").unlink()
    evh.ok("run", "--config", "c")
    evh.ok("run", "--config", "c")
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("EVAL_RUNS_DIR", str(tmp_path / "file"))
    evh.refused("not-a-runs-folder", "run", "--config", "c")
