"""The home page: what is here, what it says, and what waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.runs import count_runs
from evh.store.text import plural
from evh_build import known, picked, urls
from evh_build.findings import Finding, findings
from evh_build.page import Command, Frame, Leaf, Page
from evh_build.pages.goals.page import GoalLine, lines
from evh_build.pages.judges.page import is_validated
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
    """A dataset, what it says of production, and its arms against the set that draws the sheet's winner.

    ``run`` is the command for its first run.
    """

    dataset_id: str
    path: str | None
    sheet: str | None
    n_items: int
    governed: bool
    task: str
    findings: tuple[Finding, ...]
    group: Group | None
    unlabelled: int
    run: Command


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something that waits for a person: what, the page that lists it, the command that goes on with it."""

    what: str
    path: str | None
    command: Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The home page.

    Attributes:
        counts: how many there are of each noun.
        goals: what is to be decided, and where each decision stands.
        cards: the datasets, those that something is said of first, the newest first.
        waiting: what waits for a person.
        problems: records that could not be read.
        most_items: how many items a finding lists before it links to the sheet.
    """

    counts: tuple[Count, ...]
    goals: tuple[GoalLine, ...]
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
            goals=lines(source),
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
        run=command("", "run", "--config", known.an_arm(source), "--dataset-id", name),
    )


def _counts(source: Source) -> tuple[Count, ...]:
    held = source.gathered
    arms = {run.config_id for run in held.runs.values()} | set(held.configs)
    ran = count_runs(held.runs.values())
    counted = (
        ("dataset", len(held.datasets), urls.DATASETS),
        ("item", sum(len(one.items) for one in held.datasets.values()), urls.DATASETS),
        ("capture", len(held.captures), urls.CAPTURES),
        ("label set", len(held.label_sets), urls.LABELS),
        ("reference set", len(held.references), urls.REFERENCES),
        ("arm", len(arms), urls.ARMS),
        ("run", ran.runs, urls.RUNS),
        ("goal", len(held.deciding.goals), urls.GOALS),
        ("judge", len(held.deciding.judges), urls.JUDGES),
    )
    some = [one for one in counted if one[1] or one[0] not in ("goal", "judge")]
    scored = {"run": f", {ran.scored}"} if ran.scored else {}
    return tuple(
        Count((noun if n == 1 else f"{noun}s") + scored.get(noun, ""), n, path) for noun, n, path in some
    )


def _waiting(source: Source, cards: tuple[DatasetCard, ...]) -> tuple[Waiting, ...]:
    made = []
    for goal in lines(source):
        if goal.promote is not None and goal.finalist is not None:
            what = f"the goal {goal.goal_id} has no baseline; it suggests {goal.finalist.name}"
            made.append(Waiting(what, goal.path, goal.promote))
        if goal.deploy is not None:
            what = f"production does not run what was promoted for {goal.goal_id}"
            made.append(Waiting(what, goal.path, goal.deploy))
    for name, judge in source.gathered.deciding.judges.items():
        runs = source.gathered.deciding.judged_runs(name)
        if runs and not is_validated(source, name):
            on = runs[-1].dataset_id
            labels = f"{on}/{known.a_set(source, on)}"
            measure = ("judge-validate", "--scorer", name, "--labels", labels)
            what = f"the {judge.kind} judge {name} is unvalidated"
            made.append(
                Waiting(what, source.urls.judge(name), command("measure it against people", *measure))
            )
    for group in picked.groups(source):
        words = ("picks", "--for", group.target) if group.target else ("picks",)
        aim = f"for {group.target}" if group.target else "without a target"
        what = f"{plural(len(group.picks), 'pick')} {aim}"
        made.append(Waiting(what, urls.PICKS, command("list them", *words)))
    for card in cards:
        if card.unlabelled:
            sheet = command(
                "write a sheet to fill", "label-sheet", "--dataset-id", card.dataset_id, "--out", "sheet.csv"
            )
            what = f"{plural(card.unlabelled, 'unlabelled item')} of {card.dataset_id}"
            made.append(Waiting(what, card.sheet, sheet))
    if source.gathered.unfinished:
        n = len(source.gathered.unfinished)
        made.append(Waiting(plural(n, "unfinished run"), urls.RUNS, command("list them", "runs")))
    return tuple(made)


def _commands(source: Source) -> tuple[Command, ...]:
    if not source.gathered.datasets:
        return (
            command("bring production records in", "capture", "--as", "NAME", "--from-file", "FILE"),
            command(
                "make a dataset of them", "dataset-from-capture", "--capture", "NAME", "--dataset-id", "D"
            ),
        )
    name = known.a_dataset(source)
    return (
        command("the same on the terminal", "overview"),
        command("every item with every decision", "inspect", "--sheet", "--dataset-id", name),
        command("query the tables", "sql", "--tables"),
    )


PAGE = Page("home", Context, make)
