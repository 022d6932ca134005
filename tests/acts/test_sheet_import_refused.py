"""``sheet-import``: every way in which a filled sheet is refused, with its row; nothing is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evh.project import judged, labels
from evh.store.hashing import sha256
from tests.acts import sheets
from tests.acts.importing import added, retyped, sheet, words
from tests.acts.sheets import RUNS, cells_of, fill, write_cells
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes

built = sheets.built


@pytest.mark.parametrize(
    ("edits", "code", "said"),
    [
        ([added("six", "a new row")], "unknown-row", "row 8: item_id 'six' is not in the sheet's key"),
        ([retyped("one", "item_id", "ONE")], "mangled-cell", "row 3: item_id 'ONE' was probably 'one'"),
        ([retyped("one", "item", "edited")], "changed-text", "row 3: one: the cell item is not the text"),
        ([retyped("two", "A", "edited")], "changed-text", "row 4: two: the cell A is not the text"),
        ([retyped("two", "A", "")], "changed-text", "row 4: two: the cell A is not the text"),
        ([retyped("five", "C", "more")], "unknown-cell", "row 7: five: the cell C was empty in the sheet"),
        ([retyped("#rubric", "item", "Mine")], "changed-text", "row 2: #rubric: it is not the rubric"),
        ([retyped("five", "pick", "C")], "no-letter", "row 7: five: pick 'C' is no letter of this row: A, B"),
        ([retyped("one", "pick", "A or B")], "no-letter", "row 3: one: pick 'A or B' is no letter"),
        ([retyped("one", "pick", "A|D")], "no-letter", "row 3: one: pick 'A|D' is no letter"),
        ([retyped("one", "pick", "|")], "no-letter", "row 3: one: pick '|' is no letter"),
        ([retyped("one", "pick", "")], "nothing-filled", "no pick and no score is filled in"),
        (
            [retyped("one", "score: A", "5")],
            "both-filled",
            "scores filled in on row 3: fill in one of the two",
        ),
        ([retyped("one", "label", "yes")], "no-set", "labelled on row 3: labels need --set"),
        ([retyped("two", "item_id", "one")], "two-answers", None),
    ],
)
def test_what_does_not_fit_the_key_is_refused_with_its_row(
    built: Builder, evh: CommandLine, tmp_path: Path, *, edits: list[Any], code: str, said: str | None
) -> None:
    """One pick is filled in and one thing is wrong: the row is named, and nothing is written."""
    out = sheet(evh, tmp_path / "s.csv", "pick", "scores", "label")
    rows = cells_of(out)
    retyped("one", "pick", "A")(rows)
    retyped("two", "pick", "B" if code == "two-answers" else "")(rows)
    for edit in edits:
        edit(rows)
    write_cells(out, rows)
    before = tree_bytes(built.project.data)
    outcome = evh(*words(out, "--scorer", "ann"), "--json")
    assert outcome.code == 1
    told = outcome.json["refused"]
    if said is None:
        assert any("filled in otherwise at" in why for why in told["why"])
    else:
        assert told["code"] == code
        assert any(said in why for why in told["why"]), told["why"]
    assert tree_bytes(built.project.data) == before


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("6", "off-scale"),
        ("0", "off-scale"),
        ("-1", "off-scale"),
        ("good", "bad-score"),
        ("4/5", "bad-score"),
        ("80%", "bad-score"),
        ("nan", "bad-score"),
        ("1e0", "bad-score"),
        ("1,000", "bad-score"),
        ("04.May", "bad-score"),
    ],
)
def test_a_score_off_the_scale_or_no_number_is_refused(
    built: Builder, evh: CommandLine, tmp_path: Path, text: str, code: str
) -> None:
    """The scale is 1..5; a date that a spreadsheet made of 4.5 is no number."""
    out = sheet(evh, tmp_path / "s.csv", "scores")
    fill(out, {"one": {"score: A": text}, "two": {"score: B": "3"}})
    told = evh.refused(code, *words(out, "--scorer", "ann")).json["refused"]["why"]
    assert len(told) == 1
    assert "row 3: one: score A" in told[0]
    assert not judged.exists(built.project, "ann")


def test_every_reason_is_told_at_once(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """A bad pick, a bad label, an edited cell and an unknown row make four reasons or more."""
    out = sheet(evh, tmp_path / "s.csv", "pick", "label", more=("--choices", "yes,no"))
    rows = cells_of(out)
    retyped("one", "pick", "Z")(rows)
    retyped("two", "label (yes|no)", "perhaps")(rows)
    retyped("three", "B", "edited")(rows)
    added("six")(rows)
    write_cells(out, rows)
    told = evh.refused("bad-sheet", *words(out, "--scorer", "ann", "--set", "s")).json["refused"]["why"]
    for place in ("row 3: one", "row 4: two", "row 5: three", "row 8: item_id 'six'"):
        assert any(place in why for why in told), (place, told)
    assert not labels.exists(built.project, "d", "s")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (("--scorer", "../x"), "bad-id"),
        (("--scorer", "taken"), "existing-scorer"),
        (("--scorer", "judge_file"), "existing-scorer"),
        (("--scorer", "s", "--set", "truth"), "existing-set"),
        (("--set", "s"), "no-scorer"),
        ((), "bad-sheet"),
        (("--scorer", "s", "--guideline", "g.md"), "no-target"),
    ],
)
def test_names_that_are_used_or_missing_are_refused(
    built: Builder, evh: CommandLine, tmp_path: Path, more: tuple[str, ...], code: str
) -> None:
    """A used name is never written over; judgements need --scorer and labels --set."""
    (built.project.data / "runs-judged" / "taken").mkdir(parents=True)
    judges = built.project.data / "judges"
    judges.mkdir()
    text = "scorer: judge_file\nkind: pick\nrubric: Which?\njudges: [arm_a]\n"
    (judges / "judge_file.yaml").write_text(text)
    fills = ("pick",) if more[:1] == ("--scorer",) and "truth" not in more else ("pick", "label")
    out = sheet(evh, tmp_path / "s.csv", *fills)
    typed = {"pick": "A", "label": "yes"} if "label" in fills else {"pick": "A"}
    fill(out, {"one": typed})
    before = tree_bytes(built.project.data)
    evh.refused(code, *words(out, *more))
    assert tree_bytes(built.project.data) == before


def test_who_filled_it_in_is_said(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """--by is not empty and on one line: it stands beside every figure."""
    del built
    out = sheet(evh, tmp_path / "s.csv", "pick")
    fill(out, {"one": {"pick": "A"}})
    for name in ("  ", "ann\nbob", "\u202eann"):
        evh.refused("no-name", "sheet-import", out, "--dataset-id", "d", "--by", name, "--scorer", "s")


def test_picks_without_their_key_are_refused(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Letters mean nothing without it; --key names one elsewhere, and another sheet's key fits no row."""
    out = sheet(evh, tmp_path / "s.csv", "pick")
    fill(out, {"one": {"pick": "A"}})
    key = out.with_suffix(".key.json").rename(tmp_path / "elsewhere.json")
    evh.refused("no-key", *words(out, "--scorer", "ann"))
    evh.ok(*words(out, "--scorer", "ann", "--key", key))
    built.dataset("e", {"x": "1"})
    held = tmp_path / "e.csv"
    evh.ok("inspect", "--sheet", "--dataset-id", "e", "--csv", held, "--fill", "label")
    other = held.with_suffix(".key.json")
    evh.refused("other-sheet", *words(out, "--scorer", "bob", "--key", other))


def test_what_was_not_offered_is_refused(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """A column pick or label that somebody added to a sheet of scores is not in its key."""
    del built
    out = sheet(evh, tmp_path / "s.csv", "scores")
    rows = [
        [*row, *("pick", "label") * (at == 0), *("A", "yes") * (at == 2)]
        for at, row in enumerate(cells_of(out))
    ]
    write_cells(out, rows)
    told = evh.refused("unknown-cell", *words(out, "--scorer", "x", "--set", "s")).json["refused"]["why"]
    assert any("pick: the sheet was not made with --fill pick" in why for why in told)
    assert any("label filled in on row 3: not in the key" in why for why in told)


def test_a_letter_is_no_label(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """B in the column label says which answer is best, not what is right for the item."""
    del built
    out = sheet(evh, tmp_path / "s.csv", "pick", "label")
    fill(out, {"one": {"label": "B"}})
    evh.refused("letter-as-label", *words(out, "--set", "s"))


def test_label_import_sends_a_sheet_to_judge_to_sheet_import(
    built: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """It would pass the picks over in silence: it refuses and names the command."""
    del built
    out = sheet(evh, tmp_path / "s.csv", "pick", "label")
    fill(out, {"one": {"label": "yes"}})
    told = evh.refused("other-sheet", "label-import", out, "--dataset-id", "d", "--set", "s", "--by", "ann")
    assert told.json["refused"]["next"].startswith("evh sheet-import")


def test_outputs_that_changed_since_are_refused(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """The run's output is not the one that was judged any more; a run that is gone is named."""
    out = sheet(evh, tmp_path / "s.csv", "pick")
    fill(out, {"one": {"pick": "A"}})
    folder = built.project.data / RUNS["arm_a"]
    rows = folder / "predictions.jsonl"
    metrics = folder / "metrics.json"
    changed = rows.read_bytes().replace(b'"output":"yes"', b'"output":"nay"')
    metrics.write_bytes(
        metrics.read_bytes().replace(sha256(rows.read_bytes()).encode(), sha256(changed).encode())
    )
    rows.write_bytes(changed)
    told = evh.refused("changed-output", *words(out, "--scorer", "ann")).json["refused"]["why"]
    assert told == [f"{out}: row 3: one: the output of {RUNS['arm_a']} is not the one that was judged"]
    folder.rename(tmp_path / "gone")
    evh.refused("missing-run", *words(out, "--scorer", "ann"))


def test_an_item_that_changed_since_is_refused(built: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """The key knows the bytes that were judged."""
    out = sheet(evh, tmp_path / "s.csv", "pick")
    fill(out, {"one": {"pick": "A"}})
    key = out.with_suffix(".key.json")
    held = json.loads(key.read_text())
    held["rows"]["one"]["sha256"] = "0" * 64
    held["version"] = 1
    del held["key_sha256"]  # a key of an earlier evh: one with a digest tells that it was edited
    key.write_text(json.dumps(held))
    told = evh.refused("changed-item", *words(out, "--scorer", "ann")).json["refused"]["why"]
    assert told == [f"{out}: row 3: one: the item has other bytes than the sheet showed in d"]
    assert not judged.exists(built.project, "ann")
