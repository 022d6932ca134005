"""A sheet of items for a person to label in a spreadsheet, and the key that it is read back with."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts.label_selection import decisions, propose, relabelled, select
from evh.acts.label_table import Table, dump, exists, free_head, refuse_suffix
from evh.acts.reference_promote import read_item_ids
from evh.acts.steps import free_sheet
from evh.errors import Refusal
from evh.project import datasets
from evh.records import sheet_key
from evh.records.answers import shown
from evh.records.sheet_key import KeyRow, SheetKey
from evh.store import atomic, mangled, spreadsheet, strict
from evh.store.hashing import sha256, sha256_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evh.acts.label_selection import Decisions, Proposal, Selection
    from evh.project.find import Project
    from evh.records.dataset import Item

HIDE_SHARE = 0.33
"""The share of proposals that stay hidden where nothing else is said: what anchoring is measured by."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A sheet and its key that would be written.

    Attributes:
        sheet_path: where the sheet goes.
        key_path: where its key goes.
        sheet: the sheet's bytes.
        key: the key's bytes; None where the key is there already and makes this same sheet.
        n_rows: items in the sheet.
        n_of: items of the dataset.
        n_random: rows that a random draw over all items chose.
        n_proposed: rows with a proposal.
        n_hidden: of those, the ones whose proposal only the key has.
        n_shortened: rows whose text did not fit a cell.
        relabel_of: the set whose items are labelled again, or None.
    """

    sheet_path: Path
    key_path: Path
    sheet: bytes
    key: bytes | None
    n_rows: int
    n_of: int
    n_random: int
    n_proposed: int
    n_hidden: int
    n_shortened: int
    relabel_of: str | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What a sheet is made of; see the options of ``evh label-sheet``.

    ``hide_share`` None stands for `HIDE_SHARE` where something is proposed.
    """

    items: str | None = None
    runs: tuple[str, ...] = ()
    item_ids: tuple[str, ...] = ()
    items_from: Path | None = None
    sample: int | None = None
    plus_random: int = 0
    seed: int = 0
    propose: str | None = None
    hide_share: float | None = None
    relabel: str | None = None
    choices: tuple[str, ...] = ()
    guideline_path: Path | None = None
    task: str | None = None
    blind: bool = False


def plan(project: Project, dataset_id: str, out: Path, options: Options) -> Plan:
    """Return the sheet of the chosen items, in the dataset's order, and its key.

    Items are those named, those that ``options.items`` describes, or both; without either the unlabelled
    ones. ``plus_random`` draws from all items; the key marks those rows: they stand for the whole dataset.
    ``relabel`` takes items of a person's set for the same person to label again: the sheet is blind to what
    was answered before, and to every decision and proposal.

    Args:
        project: the project.
        dataset_id: the dataset.
        out: the sheet's path, ``.csv`` or ``.xlsx``.
        options: what goes into it.

    Raises:
        Refusal: no item to label; an item, arm or set that is not there; a file that is there already;
            choices that a header cannot hold, or that a spreadsheet shows alike; a set to relabel that no
            person made.
    """
    _refuse_options(out, options)
    dataset = datasets.read(project, dataset_id)
    again = relabelled(project, dataset, options.relabel, options.task) if options.relabel else None
    task = options.task if options.task is not None else again.task if again else dataset.task
    blind = options.blind or again is not None
    asked = decisions(project, dataset_id, options.runs)
    chosen = select(
        project,
        dataset,
        task=task,
        rule=options.items,
        item_ids=_named(options),
        asked=asked,
        sample=options.sample,
        plus_random=options.plus_random,
        seed=options.seed,
        again=again,
    )
    key_path = out.with_suffix(".key.json")
    secret = secret_of(key_path)
    proposals = {}
    if options.propose is not None:
        proposals = propose(
            project,
            dataset,
            options.propose,
            chosen.items,
            hide_share=HIDE_SHARE if options.hide_share is None else options.hide_share,
            secret=secret,
            seed=options.seed,
        )
    texts = datasets.texts(project, dataset, list(chosen.items))
    cells = {key: item_cell(data) for key, data in texts.items()}
    key = SheetKey(
        dataset_id=dataset_id,
        secret=secret,
        rows={
            item.item_id: _key_row(chosen, item, cells[item.item_id], proposals.get(item.item_id))
            for item in chosen.items
        },
        task=task,
        seed=options.seed,
        choices=options.choices,
        selection={**chosen.record, "blind": True} if blind else chosen.record,
        guideline=guideline_of(options.guideline_path),
        relabel_of=again.ref if again else None,
    )
    columns = _columns(chosen.items, [] if blind else asked, proposed=options.propose is not None)
    table = Table(
        tuple(column.head for column in columns),
        [
            _row(item, cells[item.item_id], asked, proposals.get(item.item_id), columns)
            for item in chosen.items
        ],
        options.choices,
        key.guideline,
    )
    return Plan(
        sheet_path=out,
        key_path=key_path,
        sheet=dump(out, table),
        key=new_key(key_path, strict.dump_manifest(sheet_key.dump(key))),
        n_rows=len(chosen.items),
        n_of=len(dataset.items),
        n_random=len(chosen.random),
        n_proposed=len(proposals),
        n_hidden=sum(not one.shown for one in proposals.values()),
        n_shortened=sum(text.endswith(spreadsheet.SHORTENED) for text in cells.values()),
        relabel_of=key.relabel_of,
    )


def item_cell(data: bytes) -> str:
    """Return an item's text as its cell shows it: shortened where it does not fit."""
    return text_cell(data.decode("utf-8", "replace"))


def text_cell(text: str) -> str:
    """Return any text as its cell shows it: shortened where it does not fit."""
    if not text.isascii():
        # The two non-characters that no workbook can hold: a sheet shows them alike in either form.
        text = text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    return spreadsheet.shorten(text)


def commit(plan: Plan) -> None:
    """Write the key, then the sheet."""
    write(plan.sheet_path, plan.sheet, key_path=plan.key_path, key=plan.key)


def write(path: Path, sheet: bytes, *, key_path: Path, key: bytes | None) -> None:
    """Write the key, if it is not there, then the sheet: a sheet that is there has its key.

    Raises:
        Refusal: somebody made one of the files in the meantime.
    """
    try:
        if key is not None:
            atomic.write_new_file(key_path, key)
        atomic.write_new_file(path, sheet)
    except FileExistsError as error:
        raise in_the_way(path) from error


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its head, and what fills it: ``field``, ``arm``, or the head itself."""

    head: str
    kind: str
    name: str


def _columns(chosen: Sequence[Item], asked: Sequence[Decisions], *, proposed: bool) -> list[_Column]:
    names = dict.fromkeys(name for item in chosen for name in item.fields)
    made = [_Column(head, head, "") for head in ("item_id", "item_sha256", "item")]
    made += [_Column(free_head(name), "field", name) for name in names]
    made += [_Column(f"decided: {one.name}", "arm", one.name) for one in asked]
    if proposed:
        made.append(_Column("proposal", "proposal", ""))
    return [*made, *(_Column(head, "", "") for head in ("label", "also right", "note"))]


def _key_row(chosen: Selection, item: Item, text: str, proposal: Proposal | None) -> KeyRow:
    cells = {"item": sha256_text(spreadsheet.level(text))}
    if proposal is None:
        return KeyRow(item.sha256, cells, chosen.slice_of(item))
    cells["proposal"] = sha256_text(spreadsheet.level(_proposal_cell(proposal) or ""))
    recorded = {"text": proposal.text, "shown": proposal.shown}
    return KeyRow(item.sha256, cells, chosen.slice_of(item), recorded)


def _row(
    item: Item,
    text: str,
    asked: Sequence[Decisions],
    proposal: Proposal | None,
    columns: Sequence[_Column],
) -> list[object]:
    decided = {one.name: one.by_item.get(item.item_id) for one in asked}
    own = {
        "item_id": item.item_id,
        "item_sha256": item.sha256,
        "item": text,
        "proposal": _proposal_cell(proposal),
    }
    made: list[object] = []
    for column in columns:
        if column.kind == "field":
            value = item.fields.get(column.name)
            made.append(spreadsheet.shorten(value) if isinstance(value, str) else value)
        elif column.kind == "arm":
            decision = decided[column.name]
            made.append(None if decision is None else spreadsheet.shorten(decision))
        else:
            made.append(own.get(column.kind))
    return made


def _proposal_cell(proposal: Proposal | None) -> str | None:
    return spreadsheet.shorten(shown(proposal.text)) if proposal and proposal.shown else None


def _refuse_options(out: Path, options: Options) -> None:
    reasons = refuse_suffix(out)
    if options.items == "disagree" and len(options.runs) < 2:
        reasons.append("--items disagree: name two arms or more: --runs A,B")
    if options.blind and options.propose is not None:
        reasons.append("--blind: it shows no proposal; --propose with --hide-share 1 keeps them in the key")
    if options.hide_share is not None and options.propose is None:
        reasons.append("--hide-share: there is no proposal to hide without --propose")
    if options.hide_share is not None and not 0 <= options.hide_share <= 1:
        reasons.append(f"--hide-share {options.hide_share}: a share lies between 0 and 1")
    reasons += _refuse_relabel(options)
    if options.plus_random < 0 or (options.sample is not None and options.sample < 1):
        reasons.append("--sample and --plus-random count items")
    reasons += refuse_choices(out, options.choices)
    if reasons:
        raise Refusal("bad-options", "no such sheet can be made", why=reasons, next="evh label-sheet --help")
    if out.exists():
        raise in_the_way(out)


def _named(options: Options) -> tuple[str, ...]:
    """Return the items named one by one and in a file; a file that names none is no wish for the default."""
    if options.items_from is None:
        return options.item_ids
    listed = read_item_ids(options.items_from)
    if not listed:
        raise Refusal(
            "no-items",
            f"{options.items_from} lists no item",
            why=[f"{options.items_from}: it has no line with an item id"],
            next="write one item id a line",
        )
    return (*options.item_ids, *listed)


def _refuse_relabel(options: Options) -> list[str]:
    if options.relabel is None:
        return []
    clashing = {
        "--items": options.items,
        "--propose": options.propose,
        "--plus-random": options.plus_random,
        "--runs": options.runs,
    }
    return [
        f"--relabel takes items of {options.relabel} and shows nothing beside them: without {name}"
        for name, value in clashing.items()
        if value
    ]


def refuse_choices(out: Path, choices: Sequence[str]) -> list[str]:
    """Return why a sheet's header cannot hold these choices, or none of them can be told from another."""
    reasons = [
        f"--choices: {choice!r} cannot stand in a header"
        for choice in choices
        if not choice or choice != choice.strip() or choice.endswith("\\") or "\n" in choice
    ]
    if len(set(choices)) != len(choices):
        reasons.append("--choices: one stands twice")
    if out.suffix.lower() == ".csv":
        for at, choice in enumerate(choices):
            reasons += [
                f"--choices: a spreadsheet shows {choice!r} and {other!r} of a CSV file alike; "
                "in an .xlsx sheet they stay apart"
                for other in mangled.alike(choice, choices[at + 1 :])
            ]
    return reasons


def in_the_way(out: Path) -> Refusal:
    """Return the Refusal for a sheet that is there already, with a name that is free."""
    return exists(out, free_sheet(str(out.with_suffix(""))))


def guideline_of(path: Path | None) -> dict[str, Any] | None:
    """Return a guideline as a key holds it, ``{text, sha256, suffix}``; None where there is none."""
    if path is None:
        return None
    data = strict.read_bytes(path)
    strict.decode(data, path)  # the key holds it as text, so it must be UTF-8
    return {"text": data.decode("utf-8"), "sha256": sha256(data), "suffix": path.suffix or ".txt"}


def _read_key(data: bytes, place: Path) -> SheetKey:
    return sheet_key.parse(strict.parse_object(data, place), place)


def secret_of(key_path: Path) -> str:
    """Return the secret of the key that is there already, so that it makes the same sheet; else a new one."""
    if key_path.exists():
        return sheet_key.parse(strict.read_object(key_path), key_path).secret
    return secrets.token_hex(16)


def new_key(
    key_path: Path,
    data: bytes,
    *,
    option: str = "--out",
    without: str = "a filled sheet is checked less",
) -> bytes | None:
    """Return the key's bytes, or None where they are there; another sheet's key is never replaced.

    A key that an earlier evh wrote, of the same sheet in another form, is as good.
    ``option`` is the one by which the command names the sheet's file; ``without`` says what is lost
    without the key.
    """
    if not key_path.exists():
        return data
    known = strict.read_bytes(key_path)
    if known == data or _read_key(known, key_path) == _read_key(data, key_path):
        return None
    raise Refusal(
        "existing-file",
        f"{key_path} is the key of another sheet",
        why=[f"{key_path}: it does not make this sheet"],
        next=f"choose another {option}; without its key {without}",
    )
