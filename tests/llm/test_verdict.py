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
        ("Yes - it does.", True, "it does."),
        ("Yes\u2014the user asks.", True, "the user asks."),
        ('Yes. "Refund" is said.', True, '"Refund" is said.'),
        ("Yes, no doubt about it.", True, "no doubt about it."),
        ("**Yes.** It does.", True, "It does."),
        # The word is part of the sentence, which stays whole.
        ("No evidence of a refund request is in it.", False, "No evidence of a refund request is in it."),
        ("No refund is asked for.", False, "No refund is asked for."),
        ('No "refund" is said.', False, 'No "refund" is said.'),
        ("Answer: no evidence of it.", False, "no evidence of it."),
        ("No one asked for a refund.", False, "No one asked for a refund."),
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
        ("Yes or no: it depends on reading.", "ambiguous"),
        ("yes/no - cannot tell", "ambiguous"),
        ("No, yes: it does speak of it.", "ambiguous"),
        ("**No**, yes it does", "ambiguous"),
        ("Yes and no. It depends.", "ambiguous"),
        ("Yes. No, it does not.", "ambiguous"),
        ("Answer: yes or no: no", "ambiguous"),
        ("No-one asked for a refund.", "unparsed"),
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
    assert read("yes, it is.", finish_reason="length", thinks=True, apart=True).label is True
    assert read("</think>yes, it is.", finish_reason="length", thinks=True).label is True
    assert read("", finish_reason="length").failure == "unfinished"
    assert read("hm</think>", finish_reason="length", thinks=True).failure == "unfinished"


@pytest.mark.parametrize(
    ("text", "word", "why"),
    [
        ("No, wait, let me think about whether", "unparsed", ""),
        ("No. There is only a gree", "unparsed", ""),
        ("No evidence of", "unparsed", ""),
        ("No", "unparsed", ""),
        ("No. There is none. The custo", "no", "There is none. The custo"),
        ("No evidence is there. The custo", "no", "No evidence is there. The custo"),
        ("No\nThere is only a gree", "no", "There is only a gree"),
        ("Yes, it is named\n", "yes", "it is named"),
    ],
)
def test_a_cut_answer_is_one_where_its_verdict_is_whole(text: str, word: str, why: str) -> None:
    """The first line is over, or a sentence of it is: else more words could have turned it."""
    found = read(text, finish_reason="length")
    assert (found.word, found.why) == (word, why)


def test_a_long_reply_is_read_in_little_time() -> None:
    """200,000 marks behind the word are a pass each: a reply that is quadratic to read would stop the run."""
    for rest in (" " * 200_000, "*" * 200_000, ". " * 100_000, "or " * 70_000):
        read("yes" + rest + "a. b", finish_reason="length")


@given(st.text())
def test_no_reply_breaks_it_or_is_half_a_label(text: str) -> None:
    """Any text is a label with a reason of at most 2,000 characters, or a failure without either."""
    found = read(text)
    if found.failure is None:
        assert found.label is not None
        assert 0 < len(found.why) <= MOST_WHY
    else:
        assert (found.label, found.why) == (None, "")
