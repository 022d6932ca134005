"""A capture's records → a dataset: each item knows the record it came from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evh.acts.capture import adapter_of
from evh.acts.dataset_create import Draft, Flags, Plan, assemble, commit
from evh.acts.record_keys import keys_told
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
    refused: list[Refusal] = []
    found = read_each([capture_id], lambda one: captures.read(project, one), refused)
    if datasets.exists(project, dataset_id):
        refused.append(datasets.already(dataset_id))
    if len(refused) == 1:
        raise refused[0]
    if refused:
        raise Refusal(
            "cannot-make-dataset",
            f"the dataset {dataset_id!r} cannot be made of {capture_id!r}",
            why=[f"{one.what}: {reason}" for one in refused for reason in one.why],
            next="; ".join(one.next for one in refused if one.next),
        )
    capture = found[0]
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
    stored = captures.records(project, capture)
    drafts = read_each(stored, draft, problems)
    if not problems and not any(drafts):
        raise Refusal(
            "no-items",
            f"captures/{capture_id} holds no items",
            why=[f"captures/{capture_id}: {keys_told(stored, hooks)}"],
            next="write item(record) in an adapter and name it with --adapter: evh help adapters",
        )
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
