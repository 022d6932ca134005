"""Reading a labeler's reply by its grammar: a verdict and a reason, or the name of what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.llm.verdict import MOST_WHY, read


@pytest.mark.parametrize(
    ("text", "label", "why"),
    [
        ("yes\nIt names the budget.", True, "It names the budget."),
        ("No. Nothing of it.", False, "Nothing of it."),
        ("YES, because it does", True, "because it does"),
        ("**No** – only greetings", False, "only greetings"),
        ("**Answer:** yes. It is there.", True, "It is there."),
        ("Answer: no\n\nOnly greetings.", False, "Only greetings."),
        ('"Yes" It says so.', True, "It says so."),
        ("<check>yes</check> It says so.", True, "It says so."),
        ("\n\n  no: none\n", False, "none"),
        ("- Yes\n- it names  the\n  budget", True, "it names the budget"),
        ("Yes. There is no doubt, and no other reading.", True, "There is no doubt, and no other reading."),
        ("Yes.\nYes, the budget is named.", True, "Yes, the budget is named."),
        ("thinking about no and yes\n</think>\nNo\nNothing.", False, "Nothing."),
        ("<think>yes</think>a</think>no, b", False, "b"),
        ("Final answer: **no** (only greetings)", False, "(only greetings)"),
    ],
)
def test_a_verdict_with_its_reason(text: str, label: bool, why: str) -> None:
    """The first line opens with the word; the reason is all the rest, blanks folded."""
    found = read(text)
    assert (found.label, found.why, found.failure) == (label, why, None)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        (None, "empty"),
        ("  \n", "empty"),
        ("</think>\n ", "empty"),
        ("<think>yes, it", "unfinished"),
        ("maybe", "unparsed"),
        ("The answer is yes.", "unparsed"),
        ("Nothing of it.", "unparsed"),
        ("yesterday it rained", "unparsed"),
        ('{"answer": "yes"}', "unparsed"),
        ("```\nyes\n```", "unparsed"),
        ("Yes, it is.\nNo, it is not.", "ambiguous"),
        ("no\n\n**Yes** after all", "ambiguous"),
        ("Yes.", "no_reason"),
        ("**yes** …", "no_reason"),
    ],
)
def test_what_is_no_label(text: str | None, failure: str) -> None:
    """It is a failure by name, and neither yes nor no."""
    found = read(text)
    assert (found.label, found.why, found.failure) == (None, "", failure)


def test_a_reply_that_was_cut_off() -> None:
    """For a model that thinks it is an unfinished thought, unless the thought is over or kept apart."""
    assert read("yes, it", finish_reason="length", thinks=True).failure == "unfinished"
    assert read("yes, it", finish_reason="length", thinks=True, apart=True).label is True
    assert read("</think>yes, it", finish_reason="length", thinks=True).label is True
    assert read("yes, it", finish_reason="length").label is True
    assert read("", finish_reason="length").failure == "unfinished"
    assert read("hm</think>", finish_reason="length", thinks=True).failure == "unfinished"


@given(st.text())
def test_no_reply_breaks_it_or_is_half_a_label(text: str) -> None:
    """Any text is a label with a reason of at most 2,000 characters, or a failure without either."""
    found = read(text)
    if found.failure is None:
        assert found.label is not None
        assert 0 < len(found.why) <= MOST_WHY
    else:
        assert (found.label, found.why) == (None, "")
