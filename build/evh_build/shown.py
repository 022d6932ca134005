"""What a public build shows, decided before a page is made: what is not named here is on no page.

Only datasets have a visibility, so everything follows from them. A record is shown when its dataset is public
and when nothing that it was made of is hidden: labels adjudicated from hidden labels, a reference promoted
from them, a run scored against them, a replay of a hidden capture are hidden too. A capture is shown when a
public dataset was made straight from it, or from a part of it, and no private one was: what came to a public
dataset by way of a private one does not count. An arm is shown when a shown run is one of its, or its own
dataset is public. A goal is shown when every dataset and the set that it names are; a judge when one of its
judged runs is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from evh.project import judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from evh.acts.sources import Sources
    from evh.records.baseline import Baseline
    from evh.records.capture import Capture
    from evh.records.config import Config
    from evh.records.dataset import Dataset
    from evh.records.goal import Goal
    from evh.records.labelset import LabelSet
    from evh.records.reference import Reference
    from evh.records.run import Run

NOUNS = (
    "dataset", "capture", "log", "label set", "reference set", "run", "arm", "baseline", "goal", "judge",
    "pick",
)  # fmt: skip
"""What can be left out, in the order in which it is told."""
T = TypeVar("T")
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LEAST = 4


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that a public build does not show, and why."""

    noun: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Shown:
    """The names of what a public build shows; ``texts`` are the datasets whose texts it may show.

    ``left_out`` tells the rest. `names` are the ids of what is left out that nothing shown shares, as a text
    may hold them; ``ids`` are all of them, the short ones too.
    """

    datasets: frozenset[str]
    texts: frozenset[str]
    captures: frozenset[str]
    sets: frozenset[str]
    references: frozenset[str]
    runs: frozenset[str]
    configs: frozenset[str]
    goals: frozenset[str]
    judges: frozenset[str]
    left_out: tuple[LeftOut, ...]
    names: frozenset[str]
    ids: frozenset[str] = frozenset()

    def hides(self, name: str) -> bool:
        """Tell whether a name, a ref or another whole value is an id of what is left out, or names one."""
        return not self.ids.isdisjoint((name, *name.split("/"))) or self.names_hidden(name)

    def names_hidden(self, text: str) -> bool:
        """Tell whether a text names something that is left out; ids of under four characters do not count."""
        return not self.names.isdisjoint(words(text))


def words(text: str) -> set[str]:
    """Return every run of a text that could be an id, and what stands before and after each dot in it.

    >>> sorted(words("see p/acme_1.csv."))
    ['acme_1', 'acme_1.csv', 'csv', 'p', 'see']
    """
    found: set[str] = set()
    for part in set(_PART.findall(text)):
        word = part.rstrip(".-_")
        found |= {part, word}
        pieces = word.split(".")
        for at in range(1, len(pieces)):
            found |= {".".join(pieces[:at]), ".".join(pieces[at:])}
    return found


def decide(
    sources: Sources,
    captures: Mapping[str, Capture],
    configs: Mapping[str, Config],
    baselines: Iterable[Baseline],
    *,
    goals: Iterable[Goal] = (),
    judges: Iterable[str] = (),
    logs: Mapping[str, bool] | None = None,
) -> Shown:
    """Return what a public build shows of these records; ``logs`` tells which are declared public."""
    out: list[LeftOut] = []
    datasets = {name for name, one in sources.datasets.items() if one.visibility == "public"}
    out += [LeftOut("dataset", name, "private") for name in sources.datasets if name not in datasets]
    used, kept = _straight_from(sources.datasets, datasets)
    shown_captures = _with_wholes((used - kept) & set(captures), captures) - kept
    out += [
        LeftOut(
            "capture",
            name,
            "a private dataset was made of it" if name in used else "no public dataset was made of it",
        )
        for name in captures
        if name not in shown_captures
    ]
    world = _World(sources, datasets, shown_captures, set(captures))
    world.settle()
    out += world.left_out
    shown_configs = {
        name
        for name, one in configs.items()
        if _hidden_capture(one.params, shown_captures, set(captures)) is None
        and (one.dataset_id in datasets or any(world.runs[key].config_id == name for key in world.runs))
    }
    out += [
        LeftOut("arm", name, "no public dataset is its own and none of its runs is shown")
        for name in configs
        if name not in shown_configs
    ]
    out += [
        LeftOut("baseline", one.baseline_id, "of a dataset or a run that is not shown")
        for one in baselines
        if not shows_baseline(one, frozenset(datasets), world.runs)
    ]
    goals = list(goals)
    shown_goals = {
        one.goal_id
        for one in goals
        if datasets.issuperset(one.datasets) and not _hides(one.against, sources, world)
    }
    out += [
        LeftOut("goal", one.goal_id, "it names a dataset or a set that is not shown")
        for one in goals
        if one.goal_id not in shown_goals
    ]
    judges = list(judges)
    folders = {run.folder for run in world.runs.values() if run.judged}
    shown_judges = {name for name in judges if judged.folder(name) in folders}
    out += [
        LeftOut("judge", name, "none of its judged runs is shown")
        for name in judges
        if name not in shown_judges
    ]
    out += [
        LeftOut("pick", f"{dataset}/{item}", "of a private dataset")
        for dataset, item in sources.picks
        if dataset not in datasets
    ]
    out += [
        LeftOut("log", name, "not named in [catalog] public_logs")
        for name, declared in (logs or {}).items()
        if not declared
    ]
    order = {noun: at for at, noun in enumerate(NOUNS)}
    left = tuple(sorted(out, key=lambda one: (order[one.noun], one.name)))
    shown = [
        *datasets, *shown_captures, *shown_configs, *shown_goals, *shown_judges,
        *(part for ref in (*world.sets, *world.references) for part in ref.split("/")),
        *(run.run_id for run in world.runs.values()), *(run.config_id for run in world.runs.values()),
        *(run.folder.rpartition("/")[2] for run in world.runs.values() if run.judged),  # with no judge's file
        *(name for name, declared in (logs or {}).items() if declared),
        *(one.model_record for name, one in configs.items() if name in shown_configs and one.model_record),
    ]  # fmt: skip
    return Shown(
        datasets=frozenset(datasets),
        texts=frozenset(name for name in datasets if sources.datasets[name].redistributable),
        captures=frozenset(shown_captures),
        sets=frozenset(world.sets),
        references=frozenset(world.references),
        runs=frozenset(world.runs),
        configs=frozenset(shown_configs),
        goals=frozenset(shown_goals),
        judges=frozenset(shown_judges),
        left_out=left,
        names=frozenset(_names(left) | _logs(left, shown)) - set(shown),
        ids=frozenset(_ids(left)) - set(shown),
    )


def _hides(against: str | None, sources: Sources, world: _World) -> bool:
    """Tell whether a goal's set is here and not shown."""
    if against is None:
        return False
    if against.startswith("labels/"):
        name = against.removeprefix("labels/")
        return name in sources.sets and name not in world.sets
    return against in sources.references and against not in world.references


def _straight_from(every: Mapping[str, Dataset], public: set[str]) -> tuple[set[str], set[str]]:
    """Return the captures that public datasets were made of, and those that private ones were.

    An item that another dataset gave says nothing here: that dataset's own does, where it is still there.
    """
    used: set[str] = set()
    kept: set[str] = set()
    for name, dataset in every.items():
        for item in dataset.items:
            capture, origin = item.lineage.get("capture"), item.lineage.get("dataset")
            if capture and not origin:
                (used if name in public else kept).add(str(capture))
            elif capture and name not in public and origin not in every:
                kept.add(str(capture))
    return used, kept


def _with_wholes(used: set[str], captures: Mapping[str, Capture]) -> set[str]:
    """Return captures with those that they were split from, and those that these were split from."""
    made: set[str] = set()
    waiting = list(used)
    while waiting:
        name = waiting.pop()
        if name not in made and name in captures:
            made.add(name)
            waiting.append(captures[name].parent or "")
    return made


def shows_baseline(one: Baseline, datasets: frozenset[str], runs: Mapping[str, Run] | frozenset[str]) -> bool:
    """Tell whether a baseline is of a dataset and of a run that are shown."""
    key = one.promoted_from if "/" in one.promoted_from else f"runs/{one.promoted_from}"
    return one.dataset_id in datasets and key in runs


class _World:
    """Sets, references and runs; what was made of something hidden goes, until nothing more goes."""

    def __init__(
        self, sources: Sources, datasets: set[str], captures: set[str], known_captures: set[str]
    ) -> None:
        self._all_sets = sources.sets
        self._all_references = sources.references
        self._all_runs = {run.key: run for run in sources.runs}
        self._datasets, self._captures, self._known = datasets, captures, known_captures
        self.sets = dict(sources.sets)
        self.references = dict(sources.references)
        self.runs = dict(self._all_runs)
        self.left_out: list[LeftOut] = []

    def settle(self) -> None:
        """Take away what may not be shown."""
        before = -1
        while len(self.left_out) != before:
            before = len(self.left_out)
            self._sift(self.sets, "label set", self._set)
            self._sift(self.references, "reference set", self._reference)
            self._sift(self.runs, "run", self._run)

    def _sift(self, held: dict[str, T], noun: str, why_not: Callable[[T], str | None]) -> None:
        for name, one in list(held.items()):
            why = why_not(one)
            if why is not None:
                del held[name]
                self.left_out.append(LeftOut(noun, name, why))

    def _set(self, one: LabelSet) -> str | None:
        if one.dataset_id not in self._datasets:
            return "of a dataset that is not shown"
        hidden = _hidden_capture(one.source, self._captures, self._known)
        if hidden is not None:
            return "made by rule from a capture that is not shown"
        parents = [str(parent.get("set", "")) for parent in one.parents]
        if any(not self._shows_set(ref) for ref in parents):
            return "settled from labels that are not shown"
        run = str(one.source.get("run_id") or "")
        if any(other.run_id == run for other in self._all_runs.values()) and not any(
            other.run_id == run for other in self.runs.values()
        ):
            return "made of a run that is not shown"
        return None

    def _reference(self, one: Reference) -> str | None:
        if one.dataset_id not in self._datasets:
            return "of a dataset that is not shown"
        if any(not self._shows_set(ref) for ref in one.label_refs):
            return "promoted from labels that are not shown"
        return None

    def _run(self, one: Run) -> str | None:
        if one.dataset_id not in self._datasets:
            return "on a dataset that is not shown"
        if one.labels is not None and not self._shows_set(one.labels):
            return "scored against labels that are not shown"
        if one.reference in self._all_references and one.reference not in self.references:
            return "scored against a reference that is not shown"
        if _hidden_capture(one.params, self._captures, self._known) is not None:
            return "replays a capture that is not shown"
        origin = (one.derived or {}).get("from")
        key = str(origin) if "/" in str(origin or "") else f"runs/{origin}"
        if origin and key != one.key and key in self._all_runs and key not in self.runs:
            return "made of a run that is not shown"
        return None

    def _shows_set(self, ref: str) -> bool:
        """Tell whether a set may be named: it is shown, or no longer here and of a public dataset."""
        return ref in self.sets or (
            ref not in self._all_sets and ref.split("/", maxsplit=1)[0] in self._datasets
        )


def _hidden_capture(told: Mapping[str, Any], shown: set[str], known: set[str]) -> str | None:
    capture = told.get("capture")
    return str(capture) if isinstance(capture, str) and capture in known and capture not in shown else None


def _names(left: Iterable[LeftOut]) -> set[str]:
    """Return the ids of what is left out: of a set its own and its dataset's, of a run its id; no pick's."""
    made: set[str] = set()
    for one in left:
        if one.noun in ("run", "reference set", "label set"):
            made.add(one.name.rpartition("/")[2])
        elif one.noun not in ("pick", "baseline", "goal", "judge", "log"):  # words that anybody may write
            made.add(one.name)
    return {name for name in made if len(name) >= _LEAST}


def _ids(left: Iterable[LeftOut]) -> set[str]:
    """Return the ids of what is left out, however short; of a set and a run also without what it is of."""
    told = [one.name for one in left if one.noun not in ("pick", "baseline")]
    return {*told, *(name.rpartition("/")[2] for name in told)}


def _logs(left: Iterable[LeftOut], shown: Iterable[str]) -> set[str]:
    """Return the names of logs that no name of something shown holds: a public dataset may tell its log."""
    spelt = {word for name in shown for word in words(name)}
    return {one.name for one in left if one.noun == "log" and len(one.name) >= _LEAST} - spelt
