"""Reading the texts of a dataset's items, each held against its sha256; and reading ahead of whoever asks.

A run asks a model about items for hours. Its texts are not held in memory for that long, and bytes that
changed are found in the first moments all the same.
"""

from __future__ import annotations

import os
import threading
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Self

from evh.errors import Refusal
from evh.store import parquet, strict
from evh.store.hashing import sha256
from evh.store.names import possible_stems
from evh.store.regular import read_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item

ITEM_COLUMNS = {"item_id": "text", "sha256": "text", "text": "bytes", "fields": "text", "lineage": "text"}
FIRST = 128
"""Texts that are read before anything is asked; of the others it is seen to that they are there."""
AHEAD_BYTES = 16 * 1024 * 1024
"""The most that waits in memory; what is read beyond it is read once more when its turn comes."""


class Reader:
    """Reads texts of one dataset, from several threads at once. A context manager.

    Most files lie in one folder under ``data/``: it is opened once, looked at once, and no link is followed
    below it. Any other place is looked for by `source_path`.
    """

    def __init__(self, project: Project, dataset: Dataset) -> None:
        self._project, self._dataset = project, dataset
        self._folders: dict[str, int | None] = {}
        self._lock = threading.Lock()
        self._shown = project.show(project.data)
        self._stored: dict[str, bytes] | None = None
        if dataset.items_file is not None:
            self._stored = {row["item_id"]: row["text"] for row in item_rows(project, dataset)}

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the folders."""
        with self._lock:
            for folder in self._folders.values():
                if folder is not None:
                    os.close(folder)
            self._folders.clear()

    def read(self, item: Item) -> bytes | str:
        """Return an item's bytes, or why they cannot be had.

        Raises:
            Refusal: the file is there and cannot be read.
        """
        if self._stored is not None:
            found, place = self._stored.get(item.item_id), f"{self._dataset.items_file}: {item.item_id}"
        else:
            found, place = self._from_file(item)
        if found is None:
            return _missing(place)
        if sha256(found) != item.sha256:
            return f"{place}: the bytes are not the ones that the dataset recorded"
        return found

    def lacking(self, items: Sequence[Item]) -> list[str]:
        """Return of which items the text is not here, a sentence each, without reading any."""
        listed: dict[int, set[str]] = {}
        owner = self._dataset.items_file or self._dataset.dataset_id
        return [_missing(f"{owner}/{item.item_id}") for item in items if not self._is_here(item, listed)]

    def _is_here(self, item: Item, listed: dict[int, set[str]]) -> bool:
        if self._stored is not None:
            return item.item_id in self._stored
        folder, name = self._near(item)
        if folder is not None:
            if folder not in listed:
                listed[folder] = _files(folder)
            if name in listed[folder]:
                return True
        return source_path(self._project, self._dataset, item) is not None

    def _from_file(self, item: Item) -> tuple[bytes | None, str]:
        folder, name = self._near(item)
        if folder is not None:
            try:
                return read_file(name, folder=folder, follow=False), f"{self._shown}/{item.source_path}"
            except (OSError, ValueError):
                pass  # not there, a link, no name: it is looked for as in any other place
        path = source_path(self._project, self._dataset, item)
        if path is None:
            return None, f"{self._dataset.dataset_id}/{item.item_id}"
        return strict.read_bytes(path), self._project.show(path)

    def _near(self, item: Item) -> tuple[int | None, str]:
        """Return the open folder under ``data/`` in which an item's file lies by its path, and its name."""
        place, _, name = item.source_path.rpartition("/")
        if not place or not name or place.startswith("/") or ".." in place:
            return None, name
        if place not in self._folders:
            with self._lock:
                if place not in self._folders:
                    self._folders[place] = self._opened(place)
        return self._folders[place], name

    def _opened(self, place: str) -> int | None:
        path = self._project.data / place
        if not self._project.inside(path):
            return None
        try:
            return os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        except (OSError, ValueError):
            return None


class ReadAhead:
    """Gives the texts of items one by one, and reads on in a thread meanwhile. A context manager.

    Entering it makes sure that every text is there, and that the bytes of the first ones are those recorded.
    The others are held against their hashes in the thread: in seconds, where asking takes hours. A text that
    changed is told by `sound`, so that nothing more is asked, and by `check`.

    Args:
        project: the project.
        dataset: the dataset.
        items: all items whose texts must be what the dataset recorded.
        wanted: those of them that are asked for, in their order, each once.

    Raises:
        Refusal: on entering, with every text that is missing or changed, as far as it is known by then.
    """

    def __init__(
        self, project: Project, dataset: Dataset, items: Sequence[Item], wanted: Sequence[Item]
    ) -> None:
        self._dataset = dataset
        first = {one.item_id for one in wanted}
        self._items = [*wanted, *(one for one in items if one.item_id not in first)]
        self._wanted = first
        self._reader = Reader(project, dataset)
        self._texts: dict[str, bytes] = {}
        self._given: set[str] = set()
        self._put = self._got = 0  # bytes: each is counted by one thread alone
        self._reasons: list[str] = []
        self._error: BaseException | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._read_on, name="evh-texts", daemon=True)

    def __enter__(self) -> Self:
        """Look at all texts, read the first, and begin to read the others."""
        try:
            self._reasons += self._reader.lacking(self._items[FIRST:])
            for item in self._items[:FIRST]:
                self._take(item)
            self._refuse()
        except BaseException:
            self._reader.__exit__()
            raise
        if len(self._items) > FIRST:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the reading."""
        self._ended = True
        if self._thread.ident is not None:
            self._thread.join()
        self._reader.__exit__()

    @property
    def sound(self) -> bool:
        """Whether every text that was read is the one recorded."""
        return not self._reasons and self._error is None

    def text(self, item: Item) -> bytes | None:
        """Return a wanted item's bytes, or None: they are not those recorded. From one thread at a time."""
        found = self._texts.pop(item.item_id, None)
        if found is None:
            self._given.add(item.item_id)  # from now on the thread keeps it no more: look once more
            found = self._texts.pop(item.item_id, None)
        if found is not None:
            self._got += len(found)
            return found
        made = self._reader.read(item)
        if isinstance(made, bytes):
            return made
        self._reasons.append(made)
        return None

    def check(self) -> None:
        """Wait until all is read.

        Raises:
            Refusal: with every text that is missing or changed.
        """
        if self._thread.ident is not None:
            self._thread.join()
        self._refuse()

    def _read_on(self) -> None:
        try:
            for item in self._items[FIRST:]:
                if self._ended:
                    return
                if item.item_id not in self._given:
                    self._take(item)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the texts are checked
            self._error = error

    def _take(self, item: Item) -> None:
        found = self._reader.read(item)
        if isinstance(found, str):
            self._reasons.append(found)
        elif item.item_id in self._wanted and self._put - self._got + len(found) <= AHEAD_BYTES:
            self._put += len(found)
            self._texts[item.item_id] = found
            if item.item_id in self._given and self._texts.pop(item.item_id, None) is not None:
                self._put -= len(found)

    def _refuse(self) -> None:
        if self._error is not None:
            raise self._error
        if self._reasons:
            raise changed(self._dataset, list(dict.fromkeys(self._reasons)))


def changed(dataset: Dataset, reasons: list[str]) -> Refusal:
    """Return the Refusal for texts that are missing or are not the ones recorded."""
    return Refusal(
        "item-bytes",
        f"the texts of {dataset.dataset_id} cannot be read",
        why=reasons,
        next="restore the files (git checkout), and see that data/.gitattributes is '* -text'",
    )


def source_path(project: Project, dataset: Dataset, item: Item) -> Path | None:
    """Return the file of an item's bytes, or None: what the manifest says, then our place, then a raw id.

    A path that leads out of the project, by ``..`` or by a link, is never followed.
    """
    candidates = []
    if item.source_path and not PurePosixPath(item.source_path).is_absolute():
        bases = [project.data, project.root]
        if dataset.source_dir:
            bases += [project.data / dataset.source_dir, project.root / dataset.source_dir]
        bases.append(project.data / "sources" / dataset.dataset_id)
        candidates += [base / item.source_path for base in bases]
    candidates += [
        project.data / "sources" / dataset.dataset_id / f"{stem}.txt" for stem in possible_stems(item.item_id)
    ]
    for path in candidates:
        if path.is_file() and project.inside(path):
            return path
    return None


def item_rows(project: Project, dataset: Dataset) -> list[dict[str, Any]]:
    """Return the rows of a dataset whose items lie in Parquet."""
    path = items_path(project, dataset)
    return parquet.read_rows(
        path, ITEM_COLUMNS, place=project.show(path), key="item_id", filled=("sha256", "text")
    )


def items_path(project: Project, dataset: Dataset) -> Path:
    """Return the Parquet file of a dataset's items; a link that leads out of the project is refused."""
    path = project.data / "datasets" / str(dataset.items_file)
    if not project.inside(path):
        raise Refusal("outside", f"{path} leads out of the project", why=[f"{path}: not followed"])
    return path


def _missing(place: str) -> str:
    return f"{place}: the item's text is not here"


def _files(folder: int) -> set[str]:
    """Return the names of the files in an open folder; what is a link is not among them."""
    try:
        with os.scandir(folder) as found:
            return {one.name for one in found if one.is_file(follow_symlinks=False)}
    except OSError:
        return set()
