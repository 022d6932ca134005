"""An arm: its settings, and its figures on each dataset against each set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import urls
from evh_build.page import Command, Crumb, Frame, Leaf, Page
from evh_build.pages.arms.page import ArmView, DatasetGroups, names, view
from evh_build.pages.captures.page import Link
from evh_build.pages.runs.page import RunView, run_view
from evh_build.source import command, flat
from evh_build.standings import groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """An arm's page.

    Attributes:
        arm: the arm as lists show it.
        settings: its settings, key by key.
        fitted_on: the datasets that it was fitted on.
        standings: the arms of each dataset that it ran on, this one's row marked by its name.
        runs: its runs, the latest first.
    """

    arm: ArmView
    settings: tuple[tuple[str, str], ...]
    fitted_on: tuple[Link, ...]
    standings: tuple[DatasetGroups, ...]
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
        yield Leaf(
            path,
            Context(
                title=name,
                section="arms",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Arms", urls.ARMS)),
                commands=_commands(name, ran_on),
                arm=view(source, name),
                settings=flat(dict(config.params if config else runs[-1].params)),
                fitted_on=tuple(
                    Link(one, source.urls.dataset(one)) for one in (config.fitted_on if config else ())
                ),
                standings=tuple(
                    DatasetGroups(Link(one, source.urls.dataset(one)), groups(source, one)) for one in ran_on
                ),
                runs=tuple(run_view(source, run) for run in reversed(runs)),
            ),
        )


def _commands(name: str, ran_on: list[str]) -> tuple[Command, ...]:
    made = [command("run it", "run", "--config", name, "--dataset-id", ran_on[0] if ran_on else "D")]
    if ran_on:
        words = ("inspect", "--sheet", "--dataset-id", ran_on[-1], "--runs", name)
        made.append(command("its rows of the sheet", *words))
    return tuple(made)


PAGE = Page("arm", Context, make)
