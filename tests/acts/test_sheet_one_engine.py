"""The terminal, the CSV, the workbook, the JSON and the page say the same of every row: one engine."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh.store import workbook
from tests.acts.sheets import cells_of, fill, hand_counted, letters
from tests.conftest import CommandLine
from tests.helpers import Builder

WORDS = ("inspect", "--sheet", "--dataset-id", "d")
FILTERS: list[tuple[str, ...]] = [
    (),
    ("--disagree", "--split"),
    ("--wrong-against", "truth"),
    ("--where", "kind:z", "--unlabelled"),
    ("--runs", "arm_b,production"),
    ("--metric", "ann/judge_won"),
    ("--scores-only",),
]


@pytest.fixture
def judged(project: Project, evh: CommandLine, tmp_path: Path) -> Builder:
    """The project of the hand count with a person's picks on two rows: metric and judge each have winners."""
    made = hand_counted(project)
    out = tmp_path / "s.csv"
    evh.ok(*WORDS, "--csv", out, "--fill", "pick")
    where = letters(out)
    fill(out, {item: {"pick": where[item]["arm_b"]} for item in ("one", "two")})
    evh.ok("sheet-import", out, "--dataset-id", "d", "--by", "ann", "--scorer", "ann")
    made.pick("d", "two", targets=("v2",))
    return made


def plain(value: object) -> str:
    """Return a JSON value as a cell has it."""
    return "" if value is None else "yes" if value is True else "" if value is False else str(value)


def of_json(document: dict[str, Any]) -> list[dict[str, str]]:
    """Return the rows of the JSON as cells by the CSV's heads, put together here."""
    made = []
    for row in document["rows"]:
        cells = {"item_id": row["item_id"], "item_sha256": row["sha256"], "item": row["preview"]}
        cells |= {f"field: {name}": plain(row["fields"].get(name)) for name in document["fields"]}
        for arm, held in zip(document["arms"], row["arms"], strict=True):
            for name in ("output", "decision", "error"):
                cells[f"{arm['name']}: {name}"] = plain(held[name])
            for one in arm["scores"]:
                ref = f" ({one['against']})" if one["against"] else ""
                found = [
                    score["value"]
                    for score in held["scores"]
                    if (score["metric"], score["against"]) == (one["metric"], one["against"])
                ]
                cells[f"{arm['name']}: {one['metric']}{ref}"] = plain(found[0] if found else None)
        texts = {one["ref"]: one["text"] for one in row["labels"]}
        cells |= {f"label: {one['ref']}": texts.get(one["ref"], "") for one in document["label_columns"]}
        cells["winner"] = "none right" if row["none_right"] else " ".join(row["winners"])
        if document["judge"] != document["row_metric"]:
            cells[f"winner by {document['judge']}"] = " ".join(row["judge_winners"])
        signals = row["signals"]
        cells |= {name: " ".join(signals[name]) for name in ("wrong", "new")}
        cells |= {name: plain(signals[name]) for name in ("disagree", "split", "unlabelled")}
        cells["wrong by"] = " ".join(signals["wrong_by"])
        cells["picked for"] = " ".join(row["picked"]["targets"]) if row["picked"] else ""
        made.append(cells)
    return made


@pytest.mark.parametrize("more", FILTERS, ids=lambda more: " ".join(more) or "all")
def test_csv_workbook_and_json_hold_the_same_cells(
    judged: Builder, evh: CommandLine, tmp_path: Path, more: tuple[str, ...]
) -> None:
    """Cell for cell, for any filter, arms and metric; the footer's figures too."""
    del judged
    document = evh.ok(*WORDS, *more, "--json").json
    evh.ok(*WORDS, *more, "--csv", tmp_path / "t.csv")
    evh.ok(*WORDS, *more, "--xlsx", tmp_path / "t.xlsx")
    header, *rows = cells_of(tmp_path / "t.csv")
    book = workbook.read((tmp_path / "t.xlsx").read_bytes(), "t.xlsx")
    assert list(book.header) == header
    kept = {name: at for at, name in enumerate(header)}
    numbers = [
        name for name in header if "correct" in name or "judge_" in name or name.startswith("field: n")
    ]
    for mine, other in zip(rows, book.rows, strict=True):
        for name, at in kept.items():
            one, two = mine[at], other.cells[name]
            same = one == two or (name in numbers and one and float(one) == float(two))
            assert same or (mine[0].startswith("#") and float(one) == float(two)), (mine[0], name, one, two)
    cells = [dict(zip(header, row, strict=True)) for row in rows if not row[0].startswith("#")]
    for shown, told in zip(cells, of_json(document), strict=True):
        left_out = ": output" if "--scores-only" in more else "\0"
        assert shown == {name: text for name, text in told.items() if not name.endswith(left_out)}
    foot = {row[0]: dict(zip(header, row, strict=True)) for row in rows if row[0].startswith("#")}
    for line in document["footer"]:
        under = f"{line['arm']}: decision"
        assert foot["#win rate"][under] == plain(line["win_rate"])
        assert foot["#verdict"][under] == plain(line["verdict"])
        assert foot["#p against the leader"][under] == plain(line["p_corrected"])
        if document["judge"] != document["row_metric"]:
            assert foot[f"#win rate by {document['judge']}"][under] == plain(line["judge_win_rate"])
        arm = next(one for one in document["arms"] if one["name"] == line["arm"])
        for one, mean in zip(arm["scores"], line["means"], strict=True):
            ref = f" ({one['against']})" if one["against"] else ""
            assert foot["#mean"][f"{arm['name']}: {one['metric']}{ref}"] == plain(mean)


@pytest.mark.parametrize("more", FILTERS, ids=lambda more: " ".join(more) or "all")
def test_the_terminal_prints_the_rows_of_the_json(
    judged: Builder, evh: CommandLine, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    """Its rows, winners, decisions, labels and signals, read back from the printed table."""
    del judged
    monkeypatch.setenv("COLUMNS", "400")
    document = evh.ok(*WORDS, *more, "--json").json
    lines = evh.ok(*WORDS, *more).out.splitlines()
    heads = next(line for line in lines if line.startswith("item "))
    at = lines.index(heads)
    starts = [found.start() for found in re.finditer(r"(?:^|(?<=  ))\S", heads)]
    names = [heads[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
    table = [
        dict(
            zip(
                names,
                (line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)),
                strict=True,
            )
        )
        for line in lines[at + 1 : at + 1 + len(document["rows"])]
    ]
    assert [row["item"] for row in table] == [row["item_id"] for row in document["rows"]]
    for printed, row in zip(table, document["rows"], strict=True):
        nobody = "none right" if row["none_right"] else "—"
        assert printed["winner"] == (", ".join(row["winners"]) or nobody)
        if document["judge"] != document["row_metric"]:
            assert printed[f"by {document['judge']}"] == (", ".join(row["judge_winners"]) or "—")
        for held in row["arms"]:
            shown = printed[held["name"]].removesuffix("✓").removesuffix("✗").strip()
            shown = re.sub(r"\s*\d\.\d{3}$", "", shown)
            expected = f"error: {held['error']}" if held["error"] else held["decision"]
            assert shown == (expected or "—")
        for word in ("disagree", "split", "unlabelled"):
            assert (word in printed["signals"].split()) == row["signals"][word]
        assert ("wrong (truth)" in printed["signals"]) == bool(row["signals"]["wrong"])
        assert ("picked" in printed["signals"].split()) == (row["picked"] is not None)


def test_the_page_shows_what_the_csv_holds(judged: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """The file beside the page is the terminal's byte for byte; the page's HTML has its rows."""
    evh.ok(*WORDS, "--csv", tmp_path / "t.csv")
    evh.ok("catalog-build")
    folder = judged.project.root / ".build" / "catalog" / "sheets" / "d"
    mine = cells_of(tmp_path / "t.csv")
    assert {"#verdict", "#p against the leader"} <= {row[0] for row in mine}
    assert (folder / "sheet.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()
    page = (folder / "index.html").read_text(encoding="utf-8")
    body = page[page.index("<tbody") : page.index("</tbody>")]
    rows = [
        [
            html.unescape(re.sub(r"<[^>]+>", "", cell)).strip()
            for cell in re.findall(r"<t[hd].*?</t[hd]>", line)
        ]
        for line in re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    ]
    winner = mine[0].index("winner")
    ids = [row[0] for row in mine[1:] if not row[0].startswith("#")]
    assert len(rows) == len(ids)
    for shown, item, row in zip(rows, ids, mine[1:], strict=False):
        assert any(item in cell for cell in shown), (item, shown)
        won = row[winner] if row[winner] == "none right" else ", ".join(row[winner].split())
        assert won in shown or (not won and "—" in shown)
