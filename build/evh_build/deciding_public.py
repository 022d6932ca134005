"""What a public site tells of deciding: made of what is shown, and without what names the hidden."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from evh_build import redact
from evh_build.deciding import Deciding
from evh_build.shown import words
from evh_build.withheld import settings, text, values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evh.acts.deploy_sheet import DeploySheet
    from evh.acts.field_model import Field, Rules
    from evh.acts.goals import GoalView, Group
    from evh.acts.judge_validation import Validation
    from evh.acts.models import Listing
    from evh.acts.pair_test import PairTest
    from evh.project.judged import Validity
    from evh.records.goal import Goal
    from evh.records.judge import Judge
    from evh_build.public import PublicGathered


class PublicDeciding(Deciding):
    """Everything on deciding that public pages show.

    A test holds that every way of `Deciding` is either filtered here or made of what is.
    """

    gathered: PublicGathered

    @cached_property
    def goals(self) -> dict[str, Goal]:
        """The goals whose datasets and set are all shown; a question that names the hidden is left out."""
        shown = self.gathered.shown
        return {
            name: replace(one, question=text(one.question, shown), extra={})
            for name, one in self.gathered.whole.deciding.goals.items()
            if name in shown.goals
        }

    def view(self, goal_id: str) -> GoalView | None:
        """Return a goal made of what is shown: no hidden baseline, no note that names the hidden."""
        found = super().view(goal_id)
        if found is None:
            return None
        held = self.gathered
        baseline = next((one for one in held.baselines if one.goal == goal_id), None)
        production = found.production if baseline is not None else None
        if production is not None:
            kept = redact.check(production.check, held.shown) if production.check else None
            production = replace(production, check=kept, problem="it is not shown" if kept is None else None)
        return replace(
            found,
            groups=tuple(self._group(one) for one in found.groups),
            baseline=baseline,
            baseline_problem="its file cannot be read" if found.baseline_problem else None,
            baseline_run=found.baseline_run if baseline is not None else None,
            superseded=tuple(one for one in held.superseded if one.goal == goal_id),
            production=production,
            replays=found.replays if baseline is not None else (),
            notes=self._told(found.notes) if baseline is not None or found.baseline is None else (),
        )

    def rules(self, dataset_id: str, metric: str) -> Rules:
        """Return the rules that hold, without the name of a goal that is not shown."""
        return self._rules(super().rules(dataset_id, metric))

    def deploy_sheet(self, config_id: str) -> DeploySheet | None:
        """Return a promoted arm's deploy sheet, where the run that it is read from is shown."""
        found = super().deploy_sheet(config_id)
        run = self.gathered.runs.get(found.run.key) if found else None
        if found is None or run is None:
            return None
        promoted = tuple(one for one in self.promotions(config_id) if one.run_id == run.run_id)
        return redact.deploy_sheet(found, run, promoted, self.gathered.shown)

    def pair(self, dataset_id: str, first: str, second: str) -> PairTest | None:
        """Return the paired test of two arms that are shown."""
        found = super().pair(dataset_id, first, second)
        if found is None:
            return None
        return replace(found, rules=self._rules(found.rules), notes=self._told(found.notes))

    @cached_property
    def judges(self) -> dict[str, Judge]:
        """The judges with a judged run that is shown, without configs and labels that are not."""
        shown = self.gathered.shown
        made = {}
        for name, one in self.gathered.whole.deciding.judges.items():
            if name in shown.judges:
                by = values(one.validated_by, shown) if one.validated_by else None
                if by is not None and "labels" in by and by["labels"] not in shown.sets:
                    del by["labels"]
                askers = tuple(each for each in one.judges if not shown.hides(each))
                made[name] = replace(one, judges=askers, validated_by=by, rubric_file=None, extra={})
        return made

    def rubric(self, judge: Judge) -> str | None:
        """Return a rubric; None where it names something hidden."""
        found = super().rubric(self.gathered.whole.deciding.judges[judge.scorer])
        return None if found is None or self.gathered.shown.names_hidden(found) else found

    @cached_property
    def validity(self) -> Validity:
        """Which judges were measured against people: what the whole project says."""
        return self.gathered.whole.deciding.validity

    def validation(self, scorer: str) -> Validation | None:
        """Measure a judge against labels that are shown, over judged runs that are all shown."""
        found = super().validation(scorer)
        if found is None or not set(found.runs) <= self.gathered.shown.runs:
            return None
        return replace(found, judge=self.judges[scorer], notes=self._told(found.notes))

    @cached_property
    def models(self) -> Listing:
        """The model records that a shown arm names, without addresses and remarks."""
        found, shown = self.gathered.whole.deciding.models, self.gathered.shown
        named = {one.model_record for one in self.gathered.configs.values() if one.model_record}
        lines = []
        for line in found.lines:
            if line.model.model_id in named and not shown.names_hidden(line.model.model_id):
                model = replace(
                    line.model,
                    deployment=settings(line.model.deployment, shown),
                    settings=settings(line.model.settings, shown),
                    smokes=(),
                    notes="",
                    extra={},
                )
                lines.append(
                    replace(
                        line,
                        model=model,
                        arms=tuple(name for name in line.arms if name in shown.configs),
                        smoke=None,
                    )
                )
        return replace(found, lines=tuple(lines), lacking={}, problems=())

    def _group(self, one: Group) -> Group:
        made: Field = replace(
            one.field, rules=self._rules(one.field.rules), notes=self._told(one.field.notes)
        )
        return replace(one, field=made)

    def _rules(self, one: Rules) -> Rules:
        return one if one.goal in self.goals else replace(one, goal=None)

    def _told(self, notes: Iterable[str]) -> tuple[str, ...]:
        """Return the notes that name nothing hidden, and no goal or judge that is not shown."""
        held = self.gathered
        unnamed = {one.name for one in held.shown.left_out if one.noun in ("goal", "judge")}
        return tuple(
            note for note in notes if not held.shown.names_hidden(note) and unnamed.isdisjoint(words(note))
        )
