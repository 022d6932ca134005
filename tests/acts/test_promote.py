"""Promotion: one baseline a goal, with its reason, the one before it archived; and every refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.project import baselines
from evh.project.find import Project
from tests.acts.deciding import AGAINST, LABELS, labelled, put, write, wrong_on
from tests.conftest import NOW, CommandLine
from tests.helpers import Builder, correct, tree_bytes
from tests.schema import check

AT = "20261001T000000Z"


@pytest.fixture
def build(project: Project) -> Builder:
    """A dataset of 40 items that a person labelled, three arms on it, and a goal."""
    made = labelled(project)
    put(made, "a", wrong_on(0))
    put(made, "b", wrong_on(1))
    put(made, "c", wrong_on(*range(20)))
    write(project, "metric: correct\n")
    return made


def kept(evh: CommandLine) -> dict[str, bytes]:
    """Return the files of the project, locks aside."""
    return {name: data for name, data in tree_bytes(evh.root / "data").items() if ".locks" not in name}


def refused(evh: CommandLine, code: str, *words: str) -> list[str]:
    """Return the reasons of a promotion that must be refused and write nothing."""
    before = kept(evh)
    found = evh.refused(code, "promote", *words).json["refused"]["why"]
    assert kept(evh) == before
    return [str(one) for one in found]


def test_a_promoted_run_is_the_goals_baseline(build: Builder, project: Project, evh: CommandLine) -> None:
    """What was chosen, when, why, against what; a dry run writes nothing."""
    words = ["promote", "--run", f"c_{AT}", "--goal", "g", "--reason", " cheap enough "]
    dry = evh.ok(*words, "--dry-run").out
    assert f"would write data/baselines/g.json: runs/c_{AT}" in dry
    assert not (project.data / "baselines").exists()
    found = evh.ok(*words, "--json").json
    check(found, "promote")
    assert found["baselines"][0]["written"] is True
    assert found["warnings"] == ["c is behind a, b by correct"]
    made = baselines.of_goal(project, "g")
    assert made is not None
    assert (made.promoted_from, made.reason, made.promoted_at) == (f"runs/c_{AT}", "cheap enough", NOW)
    assert (made.goal, made.dataset_id, made.reference_id, made.scores) == (
        "g",
        "d",
        AGAINST,
        {"correct": 0.5},
    )
    assert (made.supersedes, made.over) == (None, None)


def test_the_baseline_before_it_is_archived(
    build: Builder, project: Project, evh: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, by the time of its own promotion; two in one second have two names."""
    evh.ok("promote", "--run", f"c_{AT}", "--goal", "g", "--reason", "first")
    first = (project.data / "baselines" / "g.json").read_bytes()
    monkeypatch.setenv("EVH_NOW", "2026-11-02T00:00:00Z")
    told = evh.ok("promote", "--run", f"a_{AT}", "--goal", "g", "--reason", "second", "--over", f"b_{AT}").out
    assert "the one before it is data/baselines/superseded/g_20261101T080232Z.json" in told
    kept = project.data / "baselines" / "superseded" / "g_20261101T080232Z.json"
    assert kept.read_bytes() == first
    made = baselines.of_goal(project, "g")
    assert made is not None
    assert (made.supersedes, made.over) == ("g_20261101T080232Z", f"b_{AT}")
    evh.ok("promote", "--run", f"c_{AT}", "--goal", "g", "--reason", "third")
    evh.ok("promote", "--run", f"c_{AT}", "--goal", "g", "--reason", "fourth")
    assert [one.reason for one in baselines.superseded(project, "g")] == ["first", "second", "third"]
    assert evh.ok("validate").out.count("0 findings") == 1


def test_every_refusal(build: Builder, project: Project, evh: CommandLine) -> None:
    """No reason; another dataset and metric; a tie; a run not in the group; a trial; an unknown run."""
    run = ("--run", f"c_{AT}", "--goal", "g")
    assert refused(evh, "no-reason", *run) == ["--reason: a baseline says why it was chosen"]
    assert refused(evh, "no-reason", *run, "--reason", "  ") == [
        "--reason: a baseline says why it was chosen"
    ]
    (tie,) = refused(evh, "tie", "--run", f"a_{AT}", "--goal", "g", "--reason", "x")
    assert tie == f"a ties with b: say which is passed over, --over b_{AT}"
    (rival,) = refused(evh, "no-tie", "--run", f"a_{AT}", "--goal", "g", "--reason", "x", "--over", f"c_{AT}")
    assert rival == f"--over c_{AT}: it ties with b_{AT}"
    (itself,) = refused(evh, "no-tie", "--run", f"a_{AT}", "--goal", "g", "--reason", "x", "--over", "a")
    assert itself == "--over a: it is the same arm"
    (nobody,) = refused(evh, "no-tie", *run, "--reason", "x", "--over", f"b_{AT}")
    assert nobody == f"--over b_{AT}: c ties with nobody for the lead: leave --over out"
    (other,) = refused(evh, "not-in-group", *run, "--reason", "x", "--over", "zzz")
    assert other.startswith(f"--over zzz: the runs beside it in g are a_{AT}, b_{AT}")
    refused(evh, "no-such-run", "--run", "zzz", "--goal", "g", "--reason", "x")
    refused(evh, "no-such-goal", *run[:2], "--goal", "zzz", "--reason", "x")
    build.dataset("e", {"i1": "x"})
    build.run("e1", "e", {"i1": "y"}, scores={"i1": {"bleu": 0.5}})
    assert refused(evh, "no-reason", "--run", f"e1_{AT}", "--goal", "g") == [
        "--reason: a baseline says why it was chosen",
        f"runs/e1_{AT}: it ran on e; the goal is about d",
        f"runs/e1_{AT}: the goal goes by correct; it has bleu",
    ]
    put(build, "part", wrong_on(), extra={"limit": 5})
    refused(evh, "unfinished-run", "--run", f"part_{AT}", "--goal", "g", "--reason", "x")
    begun = project.data / "runs" / f"begun_{AT}"
    begun.mkdir()
    (begun / "running.json").write_text("{}")
    refused(evh, "unfinished-run", "--run", f"begun_{AT}", "--goal", "g", "--reason", "x")


def test_a_run_of_several_groups_is_named_by_its_folder(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """From any group of the goal; a bare id means the goal's own set, where it names one."""
    build.labels("d", "bo", LABELS, source={"kind": "person", "by": "bo"})
    decisions = wrong_on(*range(3))
    run = build.run("x", "d", decisions)
    for name in ("ann", "bo"):
        build.rescored(run, decisions, correct(decisions, LABELS), against=f"labels/d/{name}")
    words: list[Any] = ["--run", run.run_id, "--goal", "g", "--reason", "y"]
    (reason,) = refused(evh, "ambiguous-run", *words)
    assert f"runs-labels-d-ann/{run.run_id}, runs-labels-d-bo/{run.run_id}" in reason
    evh.ok("promote", "--run", f"runs-labels-d-bo/{run.run_id}", "--goal", "g", "--reason", "y")
    assert json.loads((project.data / "baselines" / "g.json").read_text())["reference_id"] == "labels/d/bo"
    write(project, "metric: correct\nagainst: labels/d/ann\n")
    evh.ok("promote", *words)
    assert json.loads((project.data / "baselines" / "g.json").read_text())["reference_id"] == AGAINST


def test_a_foreign_baseline_is_read_and_left_alone(
    build: Builder, project: Project, evh: CommandLine
) -> None:
    """A ``<dataset>_baseline.json`` has no goal; a build in a form of its own is no error."""
    place = project.data / "baselines"
    place.mkdir()
    foreign = {"dataset_id": "d", "promoted_from": f"c_{AT}", "build": "3d3a6af", "supersedes": 4}
    (place / "d_baseline.json").write_text(json.dumps(foreign))
    evh.ok("promote", "--run", f"c_{AT}", "--goal", "g", "--reason", "y")
    assert [one.baseline_id for one in baselines.read_all(project)] == ["d_baseline", "g"]
    assert baselines.read_all(project)[0].extra == {"build": "3d3a6af", "supersedes": 4}
