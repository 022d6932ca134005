"""The shelf of reference sets: ``data/references/<tier>/<name>/``, made by promotion only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project.shelf import (
    files,
    folders,
    holding,
    listed,
    missing,
    read_each,
    read_item_files,
    write_item_files,
)
from evh.records import reference as record
from evh.records.labelset import labels_digest
from evh.store import atomic, parquet, strict
from evh.store.atomic import is_tmp
from evh.store.hashing import sha256, sha256_lines
from evh.store.locks import held
from evh.store.names import check_id
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.reference import Reference

MANIFEST = "manifest.json"
LARGE = "labels.parquet"
LABEL_COLUMNS = {"item_id": "text", "item_sha256": "text", "label": "bytes"}


def path_of(project: Project, tier: str, name: str) -> Path:
    """Return the folder of a reference set."""
    return project.data / "references" / check_id(tier, "tier") / check_id(name, "reference set")


def refs(project: Project, problems: list[Refusal] | None = None) -> list[str]:
    """Return every reference set as ``<tier>/<name>``, sorted; see `shelf.read_each` for ``problems``."""
    places = listed(lambda: folders(project.data / "references"), problems)
    return [f"{one.parent.name}/{one.name}" for one in holding(places, MANIFEST, problems)]


@dataclass(frozen=True, slots=True)
class Stray:
    """What lies where reference sets do and is none: its path, and what it is."""

    path: Path
    what: str


def strays(project: Project) -> list[Stray]:
    """Return what looks like a reference set and is not listed as one, or is a link to one, by path.

    Folders without a manifest, empty ones, and links. Files are no reference sets' look-alikes. What may not
    be read is passed over: `refs` tells.
    """
    made: list[Stray] = []
    top = project.data / "references"
    for tier in _entries(top):
        if tier.is_symlink():
            made.append(Stray(tier, _linked(tier)))
        elif tier.is_dir():
            inside = _entries(tier)
            if (tier / MANIFEST).is_file():
                made.append(
                    Stray(tier, f"a {MANIFEST} lies in the tier's folder; it belongs a folder deeper")
                )
            for place in inside:
                what = _linked(place) if place.is_symlink() else _no_reference(place)
                made += [Stray(place, what)] if what else []
    return made


def _entries(place: Path) -> list[Path]:
    try:
        found = sorted(place.iterdir()) if place.is_dir() else []
    except OSError:
        return []
    return [path for path in found if path.name[0] != "." and not is_tmp(path.name)]


def _linked(path: Path) -> str:
    return f"it is a link, to {path.readlink()}; a reference set is a folder of its own"


def _no_reference(place: Path) -> str:
    """Return why a folder in a tier is no reference set; empty for one that is, and for a file."""
    if not place.is_dir() or (place / MANIFEST).exists():
        return ""
    inside = _entries(place)
    if not inside:
        return "it is an empty folder: no reference set"
    n_texts = sum(path.name.endswith(".txt") for path in inside)
    return f"it holds {plural(n_texts, 'text')} and no {MANIFEST}: no reference set"


def read(project: Project, ref: str) -> Reference:
    """Return the reference set ``<tier>/<name>``, or raise a Refusal."""
    tier, _, name = ref.removeprefix("references/").partition("/")
    if not tier or not name:
        known = refs(project)
        raise Refusal(
            "bad-ref",
            f"{ref!r} does not name a reference set",
            why=[f"write it as TIER/NAME; there is {', '.join(known[:10]) or 'no reference set here yet'}"],
            next="evh references",
        )
    place = path_of(project, tier, name)
    if not (place / MANIFEST).exists():
        raise missing("reference set", ref, refs(project), next="evh references")
    return _read(project, place)


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[Reference]:
    """Return every reference set, by tier, then name; see `shelf.read_each` for ``problems``."""
    places = [project.data / "references" / ref for ref in refs(project, problems)]
    return read_each(places, lambda place: _read(project, place), problems)


def raw_texts(project: Project, reference: Reference) -> dict[str, bytes]:
    """Return each item's reference text as bytes.

    A reference that lists its items is read by that list; a foreign one by the files that are there, each
    file's stem being the item's id.
    """
    place = path_of(project, reference.tier, reference.name)
    if not place.is_dir():  # a foreign manifest may name itself otherwise than its folder
        place = _folder_of(project, reference)
    return dict(
        project.kept(("reference", place), [place], lambda: _raw_texts(project, reference, place), reference)
    )


def _raw_texts(project: Project, reference: Reference, place: Path) -> dict[str, bytes]:
    if (place / LARGE).exists():
        return {row["item_id"]: row["label"] for row in _rows(project, place)}
    if not reference.items:
        return {
            path.name.removesuffix(".txt"): strict.read_bytes(path)
            for path in files(place, ".txt")
            if project.inside(path)
        }
    return read_item_files(place, reference.items, f"references/{reference.ref}")


def texts(project: Project, reference: Reference) -> dict[str, str]:
    """Return each item's reference text; see `raw_texts`."""
    return {
        item_id: strict.decode(data, f"references/{reference.ref}: {item_id}")
        for item_id, data in raw_texts(project, reference).items()
    }


def check_digest(reference: Reference, raw: Mapping[str, bytes]) -> None:
    """Raise a Refusal when a reference's texts are not those that were promoted: somebody edited it.

    A foreign reference has no digest on record, and passes.
    """
    if reference.labels_sha256 and _labels_digest(reference, raw) != reference.labels_sha256:
        raise Refusal(
            "edited-reference",
            f"the reference set {reference.ref} was edited",
            why=[f"references/{reference.ref}: its texts are not the ones that {MANIFEST} recorded"],
            next="restore it (git checkout); a correction is a new promotion: evh reference-promote",
        )


def _labels_digest(reference: Reference, raw: Mapping[str, bytes]) -> str:
    return labels_digest({key: (reference.items.get(key, ""), text) for key, text in raw.items()})


def digest(raw: Mapping[str, bytes]) -> str:
    """Return the digest of a reference's texts: what a fingerprint names."""
    return sha256_lines(f"{item_id}\t{sha256(text)}" for item_id, text in raw.items())


def write_new(project: Project, reference: Reference, raw: Mapping[str, bytes]) -> Reference:
    """Write a new reference set whole: its folder is renamed in last.

    Args:
        project: the project.
        reference: the manifest with ``items`` (item id → sha256 of the item's bytes).
        raw: item id → the text's bytes, as they lie in the label set.

    Raises:
        Refusal: there is one of that tier and name.
    """
    place = path_of(project, reference.tier, reference.name)
    made = replace(reference, n_items=len(raw), labels_sha256=_labels_digest(reference, raw))
    manifest = record.dump(made)
    large = len(raw) > parquet.ROWS_AS_TEXT
    last: dict[str, bytes] = {}
    if large:
        manifest.pop("items")
        rows = [
            {"item_id": item_id, "item_sha256": reference.items[item_id], "label": text}
            for item_id, text in raw.items()
        ]
        last[LARGE] = parquet.dump_rows(rows, LABEL_COLUMNS)
    last[MANIFEST] = strict.dump_manifest(manifest)
    taken = already(reference.ref)
    write_item_files(project, place, {} if large else raw, last=last, kind="reference set", already=taken)
    return made


def record_promotion(project: Project, ref: str, promoted_from: Mapping[str, Any], reason: str) -> None:
    """Write a promotion record into the manifest of a reference set that has none; nothing else changes.

    It is for sets that were made before labels existed: their texts, and the digests that fingerprints name,
    stay as they are. A reason that is there stays too. A record that names no label set gives way: it said
    only whose the labels are, while no set could be made of them.

    Args:
        project: the project.
        ref: ``<tier>/<name>``: the set's folder.
        promoted_from: what it was promoted from, as in `Reference`.
        reason: why.

    Raises:
        Refusal: there is no such set, or it has a promotion of label sets on record.
    """
    tier, _, name = ref.partition("/")
    path = path_of(project, tier, name) / MANIFEST
    with held(project.locks, project.writable(path.parent)):
        raw = strict.read_object(path)
        before = raw.get("promoted_from")
        if before is not None and not (isinstance(before, dict) and not before.get("labels")):
            raise Refusal(
                "existing-promotion",
                f"the reference set {ref!r} has a promotion on record",
                why=[f"{project.show(path)}: a promotion is recorded once"],
            )
        raw["promoted_from"] = dict(promoted_from)
        raw["reason"] = raw.get("reason") or reason
        atomic.write_file(path, strict.dump_manifest(raw))


def already(ref: str) -> Refusal:
    """Return the Refusal for a reference set that exists."""
    return Refusal(
        "existing-reference",
        f"there is a reference set {ref!r} already",
        why=[f"references/{ref}: a reference set is frozen"],
        next="choose another name with --name",
    )


def _folder_of(project: Project, reference: Reference) -> Path:
    for ref in refs(project):
        place = project.data / "references" / ref
        if _read(project, place) == reference:
            return place
    return path_of(project, reference.tier, reference.name)


def _read(project: Project, place: Path) -> Reference:
    places = [project.readable(place / MANIFEST), project.readable(place / LARGE)]
    return project.kept(("reference set", place), places, lambda: _read_anew(project, place))


def _read_anew(project: Project, place: Path) -> Reference:
    made = record.parse(
        strict.read_object(place / MANIFEST), project.show(place / MANIFEST), folder=place.name
    )
    if (place / LARGE).exists() and not made.items:
        return replace(made, items={row["item_id"]: row["item_sha256"] for row in _rows(project, place)})
    return made


def _rows(project: Project, place: Path) -> list[dict[str, Any]]:
    return parquet.read_rows(
        place / LARGE,
        LABEL_COLUMNS,
        place=project.show(place / LARGE),
        key="item_id",
        filled=("item_sha256", "label"),
    )
