"""Checks of label sets and of the reference sets promoted from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.project import datasets, labels, references
from evh.project.shelf import files
from evh.records.answers import answers
from evh.records.labelset import labels_digest
from evh.store import strict
from evh.store.hashing import sha256
from evh.store.names import possible_stems

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evh.acts.findings import Findings
    from evh.records.dataset import Item
    from evh.records.labelset import LabelSet
    from evh.records.reference import Reference


def check_sets(found: Findings) -> None:
    """Check each label set: its manifest, its digest, its guideline, and the items that it names."""
    project = found.project
    known = {one.dataset_id: one.by_id for one in datasets.read_all(project, [])}
    for ref in labels.refs(project, []):  # what may not be read is told by `validate_tree`
        place = project.data / "labels" / ref
        path = place / labels.MANIFEST
        dataset_id, _, name = ref.partition("/")
        label_set = found.attempt(path, labels.read, project, dataset_id, name)
        if label_set is None:
            continue
        found.count("label sets", 1)
        raw = found.attempt(place, labels.raw_texts, project, label_set)
        if raw is not None:
            found.count("labels", len(raw))
            found.attempt(place, labels.check_digest, label_set, raw)
            if label_set.n_items != len(raw):
                found.error("count", path, f"it says {label_set.n_items} labels; there are {len(raw)}")
            _check_texts(found, place, label_set, raw)
        _check_guideline(found, place, label_set)
        _check_items(
            found, path, dataset_id, known, {key: one.sha256 for key, one in label_set.items.items()}
        )
        more = (labels.MANIFEST,)
        found.attempt(
            place, _check_files, found, place, list(label_set.items), labels.LARGE, more, guideline=True
        )


def _check_texts(found: Findings, place: Path, label_set: LabelSet, raw: Mapping[str, bytes]) -> None:
    by_sha: dict[str, set[tuple[str, ...]]] = {}
    for item_id, data in raw.items():
        text = found.attempt(place, strict.decode, data, place)
        if text is None:
            continue
        if not text.strip():
            found.error("empty-label", place, f"{item_id}: its label is empty")
        by_sha.setdefault(label_set.items[item_id].sha256, set()).add(answers(text))
    for sha, texts in by_sha.items():
        if len(texts) > 1:
            ids = [key for key, one in label_set.items.items() if one.sha256 == sha]
            found.error("two-answers", place, f"{', '.join(ids[:5])}: equal bytes with different labels")


def _check_guideline(found: Findings, place: Path, label_set: LabelSet) -> None:
    if label_set.guideline is None:
        return
    data = found.attempt(place, labels.guideline, found.project, label_set)
    if data is None:
        found.error("guideline", place, f"its guideline {label_set.guideline.get('file')!r} is not here")
    elif sha256(data) != label_set.guideline.get("sha256"):
        found.error("guideline", place, "its guideline is not the one that the labels were made by")


def check_references(found: Findings) -> None:
    """Check each reference set: its manifest, its promotion, and its texts against what was promoted."""
    project = found.project
    known = {one.dataset_id: one for one in datasets.read_all(project, [])}
    items = {dataset_id: one.by_id for dataset_id, one in known.items()}
    for stray in references.strays(project):
        if project.inside(stray.path):  # a link that leads out is an error already
            found.warning("no-reference", stray.path, stray.what)
    for ref in references.refs(project, []):
        place = project.data / "references" / ref
        path = place / references.MANIFEST
        reference = found.attempt(path, references.read, project, ref)
        if reference is None:
            continue
        found.count("reference sets", 1)
        if reference.ref != ref:
            found.note("file-name", path, f"it says that it is {reference.ref!r}")
            continue
        raw = found.attempt(place, references.raw_texts, project, reference)
        if raw is not None and reference.n_items and reference.n_items != len(raw):
            found.error("count", path, f"it says {reference.n_items} items; there are {len(raw)}")
        if raw is not None:
            found.attempt(path, references.check_digest, reference, raw)
        if reference.promoted_from is None:
            found.warning("no-promotion", path, "no promotion on record: evh migrate-references makes one")
        elif raw is not None:
            held = known.get(reference.dataset_id)
            kept_back = held is not None and not held.redistributable
            shas = _shas(reference, items.get(reference.dataset_id, {}))
            _check_promotion(found, path, reference, raw, shas=shas, kept_back=kept_back)
        _check_items(found, path, reference.dataset_id, items, reference.items)
        if reference.items:
            more = (references.MANIFEST,)
            found.attempt(
                place,
                _check_files,
                found,
                place,
                list(reference.items),
                references.LARGE,
                more,
                guideline=False,
            )


def _shas(reference: Reference, items: Mapping[str, Item]) -> Mapping[str, str]:
    """Return the sha256 of the item behind each text of a reference; a foreign one's are named by stems."""
    if reference.items:
        return reference.items
    return {stem: one.sha256 for item_id, one in items.items() for stem in possible_stems(item_id)}


def _check_promotion(
    found: Findings,
    path: Path,
    reference: Reference,
    raw: Mapping[str, bytes],
    *,
    shas: Mapping[str, str],
    kept_back: bool,
) -> None:
    """Check a reference's texts against the sets it was promoted from.

    A set that is not here is a warning, for then nothing shows that the texts are its labels; it is a note
    where labels were left out on purpose: the dataset is ``kept_back``, or the tree has no labels at all.
    """
    project = found.project
    promoted = reference.promoted_from or {}
    recorded = promoted.get("labels_sha256")
    digests = recorded if isinstance(recorded, list) else []
    here: dict[str, set[bytes]] = {}
    whole = True
    for at, ref in enumerate(reference.label_refs):
        dataset_id, _, name = str(ref).rpartition("/")
        if not (project.data / "labels" / dataset_id / name / labels.MANIFEST).is_file():
            reason = f"the label set {ref}, which it was promoted from, is not here"
            tell = found.warning if (project.data / "labels").is_dir() and not kept_back else found.note
            tell("unknown-set", path, reason)
            whole = False
            continue
        label_set = found.attempt(path, labels.read, project, dataset_id, name)
        held = None if label_set is None else found.attempt(path, labels.raw_texts, project, label_set)
        if label_set is None or held is None or not _intact(label_set, held):
            whole = False  # check_sets tells what is wrong with the set
            continue
        if at < len(digests) and digests[at] != label_set.labels_sha256:
            found.error("promotion", path, f"{ref} is not the set that was promoted: its digest differs")
        for item_id, text in held.items():
            here.setdefault(label_set.items[item_id].sha256, set()).add(text)
    if not reference.label_refs:
        # One that was migrated where its texts were not here says whose its labels are; that is all it can.
        tell = found.note if promoted.get("source") else found.warning
        tell("no-promotion", path, "its promotion names no label set")
        return
    if not whole:
        return
    for item_id, text in raw.items():
        sha = shas.get(item_id)
        if sha is not None and text not in here.get(sha, set()):
            found.error("promotion", path, f"{item_id}: its text is not the label that was promoted")


def _intact(label_set: LabelSet, held: Mapping[str, bytes]) -> bool:
    rows = {item_id: (label_set.items[item_id].sha256, text) for item_id, text in held.items()}
    return labels_digest(rows) == label_set.labels_sha256


def _check_items(
    found: Findings,
    path: Path,
    dataset_id: str,
    known: Mapping[str, Mapping[str, Item]],
    named: Mapping[str, str],
) -> None:
    if dataset_id not in known:
        found.warning("unknown-dataset", path, f"the dataset {dataset_id!r} is not here")
        return
    items = known[dataset_id]
    for item_id, sha in named.items():
        if item_id not in items:
            found.warning("unknown-item", path, f"{item_id}: {dataset_id} has no such item")
        elif items[item_id].sha256 != sha:
            found.error("item-bytes", path, f"{item_id}: it labels other bytes than {dataset_id} holds")


def _check_files(
    found: Findings,
    place: Path,
    item_ids: list[str],
    large: str,
    more: tuple[str, ...],
    *,
    guideline: bool,
) -> None:
    present = {one.name for one in files(place, ".txt")}
    is_large = (place / large).exists()
    allowed = {*more, large}
    for item_id in item_ids:
        stems = tuple(possible_stems(item_id))
        found.doubled(place, present, stems, item_id)
        allowed |= {f"{stem}.txt" for stem in stems}
    if guideline:
        allowed |= {one.name for one in place.iterdir() if one.name.startswith(labels.GUIDELINE)}
    texts = sorted(name for name in present if name in allowed and not name.startswith(labels.GUIDELINE))
    if is_large and texts:
        found.error("two-forms", place, f"{large} and {texts[0]}: its labels are here in both forms")
    found.strays(place, allowed, "the set")
