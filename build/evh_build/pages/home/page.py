"""The home page: what is here, what it says, and what waits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.store.text import plural
from evh_build import urls
from evh_build.findings import Finding, findings
from evh_build.page import Command, Frame, Leaf, Page
from evh_build.source import command
from evh_build.standings import Group, groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.gather import Problem
    from evh_build.source import Source

MOST_ITEMS = 12


@dataclass(frozen=True, slots=True)
class Count:
    """How many of a noun there are, and the page that lists them."""

    noun: str
    n: int
    path: str


@dataclass(frozen=True, slots=True)
class DatasetCard:
    """A dataset, what it says of production, and its arms against the set that draws the sheet's winner."""

    dataset_id: str
    path: str | None
    sheet: str | None
    n_items: int
    governed: bool
    task: str
    findings: tuple[Finding, ...]
    group: Group | None
    unlabelled: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something that waits for a person: what, and the command that goes on with it."""

    what: str
    command: Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The home page.

    Attributes:
        counts: how many there are of each noun.
        cards: the datasets, those that something is said of first, the newest first.
        waiting: what waits for a person.
        problems: records that could not be read.
        most_items: how many items a finding lists before it links to the sheet.
    """

    counts: tuple[Count, ...]
    cards: tuple[DatasetCard, ...]
    waiting: tuple[Waiting, ...]
    problems: tuple[Problem, ...]
    most_items: int


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page. It comes last of all: by then every record that is read was read."""
    found = [_card(source, name) for name in _newest_first(source)]
    cards = tuple(sorted(found, key=lambda card: not (card.findings or card.group)))
    yield Leaf(
        urls.HOME,
        Context(
            title=source.title,
            section="home",
            commands=_commands(source),
            counts=_counts(source),
            cards=cards,
            waiting=_waiting(source, cards),
            problems=source.gathered.problems,
            most_items=MOST_ITEMS,
        ),
    )


def _newest_first(source: Source) -> list[str]:
    held = source.gathered.datasets
    return sorted(sorted(held), key=lambda name: held[name].created_at, reverse=True)


def _card(source: Source, name: str) -> DatasetCard:
    dataset = source.gathered.datasets[name]
    sheet = source.gathered.sheet(name)
    found = groups(source, name)
    return DatasetCard(
        dataset_id=name,
        path=source.urls.dataset(name),
        sheet=source.urls.sheet(name),
        n_items=len(dataset.items),
        governed=dataset.governed,
        task=dataset.task,
        findings=findings(source, name),
        group=found[0] if found and found[0].mark else None,
        unlabelled=sum(row.signals.unlabelled for row in sheet.rows) if sheet else 0,
    )


def _counts(source: Source) -> tuple[Count, ...]:
    held = source.gathered
    arms = {run.config_id for run in held.runs.values()} | set(held.configs)
    counted = (
        ("dataset", len(held.datasets), urls.DATASETS),
        ("item", sum(len(one.items) for one in held.datasets.values()), urls.DATASETS),
        ("capture", len(held.captures), urls.CAPTURES),
        ("label set", len(held.label_sets), urls.LABELS),
        ("reference set", len(held.references), urls.REFERENCES),
        ("arm", len(arms), urls.ARMS),
        ("run", len(held.runs), urls.RUNS),
    )
    return tuple(Count(noun if n == 1 else f"{noun}s", n, path) for noun, n, path in counted)


def _waiting(source: Source, cards: tuple[DatasetCard, ...]) -> tuple[Waiting, ...]:
    made = []
    targets = Counter(target for pick in source.gathered.waiting for target in pick.targets or ("",))
    for target, n in sorted(targets.items()):
        words = ("picks", "--for", target) if target else ("picks",)
        what = f"{plural(n, 'pick')} for {target}" if target else f"{plural(n, 'pick')} without a target"
        made.append(Waiting(what, command("list them", *words)))
    for card in cards:
        if card.unlabelled:
            sheet = command(
                "write a sheet to fill", "label-sheet", "--dataset-id", card.dataset_id, "--out", "sheet.csv"
            )
            made.append(Waiting(f"{plural(card.unlabelled, 'unlabelled item')} of {card.dataset_id}", sheet))
    if source.gathered.unfinished:
        n = len(source.gathered.unfinished)
        made.append(Waiting(plural(n, "unfinished run"), command("list them", "runs")))
    return tuple(made)


def _commands(source: Source) -> tuple[Command, ...]:
    if not source.gathered.datasets:
        return (
            command("bring production records in", "capture", "--as", "NAME", "--from-file", "FILE"),
            command(
                "make a dataset of them", "dataset-from-capture", "--capture", "NAME", "--dataset-id", "D"
            ),
        )
    return (
        command("the same on the terminal", "overview"),
        command("query the tables", "sql", "--tables"),
    )


PAGE = Page("home", Context, make)
