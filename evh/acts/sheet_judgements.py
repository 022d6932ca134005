"""Reading the picks and scores of a filled sheet: every row and cell held against the key."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.project import runs
from evh.project.shelf import read_each
from evh.records.sheet_key import PICK, SCORES
from evh.store import mangled, spreadsheet
from evh.store.hashing import sha256_text
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.run import Run
    from evh.records.sheet_key import KeyRow, SheetKey
    from evh.store.spreadsheet import Row, Sheet

_SCORE = re.compile(r"score:\s*(?P<letter>[a-z])", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d+,\d{3}")
_SHOWN = 60
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
        n_empty: item rows without a pick or a score.
        n_comments: rows whose ``item_id`` starts with ``#``.
        warnings: what a person should know.
    """

    judged: dict[str, Judgement] = field(default_factory=dict)
    reasons: list[tuple[str, str]] = field(default_factory=list)
    labelled: list[str] = field(default_factory=list)
    picked: list[str] = field(default_factory=list)
    scored: list[str] = field(default_factory=list)
    n_empty: int = 0
    n_comments: int = 0
    warnings: list[str] = field(default_factory=list)


class Behind:
    """The runs whose outputs a sheet shows, read when they are first asked for."""

    def __init__(self, project: Project, key: SheetKey | None) -> None:
        self.problems: list[Refusal] = []
        self.runs: dict[str, Run] = {}
        self._texts: dict[str, Mapping[str, str]] = {}
        for name in key.runs if key else ():
            for run in read_each([name], lambda one: runs.read(project, one), self.problems):
                self.runs[name] = run
        self._project = project

    def text(self, run_key: str, item_id: str) -> str | None:
        """Return an arm's output on an item; None where it cannot be read."""
        if run_key not in self._texts:
            run = self.runs.get(run_key)
            found = read_each([run] if run else [], self._read, self.problems)
            self._texts[run_key] = found[0] if found else {}
        return self._texts[run_key].get(item_id)

    def _read(self, run: Run) -> Mapping[str, str]:
        return runs.outputs(self._project, run, runs.predictions(self._project, run))


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
        found = _SCORE.fullmatch(plain)
        if plain in named and (found or plain in {"item_id", "label", "pick"}):
            doubled.add(head)
        named.setdefault(plain, head)
        if found:
            scores.setdefault(found["letter"].upper(), head)
    reading.reasons += [("bad-sheet", f"{place}: there are several columns {one}") for one in sorted(doubled)]
    return _Columns(named.get("item_id"), named.get("label"), named.get("pick"), scores, sheet.header)


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
        self._unknown = 0
        self._reshown = 0
        self._apart = 0

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
        where = f"{place}: {one_line(item_id, _SHOWN)}"
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
        if not (filled["pick"] or filled["score"]):
            self._reading.n_empty += 1
        if self._key is None or not (any(filled.values()) or self._strict):
            return
        known = self._known(raw, item_id, place)
        if known is None:
            return
        item_id, key_row = known
        where = f"{place}: {one_line(item_id, _SHOWN)}"
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
        shown = {head for row in (self._key.rows.values() if self._key else ()) for head in row.cells}
        lacking = [head for head in sorted(shown) if head not in self._columns.header]
        if lacking and self._strict:
            self._reading.warnings.append(
                f"{place}: without the columns {', '.join(lacking)}: whether they were changed is not known"
            )

    def _known(self, raw: str, item_id: str, place: str) -> tuple[str, KeyRow] | None:
        """Return the item and its row of the key, or refuse it."""
        rows = self._key.rows if self._key else {}
        for one in (item_id, raw, spreadsheet.unguard(raw)):
            if one in rows:
                alike = self._alike.of(one) if self._guarded else []
                if alike:
                    names = " or ".join(map(repr, (one, *alike)))
                    self._refuse("mangled-cell", f"{place}: item_id may have been {names}: shown alike")
                    return None
                return one, rows[one]
        self._unknown += 1
        near = mangled.likely(item_id, rows)[:3] if self._unknown <= _COMPARED else []
        if near:
            was = " or ".join(map(repr, near))
            self._refuse("mangled-cell", f"{place}: item_id {one_line(item_id, _SHOWN)!r} was probably {was}")
        else:
            told = f"item_id {one_line(item_id, _SHOWN)!r} is not in the sheet's key"
            self._refuse("unknown-row", f"{place}: {told}")
        return None

    def _rubric(self, row: Row, place: str) -> None:
        head = next((one for one in self._columns.header if one.casefold() == "item"), None)
        if head is None or self._key is None or self._key.rubric is None:
            return
        from evh.acts.label_sheet import text_cell

        was = text_cell(str(self._key.rubric.get("text") or ""))
        if not self._same(row.cells.get(head, ""), sha256_text(spreadsheet.level(was))):
            self._refuse("changed-text", f"{place}: #rubric: it is not the rubric of the sheet's key")

    def _cells(self, row: Row, item_id: str, key_row: KeyRow, where: str) -> None:
        """Refuse every cell whose text is not the one that the key recorded."""
        for head, digest in key_row.cells.items():
            if head not in self._columns.header:
                continue
            cell = row.cells.get(head, "")
            if self._same(cell, digest):
                continue
            if self._shown_otherwise(cell, head, item_id, key_row):
                self._reshown += 1
                continue
            kind = row.typed.get(head)
            told = f"became a {kind}" if kind else "is not the text that the sheet showed"
            self._refuse("changed-text", f"{where}: the cell {head} {told}")
        if self._key is None or not self._key.judging:
            return
        letters = {head for one in self._key.rows.values() for head in one.outputs}
        for head in sorted(letters - set(key_row.outputs)):
            if row.cells.get(head, "").strip():
                self._refuse("unknown-cell", f"{where}: the cell {head} was empty in the sheet")

    def _same(self, cell: str, digest: str) -> bool:
        texts = (cell, spreadsheet.unguard(cell))
        return any(sha256_text(spreadsheet.level(one)) == digest for one in texts)

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
        scores = self._scores(row, key_row, where)
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
        cell, kind = row.cells.get(head, ""), row.typed.get(head)
        parts = [one.upper() for one in spreadsheet.split_bars(cell)]
        strange = [one for one in parts if one not in key_row.outputs]
        if kind or strange or not parts:
            letters = ", ".join(sorted(key_row.outputs)) or "none"
            told = f"is a {kind}" if kind else "is no letter of this row"
            self._refuse("no-letter", f"{where}: pick {one_line(cell, _SHOWN)!r} {told}: {letters}")
            return None
        return tuple(sorted(set(parts)))

    def _scores(self, row: Row, key_row: KeyRow, where: str) -> dict[str, float] | None:
        """Return letter → score; None: refused."""
        made: dict[str, float] = {}
        fine = True
        for letter, head in self._columns.scores.items():
            if not _has(row, head):
                continue
            cell = row.cells.get(head, "").strip()
            reason = self._off(letter, cell, row.typed.get(head), key_row)
            if reason is None:
                made[letter] = float(cell.replace(",", "."))
            else:
                code, told = reason
                self._refuse(code, f"{where}: score {letter} {one_line(cell, _SHOWN)!r} {told}")
                fine = False
        by_text: dict[str, float] = {}
        self._apart += any(by_text.setdefault(key_row.cells.get(one, one), n) != n for one, n in made.items())
        return made if fine else None

    def _off(self, letter: str, cell: str, kind: str | None, key_row: KeyRow) -> tuple[str, str] | None:
        """Return why a cell is no score, or None."""
        if self._key is None or SCORES not in self._key.fills:
            return "unknown-cell", "is in a sheet that was not made with --fill scores"
        if letter not in key_row.outputs:
            return "no-letter", "is for a letter that this row does not have"
        if kind not in (None, "number") or not _NUMBER.fullmatch(cell):
            return "bad-score", f"is {f'a {kind}' if kind not in (None, 'number') else 'no number'}"
        if _THOUSANDS.fullmatch(cell):
            return "bad-score", "can be read in two ways: with a decimal comma or with thousands"
        if not self._key.scale.holds(float(cell.replace(",", "."))):
            return "off-scale", f"is off the scale {self._key.scale}"
        return None


def _has(row: Row, head: str) -> bool:
    return bool(row.cells.get(head, "").strip()) or head in row.typed
