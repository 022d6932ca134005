"""A filled sheet is read back exactly or refused: a label set, judged runs, or both."""

from __future__ import annotations

import contextlib
import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evh.acts import sheet_import
from evh.errors import Refusal
from evh.project import judged, labels, runs
from evh.project.find import Project
from evh.store.hashing import sha256
from tests.acts import sheets
from tests.acts.importing import PICKS, SCORES, retyped, sheet, words
from tests.acts.sheets import RUNS, cells_of, fill, letters, won, write_cells
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check
from tests.tools import require_tool

built = sheets.built

# ----------------------------------------------------------------------------------------- what is read back


def test_picks_become_judged_runs_by_a_hand_count(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Equal answers and ties share a win; rows left empty are in no figure.

    one: yes, said by production and a, who share it; two: a tie of production and b; five: b, whose answer
    is production's too.
    """
    out = sheet(evh, tmp_path / "s.csv", "pick")
    where = letters(out)
    tie = f"{where['two']['production'].lower()} | {where['two']['arm_b']}"
    picks = {"one": where["one"]["arm_a"], "two": tie, "five": where["five"]["arm_b"]}
    fill(out, {item: {"pick": text} for item, text in picks.items()})
    shown = evh.ok(*words(out, "--scorer", "ann_picks"))
    assert won(built.project, "ann_picks", PICKS) == {
        "production": {"one": 0.5, "two": 0.5, "five": 0.5},
        "arm_a": {"one": 0.5, "two": 0.0, "five": 0.0},
        "arm_b": {"one": 0.0, "two": 0.5, "five": 0.5},
    }
    assert (
        "judged 3 arms on 3 of 5 items of d as ann_picks; unvalidated: filled in a sheet by ann" in shown.out
    )
    assert "on 2 rows several arms gave the answer picked: they share the win" in shown.err
    assert "2 of the sheet's 5 rows not judged: figures are over the rest" in shown.err
    means = {one.config_id: one.scores[PICKS] for one in runs.read_all(built.project) if one.judged}
    assert means == {"production": 0.5, "arm_a": 0.5 / 3, "arm_b": 1 / 3}


def test_scores_become_judged_runs(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Each number is that of the arm behind its letter; a half and a decimal comma are numbers too."""
    out = sheet(evh, tmp_path / "s.csv", "scores", more=("--scale", "0..10"))
    where = letters(out)
    given = {"production": "7", "arm_a": "2.5", "arm_b": "0,5"}
    fill(out, {"one": {f"score: {where['one'][arm]}": text for arm, text in given.items()}})
    fill(out, {"two": {f"score: {where['two']['arm_a']}": " 10 "}})
    evh.ok(*words(out, "--scorer", "ann_scores"))
    assert won(built.project, "ann_scores", SCORES) == {
        "production": {"one": 7.0},
        "arm_a": {"one": 2.5, "two": 10.0},
        "arm_b": {"one": 0.5},
    }


def test_a_judged_run_records_who_by_what_and_from_where(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """judged holds the rubric's, the sheet's and the key's sha256, who filled it, and the note."""
    rubric = tmp_path / "r.md"
    rubric.write_bytes(b"Which is clearer?\n")
    out = sheet(evh, tmp_path / "s.csv", "pick", more=("--rubric", rubric))
    fill(out, {"three": {"pick": "A"}})
    done = evh.ok(*words(out, "--scorer", "gpt", "--kind", "model", "--json"))
    document = check(done.json, "sheet-import")["sheets"][0]
    assert document["scorer"] == "gpt"
    assert {one["folder"] for one in document["judged"]} == {"runs-judged/gpt"}
    for run in RUNS.values():
        path = built.project.data / "runs-judged" / "gpt" / run.rpartition("/")[2] / "metrics.json"
        held = json.loads(path.read_text())
        assert held["derived"] == {"kind": "judged", "from": run}
        assert held["primary_metric"] == PICKS
        assert held["judged"] == {
            "scorer": "gpt",
            "kind": "pick",
            "by": "ann",
            "by_kind": "model",
            "rubric_sha256": sha256(b"Which is clearer?\n"),
            "sheet_sha256": sha256(out.read_bytes()),
            "key_sha256": sha256(out.with_suffix(".key.json").read_bytes()),
            "note": "unvalidated: filled in a sheet by ann",
            "run_id": run.rpartition("/")[2],
            "run": run,
            "together": sorted(RUNS.values()),
        }
    assert evh.ok("validate").code == 0


def test_the_sheet_shows_the_judge_beside_the_metric(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """The metric says production and a win one, the judge says b: each has its column, its rate its line."""
    del built
    out = sheet(evh, tmp_path / "s.csv", "pick")
    where = letters(out)
    fill(out, {item: {"pick": where[item]["arm_b"]} for item in ("one", "two")})
    evh.ok(*words(out, "--scorer", "ann"))
    rows = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--json").json
    assert rows["judge"] == f"ann/{PICKS}"
    one = next(row for row in rows["rows"] if row["item_id"] == "one")
    assert (one["winners"], one["judge_winners"]) == (["production", "arm_a"], ["arm_b"])
    won = {"production": 0.0, "arm_a": 0.0, "arm_b": 1.0}
    assert {line["arm"]: line["judge_win_rate"] for line in rows["footer"]} == won
    by_judge = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--metric", f"ann/{PICKS}", "--json").json
    assert {line["arm"]: line["win_rate"] for line in by_judge["footer"]} == won
    assert {line["verdict"] for line in by_judge["footer"]} == {"leader", "contender"}


def test_labels_and_picks_of_one_sheet_become_both(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """The rubric that the labeler saw is the set's guideline; what is also right is accepted too."""
    rubric = tmp_path / "r.md"
    rubric.write_bytes(b"Say yes or no.\n")
    more = ("--rubric", rubric, "--choices", "yes,no")
    out = sheet(evh, tmp_path / "s.csv", "label", "pick", more=more)
    fill(
        out, {"one": {"label": "yes", "also right": "no", "note": "hm", "pick": "A"}, "four": {"label": "no"}}
    )
    done = evh.ok(*words(out, "--set", "ann_1", "--scorer", "ann", "--json"))
    assert check(done.json, "sheet-import")["sheets"][0]["label_set"]["n_items"] == 2
    made = labels.read(built.project, "d", "ann_1")
    assert labels.texts(built.project, made, verify=True) == {
        "one": '{"accept": ["no", "yes"]}',
        "four": "no",
    }
    assert (made.source, made.items["one"].note) == ({"kind": "person", "by": "ann"}, "hm")
    assert labels.guideline(built.project, made) == b"Say yes or no.\n"
    assert made.sheet_sha256 == sha256(out.read_bytes())
    assert judged.exists(built.project, "ann")


def test_a_sheet_to_label_is_read_by_either_command(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """--fill label alone: sheet-import as a model's, label-import as a person's; the labels are the same."""
    out = sheet(evh, tmp_path / "s.csv", "label")
    fill(out, {"one": {"label": "yes"}, "four": {"label": "no"}})
    evh.ok(*words(out, "--set", "tool", "--kind", "model"))
    evh.ok("label-import", out, "--dataset-id", "d", "--set", "hand", "--by", "ann")
    sets = [labels.read(built.project, "d", name) for name in ("tool", "hand")]
    assert [one.source for one in sets] == [{"kind": "model", "by": "ann"}, {"kind": "person", "by": "ann"}]
    assert sets[0].labels_sha256 == sets[1].labels_sha256
    assert sets[0].selection == {
        "items": "all",
        "runs": [RUNS[name].rpartition("/")[2] for name in ("production", "arm_a", "arm_b")],
    }


def test_a_label_sheet_is_read_too(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """sheet-import reads whatever was filled: a sheet of label-sheet as well."""
    out = tmp_path / "s.csv"
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--items", "all")
    fill(out, {"one": {"label": "yes"}})
    evh.ok(*words(out, "--set", "ann_1"))
    assert labels.read(built.project, "d", "ann_1").n_items == 1


def test_equal_bytes_of_a_tool_that_says_two_things_stay_unlabelled(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """A person is refused; a model's set leaves the bytes out and lists them."""
    made = Builder(project)
    made.dataset("d", {"i": "same", "j": "same", "k": "other"})
    out = sheet(evh, tmp_path / "s.csv", "label")
    fill(out, {"i": {"label": "yes"}, "j": {"label": "no"}, "k": {"label": "yes"}})
    evh.refused("two-answers", *words(out, "--set", "s"))
    evh.ok(*words(out, "--set", "s", "--kind", "model"))
    held = labels.read(project, "d", "s")
    assert (list(held.items), held.conflicts) == (["k"], {sha256(b"same"): ["no", "yes"]})


def test_rows_may_be_sorted_and_left_out_and_columns_added(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A tool may send back only what it needs: item_id and pick; that no cell was checked is told."""
    out = sheet(evh, tmp_path / "s.csv", "pick")
    where = letters(out)
    bare = [
        ["my own", "pick", "item_id"],
        ["", where["two"]["arm_b"], "two"],
        ["x", where["one"]["arm_b"], "one"],
    ]
    write_cells(out, bare)
    shown = evh.ok(*words(out, "--scorer", "ann"))
    assert won(built.project, "ann", PICKS)["arm_b"] == {"one": 1.0, "two": 1.0}
    assert "without the columns A, B, C, item: whether they were changed is not known" in shown.err


def test_a_dry_run_writes_nothing(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """It says what would be written."""
    out = sheet(evh, tmp_path / "s.csv", "pick", "label")
    fill(out, {"one": {"pick": "A", "label": "yes"}})
    before = tree_bytes(built.project.data)
    shown = evh.ok(*words(out, "--scorer", "ann", "--set", "s", "--dry-run"))
    assert "would label 1 of 5 items" in shown.out
    assert "would judge 3 arms on 1 of 5 items" in shown.out
    assert tree_bytes(built.project.data) == before


# --------------------------------------------------------------------------- all or nothing, and round trips


def test_a_try_that_was_killed_between_the_two_goes_on(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """The set is there, the judged runs are not: the same command writes them; another sheet is refused."""
    out = sheet(evh, tmp_path / "s.csv", "pick", "label")
    fill(out, {"one": {"pick": "A", "label": "yes"}})
    evh.ok(*words(out, "--set", "s", "--scorer", "ann"))
    place = built.project.data / "runs-judged" / "ann"
    whole = tree_bytes(built.project.data)
    place.rename(tmp_path / "as-if-never-renamed")
    shown = evh.ok(*words(out, "--set", "s", "--scorer", "ann"))
    assert "the set d/s is there already, made of this sheet" in shown.err
    assert tree_bytes(built.project.data) == whole
    evh.refused("existing-scorer", *words(out, "--set", "s", "--scorer", "ann"))
    fill(out, {"two": {"pick": "A", "label": "yes"}})
    evh.refused("existing-set", *words(out, "--set", "s", "--scorer", "bob"))


CELLS = st.one_of(
    st.sampled_from(["", "A", "B", "C", "a", " b ", "A|B", "C|A|B", "B | A", "A|A"]),
    st.sampled_from(
        ["D", "AB", "A,B", "A/B", "tie", "1", "=A", "'A", "A|", "|", "\u0391", "both", "TRUE", "#N/A"]
    ),
    st.text(max_size=4),
)


def _letters_of(cell: str, here: set[str]) -> set[str] | None:
    """The reader made again in few words: letters between bars; None where one is not on the row."""
    if not cell.strip():
        return set()
    parts = {part.strip().upper() for part in cell.split("|") if part.strip()}
    return parts if parts and parts <= here else None


@pytest.mark.parametrize("form", ["xlsx", "csv"])
def test_what_libreoffice_saved_is_read(built: Builder, evh: CommandLine, tmp_path: Path, form: str) -> None:
    """A filled workbook, opened and saved by LibreOffice as a workbook or as CSV, gives the same scores.

    Its outputs are what a spreadsheet would change: numbers, dates, truth values, formulas, line ends.
    """
    import openpyxl

    soffice = require_tool("soffice")
    odd = {"one": "007", "two": "=1+1", "three": "2024-01-05", "four": "true", "five": "a\r\n\n b "}
    built.run("odd", "d", odd)
    out = tmp_path / "s.xlsx"
    sheet(evh, out, "scores", "label", more=("--runs", "odd,arm_b", "--choices", "yes,no"))
    key = json.loads(out.with_suffix(".key.json").read_text())
    book = openpyxl.load_workbook(out)
    heads = [cell.value for cell in book["sheet"][1]]
    for row in book["sheet"].iter_rows(min_row=2):
        shown = key["rows"].get(row[0].value, {}).get("outputs", {})
        for at, (letter, behind) in enumerate(sorted(shown.items())):
            cell = row[heads.index(f"score: {letter}")]
            cell.value = (4.5, "2")["odd" not in behind["run"]] if at < 2 else None
        if shown:
            row[heads.index("label (yes|no)")].value = "no"
    book.save(out)
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    to = [soffice, profile, "--headless", "--convert-to", form, "--outdir", str(tmp_path / "saved"), str(out)]
    subprocess.run(to, check=True, capture_output=True, timeout=120)
    saved = tmp_path / "saved" / f"s.{form}"
    evh.ok(*words(saved, "--key", out.with_suffix(".key.json"), "--scorer", "ann", "--set", "s"))
    assert won(built.project, "ann", SCORES) == {
        "odd": dict.fromkeys(odd, 4.5),
        "arm_b": dict.fromkeys(odd, 2.0),
    }
    assert labels.read(built.project, "d", "s").n_items == 5


def test_what_a_spreadsheet_shows_otherwise_is_no_edit(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A CSV sheet opened and saved: 1.50 is 1.5 now and true TRUE; another number or case is an edit."""
    built.run("odd", "d", {"one": "1.50", "two": "true", "three": "Yes"})
    out = sheet(evh, tmp_path / "s.csv", "pick", more=("--runs", "odd,arm_b"))
    rows = cells_of(out)
    where = letters(out)
    names = {
        item: next(letter for arm, letter in held.items() if "odd" in arm)
        for item, held in where.items()
        if any("odd" in arm for arm in held)
    }
    for item, shown in (("one", "1.5"), ("two", "TRUE")):
        retyped(item, names[item], shown)(rows)
    retyped("one", "pick", names["one"])(rows)
    write_cells(out, rows)
    told = evh.ok(*words(out, "--scorer", "ann", "--dry-run")).err
    assert "2 cells that a spreadsheet shows otherwise, taken as unchanged" in told
    retyped("one", names["one"], "1.6")(rows)
    retyped("three", names["three"], "yes")(rows)
    write_cells(out, rows)
    why = evh.refused("changed-text", *words(out, "--scorer", "ann")).json["refused"]["why"]
    assert len(why) == 2


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cells=st.lists(CELLS, min_size=5, max_size=5))
def test_random_fills_are_read_back_exactly_or_refused(
    built: Builder, evh: CommandLine, tmp_path: Path, cells: list[str]
) -> None:
    """200 fills of any text: every pick is that of its letters, or the fill is refused.

    Which of the two, and each arm's share, is decided here by other code.
    """
    out = tmp_path / "s.csv"
    if not out.exists():
        sheet(evh, out, "pick")
        (tmp_path / "empty.csv").write_bytes(out.read_bytes())
    rows = cells_of(tmp_path / "empty.csv")
    for row, cell in zip(rows[2:], cells, strict=True):
        row[-1] = cell.replace("\0", "").encode("utf-8", "replace").decode()
    write_cells(out, rows)
    where = {item: {letter: arm for arm, letter in held.items()} for item, held in letters(out).items()}
    meant = {row[0]: _letters_of(row[-1].replace("\\|", "\0"), set(where[row[0]])) for row in rows[2:]}
    asked = sheet_import.Asked(out, "d", "ann", scorer="ann")
    plan = None
    with contextlib.suppress(Refusal):
        plan = sheet_import.plan(built.project, asked)
    if plan is None:
        assert None in meant.values() or not any(meant.values()), cells
        return
    assert None not in meant.values(), cells
    shown = {row[0]: dict(zip("ABC", row[4:7], strict=True)) for row in rows[2:]}
    expected: dict[str, dict[str, float]] = {arm: {} for arm in RUNS}
    for item, picked in meant.items():
        if not picked:
            continue
        texts = {shown[item][letter] for letter in picked}
        for arm in RUNS:
            letter = next((one for one, name in where[item].items() if name == arm), None)
            text = shown[item][letter] if letter else None
            holders = sum(shown[item][one] == text for one in where[item])
            expected[arm][item] = 1 / len(texts) / holders if text in texts else 0.0
    got = {one.run.config_id: {row.item_id: row.scores[PICKS] for row in one.rows} for one in plan.judged}
    assert got == expected
