"""Which picks wait for a dataset, and which for one that it is a version of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts.pick import newest_version, retarget_commands
from evh.errors import Refusal
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evh.acts.sources import Sources
    from evh.records.pick import Pick

NAMED = 5
"""How many items a warning names before it counts the rest."""


def used(pick: Pick, parent_id: str, taken: Mapping[tuple[str, str], Mapping[str, str]]) -> bool:
    """Tell whether a version took a pick for a dataset; ``taken`` is what the items' lineage tells."""
    return parent_id in taken.get(pick.key, {}) or any(one.get("for") == parent_id for one in pick.used)


def waits(pick: Pick, name: str, taken: Mapping[tuple[str, str], Mapping[str, str]]) -> bool:
    """Tell whether a pick waits for a dataset."""
    return name in pick.targets and not used(pick, name, taken)


def still_waiting(
    parent_id: str,
    wanted: Sequence[Pick],
    left: Sequence[Pick],
    older: Collection[str],
    taken: Mapping[tuple[str, str], Mapping[str, str]],
) -> list[str]:
    """Return what tells of picks that wait for a dataset that the extended one is itself a version of.

    A pick waits for the datasets that it names, and for no version of theirs: ``--picks`` leaves those out,
    and one that is taken all the same goes on waiting there. Each sentence has the command that retargets.

    Args:
        parent_id: the dataset that is extended.
        wanted: the picks that the version takes.
        left: the picks that ``--picks`` left out.
        older: what ``parent_id`` is a version of.
        taken: what the items' lineage tells, see `used`.
    """
    made = []
    for name in sorted(older):
        out = [one for one in left if waits(one, name, taken)]
        stay = [one for one in wanted if waits(one, name, taken)]
        for found, told in (
            (out, f"for {name} left out: {parent_id} is a version of it, and --picks takes what names it"),
            (stay, f"taken here and left on the list of {name}, which {parent_id} is a version of"),
        ):
            if found:
                ids = ", ".join(one.item_id for one in found[:NAMED])
                more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
                way = "; ".join(retarget_commands(found, {name}, parent_id))
                made.append(f"{plural(len(found), 'pick')} {told} ({ids}{more}); to retarget: {way}")
    return made


def newer(parent_id: str, sources: Sources) -> list[str]:
    """Return what tells that a dataset has a version already, whose picks another one would be without."""
    newest = newest_version(sources.datasets, parent_id)
    if newest == parent_id:
        return []
    told = f"{newest} is a version of {parent_id} already: this one is made of {parent_id} itself, and is"
    return [f"{told} without what {newest} took (what waits for that one: evh picks --for {newest})"]


def nothing_waits(parent_id: str, left: Sequence[Pick], older: Collection[str]) -> Refusal:
    """Return the Refusal of ``--picks`` where no pick waits; what waits for an older version is told."""
    why = [f"{parent_id}: --picks takes the picks that name it as a target"]
    for name in sorted(older):
        found = [one for one in left if name in one.targets]
        if found:
            verb = "waits" if len(found) == 1 else "wait"
            why.append(f"{plural(len(found), 'pick')} {verb} for {name}, which {parent_id} is a version of")
    return Refusal(
        "nothing-waits",
        f"no pick waits for {parent_id}",
        why=why,
        next="; ".join(retarget_commands(left, older, parent_id))
        if left
        else f"evh picks, then --pick ITEM, or: evh pick --dataset-id D --item ITEM --for {parent_id}",
    )
