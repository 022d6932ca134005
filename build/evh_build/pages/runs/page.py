"""The list of runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.project.arms import scored_against
from evh_build import known, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.records.run import Run
    from evh_build.source import Mark, Source


@dataclass(frozen=True, slots=True)
class RunView:
    """A run in the list: its arm, its dataset, what it was scored against, its primary figure.

    ``own``: scored on labels made from its own outputs. ``fitted``: its arm was fitted on some of the items.
    ``judge`` gave the scores of a judged run; their name says where it is unvalidated.
    """

    key: str
    run_id: str
    path: str | None
    arm: Link
    dataset: Link
    created_at: str
    against: Mark | None
    metric: str | None
    value: float | None
    n_items: int
    n_errors: int
    recorded: bool
    derived: str | None
    own: bool
    fitted: bool
    judge: Link | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The list of runs.

    Attributes:
        runs: a run a row, the latest first.
        unfinished: the folders of runs that have not finished.
    """

    runs: tuple[RunView, ...]
    unfinished: tuple[str, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    project = source.gathered.project
    name = known.a_dataset(source)
    labels = f"{name}/{known.a_set(source, name)}"
    yield Leaf(
        urls.RUNS,
        Context(
            title="Runs",
            section="runs",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command("run an arm", "run", "--config", known.an_arm(source), "--dataset-id", name),
                command("list them", "runs"),
                command("score stored outputs again", "rescore", "--dataset-id", name, "--labels", labels),
            ),
            runs=tuple(run_view(source, run) for run in reversed(source.gathered.runs.values())),
            unfinished=tuple(project.show(path) for path in source.gathered.unfinished),
        ),
    )


def run_view(source: Source, run: Run) -> RunView:
    """Return a run as lists show it."""
    against = scored_against(run)
    provenance = source.gathered.sources.provenance
    metric = run.shown_metric
    scorer = str((run.judged or {}).get("scorer") or "")
    return RunView(
        key=run.key,
        run_id=run.run_id,
        path=source.urls.run(run.key),
        arm=Link(run.config_id, source.urls.arm(run.config_id)),
        dataset=Link(run.dataset_id, source.urls.dataset(run.dataset_id)),
        created_at=run.created_at,
        against=source.mark_of_ref(against) if against else None,
        metric=source.gathered.deciding.validity.metric(run, metric) if metric else None,
        value=run.scores.get(metric) if metric else None,
        n_items=run.n_items,
        n_errors=run.n_errors,
        recorded=run.recorded,
        derived=str((run.derived or {}).get("kind") or "") or None,
        own=provenance.own_labels(run),
        fitted=provenance.fitted_here(run),
        judge=Link(scorer, source.urls.judge(scorer)) if scorer else None,
    )


PAGE = Page("runs", Context, make)
