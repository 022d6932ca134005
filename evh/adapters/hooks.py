"""An adapter as the rest of evh sees it: every hook present, each failure a Refusal that names its place."""

from __future__ import annotations

import copy
import math
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.adapters import checked
from evh.adapters.libraries import libraries_of
from evh.adapters.results import Result, Summary
from evh.errors import Refusal
from evh.records.shape import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evh.adapters.results import ScoredRow
    from evh.records.capture import Record

HOOKS = (
    "call_system",
    "score",
    "decide",
    "same",
    "item",
    "item_id",
    "record_id",
    "ts",
    "fields",
    "recorded_output",
    "production_ran",
    "outcomes",
    "summarise",
    "warmup",
    "fingerprint",
)
"""Every hook that an adapter may define. ``record_id`` and ``ts`` name a foreign record and its time."""


class Adapter:
    """A project's adapter, or a bundled one.

    Args:
        name: what the config calls it: a path in the project, or a bundled name.
        hooks: hook → the project's function; missing ones are filled from ``defaults``.
        defaults: hook → the bundled function.
        settings: ``PRIMARY_METRIC``, ``METRIC_KINDS``, ``METRIC_DIRECTIONS``.
        identity: sha256 over the adapter's file and the project's files that it imports.
        files: path in the project → sha256 of each of those files.
        path: the file it was loaded from, or None for a bundled one.
        sources: where the files of ``files`` lie.

    Raises:
        Refusal: ``settings`` are not what they must be, each of them told.
    """

    def __init__(
        self,
        name: str,
        *,
        hooks: Mapping[str, Callable[..., Any]],
        defaults: Mapping[str, Callable[..., Any]],
        settings: Mapping[str, Any],
        identity: str,
        files: Mapping[str, str],
        path: Path | None = None,
        sources: Sequence[Path] = (),
    ) -> None:
        self.name = name
        self.identity = identity
        self.files = dict(files)
        self.path = path
        self.sources = tuple(sources)
        self._own = dict(hooks)
        self._hooks = {**defaults, **hooks}
        wrong = checked.settings(settings)
        if wrong:
            raise Refusal(
                "adapter-failed",
                f"the adapter {name!r} says of its metrics what cannot be",
                why=[f"{name}: {reason}" for reason in wrong],
                next=f"mend {name}",
            )
        self.primary_metric: str = str(settings.get("PRIMARY_METRIC") or "correct")
        self.metric_kinds: dict[str, str] = dict(settings.get("METRIC_KINDS") or {})
        self.metric_directions: dict[str, str] = dict(settings.get("METRIC_DIRECTIONS") or {})

    @property
    def shown_name(self) -> str:
        """What people call it: its path in the project, or that it is bundled."""
        return self.name if self.path else f"the bundled adapter {self.name!r}"

    @property
    def instrument(self) -> dict[str, Any]:
        """What a fingerprint says of it: its name, its files with their hashes, the libraries they import."""
        made: dict[str, Any] = {"adapter": self.name, "adapter_sha256": self.identity, "files": self.files}
        used = libraries_of(self.sources)
        return {**made, "libraries": used} if used else made

    def has(self, hook: str) -> bool:
        """Tell whether the project itself supplies a hook."""
        return hook in self._own

    def unfit(self, hook: str, *arguments: object) -> str:
        """Return why a hook cannot be called with these arguments; empty where it can, or nobody knows."""
        import inspect

        try:
            signature = inspect.signature(self._hooks[hook])
        except (TypeError, ValueError):
            return ""
        try:
            signature.bind(*arguments)
        except TypeError as error:
            return f"{hook}{signature}: {error}"
        return ""

    def record_id(self, record: Record, place: str) -> str | None:
        """Return the id of a production record, or None: it has none."""
        return self._maybe_text("record_id", place, record)

    def ts(self, record: Record, place: str) -> str | None:
        """Return the time of a record's decision, or None: it has none."""
        return self._maybe_text("ts", place, record)

    def item(self, record: Record, place: str) -> str | None:
        """Return the item's text, or None: this record holds no item."""
        return self._maybe_text("item", place, record)

    def item_id(self, record: Record, place: str) -> str | None:
        """Return the id that the record's item gets in a dataset."""
        return self._maybe_text("item_id", place, record)

    def fields(self, record: Record, place: str) -> dict[str, str | int | float | bool]:
        """Return the item's fields: texts, numbers and booleans; nulls are left out."""
        made = self._mapping("fields", place, record)
        wrong = [
            key
            for key, value in made.items()
            if not (value is None or isinstance(value, str | bool) or is_number(value))
        ]
        if wrong:
            raise self._refused(
                "fields", place, f"{', '.join(map(str, wrong))}: not a text, a finite number or a boolean"
            )
        texts = [*map(str, made), *(value for value in made.values() if isinstance(value, str))]
        if not all(map(checked.is_stored_text, texts)):
            raise self._refused("fields", place, "a text holds a lone surrogate")
        return {str(key): value for key, value in made.items() if value is not None}

    def recorded_output(self, record: Record, place: str) -> str | None:
        """Return what production answered, as ``score`` reads it, or None: not recorded."""
        return self._maybe_text("recorded_output", place, record)

    def production_ran(self, record: Record, place: str) -> dict[str, Any] | None:
        """Return what production ran for this record, or None: not recorded."""
        made = self._call("production_ran", place, record)
        if made is not None and not isinstance(made, dict):
            raise self._refused(
                "production_ran", place, f"returned {type(made).__name__}, not a mapping or None"
            )
        return made

    def outcomes(self, record: Record, place: str) -> list[dict[str, Any]]:
        """Return what happened later, as ``[{kind, value, ts, by}]``."""
        made = self._call("outcomes", place, record)
        if not isinstance(made, list | tuple) or not all(
            isinstance(one, dict) and isinstance(one.get("kind"), str) for one in made
        ):
            raise self._refused(
                "outcomes", place, "returned something that is not a list of mappings with a kind"
            )
        return list(made)

    def call_system(self, text: str, params: Mapping[str, Any], place: str) -> Result:
        """Return the system's answer for one item's text (provider ``python``)."""
        made = self._call("call_system", place, text, copy.deepcopy(dict(params)))
        if isinstance(made, str):
            made = Result(output=made)
        if not isinstance(made, Result) or not isinstance(made.output, str):
            raise self._refused(
                "call_system", place, f"returned {type(made).__name__}, not a Result with a text output"
            )
        try:
            return checked.result(made)
        except checked.Unfit as error:
            raise self._refused("call_system", place, str(error)) from error

    @property
    def reads_source(self) -> bool:
        """Whether ``score`` takes the item's text as its third argument."""
        return _takes_source(self._hooks["score"])

    def decide(self, output: str, place: str) -> str:
        """Return the canonical decision of an output."""
        made = self._call("decide", place, output)
        if not isinstance(made, str):
            raise self._refused("decide", place, f"returned {type(made).__name__}, not a text")
        if not checked.is_stored_text(made):
            raise self._refused("decide", place, "the decision holds a lone surrogate")
        return made

    def score(self, output: str, reference: str | None, source: str | None, place: str) -> dict[str, float]:
        """Return the metrics of one output against a label's text (or None): finite numbers only."""
        function = self._hooks["score"]
        arguments = (output, reference, source) if _takes_source(function) else (output, reference)
        made = self._call("score", place, *arguments)
        try:
            return checked.metrics(made)
        except checked.Unfit as error:
            raise self._refused("score", place, str(error)) from error

    def summarise(self, rows: Sequence[ScoredRow], place: str) -> dict[str, float]:
        """Return run-level figures with no per-item value; undefined ones are left out."""
        return self.summary(rows, place).figures

    def summary(self, rows: Sequence[ScoredRow], place: str) -> Summary:
        """Return the run-level figures, and what was given for one and is none."""
        made = self._call("summarise", place, list(rows))
        if not isinstance(made, dict):
            raise self._refused("summarise", place, f"returned {type(made).__name__}, not a mapping")
        figures: dict[str, float] = {}
        undefined: list[str] = []
        wrong: dict[str, str] = {}
        for key, given in made.items():
            value = checked.plain(given)
            if value is None or (isinstance(value, float) and math.isnan(value)):
                undefined.append(str(key))
                continue
            try:
                figures |= checked.metrics({str(key): value})
            except checked.Unfit as error:
                wrong[str(key)] = str(error)
        return Summary(figures, tuple(undefined), wrong)

    def warmup(self, params: Mapping[str, Any], place: str) -> None:
        """Let the adapter load what it needs before the first item is timed."""
        self._call("warmup", place, copy.deepcopy(dict(params)))

    def fingerprint(self, params: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Return what else identifies the system under test."""
        made = self._mapping("fingerprint", place, copy.deepcopy(dict(params)))
        reason = checked.not_json(made)
        if reason:
            raise self._refused("fingerprint", place, f"what it returned {reason}")
        return made

    def same(self, one: str, other: str) -> bool:
        """Tell whether two decisions are the same one."""
        return bool(self._call("same", f"{one!r} and {other!r}", one, other))

    def _maybe_text(self, hook: str, place: str, record: Record) -> str | None:
        made = self._call(hook, place, record)
        if made is None:
            return None
        if not isinstance(made, str):
            raise self._refused(hook, place, f"returned {type(made).__name__}, not a text or None")
        if not made:
            return None
        if not checked.is_stored_text(made):
            raise self._refused(hook, place, "the text holds a lone surrogate")
        return made

    def _mapping(self, hook: str, place: str, argument: object) -> dict[str, Any]:
        made = self._call(hook, place, argument)
        if made is None:
            return {}
        if not isinstance(made, dict):
            raise self._refused(hook, place, f"returned {type(made).__name__}, not a mapping")
        return made

    def _call(self, hook: str, place: str, *arguments: object) -> Any:  # noqa: ANN401 - what a hook returns
        try:
            return self._hooks[hook](*arguments)
        except (Refusal, KeyboardInterrupt):
            raise
        except BaseException as error:  # whatever a project's code raises is that code's failure
            raise self._refused(hook, place, told(error, self.path, self.name)) from error

    def _refused(self, hook: str, place: str, reason: str) -> Refusal:
        return Refusal(
            "adapter-failed",
            f"the adapter {self.name or 'default'!r} failed in {hook}",
            why=[f"{place}: {reason}"],
            next=f"mend {hook}() in {self.name}" if self.path else None,
        )


def told(error: BaseException, path: Path | None, name: str) -> str:
    """Return an error of a project's code with the file and line that raised it.

    Args:
        error: what was raised.
        path: the adapter's file.
        name: the adapter's path in the project: files beside it are named by it, never by an absolute path.
    """

    def shown(file: str) -> str:
        if path and Path(file).parent == path.parent:
            return str(Path(name).with_name(Path(file).name))
        return Path(file).name

    if isinstance(error, SyntaxError) and error.filename:
        return f"{shown(error.filename)}:{error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if path and Path(frame.filename).parent == path.parent] or frames
    place = f"{shown(inside[-1].filename)}:{inside[-1].lineno}: " if inside else ""
    return f"{place}{type(error).__name__}: {_message(error)}"


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as second:  # noqa: BLE001 - it is a project's code, and told as its failure
        return f"(its message cannot be read: {type(second).__name__})"


def _takes_source(function: Callable[..., Any]) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_argcount >= 3
