"""A dataset: what it says, its sets and how they agree, its arms, its fields, the picks that wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.dataset_extend import next_version
from evh_build import known, urls
from evh_build.findings import Finding, Silence, findings, silence
from evh_build.markdown import render
from evh_build.matrix import TaskView, tasks
from evh_build.page import Command, Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.pairs import Compared, compared
from evh_build.picked import AddedItem, PickView, added, waiting_for
from evh_build.source import command
from evh_build.standings import Group, groups
from evh_build.withheld import NOT_PUBLIC, is_withheld

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markupsafe import Markup

    from evh.records.dataset import Dataset
    from evh_build.source import Source

MOST_ITEMS = 60
MOST_ADDED = 200
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
class First:
    """The commands for a dataset's first run and its first labels.

    ``labels`` is None in a public build, which names no command to label.
    """

    run: Command
    labels: Command | None


@dataclass(frozen=True, slots=True)
class BaselineView:
    """A run that was promoted as the dataset's baseline: its arm, its page, when and why."""

    arm: Link
    run: Link
    at: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A dataset's page.

    Attributes:
        dataset: the dataset's manifest.
        description: its description, rendered.
        parent: the page of the dataset that it is a version of.
        versions: the datasets that are versions of it.
        sheet: the page of its sheet.
        captures: the captures its items came from, as (id, page).
        withheld: what stands for what its items came from and is not shown; empty where all is.
        kept_back: why some of its texts are not shown; empty where all are.
        findings: where production was wrong.
        silence: why nothing is said of that; None where something is.
        tasks: its label and reference sets with their agreement, task by task.
        groups: its arms, by what they were scored against.
        compared: its arms two by two.
        baselines: the runs that were promoted for it.
        fields: its items' fields.
        added: the items that it has and its parent has not, the first ones.
        n_added: how many there are.
        picks: what waits for it.
        extend: the command that makes the next version, to which the chosen picks are added; None where evh
            has no such command yet, or nothing waits.
        items: its items as (id, page), the first ones.
        most_items: how many items a list shows before it points to the sheet.
        first: the commands that bring what it has none of yet.
    """

    dataset: Dataset
    description: Markup
    parent: str | None
    versions: tuple[Link, ...]
    sheet: str | None
    captures: tuple[tuple[str, str | None], ...]
    withheld: str
    kept_back: str
    findings: tuple[Finding, ...]
    silence: Silence | None
    tasks: tuple[TaskView, ...]
    groups: tuple[Group, ...]
    compared: tuple[Compared, ...]
    baselines: tuple[BaselineView, ...]
    fields: tuple[FieldView, ...]
    added: tuple[AddedItem, ...]
    n_added: int
    picks: tuple[PickView, ...]
    extend: Command | None
    items: tuple[tuple[str, str | None], ...]
    most_items: int
    first: First


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a dataset."""
    for name, dataset in source.gathered.datasets.items():
        path = source.urls.dataset(name)
        if path is None:
            continue
        named = sorted(
            {str(item.lineage["capture"]) for item in dataset.items if item.lineage.get("capture")}
        )
        more = added(source, name)
        picks = waiting_for(source, name)
        yield Leaf(
            path,
            Context(
                title=name,
                section="datasets",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Datasets", urls.DATASETS)),
                commands=_commands(source, name),
                dataset=dataset,
                description=render(dataset.description),
                parent=source.urls.dataset(dataset.parent or ""),
                versions=tuple(
                    Link(one, source.urls.dataset(one))
                    for one, other in source.gathered.datasets.items()
                    if other.parent == name
                ),
                sheet=source.urls.sheet(name),
                captures=tuple((one, source.urls.capture(one)) for one in named),
                withheld=NOT_PUBLIC if any(is_withheld(item.lineage) for item in dataset.items) else "",
                kept_back=source.gathered.kept_back(name),
                findings=findings(source, name),
                silence=silence(source, name),
                tasks=tasks(source, source.gathered.report(name)),
                groups=groups(source, name),
                compared=compared(source, name),
                baselines=_baselines(source, name),
                fields=_fields(source, dataset),
                added=more[:MOST_ADDED],
                n_added=len(more),
                picks=picks,
                extend=_extend(source, name) if picks and known.can("dataset-extend") else None,
                items=tuple(
                    (item.item_id, source.urls.full(name, item.item_id))
                    for item in dataset.items[:MOST_ITEMS]
                ),
                most_items=MOST_ITEMS,
                first=_first(source, name),
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


def _first(source: Source, name: str) -> First:
    on = ("--dataset-id", name)
    return First(
        run=command("run an arm", "run", "--config", known.an_arm(source), *on),
        labels=command("a sheet to label", "label-sheet", *on, "--out", f"{name}.csv"),
    )


def _baselines(source: Source, name: str) -> tuple[BaselineView, ...]:
    held = source.gathered
    runs = {run.run_id: run for run in held.runs.values() if run.dataset_id == name}
    made = []
    for one in held.baselines:
        run = runs.get(one.promoted_from.rpartition("/")[2]) if one.dataset_id == name else None
        if run is not None:
            arm = Link(run.config_id, source.urls.arm(run.config_id))
            link = Link(run.run_id, source.urls.run(run.key))
            made.append(BaselineView(arm, link, one.promoted_at, one.reason))
    return tuple(made)


def _extend(source: Source, name: str) -> Command:
    """Return the start of the command that makes the next version of a dataset; the picks follow it."""
    version = next_version(source.gathered.project, name)
    return command("make the next version", "dataset-extend", name, "--dataset-id", version)


def _commands(source: Source, name: str) -> tuple[Command, ...]:
    dataset = source.gathered.datasets[name]
    made = [
        command("its sheet on the terminal", "inspect", "--sheet", "--dataset-id", name),
        command("how its label sets agree", "labels", "--dataset-id", name, "--confusion"),
        command("a sheet to label", "label-sheet", "--dataset-id", name, "--out", f"{name}.csv"),
    ]
    if dataset.governed:
        made.append(command("what waits for its next version", "picks", "--for", name))
    return tuple(made)


PAGE = Page("dataset", Context, make, queries=("fields",))
