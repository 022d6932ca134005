"""All pairs of a field: every two arms that may lead, their p corrected by Holm."""

from __future__ import annotations

from itertools import combinations

import pytest
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from evh.acts.leaderboard import leaderboard
from evh.project.find import Project
from tests.acts.deciding import ITEMS, labelled, put, wrong_on
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check

WRONG = {"a": 0, "b": 6, "c": 14, "d": 20}


@pytest.fixture
def build(project: Project) -> Builder:
    """Four arms, wrong on the first 0, 6, 14 and 20 of 40 items, and a floor that is right on half."""
    made = labelled(project)
    for name, wrong in WRONG.items():
        put(made, name, wrong_on(*range(wrong)))
    put(made, "floor", dict.fromkeys(ITEMS, "no"))
    made.config("floor", floor=True)
    return made


def test_p_is_the_binomials_and_holms_is_statsmodels(build: Builder, evh: CommandLine) -> None:
    """Of nested errors the better arm wins each item that differs: an exact sign test; six pairs."""
    found = check(evh.ok("leaderboard", "--dataset-id", "d", "--all-pairs", "--json").json, "leaderboard")
    expected = list(combinations(WRONG, 2))
    apart = [WRONG[b] - WRONG[a] for a, b in expected]
    raw = [binomtest(0, n).pvalue for n in apart]
    assert [(one["a"], one["b"]) for one in found["pairs"]] == expected
    assert [one["p"] for one in found["pairs"]] == pytest.approx(raw, rel=1e-9)
    assert [one["difference"] for one in found["pairs"]] == pytest.approx([n / 40 for n in apart])
    assert all(one["difference_low"] < one["difference"] < one["difference_high"] for one in found["pairs"])
    holms = multipletests(raw, method="holm")[1].tolist()
    assert [one["p_holm"] for one in found["pairs"]] == pytest.approx(holms, rel=1e-9)
    assert [one["apart"] for one in found["pairs"]] == [value < 0.05 for value in holms]
    assert {one["n"] for one in found["pairs"]} == {40}
    assert found["pairs_correction"] == "Holm over 6 pairs"


def test_they_are_printed_when_asked_for(build: Builder, evh: CommandLine) -> None:
    """The table with its correction and level, and who is not in it; without the flag neither."""
    told = evh.ok("leaderboard", "--dataset-id", "d", "--all-pairs").out
    lines = [" ".join(line.split()) for line in told.splitlines()]
    assert "arm arm both difference 95 % p p corrected told apart" in lines
    (a_and_d,) = [line for line in lines if line.startswith("a d 40 +0.500 [")]
    assert a_and_d.endswith("yes")
    (a_and_b,) = [line for line in lines if line.startswith("a b 40 +0.150 [")]
    assert a_and_b.split("] ")[1] == "0.0312 0.0625 no"  # c and d have the same p: twice, for the last two
    assert lines.count(
        "all pairs at level 0.05, first minus second; correction Holm over 6 pairs; not among them, for they "
        "never lead: floor"
    )
    plain = evh.ok("leaderboard", "--dataset-id", "d")
    assert "Holm" not in plain.out
    document = check(evh.ok("leaderboard", "--dataset-id", "d", "--json").json, "leaderboard")
    assert (document["pairs"], document["pairs_correction"]) == (None, None)


def test_lower_is_better_turns_the_differences(build: Builder, project: Project) -> None:
    """By a goal's direction d comes first, and each first arm of a pair has the better figure."""
    (project.data / "goals").mkdir()
    (project.data / "goals" / "g.yaml").write_text("datasets: [d]\nmetric: correct\ndirection: lower\n")
    found = leaderboard(project, "d")
    assert [(one.a, one.b) for one in found.pairs] == list(combinations("dcba", 2))
    assert all(one.difference is not None and one.difference > 0 for one in found.pairs)


def test_two_arms_are_one_pair_and_need_no_correction(build: Builder, evh: CommandLine) -> None:
    """Named by --runs: one pair, whose corrected p is its own."""
    words = ("leaderboard", "--dataset-id", "d", "--runs", "a,b", "--all-pairs")
    found = evh.ok(*words, "--json").json
    (pair,) = found["pairs"]
    assert pair["p"] == pair["p_holm"]
    assert found["pairs_correction"] == "none: there is one pair"
