"""Own labels and fitted here: each way in which a score says less than it seems."""

from __future__ import annotations

from typing import Any

import pytest

from evh.project.find import Project
from evh.project.provenance import Provenance
from evh.records.run import Run
from tests.helpers import Builder

RULE = {"kind": "rule", "capture": "k", "rules_file": "r.yaml", "rules_sha256": "0"}
READS = ({"name": "r", "reads_output": True},)


@pytest.fixture
def build(project: Project) -> Builder:
    """A dataset, a capture and its two halves, and a capture of other records."""
    made = Builder(project)
    made.dataset("d", {"a": "aa", "b": "bb"})
    record = [{"record_id": "1"}]
    made.capture("k", record)
    made.capture("k_old", record, split={"of": "k", "part": "a"})
    made.capture("k_new", record, split={"of": "k", "part": "b"})
    made.capture("other", record)
    return made


def run(name: str, **more: Any) -> Run:
    """Return a run scored against the label set ``d/<name>``."""
    more.setdefault("reference_id", f"labels/d/{name}")
    more.setdefault("reference_tier", "labels")
    return Run("c_1", "c", "d", **more)


def own(build: Builder, made: Run) -> bool:
    """Tell whether a run is flagged."""
    return Provenance(build.project).own_labels(made)


@pytest.mark.parametrize(
    ("source", "flagged"),
    [
        ({"kind": "model", "run_id": "c_1"}, True),
        ({"kind": "model", "config_id": "c", "run_id": "c_0"}, True),  # an earlier run of the same arm
        ({"kind": "model", "config_id": "x", "run_id": "x_1"}, False),
        ({"kind": "person", "by": "c"}, False),
    ],
)
def test_a_set_made_of_an_arms_outputs_is_its_own(
    build: Builder, source: dict[str, Any], *, flagged: bool
) -> None:
    """A model set of this arm's runs; not one of another arm's, nor a person's."""
    build.labels("d", "s", {"a": "x"}, source=source)
    assert own(build, run("s")) is flagged


@pytest.mark.parametrize(
    ("capture", "rules", "provider", "flagged"),
    [
        ("k", READS, "recorded", True),
        ("k_old", READS, "recorded", True),  # the rule read another part of the same capture
        ("other", READS, "recorded", False),
        ("k", ({"name": "r"},), "recorded", False),  # a rule over outcomes alone
        ("k", READS, "echo", False),  # a candidate is not what production decided
    ],
)
def test_a_rule_over_the_recorded_decision_is_the_recorded_arms_own(
    build: Builder, capture: str, rules: tuple[dict[str, Any], ...], provider: str, *, flagged: bool
) -> None:
    """A rule set that read the decision flags the arm that replays it from the same records, and no other."""
    build.labels("d", "s", {"a": "x"}, source={**RULE, "capture": capture}, rules=rules)
    assert own(build, run("s", params={"provider": provider, "capture": "k_new"})) is flagged


def test_own_labels_are_own_through_a_reference_and_an_adjudication(build: Builder) -> None:
    """Promoted, or chosen from by a person: what was its own stays its own."""
    build.labels("d", "m", {"a": "x"}, source={"kind": "model", "run_id": "c_1", "config_id": "c"})
    chosen = build.labels("d", "chosen", {"a": "x"}, parents=({"set": "d/m"}, {"set": "d/gone"}))
    build.reference("gold/g", chosen)
    build.reference("gold/free", build.labels("d", "free", {"a": "x"}))
    for name, flagged in (("g", True), ("free", False), ("unknown", False)):
        assert own(build, run("", reference_id=f"gold/{name}", reference_tier="gold")) is flagged
    assert own(build, run("chosen")) is True
    assert own(build, run("", reference_id=None, reference_tier=None)) is False


def test_fitted_on_the_dataset_or_on_its_bytes(build: Builder) -> None:
    """Fitted on this dataset, or on one that shares an item's bytes under any id."""
    build.dataset("train", {"z": "bb"})
    build.dataset("apart", {"a": "zz"})
    flags = {
        name: Provenance(build.project).fitted_here(run("s", extra={"fitted_on": [name]}))
        for name in ("d", "train", "apart", "unknown")
    }
    assert flags == {"d": True, "train": True, "apart": False, "unknown": False}
    assert Provenance(build.project).fitted_here(run("s")) is False
