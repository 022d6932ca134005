"""Which item of the dataset a task of another tool shows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evh.acts.label_tools import argilla
from evh.project import datasets
from evh.store import spreadsheet
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from evh.acts.label_tools.given import Given
    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item

BY_ID, BY_TEXT, BY_TRIMMED, BY_RECORD = (
    "item_id",
    "text",
    "text but for line ends and outer space",
    "record id",
)
SHOWN = ("item", "text", "data")
"""What a task calls the text that its annotator saw."""


class Finder:
    """Finds the items of tasks; ``found`` counts how."""

    def __init__(self, project: Project, dataset: Dataset, tool: str) -> None:
        self._project = project
        self._dataset = dataset
        self._tool = tool
        self._by_id = dataset.by_id
        self._by_sha = dataset.by_sha()
        self._trimmed: dict[str, list[Item]] | None = None
        self.found: Counter[str] = Counter()

    def find(self, given: Given, reasons: list[tuple[str, str]]) -> Item | None:
        """Return the item that a task shows, or None with the reason noted."""
        named = given.data.get("item_id")
        if named is not None and str(named).strip():
            return self._named(str(named), given, reasons)
        texts = [value for value in given.data.values() if isinstance(value, str) and value]
        for how, shas in ((BY_TEXT, self._exact(texts)), (BY_TRIMMED, None)):
            matching = self._alike(texts) if shas is None else shas
            if len(matching) > 1:
                some = " and ".join(sorted(self._by_sha[sha][0].item_id for sha in matching)[:3])
                reasons.append(
                    ("unknown-item", f"{given.place}: its texts are those of several items: {some}")
                )
                return None
            if matching:
                self.found[how] += 1
                return self._by_sha[matching.pop()][0]
        record = self._by_id.get(str(given.data.get("id"))) if self._tool == argilla.NAME else None
        if record is not None and self._unchanged(record, given, reasons):
            self.found[BY_RECORD] += 1
            return record
        if record is None:
            told = f"none of its texts are the bytes of an item of {self._dataset.dataset_id}"
            reasons.append(("unknown-item", f"{given.place}: it has no item_id, and {told}"))
        return None

    def _named(self, item_id: str, given: Given, reasons: list[tuple[str, str]]) -> Item | None:
        item = self._by_id.get(item_id)
        if item is None:
            told = f"there is no item {item_id!r} in {self._dataset.dataset_id}"
            reasons.append(("unknown-item", f"{given.place}: {told}"))
            return None
        digest = given.data.get("item_sha256")
        if isinstance(digest, str) and digest.strip() and digest.strip().lower() != item.sha256:
            told = f"{item_id}: its item_sha256 is not that of the item's bytes"
            reasons.append(("changed-item", f"{given.place}: {told}"))
            return None
        if not self._unchanged(item, given, reasons):
            return None
        self.found[BY_ID] += 1
        return item

    def _unchanged(self, item: Item, given: Given, reasons: list[tuple[str, str]]) -> bool:
        """Tell whether the task shows the item's bytes, where it shows a text at all."""
        texts = [given.data[name] for name in SHOWN if isinstance(given.data.get(name), str)]
        if not texts or item.sha256 in self._exact(texts) or item.sha256 in self._alike(texts):
            return True
        reasons.append(
            ("changed-text", f"{given.place}: {item.item_id}: the text that was labelled is not the item's")
        )
        return False

    def _exact(self, texts: list[str]) -> set[str]:
        return {sha for sha in map(sha256_text, texts) if sha in self._by_sha}

    def _alike(self, texts: list[str]) -> set[str]:
        """Return the sha256 of items whose text is one of these but for line ends and outer white space."""
        if self._trimmed is None:
            self._trimmed = {}
            for item_id, data in datasets.texts(
                self._project, self._dataset, list(self._dataset.items)
            ).items():
                text = spreadsheet.level(data.decode("utf-8", "replace")).strip()
                self._trimmed.setdefault(text, []).append(self._by_id[item_id])
        plain = (spreadsheet.level(text).strip() for text in texts)
        return {item.sha256 for text in plain if text for item in self._trimmed.get(text, ())}
