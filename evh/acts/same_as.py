"""Comparing two projects file by file, leaving out only what a second run measures anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.acts.findings import Findings
from evh.acts.validate_tree import walk
from evh.errors import Refusal
from evh.store import parquet, strict

if TYPE_CHECKING:
    from collections.abc import Callable

    from evh.project.find import Project

MASKED = "(measured)"
PATHS = (
    ("latency_ms",),
    ("warmup_ms",),
    ("build",),
    ("fingerprint", "hash"),
    ("fingerprint", "host"),
    ("fingerprint", "instrument", "harness"),
    ("fingerprint", "instrument", "libraries"),
    ("fingerprint", "system_under_test", "libraries"),
    ("predictions", "sha256"),  # follows from latency_ms; the rows themselves are compared
)
"""The keys of a manifest that are not compared."""
ROW_PATHS = (("latency_ms",),)
ONE_RECORD = ("metrics.json", "running.json")


@dataclass(frozen=True, slots=True)
class Difference:
    """One file that differs.

    ``kind`` is ``only-here``, ``only-there`` or ``differs``; ``where`` is the first place that does: a key,
    a row and key, a line, or a byte.
    """

    file: str
    kind: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class SameAs:
    """What comparing two trees gave; no differences means that they say the same."""

    other: str
    n_files: int
    differences: tuple[Difference, ...]


def compare(project: Project, other: Path) -> SameAs:
    """Return which files under ``data/`` differ between a project and another folder.

    Only measured values are left out: `PATHS` in runs and baselines, `ROW_PATHS` in predictions. Lock
    files, Python's compiled files and empty folders are passed over; a link is compared by where it points.

    Args:
        project: the project.
        other: another project's folder, or its ``data/``.

    Raises:
        Refusal: ``other`` is no project's folder.
    """
    there = other / "data" if (other / "data").is_dir() else other
    if not there.is_dir() or not any(
        (there / name).exists() for name in ("datasets", "captures", "sources", "runs", ".gitattributes")
    ):
        raise Refusal(
            "no-project",
            f"{other} is not a project to compare with",
            why=[f"{other}: it has no data/ and is none"],
            next="name the other project's folder",
        )
    here = project.data
    mine = {str(path.relative_to(here)): path for path in walk(here) if _compared(path)}
    theirs = {str(path.relative_to(there)): path for path in walk(there) if _compared(path)}
    found: list[Difference] = []
    for name in sorted(mine.keys() | theirs.keys()):
        if name not in theirs:
            found.append(Difference(name, "only-here"))
        elif name not in mine:
            found.append(Difference(name, "only-there"))
        elif where := _where(project, name, mine[name], theirs[name]):
            found.append(Difference(name, "differs", where))
    return SameAs(str(other), len(mine.keys() | theirs.keys()), tuple(found))


def _compared(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _where(project: Project, name: str, one: Path, two: Path) -> str | None:
    """Return where two files differ, or None where they say the same."""
    if one.is_symlink() or two.is_symlink():
        links = tuple(path.readlink() if path.is_symlink() else None for path in (one, two))
        return None if links[0] == links[1] else "one is a link, or they point to different places"
    first, second = strict.read_bytes(one), strict.read_bytes(two)
    if first == second:
        return None
    compared = _masked(name)
    if compared is not None:
        # A file that cannot be read as its record is compared as bytes.
        values = [Findings(project).attempt(path, compared, path) for path in (one, two)]
        if values[0] is not None and values[1] is not None:
            return _first(values[0], values[1], "")
    return _first_byte(first, second)


def _masked(name: str) -> Callable[[Path], Any] | None:
    """Return what reads a file with its measured values masked, or None where nothing in it is measured."""
    parts = name.split("/")
    if parts[0] == "baselines" and name.endswith(".json"):
        return _manifest
    if not (parts[0] == "runs" or parts[0].startswith("runs-")):
        return None
    if parts[-1] in ONE_RECORD:
        return _manifest
    if parts[-1] == "predictions.jsonl":
        return _lines
    return _table if parts[-1] == "predictions.parquet" else None


def _manifest(path: Path) -> Any:  # noqa: ANN401 - JSON is any value
    value = strict.read_object(path)
    well_formed = strict.dump_manifest(value) == strict.read_bytes(path)
    return {"": well_formed, **_mask(value, PATHS)}


def _lines(path: Path) -> Any:  # noqa: ANN401 - JSON is any value
    return [_mask(row, ROW_PATHS) for row in strict.parse_jsonl(strict.read_bytes(path), path)]


def _table(path: Path) -> Any:  # noqa: ANN401 - a table's rows
    return [_mask(row, ROW_PATHS) for row in parquet.read_rows(path, {})]


def _mask(value: dict[str, Any], paths: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    made = dict(value)
    for path in paths:
        first, rest = path[0], path[1:]
        if first not in made:
            continue
        if not rest:
            made[first] = MASKED
        elif isinstance(made[first], dict):
            made[first] = _mask(made[first], (rest,))
    return made


def _first(one: Any, two: Any, place: str) -> str | None:  # noqa: ANN401 - JSON is any value
    """Return the first key, row or value that differs."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted(one.keys() | two.keys()):
            at = f"{place}.{key}" if place else key or "its form"
            if key not in one or key not in two:
                return f"{at}: only in one of them"
            if found := _first(one[key], two[key], at):
                return found
        return None
    if isinstance(one, list) and isinstance(two, list):
        for number, (left, right) in enumerate(zip(one, two, strict=False), start=1):
            if found := _first(left, right, f"{place}[{number}]" if place else f"row {number}"):
                return found
        return None if len(one) == len(two) else f"{place or 'rows'}: {len(one)} and {len(two)}"
    if type(one) is type(two) and one == two:
        return None
    return f"{place}: {_short(one)} and {_short(two)}"


def _first_byte(one: bytes, two: bytes) -> str:
    at = next((at for at, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        at = min(len(one), len(two))
    line = one.count(b"\n", 0, at) + 1
    return f"line {line} (byte {at}; {len(one)} and {len(two)} bytes)"


def _short(value: object) -> str:
    text = strict.compact(value) if not isinstance(value, bytes) else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
