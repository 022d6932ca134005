"""Reading the picks and scores of a filled sheet: every row and cell held against the key."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.acts.filled_judgement import SHOWN, Wrong, picked_letters, score_in
from evh.acts.label_sheet import text_cell
from evh.records.sheet_key import PICK, SCORES
from evh.store import mangled, spreadsheet
from evh.store.hashing import sha256_text
from evh.store.spreadsheet import cell_digest
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.sheet_behind import Behind
    from evh.records.dataset import Dataset
    from evh.records.sheet_key import KeyRow, SheetKey
    from evh.store.spreadsheet import Row, Sheet

_SCORE = re.compile(r"score: ?(?P<letter>[a-z])")
_NAMED = 5
_COMPARED = 20
"""For so many ids that are not in the key it is searched what they were: each is compared to all of them."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was filled in for one item: the letters picked, or a score a letter; and where it stands."""

    item_id: str
    place: str
    picked: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Reading:
    """What a sheet holds beside labels, and each thing that is wrong with it by the code of its refusal.

    Attributes:
        judged: item id → its judgement.
        reasons: (code, reason), in the sheet's order.
        labelled: the item rows with a label, by their place.
        picked, scored: the places of rows with a pick, and with a score.
        named: the items of the rows in which anything is filled in, as the sheet names them.
        n_empty: item rows without a pick or a score.
        n_comments: rows whose ``item_id`` starts with ``#``.
        other_key: why the key is that of another sheet, or None; the reasons about rows are moot then.
        warnings: what a person should know.
    """

    judged: dict[str, Judgement] = field(default_factory=dict)
    reasons: list[tuple[str, str]] = field(default_factory=list)
    labelled: list[str] = field(default_factory=list)
    picked: list[str] = field(default_factory=list)
    scored: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    n_empty: int = 0
    n_comments: int = 0
    other_key: str | None = None
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The sheet's own heads; None where it has none."""

    item_id: str | None
    label: str | None
    pick: str | None
    scores: Mapping[str, str]
    header: tuple[str, ...]


def read(dataset: Dataset, sheet: Sheet, key: SheetKey | None, behind: Behind, place: object) -> Reading:
    """Return what a filled sheet says beside its labels, and what is wrong with it.

    Rows may be sorted otherwise or left out, columns may be added or left out. Nothing is raised: the caller
    refuses with all reasons.

    Args:
        dataset: the dataset.
        sheet: the sheet.
        key: its key; without one nothing is known but which columns are filled.
        behind: the runs that it shows.
        place: the sheet's name in a reason.
    """
    reading = Reading()
    columns = _columns(sheet, reading, place)
    if columns.item_id is None:
        reading.reasons.append(("bad-sheet", f"{place}: there is no column item_id"))
        return reading
    filled = {head for head in (columns.item_id, columns.pick, *columns.scores.values()) if head}
    reading.reasons += spreadsheet.merged_answers(sheet, columns.item_id, filled, place)
    reader = _Reader(dataset, columns, key, behind, reading, guarded=sheet.guarded)
    for row in sheet.rows:
        reader.read(row, f"{place}: row {row.number}")
    reader.finish(place)
    return reading


def _columns(sheet: Sheet, reading: Reading, place: object) -> _Columns:
    named: dict[str, str] = {}
    scores: dict[str, str] = {}
    doubled = set()
    for head in sheet.header:
        plain = " ".join(head.split()).casefold()
        plain = "label" if plain.startswith("label (") else plain
        found = _SCORE.fullmatch(plain) if "".join(head.split()).isascii() else None
        if plain in named and (found or plain in {"item_id", "label", "pick"}):
            doubled.add(head)
        named.setdefault(plain, head)
        if found:
            scores.setdefault(found["letter"].upper(), head)
    reading.reasons += [("bad-sheet", f"{place}: there are several columns {one}") for one in sorted(doubled)]
    return _Columns(named.get("item_id"), named.get("label"), named.get("pick"), scores, sheet.header)


@dataclass(frozen=True, slots=True)
class _Known:
    """An item of the sheet, and its row of the key."""

    item_id: str
    row: KeyRow


class _Reader:
    """Reads rows one by one into a `Reading`."""

    def __init__(
        self,
        dataset: Dataset,
        columns: _Columns,
        key: SheetKey | None,
        behind: Behind,
        reading: Reading,
        *,
        guarded: bool,
    ) -> None:
        self._by_id = dataset.by_id
        self._dataset_id = dataset.dataset_id
        self._columns, self._key, self._behind = columns, key, behind
        self._reading, self._guarded = reading, guarded
        self._strict = key is not None and key.rubric is not None  # made by inspect: every cell is in the key
        self._alike = mangled.Alike(key.rows if key else ())
        rows = key.rows.values() if key else ()
        self._letters = sorted({head for row in rows for head in row.outputs}) if key and key.judging else []
        self._header = frozenset(columns.header)
        self._reshown = 0
        self._apart = 0
        self._rubric_seen = False
        self._sought = 0  # rows that were looked up in the key
        self._strange: list[str] = []  # of these, rows that are not in it
        self._otherwise: list[str] = []  # rows that show its outputs in another order
        self._foreign: list[str] = []  # rows that show none of its outputs

    def _refuse(self, code: str, reason: str) -> None:
        self._reading.reasons.append((code, reason))

    def read(self, row: Row, place: str) -> None:
        """Read one row: what is filled in, or a comment."""
        raw = row.cells.get(self._columns.item_id or "", "")
        item_id = spreadsheet.unguard(raw) if self._guarded else raw
        if item_id.startswith("#") and item_id.strip() not in mangled.ERRORS:
            self._reading.n_comments += 1
            if item_id.strip() == "#rubric":
                self._rubric(row, place)
            return
        where = f"{place}: {one_line(item_id, SHOWN)}"
        columns = self._columns
        filled = {
            "label": columns.label is not None and _has(row, columns.label),
            "pick": columns.pick is not None and _has(row, columns.pick),
            "score": any(_has(row, head) for head in columns.scores.values()),
        }
        for name, places in (
            ("label", self._reading.labelled),
            ("pick", self._reading.picked),
            ("score", self._reading.scored),
        ):
            if filled[name]:
                places.append(where)
        if any(filled.values()):
            self._reading.named.append(item_id)
        if not (filled["pick"] or filled["score"]):
            self._reading.n_empty += 1
        if self._key is None or not (any(filled.values()) or self._strict):
            return
        known = self._known(raw, item_id, place)
        self._sought += 1
        if known is None:
            return
        if known.item_id != item_id:
            item_id = known.item_id
            where = f"{place}: {one_line(item_id, SHOWN)}"
        key_row = known.row
        item = self._by_id.get(item_id)
        if item is None or item.sha256 != key_row.sha256:
            told = "is not there any more" if item is None else "has other bytes than the sheet showed"
            self._refuse("changed-item", f"{where}: the item {told} in {self._dataset_id}")
            return
        self._cells(row, item_id, key_row, where)
        if filled["pick"] or filled["score"]:
            self._judgement(row, item_id, key_row, where)

    def finish(self, place: object) -> None:
        """Tell what was seen over all rows."""
        if self._reshown:
            n = plural(self._reshown, "cell")
            self._reading.warnings.append(
                f"{place}: {n} that a spreadsheet shows otherwise, taken as unchanged"
            )
        if self._apart:
            self._reading.warnings.append(
                f"{place}: on {plural(self._apart, 'row')} equal answers got different scores, kept as given"
            )
        if not self._strict or self._key is None:
            return
        shown = {head for row in self._key.rows.values() for head in row.cells}
        lacking = [head for head in sorted(shown) if head not in self._header]
        if lacking:
            self._reading.warnings.append(
                f"{place}: without the columns {', '.join(lacking)}: whether they were changed is not known"
            )
        if not self._rubric_seen:
            self._reading.warnings.append(
                f"{place}: without the row #rubric: whether it is what was judged by is not known"
            )
        moved = [letter for letter in self._columns.scores if letter in self._letters]
        if moved != sorted(moved):
            heads = ", ".join(self._columns.scores[letter] for letter in moved)
            self._reading.warnings.append(
                f"{place}: the columns {heads} stand in another order than in the sheet as it was made: "
                "where headings were exchanged, the scores go to the wrong answers"
            )
        self._other_key(place)

    def _other_key(self, place: object) -> None:
        """Tell that the key is another sheet's: most rows are not in it, or their outputs are others."""
        for rows, enough, told in (
            (self._strange, 2 * len(self._strange) > self._sought > 1, "are not in the key"),
            (self._otherwise, True, "show the outputs that the key recorded in another order"),
            (self._foreign, 2 * len(self._foreign) > self._sought > 1, "show other outputs than it recorded"),
        ):
            if rows and enough and self._reading.other_key is None:
                more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
                self._reading.other_key = (
                    f"{place}: {plural(len(rows), 'row')} of {self._sought:,} {told} "
                    f"({', '.join(rows[:_NAMED])}{more}): it is the key of another sheet, or the columns of "
                    "outputs were changed"
                )

    def _known(self, raw: str, item_id: str, place: str) -> _Known | None:
        """Return the item and its row of the key, or refuse it."""
        rows = self._key.rows if self._key else {}
        for one in (item_id, raw, spreadsheet.unguard(raw)):
            if one in rows:
                alike = self._alike.of(one) if self._guarded else []
                if alike:
                    names = " or ".join(map(repr, (one, *alike)))
                    self._refuse("mangled-cell", f"{place}: item_id may have been {names}: shown alike")
                    return None
                return _Known(one, rows[one])
        self._strange.append(place.rpartition(": ")[2])
        near = mangled.likely(item_id, rows)[:3] if len(self._strange) <= _COMPARED else []
        if near:
            was = " or ".join(map(repr, near))
            self._refuse("mangled-cell", f"{place}: item_id {one_line(item_id, SHOWN)!r} was probably {was}")
        else:
            told = f"item_id {one_line(item_id, SHOWN)!r} is not in the sheet's key"
            self._refuse("unknown-row", f"{place}: {told}")
        return None

    def _rubric(self, row: Row, place: str) -> None:
        head = next((one for one in self._columns.header if one.casefold() == "item"), None)
        if head is None or self._key is None or self._key.rubric is None:
            return
        self._rubric_seen = True
        was = text_cell(str(self._key.rubric.get("text") or ""))
        if not self._same(row.cells.get(head, ""), cell_digest(was)):
            self._refuse("changed-text", f"{place}: #rubric: it is not the rubric of the sheet's key")

    def _cells(self, row: Row, item_id: str, key_row: KeyRow, where: str) -> None:
        """Refuse every cell whose text is not the one that the key recorded."""
        changed = []
        for head, digest in key_row.cells.items():
            if head not in self._header:
                continue
            cell = row.cells.get(head, "")
            if self._same(cell, digest):
                continue
            if self._shown_otherwise(cell, head, item_id, key_row):
                self._reshown += 1
                continue
            changed.append(head)
            kind = row.typed.get(head)
            told = f"became {spreadsheet.named_kind(kind)}" if kind else "is not the text that it showed"
            self._refuse("changed-text", f"{where}: the cell {head} {told}")
        for head in self._letters:
            if head not in key_row.outputs and row.cells.get(head, "").strip():
                self._refuse("unknown-cell", f"{where}: the cell {head} was empty in the sheet")
        if self._letters:
            self._compare(row, key_row, changed)

    def _compare(self, row: Row, key_row: KeyRow, changed: Sequence[str]) -> None:
        """Note whether the row's outputs are the key's, or those of a row of another sheet."""
        here = [head for head in key_row.outputs if head in self._header]
        wrong = [head for head in here if head in changed]
        if len(wrong) > 1:
            cells = [row.cells.get(head, "") for head in wrong]
            written = (cells, [spreadsheet.unguard(one) for one in cells])
            known = sorted(key_row.cells[head] for head in wrong)
            if any(sorted(map(cell_digest, one)) == known for one in written):
                self._otherwise.append(f"row {row.number}")
        if here and len(wrong) == len(here):
            self._foreign.append(f"row {row.number}")

    def _same(self, cell: str, digest: str) -> bool:
        if cell_digest(cell) == digest:
            return True
        plain = spreadsheet.unguard(cell)
        return plain is not cell and cell_digest(plain) == digest

    def _shown_otherwise(self, cell: str, head: str, item_id: str, key_row: KeyRow) -> bool:
        """Tell whether a cell is what a spreadsheet makes of the output that it held: of ``1.50`` ``1.5``."""
        source = key_row.outputs.get(head)
        was = self._behind.text(source["run"], item_id) if source else None
        if was is None or source is None or sha256_text(was) != source["sha256"]:
            return False
        near = bool(mangled.likely(cell, [was]))
        # An answer in other letters is an edit; only a truth value is shown in capitals.
        folded = cell.strip().casefold() == was.strip().casefold()
        return near and (not folded or cell.strip().casefold() in {"true", "false"})

    def _judgement(self, row: Row, item_id: str, key_row: KeyRow, where: str) -> None:
        picked = self._picked(row, key_row, where)
        scores = self._scores(row, item_id, key_row, where)
        if picked is None or scores is None:
            return
        one = Judgement(item_id, where, picked, scores)
        before = self._reading.judged.setdefault(item_id, one)
        if (before.picked, dict(before.scores)) != (one.picked, dict(one.scores)):
            self._refuse("two-answers", f"{where}: it is filled in otherwise at {before.place}")

    def _picked(self, row: Row, key_row: KeyRow, where: str) -> tuple[str, ...] | None:
        """Return the letters picked, sorted; None: refused."""
        head = self._columns.pick
        if head is None or not _has(row, head):
            return ()
        if self._key is not None and PICK not in self._key.fills:
            self._refuse("unknown-cell", f"{where}: pick: the sheet was not made with --fill pick")
            return None
        made = picked_letters(row.cells.get(head, ""), row.typed.get(head), key_row.outputs)
        if isinstance(made, Wrong):
            self._refuse(made.code, f"{where}: {made.reason}")
            return None
        return made

    def _scores(self, row: Row, item_id: str, key_row: KeyRow, where: str) -> dict[str, float] | None:
        """Return letter → score; None: refused."""
        made: dict[str, float] = {}
        fine = True
        for letter, head in self._columns.scores.items():
            if not _has(row, head):
                continue
            cell = row.cells.get(head, "")
            found = self._score(letter, cell, row.typed.get(head), key_row)
            if isinstance(found, Wrong):
                shown = one_line(cell, SHOWN)
                self._refuse(found.code, f"{where}: score {letter} {shown!r} {found.reason}")
                fine = False
            else:
                made[letter] = found
        if len(set(made.values())) > 1:
            by_answer: dict[str, float] = {}
            self._apart += any(
                by_answer.setdefault(self._behind.answer(key_row.outputs[one], item_id), n) != n
                for one, n in made.items()
            )
        return made if fine else None

    def _score(self, letter: str, cell: str, kind: str | None, key_row: KeyRow) -> float | Wrong:
        if self._key is None or SCORES not in self._key.fills:
            return Wrong("unknown-cell", "is in a sheet that was not made with --fill scores")
        if letter not in key_row.outputs:
            return Wrong("no-letter", "is for a letter that this row does not have")
        return score_in(cell, kind, self._key.scale)


def _has(row: Row, head: str) -> bool:
    return bool(row.cells.get(head, "").strip()) or head in row.typed
