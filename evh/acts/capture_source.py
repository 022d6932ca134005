"""Where the records of a capture come from: a table, or traces that a reader turns into records first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts import capture_langfuse, capture_otlp
from evh.store import rows
from evh.store.hashing import sha256_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.capture import Record

TRACES = {"otlp": capture_otlp.read, "langfuse": capture_langfuse.read}
FORMATS = (*rows.FORMATS, *TRACES)


@dataclass(frozen=True, slots=True)
class Given:
    """Raw records to capture, what they are called in messages, and what the manifest says of their source.

    ``of`` is the capture whose records they are, where they are scrubbed again; it goes into ``scrub``.
    ``own_keys``: the records have evh's own keys whatever the project's adapter reads.
    """

    name: str
    records: Sequence[Record]
    source: Mapping[str, Any]
    of: str | None = None
    own_keys: bool = False


def read(project: Project, file: Path, kind: str | None) -> Given:
    """Return the records of a file with what its manifest says of it; of traces also what was left out."""
    found = TRACES[kind](file) if kind in TRACES else None
    records = found.records if found else rows.read(file, kind)
    source: dict[str, Any] = {
        "kind": kind or rows.format_of(file),
        "path": named(project, file),
        "sha256": sha256_file(file),
    }
    if found:
        source["dropped"] = dict(found.dropped)
    return Given(file.name, records, source, own_keys=found is not None)


def adapter_of(kind: str | None) -> str:
    """Return the adapter of a format by default: the bundled one for traces, else "": the project's."""
    return "default" if kind in TRACES else ""


def named(project: Project, file: Path) -> str:
    """Return a file's path in the project, else its name alone: a machine's folders are its own."""
    real, root = file.resolve(), project.root.resolve()
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else file.name
