"""A log of another tool, or a CSV, becomes a run once; what does not fit is told, and nothing is written."""

from __future__ import annotations

import pytest

from evh.project import imported, runs
from evh.project.find import Project
from evh.store import spreadsheet
from tests.acts.tool_logs import (
    inspect_log,
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
from tests.schema import check


@pytest.fixture
def d(project: Project) -> Builder:
    """The project of `three_reports`."""
    return three_reports(project)


def test_csv_becomes_a_run(d: Builder, project: Project, evh: CommandLine) -> None:
    """Every other column is a metric; an empty cell is none, "true" is 1."""
    text = "item_id,output,correct,judge,latency_ms\ni1,file,true,0.5,120\ni3,=1+1,false,,\n"
    evh.ok(*words(put(project, "s.csv", text), "csv"))
    run, rows, outputs = only(project)
    assert outputs == {"i1": "file", "i3": "=1+1"}
    assert rows["i1"].scores == {"correct": 1.0, "judge": 0.5}
    assert rows["i3"].scores == {"correct": 0.0}
    assert (rows["i1"].latency_ms, run.scores) == (120.0, {"correct": 0.5, "judge": 0.5})


def test_csv_that_a_spreadsheet_shortened_is_refused(d: Builder, project: Project, evh: CommandLine) -> None:
    """A cut output is another output; so is one that is not the text of its hash."""
    cut = f"item_id,output\ni1,file{spreadsheet.SHORTENED}\n"
    evh.refused("bad-csv", *words(put(project, "s.csv", cut), "csv"))
    other = f"item_id,output,output_sha256\ni1,file,{'0' * 64}\n"
    evh.refused("bad-csv", *words(put(project, "s.csv", other), "csv"))


@pytest.mark.parametrize(
    ("text", "code", "words_told"),
    [
        ("item_id,output,m\ni9,x,1\n", "unknown-item", "there is no item 'i9' in d"),
        ("item_id,output,m\ni1,x,1\ni1,y,0\n", "doubled-item", "i1: it stands in"),
        ("item_id,output,m\ni1,x,nan\n", "not-finite", "m: is the number nan, not a finite number"),
        ("item_id,output,m\ni1,x,-inf\n", "not-finite", "m: is the number -inf, not a finite number"),
        ("item_id,output,m\ni1,x,good\n", "bad-csv", "m: 'good' is no number"),
        ("item_id,m\ni1,1\n", "bad-csv", "no column output"),
        ("output,m\nx,1\n", "bad-csv", "neither a column item_id nor a column item"),
        ("item_id,output,m\n", "nothing-in-it", "no item is in it"),
        ("item,output,m\nnot here,x,1\n", "unknown-item", "none of its texts are the bytes of an item"),
        ("item_id,item_sha256,output\ni1," + "0" * 64 + ",x\n", "changed-item", "item_sha256"),
    ],
)
def test_what_does_not_fit_is_refused(
    text: str, code: str, words_told: str, *, d: Builder, project: Project, evh: CommandLine
) -> None:
    """With the row it is about, and nothing is written."""
    path = put(project, "s.csv", text)
    before = tree_bytes(project.data)
    told = evh.refused(code, *words(path, "csv")).json["refused"]
    assert any(words_told in reason for reason in told["why"]), told
    assert tree_bytes(project.data) == before


def test_every_reason_is_told_at_once(d: Builder, project: Project, evh: CommandLine) -> None:
    """Three rows, three different things wrong."""
    path = put(project, "s.csv", "item_id,output,m\ni9,x,1\ni1,x,nan\ni1,y,1\n")
    assert len(evh.refused("bad-log", *words(path, "csv")).json["refused"]["why"]) == 3


def test_an_id_that_means_another_items_text_is_refused(
    d: Builder, project: Project, evh: CommandLine
) -> None:
    """A sample called i1 that shows the text of i2: either may be meant."""
    log = inspect_log(sample("i1", 1, "file", {"match": "C"}, input="report 2"))
    told = evh.refused("changed-text", *words(put(project, "log.json", log), "inspect")).json["refused"]
    assert "its text is that of i2" in told["why"][0]


def test_a_second_import_of_one_log_is_refused(d: Builder, project: Project, evh: CommandLine) -> None:
    """The same file as the same arm twice would count twice; as another arm it is another run."""
    path = put(project, "s.csv", "item_id,output\ni1,x\n")
    evh.ok(*words(path, "csv"))
    evh.refused("existing-run", *words(path, "csv"))
    evh.ok(*words(path, "csv")[:-1], "arm2")


def test_half_an_import_goes_on(d: Builder, project: Project, evh: CommandLine) -> None:
    """Of two repeats one is there, as a kill between them leaves it: the other is made, in the same group."""
    path = put(
        project,
        "log.json",
        inspect_log(sample("i1", 1, "a", {"match": "C"}), sample("i1", 2, "b", {"match": "I"})),
    )
    evh.ok(*words(path, "inspect"))
    first, second = runs.read_all(project)
    for file in sorted(runs.path_of(project, second).rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    made = evh.ok(*words(path, "inspect"), "--json").json
    assert made["there"] == [first.key]
    assert [run["repeat_group"] for run in made["runs"]] == [first.run_id]
    assert [run.scores for run in runs.read_all(project)] == [{"match": 1.0}, {"match": 0.0}]


def test_hostile_names_and_texts_stay_data(d: Builder, project: Project, evh: CommandLine) -> None:
    """A metric that evh keeps for itself is counted and left out; a lone surrogate spoils one item."""
    log = promptfoo(
        result({"item_id": "i1"}, "\ud800", namedScores={}),
        result({"item_id": "i2"}, "<script>", namedScores={"_x": 1, "latency_ms": 1, "item_id": 1, "ok": 1}),
    )
    evh.ok(*words(put(project, "results.json", log), "promptfoo"))
    run, rows, outputs = only(project)
    assert "lone surrogate" in rows["i1"].error
    assert outputs == {"i2": "<script>"}
    assert rows["i2"].scores == {"pass": 1.0, "score": 1, "ok": 1}
    assert dict(imported.of_run(run) or {})["dropped"] == {
        "metric whose name evh keeps for something else": 3
    }


def test_an_imported_run_is_scored_again_against_labels(
    d: Builder, project: Project, evh: CommandLine
) -> None:
    """Its outputs are there, so `rescore` holds them against a label set; the tool's scores stay apart."""
    d.labels("d", "ann", {"i1": "file", "i2": "close"})
    path = put(project, "s.csv", "item_id,output,judge\ni1,file,0.1\ni2,file,0.2\n")
    run_id = evh.ok(*words(path, "csv"), "--json").json["runs"][0]["run_id"]
    evh.ok("rescore", "--run", run_id, "--labels", "d/ann")
    scored = next(run for run in runs.read_all(project) if run.labels == "d/ann")
    assert scored.scores["correct"] == 0.5
    assert "judge" not in scored.scores
    assert evh.ok("inspect", "--sheet", "--dataset-id", "d", "--runs", "arm").code == 0


def test_dry_run_writes_nothing(d: Builder, project: Project, evh: CommandLine) -> None:
    """The plan is told, the tree stays."""
    path = put(project, "s.csv", "item_id,output,m\ni1,x,1\n")
    before = tree_bytes(project.data)
    made = evh.ok(*words(path, "csv"), "--dry-run", "--json").json
    check(made, "import-run")
    assert (made["runs"][0]["written"], made["runs"][0]["run_id"]) == (False, None)
    assert tree_bytes(project.data) == before


@pytest.mark.parametrize("tool", ["promptfoo", "inspect", "lm-eval", "openai-evals", "csv"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"[",
        b'{"a": 1, "a": 2}',
        b"null",
        b"[" * 5000,
        b'{"results": 5}',
        b'{"eval": []}',
    ],
)
def test_no_file_is_a_traceback(
    tool: str, data: bytes, d: Builder, project: Project, evh: CommandLine
) -> None:
    """Whatever lies in the file, the answer is a refusal."""
    path = project.root / "log"
    path.write_bytes(data)
    outcome = evh(*words(path, tool), "--json")
    assert outcome.code == 1
    check(outcome.json, "refused")
