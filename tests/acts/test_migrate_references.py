"""``migrate-references``: old references get their set and promotion; no text and no digest changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evh.acts import migrate_references
from evh.project import labels, references
from evh.project.find import Project
from evh.records.reference import Reference
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

TREE = Path(__file__).parents[1] / "foreign" / "tree"
REASON = "promoted before labels existed (0.6.0)"


def old_reference(project: Project, ref: str, texts: dict[str, bytes] | None = None, **manifest: Any) -> Path:
    """Write a reference as the older harness did: a manifest, and a file for each item under its raw id."""
    place = project.data / "references" / ref
    place.mkdir(parents=True)
    tier = ref.partition("/")[0]
    made = {"dataset_id": "d", "tier": tier, "n_items": len(texts or {}), "created_at": "2025-02-01"}
    (place / "manifest.json").write_text(json.dumps({**made, **manifest}, indent=4))
    for item_id, text in (texts or {}).items():
        (place / f"{item_id}.txt").write_bytes(text)
    return place


@pytest.fixture
def builder(project: Project) -> Builder:
    """A dataset ``d`` of three items, the last with an id of its own."""
    made = Builder(project)
    made.dataset("d", {"i1": "one", "i2": "two", "late fee (2)": "three"}, task="triage")
    return made


def migrate(evh: CommandLine, *words: str) -> dict[str, Any]:
    """Migrate and return the rows of the document by reference."""
    document = check(evh.ok("migrate-references", "--json", *words).json, "migrate-references")
    return {row["reference"]: row for row in document["references"]}


def digests(project: Project) -> dict[str, str]:
    """Return each reference's digest: what a fingerprint names."""
    return {
        one.ref: references.digest(references.raw_texts(project, one)) for one in references.read_all(project)
    }


def test_a_foreign_tree_is_migrated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Gold was a person's, silver was made from a run; only manifests change and sets come to be."""
    shutil.copytree(TREE, tmp_path / "tree")
    project = Project.find(home=tmp_path / "tree")
    door = CommandLine(project.root, capsys)
    before, texts = tree_bytes(project.root), digests(project)
    rows = migrate(door)
    assert {ref: (row["label_set"], row["n_items"], row["source"]) for ref, row in rows.items()} == {
        "gold/tickets_gold": (
            "tickets/gold_tickets_gold",
            3,
            {"kind": "person", "by": "the dataset's own labels"},
        ),
        "silver/tickets_silver": (
            "tickets/silver_tickets_silver",
            2,
            {"kind": "model", "run_id": "baseline_20250301T080000Z", "config_id": "baseline"},
        ),
    }
    assert digests(project) == texts == {ref: row["digest"] for ref, row in rows.items()}
    after = tree_bytes(project.root)
    changed = {name for name, data in before.items() if after[name] != data}
    assert changed == {
        "data/references/gold/tickets_gold/manifest.json",
        "data/references/silver/tickets_silver/manifest.json",
    }
    made = {name.rpartition("/")[0] for name in after if name not in before and "/.locks/" not in name}
    assert made == {"data/labels/tickets/gold_tickets_gold", "data/labels/tickets/silver_tickets_silver"}
    gold = references.read(project, "gold/tickets_gold")
    held = labels.read(project, "tickets", "gold_tickets_gold")
    assert gold.promoted_from == {
        "labels": ["tickets/gold_tickets_gold"],
        "source": [{"kind": "person", "by": "the dataset's own labels"}],
        "labels_sha256": [held.labels_sha256],
    }
    assert (gold.reason, gold.caveat, gold.n_items, gold.items) == (REASON, "one annotator", 3, {})
    assert sorted(labels.raw_texts(project, held).values()) == sorted(
        references.raw_texts(project, gold).values()
    )
    assert (held.created_at, held.extra) == ("2025-02-01", {"migrated_from": "gold/tickets_gold"})
    shown = door("validate", "--json").json
    assert not [
        one for one in shown["findings"] if one["code"] in ("no-promotion", "promotion", "item-bytes")
    ]
    assert not (project.data / "ADAPTER_RAN").exists()


def test_a_second_time_there_is_nothing_to_do(project: Project, builder: Builder, evh: CommandLine) -> None:
    """It changes no byte, and says so."""
    old_reference(project, "gold/d", {"i1": b"file\n", "late fee (2)": b"close"})
    migrate(evh)
    before = tree_bytes(project.root)
    assert migrate(evh) == {}
    assert "nothing to migrate: 1 reference set" in evh.ok("migrate-references").out
    assert tree_bytes(project.root) == before


def test_a_dry_run_tells_all_and_writes_nothing(project: Project, builder: Builder, evh: CommandLine) -> None:
    """The set's name, its source and the digest are told."""
    old_reference(project, "gold/d", {"i1": b"file"})
    before = tree_bytes(project.root)
    row = migrate(evh, "--dry-run")["gold/d"]
    assert (row["label_set"], row["written"], row["new_set"]) == ("d/gold_d", False, True)
    assert "would migrate 1 reference set to 1 label set" in evh.ok("migrate-references", "--dry-run").out
    assert tree_bytes(project.root) == before


def test_the_texts_stay_byte_for_byte(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Line ends and accept-lists of another form included; unknown keys and a reason stay."""
    texts = {"i1": b"file\r\n\n", "i2": b'{"accept":["b","a"]}', "late fee (2)": "café ".encode()}
    place = old_reference(project, "gold/d", texts, reason="two of us agreed", team="billing", by="ann")
    row = migrate(evh)["gold/d"]
    assert row["source"] == {"kind": "person", "by": "ann"}
    assert labels.raw_texts(project, labels.read(project, "d", "gold_d")) == texts
    manifest = json.loads((place / "manifest.json").read_bytes())
    assert (manifest["reason"], manifest["team"], manifest["n_items"]) == ("two of us agreed", "billing", 3)
    assert "items" not in manifest


@pytest.mark.parametrize(
    ("manifest", "source"),
    [
        ({}, {"kind": "person", "by": "the dataset's own labels"}),
        ({"verdicts_by": "owner"}, {"kind": "person", "by": "owner"}),
        ({"annotator": "ann", "from_run": None}, {"kind": "person", "by": "ann"}),
        ({"promoted_by": "bo"}, {"kind": "person", "by": "bo"}),
        ({"from_run": "gone_1"}, {"kind": "model", "run_id": "gone_1"}),
        ({"from_run": "runs/gone_1", "authored_by": "m"}, {"kind": "model", "run_id": "gone_1", "by": "m"}),
        ({"authored_by": "large-2"}, {"kind": "model", "by": "large-2"}),
        ({"from_config": "baseline"}, {"kind": "model", "by": "baseline"}),
        ({"from_outcomes": True}, {"kind": "rule"}),
        (
            {"from_outcomes": "june", "rules_file": "r.yaml"},
            {"kind": "rule", "capture": "june", "rules_file": "r.yaml"},
        ),
        (
            {"from_outcomes": {"capture": "june", "map": "r.yaml", "rules_sha256": "0" * 64}},
            {"kind": "rule", "capture": "june", "rules_file": "r.yaml", "rules_sha256": "0" * 64},
        ),
    ],
)
def test_the_source_is_what_the_manifest_says(
    project: Project, manifest: dict[str, Any], source: dict[str, str]
) -> None:
    """A dataset's own labels or a person's verdicts; a run or an author; outcomes."""
    promoted_by = manifest.pop("promoted_by", None)
    reference = Reference("d", "gold", "d", promoted_by=promoted_by, extra=manifest)
    assert migrate_references.source_of(project, reference) == source


def test_a_run_that_is_here_tells_more(project: Project, builder: Builder, evh: CommandLine) -> None:
    """Its config, fingerprint and model join the source: the arm's own labels are known as such."""
    builder.run("judge", "d", {"i1": "file"}, params={"model": "m-1"}, fingerprint={"hash": "f" * 64})
    old_reference(project, "silver/d", {"i1": b"file"}, from_run="judge_20261001T000000Z")
    assert migrate(evh)["silver/d"]["source"] == {
        "kind": "model",
        "run_id": "judge_20261001T000000Z",
        "config_id": "judge",
        "fingerprint": "f" * 64,
        "model": "m-1",
    }


@pytest.mark.parametrize(
    ("texts", "manifest", "why"),
    [
        ({}, {"n_items": 40}, "its texts are not here"),
        ({"i1": b"x"}, {"n_items": 2}, "only 1 of its 2 texts are here"),
        ({"i1": b"x"}, {"dataset_id": "gone"}, "its dataset 'gone' is not here"),
        ({"nobody": b"y"}, {}, "none of its 1 text names an item of d"),
        ({"i1": b"x", "i2": b"caf\xe9"}, {}, "not UTF-8, which every label is: i2"),
        ({"i1": b"x", "i2": b" \n"}, {}, "1 text of it is empty, which is no label: i2"),
    ],
)
def test_where_a_set_cannot_be_made_the_source_is_recorded(  # noqa: PLR0917 - a table's columns
    project: Project,
    builder: Builder,
    evh: CommandLine,
    texts: dict[str, bytes],
    manifest: dict[str, Any],
    why: str,
) -> None:
    """No set of text that is not here, or of nobody's bytes; the promotion says the source, and only once."""
    old_reference(project, "gold/d", texts, **manifest)
    before = digests(project)
    row = migrate(evh)["gold/d"]
    assert row["label_set"] is None
    assert why in row["why_no_set"]
    assert references.read(project, "gold/d").promoted_from == {
        "labels": [],
        "source": [{"kind": "person", "by": "the dataset's own labels"}],
        "labels_sha256": [],
    }
    assert not (project.data / "labels").exists()
    assert digests(project) == before
    assert migrate(evh) == {}


def test_equal_bytes_with_two_answers_make_no_set(project: Project, evh: CommandLine) -> None:
    """No label set says two things of one text."""
    Builder(project).dataset("d", {"i1": "same", "i2": "same"})
    old_reference(project, "gold/d", {"i1": b"x", "i2": b"y"})
    assert "equal bytes different answers" in migrate(evh)["gold/d"]["why_no_set"]


def test_what_a_crash_left_is_gone_on_with(project: Project, builder: Builder, evh: CommandLine) -> None:
    """The set is there and the manifest is not changed: the second try takes that very set."""
    place = old_reference(project, "gold/d", {"i1": b"file"})
    before = (place / "manifest.json").read_bytes()
    migrate(evh)
    (place / "manifest.json").write_bytes(before)
    assert migrate(evh)["gold/d"]["new_set"] is False
    assert references.read(project, "gold/d").label_refs == ("d/gold_d",)


def test_another_set_of_that_name_is_never_taken_for_it(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """It holds other labels: refused, and so is a reference that cannot be read; nothing is written."""
    old_reference(project, "gold/d", {"i1": b"file"})
    old_reference(project, "silver/d", {"i1": b"file"})
    builder.labels("d", "gold_d", {"i1": "close"})
    before = tree_bytes(project.root)
    told = evh.refused("existing-set", "migrate-references").json["refused"]
    assert told["why"] == ["labels/d/gold_d: a set of that name is there and holds other labels"]
    old_reference(project, "gold/broken")
    (project.data / "references/gold/broken/manifest.json").write_text("{")
    assert len(evh.refused("cannot-migrate", "migrate-references").json["refused"]["why"]) == 2
    shutil.rmtree(project.data / "references/gold/broken")
    assert tree_bytes(project.root) == before


def test_promoted_ones_stay_as_they_are(project: Project, builder: Builder, evh: CommandLine) -> None:
    """A reference with a promotion on record is counted and not touched."""
    builder.reference("gold/d", builder.labels("d", "ann", {"i1": "file"}))
    old_reference(project, "silver/d", {"i1": b"file"})
    document = evh.ok("migrate-references", "--json").json
    assert (document["n_done"], len(document["references"])) == (1, 1)
    evh.ok("validate")


def test_a_long_name_is_cut_and_marked() -> None:
    """A set's name has at most 100 characters; two long names stay two."""
    one, other = (migrate_references.set_name(f"silver/{'a' * 99}{end}") for end in "xy")
    assert len(one) == len(other) == 100
    assert one != other
    assert migrate_references.set_name("gold/a_b") == "gold_a_b"


def test_validate_holds_a_migrated_reference_against_its_set(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Its manifest lists no items, and still a text that is not the label promoted is found."""
    place = old_reference(project, "gold/d", {"i1": b"file", "late fee (2)": b"close"})
    migrate(evh)
    evh.ok("validate")
    (place / "late fee (2).txt").write_bytes(b"file")
    found = evh("validate", "--json").json["findings"]
    assert [(one["code"], one["reason"]) for one in found] == [
        ("promotion", "late fee (2): its text is not the label that was promoted")
    ]


def test_a_text_of_no_item_is_left_out_and_told(project: Project, builder: Builder, evh: CommandLine) -> None:
    """One stray file does not lose the set: it is of the other texts, and names the stray."""
    old_reference(project, "gold/d", {"i1": b"file", "i2": b"close", "nobody": b"x"})
    document = evh.ok("migrate-references", "--json").json
    assert document["references"][0]["label_set"] == "d/gold_d"
    assert document["warnings"] == ["gold/d: 1 text of it names no item of d, left out of the set: nobody"]
    held = labels.read(project, "d", "gold_d")
    assert labels.texts(project, held) == {"i1": "file", "i2": "close"}
    assert held.extra["left_out"] == ["nobody"]
    assert [one for one in evh("validate", "--json").json["findings"] if one["code"] == "promotion"] == []


def test_a_second_try_makes_the_set_that_could_not_be_made(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """While nothing is mended it says so and changes no byte; then the record names the set."""
    place = old_reference(project, "gold/d", {"i1": b"file", "i2": b" "})
    assert migrate(evh)["gold/d"]["label_set"] is None
    before = tree_bytes(project.root)
    document = evh.ok("migrate-references", "--json").json
    assert (document["references"], document["n_done"]) == ([], 1)
    why = "gold/d: 1 text of it is empty, which is no label: i2: "
    assert document["warnings"] == [f"{why}its source is on record, and still no set is made"]
    assert tree_bytes(project.root) == before
    (place / "i2.txt").write_bytes(b"close")
    assert migrate(evh)["gold/d"]["label_set"] == "d/gold_d"
    assert references.read(project, "gold/d").label_refs == ("d/gold_d",)
    assert evh.ok("migrate-references", "--json").json["warnings"] == []


def test_what_is_no_reference_set_is_told_everywhere(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """A folder without a manifest, an empty one and a link: told by all three commands."""
    old_reference(project, "gold/d", {"i1": b"file"})
    gold = project.data / "references" / "gold"
    (gold / "bare").mkdir()
    (gold / "bare" / "i1.txt").write_bytes(b"file")
    (gold / "empty").mkdir()
    (gold / "twin").symlink_to("d")
    lines = {
        "data/references/gold/bare: it holds 1 text and no manifest.json: no reference set",
        "data/references/gold/empty: it is an empty folder: no reference set",
        "data/references/gold/twin: it is a link, to d; a reference set is a folder of its own",
    }
    document = evh.ok("migrate-references", "--json").json
    assert [row["reference"] for row in document["references"]] == ["gold/d"]
    assert set(document["warnings"]) == lines
    assert lines <= set(evh.ok("references", "--json").json["warnings"])
    found = evh("validate", "--json").json["findings"]
    assert {f"{one['file']}: {one['reason']}" for one in found if one["code"] == "no-reference"} == lines


def test_a_refusal_tells_each_thing_once_and_no_option_that_is_not_there(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Paths are the project's own; a folder that no id may name is to be renamed."""
    old_reference(project, "gold/d", {"i1": b"file"})
    old_reference(project, "gold/my refs", {"i1": b"file"})
    (old_reference(project, "gold/broken") / "manifest.json").write_text("{")
    told = evh.refused("cannot-migrate", "migrate-references").json["refused"]
    assert len(told["why"]) == len(set(told["why"])) == 2
    assert str(project.root) not in json.dumps(told)
    assert all(line.count("manifest.json") < 2 for line in told["why"])
    assert "choose another name" not in told["next"]


def test_a_dataset_that_cannot_be_read_is_not_one_that_is_not_here(
    project: Project, builder: Builder, evh: CommandLine
) -> None:
    """Its reference is refused: a record without a set would stand. One of another name stops nothing."""
    old_reference(project, "gold/d", {"i1": b"yes"})
    builder.dataset("other", {"o1": "text"})
    other = project.data / "datasets" / "other.json"
    whole, other_whole = (project.data / "datasets" / "d.json").read_bytes(), other.read_bytes()
    (project.data / "datasets" / "d.json").write_bytes(whole[:-20])
    before = tree_bytes(project.data)
    told = evh.refused("bad-json", "migrate-references").json["refused"]["why"]
    assert any("datasets/d.json" in one for one in told), told
    assert tree_bytes(project.data) == before
    (project.data / "datasets" / "d.json").write_bytes(whole)
    other.write_bytes(other_whole[:-20])
    assert migrate(evh)["gold/d"]["label_set"] == "d/gold_d"
