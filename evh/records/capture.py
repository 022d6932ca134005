"""A capture: production records as they came, each with a ``record_id`` and the time of its decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, without_empty

if TYPE_CHECKING:
    from collections.abc import Mapping

Record = dict[str, Any]
"""A record is the raw mapping: ``record_id`` and ``ts`` are evh's, foreign keys keep their names."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A capture's manifest, ``captures/<capture>/capture.json``.

    ``split`` names where a half of another capture came from: ``{of, at|fraction, seed, part}``.
    ``adapter`` is the adapter that named the records: ``{path, sha256}``, or None for evh's own keys.
    ``n_no_item`` and ``n_no_time`` count records that no dataset and no split can take.
    """

    capture_id: str
    n_records: int
    records_sha256: str
    created_at: str = ""
    source: Mapping[str, Any] = field(default_factory=dict)
    since_capture: str | None = None
    sample: Mapping[str, Any] | None = None
    scrub: Mapping[str, Any] | None = None
    time_range: tuple[str, str] | None = None
    split: Mapping[str, Any] | None = None
    adapter: Mapping[str, Any] | None = None
    n_no_item: int = 0
    n_no_time: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parent(self) -> str | None:
        """The capture that this one was split from, or None."""
        return str(self.split["of"]) if self.split and self.split.get("of") else None


def parse(raw: Mapping[str, Any], place: object) -> Capture:
    """Return the capture in a manifest, or raise a Refusal with every key that is wrong."""
    shape = Shape(raw, place)
    bounds = shape.texts("time_range")
    capture = Capture(
        capture_id=shape.identifier("capture_id"),
        n_records=shape.count("n_records"),
        records_sha256=shape.text("records_sha256"),
        created_at=shape.text("created_at"),
        source=shape.mapping("source"),
        since_capture=shape.maybe_text("since_capture"),
        sample=shape.maybe_mapping("sample"),
        scrub=shape.maybe_mapping("scrub"),
        time_range=(bounds[0], bounds[1]) if len(bounds) == 2 else None,
        split=shape.maybe_mapping("split"),
        adapter=shape.maybe_mapping("adapter"),
        n_no_item=shape.count("n_no_item"),
        n_no_time=shape.count("n_no_time"),
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a capture that evh can read")
    return capture


def dump(capture: Capture) -> dict[str, Any]:
    """Return the manifest of a capture; nulls stand where the layout names them."""
    return {
        **capture.extra,
        "capture_id": capture.capture_id,
        "created_at": capture.created_at,
        "source": dict(capture.source),
        "n_records": capture.n_records,
        "records_sha256": capture.records_sha256,
        "since_capture": capture.since_capture,
        "sample": dict(capture.sample) if capture.sample else None,
        "scrub": dict(capture.scrub) if capture.scrub else None,
        "time_range": list(capture.time_range) if capture.time_range else None,
        "n_no_item": capture.n_no_item,
        "n_no_time": capture.n_no_time,
        **without_empty({"split": capture.split, "adapter": capture.adapter}),
    }
