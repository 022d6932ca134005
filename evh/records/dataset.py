"""A dataset: items in order, each known by its id and by the sha256 of its bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Scalar, Shape, scalars, without_empty

if TYPE_CHECKING:
    from collections.abc import Mapping

VISIBILITIES = ("public", "private")


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a dataset; its text lies in a file (or a Parquet row) and is never in the manifest."""

    item_id: str
    sha256: str
    source_path: str = ""
    fields: Mapping[str, Scalar] = field(default_factory=dict)
    lineage: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset's manifest, ``datasets/<dataset>.json``."""

    dataset_id: str
    items: tuple[Item, ...]
    version: int | str = 1
    created_at: str = ""
    description: str = ""
    source_dir: str = ""
    governed: bool = False
    visibility: str = "private"
    redistributable: bool = True
    parent: str | None = None
    task: str = ""
    field_types: Mapping[str, str] = field(default_factory=dict)
    cluster_field: str | None = None
    items_file: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    _known: list[dict[str, Item]] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def by_id(self) -> Mapping[str, Item]:
        """The items by their id; made once, so that asking for each item of many stays cheap."""
        if not self._known:
            self._known.append({item.item_id: item for item in self.items})
        return self._known[0]

    def by_sha(self) -> dict[str, list[Item]]:
        """Return the items by the sha256 of their bytes; equal bytes share an entry."""
        made: dict[str, list[Item]] = {}
        for item in self.items:
            made.setdefault(item.sha256, []).append(item)
        return made


def parse(raw: Mapping[str, Any], place: object) -> Dataset:
    """Return the dataset in a manifest.

    Raises:
        Refusal: every key of a wrong type, every item without an id or a hash, every doubled id.
    """
    shape = Shape(raw, place)
    items: list[Item] = []
    seen: set[str] = set()
    for position, entry in enumerate(shape.listing("items")):
        if not isinstance(entry, dict):
            shape.problem(f"items[{position}]", "is not a mapping")
            continue
        made = _item(entry, f"{place}: items[{position}]", shape.reasons)
        if made.item_id in seen:
            shape.problem(f"items[{position}]", f"the id {made.item_id!r} stands twice")
        seen.add(made.item_id)
        items.append(made)
    version = shape.take("version")
    dataset = Dataset(
        dataset_id=shape.identifier("dataset_id"),
        items=tuple(items),
        version=version if isinstance(version, int | str) else 1,
        created_at=shape.text("created_at"),
        description=shape.text("description"),
        source_dir=shape.text("source_dir"),
        governed=shape.flag("governed"),
        visibility=shape.choice("visibility", VISIBILITIES, "private"),
        redistributable=shape.flag("redistributable", default=True),
        parent=shape.maybe_text("parent"),
        task=shape.text("task"),
        field_types=shape.mapping("fields"),
        cluster_field=shape.maybe_text("cluster_field"),
        items_file=shape.maybe_text("items_file"),
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a dataset that evh can read")
    return dataset


def dump(dataset: Dataset) -> dict[str, Any]:
    """Return the manifest of a dataset; keys that mean "none" are left out."""
    made: dict[str, Any] = {
        **dataset.extra,
        "dataset_id": dataset.dataset_id,
        "version": dataset.version,
        "created_at": dataset.created_at,
        "description": dataset.description,
        "source_dir": dataset.source_dir,
        "governed": dataset.governed,
        "visibility": dataset.visibility,
        "redistributable": dataset.redistributable,
        **without_empty(
            {
                "parent": dataset.parent,
                "task": dataset.task or None,
                "fields": dict(dataset.field_types) or None,
                "cluster_field": dataset.cluster_field,
                "items_file": dataset.items_file,
            }
        ),
    }
    if dataset.items_file is None:
        made["items"] = [dump_item(item) for item in dataset.items]
    return made


def dump_item(item: Item) -> dict[str, Any]:
    """Return an item's entry in the manifest."""
    made: dict[str, Any] = {
        **item.extra,
        "item_id": item.item_id,
        "source_path": item.source_path,
        "source_sha256": item.sha256,
    }
    if item.fields:
        made["fields"] = dict(item.fields)
    if item.lineage:
        made["lineage"] = dict(item.lineage)
    return made


def field_types_of(items: list[Item]) -> dict[str, str]:
    """Return each field's type over all items: ``text``, ``number``, ``bool`` or ``mixed``."""
    made: dict[str, str] = {}
    for item in items:
        for name, value in item.fields.items():
            kind = "bool" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
            made[name] = kind if made.get(name, kind) == kind else "mixed"
    return dict(sorted(made.items()))


def _item(entry: Mapping[str, Any], place: str, reasons: list[str]) -> Item:
    shape = Shape(entry, place)
    made = Item(
        item_id=shape.item_identifier(),
        sha256=shape.text("source_sha256", required=True),
        source_path=shape.text("source_path"),
        fields=scalars(shape, "fields"),
        lineage=shape.mapping("lineage"),
        extra=shape.rest(),
    )
    reasons.extend(shape.reasons)
    return made
