"""The shelf of label sets: ``data/labels/<dataset>/<set>/``, each written once and never edited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project.shelf import folders, holding, listed, missing, read_each, read_item_files, write_item_files
from evh.records import labelset as record
from evh.records.labelset import LabelItem, LabelSet, labels_digest
from evh.store import parquet, strict
from evh.store.hashing import is_sha256
from evh.store.names import check_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from evh.project.find import Project

MANIFEST = "labels.json"
LARGE = "labels.parquet"
GUIDELINE = "~guideline"
LABEL_COLUMNS = {
    "item_id": "text",
    "item_sha256": "text",
    "label": "bytes",
    "note": "text",
    "slice": "text",
    "proposal": "text",
    "settled": "text",
}
FILLED = ("item_sha256", "label")
SETTLED = ("chosen", "new")
"""How an adjudicator settled an item; an item that the sets agreed on anyway is ``agreed``."""


def path_of(project: Project, dataset_id: str, name: str) -> Path:
    """Return the folder of a set."""
    return project.data / "labels" / check_id(dataset_id, "dataset") / check_id(name, "label set")


def refs(project: Project, problems: list[Refusal] | None = None) -> list[str]:
    """Return every set as ``<dataset>/<set>``, sorted; see `shelf.read_each` for ``problems``."""
    places = listed(lambda: folders(project.data / "labels"), problems)
    return [f"{one.parent.name}/{one.name}" for one in holding(places, MANIFEST, problems)]


def split_ref(ref: str, *, dataset_id: str | None = None) -> tuple[str, str]:
    """Return (dataset, set) of ``<dataset>/<set>``, or of a bare set's name of ``dataset_id``."""
    dataset, _, name = ref.removeprefix("labels/").rpartition("/")
    if not dataset and dataset_id is None:
        raise Refusal(
            "bad-ref",
            f"{ref!r} does not name a label set",
            why=["write it as DATASET/SET"],
            next="evh labels",
        )
    return check_id(dataset or dataset_id, "dataset"), check_id(name, "label set")


def exists(project: Project, dataset_id: str, name: str) -> bool:
    """Tell whether there is such a set."""
    return (path_of(project, dataset_id, name) / MANIFEST).exists()


def read(project: Project, dataset_id: str, name: str) -> LabelSet:
    """Return a set's manifest with its items, or raise a Refusal."""
    place = path_of(project, dataset_id, name)
    if not (place / MANIFEST).exists():
        known = [ref.partition("/")[2] for ref in refs(project) if ref.partition("/")[0] == dataset_id]
        raise missing("label set", name, known, next=f"evh labels --dataset-id {dataset_id}")
    return _read(project, place)


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[LabelSet]:
    """Return every set, by dataset, then name; see `shelf.read_each` for ``problems``."""
    places = [project.data / "labels" / ref for ref in refs(project, problems)]
    return read_each(places, lambda place: _read(project, place), problems)


def texts(project: Project, label_set: LabelSet, *, verify: bool = False) -> dict[str, str]:
    """Return each labelled item's text as it lies in its file (use `answers.answers` to read it).

    Args:
        project: the project.
        label_set: the set.
        verify: recompute the set's digest first; scoring and promoting do, viewing does not.

    Raises:
        Refusal: a label's file is missing or not UTF-8, or the digest is not the one recorded.
    """
    raw = raw_texts(project, label_set)
    if verify:
        check_digest(label_set, raw)
    return {
        item_id: strict.decode(data, f"labels/{label_set.ref}: {item_id}") for item_id, data in raw.items()
    }


def raw_texts(project: Project, label_set: LabelSet) -> dict[str, bytes]:
    """Return each labelled item's bytes, in the order of the manifest."""
    place = path_of(project, label_set.dataset_id, label_set.set)
    return dict(
        project.kept(("labels", place), [place], lambda: _raw_texts(project, label_set, place), label_set)
    )


def _raw_texts(project: Project, label_set: LabelSet, place: Path) -> dict[str, bytes]:
    if (place / LARGE).exists():
        return {
            row["item_id"]: row["label"]
            for row in parquet.read_rows(
                place / LARGE, LABEL_COLUMNS, place=project.show(place / LARGE), key="item_id", filled=FILLED
            )
        }
    return read_item_files(place, label_set.items, f"labels/{label_set.ref}")


def check_digest(label_set: LabelSet, raw: Mapping[str, bytes]) -> None:
    """Raise a Refusal when a set's labels are not those that it recorded: somebody edited it."""
    rows = {
        item_id: (item.sha256, raw[item_id]) for item_id, item in label_set.items.items() if item_id in raw
    }
    if labels_digest(rows) != label_set.labels_sha256:
        raise Refusal(
            "edited-set",
            f"the label set {label_set.ref} was edited",
            why=[f"labels/{label_set.ref}: its labels are not the ones that {MANIFEST} recorded"],
            next="restore it (git checkout); a correction is a new set: evh label-sheet, evh label-import",
        )


def write_new(
    project: Project,
    label_set: LabelSet,
    raw: Mapping[str, bytes],
    *,
    guideline: tuple[str, bytes] | None = None,
) -> LabelSet:
    """Write a new set whole: its folder is renamed in last.

    Args:
        project: the project.
        label_set: the manifest; ``n_items``, ``labels_sha256`` and ``guideline`` are filled in here.
        raw: item id → the label's bytes, no newline added; the same ids as ``label_set.items``.
        guideline: the guideline's file ending (``.md``) and bytes, copied into the set and hashed.

    Returns:
        The set as written.

    Raises:
        Refusal: there is a set of that name.
    """
    from evh.store.hashing import sha256

    place = path_of(project, label_set.dataset_id, label_set.set)
    made = replace(
        label_set,
        n_items=len(raw),
        labels_sha256=labels_digest({key: (label_set.items[key].sha256, text) for key, text in raw.items()}),
        guideline={"file": f"{GUIDELINE}{guideline[0]}", "sha256": sha256(guideline[1])}
        if guideline
        else label_set.guideline,
    )
    manifest = record.dump(made)
    large = len(raw) > parquet.ROWS_AS_TEXT
    last: dict[str, bytes] = {}
    if large:
        manifest.pop("items")
        last[LARGE] = parquet.dump_rows(_rows(made, raw), LABEL_COLUMNS)
    if guideline:
        last[f"{GUIDELINE}{guideline[0]}"] = guideline[1]
    last[MANIFEST] = strict.dump_manifest(manifest)
    taken = already(label_set.ref)
    write_item_files(project, place, {} if large else raw, last=last, kind="label set", already=taken)
    return made


def already(ref: str) -> Refusal:
    """Return the Refusal for a set that exists: a set is never edited or replaced."""
    return Refusal(
        "existing-set",
        f"there is a label set {ref!r} already",
        why=[f"labels/{ref}: a label set is one pass by one source, never edited"],
        next="choose another name with --set; a correction is a new set",
    )


def guideline(project: Project, label_set: LabelSet) -> bytes | None:
    """Return the bytes of the guideline that a set was labelled by, or None."""
    name = (label_set.guideline or {}).get("file")
    if not isinstance(name, str) or "/" in name or not name.startswith(GUIDELINE):
        return None
    path = path_of(project, label_set.dataset_id, label_set.set) / name
    return strict.read_bytes(path) if path.is_file() and project.inside(path) else None


def by_sha(label_set: LabelSet, label_texts: Mapping[str, str]) -> dict[str, str]:
    """Return the set as agreement reads it: the sha256 of an item's bytes → the label's text."""
    return {
        item.sha256: label_texts[item_id]
        for item_id, item in label_set.items.items()
        if item_id in label_texts
    }


def settled(sets: Iterable[LabelSet], parents: Collection[str]) -> dict[str, str]:
    """Return what was adjudicated between some sets: sha256 of an item's bytes → the set that settles it.

    A set settles an item for ``parents`` when it names all of them as its own, each with the labels that it
    has now, and says of the item that an answer was chosen or a new one given. Such an item is no open
    disagreement of theirs. When a parent is another set by its digest, nothing is settled any more.

    Args:
        sets: every set of the project, from `read_all`.
        parents: the sets that differ, as ``<dataset>/<set>``.

    Cost: one pass over the manifests of the sets that name these parents.
    """
    known = {one.ref: one for one in sets}
    wanted = {ref: known[ref].labels_sha256 for ref in parents if ref in known}
    if not wanted or len(wanted) < len(set(parents)):
        return {}
    made: dict[str, str] = {}
    for one in sorted(known.values(), key=lambda one: (one.created_at, one.ref)):
        named = {str(parent.get("set")): parent.get("labels_sha256") for parent in one.parents}
        if all(named.get(ref) == digest for ref, digest in wanted.items()):
            made.update({item.sha256: one.ref for item in one.items.values() if item.settled in SETTLED})
    return made


def _rows(label_set: LabelSet, raw: Mapping[str, bytes]) -> list[dict[str, Any]]:
    rows = []
    for item_id, text in raw.items():
        item = label_set.items[item_id]
        rows.append(
            {
                "item_id": item_id,
                "item_sha256": item.sha256,
                "label": text,
                "note": item.note,
                "slice": item.slice,
                "proposal": strict.compact(dict(item.proposal)) if item.proposal else None,
                "settled": item.settled,
            }
        )
    return rows


def _read(project: Project, place: Path) -> LabelSet:
    places = [project.readable(place / MANIFEST), project.readable(place / LARGE)]
    return project.kept(("label set", place), places, lambda: _read_anew(project, place))


def _read_anew(project: Project, place: Path) -> LabelSet:
    raw = strict.read_object(place / MANIFEST)
    made = record.parse(raw, project.show(place / MANIFEST))
    if (made.dataset_id, made.set) != (place.parent.name, place.name):
        raise Refusal(
            "misplaced",
            f"{project.show(place)} does not hold the set that it names",
            why=[f"{project.show(place / MANIFEST)}: it says {made.ref}"],
        )
    if not (place / LARGE).exists():
        return made
    if made.items:
        raise Refusal(
            "two-forms", f"{project.show(place)} has its items twice", why=[f"{MANIFEST} and {LARGE}"]
        )
    items = {
        row["item_id"]: LabelItem(
            sha256=row["item_sha256"],
            note=row["note"],
            slice=row["slice"],
            proposal=strict.parse_object(row["proposal"].encode(), place) if row["proposal"] else None,
            settled=row["settled"],
        )
        for row in parquet.read_rows(
            place / LARGE, LABEL_COLUMNS, place=project.show(place / LARGE), key="item_id", filled=FILLED
        )
    }
    wrong = [
        f"{LARGE}: {item_id}: item_sha256 {one.sha256[:80]!r} is not 64 lower-case hex digits"
        for item_id, one in items.items()
        if not is_sha256(one.sha256)
    ]
    if wrong:
        raise Refusal("bad-record", f"{project.show(place)} is not a label set that evh can read", why=wrong)
    return replace(made, items=items)
