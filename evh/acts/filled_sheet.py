"""Reading a filled label sheet: every row checked against the dataset and the sheet's key."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.acts.adjudicated import resolve
from evh.acts.filled_answer import Rules, read_answers
from evh.acts.filled_rows import cut_off, thinned
from evh.acts.label_sheet import text_cell
from evh.acts.look_alike import look_alike
from evh.project import datasets, labels
from evh.project.shelf import read_each
from evh.records.answers import answers, canonical, shown
from evh.store import mangled, spreadsheet
from evh.store.spreadsheet import GUIDELINE_ROW

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item
    from evh.records.sheet_key import SheetKey
    from evh.store.spreadsheet import Row, Sheet

_COMPARED = 20
_LETTERS = re.compile(r"(?:pick )*[A-Z]")
_DIGITS = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?")
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
        choices: the only answers that the sheet allows, or none for any.
        conflicts: sha256 of bytes → the different answers that items of these bytes got.
        warnings: what a person should know.
    """

    filled: dict[str, Filled] = field(default_factory=dict)
    conflicts: dict[str, set[str]] = field(default_factory=dict)
    reasons: list[tuple[str, str]] = field(default_factory=list)
    n_empty: int = 0
    n_comments: int = 0
    guideline_sha256: str | None = None
    guideline_text: str | None = None
    choices: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)

    @property
    def settled(self) -> dict[str, Filled]:
        """The answers that become labels: those of items whose bytes got no other one."""
        return {key: one for key, one in self.filled.items() if one.item.sha256 not in self.conflicts}

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
    guarded: bool


def read(
    project: Project,
    dataset: Dataset,
    sheet: Sheet,
    key: SheetKey | None,
    place: object,
    *,
    several: bool = False,
    as_typed: bool = False,
) -> Reading:
    """Return what a filled sheet says, and what is wrong with it.

    Rows may be sorted otherwise, left out or added, and so may columns; an item's text is checked where the
    sheet has it. Nothing is raised: the caller refuses with all reasons.

    Args:
        project: the project.
        dataset: the dataset that was labelled.
        sheet: the sheet.
        key: its key, or None.
        place: the sheet's name in a reason.
        several: different answers to items of equal bytes are noted, and no reason to refuse.
        as_typed: labels that look like dates or times are what was typed.
    """
    reading = Reading()
    columns = _columns(sheet, key, reading, place)
    if columns is None:
        return reading
    reader = _Reader(project, dataset, columns, key, reading, several=several, as_typed=as_typed)
    for row in sheet.rows:
        reader.read(row, f"{place}: row {row.number}")
    reader.check_texts()
    answered = {head for head in (columns.item_id, columns.label, columns.also, columns.note) if head}
    reading.reasons += spreadsheet.merged_answers(sheet, columns.item_id, answered, place)
    given = (one for filled in reading.filled.values() for one in answers(filled.text))
    reading.warnings += look_alike(given, place)
    reading.warnings += [
        *sheet.warnings,
        *cut_off(sheet, columns.item_id, key, place),
        *thinned(key, reading.settled, place),
    ]
    if key is None:
        _refuse_letters(sheet, reading)
    return reading


def _refuse_letters(sheet: Sheet, reading: Reading) -> None:
    """Refuse letters of a blind sheet whose key is not here: nobody can say what they stand for."""
    letters = {head for head in sheet.header if _LETTERS.fullmatch(head)}
    found = [one for one in reading.filled.values() if one.text in letters]
    if len(letters) > 1 and found:
        told = f"{found[0].text!r} is a letter of a blind sheet, and its key is not beside it"
        reading.refuse("no-key", f"{found[0].place}: {told}")


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
    reading.choices = tuple(choices)
    return _Columns(
        item_id=by_name["item_id"],
        label=head,
        choices=choices,
        sha256=by_name.get("item_sha256"),
        item=by_name.get("item"),
        also=by_name.get("also right"),
        note=by_name.get("note"),
        proposal=by_name.get("proposal"),
        guarded=sheet.guarded,
    )


class _Reader:
    """Reads rows one by one into a `Reading`."""

    def __init__(
        self,
        project: Project,
        dataset: Dataset,
        columns: _Columns,
        key: SheetKey | None,
        reading: Reading,
        *,
        several: bool,
        as_typed: bool,
    ) -> None:
        self._several = several
        self._project = project
        self._dataset = dataset
        self._columns = columns
        self._key = key
        self._reading = reading
        self._by_id = dataset.by_id
        self._by_sha = dataset.by_sha()
        self._rules = Rules(
            columns.choices,
            not columns.guarded,
            reading.refuse,
            reading.warnings.append,
            as_typed,
            self._moments,
        )
        self._dated: bool | None = None
        self._alike: mangled.Alike | None = None
        self._strange = 0  # ids that are not in the dataset: comparing each to all ids takes long
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
        also_kind = row.typed.get(self._columns.also or "")
        also_cell = self._cell(row, self._columns.also)
        also = (also_cell,) if also_kind else spreadsheet.split_bars(also_cell)
        kind = row.typed.get(self._columns.label)
        if not label.strip() and kind is None:
            self._empty(row, f"{place}: {item_id}", also=bool(also_cell.strip()))
            return
        item = self._item(row, item_id, place)
        where = f"{place}: {item_id}"
        given = [self._answers_of(label, kind, item, where)]
        given += [self._answers_of(one, also_kind, item, where) for one in also]
        if item is None or None in given or not self._unchanged(row, item, place):
            return
        text = canonical(one for answers in given for one in answers or ())
        note = self._cell(row, self._columns.note).strip() or None
        self._keep(Filled(item, text, note, place))

    def _moments(self) -> bool:
        """Tell whether a label set of the dataset holds a date or a time: such labels are given here."""
        if self._dated is None:
            known = labels.read_all(self._project, [])
            mine = [one for one in known if one.dataset_id == self._dataset.dataset_id]
            found = read_each(mine, lambda one: labels.texts(self._project, one), [])
            told = {answer for texts in found for text in texts.values() for answer in answers(text)}
            self._dated = any(map(mangled.moment, told))
        return self._dated

    def _empty(self, row: Row, where: str, *, also: bool) -> None:
        """Count a row without a label, and tell of what stands there all the same."""
        if also:
            self._reading.refuse("no-label", f"{where}: 'also right' is filled and label is not")
        elif self._cell(row, self._columns.note).strip():
            self._reading.warnings.append(f"{where}: a note without a label is not kept")
        self._reading.n_empty += 1

    def _answers_of(self, cell: str, kind: str | None, item: Item | None, where: str) -> list[str] | None:
        """Return the answers in a cell, the letters of a blind sheet resolved; None: refused."""
        known = self._key.rows.get(item.item_id) if self._key and item else None
        if known and known.letters and kind is None:
            meant = resolve(known, cell)
            if meant is None:
                letters = ", ".join(known.letters)
                self._reading.refuse("no-letter", f"{where}: {cell!r} is no letter of this row: {letters}")
                return None
            cell = meant
        return read_answers(cell, kind, where, self._rules)

    def check_texts(self) -> None:
        """Check the text cells of rows that no key vouches for against the items' own bytes."""
        items = [self._by_id[key] for key in self._unkeyed]
        texts = datasets.texts(self._project, self._dataset, items) if items else {}
        for item_id, (place, cell) in self._unkeyed.items():
            if not cell.strip():
                continue
            told = texts[item_id].decode("utf-8", "replace")
            if not any(_shows(one, told) for one in (cell, spreadsheet.unguard(cell))):
                self._reading.refuse(
                    "changed-text", f"{place}: {item_id}: the cell item is not the item's text any more"
                )

    def _cell(self, row: Row, column: str | None) -> str:
        """Return a cell that people fill in: exactly what it holds."""
        return row.cells.get(column, "") if column else ""

    def _own(self, row: Row, column: str | None) -> str:
        """Return what we wrote into a cell of our own: a CSV file's were guarded."""
        cell = self._cell(row, column)
        return spreadsheet.unguard(cell) if self._columns.guarded else cell

    def _item(self, row: Row, item_id: str, place: str) -> Item | None:
        cell = self._cell(row, self._columns.item_id)
        # A CSV file that was saved as a workbook keeps its guards, and a workbook saved as CSV has none.
        found = (
            self._by_id.get(item_id) or self._by_id.get(cell) or self._by_id.get(spreadsheet.unguard(cell))
        )
        told = self._own(row, self._columns.sha256).strip()
        if found is not None:
            alike = [] if told else self._shown_alike(found.item_id)
            if not alike:
                return found
            self._reading.refuse(
                "mangled-cell",
                f"{place}: item_id {item_id!r} may have been {' or '.join(map(repr, [item_id, *alike]))}: "
                "a spreadsheet shows them alike",
            )
            return None
        by_bytes = self._by_sha.get(told, [])
        near = [item.item_id for item in by_bytes]
        if not near:
            self._strange += 1
            near = mangled.likely(item_id, self._by_id)[:3] if self._strange <= _COMPARED else []
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

    def _shown_alike(self, item_id: str) -> list[str]:
        """Return other items' ids that a spreadsheet shows as it shows this one: ``007`` and ``7``."""
        if self._alike is None:
            self._alike = mangled.Alike(self._by_id)
        return self._alike.of(item_id) if _DIGITS.fullmatch(item_id) else []

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
                self._unkeyed[item.item_id] = (place, self._cell(row, self._columns.item))
            return True
        heads = {"item": self._columns.item, "proposal": self._columns.proposal}
        heads |= {letter: letter for letter in known.letters}  # as they are written: they are no field's
        changed = [
            column
            for column, head in heads.items()
            if head and column in known.cells and not self._holds(self._cell(row, head), known.cells[column])
        ]
        for column in changed:
            hint = "" if column == "item" else "; the answer goes into the column label"
            kind = row.typed.get(heads[column] or "")
            told = f"became {spreadsheet.named_kind(kind)}" if kind else "was edited"
            self._reading.refuse("changed-text", f"{place}: {item.item_id}: the cell {column} {told}{hint}")
        return not changed

    def _holds(self, cell: str, digest: str) -> bool:
        """Tell whether a cell still says what it said; an empty one says nothing that could be wrong."""
        texts = (cell, spreadsheet.unguard(cell))
        return not cell.strip() or any(spreadsheet.cell_digest(one) == digest for one in texts)

    def _keep(self, one: Filled) -> None:
        before = self._answers.setdefault(one.item.sha256, one)
        same = before.item.item_id == one.item.item_id
        if before.text != one.text and self._several and not same:
            self._reading.conflicts.setdefault(one.item.sha256, {before.text}).add(one.text)
        elif before.text != one.text:
            about = "" if same else f" (equal bytes: {before.item.item_id})"
            self._reading.refuse(
                "two-answers",
                f"{one.place}: {one.item.item_id} is {shown(one.text)!r} here and {shown(before.text)!r} "
                f"in {before.place.rpartition(': ')[2]}{about}",
            )
        kept = self._reading.filled.get(one.item.item_id)
        if kept is None or (kept.note is None and one.note):
            self._reading.filled[one.item.item_id] = one


def _shows(cell: str, text: str) -> bool:
    """Tell whether a cell shows an item's text: whole, or where it ends in the mark as much as it holds."""
    if spreadsheet.same_text(cell, text_cell(text)):
        return True
    begun = spreadsheet.level(cell.removesuffix(spreadsheet.SHORTENED))
    return begun != spreadsheet.level(cell) and bool(begun) and spreadsheet.level(text).startswith(begun)
