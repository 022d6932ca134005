"""`evh capture`, `captures` and `split` as they are typed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check

CHECKOUT = Path(__file__).resolve().parents[2]
RECORDS = [
    {"record_id": "r1", "ts": "2024-05-01", "item": "one", "fields": {"team": "a"}},
    {"record_id": "r2", "ts": "2024-07-01", "item": "two"},
    {"record_id": "r3", "item": "three"},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a file of three records or two rows."""
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in RECORDS))
    return path


def test_capture_says_what_it_took(evh: CommandLine, file: Path) -> None:
    """Counts, the range of times, and the commands for the next step."""
    out = evh.ok("capture", "--as", "c", "--from-file", file).out
    assert out.startswith(
        "captured 3 records as c\n"
        "  from 2024-05-01T00:00:00Z to 2024-07-01T00:00:00Z; 0 without an item, 1 without a time\n"
    )
    assert "evh dataset-from-capture --capture c" in out


def test_capture_json_is_as_its_schema_says(evh: CommandLine, file: Path) -> None:
    """--dry-run gives the same document and writes nothing."""
    words = ("capture", "--as", "c", "--from-file", file, "--sample", "2", "--seed", "7", "--json")
    dry = check(evh.ok(*words, "--dry-run").json, "capture")
    assert not (evh.root / "data" / "captures").exists()
    wet = check(evh.ok(*words).json, "capture")
    assert (dry.pop("written"), wet.pop("written")) == (False, True)
    assert dry == wet
    assert wet["captures"][0]["sample"] == {"n": 2, "seed": 7, "of": 3}


def test_capture_refuses(evh: CommandLine, file: Path, tmp_path: Path) -> None:
    """A taken name, secrets, and records without an id."""
    evh.ok("capture", "--as", "c", "--from-file", file)
    evh.refused("existing-capture", "capture", "--as", "c", "--from-file", file)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"record_id": "a", "log": "-----BEGIN RSA PRIVATE KEY-----"}\n')
    evh.refused("secrets", "capture", "--as", "d", "--from-file", bad)
    assert (
        "taken because: a test"
        in evh.ok("capture", "--as", "d", "--from-file", bad, "--secrets-ok", "a test").err
    )
    bad.write_text("{}\n")
    evh.refused("bad-records", "capture", "--as", "e", "--from-file", bad)


def test_a_format_that_is_not_read_is_a_usage_error(evh: CommandLine, file: Path) -> None:
    """Exit 2, and the formats that are read are named."""
    outcome = evh("capture", "--as", "c", "--from-file", file, "--format", "xml")
    assert outcome.code == 2
    assert "'records', 'csv', 'parquet'" in outcome.err


def test_captures_lists_them_and_their_halves(evh: CommandLine, file: Path) -> None:
    """The table says which half of what; the document is as its schema says."""
    assert "no captures yet" in evh.ok("captures").out
    evh.ok("capture", "--as", "c", "--from-file", file)
    out = evh.ok("split", "--capture", "c", "--at", "2024-06-01", "--into", "old,new").out
    assert "split c: 1 record as old and 1 record as new\n" in out
    assert "1 record in neither half: 0 without an item, 1 without a time" in out
    assert "second half of c" in evh.ok("captures").out
    rows = check(evh.ok("captures", "--json").json, "captures")["captures"]
    assert [row["capture_id"] for row in rows] == ["c", "new", "old"]
    assert rows[1]["split"] == {"at": "2024-06-01T00:00:00Z", "of": "c", "part": "second"}


def test_captures_tells_of_one_that_it_cannot_read(evh: CommandLine, file: Path) -> None:
    """The others are listed all the same."""
    evh.ok("capture", "--as", "c", "--from-file", file)
    (evh.root / "data/captures/bad").mkdir()
    (evh.root / "data/captures/bad/capture.json").write_text("{")
    document = check(evh.ok("captures", "--json").json, "captures")
    assert [row["capture_id"] for row in document["captures"]] == ["c"]
    assert "captures/bad/capture.json" in document["warnings"][0]


def test_split_json_is_as_its_schema_says(evh: CommandLine, file: Path) -> None:
    """--dry-run writes neither half."""
    evh.ok("capture", "--as", "c", "--from-file", file)
    words = ("split", "--capture", "c", "--fraction", "0.5", "--seed", "3", "--into", "a,b", "--json")
    dry = check(evh.ok(*words, "--dry-run").json, "split")
    assert not (evh.root / "data/captures/a").exists()
    wet = check(evh.ok(*words).json, "split")
    assert (dry.pop("written"), wet.pop("written")) == (False, True)
    assert dry == wet
    assert (wet["n_neither"], wet["captures"][0]["n_records"]) == (1, 1)


@pytest.mark.parametrize("into", ["a", "a,b,c", ",", "a,a"])
def test_split_wants_two_names(into: str, evh: CommandLine, file: Path) -> None:
    """One, three, empty and equal ones are refused."""
    evh.ok("capture", "--as", "c", "--from-file", file)
    evh.refused("bad-options", "split", "--capture", "c", "--at", "2024-06-01", "--into", into)


def test_the_samples_records_are_taken_and_split_as_counted_by_hand(evh: CommandLine) -> None:
    """1,076 reports without a secret, 20 rejected ones; 603 decided before July 2024 and 453 after."""
    for name in ("raw", "adapters"):
        shutil.copytree(CHECKOUT / "data" / name, evh.root / "data" / name)
    raw = evh.root / "data/raw/cve-triage.jsonl"
    words = ("capture", "--as", "all", "--from-file", raw, "--adapter", "data/adapters/cve.py")
    made = evh.ok(*words, "--json").json["captures"][0]
    assert (made["n_records"], made["n_no_item"], made["n_no_time"]) == (1076, 20, 20)
    assert made["source"]["path"] == "data/raw/cve-triage.jsonl"
    halves = evh.ok("split", "--capture", "all", "--at", "2024-07-01", "--into", "old,new", "--json").json
    assert [half["n_records"] for half in halves["captures"]] == [603, 453]
    assert halves["n_neither"] == 20
    for half, n in (("old", 603), ("new", 453)):
        document = evh.ok("dataset-from-capture", "--capture", half, "--dataset-id", half, "--json").json
        assert (document["datasets"][0]["n_items"], document["n_left_out"]) == (n, 0)


def test_hostile_names_do_not_reach_the_terminal(evh: CommandLine, tmp_path: Path) -> None:
    """An escape sequence in a record's id is stripped from the refusal that names it."""
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"record_id": "\\u001b[31mred"}\n')
    assert "\x1b" not in evh("capture", "--as", "c", "--from-file", bad).err


def test_a_large_capture_lists_like_a_small_one(evh: CommandLine) -> None:
    """Records in Parquet split as those in JSONL do."""
    rows = [{"record_id": f"r{n}", "ts": f"2024-0{1 + n % 9}-01", "item": str(n)} for n in range(5004)]
    from evh.project.find import Project

    Builder(Project.find(home=evh.root)).capture("c", rows)
    document = evh.ok("split", "--capture", "c", "--at", "2024-05-01", "--into", "a,b", "--json").json
    assert [half["n_records"] for half in document["captures"]] == [2224, 2780]
