"""``label-sheet``: which items go in, what the sheet shows, and what only its key knows."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh.store.hashing import sha256
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

TEXTS = {f"i{number}": f"text {number}" for number in range(1, 7)}


@pytest.fixture
def builder(project: Project) -> Builder:
    """Six items, the first of them labelled by a set of the dataset's task."""
    made = Builder(project)
    made.dataset("d", TEXTS, fields={"i1": {"cna": "x", "note": "mine"}, "i2": {"year": 2024}}, task="t")
    made.labels("d", "a", {"i1": "yes"})
    return made


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the sheet goes."""
    return tmp_path / "s.csv"


def rows_of(path: Path) -> list[list[str]]:
    """Return the cells of a sheet as a spreadsheet sees them."""
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def ids_of(path: Path) -> list[str]:
    """Return the ids of a sheet's item rows."""
    return [row[0] for row in rows_of(path)[1:] if not row[0].startswith("#")]


def key_of(path: Path) -> Any:
    """Return the key beside a sheet."""
    return json.loads(path.with_suffix(".key.json").read_bytes())


def test_the_unlabelled_items_are_the_default(builder: Builder, evh: CommandLine, out: Path) -> None:
    """i1 is labelled by a set of the task; a set of another task labels nothing here."""
    builder.labels("d", "b", {"i2": "high"}, task="severity")
    row = check(evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--json").json, "label-sheet")[
        "sheets"
    ][0]
    assert ids_of(out) == ["i2", "i3", "i4", "i5", "i6"]
    assert (row["n_items"], row["of"], row["n_random"], row["written"]) == (5, 6, 0, True)


def test_the_sheet_and_its_key(builder: Builder, evh: CommandLine, out: Path, tmp_path: Path) -> None:
    """BOM, guideline first, choices in the header, fields; the key has hashes and a secret."""
    guideline = tmp_path / "g.md"
    guideline.write_bytes("Sag né.\n".encode())
    words = ["--items", "all", "--choices", "yes,a|b", "--guideline", str(guideline)]
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out, *words)
    assert out.read_bytes().startswith(b"\xef\xbb\xbf")
    header, first, second, *_ = rows_of(out)
    assert header[:6] == ["item_id", "item_sha256", "item", "cna", "field note", "year"]
    assert header[6:] == [r"label (yes|a\|b)", "also right", "note"]
    assert first == ["#guideline", sha256("Sag né.\n".encode()), "Sag né.\n", "", "", "", "", "", ""]
    assert second == ["i1", sha256(b"text 1"), "text 1", "x", "mine", "", "", "", ""]
    key = key_of(out)
    assert key["choices"] == ["yes", "a|b"]
    assert key["guideline"] == {
        "text": "Sag né.\n",
        "sha256": sha256("Sag né.\n".encode()),
        "suffix": ".md",
    }
    assert key["rows"]["i1"] == {
        "sha256": sha256(b"text 1"),
        "cells": {"item": sha256(b"text 1")},
        "slice": "selected",
    }
    assert (key["task"], key["selection"], len(key["secret"])) == ("t", {"items": "all"}, 32)


def test_items_are_united(builder: Builder, evh: CommandLine, out: Path) -> None:
    """A named item joins those that --items describes, in the dataset's order, or stands alone."""
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--item", "i5", "--item", "i1")
    assert ids_of(out) == ["i1", "i5"]
    other = out.with_name("t.csv")
    evh.ok("label-sheet", "--dataset-id", "d", "--out", other, "--item", "i1", "--items", "unlabelled")
    assert ids_of(other) == ["i1", "i2", "i3", "i4", "i5", "i6"]


def test_disagree_takes_items_where_the_first_arm_differs(
    builder: Builder, evh: CommandLine, out: Path
) -> None:
    """A and B differ on i2; C differs from A on i3; what each decided is shown."""
    same = dict.fromkeys(TEXTS, "yes")
    builder.run("A", "d", same)
    builder.run("B", "d", {**same, "i2": "no"})
    builder.run("C", "d", {**same, "i3": "=no"})
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--items", "disagree", "--runs", "A,B,C")
    assert ids_of(out) == ["i2", "i3"]
    header, _, last = rows_of(out)
    assert header[4:7] == ["decided: A", "decided: B", "decided: C"]
    at = header.index("decided: C")
    assert last[at] == "'=no"
    assert key_of(out)["selection"] == {"items": "disagree", "runs": ["A", "B", "C"]}


def test_production_is_shown_where_no_arm_is_named(builder: Builder, evh: CommandLine, out: Path) -> None:
    """Of two arms only the recorded one stands in the sheet."""
    builder.run("prod", "d", dict.fromkeys(TEXTS, "yes"), params={"provider": "recorded"})
    builder.run("other", "d", dict.fromkeys(TEXTS, "no"))
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out)
    assert [head for head in rows_of(out)[0] if head.startswith("decided")] == ["decided: prod"]


def test_a_random_draw_over_all_items_is_marked_in_the_key_alone(
    builder: Builder, evh: CommandLine, out: Path
) -> None:
    """Three of six at random: so the key says, and the sheet does not; the same seed draws the same."""
    evh.ok(
        "label-sheet", "--dataset-id", "d", "--out", out, "--item", "i1", "--plus-random", "3", "--seed", "7"
    )
    key = key_of(out)
    random = [item_id for item_id, row in key["rows"].items() if row["slice"] == "random"]
    assert len(random) == 3
    assert key["selection"]["random"] == {"n": 3, "of": 6, "seed": 7}
    assert b"random" not in out.read_bytes()
    other = out.with_name("t.csv")
    evh.ok(
        "label-sheet",
        "--dataset-id",
        "d",
        "--out",
        other,
        "--item",
        "i1",
        "--plus-random",
        "3",
        "--seed",
        "7",
    )
    assert ids_of(other) == ids_of(out)


def test_a_sample_of_all_items_is_random_and_one_of_the_unlabelled_is_not(
    builder: Builder, evh: CommandLine, out: Path
) -> None:
    """Only a draw over the whole dataset stands for it."""
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--items", "all", "--sample", "2")
    assert {row["slice"] for row in key_of(out)["rows"].values()} == {"random"}
    other = out.with_name("t.csv")
    evh.ok("label-sheet", "--dataset-id", "d", "--out", other, "--sample", "2")
    assert {row["slice"] for row in key_of(other)["rows"].values()} == {"selected"}
    assert key_of(other)["selection"]["sample"] == {"n": 2, "of": 5, "seed": 0}


def test_proposals_are_shown_and_some_are_hidden(builder: Builder, evh: CommandLine, out: Path) -> None:
    """Four proposals, a quarter hidden: three in the sheet, all four in the key."""
    builder.labels("d", "p", {"i1": "yes", "i2": '{"accept": ["no", "yes"]}', "i3": "no", "i4": "no"})
    words = ["--items", "all", "--propose", "p", "--hide-share", "0.25"]
    row = evh.ok("label-sheet", "--dataset-id", "d", "--out", out, *words, "--json").json["sheets"][0]
    assert (row["n_proposed"], row["n_hidden"]) == (4, 1)
    header, *rows = rows_of(out)
    shown = {one[0]: one[header.index("proposal")] for one in rows if one[header.index("proposal")]}
    assert len(shown) == 3
    proposals = {key: one["proposal"] for key, one in key_of(out)["rows"].items() if "proposal" in one}
    assert {key for key, one in proposals.items() if one["shown"]} == set(shown)
    assert proposals["i2"]["text"] == '{"accept": ["no", "yes"]}'


def test_an_arm_proposes_too(builder: Builder, evh: CommandLine, out: Path) -> None:
    """``--propose RUN`` proposes what it decided."""
    builder.run("A", "d", {"i2": "no"})
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--propose", "A")
    assert key_of(out)["rows"]["i2"]["proposal"] == {"text": "no", "shown": True}


def test_the_same_key_makes_the_same_sheet(builder: Builder, evh: CommandLine, out: Path) -> None:
    """The sheet was lost, its key is there: the same command makes the same bytes."""
    builder.labels("d", "p", dict.fromkeys(TEXTS, "yes"))
    words: list[str | Path] = [
        "label-sheet",
        "--dataset-id",
        "d",
        "--out",
        out,
        "--items",
        "all",
        "--propose",
        "p",
        "--hide-share",
        "0.5",
    ]
    evh.ok(*words)
    before, key = out.read_bytes(), out.with_suffix(".key.json").read_bytes()
    out.unlink()
    evh.ok(*words)
    assert (out.read_bytes(), out.with_suffix(".key.json").read_bytes()) == (before, key)


def test_another_sheets_key_is_never_replaced(builder: Builder, evh: CommandLine, out: Path) -> None:
    """A key that makes another sheet stays, and the command is refused."""
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out)
    out.unlink()
    key = out.with_suffix(".key.json").read_bytes()
    evh.refused("existing-file", "label-sheet", "--dataset-id", "d", "--out", out, "--items", "all")
    assert out.with_suffix(".key.json").read_bytes() == key


def test_a_long_text_is_shortened_and_told(project: Project, evh: CommandLine, out: Path) -> None:
    """A text over 32,767 characters is cut and marked; the count is told."""
    Builder(project).dataset("d", {"i1": "=" * 40_000})
    outcome = evh.ok("label-sheet", "--dataset-id", "d", "--out", out)
    assert "1 texts did not fit" in outcome.err
    assert rows_of(out)[1][2].endswith(" … [shortened]")


def test_a_dry_run_writes_nothing(project: Project, builder: Builder, evh: CommandLine, out: Path) -> None:
    """Neither the sheet nor its key."""
    before = tree_bytes(project.root)
    assert (
        "would write 5 of 6 items"
        in evh.ok("label-sheet", "--dataset-id", "d", "--out", out, "--dry-run").out
    )
    assert tree_bytes(project.root) == before


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("no-such-dataset", ["--dataset-id", "x"]),
        ("unknown-item", ["--item", "x"]),
        ("unknown-arm", ["--items", "disagree", "--runs", "A,B"]),
        ("bad-options", ["--items", "disagree", "--runs", "A"]),
        ("bad-options", ["--hide-share", "0.5"]),
        ("bad-options", ["--sample", "0"]),
        ("bad-options", ["--choices", "a,a"]),
        ("bad-options", ["--choices", "a,,b"]),
        ("unknown-arm", ["--propose", "nothing"]),
        ("no-such-label-set", ["--propose", "d/nothing"]),
        ("cannot-read", ["--guideline", "nowhere.md"]),
    ],
)
def test_what_cannot_be_made_is_refused(
    builder: Builder, evh: CommandLine, out: Path, code: str, words: list[str]
) -> None:
    """Names that lead nowhere and options that contradict each other."""
    evh.refused(code, "label-sheet", "--dataset-id", "d", "--out", out, *words)
    assert not out.exists()


def test_another_ending_is_refused_with_what_to_do(builder: Builder, evh: CommandLine, out: Path) -> None:
    """A sheet is CSV or a workbook by its name."""
    told = evh.refused("bad-options", "label-sheet", "--dataset-id", "d", "--out", out.with_suffix(".ods"))
    assert "ends in .csv or .xlsx" in told.json["refused"]["why"][0]


def test_a_third_of_the_proposals_is_hidden_unless_said(
    builder: Builder, evh: CommandLine, out: Path
) -> None:
    """Six proposals: two hidden; ``--hide-share 0`` shows all."""
    builder.labels("d", "p", dict.fromkeys(TEXTS, "yes"))
    line = ["label-sheet", "--dataset-id", "d", "--items", "all", "--propose", "p", "--json"]
    row = evh.ok(*line, "--out", out).json["sheets"][0]
    assert (row["n_proposed"], row["n_hidden"]) == (6, 2)
    row = evh.ok(*line, "--out", out.with_name("t.csv"), "--hide-share", "0").json["sheets"][0]
    assert row["n_hidden"] == 0


def test_a_sheet_that_is_there_is_never_replaced(builder: Builder, evh: CommandLine, out: Path) -> None:
    """Somebody may have filled it."""
    out.write_text("filled")
    evh.refused("existing-file", "label-sheet", "--dataset-id", "d", "--out", out)
    assert out.read_text() == "filled"


def test_nothing_to_label_is_refused(builder: Builder, evh: CommandLine, out: Path) -> None:
    """Every item is labelled."""
    builder.labels("d", "all", dict.fromkeys(TEXTS, "yes"))
    evh.refused("no-items", "label-sheet", "--dataset-id", "d", "--out", out)


def test_a_name_that_is_a_set_and_an_arm_is_refused(builder: Builder, evh: CommandLine, out: Path) -> None:
    """A proposal by a name with two meanings is never guessed."""
    builder.run("a", "d", dict.fromkeys(TEXTS, "yes"))
    evh.refused("two-meanings", "label-sheet", "--dataset-id", "d", "--out", out, "--propose", "a")


def test_a_blind_sheet_shows_no_decision(builder: Builder, evh: CommandLine, out: Path) -> None:
    """Without --blind what production decided stands beside the item; with it not, and the key says so."""
    params = {"provider": "recorded", "capture": "k"}
    builder.run("production", "d", dict.fromkeys(TEXTS, "no"), params=params)
    evh.ok("label-sheet", "--dataset-id", "d", "--out", out)
    assert "decided: production" in rows_of(out)[0]
    blind = out.with_name("blind.csv")
    evh.ok("label-sheet", "--dataset-id", "d", "--out", blind, "--blind")
    assert not any(head.startswith("decided") for head in rows_of(blind)[0])
    assert key_of(blind)["selection"]["blind"] is True
    words = ("label-sheet", "--dataset-id", "d", "--out", out.with_name("x.csv"), "--blind", "--propose", "a")
    assert "--blind" in evh.refused("bad-options", *words).json["refused"]["why"][0]
