"""A sheet to fill in shows what is to be judged and nothing that leads to an arm; the key knows the rest."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evh.acts import sheet_blind, sheet_fill
from evh.acts.sheet import build_sheet
from evh.project.find import Project
from tests.acts import sheets
from tests.acts.sheets import DECISIONS, RUNS, TEXTS, cells_of, letters
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

built = sheets.built
WORDS = ("inspect", "--sheet", "--dataset-id", "d")


def test_a_blind_sheet_holds_the_item_its_fields_the_letters_and_what_is_empty(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Its columns are those, its rows in the dataset's order; no arm, label, score, winner or signal."""
    del built
    out = tmp_path / "s.csv"
    evh.ok(*WORDS, "--csv", out, "--fill", "pick", "--fill", "scores", "--fill", "label")
    header, rubric, *rows = cells_of(out)
    scores = ["score: A", "score: B", "score: C"]
    empty = ["pick", *scores, "label", "also right", "note"]
    assert header == ["item_id", "item", "kind", "n", "A", "B", "C", *empty]
    assert rubric[0] == "#rubric"
    assert [row[0] for row in rows] == list(TEXTS)
    assert [row[1] for row in rows] == list(TEXTS.values())
    assert {cell for row in rows for cell in row[7:]} == {""}
    shown = {row[0]: sorted(cell for cell in row[4:7] if cell) for row in rows}
    assert shown == {
        item: sorted(said for one in DECISIONS.values() if (said := one[item]) is not None) for item in TEXTS
    }


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_nothing_in_a_blind_sheet_leads_to_an_arm(
    built: Builder, evh: CommandLine, tmp_path: Path, form: str
) -> None:
    """No arm's name, run or hash is anywhere in the file, in its parts neither; the key has them all."""
    out = tmp_path / f"s.{form}"
    evh.ok(*WORDS, f"--{form}", out, "--fill", "scores")
    data = out.read_bytes()
    if form == "xlsx":
        import zipfile

        parts = zipfile.ZipFile(io.BytesIO(data))
        data = b"\n".join(name.encode() + parts.read(name) for name in parts.namelist())
    key = out.with_suffix(".key.json").read_bytes()
    for name, run in RUNS.items():
        assert name.encode() not in data
        assert run.encode() in key
        run_folder = built.project.data / run
        for path in run_folder.rglob("*"):
            assert not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest().encode() not in data
    secret = json.loads(key)["secret"].encode()
    assert secret not in data
    assert hashlib.sha256(secret).hexdigest().encode() not in data


def test_the_order_of_a_row_is_an_hmac_under_the_secret(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Made again with hmac alone: by HMAC-SHA256(secret, seed, item, place) of the arms that answered."""
    del built
    out = tmp_path / "s.csv"
    evh.ok(*WORDS, "--runs", ",".join(DECISIONS), "--csv", out, "--fill", "pick", "--seed", "7")
    secret = json.loads(out.with_suffix(".key.json").read_text())["secret"].encode()
    for item, held in letters(out).items():
        places = [at for at, one in enumerate(DECISIONS.values()) if one[item] is not None]
        places.sort(key=lambda at: hmac.new(secret, f"7\n{item}\n{at}".encode(), hashlib.sha256).hexdigest())
        names = list(DECISIONS)
        assert held == {names[at]: letter for at, letter in zip(places, "ABC", strict=False)}


def test_swapped_arms_differ_only_in_the_order_of_cells(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """The sheet of b, a, production has each row's cells of production, a, b, in another order at most."""
    del built
    sheets = []
    for at, names in enumerate((list(DECISIONS), list(DECISIONS)[::-1])):
        out = tmp_path / f"s{at}.csv"
        evh.ok(*WORDS, "--runs", ",".join(names), "--csv", out, "--fill", "pick")
        sheets.append(cells_of(out))
    one, two = sheets
    assert one[:2] == two[:2]
    assert [row[:4] + row[7:] for row in one] == [row[:4] + row[7:] for row in two]
    assert [sorted(row[4:7]) for row in one] == [sorted(row[4:7]) for row in two]


def test_swapped_arms_under_one_secret_swap_their_cells(built: Builder) -> None:
    """The same secret and seed: where the first arm stood stands what was named first now."""
    names = ("arm_b", "production")
    one, two = (build_sheet(built.project, "d", order) for order in (names, names[::-1]))
    rows = {row.item_id: row for row in two.rows}
    for row in one.rows:
        mine = sheet_blind.letters_of(row, "secret", 3)
        other = sheet_blind.letters_of(rows[row.item_id], "secret", 3)
        assert [shown.at for shown in mine.values()] == [shown.at for shown in other.values()]


def test_every_order_comes_equally_often(project: Project) -> None:
    """Over 1,200 rows each of the 6 orders of three arms comes about 200 times (chi-square, p > 0.001)."""
    made = Builder(project)
    ids = [f"i{at}" for at in range(1200)]
    made.dataset("d", {one: one for one in ids})
    for name in ("x", "yy", "zzz"):  # outputs of three lengths: length has no part in it
        made.run(name, "d", dict.fromkeys(ids, name))
    rows = build_sheet(project, "d").rows
    orders = Counter(
        tuple(shown.at for shown in sheet_blind.letters_of(row, "a fixed secret", 0).values()) for row in rows
    )
    assert len(orders) == 6
    assert sum((n - 200) ** 2 / 200 for n in orders.values()) < 20.515  # 5 degrees of freedom


def test_equal_outputs_stand_twice_and_a_failed_arm_has_no_letter(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """On one production and a both say yes; on five a failed, and only A and B are there."""
    del built
    out = tmp_path / "s.csv"
    evh.ok(*WORDS, "--csv", out, "--fill", "pick")
    rows = {row[0]: row[4:7] for row in cells_of(out)}
    assert sorted(rows["one"]) == ["no", "yes", "yes"]
    assert rows["five"] == ["no", "no", ""]
    assert letters(out)["five"].keys() == {"production", "arm_b"}


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_the_same_key_makes_the_same_sheet(
    built: Builder, evh: CommandLine, tmp_path: Path, form: str
) -> None:
    """The sheet was lost, its key is there: the same command makes the same bytes; another one is refused."""
    del built
    out = tmp_path / f"s.{form}"
    words = (*WORDS, f"--{form}", str(out), "--fill", "pick")
    evh.ok(*words)
    before = out.read_bytes(), out.with_suffix(".key.json").read_bytes()
    evh.refused("existing-file", *words)
    out.unlink()
    evh.ok(*words)
    assert (out.read_bytes(), out.with_suffix(".key.json").read_bytes()) == before
    out.unlink()
    told = evh.refused("existing-file", *words, "--seed", "1").json["refused"]
    assert f"choose another --{form};" in told["next"]
    assert not out.exists()


def test_the_rubric_is_the_first_row_and_its_hash_is_in_the_key(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """--rubric FILE gives #rubric, then #how; without one the plain words stand there. The key holds both."""
    del built
    rubric = tmp_path / "rubric.md"
    rubric.write_bytes(b"=Which answer is *clear*?\n")
    rows: list[list[str]] = []
    key: dict[str, Any] = {}
    options: list[tuple[str | Path, ...]] = [(), ("--rubric", rubric)]
    for at, more in enumerate(options):
        out = tmp_path / f"s{at}.csv"
        evh.ok(*WORDS, "--csv", out, "--fill", "scores", "--scale", "0..10", *more)
        rows = cells_of(out)
        key = json.loads(out.with_suffix(".key.json").read_text())
        assert rows[1][0] == "#rubric"
        assert rows[1][1].removeprefix("'") == key["rubric"]["text"]
        assert key["rubric"]["sha256"] == hashlib.sha256(key["rubric"]["text"].encode()).hexdigest()
        assert key["scale"] == [0.0, 10.0]
        assert "from 0 (worst) to 10 (best)" in rows[1 + at][1]
    assert [row[0] for row in rows[1:4]] == ["#rubric", "#how", "one"]
    assert key["rubric"]["text"] == "=Which answer is *clear*?\n"
    assert rows[1][1] == "'=Which answer is *clear*?\n"


def test_a_field_that_says_what_one_arm_answered_is_left_out(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """The field `said` equals a's answer everywhere: it would give a away. `topic` is kept."""
    made = Builder(project)
    fields = {"i": {"said": "yes", "topic": "t"}, "j": {"said": "no", "topic": "t"}}
    made.dataset("d", {"i": "1", "j": "2"}, fields=fields)
    made.run("arm_a", "d", {"i": "yes", "j": "no"})
    made.run("arm_b", "d", {"i": "no", "j": "no, says arm_b"})
    out = tmp_path / "s.csv"
    shown = evh.ok(*WORDS, "--csv", out, "--fill", "pick")
    assert cells_of(out)[0] == ["item_id", "item", "topic", "A", "B", "pick"]
    assert "left out, because they say what one arm answered: said" in shown.err
    assert "arm_b: 1 output of it hold its own name or model" in shown.err


def test_rows_that_cannot_be_judged_are_left_out_and_told(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """Two answers make a row to pick from, one a row to score; a row without any is in neither."""
    made = Builder(project)
    made.dataset("d", {"both": "1", "single": "2", "none": "3"})
    made.run("arm_a", "d", {"both": "x", "single": "x", "none": None})
    made.run("arm_b", "d", {"both": "y", "single": None, "none": None})
    for fill, ids in (("pick", ["both"]), ("scores", ["both", "single"])):
        out = tmp_path / f"{fill}.csv"
        shown = evh.ok(*WORDS, "--csv", out, "--fill", fill)
        assert [row[0] for row in cells_of(out)[2:]] == ids
        n = 3 - len(ids)
        assert f"{n} row{'s' if n > 1 else ''} left out: too few arms answered there" in shown.err


def test_a_sheet_to_label_is_the_whole_sheet_with_three_columns_more(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """--fill label alone hides nothing: outputs, scores, labels, winner, signals, the items in full."""
    del built
    out = tmp_path / "s.csv"
    evh.ok(*WORDS, "--csv", out, "--fill", "label", "--choices", "yes,no", "--disagree")
    rows = cells_of(out)
    assert rows[0][-3:] == ["label (yes|no)", "also right", "note"]
    assert {"item_sha256", "production: output", "winner", "wrong", "label: labels/d/truth"} <= set(rows[0])
    assert [row[0] for row in rows[1:]] == [
        "#rubric", "two", "four", "one", "three",  # 3, 3, 2 and 2 signals
        "#mean", "#win rate", "#verdict", "#p against the leader",
    ]  # fmt: skip
    assert rows[2][2] == TEXTS["two"]
    key = json.loads(out.with_suffix(".key.json").read_text())
    assert key["kind"] == "label"
    assert key["selection"]["filters"] == ["--disagree"]


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_hostile_cells_are_text(project: Project, evh: CommandLine, tmp_path: Path, form: str) -> None:
    """Formulas in ids, items, fields, outputs and the rubric run nowhere: guarded in CSV, texts in .xlsx."""
    made = Builder(project)
    bad = {"=1+1": "=cmd|' /C calc'!A0", "@x": "+1\t-2", "n": "<script>alert(1)</script>\x07"}
    made.dataset("d", bad, fields={"=1+1": {"=f": "=HYPERLINK(1)", "A": "a field named A", "pick": 1}})
    for name in ("arm_a", "arm_b"):
        made.run(name, "d", dict.fromkeys(bad, f"-2+3 {name[-1]}"))
    rubric = tmp_path / "r.txt"
    rubric.write_text("=RUN()")
    out = tmp_path / f"s.{form}"
    evh.ok(*WORDS, f"--{form}", out, "--fill", "pick", "--rubric", rubric)
    if form == "csv":
        rows = cells_of(out)
        assert [cell for row in rows for cell in row if cell[:1] in "=+-@\t" and cell] == []
        assert rows[0] == ["item_id", "item", "'=f", "field A", "field pick", "A", "B", "pick"]
        return
    import openpyxl

    book = openpyxl.load_workbook(out)
    assert [
        cell.data_type for row in book["sheet"].iter_rows() for cell in row if cell.value is not None
    ].count("f") == 0
    assert book["sheet"]["A4"].value == "=1+1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fill", "pick", "--choices", "a,b"), "--choices: it is for --fill label"),
        (("--fill", "pick", "--scale", "1..5"), "--scale: it is for --fill scores"),
        (("--fill", "scores", "--scale", "5..1"), "--scale 5..1: its first end is not below the second"),
        (("--fill", "scores", "--scale", "one to five"), "--scale one to five: write its ends as 1..5"),
        (("--fill", "label", "--choices", "a,a"), "--choices: one stands twice"),
        (("--fill", "pick", "--runs", "arm_a"), "--runs: judging takes 2 arms at least; 1 here"),
        (
            ("--fill", "pick", "--runs", "arm_a,arm_a_20261001T000000Z"),
            "--runs: runs/arm_a_20261001T000000Z is named twice",
        ),
        (("--fill", "pick", "--where", "kind:none"), "d: no row is left"),
    ],
)
def test_what_does_not_go_together_is_refused(
    built: Builder, evh: CommandLine, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """Each with its reason, and neither a sheet nor a key is written."""
    del built
    out = tmp_path / "s.csv"
    told = evh.refused("bad-options", *WORDS, "--csv", out, *words).json["refused"]["why"]
    assert said in told
    assert not list(tmp_path.glob("s.*"))


@pytest.mark.parametrize(
    "words",
    [
        ("--fill", "pick"),
        ("--csv", "s.csv", "--xlsx", "s.xlsx"),
        ("--csv", "s.csv", "--seed", "0"),
        ("--csv", "s.csv", "--fill", "pick", "--scores-only"),
    ],
)
def test_options_of_a_file_without_one_are_usage_errors(
    built: Builder, evh: CommandLine, words: tuple[str, ...]
) -> None:
    """Exit 2, and nothing is written."""
    del built
    assert evh(*WORDS, *words).code == 2


def test_names_of_files_say_what_they_are(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """--xlsx s.csv and --csv s.xlsx are refused, and so is a sheet among the records."""
    evh.refused("bad-options", *WORDS, "--xlsx", tmp_path / "s.csv")
    evh.refused("bad-options", *WORDS, "--csv", tmp_path / "s.xlsx")
    evh.refused("in-data", *WORDS, "--csv", built.project.data / "s.csv", "--fill", "pick")


def test_a_dry_run_writes_neither_sheet_nor_key(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """And data/ is the same after a real one: a sheet is no record."""
    before = tree_bytes(built.project.data)
    out = tmp_path / "s.csv"
    words = (*WORDS, "--csv", str(out), "--fill", "pick")
    assert "would write" in evh.ok(*words, "--dry-run").out
    assert not list(tmp_path.glob("s.*"))
    document = check(evh.ok(*words, "--json").json, "inspect")
    assert document["written"] == {
        "file": str(out),
        "key": str(tmp_path / "s.key.json"),
        "fills": ["pick"],
        "n_rows": 5,
        "n_shortened": 0,
        "written": True,
    }
    assert tree_bytes(built.project.data) == before


def test_a_long_output_is_shortened_and_marked(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """40,000 characters do not fit a cell: it says so, and an empty output is told from none."""
    made = Builder(project)
    made.dataset("d", {"i": "1"})
    made.run("arm_a", "d", {"i": "x" * 40_000})
    made.run("arm_b", "d", {"i": ""})
    out = tmp_path / "s.csv"
    document = evh.ok(*WORDS, "--csv", out, "--fill", "pick", "--json").json
    assert document["written"]["n_shortened"] == 1
    cells = cells_of(out)[2]
    assert {len(cell) > 30_000 and cell.endswith("[shortened]") for cell in cells[2:4]} == {True, False}
    assert sheet_blind.EMPTY in cells


def test_the_plain_words_name_what_is_filled() -> None:
    """With picks and scores both offered they say to fill in one of the two."""
    options: Any = sheet_fill.Options(("pick", "scores"))
    assert "Fill in either pick or the scores, not both." in sheet_fill.how_to(options)
    assert "score: A" not in sheet_fill.how_to(sheet_fill.Options(("pick",)))
