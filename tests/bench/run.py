"""Run every benchmark beside its peers, print one table and, at full size, write RESULTS.md.

    python -m tests.bench.run [--small] [--only WORD]

A benchmark is a file ``bench_*.py`` here with ``rows(small: bool) -> list[dict]``; each row names the work
and the peer and gives both times in seconds, measured in the same run. Times move from machine to machine;
the ratio (peer's time by ours) is what holds.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "RESULTS.md"
KEYS = {"work", "ours_s", "peer", "peer_s"}
SHOWN_VERSIONS = ("duckdb", "jinja2", "krippendorff", "numpy", "pyarrow", "scikit-learn", "scipy")


@dataclass(frozen=True, slots=True)
class Row:
    """One piece of work, our time and a peer's for it, in seconds."""

    work: str
    ours_s: float
    peer: str
    peer_s: float

    @property
    def ratio(self) -> float:
        """How many times longer the peer took."""
        return self.peer_s / self.ours_s


def benches(only: str = "") -> list[str]:
    """Name the benchmarks here, in order, that hold `only` in their name."""
    return [path.stem for path in sorted(HERE.glob("bench_*.py")) if only in path.stem]


def read_rows(bench: str, given: Iterable[dict[str, Any]]) -> list[Row]:
    """Check the rows that a benchmark gave; a ValueError names the benchmark and what is amiss."""
    rows = []
    for each in given:
        lacking = KEYS - each.keys()
        if lacking:
            message = f"{bench}: a row lacks {', '.join(sorted(lacking))}"
            raise ValueError(message)
        row = Row(str(each["work"]), float(each["ours_s"]), str(each["peer"]), float(each["peer_s"]))
        if not (row.ours_s > 0 and row.peer_s > 0):
            message = f"{bench}: {row.work}: a time is not above zero"
            raise ValueError(message)
        rows.append(row)
    if not rows:
        message = f"{bench}: gave no rows"
        raise ValueError(message)
    return rows


def run_bench(bench: str, *, small: bool) -> list[Row]:
    """Run one benchmark by its module's name."""
    module = importlib.import_module(f"tests.bench.{bench}")
    return read_rows(bench, module.rows(small))


def table(rows: Sequence[Row]) -> str:
    """Give the rows as a Markdown table, columns aligned."""
    cells = [("work", "ours", "peer", "peer's", "ratio")]
    cells += [
        (row.work, _seconds(row.ours_s), row.peer, _seconds(row.peer_s), f"{row.ratio:.3g}×") for row in rows
    ]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    lines = [
        "| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) + " |"
        for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{seconds * 1000:.3g} ms"


def machine() -> str:
    """Say what the times were taken with: Python, system and the packages' versions."""
    found = []
    for package in SHOWN_VERSIONS:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return (
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}; {', '.join(found)}."
    )


def results(rows: Sequence[Row]) -> str:
    """Give the text of RESULTS.md."""
    return (
        "# Benchmarks\n\nWritten by `make bench`. Times move from machine to machine; the ratio, a peer's"
        f" time by ours in the same run, holds.\n\n{table(rows)}\n{machine()}\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that the arguments ask for; a partial or small run leaves RESULTS.md alone."""
    parser = argparse.ArgumentParser(prog="tests.bench.run", description="Benchmarks beside their peers.")
    parser.add_argument("--small", action="store_true", help="small sizes, for correctness only")
    parser.add_argument("--only", default="", metavar="WORD", help="benchmarks with WORD in their name")
    chosen = parser.parse_args(arguments)
    names = benches(chosen.only)
    if not names:
        print(f"no benchmark has {chosen.only!r} in its name", file=sys.stderr)
        return 1
    rows = []
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        rows += run_bench(name, small=chosen.small)
    print(table(rows), end="")
    if not chosen.small and not chosen.only:
        RESULTS.write_text(results(rows), encoding="utf-8")
        print(
            f"written: {RESULTS.relative_to(Path.cwd())}" if RESULTS.is_relative_to(Path.cwd()) else RESULTS
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
