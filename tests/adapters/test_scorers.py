"""The bundled scorers: figures counted by hand, every option, and what is refused."""

from __future__ import annotations

import pytest

from evh.adapters import json_fields, numeric, rouge, set_match
from evh.adapters.loader import load
from evh.adapters.results import ScoredRow
from evh.adapters.scorers import number_in
from evh.errors import Refusal
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder


def test_sets_are_counted_by_their_parts() -> None:
    """Two of three right, one of two said wrong; repeats, order, spaces and the form do not count."""
    assert set_match("a, x", "a, b") == {
        "set_precision": 0.5,
        "set_recall": 0.5,
        "set_f1": 0.5,
        "correct": 0.0,
    }
    assert set_match('["b", "a", "a"]', "a\nb\n")["correct"] == 1.0
    assert set_match("A;b", "a;B", sep=";", case=False)["correct"] == 1.0
    assert set_match("[1, 2]", "1,2")["set_f1"] == 1.0


@pytest.mark.parametrize(("output", "label", "f1"), [("", "", 1.0), ("a", "", 0.0), ("", "a", 0.0)])
def test_empty_sets_are_alike_only_to_each_other(output: str, label: str, f1: float) -> None:
    """As SQuAD 2.0 has it for texts without a token."""
    assert set_match(output, label)["set_f1"] == f1


def test_the_label_that_suits_best_counts() -> None:
    """An accept-list holds several right answers, for every scorer."""
    assert set_match("a, b", '{"accept": ["a", "a, b"]}')["correct"] == 1.0
    assert numeric("7", '{"accept": ["5", "7.4"]}', atol=0.5)["abs_error"] == pytest.approx(0.4)
    label = '{"accept": ["{\\"a\\": 1}", "{\\"a\\": 2}"]}'
    assert json_fields('{"a": 2}', label)["correct"] == 1.0


@pytest.mark.parametrize(
    ("text", "find", "value"),
    [
        ("42", "whole", 42.0),
        (" -1,234.50\n", "whole", -1234.5),
        ("−3", "whole", -3.0),
        ("€ 12 %", "whole", 12.0),
        ("1e3", "whole", 1000.0),
        ("12 apples", "whole", None),
        ("1,23", "whole", None),
        ("nan", "whole", None),
        ("1e999", "whole", None),
        ("between 3 and 5.", "first", 3.0),
        ("between 3 and 5.", "last", 5.0),
        ("none", "last", None),
    ],
)
def test_a_number_is_read_or_not_at_all(text: str, find: str, value: float | None) -> None:
    """Thousands only in groups of three; nothing that is not finite; a longer text only when asked."""
    assert number_in(text, find) == value


def test_a_tolerance_is_the_larger_of_two() -> None:
    """|98 − 100| = 2: inside atol 2 and inside rtol 0.02, outside both at 1.9 and 0.019."""
    assert numeric("98", "100", atol=2)["correct"] == 1.0
    assert numeric("98", "100", rtol=0.02)["correct"] == 1.0
    assert numeric("98", "100", atol=1.9, rtol=0.019)["correct"] == 0.0
    assert "rel_error" not in numeric("1", "0")


def test_json_values_are_equal_by_value() -> None:
    """1 is 1.0 and not true; white space counts inside a text, not around it; a fence is taken off."""
    label = '{"n": 1, "t": "a b", "l": [1, {"x": null}]}'
    fenced = '```json\n{"n": 1.0, "t": " a b ", "l": [1, {"x": null}]}\n```'
    assert json_fields(fenced, label)["correct"] == 1.0
    made = json_fields('{"n": true, "t": "ab", "l": [1]}', label)
    assert (made["fields_correct"], made["json_valid"]) == (0.0, 1.0)
    assert json_fields("no JSON", label) == {
        "field_n": 0.0,
        "field_t": 0.0,
        "field_l": 0.0,
        "fields_correct": 0.0,
        "correct": 0.0,
        "json_valid": 0.0,
    }
    assert json_fields('{"n": 1}', label, fields=("n",))["correct"] == 1.0


def test_rouge_is_the_packages() -> None:
    """Counted by hand; with ``stem`` words count by their stems."""
    pytest.importorskip("rouge_score", reason="pip install rouge-score")
    # 2 of 3 words common, 1 of 2 pairs, and a longest common run of 2.
    assert rouge("the cat sat", "the cat slept") == pytest.approx(
        {"rouge1": 2 / 3, "rouge2": 0.5, "rougeL": 2 / 3}
    )
    assert rouge("cats", "cat", stem=True)["rouge1"] == 1.0
    assert rouge("cats", "cat")["rouge1"] == 0.0


def test_options_follow_the_name(project: Project) -> None:
    """A config's word names the options; another tolerance is another scorer by its identity."""
    near = load(project, "numeric:atol=0.5,find=last")
    assert near.score("about 12.4", "12", None, "d/i1")["correct"] == 1.0
    assert near.identity != load(project, "numeric:atol=0.6,find=last").identity
    assert near.metric_directions["abs_error"] == "lower"
    assert load(project, "set_match:sep=bar,case=no").score("A|b", "b|a", None, "d/i1")["correct"] == 1.0
    assert load(project, "set_match").decide("b, a", "d/i1") == '["a", "b"]'
    assert load(project, "json_fields:fields=a").decide('{"b": 1, "a": 2}', "d/i1") == '{"a": 2}'


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("numeric:atol=-1", "bad-adapter-options"),
        ("numeric:tol=1", "bad-adapter-options"),
        ("set_match:case=maybe", "bad-adapter-options"),
        ("no_such", "no-such-adapter"),
    ],
)
def test_an_option_that_is_none_is_refused(name: str, code: str, project: Project) -> None:
    """With the options that there are, before anything runs."""
    with pytest.raises(Refusal) as refusal:
        load(project, name)
    assert refusal.value.code == code


def test_a_label_that_is_no_number_spoils_one_item(project: Project) -> None:
    """It is that item's failure, with the label in the reason: never a score of 0."""
    with pytest.raises(Refusal, match="numeric") as refusal:
        load(project, "numeric").score("1", "many", None, "d/i1")
    assert "the label 'many' is no number" in refusal.value.why[0]


def test_micro_figures_count_all_parts_together(project: Project) -> None:
    """2 right of 3 said, 2 of 5 wanted: not the mean of the items' own figures."""
    rows = [
        ScoredRow("i1", "a, b", "", "a, b, c, d", {}),
        ScoredRow("i2", "x", "", "y", {}),
    ]
    assert load(project, "set_match").summarise(rows, "d") == {
        "micro_precision": 2 / 3,
        "micro_recall": 2 / 5,
        "micro_f1": 4 / 8,
    }


def test_a_run_by_a_bundled_scorer(project: Project, evh: CommandLine) -> None:
    """A config names it, `run` scores with it, and confusions stand among the figures of a classification."""
    build = Builder(project)
    build.dataset("d", {"i1": "red, blue", "i2": "green"})
    build.labels("d", "ann", {"i1": "blue, red", "i2": "red"})
    build.config("sets", adapter="set_match", dataset_id="d", labels="ann")
    build.config("classes", adapter="classification", dataset_id="d", labels="ann")
    scores = evh.ok("run", "--config", "sets", "--json").json["runs"][0]["scores"]
    assert (scores["set_f1"], scores["micro_f1"]) == (0.5, 4 / 6)
    scores = evh.ok("run", "--config", "classes", "--json").json["runs"][0]["scores"]
    assert (scores["confused_red_as_other"], scores["support_red"]) == (1.0, 1.0)
