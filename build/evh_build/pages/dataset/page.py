"""A dataset: what it says, its sets and how they agree, its arms, its fields, the picks that wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import urls
from evh_build.findings import Finding, findings
from evh_build.markdown import render
from evh_build.matrix import TaskView, tasks
from evh_build.page import Command, Crumb, Frame, Leaf, Page
from evh_build.source import command
from evh_build.standings import Group, groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markupsafe import Markup

    from evh.records.dataset import Dataset
    from evh_build.source import Source

MOST_ITEMS = 60
MOST_FIELD_VALUES = 12


@dataclass(frozen=True, slots=True)
class FieldView:
    """A field of the items: its type, how many items have it, its commonest values with their counts."""

    name: str
    type: str
    n: int
    n_values: int
    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class PickView:
    """A pick that waits for this dataset: the item and its page, where it came from, tags and note."""

    item_id: str
    dataset_id: str
    path: str | None
    capture: str | None
    capture_path: str | None
    by: str
    at: str
    tags: tuple[tuple[str, str], ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A dataset's page.

    Attributes:
        dataset: the dataset's manifest.
        description: its description, rendered.
        parent: the page of the dataset that it is a version of.
        sheet: the page of its sheet.
        captures: the captures its items came from, as (id, page).
        findings: where production was wrong.
        tasks: its label and reference sets with their agreement, task by task.
        groups: its arms, by what they were scored against.
        fields: its items' fields.
        picks: what waits for it.
        items: its items as (id, page), the first ones.
        most_items: how many items a list shows before it points to the sheet.
    """

    dataset: Dataset
    description: Markup
    parent: str | None
    sheet: str | None
    captures: tuple[tuple[str, str | None], ...]
    findings: tuple[Finding, ...]
    tasks: tuple[TaskView, ...]
    groups: tuple[Group, ...]
    fields: tuple[FieldView, ...]
    picks: tuple[PickView, ...]
    items: tuple[tuple[str, str | None], ...]
    most_items: int


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a dataset."""
    for name, dataset in source.gathered.datasets.items():
        path = source.urls.dataset(name)
        if path is None:
            continue
        named = sorted(
            {str(item.lineage["capture"]) for item in dataset.items if item.lineage.get("capture")}
        )
        yield Leaf(
            path,
            Context(
                title=name,
                section="datasets",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Datasets", urls.DATASETS)),
                commands=_commands(name),
                dataset=dataset,
                description=render(dataset.description),
                parent=source.urls.dataset(dataset.parent or ""),
                sheet=source.urls.sheet(name),
                captures=tuple((one, source.urls.capture(one)) for one in named),
                findings=findings(source, name),
                tasks=tasks(source, source.gathered.report(name)),
                groups=groups(source, name),
                fields=_fields(source, dataset),
                picks=_picks(source, name),
                items=tuple(
                    (item.item_id, source.urls.item(name, item.item_id))
                    for item in dataset.items[:MOST_ITEMS]
                ),
                most_items=MOST_ITEMS,
            ),
        )


def _fields(source: Source, dataset: Dataset) -> tuple[FieldView, ...]:
    made = []
    rows = source.rows_of("dataset", "fields", dataset_id=dataset.dataset_id)
    for name in dict.fromkeys(row["field"] for row in rows):
        values = [row for row in rows if row["field"] == name]
        made.append(
            FieldView(
                name=name,
                type=str(dataset.field_types.get(name, "")),
                n=sum(row["n"] for row in values),
                n_values=len(values),
                values=tuple((row["value"], row["n"]) for row in values[:MOST_FIELD_VALUES]),
            )
        )
    return tuple(made)


def _picks(source: Source, name: str) -> tuple[PickView, ...]:
    return tuple(
        PickView(
            item_id=pick.item_id,
            dataset_id=pick.dataset_id,
            path=source.urls.item(pick.dataset_id, pick.item_id),
            capture=pick.capture,
            capture_path=source.urls.capture(pick.capture or ""),
            by=pick.by,
            at=pick.at,
            tags=tuple(sorted(pick.tags.items())),
            note=pick.note,
        )
        for pick in source.gathered.waiting
        if name in pick.targets
    )


def _commands(name: str) -> tuple[Command, ...]:
    return (
        command("its sheet on the terminal", "inspect", "--sheet", "--dataset-id", name),
        command("how its label sets agree", "labels", "--dataset-id", name, "--confusion"),
        command("a sheet to label", "label-sheet", "--dataset-id", name, "--out", f"{name}.csv"),
    )


PAGE = Page("dataset", Context, make, queries=("fields",))
