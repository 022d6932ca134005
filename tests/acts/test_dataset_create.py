"""What a dataset is made of, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evh.acts import dataset_create as act
from evh.acts.dataset_create import Flags, Source
from evh.errors import Refusal
from evh.project import datasets
from evh.project.find import Project
from tests.helpers import Builder

# printf one | sha256sum
ONE = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"


def make(project: Project, dataset_id: str, source: Source, flags: Flags | None = None, **more: Any) -> Any:
    """Make a dataset."""
    return act.commit(project, act.plan(project, dataset_id, source, flags, **more))


def why(project: Project, code: str, source: Source, **more: Any) -> list[str]:
    """Give the reasons of what must be refused with ``code``."""
    with pytest.raises(Refusal) as caught:
        act.plan(project, "d", source, **more)
    assert caught.value.code == code, caught.value
    assert not datasets.exists(project, "d")
    assert not (project.data / "sources").exists()
    return list(caught.value.why)


def jsonl(folder: Path, *rows: dict[str, Any]) -> Source:
    """Write rows as JSONL, and give the file."""
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Source(file=folder / "rows.jsonl")


def test_a_folder_of_texts_becomes_items_by_their_paths(project: Project, tmp_path: Path) -> None:
    """The bytes are taken as they are, CR LF and BOM too; hidden files are counted."""
    folder = tmp_path / "texts"
    (folder / "sub").mkdir(parents=True)
    (folder / "b.txt").write_bytes(b"one")
    (folder / "a.md").write_bytes(b"\xef\xbb\xbfx\r\n")
    (folder / "sub" / "c.txt").write_bytes(b"")
    (folder / ".DS_Store").write_bytes(b"\x00\xff")
    plan = act.plan(project, "d", Source(folder=folder))
    made = act.commit(project, plan)
    assert [item.item_id for item in made.items] == ["a.md", "b", "sub/c"]
    assert made.items[1].sha256 == ONE
    assert datasets.texts(project, datasets.read(project, "d")) == {
        "a.md": b"\xef\xbb\xbfx\r\n",
        "b": b"one",
        "sub/c": b"",
    }
    assert plan.warnings == ("1 hidden file left out",)


def test_links_and_bytes_that_are_no_text_are_refused(project: Project, tmp_path: Path) -> None:
    """No link is followed, to a file or to a folder; UTF-16 is not taken for text."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (tmp_path / "secret").write_text("s")
    (folder / "link.txt").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    (folder / "u16.txt").write_bytes("é".encode("utf-16"))
    assert sorted(why(project, "bad-items", Source(folder=folder))) == [
        "link.txt: it is a link, and none is followed",
        "u16.txt: it is not UTF-8 text",
        "up/: it is a link, and none is followed",
    ]


def test_rows_become_items_with_the_fields_that_were_named(project: Project, tmp_path: Path) -> None:
    """Ids may be whole numbers; only the named columns become fields, a null one is left out."""
    source = jsonl(
        tmp_path,
        {"id": 1, "body": "one", "n": 2.5, "ok": True, "x": None, "other": "no"},
        {"id": "b/ü", "body": "two", "n": 3, "ok": False, "x": "y"},
    )
    made = make(
        project, "d", Source(file=source.file, id_field="id", text_field="body", fields=("n", "ok", "x"))
    )
    assert [(item.item_id, dict(item.fields)) for item in made.items] == [
        ("1", {"n": 2.5, "ok": True}),
        ("b/ü", {"n": 3, "ok": False, "x": "y"}),
    ]
    assert made.field_types == {"n": "number", "ok": "bool", "x": "text"}
    assert made.items[0].sha256 == ONE


def test_csv_and_parquet_make_the_same_dataset(project: Project, tmp_path: Path) -> None:
    """The same rows in both forms give the same items."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "r.csv").write_text("item_id,text\n01,one\n02,two\n")
    pq.write_table(pa.table({"item_id": ["01", "02"], "text": ["one", "two"]}), tmp_path / "r.parquet")
    by_csv = make(project, "a", Source(file=tmp_path / "r.csv"))
    by_parquet = make(project, "b", Source(file=tmp_path / "r.parquet"))
    assert [item.item_id for item in by_csv.items] == ["01", "02"]
    assert datasets.digest(by_csv) == datasets.digest(by_parquet)


def test_every_bad_row_is_told_at_once(project: Project, tmp_path: Path) -> None:
    """No id, no text, a field that is a list, a doubled id, an impossible id: five reasons."""
    rows = (
        {"text": "a", "f": 1},
        {"item_id": "x", "f": 1},
        {"item_id": "y", "text": "b", "f": []},
        {"item_id": "z", "text": "c", "f": 1},
        {"item_id": "z", "text": "d", "f": 1},
        {"item_id": "#1", "text": "e", "f": 1},
    )
    source = Source(file=jsonl(tmp_path, *rows).file, fields=("f",))
    reasons = why(project, "bad-items", source)
    assert [reason.split(":")[1].strip() for reason in reasons] == [f"record {n}" for n in (1, 2, 3, 5, 6)]
    assert "it has text, f" in reasons[0]
    assert "the id 'z' is that of rows.jsonl: record 4 too" in reasons[3]


def test_equal_bytes_under_two_ids_are_refused_by_pair(project: Project, tmp_path: Path) -> None:
    """Each copy names the item whose bytes it has; --allow-duplicates keeps them."""
    source = jsonl(
        tmp_path, *({"item_id": name, "text": text} for name, text in zip("abcd", "xyxx", strict=True))
    )
    assert why(project, "equal-bytes", source) == [
        "'c' has the same bytes as 'a'",
        "'d' has the same bytes as 'a'",
    ]
    assert len(make(project, "d", source, allow_duplicates=True).items) == 4


def test_a_dataset_is_never_overwritten(project: Project, tmp_path: Path) -> None:
    """The second one of an id is refused, whatever its source."""
    Builder(project).dataset("d", {"a": "x"})
    with pytest.raises(Refusal) as caught:
        act.plan(project, "d", jsonl(tmp_path, {"item_id": "b", "text": "y"}))
    assert caught.value.code == "existing-dataset"


@pytest.mark.parametrize(
    "source", [Source(), Source(file=Path("a"), dataset_id="b"), Source(folder=Path("a"), file=Path("b"))]
)
def test_a_dataset_comes_from_exactly_one_place(source: Source, project: Project) -> None:
    """None and two are refused."""
    why(project, "bad-options", source)


def test_nothing_makes_no_dataset(project: Project, tmp_path: Path) -> None:
    """An empty file, an empty folder, a missing one and an unknown dataset are refused."""
    (tmp_path / "empty").mkdir()
    why(project, "no-items", jsonl(tmp_path))
    why(project, "no-items", Source(folder=tmp_path / "empty"))
    why(project, "cannot-read", Source(folder=tmp_path / "nowhere"))
    why(project, "no-such-dataset", Source(dataset_id="nowhere"))


def test_a_lone_surrogate_is_no_text(project: Project, tmp_path: Path) -> None:
    """It has no bytes, so it can be no item."""
    assert (
        "lone surrogate" in why(project, "bad-items", jsonl(tmp_path, {"item_id": "a", "text": "\ud800"}))[0]
    )


def test_flags_are_written_and_visibility_is_the_projects(project: Project, tmp_path: Path) -> None:
    """Given flags stand in the manifest; the default visibility is private, as the project's."""
    source = jsonl(tmp_path, {"item_id": "a", "text": "x"})
    plain = make(project, "d", source)
    assert (plain.governed, plain.visibility, plain.redistributable, plain.task) == (
        False,
        "private",
        True,
        "",
    )
    flags = Flags(governed=True, visibility="public", redistributable=False, task="triage", description="D.")
    make(project, "e", source, flags)
    read = datasets.read(project, "e")
    assert (read.governed, read.visibility, read.redistributable) == (True, "public", False)
    assert (read.task, read.description) == ("triage", "D.")


def test_from_another_dataset_items_know_where_they_came_from(project: Project) -> None:
    """Bytes, fields and flags are the parent's, flags that are given change; lineage names each item."""
    Builder(project).dataset(
        "v1",
        {"a": "one", "b": "two"},
        fields={"a": {"n": 1}},
        lineage={"a": {"capture": "c", "record_id": "r"}},
        governed=True,
        task="t",
    )
    make(project, "v2", Source(dataset_id="v1"), Flags(governed=False))
    made = datasets.read(project, "v2")
    assert (made.parent, made.governed, made.task, made.version) == ("v1", False, "t", 2)
    assert made.items[0].sha256 == ONE
    assert dict(made.items[0].fields) == {"n": 1}
    assert dict(made.items[0].lineage) == {"capture": "c", "record_id": "r", "dataset": "v1", "item_id": "a"}
    assert datasets.texts(project, made) == {"a": b"one", "b": b"two"}


def test_over_5000_items_are_one_parquet_file(project: Project, tmp_path: Path) -> None:
    """5,001 items lie beside the manifest; a copy of it reads the same bytes."""
    source = jsonl(tmp_path, *({"item_id": f"i{n}", "text": f"text {n}"} for n in range(5001)))
    make(project, "d", source)
    assert (project.data / "datasets" / "d.items.parquet").exists()
    make(project, "e", Source(dataset_id="d"))
    copy = datasets.read(project, "e")
    assert datasets.digest(copy) == datasets.digest(datasets.read(project, "d"))
    assert datasets.item_bytes(project, copy, copy.items[-1]) == b"text 5000"


def test_a_field_with_half_a_character_is_refused(project: Project, tmp_path: Path) -> None:
    """A lone surrogate is refused in a field, as it is in a text: it has no UTF-8."""
    source = jsonl(
        tmp_path, {"item_id": "a", "text": "x", "f": "ok \ud800"}, {"item_id": "b", "text": "y", "f": "é"}
    )
    reasons = why(project, "bad-items", replace(source, fields=("f",)))
    assert reasons == ["rows.jsonl: record 1: f holds a lone surrogate, which is no character"]
