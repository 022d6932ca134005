"""A reference set: labels promoted on purpose, with a reason, at a tier that a person chose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, without_empty

if TYPE_CHECKING:
    from collections.abc import Mapping

TIERS = ("gold", "silver")


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference's ``manifest.json``. Its name across the project is `ref`, ``<tier>/<name>``.

    ``promoted_from`` is ``{labels: ["<dataset>/<set>"], source: [...], labels_sha256: [...]}``, or None
    where no promotion is on record (a foreign tree). ``items`` maps an item id to the item's sha256.
    ``labels_sha256`` is the digest of its texts, by the formula of a label set; empty in a foreign tree.
    """

    dataset_id: str
    tier: str
    name: str
    n_items: int = 0
    created_at: str = ""
    caveat: str = ""
    promoted_from: Mapping[str, Any] | None = None
    reason: str | None = None
    promoted_by: str | None = None
    items: Mapping[str, str] = field(default_factory=dict)
    labels_sha256: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """``<tier>/<name>``."""
        return f"{self.tier}/{self.name}"

    @property
    def label_refs(self) -> tuple[str, ...]:
        """The label sets it was promoted from, as ``<dataset>/<set>``."""
        return tuple((self.promoted_from or {}).get("labels") or ())


def parse(raw: Mapping[str, Any], place: object, *, folder: str) -> Reference:
    """Return the reference in a manifest; a foreign one's name is its folder's.

    Args:
        raw: the manifest.
        place: names it in a Refusal.
        folder: the name of the folder it lies in.
    """
    shape = Shape(raw, place)
    made = Reference(
        dataset_id=shape.identifier("dataset_id"),
        tier=shape.identifier("tier"),
        name=shape.identifier("name", default=folder),
        n_items=shape.count("n_items"),
        created_at=shape.text("created_at"),
        caveat=shape.text("caveat"),
        promoted_from=_promoted_from(shape),
        reason=shape.maybe_text("reason"),
        promoted_by=shape.maybe_text("promoted_by"),
        items={key: str(value) for key, value in shape.mapping("items").items()},
        labels_sha256=shape.text("labels_sha256"),
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a reference set that evh can read")
    return made


def _promoted_from(shape: Shape) -> dict[str, Any] | None:
    """Return where the labels came from: label sets and digests are texts, sources texts or mappings."""
    found = shape.maybe_mapping("promoted_from")
    if found is None:
        return None
    one = Shape(found, f"{shape.place}: promoted_from")
    lists: dict[str, Any] = {
        name: list(one.texts(name)) for name in ("labels", "labels_sha256") if name in found
    }
    if "source" in found:
        told = found["source"]
        lists["source"] = [told] if isinstance(told, str | dict) else one.listing("source")
        for at, source in enumerate(lists["source"]):
            if not isinstance(source, str | dict):
                one.problem(f"source[{at}]", "is neither a text nor a mapping")
    shape.reasons.extend(one.reasons)
    return {**found, **lists}


def dump(reference: Reference) -> dict[str, Any]:
    """Return the ``manifest.json`` of a reference."""
    return {
        **reference.extra,
        "dataset_id": reference.dataset_id,
        "tier": reference.tier,
        "name": reference.name,
        "n_items": reference.n_items,
        "created_at": reference.created_at,
        "caveat": reference.caveat,
        **without_empty(
            {
                "promoted_from": reference.promoted_from,
                "reason": reference.reason,
                "promoted_by": reference.promoted_by,
                "items": dict(reference.items) or None,
                "labels_sha256": reference.labels_sha256 or None,
            }
        ),
    }
