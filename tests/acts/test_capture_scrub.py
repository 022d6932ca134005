"""A scrubbed copy of a capture, and the labels that follow its items across."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.project import captures, datasets, labels
from evh.project.find import Project
from evh.store.hashing import sha256_text
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

pytest.importorskip("re2", reason="pip install google-re2")

RECORDS = [
    {"record_id": "r1", "ts": "2026-07-01T09:00:00Z", "item": "from ada@x.org: lost", "output": "file"},
    {"record_id": "r2", "ts": "2026-07-02T09:00:00Z", "item": "from bob@x.org: lost", "output": "close"},
    {"record_id": "r3", "ts": "2026-07-03T09:00:00Z", "item": "no address", "output": "mail ada@x.org"},
]
RULES = "version: 1\nkind: scrub\nrules:\n  - {name: mail, pattern: '[a-z]+@x[.]org', token: MAIL}\n"


@pytest.fixture
def june(project: Project) -> Builder:
    """A capture of three records, its dataset, and scrub rules."""
    build = Builder(project)
    build.capture("june", RECORDS)
    build.dataset("june", {one["record_id"]: str(one["item"]) for one in RECORDS})
    (project.root / "scrub.yaml").write_text(RULES)
    return build


SCRUB = ("capture-scrub", "--capture", "june", "--as", "clean", "--scrub")


def scrubbed(project: Project, evh: CommandLine) -> Any:
    """Scrub the capture and make its dataset; return what the command told."""
    made = evh.ok(*SCRUB, project.root / "scrub.yaml", "--json").json
    evh.ok("dataset-from-capture", "--capture", "clean", "--dataset-id", "clean")
    return made


def carry(project: Project, ref: str) -> list[str]:
    """The words of carrying a set to the scrubbed dataset."""
    leads = project.data / "captures" / "clean" / "scrub-map.jsonl"
    return ["label-carry", "--dataset-id", "clean", "--as", "ann", "--map", str(leads), "--set", ref]


def test_the_copy_has_one_token_for_one_value(june: Builder, project: Project, evh: CommandLine) -> None:
    """In items and outputs alike; ids and times stay, the old capture too; the map leads from old to new."""
    before = tree_bytes(project.data / "captures" / "june")
    made = scrubbed(project, evh)
    check(made, "capture-scrub")
    row = made["captures"][0]
    assert (row["n_records"], row["n_changed"], row["counts"]) == (3, 3, {"mail": 3})
    copy = captures.read(project, "clean")
    assert [(one["record_id"], one["item"], one["output"]) for one in captures.records(project, copy)] == [
        ("r1", "from [MAIL-1]: lost", "file"),
        ("r2", "from [MAIL-2]: lost", "close"),
        ("r3", "no address", "mail [MAIL-1]"),
    ]
    assert (copy.scrub or {})["of"] == "june"
    assert copy.source["path"] == "captures/june"
    assert tree_bytes(project.data / "captures" / "june") == before
    lines = (project.data / "captures" / "clean" / "scrub-map.jsonl").read_text().splitlines()
    assert {json.loads(line)["old_sha256"]: json.loads(line)["new_sha256"] for line in lines} == {
        sha256_text("from ada@x.org: lost"): sha256_text("from [MAIL-1]: lost"),
        sha256_text("from bob@x.org: lost"): sha256_text("from [MAIL-2]: lost"),
    }


def test_what_cannot_be_scrubbed_is_refused(june: Builder, project: Project, evh: CommandLine) -> None:
    """No such capture, a name that is taken, rules that find nothing or change an id; nothing is written."""
    rules = project.root / "scrub.yaml"
    before = tree_bytes(project.data)
    evh.refused("no-such-capture", "capture-scrub", "--capture", "x", "--as", "y", "--scrub", rules)
    evh.refused("existing-capture", "capture-scrub", "--capture", "june", "--as", "june", "--scrub", rules)
    rules.write_text(RULES.replace("[a-z]+@x[.]org", "nowhere"))
    evh.refused("nothing-scrubbed", *SCRUB, rules)
    rules.write_text(RULES.replace("[a-z]+@x[.]org", "r[0-9]"))
    evh.refused("bad-records", *SCRUB, rules)
    assert tree_bytes(project.data) == before
    rules.write_text(RULES)
    evh.ok(*SCRUB, rules, "--dry-run")
    assert not captures.exists(project, "clean")


def test_a_map_that_git_would_keep_is_told(june: Builder, project: Project, evh: CommandLine) -> None:
    """In a checkout whose .gitignore does not name it."""
    (project.root / ".git").mkdir()
    told = evh.ok(*SCRUB, project.root / "scrub.yaml").err
    assert "git would keep scrub-map.jsonl" in told
    (project.root / ".gitignore").write_text("scrub-map.jsonl\n")
    assert "git would keep" not in evh.ok(
        "capture-scrub", "--capture", "june", "--as", "again", "--scrub", project.root / "scrub.yaml"
    ).err  # fmt: skip


def test_labels_follow_across_the_scrub(june: Builder, project: Project, evh: CommandLine) -> None:
    """Changed items by the map, others by their bytes; the parent is named, its texts are the same."""
    texts = {"r1": "file", "r2": '{"accept": ["a", "b"]}', "r3": "close"}
    old = june.labels("june", "ann", texts, task="triage")
    scrubbed(project, evh)
    made = evh.ok(*carry(project, "june/ann"), "--json").json
    check(made, "label-carry")
    row = made["label_sets"][0]
    assert (row["n_items"], row["n_changed"], row["n_same"], row["n_not_here"]) == (3, 2, 1, 0)
    new = labels.read(project, "clean", "ann")
    assert labels.texts(project, new, verify=True) == texts
    assert new.parents == ({"set": "june/ann", "labels_sha256": old.labels_sha256},)
    assert (new.source, new.task) == ({"kind": "person", "by": "ann"}, "triage")
    assert new.items["r1"].sha256 == datasets.read(project, "clean").by_id["r1"].sha256
    evh.ok("validate")


def test_notes_stay_behind(june: Builder, project: Project, evh: CommandLine) -> None:
    """A note may quote what was scrubbed."""
    sheet = project.root / "s.csv"
    sheet.write_text("item_id,label,note\nr1,file,it is Ada\n")
    evh.ok("label-import", sheet, "--dataset-id", "june", "--set", "noted", "--by", "ann")
    scrubbed(project, evh)
    made = evh.ok(*carry(project, "june/noted"))
    assert "left with june/noted, for they are about the unscrubbed text: 1 note\n" in made.err
    assert labels.read(project, "clean", "ann").items["r1"].note is None


def test_two_texts_that_became_one_are_told(june: Builder, project: Project, evh: CommandLine) -> None:
    """r1 and r2 are one text now. A person's different answers are refused, a rule's left out and counted."""
    old = {"r1": "file", "r2": "close", "r3": "file"}
    june.labels("june", "ann", old)
    june.labels("june", "rules", old, source={"kind": "rule", "rules_file": "r.yaml"})
    lines = [
        {"old_sha256": sha256_text(str(one["item"])), "new_sha256": sha256_text("one text")}
        for one in RECORDS[:2]
    ]
    place = project.data / "captures" / "clean"
    place.mkdir()
    (place / "scrub-map.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    june.dataset("clean", {"x": "one text", "r3": "no address"})
    told = evh.refused("two-answers", *carry(project, "june/ann")).json["refused"]
    assert told["why"] == ["x: 'close' and 'file'"]
    evh.ok(*carry(project, "june/rules"))
    made = labels.read(project, "clean", "ann")
    assert list(made.items) == ["r3"]
    assert dict(made.conflicts) == {sha256_text("one text"): ["close", "file"]}


def test_what_cannot_be_carried_is_refused(june: Builder, project: Project, evh: CommandLine) -> None:
    """A map that is none, or leads to two places; an edited set; nothing to carry; a name that is taken."""
    june.labels("june", "ann", {"r1": "file"})
    scrubbed(project, evh)
    path = project.data / "captures" / "clean" / "scrub-map.jsonl"
    good = path.read_text()
    path.write_text('{"old_sha256": "x", "new_sha256": "y"}\n')
    evh.refused("bad-map", *carry(project, "june/ann"))
    sha = "0" * 64
    path.write_text("".join(f'{{"old_sha256": "{sha}", "new_sha256": "{one * 64}"}}\n' for one in ("1", "2")))
    evh.refused("bad-map", *carry(project, "june/ann"))
    path.write_text("")
    evh.refused("nothing-carried", *carry(project, "june/ann"))
    path.write_text(good)
    evh.refused("no-such-label-set", *carry(project, "june/bo"))
    evh.ok(*carry(project, "june/ann"))
    evh.refused("existing-set", *carry(project, "june/ann"))
    (project.data / "labels" / "june" / "ann" / "r1.txt").write_bytes(b"other")
    evh.refused("edited-set", *(word if word != "ann" else "ann2" for word in carry(project, "june/ann")))
