"""A journal becomes a ``model`` label set, on a dataset whose items are a question and a chunk each.

Identity is (question, content): one question's labels never meet another's. From there on person labels,
agreement, promotion, arms and the catalog work as for any dataset.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import evidence_command
from evh.acts.evidence_overlap import MODEL as OVERLAP_MODEL
from evh.adapters.r_update import place_id
from evh.errors import SHOWN, Refusal
from evh.project import datasets, evidence, labels, logs
from evh.records.dataset import Dataset, Item
from evh.records.labelset import LabelItem, LabelSet
from evh.store import atomic
from evh.store.hashing import sha256
from evh.store.names import check_id
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.project.evidence import Place
    from evh.project.find import Project
    from evh.records.evidence import EvidenceLabel, JournalSettings


@dataclass(frozen=True, slots=True)
class Plan:
    """What `commit` would write.

    Attributes:
        label_set: the set's manifest.
        texts: item id → ``yes`` or ``no``.
        dataset: the dataset of the items.
        items: item id → its bytes.
        new_dataset: the dataset is written; else the one there is this one, item for item.
        n_unlabelled: items without a label.
        guideline: what the labeler was told.
        warnings: what a person should know, a sentence each.
    """

    label_set: LabelSet
    texts: Mapping[str, bytes]
    dataset: Dataset
    items: Mapping[str, bytes]
    new_dataset: bool
    n_unlabelled: int
    guideline: bytes
    warnings: tuple[str, ...]


def plan(
    project: Project,
    log: str,
    query_id: str,
    name: str,
    *,
    dataset_id: str | None = None,
    journal: str = "",
    partial: bool = False,
) -> Plan:
    """Return the set that a journal becomes.

    Args:
        project: the project.
        log: the log.
        query_id: the question.
        name: the set's name.
        dataset_id: the dataset; ``<log>.<query>`` by default.
        journal: the journal's name; empty for the first one.
        partial: take a journal that is not complete; recorded.

    Raises:
        Refusal: nothing labelled; a chunk without a label, unless ``partial``; an existing set; a dataset of
            that name with other items.
    """
    check_id(name, "label set")
    query = logs.query(project, log, query_id)
    at = evidence.place(project, log, query_id, journal)
    dataset_id = check_id(dataset_id or f"{log}.{query_id}", "dataset")
    if labels.exists(project, dataset_id, name):
        raise labels.already(f"{dataset_id}/{name}")
    begun = evidence.settings(project, at)
    given = {one.chunk_sha: one for one in evidence.labels(project, at)}
    if not given:
        raise Refusal(
            "nothing-labelled",
            f"data/{at.ref} holds no label",
            why=[f"data/{at.ref}: {'it is empty' if at.journal.exists() else 'no such journal'}"],
            next=evidence_command.line(project, at, begun),
        )
    items: list[Item] = []
    texts: dict[str, bytes] = {}
    found: dict[str, EvidenceLabel] = {}
    left: list[str] = []
    for chunk in logs.chunks(project, log):
        item_id = f"{chunk.t:06d}"
        texts[item_id] = query.item_text(chunk.text).encode()
        items.append(
            Item(
                item_id,
                sha256(texts[item_id]),
                fields={"chunk_sha": chunk.chunk_sha, "t": chunk.t},
                lineage={"log": log, "query": query_id, "record_id": place_id(chunk.t, chunk.chunk_sha)},
            )
        )
        if chunk.chunk_sha in given:
            found[item_id] = given[chunk.chunk_sha]
        else:
            left.append(f"logs/{log}: t {chunk.t}: {chunk.chunk_sha[:12]}… has no label")
    _refuse_other_question(at, query.question_sha, found)
    if left and not partial:
        raise Refusal(
            "unlabelled-chunks",
            f"{plural(len(left), 'chunk')} of {log!r} without a label",
            why=left,
            next=f"{evidence_command.line(project, at, begun)}; or take what is there: --partial",
        )
    if not found:
        raise Refusal("nothing-labelled", f"no chunk of {log!r} has a label", why=left[:SHOWN])
    dataset, new = _dataset(project, dataset_id, items, log, query_id)
    return Plan(
        label_set=_label_set(project, at, dataset, name, found=found, n_left=len(left)),
        texts={item_id: b"yes" if one.label else b"no" for item_id, one in found.items()},
        dataset=dataset,
        items=texts,
        new_dataset=new,
        n_unlabelled=len(left),
        guideline=_guideline(begun, query.question),
        warnings=_warnings(found, len(left)),
    )


def commit(project: Project, plan: Plan) -> LabelSet:
    """Write the dataset where it is new, then the set: its folder is renamed in last."""
    dataset_id = plan.dataset.dataset_id
    place = labels.path_of(project, dataset_id, plan.label_set.set)
    with contextlib.ExitStack() as stack:
        if plan.new_dataset:
            made = datasets.write_new(project, plan.dataset, plan.items)
            manifest = datasets.path_of(project, dataset_id)
            texts = manifest.with_name(made.items_file) if made.items_file else project.data / made.source_dir
            for part in (texts, manifest):  # where the set is refused nothing of the dataset stays
                stack.enter_context(atomic.removed_unless(place, part))
        return labels.write_new(project, plan.label_set, plan.texts, guideline=(".txt", plan.guideline))


def _refuse_other_question(at: Place, question_sha: str, found: Mapping[str, EvidenceLabel]) -> None:
    other = [item_id for item_id, one in found.items() if one.question_sha not in ("", question_sha)]
    if other:
        raise Refusal(
            "other-question",
            f"data/{at.ref} holds labels of another question",
            why=[f"data/{at.ref}: t {int(item_id)}: another question_sha" for item_id in other],
            next="restore queries.jsonl (git checkout)",
        )


def _dataset(
    project: Project, dataset_id: str, items: list[Item], log: str, query_id: str
) -> tuple[Dataset, bool]:
    """Return the dataset of the items, and whether it has to be written."""
    if not datasets.exists(project, dataset_id):
        made = Dataset(
            dataset_id=dataset_id,
            items=tuple(items),
            created_at=project.stamp(),
            description=f"The chunks of the log {log}, each with the question {query_id}.",
            visibility=project.settings.visibility,
        )
        return made, True
    there = datasets.read(project, dataset_id)
    mine, theirs = ({one.item_id: one.sha256 for one in some} for some in (items, there.items))
    other = sorted(key for key in {*mine, *theirs} if mine.get(key) != theirs.get(key))
    if other:
        raise Refusal(
            "other-items",
            f"the dataset {dataset_id!r} holds other items than the log and the question make",
            why=[f"{dataset_id}/{key}: other bytes, or only in one of the two" for key in other],
            next="choose another --dataset-id: the log was cut anew, or the name is another dataset's",
        )
    return there, False


def _label_set(
    project: Project,
    at: Place,
    dataset: Dataset,
    name: str,
    *,
    found: Mapping[str, EvidenceLabel],
    n_left: int,
) -> LabelSet:
    known = dataset.by_id
    models = sorted({one.model for one in found.values()})
    prompts = sorted({one.prompt_sha for one in found.values() if one.prompt_sha})
    source = {
        "kind": "model",
        "journal": at.ref,
        "journal_sha256": evidence.journal_sha(at),
        "model": ", ".join(models),
        "prompt_sha": ", ".join(prompts),
        **({"baseline": "lexical overlap"} if models == [OVERLAP_MODEL] else {}),
    }
    made = LabelSet(
        dataset_id=dataset.dataset_id,
        set=name,
        source=source,
        items={
            item_id: LabelItem(
                known[item_id].sha256, note=one.why, extra={"suspect": True} if one.suspect else {}
            )
            for item_id, one in found.items()
        },
        labels_sha256="",
        created_at=project.stamp(),
    )
    if not n_left:
        return made
    return replace(made, selection={"items": "labelled", "partial": True, "n_unlabelled": n_left})


def _guideline(settings: JournalSettings | None, question: str) -> bytes:
    told = settings.prompt if settings else "(how it was asked is not recorded)"
    return f"Question: {question}\n\nWhat the labeler was told:\n\n{told}\n".encode()


def _warnings(found: Mapping[str, EvidenceLabel], n_left: int) -> tuple[str, ...]:
    made = []
    if n_left:
        made.append(f"{plural(n_left, 'item')} without a label: --partial is recorded in the set")
    steering = sum(one.suspect for one in found.values())
    if steering:
        made.append(f"{plural(steering, 'label')} of texts that try to steer the labeler")
    answers = {one.label for one in found.values()}
    if len(answers) == 1 and len(found) > 1:
        made.append("every label is the same answer: such a set measures the recall of that answer only")
    return tuple(made)
