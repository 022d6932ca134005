"""An arm: its settings, and its figures on each dataset against each set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import known, urls
from evh_build.deploying import SheetView, sheet_view
from evh_build.page import Command, Crumb, Frame, Leaf, Page
from evh_build.pages.arms.page import ArmView, DatasetGroups, names, view
from evh_build.pages.captures.page import Link
from evh_build.pages.runs.page import RunView, run_view
from evh_build.pairs import Compared, compared
from evh_build.source import command, flat
from evh_build.standings import groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class Promotion:
    """A baseline that was promoted from one of the arm's runs. ``until`` tells that another replaced it."""

    goal: Link | None
    dataset: Link
    run: Link
    at: str
    reason: str
    until: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """An arm's page.

    Attributes:
        arm: the arm as lists show it.
        settings: its settings, key by key.
        fitted_on: the datasets that it was fitted on.
        standings: the arms of each dataset that it ran on, this one's row marked by its name.
        compared: it beside another arm, on each dataset that has such a page.
        promoted: the baselines that were promoted from its runs, those in force first.
        deploy: what production must match, of an arm that is a baseline; else None.
        runs: its runs, the latest first.
    """

    arm: ArmView
    settings: tuple[tuple[str, str], ...]
    fitted_on: tuple[Link, ...]
    standings: tuple[DatasetGroups, ...]
    compared: tuple[Compared, ...]
    promoted: tuple[Promotion, ...]
    deploy: SheetView | None
    runs: tuple[RunView, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give a page an arm."""
    held = source.gathered
    for name in names(source):
        path = source.urls.arm(name)
        if path is None:
            continue
        config = held.configs.get(name)
        runs = [run for run in held.runs.values() if run.config_id == name]
        ran_on = sorted({run.dataset_id for run in runs} & set(held.datasets))
        sheet = held.deciding.deploy_sheet(name)
        yield Leaf(
            path,
            Context(
                title=name,
                section="arms",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Arms", urls.ARMS)),
                commands=_commands(source, name, ran_on),
                arm=view(source, name),
                settings=flat(dict(config.params if config else runs[-1].params)),
                fitted_on=tuple(
                    Link(one, source.urls.dataset(one)) for one in (config.fitted_on if config else ())
                ),
                standings=tuple(
                    DatasetGroups(Link(one, source.urls.dataset(one)), groups(source, one)) for one in ran_on
                ),
                compared=tuple(
                    pair
                    for one in ran_on
                    for pair in compared(source, one)
                    if name in (pair.first, pair.second)
                ),
                promoted=_promoted(source, name),
                deploy=sheet_view(source, sheet) if sheet else None,
                runs=tuple(run_view(source, run) for run in reversed(runs)),
            ),
        )


def _promoted(source: Source, name: str) -> tuple[Promotion, ...]:
    held = source.gathered
    runs = {run.run_id: run for run in held.runs.values() if run.config_id == name and not run.judged}
    made = []
    for until, every in ((False, held.baselines), (True, tuple(reversed(held.superseded)))):
        for one in every:
            run = held.runs.get(one.promoted_from) or runs.get(one.run_id)
            if run is not None and run.config_id == name:
                goal = Link(one.goal, source.urls.goal(one.goal)) if one.goal else None
                dataset = Link(one.dataset_id, source.urls.dataset(one.dataset_id))
                link = Link(run.run_id, source.urls.run(run.key))
                made.append(Promotion(goal, dataset, link, one.promoted_at, one.reason, until))
    return tuple(made)


def _commands(source: Source, name: str, ran_on: list[str]) -> tuple[Command, ...]:
    others = [one for one in source.gathered.datasets if one not in ran_on]
    target = (others or ran_on or [known.a_dataset(source)])[0]
    made = [command("run it", "run", "--config", name, "--dataset-id", target)]
    if ran_on:
        words = ("inspect", "--sheet", "--dataset-id", ran_on[-1], "--runs", name)
        made.append(command("its rows of the sheet", *words))
        if not view(source, name).recorded:
            deploy = ("deploy-sheet", "--config", name)
            capture = known.its_capture(source, ran_on[-1])
            made.append(command("what production must match", *deploy))
            if capture in source.gathered.captures:
                made.append(command("whether a capture did", *deploy, "--capture", capture))
    return tuple(made)


PAGE = Page("arm", Context, make)
