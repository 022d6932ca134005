"""Scrub rules: what is taken out of captured records, each value under one numbered token throughout."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.records.shape import Shape
from evh.store import strict
from evh.store.hashing import sha256

if TYPE_CHECKING:
    from pathlib import Path

    from evh.records.capture import Record

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    pattern: Any  # an RE2 pattern
    token: str


@dataclass(slots=True)
class Scrubber:
    """The rules of one file, with what they have replaced so far.

    A value gets ``[token-1]``, the next other value ``[token-2]``, in the order in which they are met; the
    same value gets the same token in every record. ``counts`` says how often each rule replaced something.
    """

    sha256: str
    rules: tuple[_Rule, ...]
    counts: dict[str, int] = field(default_factory=dict)
    _numbers: dict[str, dict[str, int]] = field(default_factory=dict)

    def scrub(self, record: Record) -> Record:
        """Return a record with every text in it scrubbed; its keys stay."""
        return {key: self._scrubbed(value) for key, value in record.items()}

    def _scrubbed(self, value: object) -> Any:  # noqa: ANN401 - a JSON value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self._scrubbed(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self._scrubbed(one) for one in value]
        return value

    def text(self, text: str) -> str:
        """Return a text with what each rule finds replaced, rule by rule in their order."""
        for rule in self.rules:
            text = rule.pattern.sub(lambda found, rule=rule: self._token(rule, found.group()), text)
        return text

    def _token(self, rule: _Rule, value: str) -> str:
        if not value:
            return value
        self.counts[rule.name] = self.counts.get(rule.name, 0) + 1
        numbers = self._numbers.setdefault(rule.token, {})
        return f"[{rule.token}-{numbers.setdefault(value, len(numbers) + 1)}]"


def read(path: Path) -> Scrubber:
    """Return the scrubber that a file of rules describes.

    Raises:
        Refusal: a file that is not ``{version: 1, kind: scrub, rules: [{name, pattern, token}]}``, a pattern
            that RE2 does not read, or no RE2 on this machine (it runs any pattern in linear time).
    """
    data = strict.read_bytes(path)
    shape = Shape(strict.parse_yaml(data, path), path)
    if shape.take("version") != 1:
        shape.problem("version", "is not 1")
    shape.choice("kind", ("scrub",), "scrub")
    if shape.raw.get("kind") != "scrub":
        shape.problem("kind", "is not scrub")
    re2 = _re2()
    rules: list[_Rule] = []
    names: set[str] = set()
    for at, raw in enumerate(shape.listing("rules")):
        if not isinstance(raw, dict):
            shape.problem(f"rules[{at}]", "is not a mapping")
            continue
        one = Shape(raw, f"{path}: rules[{at}]")
        name = one.text("name", required=True)
        token = one.text("token", required=True)
        pattern = one.text("pattern", required=True)
        if name in names:
            one.problem("name", f"{name!r} stands twice")
        names.add(name)
        if token and not _TOKEN.fullmatch(token):
            one.problem("token", f"{token!r} is not a word of letters, digits and _")
        try:
            compiled = re2.compile(pattern, _options(re2))
        except re2.error as error:
            one.problem("pattern", f"RE2 does not read it: {error}")
            compiled = None
        shape.reasons += one.reasons
        rules.append(_Rule(name, compiled, token))
    if not rules and not shape.reasons:
        shape.problem("rules", "there is none")
    shape.finish(f"{path} is not a file of scrub rules", next=f"mend {path}")
    return Scrubber(sha256(data), tuple(rules))


def _options(re2: Any) -> Any:  # noqa: ANN401 - an untyped package
    options = re2.Options()
    options.log_errors = False
    return options


def _re2() -> Any:  # noqa: ANN401 - an untyped package
    try:
        return importlib.import_module("re2")
    except ImportError as error:
        raise Refusal(
            "needs-re2",
            "scrubbing needs the package google-re2",
            why=["scrub rules are RE2 patterns: no pattern can take more than linear time"],
            next="pip install 'evh[scrub]'",
        ) from error
