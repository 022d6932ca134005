"""Questions with a known answer, mixed in blind: they say how often the labeler is wrong, without people.

Half hold the answer, half do not: a needle in a chunk, asked for; the same chunk, asked for something made
up; a chunk with its words shuffled, or an empty one, under the real question. All are made of the journal's
salt, so that a run that goes on asks the same ones.
"""

from __future__ import annotations

import hmac
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUND = ("needle", "other", "needle", "shuffled", "needle", "other", "needle", "empty")
_THINGS = (
    ("access code", "archive"),
    ("boarding fee", "ferry"),
    ("serial number", "turbine"),
    ("opening year", "observatory"),
    ("seat count", "auditorium"),
    ("postal code", "lighthouse"),
    ("storage limit", "granary"),
    ("license number", "foundry"),
)
_HEADS = ("Ver", "Tess", "Mor", "Quil", "Bran", "Oster", "Hal", "Zin", "Cor", "Pell")
_TAILS = ("rano", "aly", "dwick", "lanta", "moor", "holt", "vescu", "tarra", "beck", "ondi")


@dataclass(frozen=True, slots=True)
class Spec:
    """One probe to be asked.

    Attributes:
        probe_id: ``p00001``.
        kind: see `records.evidence.PROBE_KINDS`.
        base_sha: the chunk that it is made of.
        expected: whether the right answer is yes.
    """

    probe_id: str
    kind: str
    base_sha: str
    expected: bool


@dataclass(frozen=True, slots=True)
class Made:
    """What a probe asks: its question and its text."""

    question: str
    text: str

    @property
    def chunk_sha(self) -> str:
        """The sha256 of the text."""
        return sha256_text(self.text)


def choose(n: int, shas: Sequence[str], salt: str) -> tuple[Spec, ...]:
    """Return ``n`` probes of chunks drawn from ``shas`` by the salt; a larger ``n`` begins alike."""
    made = []
    for number in range(n if shas else 0):
        probe_id = f"p{number + 1:05d}"
        kind = _ROUND[number % len(_ROUND)]
        at = int.from_bytes(_drawn(salt, probe_id, "base")[:8], "big") % len(shas)
        made.append(Spec(probe_id, kind, shas[at], kind == "needle"))
    return tuple(made)


def make(spec: Spec, text: str, question: str, salt: str) -> Made:
    """Return what a probe asks, of the text of its base chunk and the real question."""
    draw = random.Random(_drawn(salt, spec.probe_id, "make"))
    if spec.kind == "empty":
        return Made(question, "")
    if spec.kind == "shuffled":
        words = text.split()
        draw.shuffle(words)
        return Made(question, " ".join(words))
    wanted, other = draw.sample(range(len(_THINGS) * len(_HEADS) * len(_TAILS)), 2)
    needle = f"The {_thing(wanted)} is {draw.randrange(1000, 9999)}."
    places = [0, *(at + 1 for at, sign in enumerate(text) if sign == "\n"), len(text)]
    at = draw.choice(places)
    before, after = text[:at], text[at:]
    joined = f"{before}{'' if not before or before.endswith(chr(10)) else chr(10)}{needle}"
    held = f"{joined}\n{after}" if after else joined
    return Made(f"What is the {_thing(wanted if spec.kind == 'needle' else other)}?", held)


def _thing(number: int) -> str:
    number, thing = divmod(number, len(_THINGS))
    head, tail = divmod(number, len(_TAILS))
    what, where = _THINGS[thing]
    return f"{what} of the {_HEADS[head]}{_TAILS[tail]} {where}"


def _drawn(salt: str, probe_id: str, what: str) -> bytes:
    return hmac.digest(bytes.fromhex(salt), f"probe {probe_id} {what}".encode(), "sha256")
