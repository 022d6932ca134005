"""Reading a reply of the evidence labeler: a verdict and a reason, or the name of what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_WHY = 2_000
_END_OF_THOUGHT = "</think>"
_START_OF_THOUGHT = "<think>"
# What may stand around the word: emphasis, quotes, brackets, a bullet, "Answer:", a <check> tag.
_AROUND = r"[\s*_`\"'“”\u2018\u2019«»()\[\]#>•-]*"
_VERDICT = re.compile(
    rf"{_AROUND}(?:(?:final\s+)?(?:answer|verdict|check){_AROUND}(?::|=|\bis\b){_AROUND})?"
    rf"(?:<check>{_AROUND})?(?P<word>yes|no)\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LEAD = re.compile(r"(?:[\s*_`\"'“”\u2018\u2019«»)\].,:;!–—-]|</check>)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reply says: ``label`` and ``why``; or neither, and the ``failure``.

    ``failure`` is ``unfinished``, ``empty``, ``ambiguous``, ``unparsed`` or ``no_reason``.
    """

    label: bool | None = None
    why: str = ""
    failure: str | None = None

    @property
    def word(self) -> str:
        """``yes``, ``no`` or the failure."""
        return self.failure or ("yes" if self.label else "no")


def read(
    text: str | None, *, finish_reason: str | None = None, thinks: bool = False, apart: bool = False
) -> Verdict:
    """Return what a reply says; nothing is guessed.

    The answer is what follows the last ``</think>``, else the whole text. Its first line that is not blank
    opens with yes or no; the rest is the reason. A later line that opens with the other word makes it
    ambiguous.

    Args:
        text: the reply's content.
        finish_reason: why it ended.
        thinks: the model was given room to think: cut off before ``</think>``, the text is its thought.
        apart: the server gave the thought apart, so that the text is the answer.
    """
    cut = finish_reason == "length"
    if text is None or not text.strip():
        return Verdict(failure="unfinished" if cut else "empty")
    _, ended, answer = text.rpartition(_END_OF_THOUGHT)
    if not ended:
        if answer.lstrip().startswith(_START_OF_THOUGHT) or (cut and thinks and not apart):
            return Verdict(failure="unfinished")
    elif not answer.strip():
        return Verdict(failure="unfinished" if cut else "empty")
    lines = [line for line in answer.splitlines() if line.strip()]
    found = _VERDICT.fullmatch(lines[0])
    if found is None:
        return Verdict(failure="unparsed")
    word = found["word"].lower()
    others = (_VERDICT.fullmatch(line) for line in lines[1:])
    if any(other is not None and other["word"].lower() != word for other in others):
        return Verdict(failure="ambiguous")
    why = " ".join(" ".join([_after(found["rest"]), *lines[1:]]).split())
    if not _after(found["rest"]):
        why = _after(why)
    if not any(sign.isalnum() for sign in why):
        return Verdict(failure="no_reason")
    return Verdict(word == "yes", why[:MOST_WHY])


def _after(rest: str) -> str:
    """Return what follows the word, without the marks that close it."""
    lead = _LEAD.match(rest)
    return rest[lead.end() :] if lead else rest
