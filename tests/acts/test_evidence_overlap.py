"""The lexical baseline finds words without taking a text apart, and finds what taking it apart would."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from evh.acts import evidence_overlap
from evh.acts.evidence_overlap import answer, forms, words

# Stems beside what the rule cuts, common words, other scripts, and signs that stand between words or do not.
_STEMS = [
    "valve",
    "close",
    "study",
    "tie",
    "use",
    "ab",
    "lantern",
    "the",
    "straße",
    "ΣΑΣ",
    "naïve",
    "1",
    "ing",
    "y",
]
_ENDS = ["", "s", "es", "ed", "er", "ers", "ing", "ings", "ies", "ied", "ly", "edly", "ingly", "y"]
_BETWEEN = [" ", " ", "_", "-", "\n", "'", ".", "\u0301", ""]
_words = st.tuples(
    st.sampled_from(_STEMS),
    st.sampled_from(_ENDS),
    st.sampled_from(_BETWEEN),
    st.sampled_from([str.lower, str.upper, str.title]),
).map(lambda one: one[3](one[0] + one[1]) + one[2])
_texts = st.lists(_words, max_size=20).map("".join)


@settings(max_examples=1_000, deadline=None)
@given(question=_texts, text=_texts)
def test_the_answer_is_that_of_the_rule(question: str, text: str) -> None:
    """The words of the question that are among the words of the text, each taken apart."""
    wanted = list(dict.fromkeys(words(question)))
    shared = [word for word in wanted if word in set(words(text))]
    said = answer(question, text)
    if not wanted:
        assert said == "No. The lexical baseline finds no content word in the question."
        return
    yes = len(shared) >= max(min(2, len(wanted)), len(wanted) / 2)
    assert said.startswith("Yes." if yes else "No.")
    assert f"finds {len(shared)} of the question's {len(wanted)} content words" in said
    listed = said.partition("content words in it")[2].strip(":.… ").removesuffix(",")
    assert listed == ", ".join(shared[:8])


def test_the_forms_of_a_word_are_all_that_are_cut_to_it() -> None:
    """Counted by hand: a word ending in y has ies and ied, one of two letters only itself."""
    assert forms("study") == [
        "studyingly", "studyedly", "studyings", "studyers", "studying", "studied", "studies", "studyed",
        "studyer", "studyes", "studyly", "studys", "study",
    ]  # fmt: skip
    assert forms("ab") == ["ab"]
    assert {word for form in forms("close") for word in words(form)} == {"close"}


def test_a_long_question_lists_eight_words() -> None:
    """And says that there are more."""
    text = "red harbour lantern valve closed study seven bright lights"
    assert answer(text, text) == (
        "Yes. The lexical baseline finds 9 of the question's 9 content words in it: "
        "red, harbour, lantern, valve, clos, study, seven, bright, …."
    )
    assert evidence_overlap.MODEL == "overlap-baseline"
