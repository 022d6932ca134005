"""Which two arms of a dataset have a page that compares them, and what moved between the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.compare_runs import Comparison, compare_runs
from evh.project.shelf import read_each

if TYPE_CHECKING:
    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class Compared:
    """Two arms of a dataset in a line: of ``n_both`` items that both decided, ``n_same`` alike.

    ``path`` is the page that shows it item by item. ``better`` are the counts of items on which the first
    and the second scored better; None where no item has a score of both.
    """

    dataset_id: str
    first: str
    first_path: str | None
    second: str
    second_path: str | None
    path: str
    n_both: int
    n_same: int
    n_moved: int
    better: tuple[int, int] | None


def pairs(source: Source, dataset_id: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of a dataset's arms that have a page, in the order of the arms.

    Every arm beside the first one (production's recorded arm where there is one), and beside the one that a
    baseline of the dataset was promoted from. Not every two: that would be a page for each of n² pairs.
    """
    return source.once(("pairs", dataset_id), lambda: _pairs(source, dataset_id))


def _pairs(source: Source, dataset_id: str) -> tuple[tuple[str, str], ...]:
    names = [arm.name for arm in source.gathered.arms.get(dataset_id, ())]
    firsts = list(dict.fromkeys([*names[:1], *baseline_arms(source, dataset_id)]))
    made: dict[frozenset[str], tuple[str, str]] = {}
    for first in firsts:
        for name in names:
            if name != first and first in names:
                made.setdefault(frozenset((first, name)), (first, name))
    return tuple(made.values())


def baseline_arms(source: Source, dataset_id: str) -> tuple[str, ...]:
    """Return the arms whose run a baseline of the dataset was promoted from."""
    held = source.gathered
    runs = {run.run_id: run.config_id for run in held.runs.values()}
    promoted = [
        one.promoted_from.rpartition("/")[2] for one in held.baselines if one.dataset_id == dataset_id
    ]
    return tuple(dict.fromkeys(runs[run_id] for run_id in promoted if run_id in runs))


def comparison(source: Source, dataset_id: str, first: str, second: str) -> Comparison | None:
    """Return what moved between two arms, as ``evh inspect`` tells it; None where it cannot be told."""

    def compare(names: tuple[str, str]) -> Comparison:
        held = source.gathered
        return compare_runs(held.project, dataset_id, names, with_texts=False, sources=held.sources)

    def made() -> Comparison | None:
        found = read_each([(first, second)], compare, source.gathered.sources.problems)
        return found[0] if found else None

    key = ("comparison", f"{dataset_id}\0{first}\0{second}")
    return source.once(key, lambda: source.gathered.kept_of(dataset_id, key, made))


def compared(source: Source, dataset_id: str) -> tuple[Compared, ...]:
    """Return every pair of a dataset's arms that has a page, in a line each."""
    return source.once(("compared", dataset_id), lambda: _compared(source, dataset_id))


def _compared(source: Source, dataset_id: str) -> tuple[Compared, ...]:
    made = []
    for first, second in pairs(source, dataset_id):
        found = comparison(source, dataset_id, first, second)
        if found is None:
            continue
        made.append(
            Compared(
                dataset_id=dataset_id,
                first=first,
                first_path=source.urls.arm(first),
                second=second,
                second_path=source.urls.arm(second),
                path=source.urls.compare(dataset_id, first, second),
                n_both=found.n_both,
                n_same=found.n_same,
                n_moved=len(found.rows),
                better=found.n_better,
            )
        )
    return tuple(made)
