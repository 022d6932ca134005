"""The navigation of every page: its entries in their order, and the menus that hold some of them."""

from __future__ import annotations

from dataclasses import dataclass

from evh_build import urls


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation: the section that it stands for, its name, and its page."""

    key: str
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Group:
    """Entries that stand together: in a menu of its ``name``, or side by side where it has none.

    ``keys`` are the sections of its entries: a page of one of them is in this group.
    """

    name: str
    entries: tuple[Entry, ...]
    keys: tuple[str, ...]


def group(name: str, *entries: Entry) -> Group:
    """Return a group of entries."""
    return Group(name, entries, tuple(one.key for one in entries))


NAVIGATION: tuple[Group, ...] = (
    group("", Entry("home", "Home", urls.HOME)),
    group(
        "Data",
        Entry("datasets", "Datasets", urls.DATASETS),
        Entry("captures", "Captures", urls.CAPTURES),
        Entry("labels", "Labels", urls.LABELS),
        Entry("references", "Reference sets", urls.REFERENCES),
        Entry("downloads", "Downloads", urls.DOWNLOADS),
    ),
    group(
        "",
        Entry("arms", "Arms", urls.ARMS),
        Entry("runs", "Runs", urls.RUNS),
        Entry("goals", "Goals", urls.GOALS),
        Entry("judges", "Judges", urls.JUDGES),
        Entry("picks", "Picks", urls.PICKS),
        Entry("evidence", "Evidence", urls.EVIDENCE),
        Entry("guide", "Guide", urls.GUIDE),
        Entry("search", "Search", urls.SEARCH),
        Entry("about", "About", urls.ABOUT),
    ),
)
"""A new kind of page is one more entry here; its Context's ``section`` is the entry's key."""
