"""One screen says what is here, what it says, and what to do next."""

from __future__ import annotations

from typing import Any

import pytest

from evh.acts import steps
from evh.acts.overview import WrongLabel, overview
from evh.project.find import Project
from evh.records.labelset import LabelSet
from tests.conftest import CommandLine
from tests.helpers import Builder, correct, tree_bytes
from tests.schema import check

TRUTH = {"one": "yes", "two": "no", "three": "yes"}
PRODUCTION: dict[str, str | None] = {"one": "no", "two": "no", "three": "no"}


@pytest.fixture
def built(project: Project) -> Builder:
    """A captured dataset with labels, production's arm scored on them, a pick and an unfinished run."""
    made = Builder(project)
    made.capture("cap", [{"record_id": "one", "item": "1"}])
    made.dataset("d", {"one": "1", "two": "2", "three": "3"}, lineage={"one": {"capture": "cap"}})
    made.config("production", params={"provider": "recorded", "capture": "cap"})
    truth = made.labels("d", "truth", TRUTH)
    run = made.run("production", "d", PRODUCTION, params={"provider": "recorded", "capture": "cap"})
    made.rescored(run, PRODUCTION, correct(PRODUCTION, TRUTH), against="labels/d/truth")
    made.reference("silver/ref", truth)
    made.pick("d", "one", targets=("v2",))
    unfinished = project.data / "runs" / "slow_20261001T000000Z"
    unfinished.mkdir()
    (unfinished / "running.json").write_text("{}")
    return made


def test_it_counts_what_is_here(built: Builder) -> None:
    """Captures with their datasets, sets by source, references by tier, runs, picks, unfinished runs."""
    made = overview(built.project)
    assert [(one.capture_id, one.n_records, one.datasets) for one in made.captures] == [("cap", 1, ("d",))]
    assert (made.label_sets, made.reference_sets) == ({"person": 1}, {"silver": 1})
    assert (made.n_configs, made.n_runs, made.n_scorings, made.waiting) == (1, 1, 1, {"v2": 1})
    assert made.unfinished == ("data/runs/slow_20261001T000000Z",)


def test_it_says_where_production_was_wrong(built: Builder) -> None:
    """Wrong on the two of three that are yes; a reference promoted from the set is not told twice."""
    (line,) = overview(built.project).datasets
    assert [(one.arm, one.recorded, one.ref, one.n, one.of) for one in line.wrong] == [
        ("production", True, "labels/d/truth", 2, 3)
    ]
    assert line.wrong[0].by_label == (WrongLabel("yes", 2, 2), WrongLabel("no", 0, 1))


def test_it_has_each_arms_figure_and_what_it_was_scored_against(built: Builder) -> None:
    """Production is right on one of three."""
    (line,) = overview(built.project).datasets
    assert line.against is not None
    assert line.against.ref == "labels/d/truth"
    (figure,) = line.arms
    assert (figure.arm, figure.metric, figure.value, figure.n) == ("production", "correct", 1 / 3, 3)


def test_an_arm_that_ran_several_times_has_its_mean(built: Builder, evh: CommandLine) -> None:
    """Right on all of three, then on two, then on one with a failure: the leaderboard's mean, by hand 7/9."""
    for at, wrong in (("20261002T000000Z", None), ("20261002T000001Z", "two"), ("20261002T000002Z", "fail")):
        said: dict[str, str | None] = {**TRUTH, **({"two": "yes"} if wrong == "two" else {})}
        if wrong == "fail":
            said = {"one": "yes", "two": "yes", "three": None}
        scores = correct(said, TRUTH)
        built.run("thrice", "d", said, at=at, scores=scores, against="labels/d/truth", repeat_group="g")
    ranked = {one["arm"]: one for one in evh.ok("leaderboard", "--dataset-id", "d", "--json").json["arms"]}
    (line,) = overview(built.project).datasets
    (thrice,) = [one for one in line.arms if one.arm == "thrice"]
    # one 1, 1, 1; two 1, 0, 0; three 1, 1 and a failure: (1 + 1/3 + 1) / 3
    assert thrice.value == pytest.approx(7 / 9)
    assert (thrice.value, thrice.n, thrice.errors) == (ranked["thrice"]["value"], 3, 1)
    assert [one.arm for one in line.arms] == ["thrice", "production"]


def test_labels_made_by_the_arm_itself_are_no_finding(built: Builder) -> None:
    """Production is never wrong or right by labels read from its own decisions: the set is left out."""
    rules = ({"name": "decided", "reads_output": True},)
    source = {"kind": "rule", "capture": "cap"}
    built.labels("d", "own", {"one": "no", "two": "no"}, source=source, rules=rules)
    assert [one.ref for one in overview(built.project).datasets[0].wrong] == ["labels/d/truth"]
    built.labels("d", "outcome", {"one": "no"}, source=source)  # by rule, but not from the decision
    found = overview(built.project).datasets[0].wrong
    assert [one.ref for one in found] == ["labels/d/outcome", "labels/d/truth"]


def test_an_empty_project_says_how_to_begin(project: Project, evh: CommandLine) -> None:
    """The two ways in are named."""
    made = overview(project)
    assert (made.datasets, made.captures) == ((), ())
    assert [line.split()[1] for line in made.next] == ["capture", "dataset-create"]
    assert "evh capture --as" in evh.ok("overview").out


@pytest.mark.parametrize(
    ("lacks", "command"),
    [
        ("dataset", "evh dataset-from-capture --capture cap --dataset-id cap"),
        ("labels", "evh label-sheet --dataset-id d --out d.csv"),
        ("arm", "evh arm-from-capture --dataset-id d --capture cap --as production"),
        ("scores", "evh rescore --dataset-id d --labels d/truth"),
        ("reference", "evh reference-promote --dataset-id d --labels d/truth --tier silver --reason REASON"),
        ("pick", "evh picks"),
    ],
)
def test_what_lacks_is_the_next_command(project: Project, lacks: str, command: str) -> None:
    """Each state of a project leads to the command that goes on from it."""
    built = Builder(project)
    built.capture("cap", [{"record_id": "one", "item": "1"}])
    if lacks != "dataset":
        built.dataset("d", {"one": "1"}, lineage={"one": {"capture": "cap"}}, governed=lacks == "reference")
    if lacks in ("scores", "reference"):
        built.labels("d", "truth", {"one": "yes"})
        built.run("a", "d", {"one": "yes"})
    if lacks == "pick":
        built.pick("d", "one")
    assert command in overview(project).next


def test_a_broken_record_never_stops_it(built: Builder) -> None:
    """A manifest that cannot be read is a note; the rest is shown."""
    (built.project.data / "datasets" / "bad.json").write_text("{")
    (built.project.data / "labels" / "d" / "bad").mkdir()
    (built.project.data / "labels" / "d" / "bad" / "labels.json").write_text("[]")
    made = overview(built.project)
    assert [line.dataset_id for line in made.datasets] == ["d"]
    assert any("bad.json" in note for note in made.notes)
    assert any("labels.json" in note for note in made.notes)


def test_overview_at_the_door(built: Builder, evh: CommandLine) -> None:
    """The screen names the finding and the commands; the document holds to its schema; nothing is written."""
    before = tree_bytes(built.project.root)
    shown = evh.ok("overview").out
    assert "production (recorded) was wrong on 2 of 3 items of d by truth: 2 of 2 yes" in shown
    assert "1 pick waits for v2" in shown
    assert "1 arm, 1 run, scored once" in shown
    assert "unfinished: data/runs/slow_20261001T000000Z" in shown
    assert "evh inspect --sheet --dataset-id d --wrong-against d/truth" in shown
    document = check(evh.ok("overview", "--json").json, "overview")
    assert document["datasets"][0]["wrong"][0]["by_label"][0] == {"label": "yes", "n": 2, "of": 2}
    assert tree_bytes(built.project.root) == before


def test_an_arm_that_nothing_scored_yet_is_to_be_scored(project: Project) -> None:
    """Beside a scored arm a new one waits for its scores; once it has them nothing is proposed."""
    built = Builder(project)
    built.dataset("d", {"one": "1", "two": "2"})
    truth = {"one": "x", "two": "y"}
    built.labels("d", "s", truth)
    first, second = (built.run(name, "d", truth) for name in ("a", "b"))
    built.rescored(first, truth, correct(truth, truth), against="labels/d/s")
    step = "evh rescore --dataset-id d --labels d/s"
    assert step in overview(project).next
    built.rescored(second, truth, correct(truth, truth), against="labels/d/s")
    assert step not in overview(project).next


def test_the_word_that_weighs_most_is_looked_into(project: Project) -> None:
    """A model's word is none; then a rule's, a person's, that of a set that settles, a reference's."""
    built = Builder(project)
    built.dataset("d", {key: key for key in "abcd"})
    said = dict.fromkeys("abcd", "x")
    run = built.run("arm", "d", said, params={"provider": "recorded", "capture": "cap"})

    def asked() -> str:
        return next(line for line in overview(project).next if "--wrong-against" in line).split()[-1]

    def labelled(name: str, texts: str, **more: Any) -> LabelSet:
        truth = dict(zip("abcd", texts, strict=True))
        made = built.labels("d", name, truth, **more)
        built.rescored(run, said, correct(said, truth), against=f"labels/d/{name}")
        return made

    labelled("model", "yyyy", source={"kind": "model", "config_id": "other", "run_id": "r"})
    assert not any("--wrong-against" in line for line in overview(project).next)
    labelled("rule", "yyyx", source={"kind": "rule", "rules_file": "data/rules/r.yaml"})
    assert asked() == "d/rule"
    ann = labelled("ann", "yyxx")
    assert asked() == "d/ann"
    labelled("settled", "yxxx", parents=({"set": "d/ann", "labels_sha256": ann.labels_sha256},))
    assert asked() == "d/settled"
    built.reference("gold/ref", ann)
    assert asked() == "d/ann"


def test_a_capture_that_an_arm_replays_is_no_dataset_to_make(built: Builder) -> None:
    """Only the capture that nothing uses is to become a dataset."""
    built.capture("late", [{"record_id": "one", "item": "1"}])
    step = "evh dataset-from-capture --capture late --dataset-id late"
    assert step in overview(built.project).next
    built.run("later", "d", PRODUCTION, params={"provider": "recorded", "capture": "late"})
    assert step not in overview(built.project).next


def test_what_an_arm_said_is_not_proposed_as_a_reference(project: Project, evh: CommandLine) -> None:
    """A run's own set labels all: a sheet for a person is proposed, and a person's set once it is there."""
    build = Builder(project)
    build.dataset("d", {"one": "1", "two": "2", "three": "3"})
    run = build.run("c", "d", TRUTH)
    source = {"kind": "model", "run_id": run.run_id, "config_id": "c"}
    auto = build.labels("d", "auto", TRUTH, source=source)
    made = overview(project).next
    assert not any("reference-promote" in line for line in made)
    assert "evh label-sheet --dataset-id d --out d.csv --items all" in made
    for words in (["labels"], ["references"]):
        told = evh.ok(*words).out
        assert "reference-promote" not in told
        assert "evh label-sheet --dataset-id d --out d.csv --items all" in told
    build.labels("d", "zoe", TRUTH)
    assert steps.promote("d", ["d/zoe"]) in overview(project).next
    assert "--labels d/zoe --tier" in evh.ok("references").out
    rescored = [line for line in overview(project).next if line.startswith("evh rescore")]
    assert rescored == ["evh rescore --dataset-id d --labels d/zoe"]
    assert auto.from_arm


def test_what_production_decided_is_not_proposed_as_a_reference(project: Project) -> None:
    """A rule set of recorded decisions, beside an arm that replays them; one of outcomes is proposed."""
    build = Builder(project)
    build.capture("cap", [{"record_id": "one", "item": "1"}])
    build.dataset("d", {"one": "1", "two": "2"})
    build.run(
        "production", "d", {"one": "yes", "two": "no"}, params={"provider": "recorded", "capture": "cap"}
    )
    labels = {"one": "yes", "two": "no"}
    source = {"kind": "rule", "capture": "cap", "rules_file": "r.yaml"}
    build.labels("d", "decided", labels, source=source, rules=({"name": "r", "reads_output": True},))
    assert not any("reference-promote" in line for line in overview(project).next)
    build.labels("d", "outcomes", labels, source=source, rules=({"name": "r", "reads_output": False},))
    assert steps.promote("d", ["d/outcomes"]) in overview(project).next
