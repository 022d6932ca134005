"""The sheet's data files: columns come back from their bytes, JSON is inert, rows in full lose nothing."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.project.find import Project
from evh_build import sheet_data, site
from evh_build.sheet_columns import Column
from tests.evh_build.projects import SCRIPT, small
from tests.helpers import Builder

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small project's site."""
    root = tmp_path_factory.mktemp("small")
    (root / "data").mkdir()
    (root / "data" / ".gitattributes").write_bytes(b"* -text\n")
    project = small(Project.find(home=root, environ={"EVH_NOW": "2026-11-01T08:02:32Z"}))
    return site.commit(project, site.plan(project)).index.parent


def unpacked(raw: bytes) -> tuple[dict[str, Any], list[list[Any]]]:
    """Return the head and each column's values, read as the format is described."""
    (size,) = struct.unpack_from("<I", raw)
    head = json.loads(raw[4 : 4 + size])
    assert (4 + size) % 8 == 0
    made = []
    for one in head["columns"]:
        body = raw[4 + size + one["at"] : 4 + size + one["at"] + one["bytes"]]
        assert one["at"] % 8 == 0
        if one["form"] == "number":
            values = struct.unpack(f"<{len(body) // 8}d", body)
            made.append([None if isnan(value) else value for value in values])
        elif one["form"] == "codes":
            letter = {1: "B", 2: "H"}[one["width"]]
            codes = struct.unpack(f"<{len(body) // one['width']}{letter}", body)
            made.append([one["names"][code] for code in codes])
        else:
            made.append([line or None for line in body.decode().split("\n")])
    return head, made


@given(
    st.lists(
        st.tuples(st.floats(allow_nan=False) | st.none(), st.sampled_from(["a", "é", None]), TEXTS),
        min_size=1,
    )
)
def test_columns_come_back_from_their_bytes(rows: list[tuple[float | None, str | None, str]]) -> None:
    """Numbers, names and texts of any rows are what they were; no text is None and an empty one alike."""
    numbers, names, texts = (list(one) for one in zip(*rows, strict=True))
    columns = [
        Column("n", "n", "score", numbers, number=True),
        Column("c", "c", "decision", names),
        Column("t", "t", "text", texts),
    ]
    head, made = unpacked(sheet_data.packed({"n": len(rows)}, columns))
    assert head["n"] == len(rows)
    assert made == [numbers, names, [text or None for text in texts]]


@given(
    st.recursive(
        st.text() | st.none() | st.integers(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)
    )
)
def test_embedded_json_is_inert_and_says_the_same(value: Any) -> None:
    """No < > & or line separator stands in it; JSON reads it back, lone surrogates as ?."""
    text = sheet_data.embedded(value)
    assert not re.search("[<>&\u2028\u2029]", text)
    told = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    assert json.loads(text) == json.loads(told)


def test_a_large_sheet_has_its_columns_in_a_file(tmp_path: Path) -> None:
    """2,001 rows: data.<digest>.js holds the columns, gzipped without a time; 2,000: the page holds them."""
    sizes = {}
    for n in (2_000, 2_001):
        root = tmp_path / str(n)
        (root / "data").mkdir(parents=True)
        (root / "data" / ".gitattributes").write_bytes(b"* -text\n")
        project = Project.find(home=root, environ={"EVH_NOW": "2026-11-01T08:02:32Z"})
        Builder(project).dataset("d", {f"i{at}": f"text {at}\n" for at in range(n)})
        sizes[n] = site.commit(project, site.plan(project)).index.parent / "sheets/d"
    assert 'id="sheet-data"' in (sizes[2_000] / "index.html").read_text()
    page = (sizes[2_001] / "index.html").read_text()
    assert 'id="sheet-data"' not in page
    (path,) = sizes[2_001].glob("data.*.js")
    assert f'src="{path.name}"' in page
    found = re.fullmatch(r'"use strict";evhSheet\.data\("([A-Za-z0-9+/=]+)"\)', path.read_text())
    assert found
    zipped = base64.b64decode(found[1])
    assert zipped[4:8] == bytes(4)  # the time of gzip's header
    head, columns = unpacked(gzip.decompress(zipped))
    assert (head["n"], len(head["chunks"])) == (2_001, 6)
    assert columns[0] == [f"i{at}" for at in range(2_001)]
    assert all((sizes[2_001] / name).is_file() for name in head["chunks"])


def test_rows_in_full_hold_every_label_note_field_and_text(folder: Path) -> None:
    """The small project's second item: its pick, its fields, its three labels, its arms, its page."""
    (path,) = (folder / "sheets/d").glob("rows-0.*.js")
    found = re.fullmatch(r'"use strict";evhSheet\.chunk\(0,(.*)\)', path.read_text())
    assert found
    rows = {row["text"][0]: row for row in json.loads(found[1])}
    row = rows["report 2\n"]
    assert row["path"] == "../../items/d/i2.html"
    assert row["fields"] == [["vendor", "acme"], ["year", "2022"]]
    assert ["capture", "c"] in row["from"]
    assert row["arms"] == [{"decision": "no"}, {"decision": "yes"}]
    assert [label and label[0] for label in row["labels"]] == ["yes", "no", "yes", None]
    assert (row["pick"]["for"], row["pick"]["tags"], row["pick"]["note"]) == (
        "v1",
        ["case=missed"],
        "<p>look</p>\n",
    )


def test_names_change_with_the_bytes_and_with_nothing_else(project: Project) -> None:
    """Built twice the files are the same; a changed label renames the file that holds it."""
    small(project)
    first = site.commit(project, site.plan(project)).index.parent
    names = {path.name for path in (first / "sheets/d").iterdir()}
    again = site.commit(project, site.plan(project, out=project.root / "other")).index.parent
    assert {path.name for path in (again / "sheets/d").iterdir()} == names
    Builder(project).labels("d", "bob", {"i3": SCRIPT})
    site.commit(project, site.plan(project))
    assert {path.name for path in (first / "sheets/d").iterdir()} != names
