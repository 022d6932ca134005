"""A sheet's rows in full, as the opened row shows them: fields, text, every output and every label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.project.memory import Same
from evh.records.answers import shown
from evh_build.markdown import note
from evh_build.sheet_columns import field_text, picked_for
from evh_build.sheet_data import INLINE_ROWS, embedded
from evh_build.urls import href, root_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evh.acts.sheet_model import Row, Sheet
    from evh.records.labelset import LabelItem
    from evh_build.source import Source


def full_rows(source: Source, sheet: Sheet, page: str) -> Iterable[str]:
    """Give each row of a sheet in full as inert JSON, in the sheet's order; those of a small one are kept."""
    gathered = source.gathered
    dataset = gathered.datasets[sheet.dataset_id]
    full = FullRows(source, sheet, page)
    if len(sheet.rows) > INLINE_ROWS:
        return (embedded(full(row)) for row in sheet.rows)
    texts = gathered.texts(dataset)
    sets = [gathered.label_sets.get(one.ref.removeprefix("labels/")) for one in sheet.labels]
    return source.each(
        ("rows in full", page), sheet.rows, lambda row: embedded(full(row)),
        Same(source.urls.items(sheet.dataset_id)), sheet.dataset_id,
        [(one.ref, Same(held)) for one, held in zip(sheet.labels, sets, strict=True)], source.max_item_text,
        own=lambda row: (texts.get(row.item_id), Same(dataset.by_id[row.item_id])),
    )  # fmt: skip


class FullRows:
    """Gives a row in full as JSON values; a text longer than the site's limit is cut and says by how much.

    Notes are HTML, rendered from Markdown as on every page; all else is text.

    Args:
        source: the site's records.
        sheet: the sheet.
        page: the path of the sheet's page, from which a link to an item's page leads.
    """

    def __init__(self, source: Source, sheet: Sheet, page: str) -> None:
        self._source = source
        self._sheet = sheet
        self._root = root_of(page)
        self._most = source.max_item_text
        dataset = source.gathered.datasets[sheet.dataset_id]
        self._texts = source.gathered.texts(dataset)
        self._lineage = {item.item_id: item.lineage for item in dataset.items}
        self._notes = [_notes(source, one.ref) for one in sheet.labels]

    def __call__(self, row: Row) -> dict[str, Any]:
        """Return a row of the sheet; what is empty is left out."""
        data = self._texts.get(row.item_id)
        path = self._source.urls.item(self._sheet.dataset_id, row.item_id)
        made = {
            "path": href(path, self._root) if path else None,
            "sha256": row.sha256,
            "text": None if data is None else self._cut(data.decode("utf-8", "replace")),
            "fields": [
                [name, text] for name, value in row.fields.items() if (text := field_text_whole(value))
            ],
            "from": [[str(key), str(value)] for key, value in self._lineage.get(row.item_id, {}).items()],
            "arms": [
                None
                if cell.output is None and cell.decision is None and cell.error is None
                else {
                    key: value
                    for key, value in (
                        ("decision", cell.decision),
                        ("output", None if cell.output is None else self._cut(cell.output)),
                        ("error", cell.error),
                    )
                    if value is not None and (key != "output" or value[0] != cell.decision)
                }
                for cell in row.cells
            ],
            "labels": [self._label(number, row, text) for number, text in enumerate(row.labels)],
            "pick": _pick(row),
        }
        return {key: value for key, value in made.items() if value not in (None, [])}

    def _cut(self, text: str) -> list[Any]:
        """Return a text, and how many characters of it are not here where it is cut."""
        return [text] if len(text) <= self._most else [text[: self._most], len(text) - self._most]

    def _label(self, number: int, row: Row, text: str | None) -> list[str | None] | None:
        if text is None:
            return None
        item = self._notes[number].get(row.sha256)
        made = [shown(text), (str(note(item.note)) or None) if item else None, item.slice if item else None]
        while made and made[-1] is None:
            made.pop()
        return made


def field_text_whole(value: Any) -> str | None:  # noqa: ANN401 - a field is any scalar
    """Return a field's value uncut; None for one that is empty."""
    if isinstance(value, str):
        return value or None
    return field_text(value)


def _notes(source: Source, ref: str) -> Mapping[str, LabelItem]:
    """Return what a label set wrote beside its labels, by the sha256 of the item's bytes."""
    held = source.gathered.label_sets.get(ref.removeprefix("labels/")) if ref.startswith("labels/") else None
    if held is None:
        return {}
    return {one.sha256: one for one in held.items.values() if one.note or one.slice}


def _pick(row: Row) -> dict[str, Any] | None:
    pick = row.picked
    if pick is None:
        return None
    return {
        "for": picked_for(row),
        "in": list(pick.taken_by),
        "tags": [f"{key}={value}" for key, value in pick.tags.items()],
        "note": str(note(pick.note)),
        "by": pick.by,
        "at": pick.at[:10],
        "used": sorted({str(one.get("for")) for one in pick.used}),
    }
