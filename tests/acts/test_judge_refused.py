"""What cannot be judged is refused, and what a judge should not judge is told."""

from __future__ import annotations

import pytest

from evh.project.find import Project
from tests.acts.judging import (
    PAIRWISE,
    arms,
    good,
    judge,
    judge_file,
    model,
    prompt_of,
    two_arms,
)
from tests.conftest import CommandLine, Outcome
from tests.helpers import tree_bytes
from tests.schema import check
from tests.servers.scripted import Scripted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("kind: pairwise\n", "judges: names no config"),
        ("kind: rank\njudges: [m]\n", "kind: is 'rank'"),
        ("kind: pairwise\njudges: [m]\nrubric: x\nrubric_file: y\n", "give a rubric or a rubric_file"),
        ("kind: grade\njudges: [m]\nscale: 5..1\n", "scale: 5 is not below 1"),
        ("kind: grade\njudges: [m]\nscale: high\n", "scale: is no scale"),
        ("kind: pick\njudges: [m]\nscale: 1..5\n", "a pick judge gives no grades"),
        ("kind: grade\njudges: [m]\ndimensions: [Not So]\n", "dimensions: 'Not So' is no name"),
        ("kind: grade\njudges: [m]\ncombine: majority\n", "grades are combined by their mean"),
        ("kind: pairwise\njudges: [m, m]\n", "names a config twice"),
        ("kind: pairwise\njudges: [m]\nrepeats: 0\n", "repeats: is 0"),
        ("kind: pairwise\njudges: [m]\nvalidated_by: {run: r}\n", "rubric_sha256 is not a text"),
    ],
)
def test_a_judge_that_cannot_be_read_is_refused(
    project: Project, evh: CommandLine, text: str, reason: str
) -> None:
    """Each wrong key is told, and nothing is written."""
    two_arms(project, ("i00",))
    judge_file(project, text)
    before = tree_bytes(project.root)
    found = evh.refused("bad-record", "judge", "--scorer", "helpful", "--dataset-id", "d")
    assert reason in found.out
    assert tree_bytes(project.root) == before


def refusal(evh: CommandLine, code: str, *more: str) -> Outcome:
    """Judge, which must be refused."""
    return evh.refused(code, "judge", "--scorer", "helpful", "--dataset-id", "d", *more)


def test_what_cannot_be_judged_is_refused(project: Project, evh: CommandLine) -> None:
    """No such judge or rubric; one arm alone; a config that is none, that replays, or has its own prompt."""
    builder = two_arms(project, ("i00",))
    refusal(evh, "no-such-judge")
    path = judge_file(project, PAIRWISE)
    refusal(evh, "no-such-config")
    builder.config("m", params={"provider": "recorded", "capture": "c"})
    refusal(evh, "no-judge")
    model(builder, "http://127.0.0.1:9/v1", "own", prompt="Judge {{item}}")
    path.write_text(path.read_text().replace("[m]", "[own]"))
    refusal(evh, "judge-prompt")
    refusal(evh, "cannot-judge", "--runs", "arm_a")
    refusal(evh, "cannot-judge", "--runs", "arm_a,arm_a")
    refusal(evh, "unknown-arm", "--runs", "arm_a,nobody")
    refusal(evh, "cannot-judge", "--max-cost", "0")
    path.write_text("scorer: helpful\nkind: pairwise\nrubric_file: gone.md\njudges: [m]\n")
    refusal(evh, "no-such-rubric")
    path.write_text("scorer: other\nkind: pairwise\nrubric: x\njudges: [m]\n")
    refusal(evh, "other-judge")


def test_a_rubric_file_is_read_beside_the_judge(project: Project, evh: CommandLine) -> None:
    """Its text is asked; one that leads out of the project is refused."""
    builder = two_arms(project, ("i00",))
    judge_file(project, "kind: pairwise\nrubric_file: rubric.md\njudges: [m]\n")
    (project.data / "judges" / "rubric.md").write_text("The one that is good.\n")
    with Scripted(good) as server:
        model(builder, server.base_url)
        judge(evh)
        assert "RUBRIC\nThe one that is good.\n" in prompt_of(server.requests[0])
    judge_file(project, "kind: pairwise\nrubric_file: ../../../etc/passwd\njudges: [m]\n")


def test_validate_reads_judges_and_their_verdicts(project: Project, evh: CommandLine) -> None:
    """A judge that cannot be read, a rubric that is gone and a broken verdict are each a finding."""
    two_arms(project, ("i00",))
    judge_file(project, PAIRWISE, "fine")
    judge_file(project, "kind: rank\njudges: [m]\n", "broken")
    judge_file(project, "kind: pick\nrubric_file: gone.md\njudges: [m]\n", "gone")
    place = project.data / "runs-judged" / "fine"
    place.mkdir(parents=True)
    (place / "~verdicts.jsonl").write_text('{"key": "k"}\nnot json\n{"key"')
    found = check(evh("validate", "--json").json, "validate")
    told = {(one["code"], one["file"]) for one in found["findings"]}
    assert told >= {
        ("bad-record", "data/judges/broken.yaml"),
        ("no-such-rubric", "data/judges/gone.yaml"),
        ("bad-jsonl", "data/runs-judged/fine/~verdicts.jsonl"),
    }
    assert found["checked"]["judges"] == 2


def test_a_judge_of_its_own_outputs_is_told(project: Project, evh: CommandLine) -> None:
    """An arm whose model is the judge's own is named: models are known to favour what they wrote."""
    builder = arms(project, {"y": {"i": "bad"}})
    builder.run("x", "d", {"i": "good"}, params={"provider": "openai", "model": "m"})
    judge_file(project, PAIRWISE)
    with Scripted(good) as server:
        model(builder, server.base_url)
        told = judge(evh)
    assert told["warnings"] == ["m judges outputs of its own model 'm': x"]


def test_runs_judged_together_are_no_arms(project: Project, evh: CommandLine) -> None:
    """A judged run is never taken for a run of the arm: it is not scored again and not judged itself."""
    builder = two_arms(project, ("i00",))
    judge_file(project, PAIRWISE)
    with Scripted(good) as server:
        model(builder, server.base_url)
        judge(evh)
        assert judge(evh)["runs"][0]["of"] == "runs/arm_a_20261001T000000Z"
