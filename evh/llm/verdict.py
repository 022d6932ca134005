"""Reading a reply of the evidence labeler: a verdict and a reason, or the name of what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_WHY = 2_000
_END_OF_THOUGHT = "</think>"
_START_OF_THOUGHT = "<think>"
_LINE_ENDS = ("\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
# What may stand around the word: emphasis, quotes, brackets, a bullet, "Answer:", a <check> tag.
_AROUND = r"[\s*_`\"'“”\u2018\u2019«»()\[\]#>•-]*"
_VERDICT = re.compile(
    rf"{_AROUND}(?:(?:final\s+)?(?:answer|verdict|check){_AROUND}(?::|=|\bis\b){_AROUND})?"
    rf"(?:<check>{_AROUND})?(?P<word>yes|no)\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
# What closes the word: marks, the end of a sentence, a dash.
_MARK = r"(?:[*_`\"'“”\u2018\u2019«»)\]]|</check>)"
_MARKS = rf"{_MARK}*"
# With a letter behind it, each of these makes another word of it: "no-one", "no's".
_JOINED = re.compile(r"[-\u2010\u2011'\u2019&+@\\](?=\w)")
_CLOSING = re.compile(rf"{_MARK}|\s*(?:[.,:;!?…–—]|[•-](?!\w)|$)", re.IGNORECASE)
_LEAD = re.compile(rf"{_MARKS}\s*[.,:;!?…]*{_MARKS}\s*(?:[–—]+\s*|[:•-]+\s+|[:•-]+$)?[.…]*", re.IGNORECASE)
_SECOND = re.compile(
    r"(?P<between>\W*(?:(?:or|and|but)\b\W*){0,2})(?P<word>yes|no)\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_EITHER = re.compile(r"/|\bor\b", re.IGNORECASE)
_BEGUN = re.compile(r"\w")
_ENDED = re.compile(rf"[.!?…]{_MARKS}(?:\s|$)", re.IGNORECASE)


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
    opens with yes or no; the rest is the reason. The other word beside it ("yes or no") or at the beginning
    of a later line makes it ambiguous. Of an answer that was cut off the first line must be whole, or hold a
    whole sentence: "No, wait, let me" has not said no.

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
    first = _opened(lines[0])
    if first is None:
        return Verdict(failure="unparsed")
    if first.both or any(one is not None and one.word != first.word for one in map(_opened, lines[1:])):
        return Verdict(failure="ambiguous")
    if cut and len(lines) == 1 and not answer.rstrip(" \t").endswith(_LINE_ENDS) and not first.ended:
        return Verdict(failure="unparsed")
    why = " ".join(" ".join([first.why, *lines[1:]]).split())
    if not first.why:
        why = why[_end_of(_LEAD, why) :]
    if not any(sign.isalnum() for sign in why):
        return Verdict(failure="no_reason")
    return Verdict(first.word == "yes", why[:MOST_WHY])


@dataclass(frozen=True, slots=True)
class _Opened:
    """A line that opens with the word: the word, its reason, and whether the other word stands beside it."""

    word: str
    why: str
    both: bool

    @property
    def ended(self) -> bool:
        """Whether a sentence of the reason is whole."""
        begun = _BEGUN.search(self.why)
        return begun is not None and _ENDED.search(self.why, begun.end()) is not None


def _opened(line: str) -> _Opened | None:
    """Return what a line says that opens with yes or no; None: it does not.

    Where the word stands alone the reason is what follows it; else the word is part of the sentence ("No
    evidence of it is there."), which stays whole.
    """
    found = _VERDICT.fullmatch(line)
    if found is None:
        return None
    word, rest = found["word"].lower(), found["rest"]
    if _JOINED.match(rest):
        return None
    why = rest[_end_of(_LEAD, rest) :] if _alone(rest) else line[found.start("word") :]
    return _Opened(word, why, _says_both(word, rest))


def _alone(rest: str) -> bool:
    """Tell whether a word is closed by what follows it: a mark, or the end of the line."""
    return _CLOSING.match(rest) is not None


def _says_both(word: str, rest: str) -> bool:
    """Tell whether the other word follows at once as an answer too: "yes or no", "yes/no", "No, yes: …".

    "Yes, no doubt about it" says yes alone: its "no" belongs to what follows.
    """
    second = _SECOND.match(rest)
    if second is None or second["word"].lower() == word:
        return False
    return word == "no" or _EITHER.search(second["between"]) is not None or _alone(second["rest"])


def _end_of(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0
