"""A pick: an item that waits for the next version of one or more datasets. A line is the full new state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, without_empty

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OPS = ("pick", "drop", "used")


@dataclass(frozen=True, slots=True)
class Pick:
    """One line of ``picks.jsonl``."""

    item_id: str
    dataset_id: str
    sha256: str
    at: str = ""
    op: str = "pick"
    by: str = ""
    capture: str | None = None
    note: str = ""
    targets: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    used: tuple[Mapping[str, Any], ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """(dataset, item): the latest line of a key is the pick's state."""
        return self.dataset_id, self.item_id

    @property
    def waits_for(self) -> tuple[str, ...]:
        """The targets whose next version did not take it yet."""
        done = {str(one.get("for")) for one in self.used}
        return tuple(name for name in self.targets if name not in done)

    @property
    def taken_by(self) -> tuple[str, ...]:
        """The versions that took it."""
        return tuple(dict.fromkeys(str(one["in"]) for one in self.used if one.get("in")))

    @property
    def waits(self) -> bool:
        """Whether it waits for anything: for a target, or, where no version took it, to be given one."""
        return bool(self.waits_for) or not (self.targets or self.used)


def parse(raw: Mapping[str, Any], place: object) -> Pick:
    """Return one line of the list, or raise a Refusal with every key that is wrong."""
    shape = Shape(raw, place)
    made = Pick(
        item_id=shape.item_identifier(),
        dataset_id=shape.identifier("dataset_id"),
        sha256=shape.text("sha256"),
        at=shape.text("at"),
        op=shape.choice("op", OPS, "pick"),
        by=shape.text("by"),
        capture=shape.maybe_text("capture"),
        note=shape.text("note"),
        targets=shape.texts("targets"),
        tags={str(key): str(value) for key, value in shape.mapping("tags").items()},
        used=tuple(shape.listing("used")),
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a pick")
    return made


def dump(pick: Pick) -> dict[str, Any]:
    """Return one line of ``picks.jsonl``."""
    return {
        **pick.extra,
        "item_id": pick.item_id,
        "dataset_id": pick.dataset_id,
        "sha256": pick.sha256,
        "at": pick.at,
        "op": pick.op,
        "by": pick.by,
        "note": pick.note,
        "targets": list(pick.targets),
        "tags": dict(pick.tags),
        **without_empty({"capture": pick.capture, "used": list(pick.used) or None}),
    }


def latest(picks: Iterable[Pick]) -> dict[tuple[str, str], Pick]:
    """Return the state of each picked item: its latest line, dropped ones included."""
    return {pick.key: pick for pick in picks}
