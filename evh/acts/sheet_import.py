"""A sheet that somebody filled in anywhere: its labels become a set, its picks or scores judged runs.

All of it or nothing. With labels and judgements both, the set is written first and the folder of judged runs
last: its rename is the commit point. Where that fails the set is taken away again; after a kill between the
two the same command finds the set as its own and goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.acts import label_import, lost_key, sheet_amiss, sheet_judged, sheet_judgements
from evh.acts.sheet_behind import Behind
from evh.errors import Refusal
from evh.project import datasets, judged, judges, labels
from evh.project.shelf import read_each
from evh.records import sheet_key
from evh.records.labelset import labels_digest
from evh.store import strict
from evh.store.hashing import sha256
from evh.store.names import bad_new_id
from evh.store.text import clean, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from evh.acts.sheet_judged import JudgedRun
    from evh.acts.sheet_judgements import Reading
    from evh.project.find import Project
    from evh.records.labelset import LabelSet
    from evh.records.run import Run
    from evh.records.sheet_key import SheetKey
    from evh.store.spreadsheet import Sheet

KINDS = ("person", "model")
NEEDS = ("item_id", "item", "label", "also right", "note", "pick", "score:")
_NAMED = 5
_KEYS = ("no-key", "edited-key")
_PUT_BACK = "put the key back as it was written with the sheet, or name a copy of it: --key FILE"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for; see the options of ``evh sheet-import``."""

    source: Path
    dataset_id: str
    by: str
    kind: str = "person"
    set_name: str | None = None
    scorer: str | None = None
    key_path: Path | None = None
    guideline_path: Path | None = None
    encoding: str | None = None
    as_typed: bool = False
    no_key: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written.

    Attributes:
        labels: the set, or None where no label is filled in.
        labels_there: the set is in place already, from this very sheet.
        scorer: the name of the judgements; None where there are none.
        judged: the judged runs, one an arm.
        n_judged: rows with a pick or a score.
        n_of: items of the dataset.
        n_empty: item rows without one.
        n_comments: rows that are not items.
        warnings: what a person should know, a sentence each.
    """

    labels: label_import.Plan | None
    labels_there: bool
    scorer: str | None
    judged: tuple[JudgedRun, ...]
    n_judged: int
    n_of: int
    n_empty: int
    n_comments: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """What was written: the set, or None, and the judged runs."""

    labels: LabelSet | None
    judged: tuple[Run, ...]


def plan(project: Project, asked: Asked) -> Plan:
    """Return what a filled sheet becomes.

    Args:
        project: the project.
        asked: the sheet and the names.

    Raises:
        Refusal: everything that is wrong with the rows at once, each with its row; nothing filled; labels
            without a set's name, judgements without a scorer's; a name that is used; a key that is missing,
            was edited or is of another sheet.
    """
    dataset = datasets.read(project, asked.dataset_id)
    data = strict.read_bytes(asked.source)
    sheet = label_import.read_sheet(data, asked.source, asked.encoding, needs=NEEDS)
    key_path = _key_path(asked)
    key_data = strict.read_bytes(key_path) if key_path else b""
    key = sheet_key.parse(strict.parse_object(key_data, key_path), key_path) if key_path else None
    _refuse_names(project, asked)
    if key is not None and key.dataset_id != asked.dataset_id:
        raise Refusal(
            "other-sheet",
            "the sheet is not one of this dataset",
            why=[f"{asked.source}: its key is of a sheet of {key.dataset_id}, not of {asked.dataset_id}"],
            next=f"--dataset-id {key.dataset_id}",
        )
    behind = Behind(project, key)
    reading = sheet_judgements.read(dataset, sheet, key, behind, asked.source)
    if reading.other_key is not None:
        raise _other_key(asked, reading.other_key)
    lost = _lost_key(asked, sheet, key, reading)
    reasons = [*reading.reasons, *lost.reasons, *_amiss(asked, key, reading)]
    if reading.judged and key is not None:
        reasons += sheet_amiss.amiss(key, behind, reading.judged, asked.source)
    problems: list[Refusal] = []
    opened = label_import.Opened(dataset, sheet, sha256(data), key)
    read_labels = _labels_of(project, opened)
    made = read_each([asked] if reading.labelled and asked.set_name else [], read_labels, problems)
    reasons += [(one.code, reason) for one in problems for reason in one.why or (one.what,)]
    if key is not None and reading.labelled and made:
        reasons += _letters(key, made[0], behind, asked)
    ways = {one.code: one.next for one in reversed(problems) if one.next}
    _refuse(asked, reasons, {"edited-key": _PUT_BACK, **ways, **lost.ways})
    label_plan = made[0] if made else None
    there = label_plan is not None and _there(project, label_plan, judging=bool(reading.judged))
    runs: Sequence[JudgedRun] = ()
    if reading.judged and key is not None and asked.scorer is not None:
        filled = sheet_judged.Filled(asked.scorer, asked.by, asked.kind, opened.sha256, sha256(key_data))
        runs = sheet_judged.judged_runs(
            project, dataset, key, behind, judgements=reading.judged, filled=filled
        )
    warnings = [*(label_plan.warnings if label_plan else sheet.warnings), *reading.warnings]
    warnings += _told(key, reading, behind, runs)
    if there:
        warnings.append(f"the set {asked.dataset_id}/{asked.set_name} is there already, made of this sheet")
    return Plan(
        labels=label_plan,
        labels_there=there,
        scorer=asked.scorer if runs else None,
        judged=tuple(runs),
        n_judged=len(reading.judged),
        n_of=len(dataset.items),
        n_empty=reading.n_empty,
        n_comments=reading.n_comments,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def commit(project: Project, plan: Plan) -> Done:
    """Write the set, then the judged runs; see the module for what a crash leaves.

    Raises:
        Refusal: a name was taken in the meantime, or the disk refuses; nothing is left then.
    """
    made: list[LabelSet] = []

    def write_labels() -> Path | None:
        if plan.labels is None or plan.labels_there:
            return None
        made.append(label_import.commit(project, plan.labels))
        return labels.path_of(project, made[0].dataset_id, made[0].set)

    runs: Sequence[Run] = ()
    if plan.judged and plan.scorer is not None:
        pairs = ((one.run, one.rows) for one in plan.judged)
        runs = judged.write_new(project, plan.scorer, pairs, before=write_labels)
    else:
        write_labels()
    return Done(made[0] if made else plan.labels.label_set if plan.labels else None, tuple(runs))


def _key_path(asked: Asked) -> Path | None:
    if asked.key_path is not None or asked.no_key:
        return asked.key_path
    beside = asked.source.with_suffix(".key.json")
    return beside if beside.is_file() else None


def _other_key(asked: Asked, told: str) -> Refusal:
    return Refusal(
        "other-key",
        f"{asked.source} is not the sheet of its key",
        why=[told],
        next="--key FILE: the key that was written with this sheet; or put the columns back as they were",
    )


@dataclass(frozen=True, slots=True)
class _Lost:
    """What is wrong where a sheet has no key: (code, reason), and the way out by the code."""

    reasons: tuple[tuple[str, str], ...] = ()
    ways: Mapping[str, str] = field(default_factory=dict)


def _lost_key(asked: Asked, sheet: Sheet, key: SheetKey | None, reading: Reading) -> _Lost:
    """Refuse a sheet without its key where it is one to judge, or where a key beside it knows its rows."""
    judgements = [*reading.picked, *reading.scored]
    if key is not None or (asked.no_key and not judgements):
        return _Lost()
    heads = lost_key.blind_columns(sheet.header)
    judging = True if judgements or heads else None
    found = lost_key.keys_of(asked.dataset_id, reading.named, asked.source, judging=judging)
    place = asked.source
    if judgements:
        where = "--no-key leaves it out" if asked.no_key else "it is not beside it"
        told = f"{place}: picks and scores mean nothing without the sheet's key, and {where}"
    elif heads:
        told = f"{place}: its columns {', '.join(heads)} are a sheet's to judge, and its key is not here"
    elif found:
        told = f"{place}: no key is beside it by its name, and {found[0]} knows its rows"
    else:
        return _Lost()
    way = lost_key.way_out(place, found, labels_alone=not judgements)
    return _Lost((("no-key", told),), {"no-key": way})


def _labels_of(project: Project, opened: label_import.Opened) -> Callable[[Asked], label_import.Plan]:
    def make(asked: Asked) -> label_import.Plan:
        return label_import.plan(
            project,
            dataset_id=asked.dataset_id,
            source=asked.source,
            name=str(asked.set_name),
            by=asked.by,
            kind=asked.kind,
            key_path=asked.key_path,
            guideline_path=asked.guideline_path,
            encoding=asked.encoding,
            as_typed=asked.as_typed,
            opened=opened,
        )

    return make


def _refuse_names(project: Project, asked: Asked) -> None:
    """Refuse names that cannot be, or that are used: all at once."""
    found: list[tuple[str, str]] = []
    if not asked.by.strip() or clean(asked.by) != asked.by or "\n" in asked.by:
        found.append(("no-name", f"--by {clean(asked.by)!r}: it says who filled in the sheet, on one line"))
    if asked.no_key and asked.key_path is not None:
        found.append(("bad-options", f"--no-key: --key {asked.key_path} is named beside it"))
    if asked.guideline_path is not None and asked.set_name is None:
        found.append(("no-target", "--guideline: it goes with --set: it is what was labelled by"))
    for option, name in (("--set", asked.set_name), ("--scorer", asked.scorer)):
        bad = bad_new_id(name, ()) if name is not None else None
        if bad:
            found.append(("bad-id", f"{option}: {bad}"))
    codes = {code for code, _ in found}
    if asked.scorer is not None and "bad-id" not in codes:
        if judged.exists(project, asked.scorer):
            told = f"data/{judged.folder(asked.scorer)}/ is there already"
            found.append(("existing-scorer", f"--scorer {asked.scorer}: {told}"))
        elif any(one.scorer == asked.scorer for one in judges.read_all(project, [])):
            found.append(
                ("existing-scorer", f"--scorer {asked.scorer}: a judge in data/judges/ has that name")
            )
    if found:
        codes = {code for code, _ in found}
        raise Refusal(
            found[0][0] if len(codes) == 1 else "bad-names",
            "the sheet cannot be imported under these names",
            why=[reason for _, reason in found],
            next="evh sheet-import FILE --dataset-id D --by WHO, with --set S for labels, --scorer S for "
            "picks or scores; a name that is used is never written over",
        )


def _amiss(asked: Asked, key: SheetKey | None, reading: Reading) -> list[tuple[str, str]]:
    """Return what does not go together in the sheet as a whole."""
    place = asked.source
    judgements = [*reading.picked, *reading.scored]
    made: list[tuple[str, str]] = []
    if reading.picked and reading.scored:
        for name, where in (("pick", reading.picked), ("scores", reading.scored)):
            made.append(
                ("both-filled", f"{place}: {name} filled in on {_rows(where)}: fill in one of the two")
            )
    if key is not None and reading.labelled and sheet_key.LABEL not in key.fills:
        made.append(
            ("unknown-cell", f"{place}: label filled in on {_rows(reading.labelled)}: not in the key")
        )
    if judgements and asked.scorer is None:
        made.append(("no-scorer", f"{place}: judged on {_rows(judgements)}: a judgement needs --scorer"))
    if reading.labelled and asked.set_name is None:
        made.append(("no-set", f"{place}: labelled on {_rows(reading.labelled)}: labels need --set"))
    if not judgements and (asked.scorer is not None or not reading.labelled):
        told = "no pick and no score" if asked.scorer is not None else "nothing"
        made.append(
            ("nothing-filled", f"{place}: {told} is filled in ({plural(reading.n_empty, 'empty row')})")
        )
    if asked.set_name is not None and not reading.labelled and (judgements or asked.scorer is None):
        made.append(("nothing-filled", f"{place}: --set {asked.set_name}: no label is filled in"))
    return list(dict.fromkeys(made))


def _rows(places: Sequence[str]) -> str:
    """Return the rows named in places of ``<file>: row <n>: <item>``."""
    numbers = [place.partition(": row ")[2].partition(":")[0] for place in places]
    more = f" and {len(numbers) - _NAMED:,} more" if len(numbers) > _NAMED else ""
    return f"{'row' if len(numbers) == 1 else 'rows'} {', '.join(numbers[:_NAMED])}{more}"


def _letters(
    key: SheetKey, label_plan: label_import.Plan, behind: Behind, asked: Asked
) -> list[tuple[str, str]]:
    """Refuse a letter as a label: it says which column is best, and not what is right for the item.

    Where the letter is one of the choices, or what some arm answered, it is taken at its word.
    """
    made = []
    for item_id, data in label_plan.texts.items():
        row = key.rows.get(item_id)
        text = data.decode("utf-8", "replace")
        if not key.judging or row is None or text not in row.outputs or text in key.choices:
            continue
        said = {(behind.text(one["run"], item_id) or "").strip() for one in row.outputs.values()}
        if text not in said:
            told = f"label {text!r} is a letter of this row; a label says what is right for the item"
            made.append(("letter-as-label", f"{asked.source}: {item_id}: {told}"))
    return made


def _there(project: Project, label_plan: label_import.Plan, *, judging: bool) -> bool:
    """Tell whether the set is there from a try that was killed; another one of that name is refused."""
    made = label_plan.label_set
    if not labels.exists(project, made.dataset_id, made.set):
        return False
    known = labels.read(project, made.dataset_id, made.set)
    digest = labels_digest({name: (made.items[name].sha256, text) for name, text in label_plan.texts.items()})
    same = known.sheet_sha256 == made.sheet_sha256 and known.labels_sha256 == digest
    if not (judging and same and dict(known.source) == dict(made.source)):
        raise labels.already(made.ref)
    return True


def _refuse(asked: Asked, reasons: Sequence[tuple[str, str]], ways: Mapping[str, str]) -> None:
    if not reasons:
        return
    codes = {code for code, _ in reasons}
    told = [ways[code] for code in codes if code in ways and (len(codes) == 1 or code in _KEYS)]
    raise Refusal(
        reasons[0][0] if len(codes) == 1 else "bad-sheet",
        f"{asked.source} cannot be imported",
        why=list(dict.fromkeys(reason for _, reason in reasons)),
        next=told[0] if told else "mend the rows in the sheet and import it again; nothing was written",
    )


def _told(key: SheetKey | None, reading: Reading, behind: Behind, runs: Sequence[JudgedRun]) -> list[str]:
    if key is None or not runs:
        return []
    made = []
    shared = sum(
        bool(one.picked) and sheet_judged.shared_win(behind.answers(key.rows[name], name), one.picked)
        for name, one in reading.judged.items()
    )
    if shared:
        made.append(
            f"on {plural(shared, 'row')} several arms gave the answer picked: they share the win; in a tie "
            "each answer picked has one part, and the arms that gave it share that part"
        )
    left = len(key.rows) - len(reading.judged)
    if left > 0:
        made.append(
            f"{left:,} of the sheet's {plural(len(key.rows), 'row')} not judged: figures are over the rest"
        )
    silent = [
        name for name in key.runs if name not in {one.run.derived["from"] for one in runs if one.run.derived}
    ]
    made += [f"{name}: no score is filled in for it" for name in silent]
    return made
