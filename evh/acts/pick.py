"""Picks: marking items for the next version of a dataset, and listing what waits."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh.acts.sources import Sources
from evh.errors import Refusal
from evh.project import datasets, picks
from evh.project.shelf import missing, read_each
from evh.records.pick import Pick
from evh.store.names import bad_id
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from evh.project.find import Project
    from evh.records.dataset import Dataset


MOST_ITEMS = 20
"""How many items a command for the next step names."""


@dataclass(frozen=True, slots=True)
class Change:
    """What one command asks of the picks it names; None carries the old value over.

    ``targets`` replaces the targets. ``tags`` sets one key each; an empty value removes the key.
    """

    targets: tuple[str, ...] | None = None
    tags: Mapping[str, str] | None = None
    note: str | None = None
    by: str | None = None
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The lines that would be appended, one an item, each the pick's full new state."""

    dataset_id: str
    change: Change
    lines: tuple[Pick, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The lines written; ``torn`` tells that a last line which a crash had cut was dropped first."""

    lines: tuple[Pick, ...]
    torn: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """One pick that waits.

    ``labels`` are the sets that label the item's bytes, by source: kind → ``<dataset>/<set>``; empty says
    what to label first. ``used_for`` are the datasets whose next version took it already.
    """

    pick: Pick
    labels: Mapping[str, tuple[str, ...]]
    used_for: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """What waits for one dataset; ``target`` is None for picks that name none yet.

    ``newest`` is the last version of the target, itself where it has none; ``n_taken`` counts the picks that
    versions took for the target already: another version of the target itself would be without them.
    """

    target: str | None
    picks: tuple[Waiting, ...]
    newest: str | None = None
    n_taken: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """Every pick that waits, by target (in the order of their names), those with none last."""

    groups: tuple[Group, ...]
    warnings: tuple[str, ...]


def read_tags(texts: Sequence[str]) -> dict[str, str]:
    """Return ``key=value`` texts as a mapping; ``key=`` has an empty value.

    Raises:
        Refusal: a text without ``=`` or without a key.
    """
    bad = [text for text in texts if not text.partition("=")[1] or not text.partition("=")[0].strip()]
    if bad:
        raise Refusal(
            "bad-tag",
            "a tag is KEY=VALUE",
            why=[f"--tag {text}: no key or no '='" for text in bad],
            next="write --tag case=oom, or --tag case= to remove it",
        )
    return {text.partition("=")[0].strip(): text.partition("=")[2] for text in texts}


def plan(project: Project, dataset_id: str, item_ids: Sequence[str], change: Change) -> Plan:
    """Return what picking items would write.

    Raises:
        Refusal: an unknown dataset; items that it lacks; a target that cannot be a dataset's name; dropping
            what is not picked; dropping while changing.
    """
    state = picks.read_state(project)
    listed = {key for key, one in state.items() if one.op != "drop"} if change.drop else set()
    dataset = _dataset(project, dataset_id, optional=any(name == dataset_id for name, _ in listed))
    known = dataset.by_id if dataset else {}
    wanted = list(dict.fromkeys(item_ids))
    reasons = [
        f"{item_id}: not an item of {dataset_id}"
        for item_id in wanted
        if item_id not in known and (dataset_id, item_id) not in listed
    ]
    code = "unknown-item"
    next_step = f"evh dataset-items --dataset-id {dataset_id}"
    if not wanted:
        reasons.append("no --item was named")
    names = [f"--for {name}: {bad}" for name in change.targets or () if (bad := bad_id(name))]
    if names and not reasons:
        code, next_step = "bad-target", "evh datasets"
    reasons += names
    if change.drop and (change.targets is not None or change.tags or change.note is not None):
        if not reasons:
            code, next_step = "drop-and-change", "leave out --for, --tag and --note"
        reasons.append("--drop takes the pick off the list: it goes with neither --for, --tag nor --note")
    if reasons:
        raise Refusal(code, "nothing was picked", why=reasons, next=next_step)
    lines = _lines(project, dataset_id, dataset, wanted, change=change, state=state)
    notes = (*_replaced(lines, state), *_taken(project, lines), *_warnings(project, lines))
    return Plan(dataset_id, change, lines, notes)


def commit(project: Project, plan: Plan) -> Result:
    """Append the lines, worked out again from the list as it is now: another command may have changed it."""
    dataset = _dataset(project, plan.dataset_id, optional=plan.change.drop)
    wanted = [line.item_id for line in plan.lines]
    lines, torn = picks.update(
        project,
        lambda state: _lines(project, plan.dataset_id, dataset, wanted, change=plan.change, state=state),
    )
    return Result(lines, torn is not None)


def report(
    project: Project,
    *,
    target: str | None = None,
    tags: Mapping[str, str] | None = None,
    sources: Sources | None = None,
) -> Report:
    """Return the picks that wait.

    A pick leaves the list of a dataset when a version made from that dataset took it: the pick's own ``used``
    says so, or the lineage of an item there names the pick.

    Args:
        project: the project.
        target: only what waits for this dataset, and for the datasets that it was made from.
        tags: only picks that carry all of these.
        sources: the project's records where the caller has read them already.

    Raises:
        Refusal: ``target`` is neither a dataset nor what a pick names.
    """
    sources = sources or Sources(project)
    alive = [pick for pick in sources.picks.values() if pick.op != "drop"]
    named = {name for pick in alive for name in pick.targets}
    if target is not None and target not in sources.datasets and target not in named:
        raise missing("dataset", target, {*sources.datasets, *named}, next="evh picks")
    shown = with_parents(target, sources.datasets) if target is not None else None
    used = picks.taken_by(sources.datasets.values())
    held = {item.sha256 for item in sources.datasets[target].items} if target in sources.datasets else set()
    groups: dict[str | None, list[Waiting]] = {}
    for pick in alive:
        if any(pick.tags.get(key) != value for key, value in (tags or {}).items()):
            continue
        taken = {str(one.get("for")) for one in pick.used} | set(used.get(pick.key, {}))
        waiting = Waiting(pick, labels_of(pick.sha256, sources), tuple(sorted(taken)))
        if not pick.targets and not taken and shown is None:
            groups.setdefault(None, []).append(waiting)
        for name in pick.targets:
            came_already = name != target and pick.sha256 in held  # a version between took these bytes
            if name not in taken and (shown is None or (name in shown and not came_already)):
                groups.setdefault(name, []).append(waiting)
    order = sorted(groups, key=lambda name: (name is None, name or ""))
    made = []
    for which in order:
        newest = newest_version(sources.datasets, which) if which in sources.datasets else None
        n_taken = sum(which in versions for versions in used.values())
        made.append(Group(which, tuple(groups[which]), newest, n_taken))
    notes = [
        f"{group.newest} is a version of {group.target}"
        + (f", and versions took {plural(group.n_taken, 'pick')} for it" if group.n_taken else "")
        + f": another version of {group.target} itself would be without what they have"
        for group in made
        if group.newest not in (None, group.target)
    ]
    shown_picks = {one.pick.key: one.pick for group in made for one in group.picks}
    return Report(tuple(made), (*notes, *_gone(shown_picks.values(), sources.datasets), *sources.notes()))


def gone(pick: Pick, known: Mapping[str, Collection[str]]) -> str | None:
    """Return a sentence about a pick whose item is gone, with the command that drops it; else None.

    Args:
        pick: the pick.
        known: dataset → its items' ids, of every dataset that is here.
    """
    if pick.item_id in known.get(pick.dataset_id, ()):
        return None
    told = "there is no such item any more" if pick.dataset_id in known else "its dataset is not here"
    return f"{pick.dataset_id}/{pick.item_id}: {told}; to take it off the list: {drop_command(pick)}"


def drop_command(pick: Pick) -> str:
    """Return the command that takes a pick off the list."""
    return f"evh pick --dataset-id {pick.dataset_id} --item {shlex.quote(pick.item_id)} --drop"


def _gone(waiting: Iterable[Pick], known: Mapping[str, Dataset]) -> list[str]:
    items = {name: one.by_id for name, one in known.items()}
    return [told for one in waiting if (told := gone(one, items))]


def newest_version(known: Mapping[str, Dataset], dataset_id: str) -> str:
    """Return the last of a dataset's versions, a version's version among them; itself where it has none."""
    at, seen = dataset_id, {dataset_id}
    while True:
        made = [one for one in known.values() if one.parent == at and one.dataset_id not in seen]
        if not made:
            return at
        at = max(made, key=lambda one: (one.created_at, one.dataset_id)).dataset_id
        seen.add(at)


def _dataset(project: Project, dataset_id: str, *, optional: bool) -> Dataset | None:
    """Return a dataset; None, where it is optional, for one that is gone or cannot be read.

    What stands on the list can be taken off it, whatever became of the dataset.
    """
    if not optional:
        return datasets.read(project, dataset_id)
    return next(iter(read_each([dataset_id], lambda name: datasets.read(project, name), [])), None)


def _lines(
    project: Project,
    dataset_id: str,
    dataset: Dataset | None,
    item_ids: Sequence[str],
    *,
    change: Change,
    state: Mapping[tuple[str, str], Pick],
) -> tuple[Pick, ...]:
    known = dataset.by_id if dataset else {}
    lines, reasons = [], []
    for item_id in item_ids:
        old = state.get((dataset_id, item_id))
        if change.drop and (old is None or old.op == "drop"):
            reasons.append(f"{item_id}: it is not picked")
            continue
        item = known.get(item_id)
        if item is None:  # it is dropped, and its dataset has it no more
            assert old is not None  # noqa: S101 - `plan` refused it
            by = old.by if change.by is None else change.by
            lines.append(replace(old, at=project.stamp(), op="drop", by=by))
            continue
        fresh = Pick(item_id, dataset_id, item.sha256, capture=_capture(item.lineage))
        # What was dropped starts anew; only the history of its use stays.
        base = fresh if old is None else replace(fresh, used=old.used) if old.op == "drop" else old
        tags = {**base.tags, **(change.tags or {})}
        lines.append(
            replace(
                base,
                sha256=item.sha256,
                capture=fresh.capture,
                at=project.stamp(),
                op="drop" if change.drop else "pick",
                by=base.by if change.by is None else change.by,
                targets=base.targets
                if change.targets is None
                else tuple(dict.fromkeys(name for name in change.targets if name)),
                tags={key: value for key, value in tags.items() if value},
                note=base.note if change.note is None else change.note,
            )
        )
    if reasons:
        raise Refusal("not-picked", "nothing was dropped", why=reasons, next="evh picks")
    return tuple(lines)


def _capture(lineage: Mapping[str, object]) -> str | None:
    return str(lineage["capture"]) if lineage.get("capture") else None


def _replaced(lines: Sequence[Pick], state: Mapping[tuple[str, str], Pick]) -> list[str]:
    """Return a sentence for each pick that loses a target: ``--for`` names all of them."""
    made = []
    for line in lines:
        old = state.get(line.key)
        if old is None or old.op == "drop" or line.op == "drop":
            continue
        lost = [name for name in old.targets if name not in line.targets]
        if lost:
            made.append(f"{line.item_id}: no longer for {', '.join(lost)} (--for replaces the targets)")
    return made


def _taken(project: Project, lines: Sequence[Pick]) -> list[str]:
    """Return a sentence for each pick that a version took already: it does not wait for that target again."""
    took = picks.taken(project)
    return [
        f"{line.item_id}: {version} took it for {target} already; it does not wait for {target} again"
        for line in lines
        if line.op != "drop"
        for target, version in took.get(line.key, {}).items()
        if target in line.targets
    ]


def _warnings(project: Project, lines: Sequence[Pick]) -> list[str]:
    made = []
    for name in dict.fromkeys(target for line in lines for target in line.targets):
        if not datasets.exists(project, name):
            made.append(f"there is no dataset {name!r} yet: the picks wait until there is one")
            continue
        held = {item.sha256 for item in datasets.read(project, name).items}
        already = [line.item_id for line in lines if name in line.targets and line.sha256 in held]
        if already:
            more = f" and {len(already) - 5} more" if len(already) > 5 else ""
            made.append(
                f"{name} holds these bytes already, so picking them for it adds nothing: "
                f"{', '.join(already[:5])}{more}"
            )
    return made


def retarget_commands(waiting: Iterable[Pick], old: Collection[str], new: str) -> list[str]:
    """Return the commands by which picks wait for one dataset in place of others; other targets stay.

    Args:
        waiting: the picks.
        old: the targets that they leave.
        new: the target that they get.
    """
    moved: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for one in waiting:
        targets = tuple(dict.fromkeys(new if name in old else name for name in one.targets))
        moved.setdefault((one.dataset_id, targets), []).append(one.item_id)
    return [
        f"evh pick --dataset-id {name} "
        + " ".join(f"--item {shlex.quote(item_id)}" for item_id in item_ids[:MOST_ITEMS])
        + "".join(f" --for {target}" for target in targets)
        for (name, targets), item_ids in moved.items()
    ]


def with_parents(name: str, known: Mapping[str, Dataset]) -> set[str]:
    """Return a dataset and every one that it is a version of."""
    made: set[str] = set()
    at: str | None = name
    while at is not None and at not in made:
        made.add(at)
        at = known[at].parent if at in known else None
    return made


def labels_of(sha256: str, sources: Sources) -> dict[str, tuple[str, ...]]:
    """Return the sets that label some bytes, by source: kind → ``<dataset>/<set>``; empty for none yet."""
    made: dict[str, list[str]] = {}
    for one in sources.sets.values():
        if sha256 in sources.labelled(one):
            made.setdefault(one.kind, []).append(one.ref)
    return {kind: tuple(refs) for kind, refs in sorted(made.items())}
