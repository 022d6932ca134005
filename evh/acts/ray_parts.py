"""Parts: what the workers of a cluster write, and the driver merges into a journal.

A part is named by the hash of its batch's keys. A batch that is begun again after a worker died writes the
same part, or finds it there and asks nothing. Every node must see the folder under the same path.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.store import atomic, parquet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

BEGUN = ".begun"


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts in one folder.

    Attributes:
        folder: where they lie.
        columns: what their rows hold, by the kinds of `parquet`.
    """

    folder: Path
    columns: Mapping[str, str]

    def found(self) -> list[Path]:
        """Return the parts that lie there: a driver that was killed left them."""
        return sorted(self.folder.glob("*.parquet"))

    def path(self, name: str) -> Path:
        """Return where a part lies."""
        return self.folder / f"{name}.parquet"

    def is_there(self, name: str) -> bool:
        """Tell whether a part lies there. It is whole, for it was moved to its place."""
        return self.path(name).is_file()

    def begin(self, name: str) -> int:
        """Note that a part is begun; return how often it was begun before, by workers that died of it."""
        before = len(list(self.folder.glob(f"{name}.*{BEGUN}")))
        atomic.make_folder(self.folder)
        atomic.write_unflushed(self.folder / f"{name}.{before}{BEGUN}", b"")
        return before

    def clear(self) -> None:
        """Remove the notes of parts that were begun: whoever goes on counts anew."""
        self.drop(self.folder.glob(f"*{BEGUN}"))

    def write(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write a part; one without rows is not written."""
        if rows:
            atomic.make_folder(self.folder)
            atomic.write_parts(self.path(name), parquet.dump_stream([rows], self.columns))

    def needed(self, name: str) -> Path:
        """Return the part that a worker says it wrote.

        Raises:
            Refusal: it is not here, for the nodes do not see one folder.
        """
        path = self.path(name)
        if not path.is_file():
            raise Refusal(
                "part-not-there",
                "a worker wrote a part that is not here",
                why=[f"{path}: no such file: the nodes do not see one folder under this path"],
                next="put the project on a file system that every node mounts",
            )
        return path

    def rows(self, path: Path) -> Iterator[dict[str, Any]]:
        """Yield a part's rows."""
        yield from parquet.stream_rows(path, self.columns)

    @staticmethod
    def drop(paths: Iterable[Path]) -> None:
        """Remove parts whose rows are flushed."""
        for path in paths:
            atomic.remove(path)


def bad_part(place: str, reasons: Sequence[str]) -> Refusal:
    """Return the Refusal for a part that says what no worker writes."""
    return Refusal(
        "bad-part",
        f"{place} is not a part that evh wrote",
        why=list(reasons),
        next=f"remove {place}: it is asked again",
    )
