"""``inspect --sheet``: the sheet as CSV, table and JSON, and the commands that go on from its rows."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from evh.acts import sheet_csv
from evh.acts.sheet import build_sheet
from evh.project.find import Project
from tests.acts import comparing
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

built = comparing.built

# ------------------------------------------------------------------------------------------------ the CSV


def rows_of(data: bytes) -> list[list[str]]:
    """Return the cells of a CSV as a spreadsheet reads them."""
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_the_csv_has_every_row_and_the_footer(built: Builder) -> None:
    """A header, five items, and the means and win rates under their columns."""
    rows = rows_of(sheet_csv.dump(build_sheet(built.project, "d")))
    header = rows[0]
    assert [row[0] for row in rows[1:]] == ["one", "two", "three", "four", "five", "#mean", "#win rate"]
    score = header.index("a: correct (labels/d/truth)")
    assert [row[score] for row in rows[1:7]] == ["1.0", "1.0", "1.0", "", "", "1.0"]
    assert rows[7][header.index("a: decision")] == "0.5"
    assert rows[1][header.index("winner")] == "production a"
    assert all(len(row) == len(header) for row in rows)


def test_the_csv_guards_what_a_spreadsheet_would_run(project: Project) -> None:
    """A formula in an id, a field, a decision or a label is text: the cell starts with an apostrophe."""
    built = Builder(project)
    built.dataset("d", {"=1+1": "text"}, fields={"=1+1": {"f": "@SUM(A1)"}})
    built.labels("d", "s", {"=1+1": "+cmd"})
    built.run("a", "d", {"=1+1": "-2"})
    row = rows_of(sheet_csv.dump(build_sheet(project, "d")))[1]
    assert [cell for cell in row if cell[:1] in "=+-@" and cell] == []
    assert {"'=1+1", "'@SUM(A1)", "'-2", "'+cmd"} <= set(row)


# ----------------------------------------------------------------------------------------------- the door


def test_inspect_sheet_prints_the_rows_and_the_next_commands(built: Builder, evh: CommandLine) -> None:
    """The table has a mark for right and wrong, and ends with pick and label-sheet for its rows."""
    shown = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--wrong-against", "truth", "--by", "kind")
    assert "d: 2 of 5 items, 3 arms; winner by correct against labels/d/truth" in shown.out
    assert "yes ✗" in shown.out
    assert "evh pick --dataset-id d --item two --item three" in shown.out
    assert "evh label-sheet --dataset-id d --out d.csv --item two --item three" in shown.out


def test_commands_quote_ids_for_a_shell(project: Project, evh: CommandLine) -> None:
    """An id that a shell would run is quoted; one that a terminal cannot show gets no command."""
    Builder(project).dataset("d", {"a; rm -rf ~": "1", "b'c": "2", "x\u202ey": "3"})
    shown = evh.ok("inspect", "--sheet", "--dataset-id", "d")
    assert "--item 'a; rm -rf ~' --item 'b'\"'\"'c'" in shown.out
    assert "\u202e" not in shown.out


def test_limit_counts_what_it_leaves_out(built: Builder, evh: CommandLine) -> None:
    """--limit 2 prints two rows and says that three more are there."""
    shown = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--limit", "2")
    assert "and 3 more rows" in shown.out


def test_counts_show_a_field_s_value_as_it_is(project: Project, evh: CommandLine) -> None:
    """2022 is a year, not a number to group; items without the field count under a dash."""
    made = Builder(project)
    made.dataset("d", {"a": "1", "b": "2"}, fields={"a": {"year": 2022}})
    made.run("arm", "d", {"a": "x", "b": "y"})
    lines = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--by", "year").out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("year"))
    assert [line.split()[:2] for line in lines[at + 1 : at + 3]] == [["2022", "1"], ["—", "1"]]


def test_the_json_is_what_its_schema_says(built: Builder, evh: CommandLine) -> None:
    """The sheet's document holds to its schema, with the same numbers as the values."""
    built.pick("d", "one", targets=("v2",))
    document = check(evh.ok("inspect", "--sheet", "--dataset-id", "d", "--by", "n", "--json").json, "inspect")
    assert [row["item_id"] for row in document["rows"]] == ["one", "two", "three", "four", "five"]
    assert document["rows"][0]["winners"] == ["production", "a"]
    assert document["footer"][1]["win_rate"] == 0.5
    bare = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--scores-only", "--json").json
    assert all(arm["output"] is None for row in check(bare, "inspect")["rows"] for arm in row["arms"])


def test_inspect_writes_nothing_but_the_csv(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """data/ is the same before and after; --dry-run writes no file, a second --csv is refused."""
    before = tree_bytes(built.project.data)
    target = tmp_path / "out" / "sheet.csv"
    words = ("inspect", "--sheet", "--dataset-id", "d", "--csv", str(target))
    assert "would write" in evh.ok(*words, "--dry-run").out
    assert not target.exists()
    evh.ok(*words)
    assert len(rows_of(target.read_bytes())) == 10  # a header, 5 items, 4 lines of the footer
    evh.refused("existing-file", *words)
    evh.refused("in-data", *words[:-1], str(built.project.data / "sheet.csv"))
    assert tree_bytes(built.project.data) == before


@pytest.mark.parametrize(
    "words",
    [
        ("--dataset-id", "d"),
        ("--dataset-id", "d", "--sheet", "--item", "one"),
        ("--dataset-id", "d", "--item", "one", "--split"),
        ("--dataset-id", "d", "--runs", "a,b", "--csv", "x.csv"),
    ],
)
def test_options_that_do_not_go_together_are_usage_errors(
    built: Builder, evh: CommandLine, words: tuple[str, ...]
) -> None:
    """Exit 2, and nothing is shown."""
    assert evh("inspect", *words).code == 2


def test_an_unknown_by_field_is_refused(built: Builder, evh: CommandLine) -> None:
    """--by names a field that some item has."""
    evh.refused("no-such-field", "inspect", "--sheet", "--dataset-id", "d", "--by", "colour")


def test_an_unknown_dataset_is_refused(evh: CommandLine) -> None:
    """The dataset must be here."""
    evh.refused("no-such-dataset", "inspect", "--sheet", "--dataset-id", "nothing")


def test_the_commands_name_up_to_200_rows(project: Project, evh: CommandLine) -> None:
    """All of 150; of 201 the first 200, and that is said."""
    for name, n in (("d", 150), ("e", 201)):
        Builder(project).dataset(name, {f"i{at}": f"{name} {at}" for at in range(n)})
    shown = evh.ok("inspect", "--dataset-id", "d", "--sheet")
    assert (shown.out + shown.err).count("--item i") == 2 * 150
    shown = evh.ok("inspect", "--dataset-id", "e", "--sheet")
    assert (shown.out + shown.err).count("--item i") == 2 * 200
    assert "the first 200 rows" in shown.out
