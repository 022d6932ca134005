"""The list of judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh_build import known, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evh_build.source import Source

UNVALIDATED = "unvalidated: not measured against people"
OUTDATED = "unvalidated: measured by another rubric or other models than it judges by now"
FILLED = "unvalidated: a sheet that somebody filled"


@dataclass(frozen=True, slots=True)
class Measured:
    """What a judge's file says of its measuring against people; None for what it does not say."""

    labels: Link | None
    n: int | None
    agreement: float | None
    kappa: float | None
    baseline: float | None
    at: str


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """A judge, or a sheet that somebody filled (``kind`` then is what was filled).

    ``validated`` tells whether it was measured against people by the rubric and the models that it judges
    by; ``word`` says it. ``judges`` are the arms whose models judge, or who filled the sheet.
    """

    scorer: str
    path: str | None
    kind: str
    judges: tuple[Link, ...]
    here: bool
    validated: bool
    word: str
    measured: Measured | None
    datasets: tuple[Link, ...]
    n_runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The list of judges.

    Attributes:
        judges: a judge a row, validated ones first, then by name.
    """

    judges: tuple[JudgeLine, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    name = known.a_dataset(source)
    labels = f"{name}/{known.a_set(source, name)}"
    scorer = next(iter(source.gathered.deciding.judges), "S")
    yield Leaf(
        urls.JUDGES,
        Context(
            title="Judges",
            section="judges",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command("judge stored outputs", "judge", "--scorer", scorer, "--dataset-id", name),
                command(
                    "measure a judge against people",
                    "judge-validate", "--scorer", scorer, "--labels", labels, "--write",
                ),
                command("how a judge is written", "help", "judges"),
            ),
            judges=tuple(line(source, name) for name in names(source)),
        ),
    )  # fmt: skip


def names(source: Source) -> list[str]:
    """Return the judges, and the filled sheets' names: validated ones first."""
    held = source.gathered.deciding
    found = {*held.judges}
    for run in source.gathered.runs.values():
        if run.judged and "/" in run.folder:
            found.add(run.folder.rpartition("/")[2])
    return sorted(found, key=lambda name: (not is_validated(source, name), name))


def line(source: Source, name: str) -> JudgeLine:
    """Return a judge as lists show it."""
    held = source.gathered.deciding
    judge, runs = held.judges.get(name), held.judged_runs(name)
    validated = is_validated(source, name)
    by = judge.validated_by if judge else None
    measured = _measured(source, by) if by else None
    latest = (runs[-1].judged or {}) if runs else {}
    named = judge.judges if judge else tuple(part for part in str(latest.get("by") or "").split(", ") if part)
    word = "validated against people"
    if not validated:
        word = FILLED if latest.get("sheet_sha256") else OUTDATED if by else UNVALIDATED
    on = sorted({run.dataset_id for run in runs})
    return JudgeLine(
        scorer=name,
        path=source.urls.judge(name),
        kind=judge.kind if judge else str(latest.get("kind") or ""),
        judges=tuple(Link(one, source.urls.arm(one)) for one in named),
        here=judge is not None,
        validated=validated,
        word=word,
        measured=measured,
        datasets=tuple(Link(one, source.urls.dataset(one)) for one in on),
        n_runs=len(runs),
    )


def is_validated(source: Source, name: str) -> bool:
    """Tell whether a judge is validated for the runs that it judged last; one without any by its file."""
    held = source.gathered.deciding
    passes = held.passes(name)
    if passes:
        return held.validity.holds(passes[0][0])
    judge = held.judges.get(name)
    return judge is not None and judge.validated_by is not None


def _measured(source: Source, by: Mapping[str, Any]) -> Measured:
    labels = by.get("labels")
    n = by.get("n")
    return Measured(
        labels=Link(labels, source.urls.label_set(labels)) if isinstance(labels, str) else None,
        n=n if isinstance(n, int) else None,
        agreement=_number(by.get("agreement")),
        kappa=_number(by.get("kappa")),
        baseline=_number(by.get("baseline")),
        at=str(by.get("at") or ""),
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


PAGE = Page("judges", Context, make)
