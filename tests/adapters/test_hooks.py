"""The hooks: what each may return, and that whatever else it does is a Refusal that names its place."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.adapters import Result, loader
from evh.adapters.bundled import DEFAULTS
from evh.adapters.hooks import Adapter
from evh.adapters.results import ScoredRow
from evh.errors import Refusal
from evh.project.find import Project

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def made_of(**hooks: Callable[..., Any]) -> Adapter:
    """Return an adapter of these hooks, the defaults standing in for the others."""
    return Adapter("a.py", hooks=hooks, defaults=DEFAULTS, settings={}, identity="0", files={})


def bundled(project: Project, name: str) -> Adapter:
    """Return a bundled adapter."""
    return loader.load(project, name)


def test_the_default_scores_accepted_answers(project: Project) -> None:
    """`correct` is 1 for any of a label's answers; the overlap is with the closest; no label, no score."""
    default = bundled(project, "default")
    accepts = '{"accept": ["file it", "escalate now"]}'
    assert default.score("file it\n", accepts, None, "p") == {"correct": 1.0, "text_f1": 1.0}
    # two of the closest answer's two words against three: F1 = 2·2/(3+2)
    assert default.score("please escalate now", accepts, None, "p") == {"correct": 0.0, "text_f1": 0.8}
    assert default.score("x", None, None, "p") == {}
    assert default.decide("yes\n", "p") == "yes"
    assert default.primary_metric == "correct"


def test_the_classification_adapter_summarises(project: Project) -> None:
    """Two of three right, by hand: accuracy 2/3; recalls 1/2 and 1, balanced accuracy 3/4."""
    adapter = bundled(project, "classification")
    rows = [
        ScoredRow(str(at), decision, decision, label, {})
        for at, (decision, label) in enumerate([("a", "a"), ("b", "a"), ("b", "b")])
    ]
    figures = adapter.summarise(rows, "p")
    assert figures["accuracy"] == pytest.approx(2 / 3)
    assert figures["balanced_accuracy"] == 0.75
    assert adapter.primary_metric == "balanced_accuracy"


def test_the_default_reads_evhs_own_keys() -> None:
    """A record in evh's own form needs no adapter."""
    default = made_of()
    record = {
        "record_id": "r",
        "ts": "2026-01-01",
        "item": "text",
        "fields": {"n": 1, "none": None},
        "output": "yes",
        "production": {"model": "m"},
        "outcomes": [{"kind": "k"}],
    }
    assert default.record_id(record, "p") == default.item_id(record, "p") == "r"
    assert (default.item(record, "p"), default.ts(record, "p")) == ("text", "2026-01-01")
    assert default.fields(record, "p") == {"n": 1}
    assert default.recorded_output(record, "p") == "yes"
    assert default.production_ran(record, "p") == {"model": "m"}
    assert default.outcomes(record, "p") == [{"kind": "k"}]
    assert default.item({}, "p") is None
    assert default.outcomes({}, "p") == []


CALLS: dict[str, Callable[[Adapter], object]] = {
    "record_id": lambda adapter: adapter.record_id({}, "p"),
    "ts": lambda adapter: adapter.ts({}, "p"),
    "item": lambda adapter: adapter.item({}, "p"),
    "item_id": lambda adapter: adapter.item_id({}, "p"),
    "fields": lambda adapter: adapter.fields({}, "p"),
    "recorded_output": lambda adapter: adapter.recorded_output({}, "p"),
    "production_ran": lambda adapter: adapter.production_ran({}, "p"),
    "outcomes": lambda adapter: adapter.outcomes({}, "p"),
    "call_system": lambda adapter: adapter.call_system("t", {}, "p"),
    "decide": lambda adapter: adapter.decide("o", "p"),
    "score": lambda adapter: adapter.score("o", "r", None, "p"),
    "summarise": lambda adapter: adapter.summarise([], "p"),
    "fingerprint": lambda adapter: adapter.fingerprint({}, "p"),
    "warmup": lambda adapter: adapter.warmup({}, "p"),
    "same": lambda adapter: adapter.same("a", "b"),
}


@pytest.mark.parametrize("hook", CALLS)
def test_a_hook_that_raises_is_a_refusal_with_the_place(hook: str) -> None:
    """Every hook: whatever it raises, the hook, the error and what it was about are told."""

    def raising(*_: object) -> object:
        raise LookupError("broken")

    with pytest.raises(Refusal) as told:
        CALLS[hook](made_of(**{hook: raising}))
    assert told.value.code == "adapter-failed"
    assert hook in told.value.what
    assert "LookupError: broken" in told.value.why[0]


@pytest.mark.parametrize("hook", CALLS)
@given(value=JSON)
def test_a_hook_may_return_anything_and_never_breaks_its_caller(hook: str, value: object) -> None:
    """Every hook, any value: it is taken, or refused; nothing else is raised."""
    with contextlib.suppress(Refusal):
        CALLS[hook](made_of(**{hook: lambda *_: value}))


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        ({"m": float("nan")}, "m is nan, not a finite number"),
        ({"m": True}, "m is true/false, not a number"),
        ({"m": np.bool_(1)}, "m is true/false, not a number"),
        ({"m": "1"}, "m is '1', not a finite number"),
        ({"m": float("-inf")}, "m is -inf, not a finite number"),
        ({"m": 1e151}, "m is 1e+151: a score is at most 1e+150, either way"),
        ({"m": 10**400}, "m is 1000"),
        ({"m": Decimal(1)}, "m is Decimal('1'), not a finite number"),
        ({"_m": 1}, "'_m' is not a metric's name"),
        ({"latency_ms": 1}, "'latency_ms' is not a metric's name"),
        ({"decision": 1}, "'decision' is not a metric's name"),
        ({1: 1}, "1 is not a metric's name"),
        ([("m", 1)], "returned list"),
    ],
)
def test_metrics_are_finite_numbers_under_plain_names(metrics: object, reason: str) -> None:
    """What would be read as something else, or break a mean, is refused."""
    with pytest.raises(Refusal) as told:
        made_of(score=lambda _output, _reference: metrics).score("o", "r", None, "p")
    assert reason in told.value.why[0]


def test_numbers_of_other_kinds_are_taken() -> None:
    """numpy's floats and whole numbers, and fractions, become Python's own; what is stored is JSON."""
    given = {"f": np.float32(0.5), "d": np.float64(0.25), "i": np.int64(3), "r": Fraction(1, 4), "n": 2}
    made = made_of(score=lambda _output, _reference: given).score("o", "r", None, "p")
    assert made == {"f": 0.5, "d": 0.25, "i": 3, "r": 0.25, "n": 2}
    assert {key: type(value) for key, value in made.items()} == {
        "f": float,
        "d": float,
        "i": int,
        "r": float,
        "n": int,
    }
    answer = Result("o", tokens_in=np.int32(7), cost_usd=np.float32(0.5), extra={"x": np.float64(1)})  # type: ignore[arg-type]
    took = made_of(call_system=lambda _text, _params: answer).call_system("t", {}, "p")
    assert took == Result("o", tokens_in=7, cost_usd=0.5, extra={"x": 1.0})
    assert (type(took.tokens_in), type(took.cost_usd), type(took.extra["x"])) == (int, float, float)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Result("o", cost_usd=-0.01), "cost_usd is -0.01, below 0"),
        (Result("o", latency_ms=-1), "latency_ms is -1, below 0"),
        (Result("o", tokens_in=-3), "tokens_in is -3, below 0"),
        (Result("o", tokens_out=2**53), "tokens_out is 9.0072e+15, more than can be"),
        (Result("o", tokens_in=True), "tokens_in is true/false, not a number"),
        (Result("o", cost_usd=float("inf")), "cost_usd is inf, not a finite number"),
        (Result("o", extra={"x": 1e200}), "extra: x is 1e+200: a score is at most 1e+150, either way"),
        (Result("a\ud800"), "the output holds a lone surrogate"),
    ],
)
def test_a_result_holds_what_can_be(answer: Result, reason: str) -> None:
    """Below nothing costs, takes or counts anything."""
    with pytest.raises(Refusal) as told:
        made_of(call_system=lambda _text, _params: answer).call_system("t", {}, "p")
    assert told.value.why == (f"p: {reason}",)


@pytest.mark.parametrize(
    ("settings", "reasons"),
    [
        ({"METRIC_KINDS": ["x"]}, ["METRIC_KINDS is list ['x'], not a mapping of metrics to texts"]),
        (
            {"METRIC_DIRECTIONS": "lower"},
            ["METRIC_DIRECTIONS is str 'lower', not a mapping of metrics to texts"],
        ),
        (
            {"METRIC_DIRECTIONS": {"m": "down"}},
            ["METRIC_DIRECTIONS['m'] is 'down'; it can be higher or lower"],
        ),
        (
            {"METRIC_KINDS": {"m": 1, 2: "quality"}},
            ["METRIC_KINDS['m'] is int 1, not a text", "METRIC_KINDS: 2 is not a metric's name"],
        ),
        (
            {"PRIMARY_METRIC": 5, "METRIC_KINDS": 5},
            [
                "PRIMARY_METRIC is int 5, not a metric's name",
                "METRIC_KINDS is int 5, not a mapping of metrics to texts",
            ],
        ),
    ],
)
def test_settings_of_a_wrong_kind_are_refused(settings: dict[str, Any], reasons: list[str]) -> None:
    """With the adapter's name and every setting that is wrong, before anything is asked."""
    with pytest.raises(Refusal) as told:
        Adapter("a.py", hooks={}, defaults=DEFAULTS, settings=settings, identity="0", files={})
    assert told.value.code == "adapter-failed"
    assert told.value.why == tuple(f"a.py: {reason}" for reason in reasons)


def test_score_gets_the_source_only_when_it_asks() -> None:
    """A third argument is the item's text; two arguments work as before."""
    assert not made_of(score=lambda _output, _reference: {}).reads_source
    three = made_of(score=lambda _output, _reference, source: {"n": len(source)})
    assert three.reads_source
    assert three.score("o", "r", "four", "p") == {"n": 4}


def test_a_plain_text_is_a_result() -> None:
    """call_system may return the output alone."""
    assert made_of(call_system=lambda text, _params: text).call_system("x", {}, "p") == Result(output="x")


def test_undefined_figures_are_left_out() -> None:
    """summarise may say None or NaN for what is undefined: such figures are absent, never 0."""
    figures = made_of(summarise=lambda _rows: {"a": 1.0, "b": None, "c": float("nan")}).summarise([], "p")
    assert figures == {"a": 1.0}


def test_a_figure_that_is_none_is_told() -> None:
    """An infinite one, one under a name that no metric can have, true: left out, each with its reason."""
    given = {"a": np.float64(1), "b": float("inf"), "_c": 1, "d": True, "e": None, "f": float("nan")}
    made = made_of(summarise=lambda _rows: given).summary([], "p")
    assert made.figures == {"a": 1.0}
    assert made.undefined == ("e", "f")
    assert made.wrong == {
        "b": "b is inf, not a finite number",
        "_c": "'_c' is not a metric's name",
        "d": "d is true/false, not a number",
    }


class _Own(BaseException):
    """What a project's code may raise beside the usual."""


class _Mute(Exception):
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise _Own


@pytest.mark.parametrize("hook", CALLS)
@pytest.mark.parametrize("error", [_Own("odd"), GeneratorExit(), SystemExit(3), _Mute()])
def test_no_exception_of_a_hook_escapes(hook: str, error: BaseException) -> None:
    """Not one that is no Exception, nor one whose message cannot be read."""

    def raising(*_: object) -> object:
        raise error

    with pytest.raises(Refusal) as told:
        CALLS[hook](made_of(**{hook: raising}))
    assert told.value.code == "adapter-failed"
    assert type(error).__name__ in told.value.why[0]


def test_an_interrupt_stays_one() -> None:
    """Ctrl-C in a hook ends the command."""

    def raising(*_: object) -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_of(decide=raising).decide("o", "p")


def test_a_value_that_compares_with_nothing_is_refused() -> None:
    """An object whose comparison raises is no text."""

    class Odd:
        def __eq__(self, other: object) -> bool:
            raise _Own

        __hash__ = None  # type: ignore[assignment]

    with pytest.raises(Refusal):
        made_of(item=lambda _: Odd()).item({}, "p")
