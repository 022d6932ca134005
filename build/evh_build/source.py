"""What the pages are filled from: the gathered records, each query's rows, the paths, and marks for sets."""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from evh.project.memory import Same
from evh_build.page import Command, Leaf
from evh_build.text import shell_word
from evh_build.urls import Urls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evh.acts.figures import Against
    from evh.acts.labels import SetSummary
    from evh.acts.sheet_model import LabelColumn
    from evh.records.dataset import Dataset, Item
    from evh_build.connect import Database
    from evh_build.gather import Gathered
    from evh_build.page import Frame

PAGES = Path(__file__).with_name("pages")
SHEET_ROWS = 200
"""How many rows of a sheet are HTML; scripts show all of them."""
Row = dict[str, Any]
K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Mark:
    """A label or reference set as it is named wherever a number stands against it.

    ``kind`` is ``labels`` or ``reference``. A reference shows its ``tier``, a label set its ``source``
    (person, model, rule). ``path`` is its page, None where it has none.
    """

    ref: str
    kind: str
    name: str
    tier: str | None
    source: str | None
    by: str
    path: str | None


class Source:
    """The records, the rows of every query, and where each record's page lies."""

    def __init__(self, gathered: Gathered, *, max_item_text: int) -> None:
        self.gathered = gathered
        self.urls = Urls(gathered)
        self.title = gathered.project.settings.title or gathered.project.name
        self.max_item_text = max_item_text
        self._by_sha: dict[str, Mapping[str, list[Item]]] = {}
        self._kept: dict[tuple[str, str], object] = {}
        self._database: Database | None = None
        self._rows: dict[tuple[str, str], list[Row]] = {}
        self._grouped: dict[tuple[str, str, tuple[str, ...]], Mapping[tuple[Any, ...], list[Row]]] = {}

    def rows(self, page: str, query: str) -> list[Row]:
        """Return the rows of ``pages/<page>/<query>.sql``; it runs once for the whole site."""
        key = (page, query)
        if key not in self._rows:
            text = (PAGES / page / f"{query}.sql").read_text(encoding="utf-8")
            self._rows[key] = self._asked(key, text) if self.gathered.project.memory else self._ask(text)
        return self._rows[key]

    def _ask(self, text: str) -> list[Row]:
        if self._database is None:
            from evh_build.connect import Database  # duckdb, which a build that changes nothing does without

            self._database = Database(self.gathered)
        return self._database.rows(text)

    def _asked(self, key: tuple[str, str], text: str) -> list[Row]:
        """Return what a query gave in an earlier build of this process, where the tables are as they were."""
        from evh_build import arrow, query

        gathered = self.gathered
        nouns = query.read_by(text)
        stamps = [self.once(("stamp", noun), partial(arrow.stamps, noun, gathered)) for noun in nouns]
        return gathered.kept(("rows", *key), (), lambda: self._ask(text), text, nouns, stamps)

    def rows_of(self, page: str, query: str, **keys: str) -> list[Row]:
        """Return those rows of a query whose columns have the values of ``keys``."""
        return self.grouped(page, query, *keys).get(tuple(keys.values()), [])

    def grouped(self, page: str, query: str, *names: str) -> Mapping[tuple[Any, ...], list[Row]]:
        """Return the rows of a query by the values of these columns; nobody changes them."""
        if (page, query, names) not in self._grouped:
            rows = self.rows(page, query)
            self._grouped[page, query, names] = self.gathered.kept(
                ("grouped", page, query, *names), (), lambda: _grouped(rows, names), Same(rows)
            )
        return self._grouped[page, query, names]

    def once(self, key: tuple[str, str], make: Callable[[], T]) -> T:
        """Return what ``make`` gives, made once for the whole site and kept under ``key``."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast("T", self._kept[key])

    def steady(self, key: tuple[str, ...], value: T) -> T:
        """Return a value, as the object that stood for it in the last build where it is equal."""
        return self.gathered.kept(("steady", *key), (), lambda: value, value)

    def each(
        self,
        key: tuple[str, ...],
        held: Sequence[K],
        make: Callable[[K], T],
        *made_of: object,
        own: Callable[[K], object] | None = None,
    ) -> list[T]:
        """Return what ``make`` gives of each object, kept in a process that builds again; see `Memory.each`.

        Args:
            key: names the values.
            held: the objects, none of them twice.
            make: makes a value of one, and of ``made_of``.
            made_of: what else the values are made of.
            own: gives what else the value of one object is made of.
        """
        gathered = self.gathered
        if gathered.project.memory is None:
            return [make(one) for one in held]
        whole = (gathered.view, *key)
        return gathered.memory.each(whole, held, make, *made_of, own=own, keep=gathered.is_sound())

    def leaf(self, path: str, make: Callable[[], Frame], *made_of: object) -> Leaf:
        """Return a page; a process that builds again keeps it while all that it is made of is equal.

        Args:
            path: where it lies in the site.
            make: gives its context, of ``made_of`` and of nothing else.
            made_of: what its context is made of, compared as values; a record as `Same`.
        """
        return self.gathered.kept(("leaf", path), (), lambda: Leaf(path, make()), *made_of)

    def row(self, dataset_id: str, item_id: str) -> str | None:
        """Return the row of an item in its dataset's sheet; None where there is no such row.

        The fragment names the item: an anchor of the first rows, and for every row what the page's scripts
        read.
        """
        rows = self.once(("rows shown", dataset_id), lambda: self._rows_shown(dataset_id))
        if item_id not in rows or not self.gathered.with_sheets:
            return None
        return f"{self.urls.sheet(dataset_id)}#row={item_id}"

    def _rows_shown(self, dataset_id: str) -> frozenset[str]:
        sheet = self.gathered.sheet(dataset_id)
        return frozenset(row.item_id for row in sheet.rows) if sheet else frozenset()

    def mark(self, one: Against | LabelColumn) -> Mark:
        """Return the mark of a set that a sheet names."""
        path = self.urls.scored_against(one.ref)
        return Mark(one.ref, one.kind, one.name, one.tier, one.source_kind, one.by, path)

    def mark_of_summary(self, one: SetSummary) -> Mark:
        """Return the mark of a set that an agreement report names."""
        if one.reference is not None:
            return self.mark_of_ref(one.reference.ref)
        return self.mark_of_ref(f"labels/{one.label_set.ref}" if one.label_set else one.ref)

    def mark_of_ref(self, ref: str) -> Mark:
        """Return the mark of ``labels/<dataset>/<set>`` or ``<tier>/<name>``, whether it is here or not."""
        return self.once(("mark", ref), lambda: self._mark_of_ref(ref))

    def _mark_of_ref(self, ref: str) -> Mark:
        path = self.urls.scored_against(ref)
        if ref.startswith("labels/"):
            name = ref.removeprefix("labels/")
            held = self.gathered.label_sets.get(name)
            kind, by = (held.kind, held.by) if held else (None, "")
            return Mark(ref, "labels", name.rpartition("/")[2], None, kind, by, path)
        tier, _, name = ref.partition("/")
        reference = self.gathered.references.get(ref)
        told = (reference.promoted_from or {}).get("source") if reference else None
        kinds = {str(one.get("kind") if isinstance(one, dict) else one) for one in told or ()}
        source = next(iter(kinds)) if len(kinds) == 1 else None
        return Mark(
            ref, "reference", name, tier, source, (reference.promoted_by or "") if reference else "", path
        )

    def by_sha(self, dataset: Dataset) -> Mapping[str, list[Item]]:
        """Return a dataset's items by the sha256 of their bytes."""
        if dataset.dataset_id not in self._by_sha:
            self._by_sha[dataset.dataset_id] = dataset.by_sha()
        return self._by_sha[dataset.dataset_id]

    def close(self) -> None:
        """Close the database, if one was opened."""
        if self._database is not None:
            self._database.close()


def _grouped(rows: list[Row], names: tuple[str, ...]) -> dict[tuple[Any, ...], list[Row]]:
    grouped: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        grouped[tuple(row[name] for name in names)].append(row)
    return grouped


def command(does: str, *words: str) -> Command:
    """Return a command, each word quoted for a shell; what cannot be seen never reaches the line."""
    return Command(does, " ".join(map(_word, ("evh", *words))))


@functools.lru_cache(maxsize=10_000)
def _word(word: str) -> str:
    return shell_word(word)


def flat(values: Mapping[str, Any], prefix: str = "") -> tuple[tuple[str, str], ...]:
    """Return nested settings as ``key.key`` and text, in the order of the keys; what is empty is left out."""
    made: list[tuple[str, str]] = []
    for key, value in sorted(values.items()):
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            made += flat(value, f"{name}.")
        elif isinstance(value, list):
            made.append((name, ", ".join(map(str, value))))
        elif value not in (None, ""):
            shown = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
            made.append((name, shown))
    return tuple(made)
