"""Which arm is production, and what its errors are out of: counted by hand on pages and in the overview."""

from __future__ import annotations

import pytest

from evh.acts.overview import WrongLabel, overview
from evh.project.find import Project
from evh_build import findings
from evh_build.gather import Gathered
from evh_build.source import Source
from tests.conftest import CommandLine
from tests.helpers import Builder, correct
from tests.schema import check

# Six items, by hand: five are labelled; production answers three of those, wrongly on "c" alone, and fails
# on two ("d", "e"). "f" has a decision and no label.
TRUTH = {"a": "yes", "b": "no", "c": "yes", "d": "yes", "e": "no"}
DECIDED: dict[str, str | None] = {"a": "yes", "b": "no", "c": "no", "d": None, "e": None, "f": "yes"}
OWN = (
    "Nothing to say yet: no label that was made apart from production's own decisions is on an item that it "
    "decided."
)


@pytest.fixture
def built(project: Project) -> Builder:
    """The project of the count above: one recorded arm, scored, its failures counted as not correct."""
    made = Builder(project)
    made.dataset("d", {name: f"text {name}" for name in DECIDED})
    made.labels("d", "truth", TRUTH)
    record(made, "production")
    return made


def record(made: Builder, name: str) -> None:
    """Add an arm that replays decisions."""
    made.config(name, params={"provider": "recorded", "capture": "c"})
    run = made.run(name, "d", DECIDED, params={"provider": "recorded", "capture": "c"})
    made.rescored(run, DECIDED, correct(DECIDED, TRUTH), against="labels/d/truth")


def said(project: Project) -> findings.Silence | None:
    """Return why the dataset's page says nothing."""
    return findings.silence(Source(Gathered(project), max_item_text=1000), "d")


def test_errors_are_out_of_what_was_labelled_and_decided(built: Builder, evh: CommandLine) -> None:
    """One of three, two more failed: on the screen, in the document and on the page alike."""
    ((one,),) = [line.wrong for line in overview(built.project).datasets]
    assert (one.n, one.of, one.failed) == (1, 3, 2)
    assert one.by_label == (WrongLabel("yes", 1, 2), WrongLabel("no", 0, 1))
    assert "wrong on 1 of 3 items of d by truth, 2 more failed: 1 of 2 yes" in evh.ok("overview").out
    document = check(evh.ok("overview", "--json").json, "overview")
    assert document["datasets"][0]["wrong"][0]["failed"] == 2
    source = Source(Gathered(built.project), max_item_text=1000)
    (found,) = findings.findings(source, "d")
    assert (found.wrong, found.of, found.failed) == (1, 3, 2)
    assert findings.silence(source, "d") is None


def test_of_two_recorded_arms_none_is_production(built: Builder) -> None:
    """Neither the page nor the overview says where production was wrong; the page names both arms."""
    record(built, "pipeline")
    assert [line.wrong for line in overview(built.project).datasets] == [()]
    silence = said(built.project)
    assert silence is not None
    assert silence.why.startswith("2 arms are recorded (pipeline, production)")
    assert silence.command.line == "evh inspect --dataset-id d --runs pipeline,production"


def test_why_nothing_is_said_is_the_true_reason(project: Project) -> None:
    """No recorded arm; then one, and no labels; then labels that a rule took from its own decisions."""
    made = Builder(project)
    made.dataset("d", {name: f"text {name}" for name in DECIDED})
    told = []
    for step in ("arm", "labels", "end"):
        silence = said(project)
        assert silence is not None
        told.append((silence.why, silence.command.line.split()[1]))
        if step == "arm":
            made.capture("c", [{"record_id": "r"}])
            made.config("production", params={"provider": "recorded", "capture": "c"})
            made.run("production", "d", DECIDED, params={"provider": "recorded", "capture": "c"})
        elif step == "labels":
            rules = ({"name": "decided", "reads_output": True},)
            made.labels("d", "own", {"a": "yes"}, source={"kind": "rule", "capture": "c"}, rules=rules)
    assert told == [
        ("Nothing to say yet: no arm replays production's own decisions.", "arm-from-capture"),
        ("Nothing to say yet: no set labels what production decided.", "label-sheet"),
        (OWN, "label-sheet"),
    ]
