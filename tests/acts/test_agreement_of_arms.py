"""How often arms decided the same: counts by hand, kappa by scikit-learn, and what counts as the same."""

from __future__ import annotations

import pytest
from sklearn.metrics import cohen_kappa_score

from evh.acts.agreement_of_arms import agreement
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check

ITEMS = [f"i{n}" for n in range(12)]
A: dict[str, str | None] = {item: "file" if at < 6 else "escalate" for at, item in enumerate(ITEMS)}
B: dict[str, str | None] = {item: "file" if at < 9 else "escalate" for at, item in enumerate(ITEMS)}
ADAPTER = """def same(a, b):
    return a[0] == b[0] or {a, b} == {"file", "escalate"}
"""


@pytest.fixture
def build(project: Project) -> Builder:
    """A dataset of twelve items."""
    made = Builder(project)
    made.dataset("d", {item: f"text {item}" for item in ITEMS})
    return made


def test_every_two_arms_are_counted(build: Builder, evh: CommandLine) -> None:
    """9 of 12 alike; kappa is scikit-learn's; an item that one did not decide is in neither count."""
    build.run("a", "d", A)
    build.run("b", "d", B)
    build.run("c", "d", {**B, "i0": None})
    found = evh.ok("agreement", "--dataset-id", "d", "--runs", "a,b,c", "--json").json
    check(found, "agreement")
    one, two, three = found["pairs"]
    assert (one["a"], one["b"], one["n"], one["n_same"], one["share"]) == ("a", "b", 12, 9, 0.75)
    theirs = cohen_kappa_score([str(x) for x in A.values()], [str(x) for x in B.values()])
    assert one["kappa"] == pytest.approx(theirs, abs=1e-12)
    assert one["differ"] == ["i6", "i7", "i8"]
    assert (two["n"], two["n_same"]) == (11, 8)
    assert (three["n"], three["n_same"], three["kappa"]) == (11, 11, 1.0)
    assert [line["n_decided"] for line in found["arms"]] == [12, 12, 11]
    told = evh.ok("agreement", "--dataset-id", "d", "--runs", "a,b,c").out
    assert "evh inspect --dataset-id d --runs a,b --disagree" in told


def test_the_first_arms_same_counts_only_where_adapters_are_trusted(build: Builder, project: Project) -> None:
    """An adapter that calls both answers the same is not asked until the project says so."""
    (project.data / "adapters").mkdir()
    (project.data / "adapters" / "loose.py").write_text(ADAPTER)
    build.run("a", "d", A, adapter="data/adapters/loose.py")
    build.run("b", "d", B)
    found = agreement(project, "d", ["a", "b"])
    assert (found.pairs[0].same, found.own_same) == (9, False)
    (project.root / "evh.toml").write_text('[project]\nname = "t"\ntrust_adapters = true\n')
    found = agreement(Project.find(home=project.root), "d", ["a", "b"])
    assert (found.pairs[0].same, found.own_same, found.pairs[0].differ) == (12, True, ())
    assert found.pairs[0].kappa == pytest.approx(0.5)
    assert any("what counts as the same is said by data/adapters/loose.py" in note for note in found.notes)


def test_one_arm_agrees_with_nobody(build: Builder, evh: CommandLine) -> None:
    """Two arms or more."""
    build.run("a", "d", A)
    evh.refused("two-arms", "agreement", "--dataset-id", "d")


def test_few_items_are_too_few_to_say(build: Builder, project: Project) -> None:
    """Under the setting min_overlap of ten."""
    build.run("a", "d", A)
    build.run("b", "d", {**B, **dict.fromkeys(ITEMS[:3], None)})
    assert agreement(project, "d").pairs[0].too_few
