"""The shelf of datasets: ``data/datasets/<dataset>.json`` and the items' bytes in ``data/sources/``."""

from __future__ import annotations

import contextlib
import operator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project import item_texts
from evh.project.item_texts import Reader, item_rows, items_path
from evh.project.shelf import check_new, files, listed, missing, read_each
from evh.records import dataset as record
from evh.records.dataset import Dataset, Item
from evh.store import atomic, parquet, strict
from evh.store.hashing import sha256, sha256_lines
from evh.store.locks import held
from evh.store.names import check_id, item_stems

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evh.project.find import Project
ITEM_COLUMNS = item_texts.ITEM_COLUMNS
source_path = item_texts.source_path


def ids(project: Project) -> list[str]:
    """Return the ids of the datasets, sorted."""
    return [path.name.removesuffix(".json") for path in files(project.data / "datasets", ".json")]


def path_of(project: Project, dataset_id: str) -> Path:
    """Return the path of a dataset's manifest."""
    return project.data / "datasets" / f"{check_id(dataset_id, 'dataset')}.json"


def exists(project: Project, dataset_id: str) -> bool:
    """Tell whether there is a dataset of that id."""
    return path_of(project, dataset_id).exists()


def read(project: Project, dataset_id: str) -> Dataset:
    """Return a dataset with its items.

    Raises:
        Refusal: there is none of that id, or its manifest cannot be read.
    """
    path = path_of(project, dataset_id)
    if not path.exists():  # a foreign tree may keep it under another name
        found = [one for one in read_all(project, []) if one.dataset_id == dataset_id]
        if found:
            return found[0]
        raise missing("dataset", dataset_id, ids(project), next="evh datasets")
    return _read(project, path)


def read_file(project: Project, path: Path) -> Dataset:
    """Return the dataset in a manifest's file, whatever the file is called."""
    return _read(project, path)


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[Dataset]:
    """Return every dataset, in the order of their ids; see `shelf.read_each` for ``problems``."""
    paths = listed(lambda: files(project.data / "datasets", ".json"), problems)
    return read_each(paths, lambda path: _read(project, path), problems)


def versions(project: Project, problems: list[Refusal] | None = None) -> list[Dataset]:
    """Return every dataset that was made from another one, whole; of the others no item is read."""
    paths = listed(lambda: files(project.data / "datasets", ".json"), problems)

    def versions_in(path: Path) -> list[Dataset]:
        return [_read(project, path)] if _may_have_parent(project.readable(path)) else []

    made = read_each(paths, versions_in, problems)
    return [one for some in made for one in some if one.parent is not None]


def _may_have_parent(path: Path) -> bool:
    data = strict.read_bytes(path)
    return b'"parent"' in data or b"\\u" in data  # an escaped key is read to be sure


def item(dataset: Dataset, item_id: str) -> Item:
    """Return one item of a dataset, or raise a Refusal that names the likeliest ones."""
    found = dataset.by_id.get(item_id)
    if found is None:
        raise missing(
            "item", item_id, dataset.by_id, next=f"evh dataset-items --dataset-id {dataset.dataset_id}"
        )
    return found


def item_bytes(project: Project, dataset: Dataset, item: Item) -> bytes:
    """Return an item's raw bytes.

    Raises:
        Refusal: no file of it is found, it lies outside the project, or its bytes are not the ones recorded.
    """
    return texts(project, dataset, [item])[item.item_id]


def texts(project: Project, dataset: Dataset, items: list[Item] | None = None) -> dict[str, bytes]:
    """Return the raw bytes of items (all of the dataset's by default) by id, each checked by its sha256.

    Raises:
        Refusal: every item whose file is missing or whose bytes changed.
    """
    places = text_places(project, dataset) if items is None else None
    if places is None:
        return _texts(project, dataset, list(dataset.items if items is None else items))
    key = ("texts", dataset.dataset_id)
    return dict(project.kept(key, places, lambda: _texts(project, dataset, list(dataset.items)), dataset))


def texts_here(project: Project, dataset: Dataset, problems: list[Refusal]) -> dict[str, bytes]:
    """Return the raw bytes of those items whose text is here and is the one recorded, by id.

    Args:
        project: the project.
        dataset: the dataset.
        problems: gets a Refusal of each other item; one of the whole where the texts lie in one file.
    """
    stored = dataset.items_file is not None
    whole = read_each([None], lambda _: texts(project, dataset), problems if stored else [])
    if whole or stored:
        return whole[0] if whole else {}
    places, make = text_places(project, dataset), partial(_texts_here, project, dataset)
    key = ("texts here", dataset.dataset_id)
    found = make() if places is None else project.kept(key, places, make, dataset)
    problems += found.problems
    return dict(found.texts)


@dataclass(frozen=True, slots=True)
class _Here:
    """The texts that are here, and why the others are not."""

    texts: Mapping[str, bytes]
    problems: tuple[Refusal, ...]


def _texts_here(project: Project, dataset: Dataset) -> _Here:
    problems: list[Refusal] = []
    with Reader(project, dataset) as reader:
        made = read_each(dataset.items, lambda one: _checked(reader, dataset, one), problems)
    return _Here({name: data for part in made for name, data in part.items()}, tuple(problems))


def _checked(reader: Reader, dataset: Dataset, item: Item) -> dict[str, bytes]:
    found = reader.read(item)
    if isinstance(found, bytes):
        return {item.item_id: found}
    raise item_texts.changed(dataset, [found])


def text_places(project: Project, dataset: Dataset) -> list[Path] | None:
    """Return the folders that say what a dataset's texts are, or None: they may lie anywhere."""
    own = f"sources/{dataset.dataset_id}"
    if dataset.items_file is not None:
        return [items_path(project, dataset)]
    if dataset.source_dir not in ("", own) or not all(
        one.source_path.startswith(f"{own}/") and ".." not in one.source_path for one in dataset.items
    ):
        return None
    return [project.data / own, project.root / own]


def _texts(project: Project, dataset: Dataset, wanted: list[Item]) -> dict[str, bytes]:
    made: dict[str, bytes] = {}
    reasons: list[str] = []
    with Reader(project, dataset) as reader:
        for one in wanted:
            found = reader.read(one)
            if isinstance(found, bytes):
                made[one.item_id] = found
            else:
                reasons.append(found)
    if reasons:
        raise item_texts.changed(dataset, reasons)
    return made


def write_new(project: Project, dataset: Dataset, item_texts: Mapping[str, bytes]) -> Dataset:
    """Write a new dataset: its texts first, its manifest last (the commit point).

    Args:
        project: the project.
        dataset: the dataset; its items' ``source_path`` and ``sha256`` are filled in from the texts.
        item_texts: every item's raw bytes.

    Returns:
        The dataset as it was written.

    Raises:
        Refusal: there is a dataset of that id.
    """
    place = path_of(project, dataset.dataset_id)
    folder = project.writable(project.data / "sources" / dataset.dataset_id)
    stems = item_stems([item.item_id for item in dataset.items])
    large = len(dataset.items) > parquet.ROWS_AS_TEXT
    items = tuple(
        replace(
            item,
            sha256=sha256(item_texts[item.item_id]),
            source_path="" if large else f"sources/{dataset.dataset_id}/{stems[item.item_id]}.txt",
        )
        for item in dataset.items
    )
    items_file = f"{dataset.dataset_id}.items.parquet" if large else None
    made = replace(
        dataset,
        items=items,
        items_file=items_file,
        source_dir="" if large else f"sources/{dataset.dataset_id}",
        field_types=record.field_types_of(list(items)),
    )
    with held(project.locks, project.writable(place)):
        if place.exists():
            raise already(dataset.dataset_id)
        check_new(place, "dataset")
        if items_file:
            rows = [_row(item, item_texts[item.item_id]) for item in items]
            texts_at = place.with_name(items_file)
            with atomic.removed_unless(place, texts_at):
                atomic.write_file(texts_at, parquet.dump_rows(rows, ITEM_COLUMNS))
                atomic.write_new_file(place, strict.dump_manifest(record.dump(made)))
        else:
            files_made = {f"{stems[item.item_id]}.txt": item_texts[item.item_id] for item in items}
            _check_litter(project, folder, files_made)
            there = folder.exists()  # equal bytes that somebody put there stay, whatever happens
            with contextlib.nullcontext() if there else atomic.removed_unless(place, folder):
                with atomic.replaced_folder(folder) as writer:
                    for name, data in files_made.items():
                        writer.add(name, data)
                atomic.write_new_file(place, strict.dump_manifest(record.dump(made)))
    return made


def amend(project: Project, dataset_id: str, change: Callable[[Dataset], Dataset]) -> Dataset:
    """Write a dataset's manifest again with other flags, read and written under one lock (`dataset-set`)."""
    place = path_of(project, dataset_id)
    with held(project.locks, project.writable(place)):
        made = change(read(project, dataset_id))
        atomic.write_file(place, strict.dump_manifest(record.dump(made)))
    return made


def already(dataset_id: str) -> Refusal:
    """Return the Refusal for a dataset that exists: a dataset is written once."""
    return Refusal(
        "existing-dataset",
        f"there is a dataset {dataset_id!r} already",
        why=[f"datasets/{dataset_id}.json: a dataset is never overwritten"],
        next="choose another --dataset-id",
    )


def digest(dataset: Dataset) -> str:
    """Return the digest of a dataset's items: what a fingerprint names. Order does not change it."""
    return sha256_lines(f"{item.item_id}\t{item.sha256}" for item in dataset.items)


def _read(project: Project, path: Path) -> Dataset:
    project.readable(path)

    def read() -> Dataset:
        return _steady(project, path, record.parse(strict.read_object(path), project.show(path)))

    dataset = project.kept(("dataset", path), [path], read)
    if dataset.items_file is None:
        return dataset
    return project.kept(
        ("dataset-items", path),
        [path, path.parent / dataset.items_file],
        lambda: _with_items(project, path, dataset),
    )


def _steady(project: Project, path: Path, dataset: Dataset) -> Dataset:
    """Return the objects that a process that reads again had for a dataset and its items, where alike.

    What was made of an item is then known to hold, whatever else of the manifest was edited.
    """
    memory = project.memory
    if memory is None:
        return dataset
    items = memory.steady(("items of", path), {one.item_id: one for one in dataset.items}, _alike)
    made = replace(dataset, items=tuple(items.values()))
    return memory.steady(("manifest", path), {path: made}, _same_items)[path]


def _alike(one: Item, other: Item) -> bool:
    """Tell whether two items cannot be told apart, as their ``repr`` does: 1 and 1.0 are equal."""
    return one.sha256 == other.sha256 and repr(one) == repr(other)


def _same_items(one: Dataset, other: Dataset) -> bool:
    return (
        len(one.items) == len(other.items)
        and all(map(operator.is_, one.items, other.items))
        and repr(replace(one, items=())) == repr(replace(other, items=()))
    )


def _with_items(project: Project, path: Path, dataset: Dataset) -> Dataset:
    if dataset.items:
        raise Refusal(
            "two-forms",
            f"{project.show(path)} has its items twice",
            why=[f"{project.show(path)}: items and items_file ({dataset.items_file})"],
            next="remove the one that is not meant",
        )
    items = [
        {
            "item_id": row["item_id"],
            "source_sha256": row["sha256"],
            "fields": _object(row, "fields", dataset),
            "lineage": _object(row, "lineage", dataset),
        }
        for row in item_rows(project, dataset)
    ]
    whole: dict[str, Any] = {**strict.read_object(path), "items": items}
    return record.parse(whole, project.show(path))


def _row(item: Item, text: bytes) -> dict[str, Any]:
    return {
        "item_id": item.item_id,
        "sha256": item.sha256,
        "text": text,
        "fields": strict.compact(dict(item.fields)),
        "lineage": strict.compact(dict(item.lineage)),
    }


def _check_litter(project: Project, folder: Path, files_made: Mapping[str, bytes]) -> None:
    """Refuse a folder of texts that holds anything but what an unfinished try of this dataset left there."""
    if not folder.exists():
        return
    theirs = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_symlink()
        or not (path.is_dir() or (path.is_file() and files_made.get(path.name) == strict.read_bytes(path)))
    ]
    if theirs:
        raise Refusal(
            "texts-in-the-way",
            f"{project.show(folder)} holds files that no dataset names",
            why=[f"{project.show(path)}: would be lost" for path in theirs],
            next=f"move {project.show(folder)} elsewhere (then dataset-create --source-dir that folder)",
        )


def _object(row: Mapping[str, Any], column: str, dataset: Dataset) -> dict[str, Any]:
    text = row[column]
    if not text or text == "{}":
        return {}
    return strict.parse_object(text.encode(), f"{dataset.items_file}: {row['item_id']}: {column}")
