"""What `label_preview` shows: means, ranks, winners and baselines before and after."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MetricMove:
    """One metric of one arm before and after.

    ``n_before`` and ``n_after`` count the items it is the mean of; both are None for a figure of the run as a
    whole. ``before_both`` and ``after_both`` are the means over the ``n_both`` items that both sets label:
    what moves there is no matter of coverage.
    """

    metric: str
    primary: bool
    higher: bool
    before: float | None
    after: float | None
    n_before: int | None
    n_after: int | None
    n_both: int | None
    before_both: float | None
    after_both: float | None


@dataclass(frozen=True, slots=True)
class ArmMove:
    """One arm before and after.

    ``rank`` is its place by the mean of the preview's metric, 1 for the best, ties sharing the best place;
    None for an arm that has no mean or may not lead: one measured on labels made from its own outputs
    (``own``) or fitted on these items (``fitted``). ``better`` and ``worse`` count the items that both sets
    label on which its score would rise or fall.
    """

    name: str
    run_id: str
    recorded: bool
    metrics: tuple[MetricMove, ...]
    rank_before: int | None
    rank_after: int | None
    own_before: bool
    own_after: bool
    fitted: bool
    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class ItemMove:
    """An item whose label, winner or any arm's score would change; scores are aligned with the arms."""

    item_id: str
    label_before: str | None
    label_after: str | None
    before: tuple[float | None, ...]
    after: tuple[float | None, ...]
    winners_before: tuple[str, ...]
    winners_after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BaselineMove:
    """A baseline that was promoted by scores against the replaced set.

    ``ahead_before`` and ``ahead_after`` are the arms with a better mean than it.
    """

    baseline_id: str
    goal: str | None
    arm: str
    before: float | None
    after: float | None
    ahead_before: tuple[str, ...]
    ahead_after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """What replacing one set by another would move on a dataset.

    Attributes:
        dataset_id: the dataset.
        replace: the set in place, ``labels/<dataset>/<set>`` or ``<tier>/<name>``.
        by: the set that would take its place.
        metric: the metric that ranks the arms.
        row_metric: the one with a value per item that draws each row's winner; empty where there is none.
        arms: the arms that are scored against the replaced set.
        items: the items that change, in the dataset's order.
        n_items: items of the dataset.
        n_same: items that both sets label alike.
        n_changed: items that both label, otherwise.
        n_gained: items that only the new set labels.
        n_lost: items that only the replaced set labels.
        n_winners: rows whose winner changes.
        leaders_before: the arms at place 1; empty where none may lead.
        leaders_after: likewise.
        baselines: the baselines concerned.
        verdicts: how the paired tests between arms would change; None: no test is run here.
        notes: what a person should know, a sentence each.
    """

    dataset_id: str
    replace: str
    by: str
    metric: str
    row_metric: str
    arms: tuple[ArmMove, ...]
    items: tuple[ItemMove, ...]
    n_items: int
    n_same: int
    n_changed: int
    n_gained: int
    n_lost: int
    n_winners: int
    leaders_before: tuple[str, ...]
    leaders_after: tuple[str, ...]
    baselines: tuple[BaselineMove, ...]
    verdicts: None
    notes: tuple[str, ...]
