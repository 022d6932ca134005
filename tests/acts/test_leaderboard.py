"""The leaderboard: means, intervals and verdicts, and every reason why an arm does not lead."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, permutation_test

from evh.acts.leaderboard import leaderboard
from evh.acts.pair_test import pair_test
from evh.project.find import Project
from tests.acts import deciding
from tests.acts.deciding import AGAINST, ITEMS, LABELS, N, put, wrong_on
from tests.conftest import CommandLine
from tests.helpers import Builder, correct
from tests.schema import check

build = deciding.build


def test_the_leader_a_contender_and_one_behind(build: Builder, evh: CommandLine) -> None:
    """40, 38 and 25 of 40: against the leader p is 0.5, and 2/2^15 × 2 for the last: Bonferroni by hand."""
    put(build, "best", wrong_on())
    put(build, "near", wrong_on(0, 1))
    put(build, "far", wrong_on(*range(15)))
    found = evh.ok("leaderboard", "--dataset-id", "d", "--json").json
    check(found, "leaderboard")
    assert [(one["arm"], one["verdict"], one["value"]) for one in found["arms"]] == [
        ("best", "leader", 1.0),
        ("near", "contender", 0.95),
        ("far", "behind", 0.625),
    ]
    near, far = found["arms"][1:]
    assert (near["p"], near["p_corrected"]) == (0.5, 1.0)
    assert far["p"] == pytest.approx(binomtest(0, 15).pvalue, rel=1e-9)
    assert far["p_corrected"] == pytest.approx(2 * 2 / 2**15, rel=1e-9)
    assert near["difference"] == pytest.approx(0.05)
    assert far["smallest_difference"] is None  # it is told apart
    assert (found["correction"], found["competing"]) == (
        "Bonferroni × 2: the leader was picked among 3 arms",
        3,
    )
    assert (found["leads_alone"], found["method"], found["distinct_answers"]) == (False, "sign flips", 2)
    assert found["majority"] == {"answers": ["no", "yes"], "n": 20, "of": 40, "share": 0.5}
    assert found["source"] == {"kind": "labels", "source": "person", "by": "ann", "tier": None}
    told = evh.ok("leaderboard", "--dataset-id", "d")
    assert "against labels/d/ann (person labels of ann)" in told.out
    assert "always no or yes: right on 0.500" in told.out


def test_many_differences_are_drawn_as_scipy_draws_them(build: Builder, project: Project) -> None:
    """Scores of any size on 40 items: p is scipy's, within the noise of 10,000 flips."""
    draw = np.random.default_rng(3)
    one = dict(zip(ITEMS, draw.normal(0.2, 1, N).round(3).tolist(), strict=True))
    two = dict(zip(ITEMS, draw.normal(0, 1, N).round(3).tolist(), strict=True))
    for arm, values in (("a", one), ("b", two)):
        scores = {item: {"points": value} for item, value in values.items()}
        build.run(arm, "d", dict.fromkeys(ITEMS, "x"), scores=scores, against=AGAINST)
    found = leaderboard(project, "d")
    theirs = permutation_test(
        (np.array([one[item] - two[item] for item in ITEMS]),),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(1),
    ).pvalue
    last = found.arms[1]
    assert last.corrected == last.p == pytest.approx(theirs, abs=4 * (theirs / 10_000) ** 0.5)
    assert last.difference == pytest.approx(abs(np.mean(list(one.values())) - np.mean(list(two.values()))))


def test_a_tie_at_the_top_is_named(build: Builder, project: Project) -> None:
    """Two arms with the best mean lead together; neither is chosen."""
    put(build, "a", wrong_on(0))
    put(build, "b", wrong_on(1))
    put(build, "c", wrong_on(*range(20)))
    found = leaderboard(project, "d")
    assert found.leaders == ("a", "b")
    assert [one.verdict for one in found.arms] == ["leader", "leader", "behind"]
    assert "a, b tie for the lead: nothing is chosen among them" in found.notes


def test_one_arm_that_may_lead_leads_nobody(build: Builder, evh: CommandLine) -> None:
    """Beside a floor one arm competes: no verdict on the leaderboard, the sheet and for a goal alike."""
    put(build, "one", wrong_on(0))
    put(build, "always", dict.fromkeys(ITEMS, "no"))
    build.config("one")
    build.config("always", floor=True)
    told = "one arm alone may lead, and beats nobody: no leader is drawn"
    board = evh.ok("leaderboard", "--dataset-id", "d", "--json").json
    assert [(one["arm"], one["verdict"], one["p"]) for one in board["arms"]] == [
        ("one", None, None),
        ("always", None, None),
    ]
    assert (board["leaders"], board["competing"], board["leads_alone"]) == ([], 1, False)
    assert told in board["warnings"]
    sheet = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--json").json
    assert [(line["verdict"], line["p_corrected"]) for line in sheet["footer"]] == [
        (None, None),
        (None, None),
    ]
    assert told in sheet["warnings"]
    assert "leader " not in evh.ok("leaderboard", "--dataset-id", "d").out.replace("no leader ", "")
    (build.project.data / "goals").mkdir()
    goal = "question: Which?\ndatasets: [d]\nmetric: correct\n"
    (build.project.data / "goals" / "g.yaml").write_text(goal, encoding="utf-8")
    (group,) = evh.ok("goals", "--goal", "g", "--json").json["goals"][0]["groups"]
    assert [one["verdict"] for one in group["arms"]] == [None, None]
    assert (group["finalist"]["arm"], group["finalist"]["reason"]) == ("one", "it is alone by correct")


def test_labels_of_one_answer_draw_no_leader(project: Project) -> None:
    """They measure recall of that answer only, and say so."""
    made = Builder(project)
    made.dataset("d", {item: item for item in ITEMS})
    made.labels("d", "ann", dict.fromkeys(ITEMS, "yes"))
    for arm, said in (("a", "yes"), ("b", "no")):
        decisions: dict[str, str | None] = dict.fromkeys(ITEMS, said)
        made.run(arm, "d", decisions, scores=correct(decisions, dict.fromkeys(ITEMS, "yes")), against=AGAINST)
    found = leaderboard(project, "d")
    assert (found.leaders, found.distinct, found.alone) == ((), 1, False)
    assert [one.verdict for one in found.arms] == [None, None]
    assert any("fewer than two distinct answers" in note for note in found.notes)


def test_an_arm_on_its_own_labels_and_a_fitted_one_never_lead(build: Builder, project: Project) -> None:
    """They stand last, flagged, and count in no correction."""
    build.labels(
        "d", "bot", LABELS, source={"kind": "model", "by": "bot", "config_id": "mine", "run_id": "r"}
    )
    put(build, "mine", wrong_on(), against="labels/d/bot")
    put(build, "fitted", wrong_on(), against="labels/d/bot", extra={"fitted_on": ["d"]})
    put(build, "plain", wrong_on(0), against="labels/d/bot")
    put(build, "other", wrong_on(0, 1), against="labels/d/bot")
    found = leaderboard(project, "d")
    assert [(one.name, one.verdict, one.own, one.fitted) for one in found.arms] == [
        ("plain", "leader", False, False),
        ("other", "contender", False, False),
        ("fitted", None, False, True),
        ("mine", None, True, False),
    ]
    assert (found.competing, found.correction) == (2, "none: there are two arms")


def test_lower_is_better_where_the_adapter_or_the_goal_says_so(build: Builder, project: Project) -> None:
    """The smallest mean leads, the difference is turned; a goal's direction stands over the adapter's."""
    for arm, cost in (("cheap", 1.0), ("dear", 3.0)):
        scores = {item: {"cost": cost + (at % 3) / 10} for at, item in enumerate(ITEMS)}
        build.run(
            arm, "d", dict.fromkeys(ITEMS, "x"), scores=scores, against=AGAINST,
            metric_directions={"cost": "lower"},
        )  # fmt: skip
    found = leaderboard(project, "d")
    assert (found.higher, found.leaders) == (False, ("cheap",))
    assert found.arms[1].difference == pytest.approx(2.0)
    (project.data / "goals").mkdir()
    (project.data / "goals" / "g.yaml").write_text("datasets: [d]\nmetric: cost\ndirection: higher\n")
    assert leaderboard(project, "d").leaders == ("dear",)


def test_a_goals_level_and_least_effect_hold(build: Builder, project: Project) -> None:
    """p = 0.031 is behind at 0.05, a contender at 0.01; and a difference below the least effect is none."""
    put(build, "a", wrong_on())
    put(build, "b", wrong_on(*range(6)))
    assert leaderboard(project, "d").arms[1].verdict == "behind"
    assert leaderboard(project, "d").arms[1].p == 2 / 2**6
    place = project.data / "goals"
    place.mkdir()
    (place / "strict.yaml").write_text("datasets: [d]\nalpha: 0.01\n")
    found = leaderboard(project, "d")
    assert (found.arms[1].verdict, found.rules.goal) == ("contender", "strict")
    assert found.arms[1].smallest is None or found.arms[1].smallest > 0
    (place / "strict.yaml").write_text("datasets: [d]\nmin_effect: 0.2\n")
    assert leaderboard(project, "d").arms[1].verdict == "contender"
    (place / "second.yaml").write_text("datasets: [d]\n")
    found = leaderboard(project, "d")
    assert found.rules.goal is None
    assert "several goals fit (second, strict): none of their rules is used" in found.notes
    assert leaderboard(project, "d", goal_id="strict").rules.min_effect == 0.2


def test_repeats_are_one_arm(build: Builder, project: Project) -> None:
    """Two runs of 38 and 34 of 40: the mean 0.9, the spread shown, and a difference inside it says so."""
    for at, wrong in (("20261001T000000Z", 2), ("20261001T000001Z", 6)):
        put(build, "twice", wrong_on(*range(wrong)), at=at, repeat_group="twice_1")
    put(build, "once", wrong_on(*range(30, 33)))
    found = leaderboard(project, "d")
    twice = found.arm("twice")
    assert twice is not None
    assert twice.value == pytest.approx(0.9)
    assert twice.spread is not None
    assert (twice.spread.low, twice.spread.high, len(twice.spread.runs)) == (0.85, 0.95, 2)
    assert found.leaders == ("once",)
    assert twice.difference == pytest.approx(0.025)
    assert twice.inside_spread
    assert any("inside the spread of repeated runs" in note for note in found.notes)
    alone = leaderboard(project, "d", ["twice_20261001T000000Z", "once"])
    assert alone.arms[0].spread is None


def test_clustered_items_are_no_independent_evidence(project: Project) -> None:
    """40 items in 4 clusters of one fate: p is 2/2^4, not 2/2^40, and the interval is wider."""
    made = Builder(project)
    fields = {item: {"doc": f"doc{at // 10}"} for at, item in enumerate(ITEMS)}
    made.dataset("d", {item: item for item in ITEMS}, fields=fields, cluster_field="doc")
    made.labels("d", "ann", LABELS)
    put(made, "a", wrong_on())
    put(made, "b", wrong_on(*range(N)))
    found = leaderboard(project, "d")
    assert (found.clusters, found.arms[1].p, found.arms[1].verdict) == (4, 0.125, "contender")
    assert "items are drawn and flipped by doc: 4 clusters" in found.notes


def test_failures_are_counted_and_in_no_mean(build: Builder, project: Project) -> None:
    """An item that failed has no score: the mean is over 38 of 40, and 2 failed."""
    decisions = wrong_on() | {"i00": None, "i01": None}
    put(build, "a", decisions)
    put(build, "b", wrong_on(2))
    found = leaderboard(project, "d").arm("a")
    assert found is not None
    assert (found.n, found.of, found.errors, found.value) == (38, 40, 2, 1.0)


def test_a_run_level_figure_has_its_verdicts_by_class(build: Builder, project: Project) -> None:
    """Balanced accuracy that is made of the decisions again: 1, 0.75 and 0.5 by hand."""
    wrong = {"good": (), "half": range(1, 20, 2), "poor": range(1, 40, 2)}
    for arm, places in wrong.items():
        decisions = wrong_on(*places)
        value = 1 - len(places) / 40
        build.run(
            arm, "d", decisions, scores=correct(decisions, LABELS), against=AGAINST,
            primary_metric="balanced_accuracy",
        )  # fmt: skip
        _figure(project, arm, value)
    found = leaderboard(project, "d")
    assert (found.metric, found.method) == ("balanced_accuracy", "bootstrap within class")
    assert [(one.name, one.value, one.verdict) for one in found.arms] == [
        ("good", 1.0, "leader"),
        ("half", 0.75, "behind"),
        ("poor", 0.5, "behind"),
    ]


def test_the_pair_test_says_what_the_leaderboard_says(build: Builder, project: Project) -> None:
    """One number has one interval: of an arm beside two others, and of the same arm in a pair."""
    for arm, places in {"good": (1, 2), "half": range(1, 20, 2), "poor": range(1, 40, 2)}.items():
        decisions = wrong_on(*places)
        build.run(
            arm, "d", decisions, scores=correct(decisions, LABELS), against=AGAINST,
            primary_metric="balanced_accuracy",
        )  # fmt: skip
        _figure(project, arm, 1 - len(places) / 40)
    table = {one.name: (one.low, one.high) for one in leaderboard(project, "d").arms}
    pair = pair_test(project, "half", "poor", "d")
    assert {one.name: (one.low, one.high) for one in pair.arms} == {
        name: table[name] for name in ("half", "poor")
    }
    assert table["half"][0] is not None


def test_an_adapters_own_figure_has_no_verdict(build: Builder, project: Project) -> None:
    """What the decisions do not come to is ranked, and nothing is said of how sure it is."""
    for arm, value in (("a", 0.9), ("b", 0.2)):
        put(build, arm, wrong_on(0), primary_metric="balanced_accuracy")
        _figure(project, arm, value)
    found = leaderboard(project, "d")
    assert [(one.name, one.verdict, one.low) for one in found.arms] == [("a", None, None), ("b", None, None)]
    assert any("is the adapter's own" in note for note in found.notes)


def test_a_metric_that_describes_draws_no_leader(build: Builder, project: Project) -> None:
    """METRIC_KINDS says so."""
    for arm in ("a", "b"):
        scores = {item: {"words": float(len(arm))} for item in ITEMS}
        build.run(
            arm, "d", dict.fromkeys(ITEMS, "x"), scores=scores, against=AGAINST,
            metric_kinds={"words": "descriptive"},
        )  # fmt: skip
    found = leaderboard(project, "d")
    assert found.leaders == ()
    assert any("describes an arm" in note for note in found.notes)


def test_what_cannot_be_ranked_is_refused(build: Builder, project: Project, evh: CommandLine) -> None:
    """No score, an unknown metric, a goal of another dataset, an unknown goal."""
    evh.refused("not-scored", "leaderboard", "--dataset-id", "d")
    build.run("a", "d", wrong_on())
    evh.refused("not-scored", "leaderboard", "--dataset-id", "d")
    put(build, "b", wrong_on(), at="20261002T000000Z")
    evh.refused("no-such-metric", "leaderboard", "--dataset-id", "d", "--metric", "bleu")
    evh.refused("no-such-goal", "leaderboard", "--dataset-id", "d", "--goal", "g")
    (project.data / "goals").mkdir()
    (project.data / "goals" / "g.yaml").write_text("datasets: [e]\n")
    evh.refused("other-dataset", "leaderboard", "--dataset-id", "d", "--goal", "g")
    found = evh.ok("leaderboard", "--dataset-id", "d", "--json").json
    assert any(note.startswith("a: no correct") for note in found["warnings"])


def test_the_sheets_footer_says_the_same(build: Builder, evh: CommandLine) -> None:
    """The verdicts of the sheet are the leaderboard's."""
    put(build, "best", wrong_on())
    put(build, "far", wrong_on(*range(15)))
    sheet = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--json").json
    check(sheet, "inspect")
    ranked = evh.ok("leaderboard", "--dataset-id", "d", "--json").json
    assert {one["arm"]: (one["verdict"], one["p_corrected"]) for one in sheet["footer"]} == {
        one["arm"]: (one["verdict"], one["p_corrected"]) for one in ranked["arms"]
    }
    assert "verdicts: paired test by sign flips" in evh.ok("inspect", "--sheet", "--dataset-id", "d").out


def _figure(project: Project, arm: str, value: float) -> None:
    """Give an arm's run a run-level balanced accuracy."""
    import json

    path = next((project.data / "runs").glob(f"{arm}_*")) / "metrics.json"
    raw = json.loads(path.read_text())
    raw["scores"]["balanced_accuracy"] = value
    path.write_text(json.dumps(raw))
