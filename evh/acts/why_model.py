"""One number with all that it rests on, each held against what was recorded of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evh.errors import Refusal

FIGURES = {
    "same": "same_share",
    "kappa": "kappa",
    "ac1": "ac1",
    "alpha": "alpha",
    "kappa_linear": "kappa_linear",
    "kappa_quadratic": "kappa_quadratic",
    "masi": "masi",
    "n": "n",
}
"""The figures of two sets' agreement that a reference may name, and the attribute that holds each."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that a number rests on.

    Attributes:
        depth: how far from the number: 0 is what holds it, 1 what that was made of, and so on.
        kind: ``run``, ``figure``, ``rows``, ``fingerprint``, ``config``, ``code``, ``judge``, ``rubric``,
            ``dataset``, ``text``, ``labels``, ``label``, ``guideline``, ``reference``, ``capture`` or
            ``source``.
        ref: its name in the project.
        told: a sentence: who, when, why.
        file: the file or folder, as evh names it; None where it never lay in the project.
        recorded: the sha256 (or digest) that somebody recorded; None where nobody did.
        by: the file that recorded it.
        found: what it is now; None where it is not here.
        matches: whether the two are equal; None where nothing was recorded to compare with.
    """

    depth: int
    kind: str
    ref: str
    told: str = ""
    file: str | None = None
    recorded: str | None = None
    by: str | None = None
    found: str | None = None
    matches: bool | None = None


def compared(link: Evidence) -> Evidence:
    """Return the link with its match: None where nothing was recorded to compare with."""
    return replace(link, matches=link.recorded == link.found if link.recorded is not None else None)


@dataclass(frozen=True, slots=True)
class Answer:
    """One number, how it came about, and everything that it rests on, nearest first.

    ``value`` is None where the number is undefined. ``changed`` are the links that no longer match.
    """

    ref: str
    value: float | str | None
    how: str
    links: tuple[Evidence, ...]
    warnings: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[Evidence, ...]:
        """What was recorded and is no longer so."""
        return tuple(one for one in self.links if one.matches is False)


def no_such_form(ref: str) -> Refusal:
    """Return the Refusal of a reference that has none of the forms."""
    return Refusal(
        "bad-ref",
        f"{ref!r} names no number",
        why=[
            "run:RUN#METRIC is a run's figure",
            "sheet:DATASET/ITEM#ARM.METRIC is a cell of a dataset's sheet",
            "sheet:DATASET/ITEM#winner is who won its row",
            "sheet:DATASET#ARM.METRIC is an arm's figure below the sheet",
            "sheet:DATASET#ARM.win_rate is an arm's share of the wins",
            f"agree:DATASET/SET,DATASET/SET#FIGURE is two sets' agreement ({', '.join(FIGURES)})",
        ],
        next="evh why --help",
    )
