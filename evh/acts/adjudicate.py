"""A blind sheet of only the items on which label sets differ, their answers under shuffled letters.

The sheet names no set, and its letters stand in another order on every row. The key says which answer each
letter is and whose. `evh.acts.adjudicated` reads the filled sheet back: `resolve` turns a letter into its
answer, `settle` makes the new set's labels of what was filled and what was agreed anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING

from evh.acts.adjudicated import Compared, Side, choices_of, compare, guidelines_differ, sides_of
from evh.acts.label_selection import rank
from evh.acts.label_sheet import (
    in_the_way,
    item_cell,
    new_key,
    refuse_choices,
    secret_of,
    text_cell,
    write,
)
from evh.acts.label_table import Table, dump, free_head, refuse_suffix
from evh.acts.steps import free_sheet
from evh.errors import Refusal
from evh.project import datasets, labels
from evh.records import sheet_key
from evh.records.answers import answers, shown
from evh.records.sheet_key import KeyRow, SheetKey
from evh.store import spreadsheet, strict
from evh.store.hashing import sha256, sha256_text
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.dataset import Item

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """A sheet to adjudicate and its key that would be written.

    Attributes:
        sheet_path: where the sheet goes.
        key_path: where its key goes.
        sheet: the sheet's bytes.
        key: the key's bytes; None where the key is there already and makes this same sheet.
        sets: the sets, as ``<dataset>/<set>``.
        n_rows: items in the sheet: those on which the sets differ.
        n_agreed: items that two or more of the sets label, all alike.
        n_settled: items on which they differ and that an adjudicated set settles already.
        n_alone: items that only one of them labels.
        n_of: items of the dataset.
        n_shortened: rows whose text did not fit a cell.
        warnings: what a person should know, a sentence each.
    """

    sheet_path: Path
    key_path: Path
    sheet: bytes
    key: bytes | None
    sets: tuple[str, ...]
    n_rows: int
    n_agreed: int
    n_settled: int
    n_alone: int
    n_of: int
    n_shortened: int
    warnings: tuple[str, ...]


def plan(project: Project, *, dataset_id: str, set_refs: Sequence[str], out: Path, seed: int = 0) -> Plan:
    """Return the blind sheet of the items on which the sets differ, and its key.

    Sets that say the same of an item share a letter, so nobody sees which answer has the majority. A
    guideline that all of them were made by is in the sheet, and becomes that of the new set; the answers that
    all their sheets were limited to are the choices of this one.

    Args:
        project: the project.
        dataset_id: the dataset; sets of other datasets count by the bytes of their items.
        set_refs: two sets or more, ``<set>`` of this dataset or ``<dataset>/<set>``.
        out: the sheet's path, ``.csv`` or ``.xlsx``.
        seed: of the letters' order; without the key's secret it gives nothing away.

    Raises:
        Refusal: fewer than two sets, sets of two tasks, one that was edited; nothing that differs; a file
            that is there already.
    """
    dataset = datasets.read(project, dataset_id)
    sides = sides_of(project, dataset, set_refs)
    _refuse_out(out)
    if len(sides) > len(ascii_uppercase):
        raise Refusal(
            "too-many-sets",
            "that many sets cannot be told apart by letters",
            why=[f"--sets: {len(sides)} named; there are {len(ascii_uppercase)} letters"],
            next="adjudicate fewer sets at once",
        )
    found = compare(project, dataset, sides)
    if not found.differ:
        raise _nothing(dataset_id, sides, found)
    key_path = out.with_suffix(".key.json")
    secret = secret_of(key_path)
    alphabet = _alphabet(sides)
    guideline = _guideline(project, sides)
    choices = choices_of(sides)
    choices = () if refuse_choices(out, choices) else choices
    texts = datasets.texts(project, dataset, list(found.differ))
    cells = {item_id: item_cell(data) for item_id, data in texts.items()}
    letters = {item.item_id: _letters(item, sides, alphabet, secret, seed) for item in found.differ}
    rows = {
        item.item_id: KeyRow(
            item.sha256,
            {
                head: sha256_text(spreadsheet.level(text))
                for head, text in (
                    ("item", cells[item.item_id]),
                    *((letter, _answer_cell(behind)) for letter, behind in letters[item.item_id].items()),
                )
            },
            letters=letters[item.item_id],
        )
        for item in found.differ
    }
    key = SheetKey(
        dataset_id=dataset_id,
        secret=secret,
        rows=rows,
        task=sides[0].task,
        seed=seed,
        choices=choices,
        selection={"items": "adjudicate", "sets": [one.ref for one in sides]},
        guideline=guideline,
        adjudicates=tuple(one.parent for one in sides),
    )
    return Plan(
        sheet_path=out,
        key_path=key_path,
        sheet=dump(out, _table(found.differ, cells, rows, choices, guideline)),
        key=new_key(
            key_path,
            strict.dump_manifest(sheet_key.dump(key)),
            without="a filled sheet cannot be read back",
        ),
        sets=tuple(one.ref for one in sides),
        n_rows=len(rows),
        n_agreed=len(found.agreed),
        n_settled=len(found.settled),
        n_alone=found.alone,
        n_of=len(dataset.items),
        n_shortened=sum(text.endswith(spreadsheet.SHORTENED) for text in cells.values()),
        warnings=tuple(guidelines_differ([one.label_set for one in sides])),
    )


def commit(plan: Plan) -> None:
    """Write the key, then the sheet: a sheet that is there has its key."""
    write(plan.sheet_path, plan.sheet, key_path=plan.key_path, key=plan.key)


def _alphabet(sides: Sequence[Side]) -> list[str]:
    """Return the letters, none of which is an answer of any set: ``A``, ``B``, …, else ``pick A``, …."""
    known = {
        " ".join(answer.split()).casefold()
        for one in sides
        for text in one.texts.values()
        for answer in answers(text)
    }
    known |= {" ".join(choice.split()).casefold() for one in sides for choice in one.label_set.choices}
    before = ""
    while any(f"{before}{letter}".casefold() in known for letter in ascii_uppercase):
        before += "pick "
    return [f"{before}{letter}" for letter in ascii_uppercase]


def _letters(
    item: Item, sides: Sequence[Side], alphabet: Sequence[str], secret: str, seed: int
) -> dict[str, Mapping[str, object]]:
    """Return letter → ``{text, sets}`` of one row, in an order that only the secret tells."""
    whose: dict[str, list[str]] = {}
    for one in sides:
        if item.sha256 in one.texts:
            whose.setdefault(one.texts[item.sha256], []).append(one.ref)
    # One key for each answer of the row: a row's order says nothing about another's.
    order = sorted(whose, key=lambda text: rank(secret, seed, f"{item.item_id}\n{text}"))
    return {
        letter: {"text": text, "sets": whose[text]} for letter, text in zip(alphabet, order, strict=False)
    }


def _answer_cell(behind: Mapping[str, object]) -> str:
    """Return an answer as its cell shows it."""
    return text_cell(shown(str(behind["text"])))


def _guideline(project: Project, sides: Sequence[Side]) -> dict[str, str] | None:
    """Return the guideline that all sets were made by, as a key holds it; None where there is no such one."""
    first = sides[0].label_set
    digests = {(one.label_set.guideline or {}).get("sha256") for one in sides}
    data = labels.guideline(project, first) if len(digests) == 1 else None
    if data is None or sha256(data) not in digests:
        return None
    text = data.decode("utf-8", "replace")
    if text.encode() != data:
        return None
    suffix = str((first.guideline or {}).get("file")).removeprefix(labels.GUIDELINE)
    return {"text": text, "sha256": sha256(data), "suffix": suffix}


def _table(
    items: Sequence[Item],
    cells: Mapping[str, str],
    rows: Mapping[str, KeyRow],
    choices: tuple[str, ...],
    guideline: Mapping[str, str] | None,
) -> Table:
    fields = list(dict.fromkeys(name for item in items for name in item.fields))
    letters = max((list(row.letters) for row in rows.values()), key=len)
    heads = (
        "item_id",
        "item_sha256",
        "item",
        *(free_head(name, letters) for name in fields),
        *letters,
        "label",
        "also right",
        "note",
    )
    lines: list[list[object]] = []
    for item in items:
        behind = rows[item.item_id].letters
        values = [item.fields.get(name) for name in fields]
        told = [_answer_cell(behind[letter]) if letter in behind else None for letter in letters]
        lines.append(
            [
                item.item_id,
                item.sha256,
                cells[item.item_id],
                *(
                    spreadsheet.shorten(value) if isinstance(value, str) else value
                    for value in (*values, *told)
                ),
                *[None] * 3,
            ]
        )
    return Table(heads, lines, choices, guideline, tuple(letters))


def _refuse_out(out: Path) -> None:
    reasons = refuse_suffix(out)
    if reasons:
        raise Refusal(
            "bad-options",
            "no such sheet can be made",
            why=reasons,
            next=f"--out {free_sheet(str(out.with_suffix('')))}",
        )
    if out.exists():
        raise in_the_way(out)


def _nothing(dataset_id: str, sides: Sequence[Side], found: Compared) -> Refusal:
    named = ", ".join(one.ref for one in sides)
    alike = plural(len(found.agreed), "item")
    why = [f"{named}: {alike} of {dataset_id} labelled alike, {found.alone:,} by one of them alone"]
    why += [
        f"{dataset_id}/{item_id}: settled by {ref}" for item_id, ref in list(found.settled.items())[:_SHOWN]
    ]
    if len(found.settled) > _SHOWN:
        why.append(f"and {len(found.settled) - _SHOWN:,} more that are settled")
    return Refusal(
        "nothing-differs",
        "there is nothing to adjudicate",
        why=why,
        next=f"evh labels --dataset-id {dataset_id}",
    )
