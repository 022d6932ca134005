"""Which item of a dataset a row of another tool's log is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.acts.label_tools.given import Given
from evh.acts.tool_items import Finder
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.acts.import_tools.given import Row
    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item


class Matcher:
    """Finds the item of each row: by ``item_id``, else by the tool's own id, else by the bytes."""

    def __init__(self, project: Project, dataset: Dataset, tool: str) -> None:
        self._by_id = dataset.by_id
        self._by_sha = dataset.by_sha()
        self._finder = Finder(project, dataset, tool)

    @property
    def found(self) -> Mapping[str, int]:
        """How the items were found → how many rows."""
        return self._finder.found

    def item(self, row: Row, reasons: list[tuple[str, str]]) -> Item | None:
        """Return the item of a row, or None with the reason noted."""
        named = row.item_id or next((one for one in row.ids if one in self._by_id), None)
        data: dict[str, Any] = {f"text {at}": text for at, text in enumerate(row.texts)}
        if named:
            data = {"item_id": named, "item_sha256": row.item_sha256}
        found = self._finder.find(Given(row.place, "", data=data), reasons)
        if found is None or row.item_id is not None or not named:
            return found
        shown = {one.item_id for text in row.texts for one in self._by_sha.get(sha256_text(text), ())}
        if shown and found.item_id not in shown:
            told = f"it is named like the item {found.item_id}, and its text is that of {min(shown)}"
            reasons.append(("changed-text", f"{row.place}: {told}"))
            return None
        return found
