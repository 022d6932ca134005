"""Another labelling tool's export becomes label sets, one for each annotator.

What was skipped, ignored, rejected, drafted or discarded is no label; it is counted in ``tool.dropped``.
Several labels given at once are not several right answers: which of the two is meant is asked, never guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import equal_bytes
from evh.acts.label_from_capture import Guideline
from evh.acts.label_tools import argilla, doccano, label_studio, prodigy
from evh.acts.look_alike import look_alike
from evh.acts.tool_items import Finder
from evh.errors import Refusal
from evh.project import datasets, labels
from evh.records.answers import answers as read_answers
from evh.records.answers import canonical, listed, malformed, shown
from evh.records.labelset import LabelItem, LabelSet, labels_digest
from evh.records.shape import is_character_text
from evh.store import strict
from evh.store.hashing import sha256, sha256_text
from evh.store.names import ID_LENGTH, check_id
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.acts.equal_bytes import Conflict
    from evh.acts.label_tools.given import Given
    from evh.project.find import Project
    from evh.records.dataset import Dataset

TOOLS = {tool.NAME: tool for tool in (label_studio, doccano, prodigy, argilla)}
SEVERAL = ("any", "together")
UNNAMED = "unnamed"
TWICE, NO_ANSWER = "given twice", "no answer"
_JOINS = ", "


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of an export beside the file; see the options of ``evh label-import``.

    ``several``: what labels given at once mean: ``any`` (each of them is right), ``together`` (one label,
    their names joined), or None (refused). ``question``: the one to read, where the tool asked several.
    ``conflicts``: one of `equal_bytes.CONFLICTS`.
    """

    tool: str
    version: str | None = None
    question: str | None = None
    several: str | None = None
    conflicts: str = equal_bytes.REFUSE


@dataclass(frozen=True, slots=True)
class Made:
    """One annotator's set that would be written.

    Attributes:
        label_set: the manifest.
        texts: item id → the label's bytes.
        conflicts: texts whose items got different answers of the annotator, left unlabelled.
    """

    label_set: LabelSet
    texts: Mapping[str, bytes]
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The sets that would be written.

    Attributes:
        sets: one an annotator, in the order of their names.
        there: sets that this export made already, before a crash stopped it.
        guideline: what is copied into each set, or None.
        question: the question that was read.
        dropped: why → how many of the export's answers are no labels.
        found: how the items were found → how many answers.
        n_of: items of the dataset.
        warnings: what a person should know, a sentence each.
    """

    sets: tuple[Made, ...]
    there: tuple[str, ...]
    guideline: Guideline | None
    question: str
    dropped: Mapping[str, int]
    found: Mapping[str, int]
    n_of: int
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Answer:
    text: str
    place: str
    note: str | None


def plan(
    project: Project,
    *,
    dataset_id: str,
    source: Path,
    name: str,
    by: str,
    asked: Asked,
    guideline_path: Path | None = None,
    task: str | None = None,
) -> Plan:
    """Return the sets that an export becomes.

    An exported task's item is the one its ``item_id`` names, else the one whose bytes are one of its texts.

    Args:
        project: the project.
        dataset_id: the dataset that was labelled.
        source: the export.
        name: each set is ``<name>.<annotator>``.
        by: who imports it: no annotator needs to be known by that name.
        asked: the tool, and how its export is read.
        guideline_path: what was labelled by, or None.
        task: the sets' task; by default the dataset's.

    Raises:
        Refusal: everything that is wrong with the tasks at once, each with its number: an item that is not
            here or whose text differs, two answers of one annotator for one item, several labels at once,
            an answer about a part of an item; several questions and none named; nothing answered; a set
            that is there already.
    """
    check_id(name, "label set")
    if not by.strip():
        raise Refusal("no-name", "an import says who made it", why=["--by is empty"], next="add --by NAME")
    dataset = datasets.read(project, dataset_id)
    data = strict.read_bytes(source)
    fields = {field for item in dataset.items for field in item.fields}
    given = TOOLS[asked.tool].read(data, str(source), question=asked.question, fields=fields)
    question = _question(given, asked.question, source)
    finder = Finder(project, dataset, asked.tool)
    reasons: list[tuple[str, str]] = []
    dropped: dict[str, Counter[str]] = {}
    answers: dict[str, dict[str, _Answer]] = {}
    for one in given:
        if one.question not in (None, question):
            continue
        whose = one.annotator or (UNNAMED if one.dropped is None else "")
        counts = dropped.setdefault(whose, Counter())
        if one.dropped is not None or not (one.answers.get(question) or question in one.unread):
            counts[one.dropped or NO_ANSWER] += 1
            continue
        text = _label(one, question, asked.several, reasons)
        item = finder.find(one, reasons)
        if text is None or item is None:
            continue
        mine = answers.setdefault(whose, {})
        answer = _Answer(text, one.place, one.note)
        before = mine.setdefault(item.item_id, answer)
        if before is not answer:
            counts[TWICE] += 1
            if before.text != text:
                reasons.append(_two(one.place, item.item_id, text, before, whose))
    for whose, mine in answers.items() if asked.conflicts == equal_bytes.REFUSE else ():
        reasons += _equal_bytes(dataset, mine, whose)
    _refuse(reasons, answers, source)
    nobody = dropped.pop("", Counter())
    digest = sha256(data)
    names = _names(name, answers)
    made = []
    for whose in sorted(answers):
        tool = {
            "name": asked.tool,
            "version": asked.version,
            "export_sha256": digest,
            "question": question,
            "dropped": dict(sorted((dropped.get(whose, Counter()) + nobody).items())),
        }
        one_set = _made(project, dataset, names[whose], whose, answers[whose], by, task, tool)
        if not one_set.texts:
            told = f"{source}: {whose}: every item's bytes got different answers: no label is left"
            reasons.append(("nothing-filled", told))
        made.append(one_set)
    _refuse(reasons, answers, source)
    there = _there(project, made)
    texts = (one.text for mine in answers.values() for one in mine.values())
    alike = look_alike((one for text in set(texts) for one in read_answers(text)), source)
    total = sum(dropped.values(), nobody)
    return Plan(
        sets=tuple(one for one in made if one.label_set.ref not in there),
        there=tuple(there),
        guideline=_guideline(guideline_path),
        question=question,
        dropped=dict(sorted(total.items())),
        found=dict(finder.found),
        n_of=len(dataset.items),
        warnings=(*_warnings(source, asked, total, finder, answers, there), *_left_out(made), *alike),
    )


def commit(project: Project, plan: Plan) -> list[LabelSet]:
    """Write each set, whole; return them as written. After a crash the same command makes the rest."""
    guideline = (plan.guideline.suffix, plan.guideline.data) if plan.guideline else None
    return [labels.write_new(project, one.label_set, one.texts, guideline=guideline) for one in plan.sets]


def _question(given: Sequence[Given], asked: str | None, source: Path) -> str:
    """Return the question to read: the one asked for, else the only one."""
    found = dict.fromkeys(name for one in given for name in (*one.answers, *one.unread))
    if asked is not None and asked in found:
        return asked
    if asked is None and len(found) == 1:
        return next(iter(found))
    if not found:
        raise Refusal(
            "nothing-filled",
            f"{source} holds no answer",
            why=[f"{source}: {plural(len(given), 'task')}, none of them answered"],
        )
    named = ", ".join(list(found)[:20])
    what = (
        f"it has no question {asked!r}" if asked is not None else "which of its columns was asked is not told"
    )
    raise Refusal(
        "which-question",
        f"{source} holds answers to several questions" if asked is None else f"{source} does not ask that",
        why=[f"{source}: {what}: {named}"],
        next=f"--question {next(iter(found))}: one question is one label set",
    )


def _label(one: Given, question: str, several: str | None, reasons: list[tuple[str, str]]) -> str | None:
    """Return the label's text of an answer, or None with the reason noted."""
    if question in one.unread:
        reasons.append(
            (
                "not-a-label",
                f"{one.place}: {question} is answered by {one.unread[question]}: no label of the item",
            )
        )
        return None
    values = list(dict.fromkeys(one.answers[question]))
    for value in values:
        fault = "it is blank" if not value.strip() else malformed(value)
        if not is_character_text(value):
            fault = "it holds half a character (a lone surrogate), which no file can"
        if fault:
            reasons.append(("bad-label", f"{one.place}: {question}: {value[:80]!r}: {fault}"))
            return None
    if len(values) == 1:
        return canonical(listed(values[0]) or values)
    if several == "any":
        return canonical(values)
    told = (
        f"{one.place}: {question}: {plural(len(values), 'label')} at once: {', '.join(map(repr, values[:5]))}"
    )
    if several is None:
        reasons.append(("several-labels", told))
    elif any(_JOINS.strip() in value for value in values):
        reasons.append(
            ("several-labels", f"{told}: one holds a comma, so joined they could not be told apart")
        )
    else:
        return _JOINS.join(sorted(values))
    return None


def _two(place: str, item_id: str, text: str, before: _Answer, whose: str) -> tuple[str, str]:
    return (
        "two-answers",
        f"{place}: {item_id}: {whose} says {shown(text)!r} here and {shown(before.text)!r} in {before.place}",
    )


def _equal_bytes(dataset: Dataset, mine: Mapping[str, _Answer], whose: str) -> list[tuple[str, str]]:
    """Return the reasons of items with equal bytes that one annotator answered differently."""
    first: dict[str, tuple[str, _Answer]] = {}
    reasons = []
    for item_id, answer in mine.items():
        before_id, before = first.setdefault(dataset.by_id[item_id].sha256, (item_id, answer))
        if before.text != answer.text:
            reasons.append(
                _two(answer.place, f"{item_id} (equal bytes: {before_id})", answer.text, before, whose)
            )
    return reasons


def _refuse(
    reasons: Sequence[tuple[str, str]], answers: Mapping[str, Mapping[str, _Answer]], source: Path
) -> None:
    if not reasons and not answers:
        reasons = [("nothing-filled", f"{source}: it holds no answer that is a label")]
    if not reasons:
        return
    codes = {code for code, _ in reasons}
    following = "mend the tasks in the tool and export again; nothing was written"
    if codes == {"several-labels"}:
        following = (
            "say what several labels at once mean: --several any (each of them is right), "
            "or --several together (one label, their names joined)"
        )
    elif codes == {"unknown-item"}:
        following = (
            "give each task its item_id in the tool's data or meta, or import into the dataset it shows"
        )
    if any("equal bytes" in reason for _, reason in reasons):
        following += equal_bytes.WAY_OUT
    raise Refusal(
        codes.pop() if len(codes) == 1 else "bad-export",
        f"{source} cannot become label sets",
        why=[reason for _, reason in reasons],
        next=following,
    )


def _made(  # noqa: PLR0917 - one record's parts
    project: Project,
    dataset: Dataset,
    name: str,
    whose: str,
    mine: Mapping[str, _Answer],
    by: str,
    task: str | None,
    tool: Mapping[str, object],
) -> Made:
    given: dict[str, set[str]] = {}
    for item_id, answer in mine.items():
        given.setdefault(dataset.by_id[item_id].sha256, set()).add(answer.text)
    differing = {sha: texts for sha, texts in given.items() if len(texts) > 1}
    conflicts = equal_bytes.listed(dataset, differing)
    ids = [one.item_id for one in dataset.items if one.item_id in mine and one.sha256 not in differing]
    label_set = LabelSet(
        dataset_id=dataset.dataset_id,
        set=check_id(name, "label set"),
        source={"kind": "person", "by": whose},
        items={item_id: LabelItem(dataset.by_id[item_id].sha256, note=mine[item_id].note) for item_id in ids},
        labels_sha256="",
        task=dataset.task if task is None else task,
        created_at=project.stamp(),
        n_items=len(ids),
        imported_by=by,
        tool=tool,
        conflicts=equal_bytes.recorded(conflicts),
    )
    return Made(label_set, {item_id: mine[item_id].text.encode() for item_id in ids}, conflicts)


def _names(name: str, annotators: Mapping[str, object]) -> dict[str, str]:
    """Return each annotator's set: ``<name>.<annotator>``, what no id may hold replaced by ``-``."""
    made: dict[str, str] = {}
    taken: set[str] = set()
    for whose in sorted(annotators):
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", whose).strip("-.") or sha256_text(whose)[:8]
        full = f"{name}.{plain}"
        if len(full) > ID_LENGTH or full.casefold() in taken:
            full = f"{full[: ID_LENGTH - 9]}-{sha256_text(whose)[:8]}"
        taken.add(full.casefold())
        made[whose] = full
    return made


def _there(project: Project, made: Sequence[Made]) -> list[str]:
    """Return the sets that this same export made already; refuse where all are there, or one is another's."""
    there, reasons = [], []
    for one in made:
        label_set = one.label_set
        if not labels.exists(project, label_set.dataset_id, label_set.set):
            continue
        known = labels.read(project, label_set.dataset_id, label_set.set)
        rows = {key: (label_set.items[key].sha256, text) for key, text in one.texts.items()}
        same = (known.tool or {}).get("export_sha256") == (label_set.tool or {}).get("export_sha256")
        if same and known.labels_sha256 == labels_digest(rows):
            there.append(label_set.ref)
        else:
            reasons.append(f"labels/{label_set.ref}: a label set is one pass by one source, never edited")
    if reasons or len(there) == len(made):
        reasons += [f"labels/{ref}: it was made from this export" for ref in there]
        raise Refusal(
            "existing-set",
            "there are such label sets already",
            why=reasons,
            next="choose another name with --set; a correction is a new set",
        )
    return there


def _left_out(made: Sequence[Made]) -> list[str]:
    return [
        f"{one.label_set.ref}: {plural(len(one.conflicts), 'text')} of equal bytes got different answers: "
        "left unlabelled"
        for one in made
        if one.conflicts
    ]


def _guideline(path: Path | None) -> Guideline | None:
    return None if path is None else Guideline(path.suffix or ".txt", strict.read_bytes(path))


def _warnings(  # noqa: PLR0917 - what is told of
    source: Path,
    asked: Asked,
    dropped: Mapping[str, int],
    finder: Finder,
    answers: Mapping[str, object],
    there: Sequence[str],
) -> list[str]:
    told = []
    if dropped:
        counts = ", ".join(f"{count:,} {why}" for why, count in sorted(dropped.items()))
        told.append(f"{source}: no labels: {counts}")
    told.append(f"items found: {', '.join(f'{count:,} by {how}' for how, count in finder.found.items())}")
    if asked.version is None:
        told.append(f"the export does not say which {asked.tool} made it: --tool-version records it")
    if UNNAMED in answers:
        told.append(f"{source}: some tasks do not say who answered: their set is of {UNNAMED!r}")
    if asked.tool == doccano.NAME:
        told.append("doccano does not write who labelled: the names are those of the files")
    told += [f"{ref} is there already, from this same export: passed over" for ref in there]
    return told
