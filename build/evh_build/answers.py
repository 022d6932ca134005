"""What a label or reference set says of each item of a dataset, as pages show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.project.memory import Same
from evh.records.answers import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh_build.source import Source


def answers(source: Source, dataset_id: str, ref: str | None) -> Mapping[str, str]:
    """Return item id → answer of the set ``labels/<dataset>/<set>`` or ``<tier>/<name>``; empty for none."""
    dataset, sheet = source.gathered.datasets.get(dataset_id), source.gathered.sheet(dataset_id)
    if dataset is None or sheet is None or ref is None:
        return {}

    def found() -> Mapping[str, str]:
        covering = source.gathered.sources.covering(dataset)
        texts = next((one.texts for one in covering if one.ref == ref), None)
        key = ("answers", dataset_id, ref)
        return source.gathered.kept(key, (), lambda: made(texts or {}), Same(dataset), Same(texts))

    def made(texts: Mapping[str, str]) -> Mapping[str, str]:
        return {one.item_id: shown(texts[one.sha256]) for one in dataset.items if one.sha256 in texts}

    return source.once(("answers", f"{dataset_id}\0{ref}"), found)
