"""The lexical baseline: what sharing words with the question says, with no model at all.

It is declared as a baseline wherever its labels stand: the model that made them is called
``overlap-baseline``. A model that does not beat it has understood nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from evh.store.hashing import sha256_text

MODEL = "overlap-baseline"
SHARE = 0.5
RULE = (
    "yes where at least half of the question's content words, and at least two of them where it has as many, "
    "occur in the chunk: case folded, common words left out, plural and verb endings cut"
)
PROMPT_SHA = sha256_text(RULE)
"""The sha256 of the rule: it stands where a prompt's stands."""
_SHOWN = 8
_WORD = re.compile(r"[^\W_]+")
_Y = ("ies", "ied")
_ENDINGS = ("ingly", "edly", "ings", "ing", "ies", "ied", "ers", "ed", "er", "es", "ly", "s")
_COMMON_WORDS = (
    "a about after all also am an and any anyone anything are as at be because been before being "
    "between both but by can could did do does doing done during each either else ever every few for "
    "from get give given had has have having he her here hers him his how i if in into is it its just "
    "let like made make many may me might mine more most much must my no nor not of off on once one "
    "only or other others our out over own per please said same say says she should so some such than "
    "that the their them then there these they thing things think this those though through to too "
    "under up upon us use used very was we were what when where whether which while who whom whose "
    "why will with within without would yes you your summarize summarise discuss discussed discussion "
    "describe explain regarding according"
)
_COMMON = frozenset(_COMMON_WORDS.split())


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A content word of a question, and how it is found in a text.

    Attributes:
        word: its ending cut.
        head: what all its forms begin with.
        forms: matches one of its forms, whole.
    """

    word: str
    head: str
    forms: re.Pattern[str]

    def occurs(self, folded: str) -> bool:
        """Tell whether a form of it stands in a text whose case is folded."""
        at = folded.find(self.head)
        while at >= 0:
            if self.forms.match(folded, at):
                return True
            at = folded.find(self.head, at + 1)
        return False


def answer(question: str, text: str) -> str:
    """Return the baseline's reply, in the form that a model's has: a verdict and a sentence.

    Cost: some passes over the text for each content word of the question; no word of the text is taken apart.
    """
    wanted = _wanted(question)
    if not wanted:
        return "No. The lexical baseline finds no content word in the question."
    folded = text.casefold()
    shared = [one.word for one in wanted if one.occurs(folded)]
    yes = len(shared) >= max(min(2, len(wanted)), SHARE * len(wanted))
    listed = f": {', '.join(shared[:_SHOWN])}" if shared else ""
    more = ", …" if len(shared) > _SHOWN else ""
    return (
        f"{'Yes' if yes else 'No'}. The lexical baseline finds {len(shared)} of the question's {len(wanted)} "
        f"content words in it{listed}{more}."
    )


def words(text: str) -> list[str]:
    """Return the content words of a text in order, their endings cut."""
    return [_stem(word) for word in _WORD.findall(text.casefold()) if _is_content(word)]


def forms(word: str) -> list[str]:
    """Return every word whose ending is cut to ``word``, a content word, the longest first."""
    made = [word, *(word + ending for ending in _ENDINGS if ending not in _Y)]
    made += [word[:-1] + ending for ending in _Y if word.endswith("y")]
    found = [one for one in made if _is_content(one) and _stem(one) == word]
    return sorted(found, key=lambda one: (-len(one), one))


@lru_cache(maxsize=256)
def _wanted(question: str) -> tuple[_Wanted, ...]:
    made = []
    for word in dict.fromkeys(words(question)):
        found = forms(word)
        either = "|".join(map(re.escape, found))
        whole = re.compile(rf"(?<![^\W_])(?:{either})(?![^\W_])")
        made.append(_Wanted(word, _head(found), whole))
    return tuple(made)


def _head(words: list[str]) -> str:
    """Return what words begin with alike."""
    least, most = min(words), max(words)
    return least[: next((n for n, sign in enumerate(least) if sign != most[n]), len(least))]


def _is_content(word: str) -> bool:
    return len(word) > 1 and word not in _COMMON


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: len(word) - len(ending)] + ("y" if ending in _Y else "")
    return word
