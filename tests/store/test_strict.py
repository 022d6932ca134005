"""Strict reading: what others let pass is refused with its place; what is written reads back the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import Refusal
from evh.store import strict

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def why(read: Any, data: bytes) -> str:
    """Give the reasons of what must be refused with ``code``."""
    with pytest.raises(Refusal) as caught:
        read(data, "f")
    return caught.value.why[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1,\n "a": 2}', "f: line 2, column 2: the key 'a' stands twice in one object"),
        (
            '{"x": {"a": 1}, "y": [{"b": 1, "b": 2}]}',
            "f: line 1, column 32: the key 'b' stands twice in one object",
        ),
        ('{"a": "NaN",\n "b": NaN}', "f: line 2, column 7: NaN is not a JSON number"),
        ("[-Infinity]", "f: line 1, column 2: -Infinity is not a JSON number"),
        ("{} {}", "f: line 1, column 4: something follows the JSON value"),
        ('{"a": }', "f: line 1, column 7: Expecting value"),
        ("", "f: line 1, column 1: Expecting value"),
        ("[" * 200_000, "f: the value is nested too deeply"),
    ],
)
def test_json_that_is_not_strict_is_refused_with_its_place(text: str, reason: str) -> None:
    """Doubled keys, NaN, a second value, a syntax error, and nesting that would end a recursion."""
    assert why(strict.parse_json, text.encode()) == reason


def test_bytes_that_are_not_utf8_are_refused_with_their_line() -> None:
    """The line and byte are told; a byte-order mark is fine."""
    assert why(strict.parse_json, b'{"a":\n"\xff"}') == "f: line 2, byte 7: 0xFF is not UTF-8 here"
    assert why(strict.parse_json, b'\xef\xbb\xbf"\xe9"') == "f: line 1, byte 4: 0xE9 is not UTF-8 here"
    assert strict.parse_json(b"\xef\xbb\xbf{}", "f") == {}


def test_every_bad_line_of_jsonl_is_told() -> None:
    """Blank lines are passed over but counted."""
    with pytest.raises(Refusal) as caught:
        strict.parse_jsonl(b'{"a":1}\n\n[]\nx\n{"b":1,"b":2}\n', "f")
    assert [reason.split(": ")[1] for reason in caught.value.why] == ["line 3", "line 4", "line 5"]


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_what_is_dumped_reads_back_the_same(row: dict[str, Any]) -> None:
    """Any object, as a line, a manifest and a compact text; lone surrogates too."""
    assert strict.parse_jsonl(strict.dump_line(row), "f") == (row,)
    assert strict.parse_object(strict.dump_manifest(row), "f") == row
    assert json.loads(strict.compact(row)) == row
    assert strict.dump_line(row).count(b"\n") == 1


def test_a_lone_surrogate_is_written_as_an_escape() -> None:
    r"""UTF-8 has no form for it, JSON has: \ud800."""
    assert strict.dump_line({"a": "x\ud800é"}) == b'{"a":"x\\ud800\xc3\xa9"}\n'


def test_the_forms_are_those_of_the_layout() -> None:
    """Compact lines; manifests with sorted keys, two spaces, text as it is, a line end."""
    assert strict.dump_line({"b": 1, "a": "é"}) == '{"a":"é","b":1}\n'.encode()
    assert strict.dump_manifest({"b": 1, "a": "é"}) == '{\n  "a": "é",\n  "b": 1\n}\n'.encode()
    with pytest.raises(ValueError, match="JSON"):
        strict.dump_line({"a": float("nan")})


def test_yaml_means_what_was_typed() -> None:
    """`no`, a date and 1e3 stay text; true, null and plain numbers are what JSON has."""
    text = b"a: no\nb: 2024-01-01\nc: 1e3\nd: true\ne:\nf: 1\ng: 1.5\nh: None\ni: 0x10\nj: 1_000\n"
    text += b"k: [on, null]\n"
    assert strict.parse_yaml(text, "f") == {
        "a": "no",
        "b": "2024-01-01",
        "c": "1e3",
        "d": True,
        "e": None,
        "f": 1,
        "g": 1.5,
        "h": "None",
        "i": "0x10",
        "j": "1_000",
        "k": ["on", None],
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: {x: 1, x: 2}\n", "line 2, column 11: the key 'x' stands twice"),
        ("a: &x 1\nb: *x\n", "aliases are not read"),
        ("a: !!python/object/apply:os.system ['true']\n", "line 1"),
        ("a: [1\n", "line 2"),
        ("- 1\n", "list"),
        ("a: 1\n---\nb: 2\n", "line 2"),
        ("? [1, 2]\n: x\n", "a key is a plain text"),
        ("a: " + "[" * 60 + "]" * 60, "nested too deeply"),
    ],
)
def test_yaml_with_traps_is_refused(text: str, words: str) -> None:
    """Doubled keys, aliases, tags that make objects, two documents, deep nesting."""
    assert words in why(strict.parse_yaml, text.encode())


def test_large_yaml_is_refused_unread() -> None:
    """Over one million bytes."""
    assert why(strict.parse_yaml, b"a: " + b"x" * 1_000_000) == "f: 1000003 bytes"


def test_toml_is_read_and_its_errors_placed() -> None:
    """A doubled key is an error of TOML itself."""
    assert strict.parse_toml(b'[p]\nname = "x"\n', "f") == {"p": {"name": "x"}}
    assert "line 2" in why(strict.parse_toml, b"a = 1\na = 2\n")


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (strict.parse_json, b'{"a": [1,\n 1e999]}'),
        (strict.parse_json, b"[-1.5e400]"),
        (strict.parse_jsonl, b'{"a": 1e999}'),
        (strict.parse_toml, b"a = 1e999"),
        (strict.parse_toml, b"a = inf"),
        (strict.parse_yaml, b"a: 1.5e999"),
    ],
)
def test_a_number_that_overflows_to_infinity_is_refused(read: Any, data: bytes) -> None:
    """Nothing that was written is read as infinity."""
    assert "larger than any number" in why(read, data)


def test_the_place_of_a_number_too_large_is_told() -> None:
    """Its own line and column, not that of a text that looks like it."""
    told = why(strict.parse_json, b'{"1e999": 1,\n "b": 1e999}')
    assert told.startswith("f: line 2, column 7: 1e999 is larger")
