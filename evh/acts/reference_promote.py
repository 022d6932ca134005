"""Promoting: the one way to make a reference set. Chosen labels, at a tier, for a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.adjudicated import guidelines_differ, one_answer_each
from evh.errors import Refusal
from evh.project import datasets, labels, references
from evh.records.answers import answers, same_answers, shown
from evh.records.reference import TIERS, Reference
from evh.store import strict
from evh.store.names import check_id
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item
    from evh.records.labelset import LabelSet


@dataclass(frozen=True, slots=True)
class Plan:
    """A reference set that would be written.

    Attributes:
        reference: its manifest.
        texts: item id → the label's bytes, exactly as they lie in the label set.
        n_of: items of the dataset.
        warnings: what a person should know, a sentence each.
    """

    reference: Reference
    texts: Mapping[str, bytes]
    n_of: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """A chosen set and its labels by the sha256 of the item's bytes."""

    label_set: LabelSet
    by_sha: Mapping[str, bytes]


def plan(
    project: Project,
    *,
    dataset_id: str,
    label_refs: Sequence[str],
    tier: str,
    reason: str,
    item_ids: Sequence[str] | None = None,
    name: str | None = None,
    by: str | None = None,
) -> Plan:
    """Return the reference set that the chosen labels become.

    Sets of other datasets count by the bytes of their items. Where two sets give an item the same answers,
    the bytes are those of the set named first.

    Args:
        project: the project.
        dataset_id: the dataset that the reference is for.
        label_refs: the sets: ``<set>`` of this dataset, or ``<dataset>/<set>``.
        tier: ``gold`` or ``silver``: the promoter's decision, whatever the labels' source.
        reason: why these labels are promoted.
        item_ids: the items; None takes every item that one of the sets labels.
        name: the reference's name; the dataset's id by default.
        by: who promotes.

    Raises:
        Refusal: no reason; a set, item or label that is not there, or no item at all; two sets that answer
            one item differently, or one that answers equal bytes differently; an existing name; changed
            bytes; sets of two tasks.
    """
    name = check_id(dataset_id if name is None else name, "reference set")
    if tier not in TIERS:
        raise Refusal("bad-tier", f"there is no tier {tier!r}", why=[f"a tier is one of {', '.join(TIERS)}"])
    if not reason.strip():
        raise Refusal(
            "no-reason",
            "a promotion says why",
            why=["--reason is empty"],
            next='add --reason "why these labels are what we measure against"',
        )
    if item_ids is not None and not item_ids:
        raise Refusal(
            "no-items",
            "a promotion of chosen items names at least one",
            why=["the file of items is empty"],
            next="name items in it, one id a line, or leave --items-from out to promote every label",
        )
    dataset = datasets.read(project, dataset_id)
    if references.path_of(project, tier, name).exists():
        raise references.already(f"{tier}/{name}")
    sources = [_source(project, ref) for ref in _refs(label_refs, dataset_id)]
    if not sources:
        raise Refusal("no-labels", "a promotion names a label set", why=["--labels names none"])
    _refuse_two_tasks(project, sources)
    chosen = _choose(dataset, sources, item_ids)
    datasets.texts(project, dataset, chosen)  # the bytes that are being promoted for are still those
    texts = _texts(dataset, sources, chosen)
    made = Reference(
        dataset_id=dataset_id,
        tier=tier,
        name=name,
        n_items=len(texts),
        created_at=project.stamp(),
        caveat=_caveat(sources),
        promoted_from={
            "labels": [one.label_set.ref for one in sources],
            "source": [dict(one.label_set.source) for one in sources],
            "labels_sha256": [one.label_set.labels_sha256 for one in sources],
        },
        reason=reason,
        promoted_by=by,
        items={item.item_id: item.sha256 for item in chosen},
    )
    differ = guidelines_differ([one.label_set for one in sources])
    return Plan(made, texts, len(dataset.items), (*differ, *_warnings(texts)))


def commit(project: Project, plan: Plan) -> Reference:
    """Write the reference set, whole; return it as written."""
    return references.write_new(project, plan.reference, plan.texts)


def read_item_ids(path: Path) -> list[str]:
    """Return the item ids in a file, one a line; blank lines are passed over."""
    text = strict.decode(strict.read_bytes(path), path)
    return [line.removesuffix("\r") for line in text.split("\n") if line.strip()]


def _refs(label_refs: Sequence[str], dataset_id: str) -> list[str]:
    made = {"/".join(labels.split_ref(ref, dataset_id=dataset_id)): None for ref in label_refs}
    return list(made)


def _source(project: Project, ref: str) -> _Source:
    label_set = labels.read(project, *labels.split_ref(ref))
    raw = labels.raw_texts(project, label_set)
    labels.check_digest(label_set, raw)
    place = f"labels/{label_set.ref}"
    one_answer_each(label_set, {key: strict.decode(data, f"{place}: {key}") for key, data in raw.items()})
    return _Source(label_set, {item.sha256: raw[key] for key, item in label_set.items.items() if key in raw})


def _refuse_two_tasks(project: Project, sources: Sequence[_Source]) -> None:
    tasks: dict[str, list[str]] = {}
    for one in sources:
        label_set = one.label_set
        task = label_set.task
        if not task and datasets.exists(project, label_set.dataset_id):
            task = datasets.read(project, label_set.dataset_id).task
        tasks.setdefault(task, []).append(label_set.ref)
    if len(tasks) > 1:
        raise Refusal(
            "two-tasks",
            "labels of two tasks are never one reference",
            why=[f"{', '.join(refs)}: task {task or '(none)'}" for task, refs in tasks.items()],
            next="promote each task's sets apart, under a --name of its own",
        )


def _choose(dataset: Dataset, sources: Sequence[_Source], item_ids: Sequence[str] | None) -> list[Item]:
    if item_ids is None:
        chosen = [item for item in dataset.items if any(item.sha256 in one.by_sha for one in sources)]
        reasons = [reason for item in dataset.items for reason in _moved(dataset.dataset_id, item, sources)]
        if not chosen and not reasons:
            reasons = [f"{one.label_set.ref}: it labels no bytes of {dataset.dataset_id}" for one in sources]
    else:
        by_id = dataset.by_id
        wanted = [by_id[key] for key in dict.fromkeys(item_ids) if key in by_id]
        named = {item.item_id for item in wanted}
        chosen = [item for item in dataset.items if item.item_id in named]
        reasons = [
            f"{dataset.dataset_id}/{key}: there is no such item" for key in item_ids if key not in by_id
        ]
        for item in wanted:
            moved = _moved(dataset.dataset_id, item, sources)
            reasons += moved
            if not moved and not any(item.sha256 in one.by_sha for one in sources):
                reasons.append(f"{dataset.dataset_id}/{item.item_id}: none of the sets labels it")
    if reasons:
        raise Refusal(
            "no-such-label",
            f"not every chosen item of {dataset.dataset_id} has a label to promote",
            why=reasons,
            next=f"evh labels --dataset-id {dataset.dataset_id}; label what is missing, or name fewer items",
        )
    return chosen


def _moved(dataset_id: str, item: Item, sources: Sequence[_Source]) -> list[str]:
    """Return a reason for each set that labelled an item of this id when its bytes were others."""
    return [
        f"{one.label_set.ref}: {item.item_id}: it labelled other bytes than the item has now"
        for one in sources
        if one.label_set.dataset_id == dataset_id
        and item.item_id in one.label_set.items
        and one.label_set.items[item.item_id].sha256 != item.sha256
        and item.sha256 not in one.by_sha
    ]


def _texts(dataset: Dataset, sources: Sequence[_Source], chosen: Sequence[Item]) -> dict[str, bytes]:
    made: dict[str, bytes] = {}
    reasons: list[str] = []
    for item in chosen:
        given = [(one.label_set.ref, one.by_sha[item.sha256]) for one in sources if item.sha256 in one.by_sha]
        read = [(ref, strict.decode(data, f"labels/{ref}: {item.item_id}")) for ref, data in given]
        if any(not same_answers(read[0][1], text) for _, text in read[1:]):
            said = "; ".join(f"{ref} says {shown(text)!r}" for ref, text in read)
            reasons.append(f"{dataset.dataset_id}/{item.item_id}: {said}")
        made[item.item_id] = given[0][1]
    if reasons:
        raise Refusal(
            "sets-differ",
            f"the sets answer {plural(len(reasons), 'item')} differently",
            why=reasons,
            next=f"settle them (evh adjudicate --dataset-id {dataset.dataset_id} --sets "
            f"{','.join(one.label_set.ref for one in sources)} --out differ.csv), "
            "or name the items that agree with --item",
        )
    return made


def _caveat(sources: Sequence[_Source]) -> str:
    """Return what a reader of the reference should know of its labels, from the sets' own counts."""
    made = []
    for one in sources:
        label_set = one.label_set
        timed = sum(int(rule.get("n_timed") or 0) for rule in label_set.rules)
        if label_set.n_preceding:
            made.append(
                f"{label_set.ref}: for {label_set.n_preceding} of {timed} labels the outcome came before "
                "the decision, or on the same day."
            )
        if label_set.reads_output:
            made.append(f"{label_set.ref}: the answer is the recorded decision itself.")
        if label_set.conflicts:
            made.append(
                f"{label_set.ref}: it leaves {plural(len(label_set.conflicts), 'text')} of differing answers "
                "unlabelled."
            )
    if guidelines_differ([one.label_set for one in sources]):
        made.append("Its sets were made by different guidelines.")
    return " ".join(made)


def _warnings(texts: Mapping[str, bytes]) -> tuple[str, ...]:
    distinct = {answers(data.decode("utf-8", "replace")) for data in texts.values()}
    if len(distinct) == 1:
        return ("every item has the same answer: such a reference measures the recall of that answer only",)
    return ()
