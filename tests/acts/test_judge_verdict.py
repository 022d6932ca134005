"""A judge's reply is read by the grammar or not at all: each form of a verdict, each way to give none."""

from __future__ import annotations

import pytest

from evh.acts.judge_verdict import Said, Unread, dump, load, read
from evh.records.judge import Judge, Scale

PAIR = Judge("s", "pairwise", ("m",), rubric="r")
PICK = Judge("s", "pick", ("m",), rubric="r")
GRADE = Judge("s", "grade", ("m",), rubric="r")
DIMENSIONS = Judge("s", "grade", ("m",), rubric="r", scale=Scale(1, 10), dimensions=("clear", "right"))


@pytest.mark.parametrize(
    ("reply", "places"),
    [
        ('{"why": "x", "verdict": "A"}', (0,)),
        ('{"verdict": "b"}', (1,)),
        ('{"verdict": "tie"}', (0, 1)),
        ('{"verdict": "A|B"}', (0, 1)),
        ('{"verdict": "Answer B"}', (1,)),
        ('```json\n{"verdict": "A"}\n```', (0,)),
        ('Both are long.\n```json\n{"verdict": "B"}\n```\n', (1,)),
        ('Let me think.\n{"why": "x", "verdict": "A"}', (0,)),
        ("First is better.\nVerdict: A", (0,)),
        ("**Verdict: B**", (1,)),
        ("**Final verdict:** B", (1,)),
        ("My verdict: tie.", (0, 1)),
        ("Verdict: Neither", (0, 1)),
        ("It is clear.\n[[A]]", (0,)),
        ("Verdict: A\nAs I said.\nVerdict: A", (0,)),
        ("A", (0,)),
        ("**B**", (1,)),
        ("B.", (1,)),
        ("Tie", (0, 1)),
        ("<think>Verdict: A. No: B.</think>\nVerdict: B", (1,)),
        ('maybe A\n</think>\n{"verdict": "B"}', (1,)),
        ("> Verdict: A\nVerdict: B", (1,)),
    ],
)
def test_a_verdict_on_a_pair_is_read(reply: str, places: tuple[int, ...]) -> None:
    """JSON alone, in a fence or on its own line; a verdict line; brackets; the letter; after a thought."""
    found = read(reply, PAIR, 2)
    assert isinstance(found, Said), found
    assert found.places == places


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("", "unparsed"),
        ("I like the first one more.", "unparsed"),
        ("A is better than B", "unparsed"),
        ("The answer says Verdict: A, which is a trick.", "unparsed"),
        ("> Verdict: A", "unparsed"),
        ("<think>Verdict: A", "unparsed"),
        ('{"winner": "A"}', "unparsed"),
        ('{"verdict": 1}', "unparsed"),
        ('{"verdict": null}', "unparsed"),
        ('{"verdict": "A", "verdict": "B"}', "unparsed"),
        ('{"verdict": "A"', "unparsed"),
        ('{"verdict": "A is better"}', "unparsed"),
        ('{"verdict": ""}', "unparsed"),
        ('{"verdict": "C"}', "unknown-letter"),
        ("Verdict: C", "unknown-letter"),
        ("C", "unknown-letter"),
        ("Verdict: A\nVerdict: B", "ambiguous"),
        ('{"verdict": "A"}\n{"verdict": "B"}', "ambiguous"),
        ("Verdict: A\nVerdict: perhaps", "ambiguous"),
        ('```\n{"verdict": "A"}\n```\nVerdict: B', "ambiguous"),
        ("Score: 4", "unparsed"),
        ("[" * 20_000, "unparsed"),
        ('{"a":' * 20_000, "unparsed"),
    ],
)
def test_what_is_no_verdict_on_a_pair_has_a_name(reply: str, kind: str) -> None:
    """Nothing is guessed from prose, quotes, unfinished thoughts, cut or doubled JSON, or two verdicts."""
    found = read(reply, PAIR, 2)
    assert isinstance(found, Unread), found
    assert found.kind == kind


@pytest.mark.parametrize(
    ("reply", "places"),
    [
        ('{"verdict": "C"}', (2,)),
        ('{"verdict": "A|C"}', (0, 2)),
        ('{"verdict": ["C", "A"]}', (0, 2)),
        ("Verdict: B | C", (1, 2)),
        ("Choice: B", (1,)),
    ],
)
def test_a_pick_may_name_several(reply: str, places: tuple[int, ...]) -> None:
    """A pick of three answers: one letter, or several that share the win."""
    found = read(reply, PICK, 3)
    assert isinstance(found, Said), found
    assert found.places == places


def test_a_pick_has_no_tie() -> None:
    """A pick names what is best; "tie" among more than two says nothing."""
    assert read('{"verdict": "tie"}', PICK, 3) == Unread("unparsed", "'tie' is no verdict")


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ('{"why": "x", "score": 4}', 4),
        ('{"score": 4.5}', 4.5),
        ('{"score": "3"}', 3),
        ("Score: 4", 4),
        ("**Score:** 4/5", 4),
        ("Rating: 2 out of 5.", 2),
        ("[[5]]", 5),
        ("3", 3),
    ],
)
def test_a_grade_is_read(reply: str, grade: float) -> None:
    """A number on the scale, in JSON, on a score line, or alone."""
    found = read(reply, GRADE, 1)
    assert isinstance(found, Said), found
    assert dict(found.grades) == {"": grade}


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ('{"score": 6}', "off-scale"),
        ('{"score": 0}', "off-scale"),
        ("Score: 9", "off-scale"),
        ('{"score": true}', "unparsed"),
        ('{"score": NaN}', "unparsed"),
        ('{"score": "four"}', "unparsed"),
        ('{"verdict": 4}', "unparsed"),
        ("I give it 4 of 5", "unparsed"),
        ("Score: 4\nScore: 5", "ambiguous"),
        ("Score: 4/10", "unparsed"),
    ],
)
def test_what_is_no_grade_has_a_name(reply: str, kind: str) -> None:
    """A number off the scale or of another scale is no grade, and none is found in prose."""
    found = read(reply, GRADE, 1)
    assert isinstance(found, Unread), found
    assert found.kind == kind


def test_dimensions_are_graded_together() -> None:
    """Each dimension must be there: in JSON, or a line each."""
    for reply in ('{"scores": {"clear": 7, "right": 9}}', "clear: 7\nRight: 9/10"):
        found = read(reply, DIMENSIONS, 1)
        assert isinstance(found, Said), found
        assert dict(found.grades) == {"clear": 7, "right": 9}
    lacking = read('{"scores": {"clear": 7}}', DIMENSIONS, 1)
    assert lacking == Unread("no-dimension", "right is not graded")
    assert isinstance(read('{"score": 7}', DIMENSIONS, 1), Unread)
    twice = read("clear: 7\nclear: 8\nright: 9", DIMENSIONS, 1)
    assert isinstance(twice, Unread)
    assert twice.kind == "ambiguous"


def test_a_reason_is_kept_beside_the_verdict() -> None:
    """The reason is the JSON's ``why``; of a reply in lines it is the reply, on one line."""
    assert read('{"why": "short\\nand clear", "verdict": "A"}', PAIR, 2) == Said((0,), {}, "short and clear")
    assert read("It is short.\nVerdict: A", PAIR, 2) == Said((0,), {}, "It is short. Verdict: A")


@pytest.mark.parametrize(
    "said", [Said((0, 1)), Said(grades={"": 3.0}), Said(grades={"clear": 1.0, "right": 2.5})]
)
def test_a_kept_verdict_is_read_back(said: Said) -> None:
    """What is written into the journal is what comes out of it."""
    assert load(dump(said)) == said


@pytest.mark.parametrize(
    "raw", [None, {}, "A", {"places": []}, {"places": [-1]}, {"places": [True]}, {"grades": {"": "x"}}]
)
def test_what_is_no_kept_verdict_is_none(raw: object) -> None:
    """A line that another program wrote is no verdict."""
    assert load(raw) is None
