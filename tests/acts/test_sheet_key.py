"""The key of a filled sheet: lost, edited or of another sheet it is refused, and the way out is told."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evh.acts import sheet_judgements
from evh.acts.sheet_behind import Behind
from evh.project import judged, labels
from evh.project.find import Project
from evh.records import sheet_key
from evh.records.dataset import Dataset
from evh.records.sheet_key import KeyRow, SheetKey
from evh.store import strict
from evh.store.hashing import sha256
from evh.store.spreadsheet import Row, Sheet
from tests.acts import sheets
from tests.acts.sheets import cells_of, fill, letters, won, write_cells
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes

built = sheets.built
WORDS = ("inspect", "--sheet", "--dataset-id", "d")
IMPORT = ("--dataset-id", "d", "--by", "ann")


def filled(evh: CommandLine, path: Path, *fills: str, more: tuple[str, ...] = ()) -> Path:
    """Write a sheet of ``d`` and fill in its first rows, as its columns ask."""
    words = [word for one in fills for word in ("--fill", one)]
    evh.ok(*WORDS, "--csv", path, *words, *more)
    said = {"pick": {"pick": "A"}, "label": {"label": "yes"}, "scores": {"score: A": "2", "score: B": "5"}}
    fill(path, {item: {k: v for one in fills for k, v in said[one].items()} for item in ("one", "two")})
    return path


def key_of(path: Path) -> Path:
    """Return where a sheet's key lies."""
    return path.with_suffix(".key.json")


def edit(path: Path, change: Callable[[dict[str, Any]], object], *, old: bool = False) -> None:
    """Edit a key as a text editor would; ``old``: it has no digest, as those of an earlier evh."""
    raw = json.loads(key_of(path).read_text())
    change(raw)
    if old:
        raw |= {"version": 1}
        del raw[sheet_key.DIGEST]
    key_of(path).write_bytes(strict.dump_manifest(raw))


def test_a_key_holds_the_digest_of_all_the_rest(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Made again with hmac alone: HMAC-SHA256(secret, the rest, then a line of each row by its id)."""
    import hashlib
    import hmac

    del built
    out = filled(evh, tmp_path / "s.csv", "pick")
    raw = json.loads(key_of(out).read_text())
    rows, told = raw.pop("rows"), raw.pop("key_sha256")

    def line(value: dict[str, Any]) -> bytes:
        return (json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n").encode()

    whole = line(raw) + b"".join(line({item: rows[item]}) for item in sorted(rows))
    assert told == hmac.new(raw["secret"].encode(), whole, hashlib.sha256).hexdigest()
    assert raw["version"] == 2


def swap(raw: dict[str, Any]) -> None:
    """Exchange whose outputs A and B of a row are, run and digest together."""
    outputs = raw["rows"]["one"]["outputs"]
    outputs["A"], outputs["B"] = outputs["B"], outputs["A"]


EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "swapped": swap,
    "scale": lambda raw: raw.__setitem__("scale", [1, 50]),
    "seed": lambda raw: raw.__setitem__("seed", 3),
    "rubric": lambda raw: raw["rubric"].__setitem__("text", "Which is longer?"),
    "a row gone": lambda raw: raw["rows"].pop("two"),
    "no digest": lambda raw: raw.pop("key_sha256"),
    "another digest": lambda raw: raw.__setitem__("key_sha256", "0" * 64),
    "fills": lambda raw: raw.__setitem__("fills", ["pick", "scores"]),
    "choices": lambda raw: raw.__setitem__("choices", ["yes"]),
}


@pytest.mark.parametrize("name", EDITS)
def test_any_edit_of_a_key_is_refused(built: Builder, evh: CommandLine, tmp_path: Path, name: str) -> None:
    """The scale, the seed, the rubric, whose the letters are: nothing is written, a copy is asked for."""
    out = filled(evh, tmp_path / "s.csv", "scores")
    edit(out, EDITS[name])
    before = tree_bytes(built.project.data)
    told = evh.refused("edited-key", "sheet-import", out, *IMPORT, "--scorer", "x").json["refused"]
    assert told["why"][0].startswith(f"{key_of(out)}: its key_sha256 is ")
    assert "name a copy of it with --key" in told["next"]
    assert tree_bytes(built.project.data) == before


def test_an_edited_key_of_labels_is_refused_by_label_import_too(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A sheet of --fill label has the same key, and both commands read it."""
    del built
    out = filled(evh, tmp_path / "s.csv", "label")
    edit(out, EDITS["a row gone"])
    evh.refused("edited-key", "label-import", out, *IMPORT, "--set", "x")
    evh.refused("edited-key", "sheet-import", out, *IMPORT, "--set", "x")


def test_a_key_in_another_form_is_the_same_key(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Written again with other spaces and another order it holds the same, and its sheet is made again."""
    del built
    out = filled(evh, tmp_path / "s.csv", "pick")
    raw = json.loads(key_of(out).read_text())
    key_of(out).write_text(json.dumps(dict(reversed(raw.items())), indent=7))
    before = key_of(out).read_bytes()
    evh.ok("sheet-import", out, *IMPORT, "--scorer", "x")
    out.unlink()
    evh.ok(*WORDS, "--csv", out, "--fill", "pick")
    assert key_of(out).read_bytes() == before


def test_a_key_without_a_digest_is_checked_by_order_and_cells(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """A key of an earlier evh is read; arms exchanged in it are found out, run and digest together too."""
    out = filled(evh, tmp_path / "s.csv", "pick")
    whole = key_of(out).read_bytes()
    edit(out, lambda _raw: None, old=True)
    evh.ok("sheet-import", out, *IMPORT, "--scorer", "old")
    edit_old = json.loads(key_of(out).read_text())
    swap(edit_old)
    key_of(out).write_text(json.dumps(edit_old))
    told = evh.refused("edited-key", "sheet-import", out, *IMPORT, "--scorer", "x").json["refused"]
    assert told["why"] == [
        f"{out}: row 3: one: the key was edited: its letters do not stand in the order that its secret gives"
    ]
    assert told["next"].startswith("put the key back as it was written")
    assert not judged.exists(built.project, "x")

    # The cells of two letters are exchanged with their digests, the runs are left: they are other outputs.
    key_of(out).write_bytes(whole)

    def cells(raw: dict[str, Any]) -> None:
        row = raw["rows"]["two"]["cells"]
        row["A"], row["B"] = row["B"], row["A"]

    edit(out, cells, old=True)
    rows = cells_of(out)
    at = next(row for row in rows if row[0] == "two")
    at[4], at[5] = at[5], at[4]
    write_cells(out, rows)
    told = evh.refused("edited-key", "sheet-import", out, *IMPORT, "--scorer", "x").json["refused"]
    assert all("row 4: two: the key was edited: the cell" in why for why in told["why"])


def test_the_key_of_another_sheet_of_the_same_items_is_refused(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Another secret orders each row anew: rows show its outputs in another order; the way out is told."""
    out = filled(evh, tmp_path / "s.csv", "pick")
    mine = letters(out)
    other = out
    for number in range(20):
        other = tmp_path / f"o{number}.csv"
        evh.ok(*WORDS, "--csv", other, "--fill", "pick")
        texts = {row[0]: row[4:7] for row in cells_of(other)}
        if any(texts[row[0]] != row[4:7] for row in cells_of(out)[2:]):
            break
    assert letters(other) != mine
    told = evh.refused(
        "other-key", "sheet-import", out, *IMPORT, "--scorer", "x", "--key", key_of(other)
    ).json["refused"]
    assert "show the outputs that the key recorded in another order" in told["why"][0]
    assert "it is the key of another sheet" in told["why"][0]
    assert told["next"].startswith("--key FILE: the key that was written with this sheet")
    assert not judged.exists(built.project, "x")


def test_the_key_of_a_sheet_of_other_items_or_arms_is_refused(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Most rows are not in it, or show other outputs than it recorded: one reason, not one for each row."""
    out = filled(evh, tmp_path / "s.csv", "pick")
    few = tmp_path / "few.csv"
    evh.ok(*WORDS, "--csv", few, "--fill", "pick", "--where", "kind:y")
    told = evh.refused("other-key", "sheet-import", out, *IMPORT, "--scorer", "x", "--key", key_of(few))
    assert "4 rows of 5 are not in the key (row 3, row 5, row 6, row 7)" in told.json["refused"]["why"][0]
    for name in ("odd", "even"):
        built.run(name, "d", {item: f"{name} {item}" for item in letters(out)})
    others = tmp_path / "others.csv"
    evh.ok(*WORDS, "--runs", "odd,even", "--csv", others, "--fill", "pick")
    told = evh.refused("other-key", "sheet-import", out, *IMPORT, "--scorer", "x", "--key", key_of(others))
    assert "rows of 5 show other outputs than it recorded" in told.json["refused"]["why"][0]


def test_a_blind_sheet_whose_key_is_lost_is_refused(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Picks mean nothing without it; labels of a blind sheet are read only where --no-key asks for it."""
    out = filled(evh, tmp_path / "s.csv", "pick", "label")
    kept = key_of(out).rename(tmp_path / "away.json")
    told = evh.refused("bad-sheet", "sheet-import", out, *IMPORT, "--set", "x").json["refused"]
    assert (
        f"{out}: picks and scores mean nothing without the sheet's key, and it is not beside it"
        in told["why"]
    )
    assert told["next"] == (
        "--key FILE, where it is kept: it was written as s.key.json; "
        "without it nobody can tell whose answers were judged"
    )
    rows = cells_of(out)
    at = rows[0].index("pick")
    write_cells(out, [rows[0], *([*row[:at], "", *row[at + 1 :]] for row in rows[1:])])
    told = evh.refused("no-key", "sheet-import", out, *IMPORT, "--set", "x").json["refused"]
    assert told["why"] == [
        f"{out}: its columns A, B, C, pick are a sheet's to judge, and its key is not here"
    ]
    assert told["next"].endswith("; or --no-key, to read its labels without")
    shown = evh.ok("sheet-import", out, *IMPORT, "--set", "x", "--no-key")
    assert "read without a key" in shown.err
    assert labels.read(built.project, "d", "x").n_items == 2
    evh.refused("bad-options", "sheet-import", out, *IMPORT, "--set", "y", "--no-key", "--key", kept)


def test_a_renamed_sheet_is_told_of_the_key_that_knows_its_rows(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """The file was saved under another name: the key that lies there is named, for picks and for labels."""
    del built
    out = filled(evh, tmp_path / "s.csv", "pick")
    saved = out.rename(tmp_path / "saved by ann.csv")
    told = evh.refused("no-key", "sheet-import", saved, *IMPORT, "--scorer", "x").json["refused"]
    assert told["next"].startswith(f"--key {tmp_path / 's.key.json'}; without it nobody")
    evh.refused("no-key", "sheet-import", saved, *IMPORT, "--scorer", "x", "--no-key")
    evh.ok("sheet-import", saved, *IMPORT, "--scorer", "x", "--key", key_of(out))
    plain = filled(evh, tmp_path / "l.csv", "label").rename(tmp_path / "labelled.csv")
    told = evh.refused("no-key", "sheet-import", plain, *IMPORT, "--set", "x").json["refused"]
    found = tmp_path / "l.key.json"
    assert told["why"] == [f"{plain}: no key is beside it by its name, and {found} knows its rows"]
    assert told["next"] == f"--key {tmp_path / 'l.key.json'}; or --no-key, to read its labels without"


def reading_takes(project: Project, dataset: Dataset, n: int) -> float:
    """Return the seconds of this process that reading ``n`` rows of eight arms takes, a pick in each."""
    heads = "ABCDEFGH"
    digest = sha256(b"x")
    ids = [item.item_id for item in dataset.items[:n]]
    shown = {letter: {"run": f"runs/{letter}", "sha256": digest} for letter in heads}
    item_sha = dataset.items[0].sha256
    key = SheetKey(
        "many",
        "secret",
        {item: KeyRow(item_sha, dict.fromkeys(heads, digest), outputs=shown) for item in ids},
        fills=("pick",),
        rubric={"text": "", "sha256": ""},
    )
    texts = dict.fromkeys(heads, "x")
    rows = tuple(Row(at, {"item_id": item, **texts, "pick": "A"}) for at, item in enumerate(ids, 2))
    sheet = Sheet(("item_id", *heads, "pick"), rows)
    behind = Behind(project, None)
    began = time.process_time()
    reading = sheet_judgements.read(dataset, sheet, key, behind, "s.csv")
    took = time.process_time() - began
    assert (len(reading.judged), reading.reasons) == (n, [])
    return took


def test_a_sheet_of_four_times_the_rows_takes_about_four_times_as_long(project: Project) -> None:
    """Each row is held against its own row of the key, never against all: 16 times as long would be that."""
    dataset = Builder(project).dataset("many", {f"i{at:05}": "x" for at in range(6_000)})
    few = min(reading_takes(project, dataset, 1_500) for _ in range(3))
    assert reading_takes(project, dataset, 6_000) < 9 * few


def test_labels_that_somebody_typed_need_no_key(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Two columns of one's own making are no sheet of evh's: there is no key to lose."""
    sheet = tmp_path / "own.csv"
    sheet.write_text("item_id,label\none,yes\n")
    evh.ok("sheet-import", sheet, *IMPORT, "--set", "own")
    assert labels.read(built.project, "d", "own").n_items == 1


def test_exchanged_headings_of_scores_are_told(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """score: A and score: B swapped read as each other's: nothing in the sheet refutes it, so it is told."""
    del built
    out = filled(evh, tmp_path / "s.csv", "scores")
    rows = cells_of(out)
    a, b = rows[0].index("score: A"), rows[0].index("score: B")
    rows[0][a], rows[0][b] = rows[0][b], rows[0][a]
    write_cells(out, rows)
    told = (
        f"{out}: the columns score: B, score: A, score: C stand in another order than in the sheet as it was "
        "made: where headings were exchanged, the scores go to the wrong answers"
    )
    assert f"note: {told}" in evh.ok("sheet-import", out, *IMPORT, "--scorer", "x", "--dry-run").err
    done = evh.ok("sheet-import", out, *IMPORT, "--scorer", "x", "--json").json
    assert told in done["warnings"]


def test_what_was_left_out_of_the_file_is_told(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Neither the letters' columns nor the row #rubric came back: said on the terminal and in --json."""
    del built
    out = filled(evh, tmp_path / "s.csv", "pick")
    rows = cells_of(out)
    kept = [n for n, head in enumerate(rows[0]) if head not in {"A", "B", "C"}]
    write_cells(out, [[row[n] for n in kept] for row in rows if row[0] != "#rubric"])
    said = [
        f"{out}: without the columns A, B, C: whether they were changed is not known",
        f"{out}: without the row #rubric: whether it is what was judged by is not known",
    ]
    shown = evh.ok("sheet-import", out, *IMPORT, "--scorer", "x").err
    assert all(f"note: {one}" in shown for one in said)
    done = evh.ok("sheet-import", out, *IMPORT, "--scorer", "y", "--json").json
    assert set(said) <= set(done["warnings"])


def test_answers_alike_in_a_cell_and_not_in_full_do_not_share(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """Two outputs of 40,000 characters differ in the last: their cells are cut alike, and one alone wins.

    A line end more makes no other answer: those two share.
    """
    made = Builder(project)
    made.dataset("d", {"cut": "1", "line": "2"})
    made.run("arm_a", "d", {"cut": "x" * 40_000 + "a", "line": "yes"})
    made.run("arm_b", "d", {"cut": "x" * 40_000 + "b", "line": "yes\n"})
    out = tmp_path / "s.csv"
    evh.ok(*WORDS, "--csv", out, "--fill", "pick")
    key = json.loads(key_of(out).read_text())["rows"]["cut"]["outputs"]
    letter = next(one for one, shown in key.items() if "arm_b" in shown["run"])
    fill(out, {"cut": {"pick": letter}, "line": {"pick": "A"}})
    evh.ok("sheet-import", out, *IMPORT, "--scorer", "x")
    assert won(project, "x", "judge_won_unvalidated") == {
        "arm_a": {"cut": 0.0, "line": 0.5},
        "arm_b": {"cut": 1.0, "line": 0.5},
    }


def test_a_tie_shares_by_answers_and_says_so(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """On one production and a say yes and b no: A|B of two answers gives b a half, the two a quarter each."""
    out = tmp_path / "s.csv"
    evh.ok(*WORDS, "--csv", out, "--fill", "pick")
    where = letters(out)["one"]
    fill(out, {"one": {"pick": f"{where['production']}|{where['arm_b']}"}})
    shown = evh.ok("sheet-import", out, *IMPORT, "--scorer", "x").err
    assert "in a tie each answer picked has one part, and the arms that gave it share that part" in shown
    assert won(built.project, "x", "judge_won_unvalidated") == {
        "production": {"one": 0.25},
        "arm_a": {"one": 0.25},
        "arm_b": {"one": 0.5},
    }


def test_a_judge_does_not_judge_into_the_folder_of_a_filled_sheet(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """Its judged runs would replace the sheet's, whose kind is another: refused, and nothing is asked."""
    out = filled(evh, tmp_path / "s.csv", "pick")
    evh.ok("sheet-import", out, *IMPORT, "--scorer", "ann")
    judges = built.project.data / "judges"
    judges.mkdir()
    (judges / "ann.yaml").write_text("scorer: ann\nkind: pick\nrubric: Which?\njudges: [arm_a]\n")
    before = tree_bytes(built.project.data)
    told = evh.refused("existing-scorer", "judge", "--scorer", "ann", "--dataset-id", "d").json["refused"]
    assert told["what"] == "the judgements by 'ann' came in a filled sheet, not from a judge"
    assert told["why"] == ["data/runs-judged/ann/: filled in by ann; a judge's would replace them"]
    assert tree_bytes(built.project.data) == before
