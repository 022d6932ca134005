"""A run's figures are made again where evh can: an edited one is found, an adapter's own is on trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evh.acts.remade import Remaking
from evh.acts.sources import Sources
from evh.acts.validate import validate
from evh.acts.why import explain
from evh.project import runs
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder

# Counted by hand. `echo` says the text, `flip` the other word.
#   item  text  label   echo   flip
#   a     yes   yes     right  wrong
#   b     yes   no      wrong  right
#   c     no    no      right  wrong
#   d     no    no      right  wrong
# echo: recall of yes 1/1, of no 2/3. flip: 0/1 and 1/3.
# No two items have the same bytes: those would share a label.
TEXTS = {"a": "yes", "b": "yes\n", "c": "no", "d": "no\n"}
LABELS = {"a": "yes", "b": "no", "c": "no", "d": "no"}
ADAPTER = """
from evh.adapters import ClassRow, Result, classification

PRIMARY_METRIC = "balanced_accuracy"

def call_system(text, params):
    return Result(output=text if params["model"] == "echo" else {"yes": "no", "no": "yes"}[text.strip()])

def decide(output):
    return output.strip()

def score(output, reference):
    return {} if reference is None else {"correct": float(output.strip() == reference)}

def summarise(rows):
    return SUMMARY
"""
OF_EVH = 'classification([ClassRow(row.decision, row.reference) for row in rows], positive="yes")'
OF_ITS_OWN = '{"balanced_accuracy": 0.25 + 0.25 * len({row.decision for row in rows}), "charm": 0.5}'


def ran(project: Project, evh: CommandLine, summary: str | None) -> None:
    """Run two arms over the items, scored by evh's own adapter, or by one that summarises in this way."""
    made = Builder(project)
    made.dataset("d", TEXTS)
    made.labels("d", "s", LABELS)
    adapter = "classification"
    if summary is not None:
        (project.data / "adapters").mkdir()
        (project.data / "adapters" / "a.py").write_text(ADAPTER.replace("SUMMARY", summary), "utf-8")
        adapter = "../adapters/a.py"
    for name in ("echo", "flip") if summary else ("echo",):
        params = {"provider": "python", "model": name} if summary else {"provider": "echo"}
        made.config(name, dataset_id="d", adapter=adapter, labels="s", params=params)
        evh.ok("run", "--config", name)


def metrics_of(project: Project, arm: str) -> Path:
    """Return where an arm's figures lie."""
    return next(iter(sorted(project.data.glob(f"runs*/{arm}_*/metrics.json"))))


def edit(path: Path, metric: str, value: float) -> None:
    """Write another figure into a run's metrics."""
    document = json.loads(path.read_text())
    document["scores"][metric] = value
    path.write_text(json.dumps(document))


def held(project: Project, arm: str) -> dict[str, bool | None]:
    """Return, for each figure of an arm's run, whether it is what its rows give; None is on trust."""
    sources = Sources(project)
    run = next(one for one in sources.runs if one.config_id == arm)
    return {metric: Remaking(sources).figure(run, metric).holds for metric in run.scores}


def test_what_evh_s_own_adapter_made_is_made_again(project: Project, evh: CommandLine) -> None:
    """Balanced accuracy (1 + 2/3) / 2, macro-F1 (2/3 + 4/5) / 2, each class: an edit of any is found."""
    ran(project, evh, None)
    path = metrics_of(project, "echo")
    before = path.read_bytes()
    scores = json.loads(before)["scores"]
    assert scores["balanced_accuracy"] == pytest.approx(5 / 6)
    assert scores["macro_f1"] == pytest.approx(11 / 15)
    assert set(held(project, "echo").values()) == {True}
    for metric in ("balanced_accuracy", "macro_f1", "accuracy", "recall_no", "precision_yes", "support_no"):
        edit(path, metric, scores[metric] + 0.01)
        found = validate(project).findings
        assert [(one.code, one.reason.split(":")[0]) for one in found] == [("scores", metric)], metric
        path.write_bytes(before)


def test_an_edited_figure_ends_why_with_a_mismatch(project: Project, evh: CommandLine) -> None:
    """The figure is a line of its own, the last line says so, and the exit is 1."""
    ran(project, evh, None)
    path = metrics_of(project, "echo")
    ref = f"run:{path.parent.parent.name}/{path.parent.name}#balanced_accuracy"
    how = "made of its rows and their labels against labels/d/s by the adapter classification"
    assert explain(project, ref).how == f"{how}, and is that again"
    edit(path, "balanced_accuracy", 0.9)
    shown = evh("why", ref)
    assert shown.code == 1
    assert "CHANGED   " in shown.out
    assert "but they now give 0.833333" in shown.out
    assert shown.out.rstrip().endswith("balanced_accuracy is not what its rows give")
    edit(path, "balanced_accuracy", 5 / 6)
    edit(path, "correct", 0.9)
    shown = evh("why", f"run:{path.parent.parent.name}/{path.parent.name}#correct")
    assert (shown.code, shown.out.rstrip().endswith("correct is not what its rows give")) == (1, True)
    assert "the mean of 4 rows against labels/d/s, but they now give 0.75" in shown.out


def test_a_project_s_adapter_is_held_against_evh_s_definition_where_its_other_runs_are(
    project: Project, evh: CommandLine
) -> None:
    """It weighs yes against the rest: 5/6 and 1/6. The other run shows which definition is meant."""
    ran(project, evh, OF_EVH)
    assert set(held(project, "echo").values()) == {True}
    edit(metrics_of(project, "flip"), "balanced_accuracy", 0.75)
    assert held(project, "flip")["balanced_accuracy"] is False
    assert [one.reason for one in validate(project).findings] == [
        "balanced_accuracy: it says 0.75; its rows and labels/d/s give 0.166667"
    ]


def test_a_figure_of_an_adapter_s_own_is_on_trust_and_says_so(project: Project, evh: CommandLine) -> None:
    """Another meaning of a name that evh knows is no mismatch; why says that it was not made again."""
    ran(project, evh, OF_ITS_OWN)
    assert held(project, "echo") == {"correct": True, "balanced_accuracy": None, "charm": None}
    answer = explain(project, f"run:{metrics_of(project, 'echo').parent.name}#charm")
    assert answer.how == (
        "a figure over the whole run, made by its adapter against labels/d/s: not made again, taken on trust"
    )
    assert answer.changed == ()
    report = validate(project)
    assert report.findings == ()
    assert [one.reason for one in report.notes if one.code == "on-trust"] == [
        "2 figures over the whole run, made by its adapter, not made again: balanced_accuracy, charm"
    ] * 2


def test_labels_that_are_gone_leave_a_figure_on_trust(project: Project, evh: CommandLine) -> None:
    """Without the labels nothing can be made again, and nothing is told to be wrong."""
    ran(project, evh, None)
    (project.data / "labels" / "d" / "s").rename(project.root / "away")
    assert held(project, "echo")["balanced_accuracy"] is None
    assert runs.read_all(project)[0].scores["balanced_accuracy"] == pytest.approx(5 / 6)
