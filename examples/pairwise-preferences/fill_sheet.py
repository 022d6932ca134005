"""Fills a label sheet with one person's published answers: what the person did in a spreadsheet.

python3 fill_sheet.py SHEET.csv human_labels.csv annotator1
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

WORDS = {"0": "tie", "1": "first", "2": "second"}


def main(sheet: Path, published: Path, person: str) -> None:
    """Write the person's answers into the sheet's column `label (…)`; everything else stays as it is."""
    with published.open(encoding="utf-8", newline="") as file:
        said = {f"pair-{int(row['idx']):03}": WORDS[row[person]] for row in csv.DictReader(file)}
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
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
