"""Cells that a spreadsheet made of answers, texts that it cut, and answers that only look alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.acts.look_alike import look_alike
from evh.project import labels
from evh.project.find import Project
from evh.store.spreadsheet import SHORTENED
from tests.conftest import CommandLine
from tests.helpers import Builder

WORDS = ("--dataset-id", "d", "--by", "ann", "--set")


@pytest.fixture
def builder(project: Project) -> Builder:
    """Two items, the second longer than a cell."""
    made = Builder(project)
    made.dataset("d", {"i1": "one", "i2": "long " * 8000})
    return made


def sheet(path: Path, *rows: tuple[str, str], head: str = "label") -> Path:
    """Write a sheet without a key: item ids and labels."""
    lines = [f"item_id,{head}", *(f'{item_id},"{label}"' for item_id, label in rows)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(
    "cell", ["1/2/2024", "3-Jan", "Jan-24", "02.01.2024", "2024-01-02 00:00:00", "12:30", "1:30 PM"]
)
def test_a_date_or_a_time_is_a_label_only_as_typed(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path, cell: str
) -> None:
    """Nobody can say whether ``1-2`` was typed; a person can say that nothing was changed."""
    path = sheet(tmp_path / "s.csv", ("i1", cell), ("i2", "yes"))
    told = evh.refused("mangled-cell", "label-import", path, *WORDS, "s").json["refused"]["why"]
    assert len(told) == 1
    assert "--as-typed" in told[0]
    evh.ok("label-import", path, *WORDS, "s", "--as-typed")
    assert labels.texts(project, labels.read(project, "d", "s"))["i1"] == cell


def test_a_date_is_a_label_where_choices_or_other_sets_have_such(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """The header's choices name it; or the dataset's labels are dates anyway."""
    evh.ok("label-import", sheet(tmp_path / "a.csv", ("i1", "3-Jan"), head="label (3-Jan|no)"), *WORDS, "a")
    evh.ok("label-import", sheet(tmp_path / "b.csv", ("i1", "4-Feb")), *WORDS, "b")


def test_a_column_too_narrow_is_never_a_label(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Number signs stand for what could not be shown: not even as typed."""
    path = sheet(tmp_path / "s.csv", ("i1", "########"))
    evh.refused("mangled-cell", "label-import", path, *WORDS, "s", "--as-typed")


def test_half_a_character_is_no_answer(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """An accept-list can hold an escape of a lone surrogate, which no file of text can."""
    path = sheet(tmp_path / "s.csv", ("i1", '{""accept"": [""\\ud800"", ""b""]}'))
    evh.refused("bad-label", "label-import", path, *WORDS, "s")


def test_a_cell_that_ends_in_the_mark_is_checked_as_far_as_it_goes(
    builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Without a key what stands before the mark must begin the item's text; a mark alone shows nothing."""

    def write(text: str) -> Path:
        path = tmp_path / "s.csv"
        path.write_text(f"item_id,item,label\ni2,{text}{SHORTENED},yes\n", "utf-8")
        return path

    for text in ("wrong", "long wrong", ""):
        evh.refused("changed-text", "label-import", write(text), *WORDS, "s")
    evh.ok("label-import", write("long long long"), *WORDS, "s")


def test_with_a_key_the_mark_excuses_no_edit(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """The key knows the cell that was written, mark and all."""
    path = tmp_path / "s.csv"
    evh.ok("label-sheet", "--dataset-id", "d", "--items", "all", "--out", path)
    text = path.read_text("utf-8-sig")
    assert SHORTENED in text
    path.write_text(text.replace("long long", "long wrong", 1), "utf-8")
    rows = path.read_text("utf-8").replace(f"{SHORTENED},,", f"{SHORTENED},yes,")
    assert rows.count(",yes,") == 1
    path.write_text(rows, "utf-8")
    evh.refused("changed-text", "label-import", path, *WORDS, "s")


def test_answers_that_look_alike_are_named(
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A zero-width space and the two forms of an accented letter: kept, told, characters written out."""
    path = sheet(tmp_path / "s.csv", ("i1", "yes"), ("i2", "yes\u200b"))
    warnings = evh.ok("label-import", path, *WORDS, "s", "--json").json["warnings"]
    assert f"{path}: 'yes' and 'yes\\u200b' look alike and are 2 answers, kept as typed" in warnings
    assert labels.texts(project, labels.read(project, "d", "s")) == {"i1": "yes", "i2": "yes\u200b"}


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (
            ["caf\u00e9", "cafe\u0301"],
            [r"f: 'cafe\u0301' and 'caf\xe9' look alike and are 2 answers, kept as typed"],
        ),
        (["yes\u200b"], [r"f: 'yes\u200b' looks like 'yes' and is another answer, kept as typed"]),
        (["a b", "a\u00a0b"], [r"f: 'a b' and 'a\xa0b' look alike and are 2 answers, kept as typed"]),
        (["cafe\u0301", "yes", "no", "\U0001f468\u200d\U0001f469"], []),
    ],
)
def test_what_looks_alike(answers: list[str], told: list[str]) -> None:
    """One form alone is nobody's double; an emoji needs its joiner."""
    assert look_alike(answers, "f") == told
