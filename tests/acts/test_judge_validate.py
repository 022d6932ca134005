"""A judge against people: what is measured, what is refused, and how a measured judge loses its word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.errors import Refusal
from evh.project import judged, judges, runs
from evh.project.find import Project
from tests.acts.judging import ITEMS, arms, judge_file, model, prefers, two_arms
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check
from tests.servers import replies
from tests.servers.scripted import Scripted

PAIRWISE = "kind: pairwise\njudges: [m]\n"
good = prefers(lambda text: text.startswith("good"))


def judge_all(project: Project, evh: CommandLine, builder: Builder, text: str = PAIRWISE) -> Path:
    """Judge the arms of ``d`` by a judge that prefers ``good``; return the judge's file."""
    path = judge_file(project, text)
    with Scripted(good) as server:
        model(builder, server.base_url)
        evh.ok("judge", "--scorer", "helpful", "--dataset-id", "d")
    return path


def measured(evh: CommandLine, *more: str) -> Any:
    """Measure the judge against ``d/owner`` and return the row."""
    words = ("judge-validate", "--scorer", "helpful", "--labels", "d/owner", *more, "--json")
    return check(evh.ok(*words).json, "judge-validate")["judges"][0]


def test_figures_are_those_of_the_hand(project: Project, evh: CommandLine) -> None:
    """12 items: the judge says a on all; people say a on 8, b on 3, tie on 1. Agreement is 8/12.

    Kappa is 0 (the judge gives one answer). AC1 by hand: π(a) = 20/24, π(b) = 3/24, π(tie) = 1/24;
    pe = (20·4 + 3·21 + 1·23) / 24² / 2 = 166/1152; AC1 = (2/3 − pe) / (1 − pe) = 602/986.
    """
    builder = two_arms(project)
    judge_all(project, evh, builder)
    said = ["arm_a"] * 8 + ["arm_b"] * 3 + ["tie"]
    builder.labels("d", "owner", dict(zip(ITEMS, said, strict=True)))
    row = measured(evh)
    assert (row["n"], row["n_labelled"], row["n_judged"], row["too_few"]) == (12, 12, 12, False)
    assert row["agreement"] == row["baseline"] == 8 / 12
    assert (row["kappa"], row["baseline_answer"]) == (0, "arm_a")
    assert row["ac1"] == pytest.approx(602 / 986)
    assert row["confusion"] == {
        "categories": ["arm_a", "arm_b", "tie"],
        "counts": [[8, 3, 1], [0, 0, 0], [0, 0, 0]],
    }
    (one,) = row["orders"]
    assert [(order["first"], order["n"], order["read"], order["correct"]) for order in one["orders"]] == [
        ("arm_a", 12, 12, 8),
        ("arm_b", 12, 12, 8),
    ]
    assert (one["accuracy"], one["position"]["agreement"]) == (8 / 12, 1.0)


def test_the_terminal_tells_it(project: Project, evh: CommandLine) -> None:
    """Agreement beside what always one answer reaches, both orders, the confusion, the line to add."""
    builder = two_arms(project)
    judge_all(project, evh, builder)
    builder.labels("d", "owner", dict.fromkeys(ITEMS[:9], "arm_a") | dict.fromkeys(ITEMS[9:], "arm_b"))
    before = tree_bytes(project.data)
    found = evh.ok("judge-validate", "--scorer", "helpful", "--labels", "d/owner")
    lines = [" ".join(line.split()) for line in found.out.splitlines()]
    assert "helpful (pairwise) against d/owner on d: 12 items of both, 12 labelled, 12 judged" in lines
    assert "always the same answer 75.0% arm_a" in lines
    assert "m: arm_b first 75.0% 9 of 12 read, 12 asked" in lines
    assert "m: orders alike 100.0% 12 of 12 pairs" in lines
    assert any(line.startswith("validated_by: {") for line in lines)
    assert "always saying 'arm_a' would agree as often (75.0%)" in found.err
    assert tree_bytes(project.data) == before


def test_a_judge_that_is_worse_than_one_answer_is_told_so(project: Project, evh: CommandLine) -> None:
    """Right on 3 of 12, where always saying arm_b is right on 9; of equal shares it is "as often"."""
    builder = two_arms(project)
    judge_all(project, evh, builder)
    builder.labels("d", "owner", dict.fromkeys(ITEMS[:3], "arm_a") | dict.fromkeys(ITEMS[3:], "arm_b"))
    builder.labels("d", "other", dict.fromkeys(ITEMS, "arm_a") | {ITEMS[0]: "arm_b"})
    words = ("judge-validate", "--scorer", "helpful", "--labels")
    told = "always saying 'arm_b' would agree more often: 75.0%, where the judge reaches 25.0%"
    assert told in evh.ok(*words, "d/owner").err
    assert "always saying 'arm_a' would agree as often (91.7%)" in evh.ok(*words, "d/other").err


def test_a_measured_judge_loses_its_word(project: Project, evh: CommandLine) -> None:
    """``--write`` sets one key of the YAML; records keep their keys, readers drop the word."""
    builder = two_arms(project)
    path = judge_all(project, evh, builder, f"# mine\n{PAIRWISE}# the end\n")
    builder.labels("d", "owner", dict.fromkeys(ITEMS, "arm_a"))
    before = path.read_text()
    row = measured(evh, "--write")
    assert row["written"] == "data/judges/helpful.yaml"
    assert path.read_text() == f"{before}{row['line']}\n"
    run = next(one for one in runs.read_all(project) if one.judged)
    assert run.primary_metric == "judge_won_unvalidated"
    validity = judged.validity(project)
    assert validity.metric(run, "judge_won_unvalidated") == "judge_won"
    sheet = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--json").json
    assert sheet["judge"] == "helpful/judge_won"
    evh.ok("judge", "--scorer", "helpful", "--dataset-id", "d")
    again = next(one for one in runs.read_all(project) if one.judged)
    assert (again.primary_metric, (again.judged or {})["note"]) == ("judge_won", None)


def test_a_validation_holds_for_its_rubric_and_its_models(project: Project, evh: CommandLine) -> None:
    """Another rubric, or another model behind the same names, is unvalidated again."""
    builder = two_arms(project)
    path = judge_all(project, evh, builder)
    builder.labels("d", "owner", dict.fromkeys(ITEMS, "arm_a"))
    measured(evh, "--write")
    text = path.read_text()
    config = project.data / "configs" / "m.yaml"
    kept = config.read_text()
    for change in ("rubric", "model"):
        with Scripted(good) as server:
            if change == "rubric":
                path.write_text(text.replace("right", "kinder"))
                config.write_text(kept)
            else:
                path.write_text(text)
                config.write_text(kept.replace('model: "m"', 'model: "m2"'))
            raw = config.read_text()
            start = raw.index("http://")
            config.write_text(raw[:start] + server.base_url + raw[raw.index('"', start) :])
            evh.ok("judge", "--scorer", "helpful", "--dataset-id", "d")
        run = next(one for one in runs.read_all(project) if one.judged)
        assert run.primary_metric == "judge_won_unvalidated", change
        assert not judged.validity(project).holds(run), change


def test_labels_may_use_their_own_words(project: Project, evh: CommandLine) -> None:
    """``--map first=arm_a``: what the people wrote need not be an arm's name; an unmapped word is refused."""
    builder = two_arms(project)
    judge_all(project, evh, builder)
    builder.labels("d", "owner", dict.fromkeys(ITEMS[:6], "first") | dict.fromkeys(ITEMS[6:], "none"))
    row = measured(evh, "--map", "first=arm_a", "--map", "none=tie")
    assert row["agreement"] == 0.5
    words = ("judge-validate", "--scorer", "helpful", "--labels", "d/owner")
    assert "'none' names no arm" in evh.refused("not-of-arms", *words, "--map", "first=arm_a").out
    evh.refused("bad-options", *words, "--map", "first")


def test_grades_are_held_against_grades(project: Project, evh: CommandLine) -> None:
    """The judge gives 4 on all twelve; people 4 six times, 5 and 3 three times each: distance 0.5."""
    builder = arms(project, {"x": {item: f"text {item}" for item in ITEMS}})
    judge_file(project, "kind: grade\njudges: [m]\n")
    with Scripted([replies.fine('{"score": 4}')]) as server:
        model(builder, server.base_url)
        evh.ok("judge", "--scorer", "helpful", "--dataset-id", "d")
    builder.labels("d", "owner", dict(zip(ITEMS, ["4"] * 6 + ["5"] * 3 + ["3.0"] * 3, strict=True)))
    row = measured(evh)
    assert (row["agreement"], row["mean_error"], row["baseline_answer"]) == (0.5, 0.5, "4")
    builder.labels("d", "words", dict.fromkeys(ITEMS, "fine"))
    evh.refused("not-grades", "judge-validate", "--scorer", "helpful", "--labels", "d/words")


def test_what_cannot_be_measured_is_refused(project: Project, evh: CommandLine) -> None:
    """Labels that no person gave; nothing judged by the present rubric; too few to record."""
    builder = two_arms(project)
    words = ("judge-validate", "--scorer", "helpful")
    path = judge_file(project, PAIRWISE)
    builder.labels("d", "owner", dict.fromkeys(ITEMS[:5], "arm_a"))
    evh.refused("not-judged", *words, "--labels", "d/owner")
    judge_all(project, evh, builder)
    builder.labels("d", "made", dict.fromkeys(ITEMS, "arm_a"), source={"kind": "model", "by": "x"})
    evh.refused("not-people", *words, "--labels", "d/made")
    evh.refused("not-measured", *words, "--labels", "d/owner", "--write")
    evh.refused("no-such-label-set", *words, "--labels", "d/nobody")
    path.write_text(path.read_text().replace("right", "kinder"))
    evh.refused("not-judged", *words, "--labels", "d/owner")


LINE = 'validated_by: {"rubric_sha256":"00","run":"r"}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("kind: pick\n", f"kind: pick\n{LINE}\n"),
        ("kind: pick", f"kind: pick\n{LINE}\n"),
        ("validated_by: null\nkind: pick\n", f"{LINE}\nkind: pick\n"),
        (
            "validated_by:\n  run: old\n  rubric_sha256: x\n# keep\nkind: pick\n",
            f"{LINE}\n# keep\nkind: pick\n",
        ),
        ("kind: pick\r\n# x\r\n", f"kind: pick\r\n# x\r\n{LINE}\r\n"),
    ],
)
def test_the_key_is_set_and_all_else_stays(before: str, after: str) -> None:
    """Appended or replaced on its own lines; comments, order and line ends are kept."""
    assert judges.with_validation(before, {"run": "r", "rubric_sha256": "00"}) == after


def test_a_file_that_would_break_is_left_alone(project: Project) -> None:
    """A YAML in one flow mapping cannot take a line of its own: refused, unchanged, the line told."""
    path = project.data / "judges" / "s.yaml"
    path.parent.mkdir()
    text = json.dumps({"kind": "pick", "rubric": "x", "judges": ["m"]})
    path.write_text(text)
    with pytest.raises(Refusal) as found:
        judges.write_validation(project, "s", {"run": "r", "rubric_sha256": "00"})
    assert found.value.code == "cannot-set-key"
    assert LINE in str(found.value.next)
    assert path.read_text() == text
