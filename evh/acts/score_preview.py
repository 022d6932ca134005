"""What a changed scorer would move: stored outputs scored again in memory, and no run written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import scoring
from evh.acts.run_plan import read_target
from evh.adapters import loader
from evh.errors import Refusal
from evh.project import arms, configs, datasets, runs
from evh.project.shelf import read_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from evh.acts.scoring import Target
    from evh.adapters.hooks import Adapter
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.run import Prediction, Run


@dataclass(frozen=True, slots=True)
class Moved:
    """One run-level figure that would be another; None is absent."""

    name: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class ArmMoved:
    """One scored run of an arm, and what the present scorer would make of it.

    Attributes:
        run: the run that holds the stored scores.
        against: what it was scored against.
        metric: the primary metric, stored and now.
        figures: every run-level figure that would be another, the primary metric's first.
        n_items: items of the run.
        scores: items whose scores would be others.
        decisions: items whose decision would be another.
        errors: items on which the scorer would fail and did not, with the reason.
        same_scorer: whether the stored scores were made by the very code that is here now.
    """

    run: Run
    against: str
    metric: tuple[str | None, str]
    figures: tuple[Moved, ...]
    n_items: int
    scores: tuple[str, ...]
    decisions: tuple[str, ...]
    errors: tuple[tuple[str, str], ...]
    same_scorer: bool

    @property
    def moves(self) -> bool:
        """Whether anything would be otherwise."""
        other = self.metric[0] is not None and self.metric[0] != self.metric[1]
        return bool(self.figures or self.scores or self.decisions or self.errors or other)


@dataclass(frozen=True, slots=True)
class Preview:
    """The adapter, the arms that it scores, and the runs that could not be looked at."""

    adapter: str
    arms: tuple[ArmMoved, ...]
    problems: tuple[Refusal, ...]


def preview(project: Project, config_id: str, *, dataset_id: str | None = None) -> Preview:
    """Return what the present adapter of a config would move, in every arm that the same adapter scores.

    Each arm's latest run is looked at, with every set that it was scored against.

    Args:
        project: the project.
        config_id: the config that names the adapter.
        dataset_id: only runs on this dataset; all by default.

    Raises:
        Refusal: no such config or dataset; the adapter cannot be loaded; nothing that it scores has run.
    """
    config = configs.read(project, config_id)
    adapter = _adapter(project, config.adapter, config_id)
    problems: list[Refusal] = []
    every = runs.read_all(project, problems)
    here = [dataset_id] if dataset_id else sorted({run.dataset_id for run in every})
    found: list[ArmMoved] = []
    for dataset in read_each(here, lambda one: datasets.read(project, one), None if dataset_id else problems):
        reader = _Reader(project, adapter, dataset)
        shown = arms.of_dataset(project, dataset.dataset_id, all_runs=every)
        scored = [run for arm in shown for run in arm.scored if arms.scored_against(run)]
        mine = [run for run in scored if _scored_by(project, run, adapter)]
        found += read_each(mine, reader.moved, problems)
    if not found and not problems:
        raise Refusal(
            "nothing-scored",
            f"no arm that {adapter.shown_name} scores has a score yet",
            why=[f"{one}: no scored run whose config names this adapter" for one in here]
            or ["no run at all"],
            next=f"evh run --config {config_id}; evh rescore --dataset-id DATASET --labels DATASET/SET",
        )
    return Preview(adapter.name, tuple(found), tuple(problems))


class _Reader:
    """Scores the runs of one dataset, reading each target once."""

    def __init__(self, project: Project, adapter: Adapter, dataset: Dataset) -> None:
        self._project, self._adapter, self._dataset = project, adapter, dataset
        self._targets: dict[str, Target] = {}
        self._sources: Mapping[str, bytes] | None = None

    def moved(self, run: Run) -> ArmMoved:
        """Return what the adapter makes of a run beside what is stored."""
        ref = arms.scored_against(run) or ""
        if ref not in self._targets:
            self._targets[ref] = read_target(self._project, self._dataset, ref)
        if self._adapter.reads_source and self._sources is None:
            self._sources = datasets.texts(self._project, self._dataset)
        rows = runs.predictions(self._project, run)
        outputs = runs.outputs(self._project, run, rows, verify=True)
        # An item on which the old scorer failed may be scored by the new one: only its output counts.
        made = scoring.score(
            self._adapter,
            rows,
            outputs,
            self._targets[ref],
            place=self._dataset.dataset_id,
            sources=self._sources,
        )
        pairs = list(zip(rows, made.rows, strict=True))
        stored = run.fingerprint.get("instrument")
        known = stored.get("adapter_sha256") if isinstance(stored, dict) else None
        primary = self._adapter.primary_metric
        return ArmMoved(
            run=run,
            against=ref,
            metric=(run.primary_metric, primary),
            figures=_figures(run.scores, made.scores, primary),
            n_items=len(rows),
            scores=_where(pairs, lambda old, new: dict(old.scores) != dict(new.scores)),
            decisions=_where(pairs, lambda old, new: old.decision != new.decision),
            errors=tuple(
                (new.item_id, new.error) for old, new in pairs if new.error is not None and old.error is None
            ),
            same_scorer=known == self._adapter.identity,
        )


def _adapter(project: Project, name: str, config_id: str) -> Adapter:
    return loader.load(project, name, beside=configs.path_of(project, config_id).parent)


def _scored_by(project: Project, run: Run, adapter: Adapter) -> bool:
    """Tell whether a run's arm is scored by an adapter: its config names it, or the run itself does."""
    if configs.exists(project, run.config_id):
        config = configs.read(project, run.config_id)
        found = read_each([config], lambda one: _adapter(project, one.adapter, one.config_id), [])
        return bool(found) and (found[0].name, found[0].path) == (adapter.name, adapter.path)
    return run.adapter == adapter.name


def _where(
    pairs: Iterable[tuple[Prediction, Prediction]], other: Callable[[Prediction, Prediction], bool]
) -> tuple[str, ...]:
    return tuple(old.item_id for old, new in pairs if other(old, new))


def _figures(before: Mapping[str, float], after: Mapping[str, float], primary: str) -> tuple[Moved, ...]:
    names = sorted(before.keys() | after.keys(), key=lambda name: (name != primary, name))
    return tuple(
        Moved(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    )
