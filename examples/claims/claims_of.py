"""Brings what people said into the shapes in which evh takes it: label files, and the sheet they filled.

- ``claims_of.py answers FOLDER raw/*.jsonl``: a label file a question, ``model: verdict: claim`` a line
- ``claims_of.py items CLAIMS.jsonl raw/gpt4.jsonl``: each claim as an item to check, a line each
- ``claims_of.py fill SHEET.csv raw/gpt4.jsonl``: each claim's label, in the sheet of these items
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


def records(files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Give every answer in the files: `item`, `arm`, `response`, `claims`."""
    for file in files:
        yield from map(json.loads, filter(None, file.read_text(encoding="utf-8").split("\n")))


def claims(files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Give each claim: its id, the text that a checker reads, its question, and the people's label."""
    for record in records(files):
        for number, (claim, label) in enumerate(record["claims"], 1):
            parts = [
                f"Question {record['item']}",
                f"ANSWER of {record['arm']}\n{record['response'].strip()}",
                f"CLAIM {number} of {len(record['claims'])}\n{' | '.join(claim)}",
            ]
            yield {
                "item_id": f"{record['item']}.{number}",
                "text": "\n\n".join(parts) + "\n",
                "question": record["item"],
                "label": label.casefold(),
            }


def write_answers(folder: Path, files: Sequence[Path]) -> None:
    """Write a file a question with what people said of every model's claims on it."""
    lines: dict[str, list[str]] = {}
    for record in records(files):
        said = lines.setdefault(record["item"], [])
        said += [f"{record['arm']}: {verdict}: {' | '.join(claim)}" for claim, verdict in record["claims"]]
    folder.mkdir()
    for question, said in lines.items():
        (folder / f"{question}.txt").write_text("\n".join(said), encoding="utf-8", newline="")


def write_items(out: Path, files: Sequence[Path]) -> None:
    """Write one claim a line, without its label."""
    lines = [{key: one[key] for key in ("item_id", "text", "question")} for one in claims(files)]
    out.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), encoding="utf-8")


def fill(sheet: Path, files: Sequence[Path]) -> None:
    """Write the labels into the sheet's column `label (…)`; everything else stays as it is."""
    said = {one["item_id"]: one["label"] for one in claims(files)}
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    label = next(at for at, name in enumerate(header) if name.startswith("label"))
    item = header.index("item_id")
    for row in rows:
        if not row[item].startswith("#"):
            row[label] = said[row[item]]
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([header, *rows])


if __name__ == "__main__":
    deed = {"answers": write_answers, "items": write_items, "fill": fill}[sys.argv[1]]
    deed(Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
