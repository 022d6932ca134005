"""The next version of a dataset: its items, and the picks that are chosen to join them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evh.acts import dataset_create
from evh.acts.dataset_create import Source
from evh.acts.pick import drop_command, labels_of, with_parents
from evh.acts.sources import Sources
from evh.acts.version_picks import NAMED, newer, nothing_waits, still_waiting, used, waits
from evh.errors import Refusal
from evh.project import datasets, picks
from evh.project.shelf import missing, read_each
from evh.records.dataset import Dataset, Item, field_types_of
from evh.store.names import bad_item_id
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.project.find import Project
    from evh.records.pick import Pick

MOST_NAMED = 50
"""How many picks the command to go on with names."""


@dataclass(frozen=True, slots=True)
class Added:
    """One item that joins: the pick it was, the item as the version has it, the labels of its bytes.

    ``labels`` are the sets that label the bytes, by source: kind → ``<dataset>/<set>``; they come with it.
    """

    pick: Pick
    item: Item
    labels: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The version that `commit` would write: ``parent``'s items, then ``added``, with every item's bytes."""

    parent: str
    dataset: Dataset
    added: tuple[Added, ...]
    texts: Mapping[str, bytes] = field(repr=False)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The dataset as written. ``warnings`` tell what the list of picks could not be told, or had lost."""

    dataset: Dataset
    warnings: tuple[str, ...] = ()


def plan(
    project: Project, parent_id: str, dataset_id: str, *, every: bool = False, chosen: Sequence[str] = ()
) -> Plan:
    """Return the version that a dataset and its picks make. Labels follow the bytes; nothing is promoted.

    Args:
        project: the project.
        parent_id: the dataset that is extended; the version takes over its flags, fields and task.
        dataset_id: the version's id.
        every: take every pick that waits for ``parent_id``.
        chosen: take these picks, whatever they wait for: ``<item>``, or ``<dataset>/<item>`` where several
            datasets have an item of that id.

    Raises:
        Refusal: neither or both ways to choose; nothing waits; a pick that is not there, that a version took
            for ``parent_id`` already, whose item changed since, or whose bytes the dataset or another chosen
            pick has; an id that cannot stand beside the others; an existing ``dataset_id``. All at once.

    Cost: the bytes of every item are read once.
    """
    if every == bool(chosen):
        why = "--picks takes all that wait, --pick those that are named" if every else "no pick was chosen"
        raise Refusal(
            "bad-options",
            "a version is made of the picks that you choose",
            why=[why],
            next=f"give either --picks or --pick: evh picks --for {parent_id}",
        )
    sources = Sources(project)
    parent = sources.datasets.get(parent_id) or datasets.read(project, parent_id)
    problems: list[Refusal] = []
    if datasets.exists(project, dataset_id):
        problems.append(datasets.already(dataset_id))
    alive = {key: one for key, one in sources.picks.items() if one.op != "drop"}
    taken = picks.taken_by(sources.datasets.values())
    older = with_parents(parent_id, sources.datasets) - {parent_id}
    had = {item.sha256 for item in parent.items}
    left = [
        one
        for one in alive.values()
        if parent_id not in one.targets
        and one.sha256 not in had
        and any(waits(one, name, taken) for name in older)
    ]
    if every:
        wanted = [one for one in alive.values() if waits(one, parent_id, taken)]
        if not wanted:
            problems.append(nothing_waits(parent_id, left, older))
    else:
        found = read_each(dict.fromkeys(chosen), lambda word: _named(word, alive), problems)
        wanted = list({one.key: one for one in found}.values())
    reasons = [
        _taken(one, parent_id, taken) for one in wanted if used(one, parent_id, taken)
    ]  # fmt: skip
    origins = {one.dataset_id: sources.datasets.get(one.dataset_id) for one in wanted}
    reasons += [reason for one in wanted if (reason := _changed(one, origins[one.dataset_id]))]
    reasons += _twins(parent, wanted)
    names = _names(parent, wanted, reasons)
    # The bytes are read only where nothing else is wrong.
    texts = {} if problems or reasons else _texts(project, wanted, origins, reasons)
    if problems or reasons:
        raise _refused(parent_id, dataset_id, problems, reasons, wanted)
    copy = dataset_create.plan(project, dataset_id, Source(dataset_id=parent_id))
    added = tuple(
        _added(one, names[one.key], parent, origins[one.dataset_id], sources) for one in wanted
    )  # fmt: skip
    made = replace(copy.dataset, items=(*copy.dataset.items, *(one.item for one in added)))
    return Plan(
        parent_id,
        made,
        added,
        {**copy.texts, **{one.item.item_id: texts[one.pick.key] for one in added}},
        (
            *_warnings(parent, made, added, origins),
            *still_waiting(parent_id, wanted, left if every else (), older, taken),
            *newer(parent_id, sources),
        ),
    )


def commit(project: Project, plan: Plan) -> Result:
    """Write the version, its manifest last, then tell the list of picks; nobody takes a pick in between.

    The manifest is the commit point: where the list cannot be told afterwards the version stands, the picks
    count as used by its lineage, and the next command that writes the list adds the lines.

    Raises:
        Refusal: another command took or dropped a pick, or made the dataset, since the plan.
    """
    written: list[Dataset] = []
    named = [one.pick for one in plan.added]

    def write(state: Mapping[tuple[str, str], Pick]) -> list[Pick]:
        taken = picks.taken(project)
        gone = [
            _taken(one, plan.parent, taken) if used(one, plan.parent, taken) else f"{_ref(one)}: was dropped"
            for one in named
            if one.key not in state or state[one.key].op == "drop" or used(one, plan.parent, taken)
        ]
        if gone:
            raise _refused(plan.parent, plan.dataset.dataset_id, [], gone)
        made = datasets.write_new(project, plan.dataset, plan.texts)
        written.append(made)
        stamp = project.stamp()
        return [picks.used(state[one.key], plan.parent, made.dataset_id, stamp) for one in named]

    problems: list[Refusal] = []
    told = read_each([write], lambda make: picks.update(project, make), problems)
    if problems and not written:
        raise problems[0]
    if problems:
        late = f"the version is made; the list of picks will be told by the next pick ({problems[0].what})"
        return Result(written[0], (late,))
    cut = "the last line of the list of picks had been cut by a crash; it was dropped"
    return Result(written[0], (cut,) if told[0][1] is not None else ())


def next_version(project: Project, dataset_id: str) -> str:
    """Return a free id for a dataset's next version: ``triage_v1`` → ``triage_v2``, else ``…_v2``."""
    numbered = re.fullmatch(r"(.*v)([0-9]{1,6})", dataset_id)
    stem, number = (numbered[1], int(numbered[2])) if numbered else (f"{dataset_id}_v", 1)
    number += 1
    while datasets.exists(project, f"{stem}{number}"):
        number += 1
    return f"{stem}{number}"


def _ref(pick: Pick) -> str:
    return f"{pick.dataset_id}/{pick.item_id}"


def _taken(pick: Pick, parent_id: str, taken: Mapping[tuple[str, str], Mapping[str, str]]) -> str:
    version = taken.get(pick.key, {}).get(parent_id) or next(
        (str(one.get("in")) for one in pick.used if one.get("for") == parent_id), "a version"
    )
    return f"{_ref(pick)}: {version} took it for {parent_id} already"


def _named(word: str, alive: Mapping[tuple[str, str], Pick]) -> Pick:
    """Return the pick that a word names: an item's id, or dataset and item."""
    origin, _, item_id = word.partition("/")
    found = {key: one for key, one in alive.items() if one.item_id == word or key == (origin, item_id)}
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        known = {one.item_id for one in alive.values()} | {_ref(one) for one in alive.values()}
        raise missing("pick", word, known, next="evh picks")
    raise Refusal(
        "ambiguous-pick",
        f"{word!r} names several picks",
        why=[f"{word}: {' or '.join(sorted(map(_ref, found.values())))}"],
        next="name each as DATASET/ITEM",
    )


def _changed(pick: Pick, origin: Dataset | None) -> str | None:
    if origin is None:
        return f"{_ref(pick)}: its dataset is not here, or cannot be read (evh validate)"
    item = origin.by_id.get(pick.item_id)
    if item is None:
        return f"{_ref(pick)}: its dataset has no such item any more"
    if item.sha256 != pick.sha256:
        return f"{_ref(pick)}: the item is not the bytes that were picked; pick it again"
    return None


def _twins(parent: Dataset, wanted: Sequence[Pick]) -> list[str]:
    had = {item.sha256: item.item_id for item in parent.items}
    first: dict[str, Pick] = {}
    reasons = []
    for one in wanted:
        if one.sha256 in had:
            reasons.append(f"{_ref(one)}: {parent.dataset_id} has its bytes as {had[one.sha256]}")
        elif one.sha256 in first:
            reasons.append(f"{_ref(one)}: has the bytes of {_ref(first[one.sha256])}; choose one of them")
        first.setdefault(one.sha256, one)
    return reasons


def _names(parent: Dataset, wanted: Sequence[Pick], reasons: list[str]) -> dict[tuple[str, str], str]:
    """Return the id of each pick in the version; where others have its id it enters as ``<dataset>/<id>``."""
    taken = {item.item_id for item in parent.items}
    shared = Counter(one.item_id for one in wanted)
    made: dict[tuple[str, str], str] = {}
    for one in wanted:
        clash = one.item_id in taken or shared[one.item_id] > 1
        made[one.key] = _ref(one) if clash else one.item_id
    given = Counter(made.values())
    for one in wanted:
        name = made[one.key]
        if name in taken or given[name] > 1:
            reasons.append(f"{_ref(one)}: neither {one.item_id!r} nor {name!r} is free")
        elif (bad := bad_item_id(name)) is not None:
            reasons.append(f"{_ref(one)}: would enter as {name!r}: {bad}")
    return made


def _texts(
    project: Project,
    wanted: Sequence[Pick],
    origins: Mapping[str, Dataset | None],
    reasons: list[str],
) -> dict[tuple[str, str], bytes]:
    """Return the bytes of each pick; those that cannot be read, or were edited, are told one by one."""
    made: dict[tuple[str, str], bytes] = {}
    for dataset in origins.values():
        if dataset is None:
            continue
        mine = [one for one in wanted if one.dataset_id == dataset.dataset_id]

        def read(chosen: Sequence[Pick], dataset: Dataset = dataset) -> dict[str, bytes]:
            return datasets.texts(project, dataset, [dataset.by_id[one.item_id] for one in chosen])

        found = read_each([mine], read, [])
        if not found:
            for one in mine:
                problems: list[Refusal] = []
                found += read_each([[one]], read, problems)
                reasons += [
                    f"{_ref(one)}: {reason.removeprefix(f'{one.item_id}: ')}"
                    for problem in problems
                    for reason in problem.why or (problem.what,)
                ]
        made |= {(dataset.dataset_id, name): data for texts in found for name, data in texts.items()}
    return made


def _added(pick: Pick, name: str, parent: Dataset, origin: Dataset | None, sources: Sources) -> Added:
    assert origin is not None  # noqa: S101 - `_changed` refused it
    item = origin.by_id[pick.item_id]
    fields = {key: value for key, value in item.fields.items() if key in parent_fields(parent)}
    lineage = {**item.lineage, "dataset": pick.dataset_id, "item_id": pick.item_id, "pick": _ref(pick)}
    return Added(
        pick,
        Item(item_id=name, sha256=item.sha256, fields=fields, lineage=lineage),
        labels_of(item.sha256, sources),
    )


def parent_fields(parent: Dataset) -> Mapping[str, str]:
    """Return the fields that a version has: those of the dataset it extends, with their types."""
    return {**field_types_of(list(parent.items)), **parent.field_types}


def _warnings(
    parent: Dataset, made: Dataset, added: Sequence[Added], origins: Mapping[str, Dataset | None]
) -> list[str]:
    told = []
    fields = parent_fields(parent)
    lost: dict[str, int] = {}
    for one in added:
        origin = origins[one.pick.dataset_id]
        for name in origin.by_id[one.pick.item_id].fields if origin else ():
            if name not in fields:
                lost[name] = lost.get(name, 0) + 1
    if lost:
        names = ", ".join(f"{name} ({n})" for name, n in lost.items())
        told.append(f"left out, as {parent.dataset_id} has no such fields: {names}")
    types = field_types_of(list(made.items))
    told += [
        f"the field {name!r} is {kind} in {parent.dataset_id} and of mixed types with the picks"
        for name, kind in fields.items()
        if kind != "mixed" and types.get(name) == "mixed"
    ]
    known = [one for one in origins.values() if one is not None]
    private = [one.dataset_id for one in known if one.visibility == "private"]
    if made.visibility == "public" and private:
        told.append(
            f"{made.dataset_id} is public, as {parent.dataset_id} is, and takes items of private datasets "
            f"({', '.join(private)}): evh dataset-set --dataset-id {made.dataset_id} --visibility private"
        )
    kept = [one.dataset_id for one in known if not one.redistributable]
    if made.redistributable and kept:
        told.append(
            f"{made.dataset_id} may be redistributed, as {parent.dataset_id} may, and takes items that may "
            f"not ({', '.join(kept)}): evh dataset-set --dataset-id {made.dataset_id} --no-redistribute"
        )
    told += [
        f"labels of {one.dataset_id} answer the task {one.task or 'none'!r}, those of {parent.dataset_id} "
        f"{parent.task or 'none'!r}: they do not count for each other"
        for one in known
        if one.task != parent.task
    ]
    bare = [one.item.item_id for one in added if not one.labels]
    if bare:
        more = f" and {len(bare) - NAMED} more" if len(bare) > NAMED else ""
        told.append(f"no labels yet: {', '.join(bare[:NAMED])}{more}")
    return told


def _refused(
    parent_id: str,
    dataset_id: str,
    problems: Sequence[Refusal],
    reasons: Sequence[str],
    wanted: Sequence[Pick] = (),
) -> Refusal:
    if len(problems) == 1 and not reasons:
        return problems[0]
    why = [f"{one.what}: {reason}" for one in problems for reason in one.why]
    bad = [one for one in wanted if any(reason.startswith(f"{_ref(one)}: ") for reason in reasons)]
    more = f"{plural(len(reasons), 'pick')} cannot join" if reasons and not problems else "it cannot be made"
    return Refusal(
        "bad-picks" if not problems else "cannot-extend",
        f"{dataset_id} was not made of {parent_id}: {more}",
        why=[*why, *reasons],
        next=_way_out(parent_id, dataset_id, bad, [one for one in wanted if one not in bad]),
    )


def _way_out(parent_id: str, dataset_id: str, bad: Sequence[Pick], others: Sequence[Pick]) -> str:
    """Return how to go on: with the picks that can join, or by taking the others off the list."""
    drop = drop_command(bad[0]) if bad else "evh pick --dataset-id D --item ITEM --drop"
    if not bad or not others:
        return f"choose others with --pick, or take them off the list: {drop}"
    named = "".join(f" --pick {shlex.quote(_ref(one))}" for one in others[:MOST_NAMED])
    more = " …" if len(others) > MOST_NAMED else ""
    without, each = ("it", "it") if len(bad) == 1 else ("them", "each")
    return (
        f"go on without {without}: evh dataset-extend {parent_id} --dataset-id {dataset_id}{named}{more}; "
        f"or take {each} off the list: {drop}"
    )
