"""Answers that look alike on a screen and are two: a character that nobody sees, an ``é`` in two forms."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from evh.store.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNSEEN = re.compile(
    r"[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)
_JOINERS = re.compile(r"[\u200c\u200d\ufe00-\ufe0f]")
"""Emoji and some scripts need them: told of only where an answer without them is there too."""
_SPACES = re.compile(r"[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_SHOWN = 200


def look_alike(answers: Iterable[str], place: object) -> list[str]:
    r"""Return a sentence for all answers that nobody can tell apart by eye, their characters written out.

    ``'yes'`` and ``'yes\u200b'``; an ``é`` of one character and one of two. An answer with an unseen
    character is told of even where the other one is not there. Cost: linear in the answers.

    Args:
        answers: the answers, repeats allowed.
        place: the file, for the sentence.
    """
    spelt: dict[str, set[str]] = {}
    for answer in set(answers):
        spelt.setdefault(_seen(answer), set()).add(answer)
    told = []
    for plain, forms in sorted(spelt.items()):
        if len(forms) > 1:
            named = " and ".join(_written_out(one) for one in sorted(forms))
            told.append(f"{place}: {named} look alike and are {len(forms)} answers, kept as typed")
        elif _UNSEEN.search(form := next(iter(forms))):
            named = f"{_written_out(form)} looks like {_written_out(plain)}"
            told.append(f"{place}: {named} and is another answer, kept as typed")
    return told


def _seen(answer: str) -> str:
    """Return an answer as it looks: without what nobody sees, one form of each accented letter."""
    if answer.isascii():
        return answer
    plain = _JOINERS.sub("", _UNSEEN.sub("", unicodedata.normalize("NFC", answer)))
    return unicodedata.normalize("NFC", _SPACES.sub(" ", plain))


def _written_out(answer: str) -> str:
    return one_line(ascii(answer), _SHOWN)
