"""The list of runs: what each was scored against, its primary figure, and what says less than it seems."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts import run_keep, run_resume
from evh.project import arms, configs, datasets, judged, labels, runs
from evh.project.provenance import Provenance
from evh.project.shelf import missing, read_each
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.labelset import LabelSet
    from evh.records.run import Run


@dataclass(frozen=True, slots=True)
class RunLine:
    """One finished run as lists show it.

    ``against`` is ``labels/<dataset>/<set>`` or ``<tier>/<name>``, or None for an unscored run; ``source``
    is the kind of a label set's source. ``value`` is the primary metric's, and ``metric`` what readers call
    that: a validated judge's is without the word. ``n_scored`` is None where a foreign run does not say.
    ``own`` and ``fitted`` tell that the score says less than it seems, and so does ``trial``: over how many
    items it was one, None for a whole run. ``repeat`` is which of its arm's ``n_repeats`` repeats it is, from
    1; None where it is none, or where that was not asked for.
    """

    run: Run
    against: str | None
    source: str | None
    value: float | None
    n_scored: int | None
    own: bool
    fitted: bool
    metric: str = ""
    trial: int | None = None
    repeat: int | None = None
    n_repeats: int = 1


@dataclass(frozen=True, slots=True)
class RunCount:
    """How many runs there are, and how often they were scored: against a set, or by a judge."""

    runs: int
    scorings: int

    @property
    def scored(self) -> str:
        """``scored 48 times``; empty where none was."""
        return {0: "", 1: "scored once"}.get(self.scorings, f"scored {self.scorings:,} times")

    @property
    def told(self) -> str:
        """``12 runs, scored 48 times``."""
        return ", ".join(filter(None, (plural(self.runs, "run"), self.scored)))


def count_runs(found: Iterable[Run]) -> RunCount:
    """Return how many runs there are: one that was scored again, or judged, is no other run."""
    held = list(found)
    scored = [one for one in held if one.judged or arms.scored_against(one) is not None]
    return RunCount(len({one.run_id for one in held if not one.judged}), len(scored))


@dataclass(frozen=True, slots=True)
class UnfinishedLine:
    """One run that has not finished. ``run`` is what it began as, or None where nothing says.

    ``n_rows`` counts its items that are answered or have failed for good, ``n_failed`` those whose failure
    may pass: they are asked again.
    """

    path: str
    run: Run | None
    n_rows: int
    n_failed: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """The runs, oldest first; ``n_older`` counts those left out: see `listing`."""

    lines: tuple[RunLine, ...]
    unfinished: tuple[UnfinishedLine, ...]
    n_older: int
    problems: tuple[Refusal, ...]


def listing(
    project: Project, *, dataset_id: str | None = None, config_id: str | None = None, everything: bool = False
) -> Listing:
    """Return the runs of a project.

    Of each arm, dataset and target the run that stands for it is listed, by the rule of every other view
    (`arms.latest_last`): a trial (``--limit``) never stands for an arm that has run over all items. A trial
    that came after it is listed too, for it is what was done last; so are all repeats of a listed run.

    Args:
        project: the project.
        dataset_id: only those on this dataset.
        config_id: only those of this arm.
        everything: older runs too, which are only counted else.

    Raises:
        Refusal: a dataset or an arm that is not here, and of which there is no run either.
    """
    problems: list[Refusal] = []
    every = runs.read_all(project, problems)
    _known(project, every, dataset_id, config_id)

    def wanted(run: Run) -> bool:
        return dataset_id in (None, run.dataset_id) and config_id in (None, run.config_id)

    found = [run for run in every if wanted(run)]
    listed = _standing(found)
    shown = [run for run in found if everything or run.key in listed]
    begun = [_unfinished(project, path) for path in runs.unfinished(project)]
    return Listing(
        tuple(_numbered(line, every) for line in lines(project, shown)),
        tuple(
            one
            for one in begun
            if (one.run is None and not (dataset_id or config_id)) or (one.run and wanted(one.run))
        ),
        len(found) - len(shown),
        tuple(problems),
    )


def _standing(found: Sequence[Run]) -> set[str]:
    """Return the keys of the runs that a short list shows."""
    groups: dict[tuple[str, str, str, str | None], list[Run]] = {}
    for run in found:
        key = (run.config_id, run.dataset_id, run.folder, arms.scored_against(run))
        groups.setdefault(key, []).append(run)
    made = set()
    for group in groups.values():
        chosen = (arms.latest_last(group)[-1], group[-1])
        repeated = {run.repeat_group for run in chosen if run.repeat_group is not None}
        made |= {run.key for run in (*chosen, *(run for run in group if run.repeat_group in repeated))}
    return made


def _numbered(line: RunLine, every: Sequence[Run]) -> RunLine:
    """Return a line with which of its arm's repeats the run is."""
    run = line.run
    if run.repeat_group is None or run.judged:
        return line
    names = [one.name for one in arms.repeats(arms.Arm(run.config_id, run, ()), every)]
    if len(names) < 2 or run.run_id not in names:
        return line
    return replace(line, repeat=names.index(run.run_id) + 1, n_repeats=len(names))


def _known(project: Project, every: Sequence[Run], dataset_id: str | None, config_id: str | None) -> None:
    if dataset_id is not None:
        here = {*datasets.ids(project), *(run.dataset_id for run in every)}
        if dataset_id not in here:
            raise missing("dataset", dataset_id, here, next="evh datasets")
    if config_id is not None:
        arms_here = {one.config_id for one in configs.read_all(project, [])} | {
            run.config_id for run in every
        }
        if config_id not in arms_here:
            raise missing("config", config_id, arms_here, next="evh runs")


def lines(project: Project, listed: Sequence[Run]) -> list[RunLine]:
    """Return runs as lists show them, in their order."""
    sets: Mapping[str, LabelSet] = {one.ref: one for one in labels.read_all(project, [])}
    provenance = Provenance(project, sets)
    validity = judged.validity(project) if any(run.judged for run in listed) else judged.Validity()
    sizes = _sizes(project, {run.dataset_id for run in listed if arms.limit_of(run) is not None})
    return [
        replace(
            _line(run, sets, provenance),
            metric=validity.metric(run, run.shown_metric or ""),
            trial=arms.trial_of(run, sizes.get(run.dataset_id, sys.maxsize)),
        )
        for run in listed
    ]


def _sizes(project: Project, names: Iterable[str]) -> dict[str, int]:
    """Return how many items datasets have; one that cannot be read is left out."""
    found = read_each(sorted(names), lambda one: datasets.read(project, one), [])
    return {one.dataset_id: len(one.items) for one in found}


def _line(run: Run, sets: Mapping[str, LabelSet], provenance: Provenance) -> RunLine:
    label_set = sets.get(run.labels or "")
    n_scored = run.extra.get("n_scored")
    return RunLine(
        run=run,
        against=arms.scored_against(run),
        source=label_set.kind if label_set else None,
        value=run.scores.get(run.shown_metric or ""),
        n_scored=n_scored if isinstance(n_scored, int) else None,
        own=provenance.own_labels(run),
        fitted=provenance.fitted_here(run),
    )


def unfinished_line(project: Project, config: Config, dataset_id: str) -> UnfinishedLine | None:
    """Return the latest unfinished run of an arm on a dataset, or None."""
    run = run_resume.unfinished(project, config, dataset_id)
    return None if run is None else _unfinished(project, runs.path_of(project, run))


def _unfinished(project: Project, path: Path) -> UnfinishedLine:
    run = runs.running(project, path)
    if run is None:
        return UnfinishedLine(project.show(path), None, 0)
    found = run_keep.kept(project, run)
    return UnfinishedLine(project.show(path), run, len(found.rows), len(found.passing))
