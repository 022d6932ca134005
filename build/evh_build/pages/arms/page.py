"""The list of arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import known, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.pairs import baseline_arms
from evh_build.source import command
from evh_build.standings import Group, groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class ArmView:
    """An arm: a config, or what runs say of one that is not here. A recorded arm has no model and no cost.

    ``baseline`` are the datasets on which one of its runs was promoted as the baseline, ``model_record`` the
    record that tells which model and build it asks.
    """

    config_id: str
    path: str | None
    recorded: bool
    provider: str
    model: str
    adapter: str
    capture: Link | None
    datasets: tuple[Link, ...]
    n_runs: int
    here: bool
    baseline: tuple[Link, ...]
    model_record: Link | None


@dataclass(frozen=True, slots=True)
class DatasetGroups:
    """A dataset, and its arms by what they were scored against."""

    dataset: Link
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The list of arms.

    Attributes:
        arms: an arm a row, recorded ones first, then by name.
        standings: each dataset's arms, by what they were scored against.
        models: the page of the model records; None where there is none.
    """

    arms: tuple[ArmView, ...]
    standings: tuple[DatasetGroups, ...]
    models: str | None


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    name = known.a_dataset(source)
    yield Leaf(
        urls.ARMS,
        Context(
            title="Arms",
            section="arms",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command("run an arm", "run", "--config", known.an_arm(source), "--dataset-id", name),
                command(
                    "make production an arm",
                    "arm-from-capture", "--dataset-id", name, "--capture", known.its_capture(source, name),
                    "--as", "NAME",
                ),
            ),
            arms=tuple(view(source, name) for name in names(source)),
            standings=tuple(
                DatasetGroups(Link(name, source.urls.dataset(name)), found)
                for name in source.gathered.datasets
                if (found := groups(source, name))
            ),
            models=urls.MODELS if source.gathered.deciding.models.lines else None,
        ),
    )  # fmt: skip


def names(source: Source) -> list[str]:
    """Return the ids of the arms: of every config, and of every run's config; recorded ones first."""
    held = source.gathered
    found = set(held.configs) | {run.config_id for run in held.runs.values()}
    return sorted(found, key=lambda name: (not _recorded(source, name), name))


def view(source: Source, name: str) -> ArmView:
    """Return an arm as lists show it."""
    held = source.gathered
    config = held.configs.get(name)
    runs = [run for run in held.runs.values() if run.config_id == name]
    params = dict(config.params if config else runs[-1].params)
    capture = params.get("capture")
    recorded = _recorded(source, name)
    record = config.model_record if config else None
    return ArmView(
        config_id=name,
        path=source.urls.arm(name),
        recorded=recorded,
        provider=str(params.get("provider") or ""),
        model="" if recorded else str(params.get("model") or ""),
        adapter=config.adapter if config else runs[-1].adapter,
        capture=Link(str(capture), source.urls.capture(str(capture))) if capture else None,
        datasets=tuple(
            Link(one, source.urls.dataset(one)) for one in sorted({run.dataset_id for run in runs})
        ),
        n_runs=len(runs),
        here=config is not None,
        baseline=tuple(
            Link(one, source.urls.dataset(one)) for one in held.datasets if name in baseline_arms(source, one)
        ),
        model_record=Link(record, source.urls.model(record)) if record else None,
    )


def _recorded(source: Source, name: str) -> bool:
    config = source.gathered.configs.get(name)
    if config is not None:
        return config.recorded
    return any(run.recorded for run in source.gathered.runs.values() if run.config_id == name)


PAGE = Page("arms", Context, make)
