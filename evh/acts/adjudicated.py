"""What some label sets say of one dataset, where they differ, and the set that settles it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project import datasets, labels
from evh.records.answers import answers, canonical, shown
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item
    from evh.records.labelset import LabelSet
    from evh.records.sheet_key import KeyRow

AGREED, CHOSEN, NEW = "agreed", "chosen", "new"
_LETTER = re.compile(r"(?P<before>(?:pick )*)(?P<letter>[A-Z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the sets: its manifest, its task (its own, else its dataset's), its labels by the items' sha256.

    Labels are in their one canonical form.
    """

    label_set: LabelSet
    task: str
    texts: Mapping[str, str]

    @property
    def ref(self) -> str:
        """``<dataset>/<set>``."""
        return self.label_set.ref

    @property
    def parent(self) -> dict[str, str]:
        """What a set made of this one records of it."""
        return {"set": self.ref, "labels_sha256": self.label_set.labels_sha256}


@dataclass(frozen=True, slots=True)
class Compared:
    """Some sets over one dataset.

    Attributes:
        differ: the items that two or more of the sets label, not all alike, in the dataset's order; without
            those that are settled.
        agreed: item id → the label of the items that two or more of them label, all alike.
        settled: item id → the set that settles it already.
        alone: how many items only one of the sets labels.
    """

    differ: tuple[Item, ...]
    agreed: Mapping[str, str]
    settled: Mapping[str, str]
    alone: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a filled sheet and the sets that it adjudicates come to.

    Attributes:
        texts: item id → the label's text, in the dataset's order: what was filled, and what was agreed.
        settled: item id → ``agreed``, ``chosen`` (an answer of one of the sets) or ``new`` (another one).
        parents: the sets, each with the digest of its labels.
        task: the sets' task.
        n_open: items on which the sets differ and that nobody settled yet.
        warnings: what a person should know, a sentence each.
    """

    texts: Mapping[str, str]
    settled: Mapping[str, str]
    parents: tuple[Mapping[str, str], ...]
    task: str
    n_open: int
    warnings: tuple[str, ...] = field(default=())

    def counts(self) -> dict[str, int]:
        """Return how many items were ``agreed``, ``chosen`` and ``new``."""
        found = Counter(self.settled.values())
        return {name: found[name] for name in (AGREED, CHOSEN, NEW)}


def sides_of(project: Project, dataset: Dataset, set_refs: Sequence[str]) -> list[Side]:
    """Return the sets to be compared, each read and its digest verified, in the order given.

    Args:
        project: the project.
        dataset: the dataset; a set of another one counts by the bytes of its items.
        set_refs: ``<set>`` of this dataset, or ``<dataset>/<set>``.

    Raises:
        Refusal: fewer than two sets; a set that is not there or was edited; sets of two tasks; a set that
            gives equal bytes two answers.
    """
    named = list(dict.fromkeys(labels.split_ref(ref, dataset_id=dataset.dataset_id) for ref in set_refs))
    if len(named) < 2:
        raise Refusal(
            "two-sets",
            "adjudicating takes two label sets or more",
            why=[f"--sets {','.join(set_refs) or '(none)'}: {plural(len(named), 'set')} named"],
            next=f"evh labels --dataset-id {dataset.dataset_id}",
        )
    sides = [_side(project, *pair) for pair in named]
    tasks: dict[str, list[str]] = {}
    for one in sides:
        tasks.setdefault(one.task, []).append(one.ref)
    if len(tasks) > 1:
        raise Refusal(
            "two-tasks",
            "sets of two tasks are never compared",
            why=[f"{', '.join(refs)}: task {task or '(none)'}" for task, refs in tasks.items()],
            next="adjudicate each task's sets apart",
        )
    return sides


def compare(project: Project, dataset: Dataset, sides: Sequence[Side]) -> Compared:
    """Return where the sets differ on a dataset, and where they agree.

    Items of equal bytes are told once, by the first of them: they share their labels.
    """
    by_sha = labels.settled(labels.read_all(project, []), [one.ref for one in sides])
    differ: list[Item] = []
    agreed: dict[str, str] = {}
    settled: dict[str, str] = {}
    alone = 0
    seen: set[str] = set()
    for item in dataset.items:
        given = [one.texts[item.sha256] for one in sides if item.sha256 in one.texts]
        if len(given) == 1:
            alone += 1
        elif given and len(set(given)) == 1:
            agreed[item.item_id] = given[0]
        elif given and item.sha256 in by_sha:
            settled[item.item_id] = by_sha[item.sha256]
        elif given and item.sha256 not in seen:
            seen.add(item.sha256)
            differ.append(item)
    return Compared(tuple(differ), agreed, settled, alone)


def resolve(row: KeyRow, cell: str) -> str | None:
    """Return the label that a filled cell of a sheet to adjudicate means: a letter's answer, else the cell.

    Args:
        row: the item's row of the key.
        cell: what was typed; the case of a letter and the white space about it do not matter.

    Returns:
        The text, or None where the cell is a letter that the row does not have.
    """
    if not row.letters:
        return cell
    plain = " ".join(cell.split()).casefold()
    for letter, behind in row.letters.items():
        if letter.casefold() == plain:
            return str(behind["text"])
    if any(behind["text"] == cell for behind in row.letters.values()):
        return cell
    found = _LETTER.fullmatch(plain)
    before = next(iter(row.letters))[:-1]
    return None if found and found["before"] == before.casefold() else cell


def contradictions(sides: Sequence[Side], rows: Mapping[str, KeyRow]) -> list[str]:
    """Return where the letters of a key are not what the sets say: the key was edited, or is another's.

    Args:
        sides: the sets that the sheet adjudicates.
        rows: item id → the key's row. One whose letters do not say whose they are counts by its answers.
    """
    made = []
    for item_id, row in rows.items():
        if not row.letters:
            continue
        said = {one.ref: one.texts[row.sha256] for one in sides if row.sha256 in one.texts}
        named: set[str] = set()
        for letter, behind in row.letters.items():
            text = canonical(answers(str(behind["text"])))
            told = behind.get("sets")
            refs = [str(one) for one in told] if isinstance(told, list) else []
            named.update(refs or (ref for ref, one in said.items() if one == text))
            off = [ref for ref in refs if said.get(ref) != text]
            if off:
                made.append(
                    f"{item_id}: the key says that {letter} is {shown(text)!r} of {off[0]}, "
                    + (f"which says {shown(said[off[0]])!r}" if off[0] in said else "which does not label it")
                )
            elif text not in said.values():
                made.append(f"{item_id}: the key says that {letter} is {shown(text)!r}, which no set says")
        made += [f"{item_id}: the key has no letter for what {ref} says" for ref in said if ref not in named]
    return made


def settle(
    project: Project, dataset: Dataset, set_refs: Sequence[str], filled: Mapping[str, str]
) -> Settlement:
    """Return the labels of the set that adjudicates others: what was filled, and what they agree on.

    An item that was filled is ``chosen`` where its label is that of one of the sets, else ``new``; one that
    was not filled and on which the sets agree is ``agreed``. Filling in an agreed answer again leaves it
    agreed. Items that only one set labels are not carried.

    Args:
        project: the project.
        dataset: the dataset.
        set_refs: the sets, as in `sides_of`.
        filled: item id → the label's text.

    Raises:
        Refusal: what `sides_of` refuses.
    """
    sides = sides_of(project, dataset, set_refs)
    found = compare(project, dataset, sides)
    texts: dict[str, str] = {}
    how: dict[str, str] = {}
    for item in dataset.items:
        text, name = filled.get(item.item_id), item.item_id
        if text is None:
            if name in found.agreed:
                texts[name], how[name] = found.agreed[name], AGREED
            continue
        texts[name] = text
        told = canonical(answers(text))
        given = {one.texts[item.sha256] for one in sides if item.sha256 in one.texts}
        how[name] = AGREED if found.agreed.get(name) == told else CHOSEN if told in given else NEW
    done = {item.sha256 for item in dataset.items if item.item_id in filled}
    return Settlement(
        texts=texts,
        settled=how,
        parents=tuple(one.parent for one in sides),
        task=sides[0].task,
        n_open=sum(item.sha256 not in done for item in found.differ),
        warnings=tuple(guidelines_differ([one.label_set for one in sides])),
    )


def choices_of(sides: Sequence[Side]) -> tuple[str, ...]:
    """Return the answers that the sets' sheets allowed, in their order; none where a set allows any."""
    if not all(one.label_set.choices for one in sides):
        return ()
    made = tuple(dict.fromkeys(choice for one in sides for choice in one.label_set.choices))
    return made if _used(sides) <= set(made) else ()


def misspelt(sides: Sequence[Side], filled: Mapping[str, str]) -> dict[str, str]:
    """Return item id → what is wrong with its answer: no set uses it, and one uses it spelt a bit otherwise.

    Only case and white space count: ``Poc`` beside ``poc`` is a slip of the hand and would be a class of its
    own.

    Args:
        sides: the sets that are settled.
        filled: item id → the label's text.
    """
    known = _used(sides) | {choice for one in sides for choice in one.label_set.choices}
    spelt: dict[str, list[str]] = {}
    for answer in sorted(known):
        spelt.setdefault(_plain(answer), []).append(answer)
    made = {}
    for item_id, text in filled.items():
        for answer in answers(text):
            near = spelt.get(_plain(answer), [])
            if near and answer not in known:
                told = " or ".join(repr(shown(one)) for one in near)
                made[item_id] = f"{shown(answer)!r} is no answer of the sets, and they use {told}"
    return made


def _used(sides: Sequence[Side]) -> set[str]:
    return {answer for one in sides for text in set(one.texts.values()) for answer in answers(text)}


def _plain(answer: str) -> str:
    return " ".join(answer.split()).casefold()


def guidelines_differ(sets: Sequence[LabelSet]) -> list[str]:
    """Return the sentence that tells of sets made by different guidelines; none where it is one or none."""
    told: dict[str, list[str]] = {}
    for one in sets:
        digest = str((one.guideline or {}).get("sha256") or "")
        told.setdefault(digest, []).append(one.ref)
    if len(told) < 2:
        return []
    named = "; ".join(
        f"{', '.join(refs)}: {f'sha256 {digest[:12]}' if digest else 'none on record'}"
        for digest, refs in told.items()
    )
    return [f"the sets were made by different guidelines ({named}): they may answer different questions"]


def one_answer_each(label_set: LabelSet, texts: Mapping[str, str]) -> None:
    """Refuse a set that gives equal bytes two different answers: no one can say which is its label.

    Args:
        label_set: the set.
        texts: item id → label text.
    """
    first: dict[str, str] = {}
    reasons = []
    for item_id, text in texts.items():
        sha = label_set.items[item_id].sha256
        other = first.setdefault(sha, item_id)
        if answers(texts[other]) != answers(text):
            reasons.append(f"labels/{label_set.ref}: {other} and {item_id}: equal bytes, different labels")
    if reasons:
        raise Refusal(
            "two-answers",
            f"the label set {label_set.ref} gives equal bytes different labels",
            why=reasons,
            next="make a new set in which equal bytes have one label (evh label-sheet, evh label-import)",
        )


def _side(project: Project, dataset_id: str, name: str) -> Side:
    label_set = labels.read(project, dataset_id, name)
    texts = labels.texts(project, label_set, verify=True)
    one_answer_each(label_set, texts)
    task = label_set.task
    if not task and datasets.exists(project, dataset_id):
        task = datasets.read(project, dataset_id).task
    by_sha = labels.by_sha(label_set, texts)
    return Side(label_set, task, {sha: canonical(answers(text)) for sha, text in by_sha.items()})
