"""Picks as pages show them: what waits for which dataset, with its labels; and which versions took what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import pick as act
from evh_build.text import shell_word
from evh_build.withheld import NOT_PUBLIC, is_withheld

if TYPE_CHECKING:
    from evh_build.source import Mark, Source


@dataclass(frozen=True, slots=True)
class PickView:
    """A pick that waits: the item and where it is shown, where it came from, its labels, tags and note.

    ``word`` is the item for a command, quoted for a shell: with its dataset where another pick of the same
    list has the same id. ``others`` are the other datasets that it waits for.
    """

    item_id: str
    path: str | None
    dataset_id: str
    dataset: str | None
    capture: str | None
    capture_path: str | None
    labels: tuple[Mark, ...]
    by: str
    at: str
    tags: tuple[tuple[str, str], ...]
    note: str
    others: tuple[str, ...]
    word: str


@dataclass(frozen=True, slots=True)
class PickGroup:
    """What waits for one dataset; ``target`` is empty for picks that name none yet."""

    target: str
    path: str | None
    picks: tuple[PickView, ...]


@dataclass(frozen=True, slots=True)
class UsedPick:
    """A pick that a version took: the item, the dataset it was picked for, the version made of it."""

    item_id: str
    path: str | None
    dataset_id: str
    target: str
    version: str | None
    version_path: str | None


@dataclass(frozen=True, slots=True)
class AddedItem:
    """An item that a version has beside its parent's: where it came from, and the labels of its bytes."""

    item_id: str
    path: str | None
    capture: str | None
    capture_path: str | None
    dataset_id: str | None
    dataset: str | None
    labels: tuple[Mark, ...]


def groups(source: Source) -> tuple[PickGroup, ...]:
    """Return what waits, by target, picks without one last."""
    return source.once(("picks", ""), lambda: _groups(source))


def waiting_for(source: Source, dataset_id: str) -> tuple[PickView, ...]:
    """Return the picks that wait for a dataset."""
    return next((group.picks for group in groups(source) if group.target == dataset_id), ())


def used(source: Source) -> tuple[UsedPick, ...]:
    """Return which picks were used for what: from the list's own history and the versions' lineage."""
    found: dict[tuple[str, str, str], str | None] = {}
    for dataset in source.gathered.datasets.values():
        for item in dataset.items:
            if item.lineage.get("pick") and dataset.parent:
                key = str(item.lineage.get("dataset")), str(item.lineage.get("item_id")), dataset.parent
                found[key] = dataset.dataset_id
    for pick in source.gathered.sources.picks.values():
        for one in pick.used:
            version = str(one["in"]) if one.get("in") else None
            found.setdefault((pick.dataset_id, pick.item_id, str(one.get("for"))), version)
    return tuple(
        UsedPick(
            item_id,
            source.urls.full(dataset_id, item_id),
            dataset_id,
            target,
            version,
            source.urls.dataset(version or ""),
        )
        for (dataset_id, item_id, target), version in sorted(found.items())
    )


def added(source: Source, dataset_id: str) -> tuple[AddedItem, ...]:
    """Return the items that a version has and its parent has not; none where the parent is not here."""
    dataset = source.gathered.datasets[dataset_id]
    parent = source.gathered.datasets.get(dataset.parent or "")
    if parent is None:
        return ()
    had = {item.sha256 for item in parent.items}
    made = []
    for item in dataset.items:
        if item.sha256 in had:
            continue
        capture, origin = _told(item.lineage.get("capture")), _told(item.lineage.get("dataset"))
        if is_withheld(item.lineage):
            capture = capture or (NOT_PUBLIC if origin else None)
            origin = origin or NOT_PUBLIC
        made.append(
            AddedItem(
                item_id=item.item_id,
                path=source.urls.full(dataset_id, item.item_id),
                capture=capture,
                capture_path=source.urls.capture(capture or ""),
                dataset_id=origin,
                dataset=source.urls.dataset(origin or ""),
                labels=_labels(source, item.sha256),
            )
        )
    return tuple(made)


def _groups(source: Source) -> tuple[PickGroup, ...]:
    held = source.gathered
    report = act.report(held.project, sources=held.sources)
    return tuple(
        PickGroup(
            target=group.target or "",
            path=source.urls.dataset(group.target or ""),
            picks=tuple(_view(source, one, group) for one in group.picks),
        )
        for group in report.groups
    )


def _view(source: Source, one: act.Waiting, group: act.Group) -> PickView:
    pick = one.pick
    twice = sum(other.pick.item_id == pick.item_id for other in group.picks) > 1
    return PickView(
        item_id=pick.item_id,
        path=source.urls.full(pick.dataset_id, pick.item_id),
        dataset_id=pick.dataset_id,
        dataset=source.urls.dataset(pick.dataset_id),
        capture=pick.capture,
        capture_path=source.urls.capture(pick.capture or ""),
        labels=tuple(source.mark_of_ref(f"labels/{ref}") for refs in one.labels.values() for ref in refs),
        by=pick.by,
        at=pick.at,
        tags=tuple(sorted(pick.tags.items())),
        note=pick.note,
        others=tuple(name for name in pick.targets if name != group.target),
        word=shell_word(f"{pick.dataset_id}/{pick.item_id}" if twice else pick.item_id),
    )


def _labels(source: Source, sha256: str) -> tuple[Mark, ...]:
    held = source.gathered
    return tuple(
        source.mark_of_ref(f"labels/{ref}")
        for ref, one in held.label_sets.items()
        if sha256 in held.sources.labelled(one)
    )


def _told(value: object) -> str | None:
    return str(value) if value else None
