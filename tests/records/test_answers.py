"""A label's text: which answers it accepts, and what is no accept-list though it is written as one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.records.answers import answers, canonical, listed, malformed, shown

DEEP = '{"accept": ' + "[" * 100_000
NO_LISTS = {
    DEEP: "it cannot be read as JSON",
    '{"accept": ["a"': "it cannot be read as JSON",
    '{"accept": []}': "it accepts no answer",
    '{"accept": ["a"], "accept": ["b"]}': "accept stands in it twice",
    '{"accept": ["a", 1]}': "accept is not a list of texts",
    '{"accept": "a"}': "accept is not a list of texts",
    '{"accept": ["\\ud800"]}': "an answer in it holds a lone surrogate",
}


@pytest.mark.parametrize(("text", "why"), NO_LISTS.items(), ids=range(len(NO_LISTS)))
def test_what_is_no_accept_list_is_a_plain_text(text: str, why: str) -> None:
    """Readers take it for one answer and never break; a writer is told why."""
    assert answers(text) == (text,)
    assert shown(text) == text
    assert listed(text) is None
    assert malformed(text) == why


@pytest.mark.parametrize(
    "text", ["", "yes", "{}", "[" * 100_000, '{"accept": true, "by": "x"}', "{accept: a}"]
)
def test_any_other_text_is_well_formed(text: str) -> None:
    """Another JSON value, or none at all, is an answer like any."""
    assert malformed(text) is None
    assert answers(text) == (text,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"accept": ["a", ""]}', "an answer in it is empty"),
        (json.dumps({"accept": ['{"accept": ["a"]}']}), "an answer in it is an accept-list itself"),
    ],
)
def test_a_list_that_is_read_may_still_not_be_written(text: str, why: str) -> None:
    """An empty answer, and a list in a list."""
    assert malformed(text) == why


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, unique=True))
def test_a_canonical_text_accepts_what_it_was_made_of(accepted: list[str]) -> None:
    """Sorted, and the same whichever way the answers came."""
    text = canonical(accepted)
    assert list(answers(text)) == sorted(accepted)
    assert canonical(reversed(accepted)) == text
