"""How often the labeler says yes, beside how often the controller updated: counts, and rates of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from evh.measure import rates
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evh.measure.rates import Rate, Reward
    from evh.project.logs import Decisions


@dataclass(frozen=True, slots=True)
class Summary:
    """What a journal comes to on the log as it is now.

    Every ``n_…`` without ``distinct`` counts places of the log, the label looked up by the chunk's content.

    Attributes:
        n_chunks: places; ``n_distinct``: different contents.
        n_labelled, n_yes: places whose content has a label, has a yes.
        n_distinct_labelled, n_distinct_yes: the same of contents.
        n_suspect: contents with a label whose text tries to steer; ``n_suspect_yes`` of them yes.
        failed: kind → contents that failed and have no label.
        n_elsewhere: labels of contents that the log does not hold now.
        n_decided: places for which a controller's decision is recorded; ``n_updates``: it updated.
        n_lost: decisions about contents that the log does not hold.
        n_outside: decisions about places that the log does not have; n_again: those about a place that was
            decided again. None of these three counts.
        n_scored: decided places with a label; ``n_right``: the decision is the label.
    """

    n_chunks: int = 0
    n_distinct: int = 0
    n_labelled: int = 0
    n_yes: int = 0
    n_distinct_labelled: int = 0
    n_distinct_yes: int = 0
    n_suspect: int = 0
    n_suspect_yes: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    n_elsewhere: int = 0
    n_decided: int = 0
    n_updates: int = 0
    n_lost: int = 0
    n_outside: int = 0
    n_again: int = 0
    n_scored: int = 0
    n_right: int = 0

    @property
    def n_failed(self) -> int:
        """Contents that failed."""
        return sum(self.failed.values())

    @property
    def n_left(self) -> int:
        """Contents without a label, failed ones included."""
        return self.n_distinct - self.n_distinct_labelled

    @property
    def label_rate(self) -> Rate:
        """Yes over labelled places."""
        return rates.rate(self.n_yes, self.n_labelled)

    @property
    def distinct_label_rate(self) -> Rate:
        """Yes over labelled contents."""
        return rates.rate(self.n_distinct_yes, self.n_distinct_labelled)

    @property
    def failed_rate(self) -> Rate:
        """Failed over contents that were asked."""
        return rates.rate(self.n_failed, self.n_failed + self.n_distinct_labelled)

    @property
    def suspect_rate(self) -> Rate:
        """Yes over labelled suspects."""
        return rates.rate(self.n_suspect_yes, self.n_suspect)

    @property
    def plain_rate(self) -> Rate:
        """Yes over labelled contents that are no suspects."""
        return rates.rate(self.n_distinct_yes - self.n_suspect_yes, self.n_distinct_labelled - self.n_suspect)

    @property
    def update_rate(self) -> Rate:
        """Updates over decisions."""
        return rates.rate(self.n_updates, self.n_decided)

    @property
    def r_update(self) -> Reward:
        """The mean reward of the decisions that have a label."""
        return rates.reward(self.n_right, self.n_scored)

    def dump(self) -> dict[str, Any]:
        """Return the counts."""
        return {**asdict(self), "failed": dict(self.failed)}


def summarise(
    shas: Sequence[str],
    labels: Mapping[str, bool],
    *,
    suspects: Collection[str] = (),
    failures: Mapping[str, str] | None = None,
    decided: Decisions | None = None,
) -> Summary:
    """Return what labels come to on a log.

    Args:
        shas: the chunk_sha of each place, in order.
        labels: chunk_sha → label.
        suspects: those of them whose text tries to steer.
        failures: chunk_sha → kind; those with a label do not count.
        decided: what a controller decided.
    """
    updates = decided.last if decided else ()
    within = [one for one in updates if one.t < len(shas)]
    there = set(shas)
    held = {sha: label for sha, label in labels.items() if sha in there}
    found = [labels[sha] for sha in shas if sha in labels]
    known = [one for one in within if one.chunk_sha in there]
    scored = [one.update == labels[one.chunk_sha] for one in known if one.chunk_sha in labels]
    steering = [label for sha, label in held.items() if sha in suspects]
    kinds = Counter(kind for sha, kind in (failures or {}).items() if sha in there and sha not in labels)
    return Summary(
        n_chunks=len(shas),
        n_distinct=len(there),
        n_labelled=len(found),
        n_yes=sum(found),
        n_distinct_labelled=len(held),
        n_distinct_yes=sum(held.values()),
        n_suspect=len(steering),
        n_suspect_yes=sum(steering),
        failed=dict(sorted(kinds.items())),
        n_elsewhere=len(labels) - len(held),
        n_decided=len(known),
        n_updates=sum(one.update for one in known),
        n_lost=len(within) - len(known),
        n_outside=len(updates) - len(within),
        n_again=decided.n_again if decided else 0,
        n_scored=len(scored),
        n_right=sum(scored),
    )


def left_out(summary: Summary) -> list[str]:
    """Return what of a journal and of the controller's decisions does not count, a sentence each."""
    made = []
    if summary.n_elsewhere:
        made.append(
            f"{summary.n_elsewhere:,} labels are of contents that the log does not hold now: they are kept"
        )
    if summary.n_lost:
        made.append(
            f"{plural(summary.n_lost, 'decision')} of the controller about contents that the log does not "
            "hold: not counted"
        )
    if summary.n_outside:
        made.append(
            f"{plural(summary.n_outside, 'decision')} of the controller about places that the log does not "
            f"have (t from {summary.n_chunks:,} on): not counted"
        )
    if summary.n_again:
        made.append(
            f"{plural(summary.n_again, 'decision')} of the controller about places that it decided again: "
            "not counted, the last one of a place is"
        )
    return made
