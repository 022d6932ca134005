"""What one label set or reference set says of a dataset, and how a proposal in sight pulled its labeler."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from evh.acts.labels_model import Anchoring, SetSummary
from evh.measure.intervals import difference
from evh.records.answers import same_answers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.labels_shelf import Labels, Shelf
    from evh.records.dataset import Dataset
    from evh.records.labelset import LabelSet
    from evh.records.reference import Reference


def summarise(
    shelf: Shelf,
    dataset: Dataset,
    by_sha: Mapping[str, Sequence[object]],
    one: Labels,
    texts: Mapping[str, str],
) -> SetSummary:
    """Return what one set or reference says of a dataset.

    Args:
        shelf: the records.
        dataset: the dataset.
        by_sha: its items by the sha256 of their bytes.
        one: the set, with all its labels.
        texts: those of its labels that the dataset's bytes have.
    """
    counts: Counter[str] = Counter()
    for sha, text in texts.items():
        counts[text] += len(by_sha[sha])
    majority = min(counts, key=lambda text: (-counts[text], text), default=None)
    counted = SetSummary(
        ref="",
        label_set=one.label_set,
        reference=one.reference,
        kind="labels" if one.label_set else "reference",
        source_kind=None,
        by="",
        task=one.task,
        covered=counts.total(),
        of=len(dataset.items),
        guidelines=(),
        promoted_into=(),
        distinct=len(counts),
        majority=majority,
        majority_share=counts[majority] / counts.total() if majority is not None else None,
        n_preceding=0,
        conflicts=0,
        own=False,
    )
    if one.label_set is not None:
        return _of_set(counted, shelf, dataset, one.label_set, texts)
    if one.reference is not None:
        return _of_reference(counted, shelf, dataset, one.reference)
    return counted


def _of_set(
    counted: SetSummary, shelf: Shelf, dataset: Dataset, label_set: LabelSet, texts: Mapping[str, str]
) -> SetSummary:
    return replace(
        counted,
        ref=label_set.ref,
        source_kind=label_set.kind,
        by=label_set.by,
        guidelines=_guidelines([label_set]),
        promoted_into=tuple(shelf.promoted.get(label_set.ref, ())),
        n_preceding=label_set.n_preceding,
        conflicts=len(label_set.conflicts),
        own=label_set.dataset_id == dataset.dataset_id,
        n_timed=sum(int(rule.get("n_timed") or 0) for rule in label_set.rules),
        reads_output=label_set.reads_output,
        anchoring=anchoring(label_set, texts),
    )


def _of_reference(counted: SetSummary, shelf: Shelf, dataset: Dataset, reference: Reference) -> SetSummary:
    sources = (reference.promoted_from or {}).get("source")
    listed = sources if isinstance(sources, list) else [sources]
    kinds = {str(one.get("kind")) for one in listed if isinstance(one, dict)}
    return replace(
        counted,
        ref=reference.ref,
        source_kind=kinds.pop() if len(kinds) == 1 else None,
        by=reference.promoted_by or "",
        guidelines=_guidelines([shelf.sets[ref] for ref in reference.label_refs if ref in shelf.sets]),
        own=reference.dataset_id == dataset.dataset_id,
    )


def _guidelines(sets: Sequence[LabelSet]) -> tuple[str, ...]:
    named = {str((one.guideline or {}).get("sha256") or "") for one in sets}
    return tuple(sorted(named - {""}))


def anchoring(label_set: LabelSet, texts: Mapping[str, str]) -> Anchoring | None:
    """Return how often a set's labels are the proposals that its labeler saw, and the hidden ones.

    None where nothing was proposed. Hidden proposals are drawn at random, so the difference of the two shares
    is what seeing the proposal does.

    Args:
        label_set: the set, whose items carry ``proposal {text, shown}``.
        texts: sha256 of an item's bytes → label, of the items that count.
    """
    made: Counter[tuple[bool, bool]] = Counter()
    for item in label_set.items.values():
        proposed = (item.proposal or {}).get("text")
        if isinstance(proposed, str) and item.sha256 in texts:
            made[bool((item.proposal or {}).get("shown")), same_answers(proposed, texts[item.sha256])] += 1
    if not made:
        return None
    shown, hidden = made[True, True] + made[True, False], made[False, True] + made[False, False]
    apart = made[True, True] / shown - made[False, True] / hidden if shown and hidden else None
    return Anchoring(
        shown=shown,
        shown_same=made[True, True],
        hidden=hidden,
        hidden_same=made[False, True],
        difference=apart,
        interval=difference(made[True, True], shown, made[False, True], hidden),
    )
