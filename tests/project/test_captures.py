"""The shelf of captures: written whole and once, and read only as they were written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.errors import Refusal
from evh.project import captures
from evh.project.find import Project
from evh.records.capture import Capture
from evh.store.atomic import TMP_PREFIX
from tests.helpers import Builder

ROWS: list[dict[str, Any]] = [
    {"record_id": "a", "ts": None, "text": "é\u2028"},
    {"record_id": "b", "ts": "2024-01-01"},
]


def why(code: str, read: Any) -> tuple[str, ...]:
    """Give the reasons of what must be refused with ``code``."""
    with pytest.raises(Refusal) as caught:
        read()
    assert caught.value.code == code
    return caught.value.why


def test_records_come_back_in_their_order(project: Project) -> None:
    """Whatever characters are in them."""
    Builder(project).capture("c", ROWS)
    assert captures.records(project, captures.read(project, "c")) == tuple(ROWS)
    assert (captures.ids(project), captures.exists(project, "c"), captures.exists(project, "d")) == (
        ["c"],
        True,
        False,
    )


def test_a_capture_is_written_once(project: Project) -> None:
    """The second write is refused, and the first stays."""
    Builder(project).capture("c", ROWS)
    why("existing-capture", lambda: captures.write_new(project, Capture("c", 0, ""), "records.jsonl", b""))
    assert len(captures.records(project, captures.read(project, "c"))) == 2


def test_what_lies_beside_the_records_is_written_with_them(project: Project) -> None:
    """The scrub map is in the folder when the folder is there."""
    name, data = captures.dump_records(ROWS)
    captures.write_new(project, Capture("c", 2, ""), name, data, beside={"scrub-map.jsonl": b"{}\n"})
    assert (project.data / "captures/c/scrub-map.jsonl").read_bytes() == b"{}\n"


def test_changed_and_missing_records_are_refused(project: Project) -> None:
    """A flipped byte, a file that is gone, and both forms at once."""
    read = Builder(project).capture("c", ROWS)
    path = project.data / "captures/c/records.jsonl"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"2024", b"2025"))
    assert "records.jsonl" in why("changed-bytes", lambda: captures.records(project, read))[0]
    path.write_bytes(before)
    path.with_name("records.parquet").write_bytes(b"")
    why("two-forms", lambda: captures.records(project, read))
    path.with_name("records.parquet").unlink()
    path.unlink()
    why("cannot-read", lambda: captures.records(project, read))


def test_a_folder_without_a_manifest_is_no_capture(project: Project) -> None:
    """Neither what a crash left under a temporary name, nor records alone."""
    for name in (f"{TMP_PREFIX}c-1-x", "half"):
        (project.data / "captures" / name).mkdir(parents=True)
    (project.data / "captures/half/records.jsonl").write_text("")
    assert captures.ids(project) == []
    why("no-such-capture", lambda: captures.read(project, "half"))


def test_unknown_keys_of_a_manifest_are_kept(project: Project) -> None:
    """A foreign key comes back in `extra`, and a wrong type is told by its key."""
    Builder(project).capture("c", ROWS)
    path = project.data / "captures/c/capture.json"
    raw = json.loads(path.read_bytes())
    path.write_text(json.dumps({**raw, "theirs": [1]}))
    assert captures.read(project, "c").extra == {"theirs": [1]}
    path.write_text(json.dumps({**raw, "n_records": "two", "split": 5}))
    assert len(why("bad-record", lambda: captures.read(project, "c"))) == 2


def test_over_5000_records_lie_in_parquet(project: Project) -> None:
    """5,000 are text that a person can diff, one more is not; both read the same."""
    rows = [{"record_id": f"r{n}", "ts": None, "deep": {"n": n}} for n in range(5001)]
    assert captures.dump_records(rows[:5000])[0] == "records.jsonl"
    read = Builder(project).capture("c", rows)
    assert (project.data / "captures/c/records.parquet").exists()
    assert captures.records(project, read) == tuple(rows)


def test_the_family_of_a_capture_is_all_that_was_split_from_its_root(project: Project) -> None:
    """Halves, their halves and the whole; not a stranger; a ring made by hand does not hang."""
    build = Builder(project)
    build.capture("whole", ROWS)
    for name, of in (("a", "whole"), ("b", "whole"), ("b1", "b"), ("x", "y"), ("y", "x")):
        build.capture(name, ROWS, split={"of": of})
    build.capture("stranger", ROWS)
    for name in ("whole", "a", "b1"):
        assert captures.family(project, name) == {"whole", "a", "b", "b1"}
    assert captures.family(project, "stranger") == {"stranger"}
    assert "x" in captures.family(project, "x")


def test_a_capture_holds_the_records_of_its_parts_and_of_nothing_else(project: Project) -> None:
    """The whole holds both halves and their parts; a half holds neither the whole nor the other half."""
    build = Builder(project)
    build.capture("whole", ROWS)
    for name, of in (("older", "whole"), ("newer", "whole"), ("newest", "newer")):
        build.capture(name, ROWS, split={"of": of, "at": "2026-01-01T00:00:00Z", "part": "first"})
    assert captures.parts(project, "whole") == {"whole", "older", "newer", "newest"}
    assert captures.parts(project, "newer") == {"newer", "newest"}
    assert captures.parts(project, "older") == {"older"}
