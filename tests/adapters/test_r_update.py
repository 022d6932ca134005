"""The bundled adapter of a memory controller's decisions."""

from __future__ import annotations

import pytest

from evh.adapters.loader import load
from evh.project.find import Project

SHA = "ab" * 32


@pytest.mark.parametrize(
    ("output", "decision"),
    [
        ("<check>yes</check>", "yes"),
        ("I looked.\n<check> No </check>\nmemory", "no"),
        ("<check>yes</check> … <check>yes</check>", "yes"),
        ("<check>yes</check> <check>no</check>", "<check>yes</check> <check>no</check>"),
        ("Yes.", "yes"),
        ("no\n", "no"),
        ("yes, I think", "yes, I think"),
        ("<check>maybe</check>", "<check>maybe</check>"),
    ],
)
def test_a_decision_is_its_check(project: Project, output: str, decision: str) -> None:
    """The tag, or a bare word; two different tags are no decision."""
    assert load(project, "r_update").decide(output, "x") == decision


def test_the_reward_is_plus_or_minus_one(project: Project) -> None:
    """+1 for the label's decision, −1 for the other one and for what is none."""
    adapter = load(project, "r_update")
    assert adapter.primary_metric == "r_update"
    assert adapter.score("<check>yes</check>", "yes", None, "x") == {"r_update": 1.0, "correct": 1.0}
    assert adapter.score("<check>yes</check>", "no", None, "x") == {"r_update": -1.0, "correct": 0.0}
    assert adapter.score("hm", "no", None, "x") == {"r_update": -1.0, "correct": 0.0}
    assert adapter.score("no", None, None, "x") == {}


def test_a_row_of_updates_is_a_record(project: Project) -> None:
    """Its id is place and content; its output the controller's words where they say the same."""
    adapter = load(project, "r_update")
    row = {"t": 7, "chunk_sha": SHA, "update": True, "raw": "so <check>yes</check>"}
    assert adapter.record_id(row, "x") == "000007.abababababababab"
    assert adapter.recorded_output(row, "x") == "so <check>yes</check>"
    assert adapter.recorded_output({**row, "update": False}, "x") == "<check>no</check>"
    assert adapter.recorded_output({**row, "raw": ""}, "x") == "<check>yes</check>"
