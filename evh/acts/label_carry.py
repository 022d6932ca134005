"""Labels across a scrub: a set of the old bytes becomes a set of the scrubbed ones, and names its parent.

What a person wrote beside a label, and what was proposed, was written about the text before the scrub:
neither is carried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.label_from_capture import Guideline
from evh.errors import Refusal
from evh.project import datasets, labels
from evh.records.answers import same_answers, shown
from evh.records.labelset import LabelItem, LabelSet
from evh.store import strict
from evh.store.hashing import is_sha256, sha256
from evh.store.names import check_id
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.dataset import Dataset

KEY = "carried"
"""The key of ``labels.json`` that says so: ``{map_sha256, n_changed, n_same, n_not_here}``."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The set that would be written.

    Attributes:
        label_set: the manifest.
        texts: item id → the label's bytes.
        guideline: the parent's, copied, or None.
        parent: the set that the labels come from, ``<dataset>/<set>``.
        n_changed: labels that crossed to other bytes.
        n_same: labels of bytes that the scrub left as they were.
        n_not_here: labels of the parent whose bytes, scrubbed, no item of the dataset has.
        n_in_conflict: items left unlabelled because two texts became one and were labelled differently.
        n_of: items of the dataset.
        warnings: what a person should know, a sentence each.
    """

    label_set: LabelSet
    texts: Mapping[str, bytes]
    guideline: Guideline | None
    parent: str
    n_changed: int
    n_same: int
    n_not_here: int
    n_in_conflict: int
    n_of: int
    warnings: tuple[str, ...]


def plan(project: Project, *, dataset_id: str, set_ref: str, map_path: Path, name: str) -> Plan:
    """Return the set that labels become on the other side of a scrub.

    Args:
        project: the project.
        dataset_id: the dataset of the scrubbed items; it gets the new set.
        set_ref: the labelled set: ``<dataset>/<set>``, or a set of the same dataset.
        map_path: ``scrub-map.jsonl`` of the scrubbed capture.
        name: the new set's name.

    Raises:
        Refusal: no such set, one that was edited, a map that is none or names one hash twice; two texts that
            became one and that a person labelled differently; nothing to carry; an existing name.
    """
    check_id(name, "label set")
    dataset = datasets.read(project, dataset_id)
    if labels.exists(project, dataset_id, name):
        raise labels.already(f"{dataset_id}/{name}")
    parent = labels.read(project, *labels.split_ref(set_ref, dataset_id=dataset_id))
    texts = labels.texts(project, parent, verify=True)
    leads, map_sha256 = _read_map(map_path)
    crossed: dict[str, dict[str, str]] = {}
    changed: set[str] = set()
    for old, text in labels.by_sha(parent, texts).items():
        new = leads.get(old, old)
        crossed.setdefault(new, {})[old] = text
        if new != old:
            changed.add(new)
    conflicts = _conflicts(parent, crossed, dataset)
    by_sha = dataset.by_sha()
    raw: dict[str, bytes] = {}
    items: dict[str, LabelItem] = {}
    slices = {one.sha256: one.slice for one in parent.items.values()}
    for item in dataset.items:
        given = crossed.get(item.sha256)
        if given is None or item.sha256 in conflicts:
            continue
        old, text = next(iter(given.items()))
        raw[item.item_id] = text.encode()
        items[item.item_id] = LabelItem(item.sha256, slice=slices.get(old))
    not_here = sum(len(given) for sha, given in crossed.items() if sha not in by_sha)
    if not raw:
        raise Refusal(
            "nothing-carried",
            f"no label of {parent.ref} is carried to {dataset_id}",
            why=[f"{parent.ref}: {plural(len(texts), 'label')}, none of bytes that the map leads to an item"],
            next="name the map of the capture that the dataset was made from, and the set of the one before",
        )
    n_changed = sum(item.sha256 in changed for item in items.values())
    made = LabelSet(
        dataset_id=dataset_id,
        set=name,
        source=parent.source,
        items=items,
        labels_sha256="",
        task=parent.task,
        created_at=project.stamp(),
        n_items=len(raw),
        guideline=parent.guideline,
        selection=parent.selection,
        parents=({"set": parent.ref, "labels_sha256": parent.labels_sha256},),
        imported_by=parent.imported_by,
        tool=parent.tool,
        rules=parent.rules,
        conflicts=conflicts,
        extra={
            KEY: {
                "map_sha256": map_sha256,
                "n_changed": n_changed,
                "n_same": len(raw) - n_changed,
                "n_not_here": not_here,
            }
        },
    )
    guideline = labels.guideline(project, parent)
    file = str((parent.guideline or {}).get("file") or "")
    return Plan(
        label_set=made,
        texts=raw,
        guideline=None
        if guideline is None
        else Guideline(file.removeprefix(labels.GUIDELINE) or ".txt", guideline),
        parent=parent.ref,
        n_changed=n_changed,
        n_same=len(raw) - n_changed,
        n_not_here=not_here,
        n_in_conflict=sum(item.sha256 in conflicts for item in dataset.items),
        n_of=len(dataset.items),
        warnings=tuple(_warnings(parent, not_here, conflicts)),
    )


def commit(project: Project, plan: Plan) -> LabelSet:
    """Write the set, whole; return it as written."""
    guideline = (plan.guideline.suffix, plan.guideline.data) if plan.guideline else None
    return labels.write_new(project, plan.label_set, plan.texts, guideline=guideline)


def _read_map(path: Path) -> tuple[dict[str, str], str]:
    """Return where each old hash leads, and the hash of the map."""
    data = strict.read_bytes(path)
    leads: dict[str, str] = {}
    reasons = []
    for number, row in enumerate(strict.parse_jsonl(data, path), start=1):
        old, new = row.get("old_sha256"), row.get("new_sha256")
        if not (is_sha256(old) and is_sha256(new)):
            reasons.append(f"{path}: entry {number}: not {{old_sha256, new_sha256}}")
        elif leads.setdefault(str(old), str(new)) != new:
            reasons.append(f"{path}: entry {number}: {str(old)[:12]}… leads to two places")
    if reasons:
        raise Refusal(
            "bad-map",
            f"{path} is no map of a scrub",
            why=reasons,
            next="name the scrub-map.jsonl beside the records of the scrubbed capture",
        )
    return leads, sha256(data)


def _conflicts(
    parent: LabelSet, crossed: Mapping[str, Mapping[str, str]], dataset: Dataset
) -> dict[str, list[str]]:
    """Return the bytes that several texts became and that were labelled differently, with the answers."""
    here = dataset.by_sha()
    found: dict[str, list[str]] = {}
    for sha, given in crossed.items():
        answers = list(dict.fromkeys(given.values()))
        if sha in here and any(not same_answers(answers[0], one) for one in answers[1:]):
            found[sha] = sorted(answers)
    if found and parent.kind == "person":
        raise Refusal(
            "two-answers",
            f"{parent.ref} labels texts differently that the scrub made one",
            why=[
                f"{here[sha][0].item_id}: {' and '.join(repr(shown(one)) for one in answers)}"
                for sha, answers in found.items()
            ],
            next="label those items again on the scrubbed text: evh label-sheet --item ID",
        )
    return found


def _warnings(parent: LabelSet, not_here: int, conflicts: Mapping[str, list[str]]) -> list[str]:
    told = []
    left = [
        plural(count, what)
        for what, count in (
            ("note", sum(one.note is not None for one in parent.items.values())),
            ("proposal", sum(one.proposal is not None for one in parent.items.values())),
        )
        if count
    ]
    if left:
        told.append(f"left with {parent.ref}, for they are about the unscrubbed text: {' and '.join(left)}")
    if not_here:
        told.append(f"{plural(not_here, 'label')} of {parent.ref} belong to no item here")
    if conflicts:
        told.append(f"{plural(len(conflicts), 'text')} got different answers before the scrub made them one")
    return told
