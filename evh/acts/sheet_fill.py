"""A sheet to fill in anywhere: empty columns for labels, picks or scores, and the key it is read back with.

With picks or scores the arms are blind: letters, shuffled row by row, and nothing else of any arm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from evh.acts import label_sheet, sheet_blind, sheet_csv, sheet_xlsx
from evh.acts.label_table import free_head, label_head
from evh.acts.sheet_blind import Shown, digest_of
from evh.acts.sheet_table import output_head, table
from evh.errors import Refusal
from evh.project import datasets
from evh.records import sheet_key
from evh.records.judge import Scale
from evh.records.sheet_key import LABEL, PICK, SCORES, KeyRow, SheetKey
from evh.store import atomic, spreadsheet
from evh.store.hashing import sha256_text
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.acts.sheet_model import Row, Sheet
    from evh.project.find import Project
    from evh.records.dataset import Dataset

RUBRIC_ROW, HOW_ROW = "#rubric", "#how"
"""What stands in ``item_id`` of the rows that say what to judge by, and how to fill in."""
LABEL_HEADS = ("label", "also right", "note")
_COLUMNS = "Each of the columns A, B and so on is one answer to the item."
_HOW = {
    LABEL: "Write what is right for the item into the column label; what is right too goes into also right, "
    "with | between several; note is for anything else.",
    PICK: f"{_COLUMNS} Write the letter of the best one into the column pick; where several are equally "
    "good, write them with | between: A|B.",
    SCORES: f"{_COLUMNS} Write a number from {{low:g}} (worst) to {{high:g}} (best) into the column score: A "
    "for the answer A, and so on.",
}
_EITHER = "Fill in either pick or the scores, not both. A row left empty is not judged."


@dataclass(frozen=True, slots=True)
class Options:
    """What can be filled in, and how; see the options of ``evh inspect --sheet --fill``.

    ``filters`` are the options that chose the rows, as they were written: the label set records them.
    """

    fills: tuple[str, ...]
    rubric_path: Path | None = None
    scale: Scale = field(default_factory=Scale)
    seed: int = 0
    choices: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()

    @property
    def judging(self) -> bool:
        """Whether picks or scores can be filled in: then the arms are blind."""
        return PICK in self.fills or SCORES in self.fills


@dataclass(frozen=True, slots=True)
class Plan:
    """A sheet and its key that would be written.

    Attributes:
        sheet_path: where the sheet goes.
        key_path: where its key goes.
        sheet: the sheet's bytes.
        key: the key's bytes; None where the key is there already and makes this same sheet.
        fills: what can be filled in.
        n_rows: items in the sheet.
        n_shortened: cells whose text did not fit.
        notes: what a person should know, a sentence each.
    """

    sheet_path: Path
    key_path: Path
    sheet: bytes
    key: bytes | None
    fills: tuple[str, ...]
    n_rows: int
    n_shortened: int
    notes: tuple[str, ...]


def plan(
    project: Project, sheet: Sheet, out: Path, options: Options, *, dataset: Dataset | None = None
) -> Plan:
    """Return a sheet to fill in and its key. The same key file makes the same sheet.

    A sheet to label alone is the whole sheet with the items' texts in full and three columns more. One to
    judge holds the items, in the dataset's order, and the arms' outputs under letters.

    Args:
        project: the project.
        sheet: the sheet, with its outputs.
        out: where it goes; a workbook where the name ends in ``.xlsx``, else CSV.
        options: what can be filled in.
        dataset: the sheet's dataset, where the caller has read it already.

    Raises:
        Refusal: options that do not go together; no row; arms that cannot be told apart by letters; a file
            that is there already, or the key of another sheet.
    """
    sheet_csv.plan_write(project, out)
    dataset = datasets.read(project, sheet.dataset_id) if dataset is None else dataset
    rows = _rows(dataset, sheet, options) if options.judging else list(sheet.rows)
    _refuse(sheet, rows, out, options)
    key_path = out.with_suffix(".key.json")
    secret = label_sheet.secret_of(key_path)
    known = dataset.by_id
    items = {
        item_id: label_sheet.item_cell(data)
        for item_id, data in datasets.texts(project, dataset, [known[row.item_id] for row in rows]).items()
    }
    blind = rows if options.judging else []
    letters = {row.item_id: sheet_blind.letters_of(row, secret, options.seed) for row in blind}
    given = label_sheet.guideline_of(options.rubric_path)
    how = how_to(options)
    rubric = given or {"text": how, "sha256": sha256_text(how)}
    left_out = sheet_blind.telling_fields(sheet) if options.judging else []
    made = _Cells(sheet, rows, items, letters, options, left_out=left_out)
    heads, lines = made.blind() if options.judging else made.whole()
    first = [[RUBRIC_ROW, rubric["text"]], *([[HOW_ROW, how]] if given else [])]
    told = [_comment(heads, name, label_sheet.text_cell(text)) for name, text in first]
    key = SheetKey(
        dataset_id=sheet.dataset_id,
        secret=secret,
        rows={},
        task=dataset.task,
        seed=options.seed,
        choices=options.choices,
        selection=_selection(sheet, options),
        guideline=given if LABEL in options.fills else None,
        fills=options.fills,
        runs=tuple(arm.run.key for arm in sheet.arms),
        rubric={"text": rubric["text"], "sha256": rubric["sha256"]},
        scale=options.scale,
    )
    key_rows = ((row.item_id, made.key_row(row)) for row in sorted(rows, key=lambda row: row.item_id))
    cells = (cell for line in lines for cell in line if isinstance(cell, str))
    return Plan(
        sheet_path=out,
        key_path=key_path,
        sheet=_dump(out, heads, [*told, *lines], options),
        key=label_sheet.new_key(
            key_path,
            sheet_key.encode(key, key_rows),
            option="--xlsx" if out.suffix.lower() == sheet_xlsx.SUFFIX else "--csv",
        ),
        fills=options.fills,
        n_rows=len(rows),
        n_shortened=sum(cell.endswith(spreadsheet.SHORTENED) for cell in cells),
        notes=tuple(_notes(sheet, rows, letters, options, left_out=left_out)),
    )


def commit(plan: Plan) -> None:
    """Write the key, then the sheet: a sheet that is there has its key.

    Raises:
        Refusal: somebody made one of the files in the meantime, or the disk refuses.
    """
    if plan.key is None:
        sheet_csv.write(plan.sheet_path, plan.sheet)
        return
    sheet_csv.write(plan.key_path, plan.key)
    with atomic.removed_unless(plan.sheet_path, plan.key_path):
        sheet_csv.write(plan.sheet_path, plan.sheet)


def how_to(options: Options) -> str:
    """Return how a sheet is filled in, in plain words: what stands in it where no rubric is given."""
    told = [_HOW[one].format(low=options.scale.low, high=options.scale.high) for one in options.fills]
    return "\n".join([*told, *([_EITHER] if PICK in options.fills and SCORES in options.fills else [])])


class _Cells:
    """The cells of a sheet to fill in, and what its key keeps of them."""

    def __init__(
        self,
        sheet: Sheet,
        rows: Sequence[Row],
        items: Mapping[str, str],
        letters: Mapping[str, Mapping[str, Shown]],
        options: Options,
        *,
        left_out: Sequence[str],
    ) -> None:
        self._left_out = left_out
        self._sheet, self._rows, self._items = sheet, rows, items
        self._letters, self._options = letters, options
        most = max((len(one) for one in letters.values()), default=0)
        self._alphabet = ascii_uppercase[:most]

    def blind(self) -> tuple[list[str], list[list[object]]]:
        """Return the heads and rows of a sheet to judge: the item, its fields, the letters, what is empty."""
        scores = [f"score: {letter}" for letter in self._alphabet] if SCORES in self._options.fills else []
        empty = [*(["pick"] if PICK in self._options.fills else []), *scores]
        empty += LABEL_HEADS if LABEL in self._options.fills else ()
        fields = [name for name in self._sheet.fields if name not in self._left_out]
        reserved = [*self._alphabet, *empty]
        heads = ["item_id", "item", *(free_head(name, reserved) for name in fields), *self._alphabet, *empty]
        lines: list[list[object]] = []
        for row in self._rows:
            shown = self._letters[row.item_id]
            values = [row.fields.get(name) for name in fields]
            line: list[object] = [row.item_id, self._items[row.item_id]]
            line += [label_sheet.text_cell(one) if isinstance(one, str) else one for one in values]
            line += [shown[letter].cell if letter in shown else None for letter in self._alphabet]
            lines.append([*line, *(None for _ in empty)])
        return heads, lines

    def whole(self) -> tuple[list[str], list[list[object]]]:
        """Return the heads and rows of the whole sheet, the items in full, with the columns to label."""
        made = table(self._sheet)
        heads = [*made.heads, *LABEL_HEADS]
        empty = (None,) * len(LABEL_HEADS)
        lines = [
            [row.item_id, row.sha256, self._items[row.item_id], *cells[3:], *empty]
            for row, cells in zip(self._rows, made.rows, strict=True)
        ]
        return heads, [*lines, *([*cells, *empty] for cells in made.footer)]

    def key_row(self, row: Row) -> KeyRow:
        """Return what the key keeps of a row: each text's digest, and whose output each column shows."""
        arms = self._sheet.arms
        if self._options.judging:
            shown = dict(self._letters[row.item_id])
        else:
            shown = {
                output_head(arms[at].name): Shown(at, label_sheet.text_cell(text), digest_of(text))
                for at, text in sheet_blind.answered(row).items()
            }
        cells = {"item": self._items[row.item_id]} | {head: one.cell for head, one in shown.items()}
        return KeyRow(
            row.sha256,
            {head: spreadsheet.cell_digest(text) for head, text in cells.items()},
            outputs={
                head: {"run": arms[one.at].run.key, "sha256": one.sha256} for head, one in shown.items()
            },
        )


def _rows(dataset: Dataset, sheet: Sheet, options: Options) -> list[Row]:
    """Return the rows to judge in the dataset's order: the sheet's own tells where production was wrong."""
    order = {item.item_id: at for at, item in enumerate(dataset.items)}
    least = 0 if LABEL in options.fills else 1 if SCORES in options.fills else 2
    kept = [row for row in sheet.rows if len(sheet_blind.answered(row)) >= least]
    return sorted(kept, key=lambda row: order[row.item_id])


def _refuse(sheet: Sheet, rows: Sequence[Row], out: Path, options: Options) -> None:
    reasons = []
    for option, value, needed in (
        ("--choices", options.choices, LABEL),
        ("--scale", options.scale != Scale(), SCORES),
    ):
        if value and needed not in options.fills:
            reasons.append(f"{option}: it is for --fill {needed}")
    if not options.scale.low < options.scale.high:
        reasons.append(f"--scale {options.scale}: its first end is not below the second")
    reasons += label_sheet.refuse_choices(out, options.choices)
    if options.judging:
        keys = [arm.run.key for arm in sheet.arms]
        reasons += [f"--runs: {key} is named twice" for key in sorted({k for k in keys if keys.count(k) > 1})]
        least = 1 if SCORES in options.fills else 2
        if len(keys) < least:
            reasons.append(f"--runs: judging takes {plural(least, 'arm')} at least; {len(keys)} here")
        if len(keys) > len(ascii_uppercase):
            reasons.append(f"--runs: there are {len(ascii_uppercase)} letters for {len(keys)} arms")
    if not rows:
        what = "no row has outputs to judge" if sheet.rows else "no row is left"
        reasons.append(f"{sheet.dataset_id}: {what}")
    if reasons:
        raise Refusal(
            "bad-options",
            "no such sheet can be made",
            why=reasons,
            next="evh inspect --help; evh runs --dataset-id " + sheet.dataset_id,
        )


def _comment(heads: Sequence[str], name: str, text: str) -> list[object]:
    at = list(heads).index("item")
    made: list[object] = [None] * len(heads)
    made[0], made[at] = name, text
    return made


def _selection(sheet: Sheet, options: Options) -> dict[str, Any]:
    made: dict[str, Any] = {"items": "sheet" if options.filters else "all"}
    if options.filters:
        made["filters"] = list(options.filters)
    if sheet.arms:
        made["runs"] = [arm.run.run_id for arm in sheet.arms]
    return {**made, "blind": True} if options.judging else made


def _notes(
    sheet: Sheet,
    rows: Sequence[Row],
    letters: Mapping[str, Mapping[str, Shown]],
    options: Options,
    *,
    left_out: Sequence[str],
) -> list[str]:
    if not options.judging:
        return ["the sheet shows the arms, their scores and the labels: it is not blind"]
    made = []
    if len(rows) < len(sheet.rows):
        n = plural(len(sheet.rows) - len(rows), "row")
        made.append(f"{n} left out: too few arms answered there to judge between them")
    if left_out:
        made.append(f"left out, because they say what one arm answered: {', '.join(left_out)}")
    return [*made, *sheet_blind.notes(sheet, rows, letters)]


def _dump(out: Path, heads: Sequence[str], rows: Sequence[Sequence[object]], options: Options) -> bytes:
    named = [label_head(options.choices, head) for head in heads]
    if out.suffix.lower() == sheet_xlsx.SUFFIX:
        choices = {label_head(options.choices): options.choices} if options.choices else None
        return sheet_xlsx.of_cells(named, rows, wide=ascii_uppercase, choices=choices)
    return spreadsheet.write_rows(named, rows)
