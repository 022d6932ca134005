"""What a site tells of deciding: goals, deploy sheets, pairs of arms, judges and models, each made once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from evh.acts import deploy_sheet as deploying
from evh.acts import field, judge_validate, models, runs_diff
from evh.acts import goals as goal_acts
from evh.acts import pair_test as pairing
from evh.project import goals as goal_shelf
from evh.project import judged, judges
from evh.project.shelf import read_each
from evh.records.judge import GRADE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from evh.acts.deploy_sheet import DeploySheet
    from evh.acts.field_model import Rules
    from evh.acts.goals import GoalView
    from evh.acts.judge_validation import Validation
    from evh.acts.models import Listing
    from evh.acts.pair_test import PairTest
    from evh.acts.runs_diff import Diff
    from evh.errors import Refusal
    from evh.project.judged import Validity
    from evh.records.baseline import Baseline
    from evh.records.goal import Goal
    from evh.records.judge import Judge
    from evh.records.run import Run
    from evh_build.gather import Gathered

T = TypeVar("T")


class Deciding:
    """Everything on deciding that pages show, by the acts that the terminal shows too.

    Args:
        gathered: the project's records.
        problems: where the Refusals of what cannot be read go.
    """

    def __init__(self, gathered: Gathered, problems: list[Refusal]) -> None:
        self.gathered = gathered
        self._problems = problems
        self._made: dict[tuple[str, ...], object] = {}

    # --- goals

    @cached_property
    def goals(self) -> dict[str, Goal]:
        """The goals by id, by file name."""
        found = goal_shelf.read_all(self.gathered.project, self._problems)
        return {one.goal_id: one for one in found}

    def view(self, goal_id: str) -> GoalView | None:
        """Return a goal with its groups, finalists, baseline and production; None where it cannot be told."""
        goal = self.goals[goal_id]

        def make() -> GoalView | None:
            held = self.gathered
            return self._try(lambda: goal_acts.view(held.project, goal, held.sources))

        return self._once(("goal", goal_id), goal.datasets, make)

    def rules(self, dataset_id: str, metric: str) -> Rules:
        """Return the rules that hold where a dataset's arms are ranked by a metric and no goal is named."""
        return field.rules_for(self.gathered.sources, dataset_id, metric)[0]

    # --- arms

    def promotions(self, config_id: str) -> tuple[Baseline, ...]:
        """Return the baselines in force that were promoted from an arm's runs, the newest first."""
        mine = {
            run.run_id
            for run in self.gathered.runs.values()
            if run.config_id == config_id and not run.judged and not run.recorded
        }
        found = [one for one in self.gathered.baselines if one.run_id in mine]
        return tuple(sorted(found, key=lambda one: (one.promoted_at, one.baseline_id), reverse=True))

    def deploy_sheet(self, config_id: str) -> DeploySheet | None:
        """Return what production must match to run a promoted arm, held against its latest capture.

        None for an arm that no baseline was promoted from. The capture is that of the datasets of the goal it
        was promoted for, else of its baseline's dataset.
        """
        promoted = self.promotions(config_id)
        if not promoted:
            return None
        newest = promoted[0]
        goal = self.goals.get(newest.goal or "")
        on = goal.datasets if goal else (newest.dataset_id,)

        def make() -> DeploySheet | None:
            held = self.gathered
            capture = goal_acts.latest_capture(held.project, on, held.sources)
            return self._try(
                lambda: deploying.deploy_sheet(
                    held.project, config_id, capture_id=capture, goal_id=newest.goal
                )
            ) or self._try(
                lambda: deploying.deploy_sheet(held.project, config_id, goal_id=newest.goal)
            )  # a capture that cannot be read hides no sheet

        return self._once(("deploy", config_id), (*on, newest.dataset_id), make)

    def pair(self, dataset_id: str, first: str, second: str) -> PairTest | None:
        """Return the paired test of two arms; None where they have no figure in common."""

        def make() -> PairTest | None:
            held = self.gathered

            def test(names: tuple[str, str]) -> PairTest:
                return pairing.pair_test(held.project, *names, dataset_id, sources=held.sources)

            found = read_each([(first, second)], test, [])  # unscored arms are no broken record
            return found[0] if found else None

        key = ("pair", dataset_id, first, second)
        if key not in self._made:
            self._made[key] = self.gathered.kept_of(dataset_id, key, make)
        return self._made[key]  # type: ignore[return-value]

    def previous(self, run: Run) -> Run | None:
        """Return the arm's run before this one, on the same dataset and in the same folder."""
        if run.judged:
            return None
        before = [
            one
            for one in self.gathered.runs.values()
            if (one.config_id, one.dataset_id, one.folder) == (run.config_id, run.dataset_id, run.folder)
            and not one.judged
            and (one.created_at, one.run_id) < (run.created_at, run.run_id)
        ]
        return max(before, key=lambda one: (one.created_at, one.run_id), default=None)

    def diff(self, run: Run) -> Diff | None:
        """Return what differs from the arm's run before this one to this one; None for the first."""
        before = self.previous(run)
        if before is None:
            return None
        read = self.gathered.predictions
        return runs_diff.between(before, run, read(before), read(run))

    # --- judges and models

    @cached_property
    def judges(self) -> dict[str, Judge]:
        """The judges by name."""
        return {one.scorer: one for one in judges.read_all(self.gathered.project, self._problems)}

    def rubric(self, judge: Judge) -> str | None:
        """Return what a judge judges by; None where it cannot be read."""
        return self._try(lambda: judges.rubric_of(self.gathered.project, judge))

    @cached_property
    def validity(self) -> Validity:
        """Which judges were measured against people."""
        held = self.gathered
        return judged.validity(held.project, list(held.runs.values()), self._problems)

    def judged_runs(self, scorer: str) -> tuple[Run, ...]:
        """Return the judged runs of a judge, or of a sheet that somebody filled, oldest first."""
        folder = judged.folder(scorer)
        return tuple(run for run in self.gathered.runs.values() if run.judged and run.folder == folder)

    def validation(self, scorer: str) -> Validation | None:
        """Measure a validated judge against the labels that its file names; None where that cannot be done.

        What its file says was measured then; this is of the labels and the judged runs that are here.
        """
        judge = self.judges.get(scorer)
        by = (judge.validated_by if judge else None) or {}
        labels, run_id = by.get("labels"), str(by.get("run")).rpartition("/")[2]
        owner = str(labels).partition("/")[0]
        if not isinstance(labels, str) or labels not in self.gathered.label_sets:
            return None

        def make() -> Validation | None:
            names = self._together(scorer, run_id) if judge and judge.kind != GRADE else (run_id,)
            project = self.gathered.project
            found = read_each(
                [names], lambda one: judge_validate.measure(project, scorer, labels, names=one), []
            )
            return found[0] if found else None

        return self._once(("validation", scorer), (owner,), make)

    def passes(self, scorer: str) -> tuple[tuple[Run, ...], ...]:
        """Return a judge's runs, those that it judged together side by side, the latest pass first."""
        made: dict[tuple[str, ...], list[Run]] = {}
        for run in self.judged_runs(scorer):
            told = (run.judged or {}).get("together")
            key = tuple(map(str, told)) if isinstance(told, list) else (run.key,)
            made.setdefault((run.dataset_id, *key), []).append(run)
        ordered = sorted(made.values(), key=lambda held: max(run.created_at for run in held), reverse=True)
        return tuple(map(tuple, ordered))

    def _together(self, scorer: str, run_id: str) -> tuple[str, ...]:
        """Return the ids of the judged runs of one pass: the one that this run is of."""
        for held in self.passes(scorer):
            names = tuple(run.run_id for run in held)
            if run_id in names:
                return names
        return (run_id,)

    @cached_property
    def models(self) -> Listing:
        """The model records, and those that configs name and that are not here."""
        found = models.listing(self.gathered.project)
        self._problems += found.problems
        return found

    # --- each once

    def _once(self, key: tuple[str, ...], dataset_ids: Iterable[str], make: Callable[[], T]) -> T:
        """Return what ``make`` gives of these datasets, made once; a server keeps it while files stay."""
        if key not in self._made:
            held = self.gathered
            trusted = held.project.settings.trust_adapters  # its code may read anything
            self._made[key] = held.kept(
                key, self._places(dataset_ids) if held.project.memory else (), make,
                held.project.settings, keep=not trusted,
            )  # fmt: skip
        return self._made[key]  # type: ignore[return-value]

    def _places(self, dataset_ids: Iterable[str]) -> list[Path]:
        known = [name for name in dict.fromkeys(dataset_ids) if name in self.gathered.datasets]
        return self.gathered.places_of(known)

    def _try(self, make: Callable[[], T]) -> T | None:
        found = read_each([None], lambda _: make(), self._problems)
        return found[0] if found else None
