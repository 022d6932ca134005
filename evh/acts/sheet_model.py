"""The sheet as values: what the terminal, the CSV and the catalog's page all show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evh.acts.figures import Against, Spread
from evh.measure.signals import Signals
from evh.records.pick import Pick
from evh.records.run import Run
from evh.records.shape import Scalar


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """One metric of one arm against one set; ``against`` is None for a score that names none.

    ``own`` and ``fitted`` mark an arm measured on labels made from its own outputs, or on items that it was
    fitted on: it never wins by such a score. ``runs`` are the keys of the runs whose mean each score is,
    oldest first: the repeats of the arm that were scored so; empty for the scores of one run.
    """

    metric: str
    against: Against | None
    primary: bool
    higher: bool
    own: bool
    fitted: bool
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArmColumn:
    """One arm: its name (a config's id, or the run's that was asked for), its run, and its score columns.

    The outputs and decisions are those of ``run``. A ``floor`` always says the same, to show what is easy: no
    signal counts it, and it never wins. ``repeats`` are the runs of an arm that ran several times, oldest
    first: its scores are means over those that have them. Empty for a run alone, and where a run was named.
    ``trial`` is over how many of the items its run was a trial, so that it wins no row; None for a whole run.
    """

    name: str
    run: Run
    recorded: bool
    scores: tuple[ScoreColumn, ...]
    floor: bool = False
    repeats: tuple[Run, ...] = ()
    trial: int | None = None

    @property
    def repeat(self) -> str:
        """Which repeat's outputs are shown, as ``repeat 3 of 3``; empty for a run alone."""
        place = next((at for at, one in enumerate(self.repeats, 1) if one.key == self.run.key), None)
        return f"repeat {place} of {len(self.repeats)}" if place else ""

    @property
    def told_repeats(self) -> str:
        """Which repeat's outputs are shown, and over how many the scores are means; empty for a run alone."""
        if not self.repeat:
            return ""
        over = sorted({len(one.runs) for one in self.scores if one.runs})
        told = f"output of {self.repeat}"
        return f"{told}; scores are means over {' or '.join(map(str, over))}" if over else told

    def position(self, metric: str, against: Against | None) -> int | None:
        """Return where the column of ``metric`` against ``against`` stands in ``scores``, or None."""
        return next(
            (
                at
                for at, column in enumerate(self.scores)
                if column.metric == metric and column.against == against
            ),
            None,
        )


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """One label set or reference set that covers items of the dataset; the keys of `Against`, and its task.

    ``same_task`` tells whether it speaks of the dataset's task: only then can a decision be wrong by it.
    ``n`` counts the dataset's items that it labels.
    """

    ref: str
    kind: str
    name: str
    tier: str | None
    source_kind: str | None
    by: str
    task: str
    same_task: bool = True
    n: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """What one arm did on one item. ``scores`` are aligned with the arm's score columns; None is unscored.

    Of an arm that ran several times a score is the mean over the repeats that have it; output, decision and
    error are those of the run that is shown.
    """

    output: str | None
    decision: str | None
    error: str | None
    scores: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One item.

    ``preview`` is the start of its text on one line. ``cells`` are aligned with the sheet's arms, ``labels``
    (the raw label texts) with its label columns. ``winners`` are the names of the arms that tie for best by
    the metric, ``judge_winners`` those that the sheet's judge puts first. Where the metric says right or
    wrong and no arm is right, ``none_right`` holds and nobody wins.
    """

    item_id: str
    sha256: str
    preview: str
    fields: Mapping[str, Scalar]
    cells: tuple[Cell, ...]
    labels: tuple[str | None, ...]
    winners: tuple[str, ...]
    signals: Signals
    picked: Pick | None
    judge_winners: tuple[str, ...] = ()
    none_right: bool = False


@dataclass(frozen=True, slots=True)
class Footer:
    """One arm over the whole dataset, whatever rows the filters show.

    ``n`` items of ``of`` were scored by the sheet's metric and against; ``errors`` failed, of repeats in any
    of them. ``means`` and ``counts`` (over how many items) are aligned with the arm's score columns.
    ``figures`` are the run's own scores for each set it was scored against, with those that have no value per
    item; of repeats the means that the leaderboard has. ``spreads`` tell of each set and metric how far the
    repeats lie apart; empty for a run alone. ``win_rate`` is None
    for an arm that was scored on no row, or that cannot win. ``majority_rates`` holds, for each set, what an
    arm that always says the same could reach on the items that this arm was scored on. ``judge_win_rate`` is
    its share of what the sheet's judge gave over the rows judged. ``verdict`` (``leader``, ``contender``,
    ``behind``) and ``p`` (corrected, against the leader) are those of `field.verdicts` by the sheet's metric
    and set; None where they were not asked for, or none is given.
    """

    arm: str
    n: int
    of: int
    errors: int
    means: tuple[float | None, ...]
    figures: tuple[tuple[Against | None, Mapping[str, float]], ...]
    win_rate: float | None
    counts: tuple[int, ...] = ()
    majority_rates: tuple[tuple[Against | None, float], ...] = ()
    judge_win_rate: float | None = None
    verdict: str | None = None
    p: float | None = None
    spreads: tuple[tuple[Against | None, Mapping[str, Spread]], ...] = ()

    def spread(self, metric: str, against: Against | None) -> Spread | None:
        """Return how far the repeats lie apart by a metric against a set; None for a run alone."""
        return dict(self.spreads).get(against, {}).get(metric)


@dataclass(frozen=True, slots=True)
class Filters:
    """Which rows are shown; all that are set must hold.

    ``wrong`` keeps rows that carry the signal, ``new`` rows with a field value that the governed dataset
    never had. ``where`` are ``field:value`` texts; ``field:`` keeps items without that field.
    """

    disagree: bool = False
    split: bool = False
    unlabelled: bool = False
    wrong: bool = False
    new: bool = False
    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """Every item with each arm's output and scores, the labels, the winner, the signals, and a footer.

    ``metric`` is the metric asked for, or the primary; ``row_metric`` the one that draws each row's winner
    (``correct`` stands in for a metric without a value per item; empty where no arm has either).
    ``against`` is what the winner's scores were made against. ``new_vs`` is the dataset that *new* compares
    with. ``judge`` is the score column, ``<scorer>/<metric>``, of the pick or pairwise judge that draws the
    judge's winner; None where there is none. ``judged_by`` says how the footer's verdicts were made; empty
    where there are none. ``goal`` is the goal that was named, or the only one that names the dataset: its
    metric and set are taken where nothing else is asked for. ``notes`` are sentences that a reader must see.
    """

    dataset_id: str
    n_items: int
    arms: tuple[ArmColumn, ...]
    labels: tuple[LabelColumn, ...]
    rows: tuple[Row, ...]
    footer: tuple[Footer, ...]
    metric: str
    against: Against | None
    fields: tuple[str, ...]
    notes: tuple[str, ...]
    row_metric: str = ""
    higher: bool = True
    new_vs: str | None = None
    judge: str | None = None
    judged_by: str = ""
    goal: str | None = None

    @property
    def two_winners(self) -> bool:
        """Whether the metric and a judge each draw a winner: then each has its column."""
        return self.judge is not None and self.judge != self.row_metric


@dataclass(frozen=True, slots=True)
class ValueCount:
    """How many of the rows shown have one value of a field, and how many of those carry each signal."""

    value: Scalar | None
    n: int
    signals: Mapping[str, int] = field(default_factory=dict)
