"""Reading JSON, JSONL, YAML and TOML strictly, and writing the JSON forms of the data layout.

Strict: UTF-8, no doubled keys, no NaN or Infinity nor a number that overflows to it, one document, sizes
capped; each refusal has a position.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn

from evh.errors import Refusal
from evh.store.regular import open_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

YAML_BYTES = 1_000_000
JSON_BYTES = 512_000_000
DEPTH = 100
_SHOWN = 40


class _Doubled(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} stands twice in one object")
        self.key = key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Doubled(key)
            seen.add(key)
    return made


def _no_constant(name: str) -> NoReturn:
    message = f"{name} is not a JSON number"
    raise ValueError(message)


class _TooLarge(ValueError):
    def __init__(self, number: str) -> None:
        super().__init__(f"{number[:_SHOWN]} is larger than any number that evh can hold")
        self.number = number


def finite(text: str) -> float:
    """Return the number in ``text``; a ValueError where it is too large, which Python reads as infinity."""
    value = float(text)
    if not isfinite(value):
        raise _TooLarge(text)
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant, parse_float=finite)
_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
_PRETTY = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
_ESCAPED = "backslashreplace"  # a lone surrogate has no UTF-8; as \udXXX it is JSON that reads back the same


def decode(data: bytes, place: object) -> str:
    """Return UTF-8 ``data`` as text, without a byte-order mark; ``place`` names it in the Refusal."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.start + len(data) - len(error.object)  # a mark before it was passed over
        line = data.count(b"\n", 0, at) + 1
        raise Refusal(
            "bad-encoding",
            f"{place} is not UTF-8",
            why=[f"{place}: line {line}, byte {at}: 0x{data[at]:02X} is not UTF-8 here"],
            next="save the file as UTF-8",
        ) from error


def parse_json(data: bytes, place: object) -> Any:  # noqa: ANN401 - JSON is any value
    """Return the one JSON value that ``data`` holds; ``place`` (mostly a path) names it in a Refusal."""
    if len(data) > JSON_BYTES:
        raise Refusal("too-large", f"{place} is too large to read", why=[f"{place}: {len(data)} bytes"])
    text = decode(data, place)
    try:
        return _loads(text)
    except (ValueError, RecursionError) as error:
        raise Refusal(
            "bad-json",
            f"{place} is not strict JSON",
            why=[f"{place}: {_where(text, error)}"],
            next=f"mend {place}",
        ) from error


def parse_jsonl(data: bytes, place: object) -> tuple[dict[str, Any], ...]:
    """Return the object of each line of ``data``; blank lines are passed over.

    Raises:
        Refusal: with every line that is not one JSON object, by its number.
    """
    rows: list[dict[str, Any]] = []
    reasons: list[str] = []
    for number, line in enumerate(decode(data, place).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = _loads(line)
        except (ValueError, RecursionError) as error:
            reasons.append(f"{place}: line {number}: {_where(line, error, one_line=True)}")
            continue
        if isinstance(row, dict):
            rows.append(row)
        else:
            reasons.append(f"{place}: line {number}: not a JSON object")
    if reasons:
        raise Refusal(
            "bad-jsonl", f"{place} has lines that are not JSON objects", why=reasons, next=f"mend {place}"
        )
    return tuple(rows)


def parse_object(data: bytes, place: object) -> dict[str, Any]:
    """Return the JSON object that ``data`` holds."""
    value = parse_json(data, place)
    if not isinstance(value, dict):
        raise Refusal(
            "bad-json",
            f"{place} is not a JSON object",
            why=[f"{place}: {type(value).__name__}"],
            next=f"mend {place}",
        )
    return value


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        Refusal: the file is missing, cannot be read, or does not hold one strict JSON object.
    """
    return parse_object(read_bytes(path), path)


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes, or a Refusal that names it; a pipe or a device is refused, never waited for."""
    try:
        with open_file(path) as file:
            return file.read()
    except OSError as error:
        raise cannot_read(path, error) from error


def cannot_read(path: Path, error: OSError) -> Refusal:
    """Return the Refusal for a file that cannot be read, with what the system says of it."""
    return Refusal(
        "cannot-read",
        f"cannot read {path}",
        why=[f"{path}: {error.strerror or error}"],
        next="name a file that is there and may be read",
    )


def refuse_doubled(ids: Iterable[str], place: object, column: str) -> None:
    """Raise a Refusal when rows that stand for one thing each name one of them twice."""
    seen: set[str] = set()
    doubled: dict[str, None] = {}
    for one in ids:
        if one in seen:
            doubled[one] = None
        seen.add(one)
    if doubled:
        raise Refusal(
            "doubled-rows",
            f"{place} holds rows of one {column}",
            why=[f"{place}: the {column} {one!r} stands in several rows" for one in doubled],
            next="restore the file (git checkout)",
        )


def dump_line(row: dict[str, Any]) -> bytes:
    """Return ``row`` as one compact line of JSONL with its LF, keys sorted."""
    return (_COMPACT.encode(row) + "\n").encode("utf-8", _ESCAPED)


def dump_manifest(value: dict[str, Any]) -> bytes:
    """Return ``value`` in the form of a manifest: 2-space indent, sorted keys, LF at the end."""
    return (_PRETTY.encode(value) + "\n").encode("utf-8", _ESCAPED)


def compact(value: object) -> str:
    """Return ``value`` as compact JSON text with sorted keys: the form of object columns in Parquet."""
    return _COMPACT.encode(value).encode("utf-8", _ESCAPED).decode()


def parse_toml(data: bytes, place: object) -> dict[str, Any]:
    """Return the table that TOML ``data`` holds."""
    import tomllib

    try:
        return tomllib.loads(decode(data, place), parse_float=finite)
    except ValueError as error:  # TOMLDecodeError is one; so are inf, nan and digits without end
        raise Refusal(
            "bad-toml", f"{place} is not TOML", why=[f"{place}: {error}"], next=f"mend {place}"
        ) from error


def parse_yaml(data: bytes, place: object) -> dict[str, Any]:
    """Return the mapping that YAML ``data`` holds: no aliases, no tags, no doubled keys, 1 MB at most.

    Only ``true`` and ``false`` are booleans, only ``null`` and an empty value are null, and a date stays
    text: ``no``, ``None``, ``1e3`` and ``2024-01-01`` mean what a person who typed them meant.
    """
    if len(data) > YAML_BYTES:
        raise Refusal("too-large", f"{place} is too large to read", why=[f"{place}: {len(data)} bytes"])
    text = decode(data, place)
    from evh.store import strict_yaml

    try:
        value = strict_yaml.load(text)
    except (ValueError, RecursionError) as error:
        raise Refusal(
            "bad-yaml", f"{place} is not YAML that evh reads", why=[f"{place}: {error}"], next=f"mend {place}"
        ) from error
    if not isinstance(value, dict):
        raise Refusal(
            "bad-yaml",
            f"{place} is not a YAML mapping",
            why=[f"{place}: {type(value).__name__}"],
            next=f"mend {place}",
        )
    return value


def _loads(text: str) -> Any:  # noqa: ANN401 - JSON is any value
    value, end = _DECODER.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))
    rest = text[end:].lstrip(" \t\r\n")
    if rest:
        message = "something follows the JSON value"
        raise json.JSONDecodeError(message, text, len(text) - len(rest))
    return value


def _where(text: str, error: Exception, *, one_line: bool = False) -> str:
    """Return the error with its line and column; doubled keys and NaN are searched for only now."""
    if isinstance(error, json.JSONDecodeError):
        message, position = error.msg, error.pos
    elif isinstance(error, _Doubled):
        message, position = str(error), _doubled_at(text, error.key)
    elif isinstance(error, _TooLarge):
        message, position = str(error), max(_blank_strings(text).find(error.number), 0)
    elif isinstance(error, RecursionError):
        return "the value is nested too deeply"
    else:
        message = str(error)
        found = re.search(r"NaN|-?Infinity", _blank_strings(text))
        position = found.start() if found else 0
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return f"column {column}: {message}" if one_line else f"line {line}, column {column}: {message}"


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def _blank_strings(text: str) -> str:
    return _STRING.sub(lambda found: " " * len(found.group()), text)


def _doubled_at(text: str, key: str) -> int:
    """Return where the second ``key`` of one object starts: a walk over strings and brackets."""
    stack: list[set[str]] = []
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', text, re.DOTALL):
        part = found.group()
        if part in "{[":
            stack.append(set())
        elif part in "}]":
            stack.pop()
        elif text[found.end() :].lstrip()[:1] == ":" and stack:
            name = json.loads(part)
            if name == key and name in stack[-1]:
                return found.start()
            stack[-1].add(name)
    return 0
