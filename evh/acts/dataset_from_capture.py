"""A capture's records → a dataset: each item knows the record it came from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evh.acts.capture import adapter_of
from evh.acts.dataset_create import Draft, Flags, Plan, assemble, commit
from evh.errors import Refusal
from evh.project import captures, datasets
from evh.project.shelf import read_each

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh.records.capture import Record

__all__ = ["Flags", "Plan", "commit", "plan"]


def plan(
    project: Project,
    capture_id: str,
    dataset_id: str,
    flags: Flags | None = None,
    *,
    adapter: str = "",
    allow_duplicates: bool = False,
) -> Plan:
    """Return the dataset that a capture's records make; records without an item are left out and counted.

    Args:
        project: the project.
        capture_id: the capture.
        dataset_id: the new dataset's id.
        flags: see `Flags`.
        adapter: reads the records; by default the capture's own, else the project's.
        allow_duplicates: let records of equal bytes make an item each.

    Raises:
        Refusal: an existing dataset; a hook that fails; doubled or impossible ids; equal bytes. All at once.
    """
    if datasets.exists(project, dataset_id):
        raise datasets.already(dataset_id)
    capture = captures.read(project, capture_id)
    hooks = adapter_of(project, capture, adapter)

    def draft(row: Record) -> Draft | None:
        place = f"captures/{capture_id}: record {row.get('record_id')!r}"
        text = hooks.item(row, place)
        if text is None:
            return None
        item_id = hooks.item_id(row, place)
        if item_id is None:
            raise Refusal("bad-items", "a record's item has no id", why=[f"{place}: its item has no id"])
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            why = f"{place}: its text holds a lone surrogate, which is no character"
            raise Refusal("bad-items", "a record's item is no text", why=[why]) from error
        lineage = {"capture": capture_id, "record_id": row.get("record_id") or hooks.record_id(row, place)}
        return Draft(item_id, data, place, hooks.fields(row, place), lineage)

    problems: list[Refusal] = []
    drafts = read_each(captures.records(project, capture), draft, problems)
    made = assemble(
        project,
        dataset_id,
        [one for one in drafts if one is not None],
        flags or Flags(),
        name=f"captures/{capture_id}",
        reasons=[reason for problem in problems for reason in problem.why],
        allow_duplicates=allow_duplicates,
    )
    return replace(made, n_left_out=sum(one is None for one in drafts))
