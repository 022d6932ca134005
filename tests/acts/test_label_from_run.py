"""``label-from-run``: a run's answers as a model set, and every run and answer that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from evh.acts.label_from_run import cut_off
from evh.project import labels, runs
from evh.project.find import Project
from evh.records.run import Prediction, Run
from evh.store.hashing import sha256
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

CLEAN = {"ref": "0123456789abcdef", "source": "checkout", "dirty": False}
WHEEL = {"ref": "0.6.0", "source": "wheel", "dirty": False}


@pytest.fixture
def builder(project: Project) -> Builder:
    """A dataset ``d`` of three items."""
    made = Builder(project)
    made.dataset("d", {"i1": "one", "i2": "two", "i3": "three"}, task="triage")
    return made


def write(project: Project, rows: list[Prediction], **more: Any) -> Run:
    """Write a finished run ``judge_1`` of the config ``judge`` on ``d``."""
    more.setdefault("build", CLEAN)
    made = Run("judge_1", "judge", "d", n_items=len(rows), **more)
    return runs.write_scored(project, made, rows)


def answer(item_id: str, text: str, **more: Any) -> Prediction:
    """Return a row whose output is ``text`` and whose decision is its first word."""
    more.setdefault("decision", text.split(" ", maxsplit=1)[0].rstrip())
    return Prediction(item_id, output=text, **more)


def take(evh: CommandLine, *words: str) -> Any:
    """Make the set ``d/m`` of the run and return its row of the document."""
    outcome = evh.ok("label-from-run", "--run", "judge_1", "--set", "m", "--json", *words)
    return check(outcome.json, "label-from-run")["label_sets"][0]


def refused(evh: CommandLine, code: str, *words: str) -> Any:
    """Return the refusal of the same command, after checking its code."""
    return evh.refused(code, "label-from-run", "--run", "judge_1", "--set", "m", *words).json["refused"]


def test_the_stored_decisions_become_the_labels(project: Project, builder: Builder, evh: CommandLine) -> None:
    """The label is the decision, not the sentence about it; the source says run, config and model."""
    write(
        project,
        [answer("i1", "file it"), answer("i2", "close at once"), Prediction("i3", error="timeout")],
        params={"model": "small-1", "max_tokens": 64},
        fingerprint={"version": 1, "hash": "f" * 64},
    )
    row = take(evh)
    assert (row["n_items"], row["of"], row["n_failed"], row["n_not_run"], row["written"]) == (
        2,
        3,
        1,
        0,
        True,
    )
    made = labels.read(project, "d", "m")
    assert labels.raw_texts(project, made) == {"i1": b"file", "i2": b"close"}
    assert made.source == {
        "kind": "model",
        "run_id": "judge_1",
        "config_id": "judge",
        "fingerprint": "f" * 64,
        "model": "small-1",
    }
    assert (made.task, made.by, made.items["i1"].sha256) == ("triage", "judge", sha256(b"one"))


def test_an_output_without_a_decision_is_taken_as_it_stands(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """A run made elsewhere stores none: its output counts, as a scorer reads it, and that is said."""
    write(project, [Prediction("i1", output="file\n"), Prediction("i2", output=" close \n\n")], build=WHEEL)
    outcome = evh.ok("label-from-run", "--run", "judge_1", "--set", "m")
    assert "2 answers without a stored decision" in outcome.err
    made = labels.read(project, "d", "m")
    assert labels.raw_texts(project, made) == {"i1": b"file", "i2": b" close \n\n"}


def test_an_accept_list_is_a_label_of_several_answers(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """A labelling arm may accept several answers: its list is stored in the one canonical form."""
    write(project, [Prediction("i1", output='{"accept":["b","a","b"]}')])
    take(evh)
    made = labels.read(project, "d", "m")
    assert labels.texts(project, made) == {"i1": '{"accept": ["a", "b"]}'}


def test_a_guideline_and_a_task_are_recorded(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Any
) -> None:
    """The labelling prompt is copied into the set and hashed; ``--task`` stands for the dataset's."""
    (tmp_path / "prompt.md").write_bytes(b"Say file or close.\n")
    write(project, [answer("i1", "file"), answer("i2", "close")])
    row = take(evh, "--guideline", str(tmp_path / "prompt.md"), "--task", "severity")
    assert (row["guideline"], row["task"]) == (True, "severity")
    made = labels.read(project, "d", "m")
    assert made.guideline == {"file": "~guideline.md", "sha256": sha256(b"Say file or close.\n")}
    assert labels.guideline(project, made) == b"Say file or close.\n"


def test_equal_bytes_with_two_answers_stay_unlabelled(project: Project, evh: CommandLine) -> None:
    """Two answers to one text: no label and a listed conflict, or one label that accepts both."""
    Builder(project).dataset("d", {"i1": "same", "i2": "same", "i3": "three"})
    write(project, [answer("i1", "file"), answer("i2", "close"), answer("i3", "file")])
    row = take(evh, "--dry-run")
    assert (row["n_items"], row["n_in_conflict"]) == (1, 2)
    evh.ok("label-from-run", "--run", "judge_1", "--set", "left")
    left = labels.read(project, "d", "left")
    assert (list(left.items), left.conflicts) == (["i3"], {sha256(b"same"): ["close", "file"]})
    assert take(evh, "--conflicts", "accept")["n_in_conflict"] == 0
    both = labels.read(project, "d", "m")
    assert labels.texts(project, both) == {
        "i1": '{"accept": ["close", "file"]}',
        "i2": '{"accept": ["close", "file"]}',
        "i3": "file",
    }


def test_an_arm_that_is_measured_on_its_own_labels_is_known(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """A set made of a run is that arm's own labels, on whichever run it is scored."""
    from evh.acts.sources import Sources

    run = write(project, [answer("i1", "file"), answer("i2", "close")])
    take(evh)
    sources = Sources(project)
    assert sources.made_from(run, "labels/d/m")
    assert not sources.made_from(Run("x", "other", "d"), "labels/d/m")


@pytest.mark.parametrize(
    ("code", "words", "more"),
    [
        ("unknown-build", "which build of evh made it is not on record", {"build": None}),
        ("unknown-build", "not on record", {"build": {"source": "checkout"}}),
        ("dirty-build", "no commit holds (0123456789ab)", {"build": {**CLEAN, "dirty": True}}),
        ("dirty-build", "no commit holds", {"build": {"ref": "x"}}),
        (
            "derived-run",
            "derived (rescored) from runs/a",
            {"derived": {"kind": "rescored", "from": "runs/a"}},
        ),
        ("derived-run", "production's own", {"derived": {"kind": "recorded", "from": "c"}}),
        ("derived-run", "production's own", {"params": {"provider": "recorded"}}),
        ("judged-run", "judgements", {"judged": {"scorer": "s"}}),
        ("changed-dataset", "held other items", {"fingerprint": {"data": {"items_sha256": "0" * 64}}}),
    ],
)
def test_a_run_that_is_no_models_own_is_refused(  # noqa: PLR0917 - a table's columns
    project: Project, builder: Builder, evh: CommandLine, code: str, words: str, more: dict[str, Any]
) -> None:
    """Another evh, another source, another dataset than it was: each is told with its way out."""
    write(project, [answer("i1", "file"), answer("i2", "close")], **more)
    before = tree_bytes(project.root)
    told = refused(evh, code)
    assert words in " ".join(told["why"])
    assert told["next"]
    assert tree_bytes(project.root) == before


def test_every_reason_of_a_run_is_told_at_once(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Derived and of an unknown build: two reasons."""
    write(project, [answer("i1", "file")], derived={"kind": "rescored", "from": "runs/a"}, build=None)
    assert len(refused(evh, "derived-run")["why"]) == 2


@pytest.mark.parametrize(
    ("code", "row"),
    [
        ("empty-output", Prediction("i1", output=" \n", decision="")),
        ("empty-output", Prediction("i1", output="something", decision=" ")),
        ("no-output", Prediction("i1")),
        ("bad-label", Prediction("i1", output='{"accept": []}')),
        ("cut-off", answer("i1", "file", hidden={"_meta": {"finish_reason": "length"}})),
        ("cut-off", answer("i1", "file", hidden={"_cut_off": True})),
        ("cut-off", answer("i1", "file", tokens_out=64)),
    ],
)
def test_an_answer_that_is_no_label_is_refused(
    project: Project, builder: Builder, evh: CommandLine, code: str, row: Prediction
) -> None:
    """Empty, not here, malformed, or ended by the limit of tokens: the item is named, nothing is written."""
    write(project, [row, answer("i2", "close", tokens_out=63)], params={"max_tokens": 64})
    told = refused(evh, code)
    assert [one.split(": ")[1] for one in told["why"]] == ["i1"]
    assert not (project.data / "labels").exists()


def test_all_bad_answers_are_told_at_once(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Three rows, three reasons of three kinds."""
    write(project, [Prediction("i1"), answer("i2", " "), answer("i3", "x", hidden={"_cut_off": True})])
    assert len(refused(evh, "bad-outputs")["why"]) == 3


def test_answers_that_were_cut_off_can_be_allowed(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """``--allow-cut-off`` takes them as they are, counted."""
    write(project, [answer("i1", "file", tokens_out=64), answer("i2", "close")], params={"max_tokens": 64})
    assert take(evh, "--allow-cut-off")["n_cut_off"] == 1


@pytest.mark.parametrize(
    ("row", "params", "cut"),
    [
        (Prediction("i", tokens_out=64), {"max_tokens": 64}, True),
        (Prediction("i", tokens_out=63), {"max_tokens": 64}, False),
        (Prediction("i", tokens_out=64), {}, False),
        (Prediction("i", tokens_out=64), {"max_tokens": "64"}, False),
        (Prediction("i", hidden={"_meta": {"stop_reason": "max_tokens"}}), {}, True),
        (Prediction("i", hidden={"_meta": {"finish_reason": "stop"}}), {}, False),
        (Prediction("i", extra={"finish_reason": "length"}), {}, True),
        (Prediction("i", hidden={"_cut_off": "yes"}), {}, False),
    ],
)
def test_what_tells_of_a_cut(row: Prediction, params: dict[str, Any], cut: bool) -> None:
    """The servers' own words, the mark, or as many tokens as were allowed."""
    assert (cut_off(row, params) is not None) == cut


def test_an_unfinished_run_is_refused(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Its folder is there and no metrics.json is: it is resumed first."""
    runs.begin(project, Run("judge_1", "judge", "d", build=CLEAN), {})
    assert "--resume" in refused(evh, "unfinished-run")["next"]


def test_what_is_not_there_or_there_already_is_refused(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """No such run, an existing set, a name that is none, and a run on which everything failed."""
    evh.refused("no-such-run", "label-from-run", "--run", "x", "--set", "m")
    write(project, [Prediction("i1", error="x")])
    refused(evh, "nothing-labelled")
    builder.labels("d", "m", {"i1": "file"})
    refused(evh, "existing-set")
    evh.refused("bad-id", "label-from-run", "--run", "judge_1", "--set", "a b")


def test_a_changed_output_is_refused(project: Project, builder: Builder, evh: CommandLine) -> None:
    """The output's bytes are not those that the run recorded."""
    row = Prediction("i1", output=None, decision="file", hidden={"_output_sha256": sha256(b"file")})
    run = write(project, [row])
    (runs.path_of(project, run) / "outputs").mkdir()
    (runs.path_of(project, run) / "outputs" / "i1.txt").write_bytes(b"close")
    refused(evh, "changed-bytes")


def test_people_are_told_the_next_steps(project: Project, builder: Builder, evh: CommandLine) -> None:
    """One line, and how to score against the set."""
    write(project, [answer("i1", "file"), answer("i2", "close")])
    out = evh.ok("label-from-run", "--run", "runs/judge_1", "--set", "m").out
    assert "labelled 2 of 3 items of d as d/m, by judge (0 failed, 1 not run, 0 in conflict)" in out
    assert "evh rescore --dataset-id d --labels d/m" in out
