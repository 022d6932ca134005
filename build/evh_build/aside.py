"""A site on its way: each file is taken over from the old site, or written into the folder beside it.

Nothing is held but where each page leads to. The folder beside is made for the first file that differs; where
none does, nothing is made at all. What was not changed is a hard link to the old site's file.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Self

from evh.store import atomic
from evh.store.hashing import sha256
from evh_build import incremental, links
from evh_build.incremental import Kept

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path
    from types import TracebackType

    from evh.store.atomic import FolderWriter
    from evh_build.incremental import State
    from evh_build.leaks import Watch

HTML = ".html"


class Aside:
    """The site that is being built. Its context ends with the swap; after an error the old site stays.

    Args:
        out: the site's folder.
        before: what the last build kept of it.
        read: whether an old file is read before it is taken over; by default its size and time are trusted.
        watch: what every file is held against, of a public build.
    """

    def __init__(self, out: Path, before: State, *, read: bool = False, watch: Watch | None = None) -> None:
        self.out = out
        self.found = incremental.found(out)
        self.files: dict[str, Kept] = {}
        self.fresh: set[str] = set()
        self.leaks: list[str] = []
        self._before = before
        self._read = read
        self._watch = watch
        self._seen = watch is not None and before.guard == watch.digest
        self._links = links.Links()
        self._gone: set[str] = set()
        self._written: set[str] = set()
        self._stack = ExitStack()
        self._writer: FolderWriter | None = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Swap the new site in, if it differs; after an error remove what was written."""
        self._stack.__exit__(kind, error, trace)

    @property
    def differs(self) -> bool:
        """Whether the new site is not what is there already."""
        return self._writer is not None or set(self.found) != set(self.files)

    def take_over(self, path: str, inputs: str) -> bool:
        """Take a page over where it was made of the same and nobody changed it since; tell whether it was."""
        kept = self._before.files.get(path)
        if kept is None or kept.inputs != inputs or not self._same(path, kept):
            return False
        if self._watch is not None and not self._seen:
            self.leaks += self._watch.check(path, (self.out / path).read_bytes())
        self.files[path] = kept
        return True

    def put(self, path: str, data: bytes, inputs: str = "", *, fresh: bool = False) -> None:
        """Put a file into the site; bytes that equal the old ones are not written again.

        Args:
            path: below the site.
            data: its bytes.
            inputs: the digest of what it was made of.
            fresh: whether it is a page that was made anew, and so counts.
        """
        digest = sha256(data)
        if fresh:
            self.fresh.add(path)
        if path.endswith(HTML):
            self._links.add(path, digest, lambda: data)
        if self._watch is not None:
            self.leaks += self._watch.check(path, data)
        kept = self._before.files.get(path)
        if kept is not None:
            same = kept.sha256 == digest and self._same(path, kept)
        else:
            same = self.found.get(path, (-1, 0))[0] == len(data) and (self.out / path).read_bytes() == data
        self.files[path] = Kept(inputs, digest)
        if same:
            return
        if path.endswith(HTML) and path in self.found:
            self._gone |= {f"{path}#{one}" for one in links.gone((self.out / path).read_bytes(), data)}
        self._place().add(path, data)
        self._written.add(path)

    def broken(self) -> list[str]:
        """Return a line for each link that leads nowhere.

        Pages that were taken over are read again only where a file or a fragment of the old site went.
        """
        went = self._gone or not self._before.files.keys() <= self.files.keys() or not self._before.files
        if went:
            for path, kept in self.files.items():
                if path.endswith(HTML) and path not in self._written and path not in self.fresh:
                    self._links.add(path, kept.sha256, (self.out / path).read_bytes)
        return self._links.broken({path: one.sha256 for path, one in self.files.items()}, self._bytes)

    def finish(self) -> None:
        """Take over what was not changed, where anything was: the folder beside is then whole."""
        if not self.differs:
            return
        place = self._place()
        for path in sorted(self.files.keys() - self._written):
            place.keep(path, self.out / path)

    def state(self) -> dict[str, Kept]:
        """Return every file of the site with its size and time, once it is swapped in."""
        there = incremental.found(self.out) if self._writer is not None else self.found
        return {
            path: Kept(one.inputs, one.sha256, *there.get(path, (-1, -1))) for path, one in self.files.items()
        }

    def _same(self, path: str, kept: Kept) -> bool:
        """Tell whether the old site's file is still the one that the last build wrote."""
        there = self.found.get(path)
        if there is None or there != (kept.size, kept.mtime_ns):
            return False
        return not self._read or sha256((self.out / path).read_bytes()) == kept.sha256

    def _bytes(self, path: str) -> bytes:
        base = self._writer.folder if self._writer is not None and path in self._written else self.out
        return (base / path).read_bytes()

    def _place(self) -> FolderWriter:
        if self._writer is None:
            self._writer = self._stack.enter_context(atomic.replaced_folder(self.out, flushed=False))
        return self._writer


def whole(out: Path, state: State, *, read: bool) -> bool:
    """Tell whether a site's files are all there, no others, and those that the last build wrote.

    Args:
        out: the site's folder.
        state: what the last build kept.
        read: whether every file is read; by default sizes and times are trusted.
    """
    there = incremental.found(out)
    if not state.files or there.keys() != state.files.keys():
        return False
    return all(
        there[path] == (kept.size, kept.mtime_ns)
        and (not read or sha256((out / path).read_bytes()) == kept.sha256)
        for path, kept in state.files.items()
    )


def look_at_links(out: Path, state: State) -> None:
    """Look at where a site's pages lead, as far as they are those that the last build wrote.

    A process does so once for a page: the build that must hold them against a lost file then need not.
    """
    there, known = incremental.found(out), links.Links()
    for path, kept in state.files.items():
        if path.endswith(HTML) and there.get(path) == (kept.size, kept.mtime_ns):
            with suppress(OSError):  # another process has swapped in a site of its own
                known.add(path, kept.sha256, (out / path).read_bytes)


def n_pages(paths: Collection[str]) -> int:
    """Return how many of a site's files are pages."""
    return sum(path.endswith(HTML) for path in paths)
