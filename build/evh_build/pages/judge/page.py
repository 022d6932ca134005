"""A judge: what it asks, how it was measured against people, what the order of answers does, its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.project.arms import scored_against
from evh.records.answers import shown
from evh.records.judge import GRADE, plain
from evh.store.text import one_line
from evh_build import known, urls
from evh_build.page import Command, Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.pages.judges.page import JudgeLine, line, names
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evh.acts.judge_validation import Validation
    from evh.measure.intervals import Interval
    from evh.records.judge import Judge
    from evh.records.run import Run
    from evh_build.source import Mark, Source

SHORT = 60


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure with the ends of its 95 % interval, and the counts that it comes from, in words."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    share: bool
    told: str


@dataclass(frozen=True, slots=True)
class OrderRow:
    """A judge on a pair of arms in one order: of ``n`` asked ``read`` verdicts, ``correct`` as people say."""

    judge: str
    order: str
    value: float | None
    low: float | None
    high: float | None
    correct: int
    read: int
    n: int


@dataclass(frozen=True, slots=True)
class ValidationView:
    """A judge against people, measured on what is here.

    ``names`` head the confusion's rows (the judge) and columns (the people); ``counts`` are its cells.
    """

    labels: Link
    dataset: Link
    arms: tuple[Link, ...]
    n: int
    n_labelled: int
    n_judged: int
    few: bool
    figures: tuple[Ratio, ...]
    always: str
    orders: tuple[OrderRow, ...]
    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asker:
    """One model of a pass: verdicts read of those asked, its sense of order, places and its own noise."""

    judge: Link
    asked: int
    read: int
    figures: tuple[Ratio, ...]


@dataclass(frozen=True, slots=True)
class JudgedArm:
    """An arm that was judged: its judged run and figure, over ``scored`` of ``n`` items."""

    arm: Link
    run: Link
    metric: str
    value: float | None
    scored: int | None
    n: int


@dataclass(frozen=True, slots=True)
class Pass:
    """Arms that a judge judged together. ``by`` is who filled a sheet; empty where models judged."""

    dataset: Link
    against: Mark | None
    at: str
    validated: bool
    note: str
    by: str
    arms: tuple[JudgedArm, ...]
    askers: tuple[Asker, ...]
    apart: Ratio | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A judge's page.

    Attributes:
        judge: the judge as lists show it.
        facts: how it judges, key by key.
        rubric: what it judges by; empty where it is not here.
        validation: it against people, measured on what is here; None where that cannot be done.
        passes: what it judged, the latest first.
    """

    judge: JudgeLine
    facts: tuple[tuple[str, str], ...]
    rubric: str
    validation: ValidationView | None
    passes: tuple[Pass, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a judge."""
    held = source.gathered.deciding
    for name in names(source):
        path = source.urls.judge(name)
        if path is None:
            continue
        judge = held.judges.get(name)
        found = held.validation(name)
        one = line(source, name)
        yield Leaf(
            path,
            Context(
                title=name,
                section="judges",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Judges", urls.JUDGES)),
                commands=_commands(source, name, judge, one),
                judge=one,
                facts=_facts(judge) if judge else (),
                rubric=(held.rubric(judge) or "") if judge else "",
                validation=_validation(source, found) if found else None,
                passes=tuple(_pass(source, runs) for runs in held.passes(name)),
            ),
        )


def _facts(judge: Judge) -> tuple[tuple[str, str], ...]:
    told = (
        ("kind", judge.kind),
        ("scale", str(judge.scale) if judge.kind == GRADE else ""),
        ("dimensions", ", ".join(judge.dimensions)),
        ("several are combined by", judge.combine if len(judge.judges) > 1 or judge.repeats > 1 else ""),
        ("each question is asked", f"{judge.repeats} times" if judge.repeats > 1 else "once"),
        ("rubric file", judge.rubric_file or ""),
    )
    return tuple((name, value) for name, value in told if value)


def _validation(source: Source, found: Validation) -> ValidationView:
    agreed = found.agreement
    table = agreed.confusion
    figures = [
        _ratio(
            "agrees with people", agreed.same_share, agreed.same_interval, f"{agreed.same:,} of {agreed.n:,}"
        ),
        Ratio("always the same answer", found.baseline, None, None, share=True, told=_answer(found)),
        _ratio("Cohen’s kappa", agreed.kappa, found.intervals.kappa, "", share=False),
        _ratio("Gwet’s AC1", agreed.ac1, found.intervals.ac1, "", share=False),
    ]
    if agreed.kappa_quadratic is not None:
        figures.append(_ratio("kappa, quadratic weights", agreed.kappa_quadratic, None, "", share=False))
    if found.mean_error is not None:
        figures.append(_ratio("mean distance of grades", found.mean_error, None, "", share=False))
    for one in found.orders:
        figures.append(_ratio(f"{one.judge}: both orders", one.accuracy, None, "the mean of its two orders"))
        place = one.position
        figures.append(
            _ratio(
                f"{one.judge}: orders alike", place.agreement, place.agreement_interval,
                f"{place.consistent:,} of {place.pairs:,} pairs",
            )
        )  # fmt: skip
    return ValidationView(
        labels=Link(found.labels, source.urls.label_set(found.labels)),
        dataset=Link(found.dataset_id, source.urls.dataset(found.dataset_id)),
        arms=tuple(Link(one, source.urls.arm(one)) for one in found.arms),
        n=agreed.n,
        n_labelled=found.n_labelled,
        n_judged=found.n_judged,
        few=agreed.too_few,
        figures=tuple(figures),
        always=_answer(found),
        orders=tuple(
            OrderRow(
                one.judge, f"{order.first} first", order.accuracy,
                order.interval.low if order.interval else None,
                order.interval.high if order.interval else None,
                order.correct, order.read, order.n,
            )
            for one in found.orders
            for order in one.orders
        ),
        names=tuple(one_line(shown(text), SHORT) for text in table.categories),
        counts=table.counts,
        rows=table.rows,
        columns=table.columns,
        notes=found.notes,
    )  # fmt: skip


def _answer(found: Validation) -> str:
    return "" if found.baseline_answer is None else one_line(shown(found.baseline_answer), SHORT)


def _ratio(
    name: str, value: float | None, interval: Interval | None, told: str, *, share: bool = True
) -> Ratio:
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Ratio(name, value, low, high, share=share, told=told)


def _pass(source: Source, runs: tuple[Run, ...]) -> Pass:
    first = runs[0]
    told: Mapping[str, Any] = first.judged or {}
    validity = source.gathered.deciding.validity
    validated = validity.holds(first)
    measured = told.get("measured")
    measured = measured if isinstance(measured, dict) else {}
    by_judge = measured.get("judges")
    against = scored_against(first)
    return Pass(
        dataset=Link(first.dataset_id, source.urls.dataset(first.dataset_id)),
        against=source.mark_of_ref(against) if against else None,
        at=max(run.created_at for run in runs),
        validated=validated,
        note="" if validated else one_line(str(told.get("note") or ""), 200),
        by=str(told.get("by") or "") if told.get("sheet_sha256") else "",
        arms=tuple(_judged_arm(source, run) for run in runs),
        askers=tuple(
            _asker(source, name, one)
            for name, one in (by_judge if isinstance(by_judge, dict) else {}).items()
            if isinstance(one, dict)
        ),
        apart=_apart(measured.get("disagreement")),
    )


def _judged_arm(source: Source, run: Run) -> JudgedArm:
    metric = run.primary_metric or run.shown_metric or ""
    scored = run.extra.get("n_scored")
    return JudgedArm(
        arm=Link(run.config_id, source.urls.arm(run.config_id)),
        run=Link(run.run_id, source.urls.run(run.key)),
        metric=source.gathered.deciding.validity.metric(run, metric),
        value=run.scores.get(metric),
        scored=scored if isinstance(scored, int) else None,
        n=run.n_items,
    )


def _asker(source: Source, name: str, one: Mapping[str, Any]) -> Asker:
    """Return how one judge judged, from what its runs record of it."""
    figures = []
    position = _part(one, "position")
    if position.get("pairs"):
        figures.append(
            _stored(
                "both orders alike",
                position.get("agreement"),
                position.get("agreement_interval"),
                f"{position.get('consistent')} of {position['pairs']} pairs",
            )
        )
        figures.append(
            _stored(
                "the answer shown first won", position.get("first_share"), position.get("first_interval"),
                "50 % without bias; ties left out",
            )
        )  # fmt: skip
        figures.append(
            Ratio(
                "always the first, always the second", None, None, None, share=True,
                told=f"{position.get('always_first')} and {position.get('always_second')} pairs",
            )
        )  # fmt: skip
    for place in one.get("places") or () if isinstance(one.get("places"), list) else ():
        if isinstance(place, dict):
            expected = place.get("expected")
            without = f"{100 * expected:.1f} % without bias" if isinstance(expected, float | int) else ""
            figures.append(_stored(f"place {place.get('place')} picked", place.get("share"), None, without))
    noise = _part(one, "noise")
    if noise.get("questions"):
        asked = f"{noise.get('changed')} of {noise['questions']} questions asked again"
        figures.append(_stored("asked again it changed", noise.get("share"), noise.get("interval"), asked))
    return Asker(
        judge=Link(name, source.urls.arm(name)),
        asked=_count(one.get("asked")),
        read=_count(one.get("read")),
        figures=tuple(figures),
    )


def _apart(told: object) -> Ratio | None:
    if not isinstance(told, dict) or not told.get("questions"):
        return None
    alpha = told.get("alpha")
    words = f"{told.get('split')} of {told['questions']} questions"
    words += f"; Krippendorff’s alpha {alpha:.3f}" if isinstance(alpha, float | int) else ""
    return _stored("the judges part", told.get("share"), None, words)


def _stored(name: str, value: object, interval: object, told: str) -> Ratio:
    ends = interval if isinstance(interval, dict) else {}
    return Ratio(
        name, _float(value), _float(ends.get("low")), _float(ends.get("high")), share=True, told=told
    )


def _part(one: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = one.get(key)
    return found if isinstance(found, dict) else {}


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, float | int) and not isinstance(value, bool) else None


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _commands(source: Source, name: str, judge: Judge | None, one: JudgeLine) -> tuple[Command, ...]:
    passes = source.gathered.deciding.passes(name)
    latest = passes[0] if passes else ()
    dataset = latest[0].dataset_id if latest else "D"
    arms = ",".join(run.config_id for run in latest) or "A,B"
    made = []
    if judge is not None:
        again = ("judge", "--scorer", name, "--dataset-id", dataset, "--runs", arms)
        # Verdicts of a file answer no question of a model's: asking it would ask every one.
        if latest and all((run.judged or {}).get("imported") for run in latest):
            made.append(command("take more verdicts from a file", *again, "--from-file", "verdicts.csv"))
        else:
            made.append(command("judge with it; no known verdict is asked again", *again))
        labels = (
            one.measured.labels.name
            if one.measured and one.measured.labels
            else f"{dataset}/{known.a_set(source, dataset)}"
        )
        measure = ("judge-validate", "--scorer", name, "--labels", labels, "--write")
        made.append(command("measure it against people", *measure))
    if latest:
        metric = f"{name}/{plain(latest[0].primary_metric or '')}"
        words = ("inspect", "--sheet", "--dataset-id", dataset, "--runs", arms, "--metric", metric)
        made.append(command("its verdicts item by item", *words))
    return tuple(made)


PAGE = Page("judge", Context, make)
