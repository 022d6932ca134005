"""What a label or reference set says of each item of a dataset, as pages show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.records.answers import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh_build.source import Source


def answers(source: Source, dataset_id: str, ref: str | None) -> Mapping[str, str]:
    """Return item id → answer of the set ``labels/<dataset>/<set>`` or ``<tier>/<name>``; empty for none."""
    sheet = source.gathered.sheet(dataset_id)
    if sheet is None or ref is None:
        return {}

    def made() -> Mapping[str, str]:
        at = next((at for at, column in enumerate(sheet.labels) if column.ref == ref), None)
        if at is None:
            return {}
        return {row.item_id: shown(label) for row in sheet.rows if (label := row.labels[at]) is not None}

    return source.once(("answers", f"{dataset_id}\0{ref}"), made)
