"""Reading a filled label sheet: every row checked against the dataset and the sheet's key."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.acts.label_sheet import GUIDELINE_ROW, item_cell
from evh.project import datasets
from evh.records.answers import canonical, listed, malformed, shown
from evh.store import mangled, spreadsheet
from evh.store.hashing import sha256_text
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item
    from evh.records.sheet_key import SheetKey
    from evh.store.spreadsheet import Row, Sheet

SHOWN = 5
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LABEL = re.compile(r"label(?:\s*\((?P<choices>.*)\))?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Filled:
    """One item's answer: its canonical label text, the note beside it, and where it stands."""

    item: Item
    text: str
    note: str | None
    place: str


@dataclass(slots=True)
class Reading:
    """What a sheet holds, and each thing that is wrong with it by the code of its refusal.

    Attributes:
        filled: item id → the answer.
        reasons: (code, reason), in the sheet's order.
        n_empty: item rows without a label.
        n_comments: rows whose ``item_id`` starts with ``#``.
        guideline_sha256: the guideline that the sheet's own first row names, or None.
        guideline_text: that row's text, or None.
        warnings: what a person should know.
    """

    filled: dict[str, Filled] = field(default_factory=dict)
    reasons: list[tuple[str, str]] = field(default_factory=list)
    n_empty: int = 0
    n_comments: int = 0
    guideline_sha256: str | None = None
    guideline_text: str | None = None
    warnings: list[str] = field(default_factory=list)

    def refuse(self, code: str, reason: str) -> None:
        """Note one reason."""
        self.reasons.append((code, reason))


@dataclass(frozen=True, slots=True)
class _Columns:
    """The sheet's own heads of the columns that are read; None where it has none."""

    item_id: str
    label: str
    choices: tuple[str, ...]
    sha256: str | None
    item: str | None
    also: str | None
    note: str | None
    proposal: str | None


def read(project: Project, dataset: Dataset, sheet: Sheet, key: SheetKey | None, place: object) -> Reading:
    """Return what a filled sheet says, and what is wrong with it.

    Rows may be sorted otherwise, left out or added, and so may columns; an item's text is checked where the
    sheet has it. Nothing is raised: the caller refuses with all reasons.

    Args:
        project: the project.
        dataset: the dataset that was labelled.
        sheet: the sheet.
        key: its key, or None.
        place: the sheet's name in a reason.
    """
    reading = Reading()
    columns = _columns(sheet, key, reading, place)
    if columns is None:
        return reading
    reader = _Reader(project, dataset, columns, key, reading)
    for row in sheet.rows:
        reader.read(row, f"{place}: row {row.number}")
    reader.check_texts()
    reading.warnings += _cut(sheet, columns, key, place)
    return reading


def _cut(sheet: Sheet, columns: _Columns, key: SheetKey | None, place: object) -> list[str]:
    """Return what tells of a sheet that was cut off: rows that are not there, rows that end early."""
    told = []
    there = {spreadsheet.unguard(row.cells[columns.item_id]) for row in sheet.rows}
    lost = [item_id for item_id in key.rows if item_id not in there] if key else []
    if key and lost:
        told.append(
            f"{place}: {len(lost):,} of {plural(len(key.rows), 'row')} of the sheet "
            f"{'is' if len(lost) == 1 else 'are'} not in the file: {_some(lost)}"
        )
    short = [
        str(row.number) for row in sheet.rows if row.short and not row.cells[columns.item_id].startswith("#")
    ]
    if short:
        told.append(f"{place}: {plural(len(short), 'row')} with fewer cells than the header: {_some(short)}")
    return told


def _some(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _columns(sheet: Sheet, key: SheetKey | None, reading: Reading, place: object) -> _Columns | None:
    by_name: dict[str, str] = {}
    labels: list[tuple[str, re.Match[str]]] = []
    for head in sheet.header:
        by_name.setdefault(head.casefold(), head)
        found = _LABEL.fullmatch(head)
        if found:
            labels.append((head, found))
    if "item_id" not in by_name:
        reading.refuse("bad-sheet", f"{place}: there is no column item_id: {', '.join(sheet.header)[:200]}")
    if len(labels) != 1:
        told = "there is no column label" if not labels else "there are several columns label"
        reading.refuse("bad-sheet", f"{place}: {told}")
    if reading.reasons:
        return None
    head, found = labels[0]
    choices = spreadsheet.split_bars(found["choices"] or "")
    if key is not None:
        if choices and key.choices and set(choices) != set(key.choices):
            reading.refuse(
                "off-choices", f"{place}: the choices in the header are not those of the sheet's key"
            )
        choices = key.choices
    return _Columns(
        item_id=by_name["item_id"],
        label=head,
        choices=choices,
        sha256=by_name.get("item_sha256"),
        item=by_name.get("item"),
        also=by_name.get("also right"),
        note=by_name.get("note"),
        proposal=by_name.get("proposal"),
    )


class _Reader:
    """Reads rows one by one into a `Reading`."""

    def __init__(
        self, project: Project, dataset: Dataset, columns: _Columns, key: SheetKey | None, reading: Reading
    ) -> None:
        self._project = project
        self._dataset = dataset
        self._columns = columns
        self._key = key
        self._reading = reading
        self._by_id = dataset.by_id
        self._by_sha = dataset.by_sha()
        self._unkeyed: dict[str, tuple[str, str]] = {}  # item id → place and text cell, checked at the end
        self._answers: dict[str, Filled] = {}  # sha256 of bytes → the first answer they got

    def read(self, row: Row, place: str) -> None:
        """Read one row: an item's answer, an empty row, or a comment."""
        item_id = self._own(row, self._columns.item_id)
        label = row.cells[self._columns.label]
        if item_id.startswith("#") and item_id.strip() not in mangled.ERRORS:
            self._reading.n_comments += 1
            if item_id.strip() == GUIDELINE_ROW:
                self._reading.guideline_sha256 = self._own(row, self._columns.sha256).strip() or None
                self._reading.guideline_text = self._own(row, self._columns.item) or None
            return
        also = spreadsheet.split_bars(self._cell(row, self._columns.also))
        if not label.strip():
            if also:
                self._reading.refuse(
                    "no-label", f"{place}: {item_id}: 'also right' is filled and label is not"
                )
            elif self._cell(row, self._columns.note).strip():
                self._reading.warnings.append(f"{place}: {item_id}: a note without a label is not kept")
            self._reading.n_empty += 1
            return
        item = self._item(row, item_id, place)
        where = f"{place}: {item_id}"
        answers = [self._answer(one, where) for cell in (label, *also) for one in self._parts(cell, where)]
        if item is None or any(one is None for one in answers) or not self._unchanged(row, item, place):
            return
        text = canonical(one for one in answers if one is not None)
        note = self._cell(row, self._columns.note).strip() or None
        self._keep(Filled(item, text, note, place))

    def check_texts(self) -> None:
        """Check the text cells of rows that no key vouches for against the items' own bytes."""
        items = [self._by_id[key] for key in self._unkeyed]
        texts = datasets.texts(self._project, self._dataset, items) if items else {}
        for item_id, (place, cell) in self._unkeyed.items():
            if not cell.strip() or cell.endswith(spreadsheet.SHORTENED):
                continue
            if not spreadsheet.same_text(cell, item_cell(texts[item_id])):
                self._reading.refuse(
                    "changed-text", f"{place}: {item_id}: the cell item is not the item's text any more"
                )

    def _cell(self, row: Row, column: str | None) -> str:
        """Return a cell that people fill in: exactly what it holds."""
        return row.cells.get(column, "") if column else ""

    def _own(self, row: Row, column: str | None) -> str:
        """Return what we wrote into a cell of our own: it was guarded."""
        return spreadsheet.unguard(self._cell(row, column))

    def _parts(self, cell: str, place: str) -> tuple[str | None, ...]:
        """Return the answers in a cell: those of an accept-list, else the cell itself; None: refused."""
        if cell in self._columns.choices:
            return (cell,)
        fault = malformed(cell)
        if fault:
            self._reading.refuse("bad-label", f"{place}: the accept-list is malformed: {fault}")
            return (None,)
        return listed(cell) or (cell,)

    def _item(self, row: Row, item_id: str, place: str) -> Item | None:
        found = self._by_id.get(item_id)
        if found is not None:
            return found
        by_bytes = self._by_sha.get(self._own(row, self._columns.sha256).strip(), [])
        near = [item.item_id for item in by_bytes] or mangled.likely(item_id, self._by_id)[:3]
        if not item_id.strip():
            self._reading.refuse("unknown-item", f"{place}: a label without an item_id")
        elif near:
            self._reading.refuse(
                "mangled-cell",
                f"{place}: item_id {item_id!r} is not in {self._dataset.dataset_id}; "
                f"a spreadsheet or an edit probably changed {' or '.join(map(repr, near))}",
            )
        else:
            self._reading.refuse(
                "unknown-item", f"{place}: there is no item {item_id!r} in {self._dataset.dataset_id}"
            )
        return None

    def _answer(self, cell: str | None, place: str) -> str | None:
        """Return an answer: one of the choices where there are any, else the cell exactly; None: refused."""
        if cell is None:
            return None
        choices = self._columns.choices
        if cell.strip() in mangled.ERRORS:
            self._reading.refuse(
                "mangled-cell", f"{place}: {cell!r} is a spreadsheet's word for a bad formula"
            )
            return None
        if not choices:
            if mangled.formatted_number(cell):
                self._reading.refuse(
                    "mangled-cell",
                    f"{place}: {cell!r} is the form that a spreadsheet gives to a long number; "
                    "where it is meant, name it in the header: label (…)",
                )
                return None
            if _CONTROL.search(cell):
                self._reading.warnings.append(f"{place}: {cell!r} holds a control character, kept as typed")
            if cell != cell.strip(" \t\xa0"):
                self._reading.warnings.append(
                    f"{place}: {cell!r} begins or ends with white space, and is another answer than "
                    f"{cell.strip()!r}: label-sheet --choices settles such cells"
                )
            return cell
        if cell in choices:
            return cell
        if cell.strip() in choices:
            return cell.strip()
        near = mangled.likely(cell, choices)
        if near:
            self._reading.refuse(
                "mangled-cell", f"{place}: {cell!r} was probably {' or '.join(map(repr, near))}"
            )
        else:
            self._reading.refuse("off-choices", f"{place}: {cell!r} is not one of {', '.join(choices)}")
        return None

    def _unchanged(self, row: Row, item: Item, place: str) -> bool:
        """Tell whether the item is still the one that the sheet showed, noting why not."""
        known = self._key.rows.get(item.item_id) if self._key else None
        told = self._own(row, self._columns.sha256).strip().lower()
        if (known and known.sha256 != item.sha256) or (told and told != item.sha256):
            self._reading.refuse(
                "changed-item", f"{place}: {item.item_id}: the item's bytes are not those of the sheet"
            )
            return False
        if known is None:
            if self._columns.item:
                self._unkeyed[item.item_id] = (place, self._own(row, self._columns.item))
            return True
        changed = [
            column
            for column, head in (("item", self._columns.item), ("proposal", self._columns.proposal))
            if head and column in known.cells and not self._holds(self._own(row, head), known.cells[column])
        ]
        for column in changed:
            hint = "; the answer goes into the column label" if column == "proposal" else ""
            self._reading.refuse(
                "changed-text", f"{place}: {item.item_id}: the cell {column} was edited{hint}"
            )
        return not changed

    def _holds(self, cell: str, digest: str) -> bool:
        """Tell whether a cell still says what it said; an empty one says nothing that could be wrong."""
        return (
            not cell.strip()
            or cell.endswith(spreadsheet.SHORTENED)
            or sha256_text(spreadsheet.level(cell)) == digest
        )

    def _keep(self, one: Filled) -> None:
        before = self._answers.setdefault(one.item.sha256, one)
        if before.text != one.text:
            same = before.item.item_id == one.item.item_id
            about = "" if same else f" (equal bytes: {before.item.item_id})"
            self._reading.refuse(
                "two-answers",
                f"{one.place}: {one.item.item_id} is {shown(one.text)!r} here and {shown(before.text)!r} "
                f"in {before.place.rpartition(': ')[2]}{about}",
            )
        kept = self._reading.filled.get(one.item.item_id)
        if kept is None or (kept.note is None and one.note):
            self._reading.filled[one.item.item_id] = one


def read_folder(
    dataset: Dataset, files: Mapping[str, bytes], stems: Mapping[str, str], place: object
) -> Reading:
    """Return the labels in a folder of ``<item>.txt``, text for text; accept-lists in their one form.

    Args:
        dataset: the dataset that was labelled.
        files: file name → bytes.
        stems: every stem under which an item's file may lie → the item's id.
        place: the folder's name in a reason.
    """
    reading = Reading()
    answers: dict[str, tuple[str, str]] = {}
    for name, data in sorted(files.items()):
        where = f"{place}/{name}"
        item_id = stems.get(name.removesuffix(".txt")) if name.endswith(".txt") else None
        if item_id is None:
            reading.refuse("unknown-item", f"{where}: it is not the file of an item of {dataset.dataset_id}")
            continue
        item = dataset.by_id[item_id]
        if not data:
            reading.refuse("no-label", f"{where}: it is empty")
            continue
        text = data.decode("utf-8", "surrogateescape")
        if any("\udc80" <= char <= "\udcff" for char in text):
            reading.refuse("bad-encoding", f"{where}: it is not UTF-8")
            continue
        fault = malformed(text)
        if fault:
            reading.refuse("bad-label", f"{where}: the accept-list is malformed: {fault}")
            continue
        several = listed(text)
        text = text if several is None else canonical(several)
        if item_id in reading.filled:
            reading.refuse("two-answers", f"{where}: {item_id} has another file here")
        before, given = answers.setdefault(item.sha256, (item_id, text))
        if given != text:
            reading.refuse("two-answers", f"{where}: equal bytes have another answer: {before}")
        reading.filled[item_id] = Filled(item, text, None, where)
    return reading
