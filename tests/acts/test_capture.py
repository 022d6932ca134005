"""What a capture takes, refuses, draws, scrubs and leaves out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evh.acts import capture as act
from evh.errors import Refusal
from evh.project import captures
from evh.project.find import Project

RECORDS: list[dict[str, Any]] = [
    {
        "record_id": "r1",
        "ts": "2024-05-01T10:00:00+02:00",
        "item": "one",
        "fields": {"team": "a"},
        "output": "x",
    },
    {"record_id": "r2", "ts": "2024-07-01", "item": "two", "fields": {"team": "a"}},
    {"record_id": "r3", "ts": None, "item": "three", "fields": {"team": "b"}},
    {"record_id": "r4", "ts": "2024-08-01T00:00:00.250Z", "item": None, "fields": {"team": "b"}},
]


def jsonl(folder: Path, rows: Sequence[dict[str, Any]], name: str = "records.jsonl") -> Path:
    """Write rows as JSONL, and give the file."""
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def take(project: Project, name: str, file: Path, **options: Any) -> Any:
    """Capture a file, and give the plan."""
    plan = act.plan(project, name, file, act.Options(**options))
    act.commit(project, plan)
    return plan


def why(project: Project, name: str, file: Path, code: str, **options: Any) -> list[str]:
    """Give the reasons of a capture that must be refused with ``code`` and write nothing."""
    with pytest.raises(Refusal) as caught:
        act.plan(project, name, file, act.Options(**options))
    assert caught.value.code == code
    assert not (project.data / "captures" / name).exists()
    return list(caught.value.why)


def stored(project: Project, name: str) -> list[dict[str, Any]]:
    """Give a capture's records."""
    return list(captures.records(project, captures.read(project, name)))


def test_a_record_is_stored_as_it_came_with_its_time_in_utc(project: Project, tmp_path: Path) -> None:
    """Each record keeps its keys; record_id and ts are filled in, the time in UTC with its fraction."""
    take(project, "c", jsonl(tmp_path, RECORDS))
    rows = stored(project, "c")
    assert [row["ts"] for row in rows] == [
        "2024-05-01T08:00:00Z",
        "2024-07-01T00:00:00Z",
        None,
        "2024-08-01T00:00:00.25Z",
    ]
    assert rows[0] == {**RECORDS[0], "ts": "2024-05-01T08:00:00Z"}


def test_the_manifest_counts_what_no_dataset_and_no_split_can_take(project: Project, tmp_path: Path) -> None:
    """One record has no item, one no time; the range is that of the others, by time and not by text."""
    made = take(project, "c", jsonl(tmp_path, RECORDS)).capture
    assert (made.n_records, made.n_no_item, made.n_no_time) == (4, 1, 1)
    assert made.time_range == ("2024-05-01T08:00:00Z", "2024-08-01T00:00:00.25Z")
    assert captures.read(project, "c") == made
    assert made.source["path"] == "records.jsonl"
    assert made.adapter is None


def test_every_bad_record_is_told_at_once_by_its_number(project: Project, tmp_path: Path) -> None:
    """No id, a time that is none, and a doubled id are three reasons of one refusal."""
    rows = [{"item": "x"}, {"record_id": "a", "ts": "May"}, {"record_id": "b"}, {"record_id": "b"}]
    reasons = why(project, "c", jsonl(tmp_path, rows), "bad-records")
    assert len(reasons) == 4
    assert reasons[0] == (
        "records.jsonl: the first record has the keys item; "
        "evh reads record_id, ts, item, output, fields, outcomes"
    )
    assert reasons[1].startswith("records.jsonl: record 1: it has no record_id")
    assert reasons[2] == "records.jsonl: record 2: ts: 'May'"
    assert "the record_id 'b'" in reasons[3]


def test_many_records_with_one_fault_are_one_reason(project: Project, tmp_path: Path) -> None:
    """Twenty records without an id are counted; what evh reads, and where to read on, is told."""
    rows = [{"ticket": str(number), "body": "x"} for number in range(20)]
    with pytest.raises(Refusal) as caught:
        take(project, "c", jsonl(tmp_path, rows))
    assert len(caught.value.why) == 2
    assert "the first record has the keys ticket, body; evh reads record_id, ts" in caught.value.why[0]
    assert caught.value.why[1].startswith("records.jsonl: 20 records (1, 2, 3, …): it has no record_id")
    assert "evh help adapters" in str(caught.value.next)


def test_doubled_ids_name_both_records(project: Project, tmp_path: Path) -> None:
    """Where all records could be read, the numbers of both are told."""
    rows = [{"record_id": "a"}, {"record_id": "b"}, {"record_id": "a"}]
    assert why(project, "c", jsonl(tmp_path, rows), "bad-records") == [
        "records.jsonl: records 1 and 3 have the record_id 'a'"
    ]


@pytest.mark.parametrize("bad", [17, "a\tb", "\ud800"])
def test_a_record_id_that_is_no_plain_text_is_refused(bad: object, project: Project, tmp_path: Path) -> None:
    """A number, a control character or a lone surrogate cannot name a record."""
    assert len(why(project, "c", jsonl(tmp_path, [{"record_id": bad}]), "bad-records")) == 1


def test_a_capture_is_never_overwritten(project: Project, tmp_path: Path) -> None:
    """A second capture of the same name is refused, and the first stays."""
    take(project, "c", jsonl(tmp_path, RECORDS))
    with pytest.raises(Refusal) as caught:
        act.plan(project, "c", jsonl(tmp_path, RECORDS[:1]))
    assert caught.value.code == "existing-capture"
    assert len(stored(project, "c")) == 4


@pytest.mark.parametrize("bad", ["", "../x", ".hidden", "a/b", "x" * 101])
def test_a_name_that_no_path_can_be_built_from_is_refused(bad: str, project: Project, tmp_path: Path) -> None:
    """The name is an id."""
    with pytest.raises(Refusal) as caught:
        act.plan(project, bad, jsonl(tmp_path, RECORDS))
    assert caught.value.code == "bad-id"


def test_an_empty_file_is_refused(project: Project, tmp_path: Path) -> None:
    """There is nothing to take."""
    why(project, "c", jsonl(tmp_path, []), "nothing-to-take")


def test_a_missing_file_is_refused(project: Project, tmp_path: Path) -> None:
    """The refusal names the path."""
    assert "nowhere.jsonl" in why(project, "c", tmp_path / "nowhere.jsonl", "cannot-read")[0]


def test_csv_cells_stay_text(project: Project, tmp_path: Path) -> None:
    """A number, a date and a leading zero are the text that stands in the file; an empty cell is none."""
    file = tmp_path / "r.csv"
    file.write_bytes('\ufeffrecord_id,ts,item,n\r\n007,2024-01-02,"a, ""b""",1e3\r\n008,,x,\r\n'.encode())
    take(project, "c", file)
    first, second = stored(project, "c")
    assert first == {
        "record_id": "007",
        "ts": "2024-01-02T00:00:00Z",
        "item": 'a, "b"',
        "n": "1e3",
    }
    assert second == {"record_id": "008", "ts": None, "item": "x", "n": ""}


def test_a_json_array_is_read_as_records(project: Project, tmp_path: Path) -> None:
    """A file that starts with a bracket is one array."""
    file = tmp_path / "r.json"
    file.write_text(json.dumps(RECORDS))
    assert take(project, "c", file).capture.n_records == 4


def test_parquet_rows_become_records(project: Project, tmp_path: Path) -> None:
    """A timestamp column is a time in UTC, a null stays null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "record_id": ["a", "b"],
            "ts": pa.array([1_714_550_400_000_000_000, None], pa.timestamp("ns", "UTC")),
            "item": ["x", "y"],
            "n": [1, 2],
        }
    )
    pq.write_table(table, tmp_path / "r.parquet")
    take(project, "c", tmp_path / "r.parquet")
    assert stored(project, "c")[0] == {"record_id": "a", "ts": "2024-05-01T08:00:00Z", "item": "x", "n": 1}


def adapter(project: Project, text: str) -> str:
    """Write an adapter, and give its path in the project."""
    (project.data / "adapters").mkdir(exist_ok=True)
    (project.data / "adapters" / "ours.py").write_text(text)
    return "data/adapters/ours.py"


def test_an_adapter_names_foreign_records(project: Project, tmp_path: Path) -> None:
    """record_id, ts and item are what its hooks say; the foreign keys stay, and the adapter is recorded."""
    name = adapter(
        project,
        "def record_id(r): return r['id']\n"
        "def ts(r): return r['when']\n"
        "def item(r): return r['body'] or None\n",
    )
    rows = [{"id": "a", "when": "2024-01-01", "body": "x"}, {"id": "b", "when": "2024-01-02", "body": ""}]
    made = take(project, "c", jsonl(tmp_path, rows), adapter=name).capture
    assert stored(project, "c")[0] == {**rows[0], "record_id": "a", "ts": "2024-01-01T00:00:00Z"}
    assert made.n_no_item == 1
    assert made.adapter is not None
    assert made.adapter["path"] == name


def test_a_hook_that_raises_is_told_for_each_record(project: Project, tmp_path: Path) -> None:
    """A record without the key gives a reason with its number and the adapter's line, not a traceback."""
    name = adapter(project, "def record_id(r): return r['id']\n")
    reasons = why(project, "c", jsonl(tmp_path, [{"id": "a"}, {}, {}]), "bad-records", adapter=name)
    assert [reason.split(": ")[1] for reason in reasons] == ["record 2", "record 3"]
    assert "ours.py:1: KeyError" in reasons[0]


def test_what_the_source_calls_record_id_and_ts_is_kept_beside_the_adapters(
    project: Project, tmp_path: Path
) -> None:
    """Where the source has these keys in another meaning, they stay under raw_record_id and raw_ts."""
    name = adapter(project, "def record_id(r): return r['id']\ndef ts(r): return r['decided']\n")
    row = {"id": "a", "record_id": 5, "ts": 1714550400, "decided": "2024-06-01"}
    take(project, "c", jsonl(tmp_path, [row]), adapter=name)
    assert stored(project, "c")[0] == {
        "id": "a",
        "decided": "2024-06-01",
        "record_id": "a",
        "raw_record_id": 5,
        "ts": "2024-06-01T00:00:00Z",
        "raw_ts": 1714550400,
    }


# --- secrets ---

KEY = "AKIA" + "Z7Q3M5T2W4R6Y2UX"


def test_a_secret_is_refused_and_never_repeated(project: Project, tmp_path: Path) -> None:
    """The place and the rule are told, with four characters of the secret."""
    rows = [{"record_id": "a", "log": {"lines": ["ok", f"key {KEY}"]}}]
    assert why(project, "c", jsonl(tmp_path, rows), "secrets") == [
        "records.jsonl: record 'a': log.lines[1]: aws-key-id (AKIA…)"
    ]


def test_secrets_ok_takes_them_and_records_why(project: Project, tmp_path: Path) -> None:
    """The reason and the number of places stand in the manifest."""
    rows = [{"record_id": "a", "log": KEY}]
    made = take(project, "c", jsonl(tmp_path, rows), secrets_ok="a revoked key").capture
    assert made.extra["secrets_ok"] == {"reason": "a revoked key", "n_found": 1}
    assert captures.read(project, "c").extra == made.extra


def test_an_empty_reason_is_none(project: Project, tmp_path: Path) -> None:
    """--secrets-ok wants a reason."""
    why(project, "c", jsonl(tmp_path, RECORDS), "bad-options", secrets_ok=" ")


# --- continuing, drawing ---


def test_a_continuation_takes_what_the_chain_lacks(project: Project, tmp_path: Path) -> None:
    """Records of the capture and of those before it are known; only the new one is taken."""
    take(project, "c1", jsonl(tmp_path, RECORDS[:1]))
    take(project, "c2", jsonl(tmp_path, RECORDS[:2]), since="c1")
    plan = take(project, "c3", jsonl(tmp_path, RECORDS[:3]), since="c2")
    assert [row["record_id"] for row in stored(project, "c3")] == ["r3"]
    assert (plan.n_read, plan.n_known, plan.capture.since_capture) == (3, 2, "c2")


def test_known_records_with_new_outcomes_are_listed_and_taken_when_asked(
    project: Project, tmp_path: Path
) -> None:
    """r1 got an outcome since: without --with-updates it is named only, with it it is taken."""
    outcome = [{"kind": "closed", "value": "yes", "ts": "2024-06-01", "by": "them"}]
    take(project, "c1", jsonl(tmp_path, RECORDS[:2]))
    file = jsonl(tmp_path, [{**RECORDS[0], "outcomes": outcome}, *RECORDS[1:3]])
    listed = take(project, "c2", file, since="c1")
    assert listed.updated == ("r1",)
    assert listed.warnings == ("1 known record with new outcomes, not taken: r1",)
    assert [row["record_id"] for row in stored(project, "c2")] == ["r3"]
    take(project, "c3", file, since="c1", with_updates=True)
    assert [row["record_id"] for row in stored(project, "c3")] == ["r1", "r3"]


def test_a_continuation_with_nothing_new_is_refused(project: Project, tmp_path: Path) -> None:
    """Nothing is written when every record is known."""
    take(project, "c1", jsonl(tmp_path, RECORDS))
    why(project, "c2", jsonl(tmp_path, RECORDS), "nothing-to-take", since="c1")


def test_a_continuation_of_nothing_is_refused(project: Project, tmp_path: Path) -> None:
    """The capture that is continued must be there."""
    why(project, "c2", jsonl(tmp_path, RECORDS), "no-such-capture", since="c1")


def test_a_drawing_is_the_same_for_the_same_seed_in_any_order(project: Project, tmp_path: Path) -> None:
    """Twenty of a hundred, whatever the order of the file; another seed draws others."""
    rows = [{"record_id": f"r{n}", "item": str(n)} for n in range(100)]

    def drawn(name: str, order: Sequence[dict[str, Any]], seed: int) -> set[str]:
        made = take(project, name, jsonl(tmp_path, order), sample=20, seed=seed).capture
        assert made.sample == {"n": 20, "seed": seed, "of": 100}
        return {row["record_id"] for row in stored(project, name)}

    first = drawn("a", rows, 1)
    assert len(first) == 20
    assert drawn("b", rows[::-1], 1) == first
    assert drawn("c", rows, 2) != first


def test_a_drawing_by_a_field_takes_from_each_value_in_proportion(project: Project, tmp_path: Path) -> None:
    """70 of a, 20 of b and 10 of c give 7, 2 and 1 of ten."""
    rows = [
        {"record_id": f"r{n}", "fields": {"team": "a" if n < 70 else "b" if n < 90 else "c"}}
        for n in range(100)
    ]
    take(project, "c", jsonl(tmp_path, rows), sample=10, by="team")
    teams = [row["fields"]["team"] for row in stored(project, "c")]
    assert {team: teams.count(team) for team in "abc"} == {"a": 7, "b": 2, "c": 1}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"sample": 0}, "bad-options"),
        ({"by": "team"}, "bad-options"),
        ({"with_updates": True}, "bad-options"),
        ({"sample": 5}, "sample-too-large"),
        ({"sample": 1, "by": "colour"}, "no-such-field"),
        ({"adapter": "nowhere.py"}, "no-such-adapter"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: dict[str, Any], code: str, project: Project, tmp_path: Path
) -> None:
    """Each is told by its option, and nothing is written."""
    why(project, "c", jsonl(tmp_path, RECORDS), code, **options)


# --- scrubbing ---

RULES = r"""
version: 1
kind: scrub
rules:
  - {name: email, pattern: '[\w.+-]+@[\w-]+\.[\w.]+', token: EMAIL}
  - {name: key, pattern: 'AKIA[A-Z2-7]{16}', token: KEY}
"""


def rules(folder: Path, text: str = RULES) -> Path:
    """Write scrub rules, and give the file."""
    (folder / "scrub.yaml").write_text(text)
    return folder / "scrub.yaml"


def test_scrubbing_gives_each_value_one_token_throughout(project: Project, tmp_path: Path) -> None:
    """The same address is [EMAIL-1] in every record, the next [EMAIL-2]; the secret is gone; keys stay."""
    rows: list[dict[str, Any]] = [
        {"record_id": "a", "item": "from x@y.org to z@y.org", "deep": [{"mail": "x@y.org"}]},
        {"record_id": "b", "item": f"z@y.org {KEY}"},
        {"record_id": "c", "item": "nothing"},
    ]
    made = take(project, "c", jsonl(tmp_path, rows), scrub=rules(tmp_path)).capture
    first, second, third = stored(project, "c")
    assert first["item"] == "from [EMAIL-1] to [EMAIL-2]"
    assert first["deep"] == [{"mail": "[EMAIL-1]"}]
    assert second["item"] == "[EMAIL-2] [KEY-1]"
    assert third["item"] == "nothing"
    assert made.scrub is not None
    assert made.scrub["counts"] == {"email": 4, "key": 1}
    mapped = [
        json.loads(line) for line in (project.data / "captures/c/scrub-map.jsonl").read_text().splitlines()
    ]
    assert len(mapped) == 2
    assert {
        # sha256sum of "from x@y.org to z@y.org" and of "from [EMAIL-1] to [EMAIL-2]"
        "old_sha256": "b950e4713d3cf200e0496f90cdea093dc862407dcc47ec27ed6fa3ecb6b72cb9",
        "new_sha256": "557c09e0e5353ca18cd44c036410fcd426a2acbac597a147852b09f585060df8",
    } in mapped


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version: 1\nkind: labels\nrules: []\n", "kind"),
        ("version: 2\nkind: scrub\nrules: [{name: a, pattern: a, token: A}]\n", "version"),
        ("version: 1\nkind: scrub\nrules: []\n", "there is none"),
        ("version: 1\nkind: scrub\nrules: [{name: a, pattern: '(a)\\1', token: A}]\n", "RE2"),
        ("version: 1\nkind: scrub\nrules: [{name: a, pattern: '(?=a)', token: A}]\n", "RE2"),
        ("version: 1\nkind: scrub\nrules: [{name: a, pattern: a, token: '[x'}]\n", "token"),
        ("version: 1\nkind: scrub\nrules: [{name: a, token: A}]\n", "pattern: is missing"),
    ],
)
def test_bad_scrub_rules_are_refused(text: str, words: str, project: Project, tmp_path: Path) -> None:
    """A file that is not scrub rules, or a pattern that RE2 does not read, is named with its key."""
    file = jsonl(tmp_path, RECORDS)
    assert any(words in one for one in why(project, "c", file, "bad-record", scrub=rules(tmp_path, text)))


def test_scrubbing_that_changes_a_record_id_is_refused(project: Project, tmp_path: Path) -> None:
    """Two captures would name other records alike: [EMAIL-1] is not the same address in both."""
    file = jsonl(tmp_path, [{"record_id": "x@y.org"}])
    assert "changes its record_id" in why(project, "c", file, "bad-records", scrub=rules(tmp_path))[0]


def test_a_pattern_that_would_never_end_elsewhere_is_done_at_once(project: Project, tmp_path: Path) -> None:
    """RE2 runs (a+)+$ in linear time; a backtracking engine would not come back from 50,000 letters."""
    text = "version: 1\nkind: scrub\nrules: [{name: a, pattern: '(a+)+$', token: A}]\n"
    file = jsonl(tmp_path, [{"record_id": "r", "item": "a" * 50_000 + "b"}])
    assert take(project, "c", file, scrub=rules(tmp_path, text)).capture.scrub["counts"] == {}


def test_lone_surrogates_survive_being_stored(project: Project, tmp_path: Path) -> None:
    """Half a surrogate pair in a text is stored as an escape and read back the same."""
    take(project, "c", jsonl(tmp_path, [{"record_id": "a", "note": "x\ud83d"}]))
    assert stored(project, "c")[0]["note"] == "x\ud83d"


def test_over_5000_records_are_one_parquet_file(project: Project, tmp_path: Path) -> None:
    """5,001 records lie in records.parquet and read back as they came."""
    rows = [{"record_id": f"r{n}", "item": str(n), "ts": None} for n in range(5001)]
    take(project, "c", jsonl(tmp_path, rows))
    assert sorted(path.name for path in (project.data / "captures/c").iterdir()) == [
        "capture.json",
        "records.parquet",
    ]
    assert stored(project, "c") == rows
