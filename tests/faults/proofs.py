"""``make proofs``: every fault at every system call that touches a project, for each writing command.

Prints a row a family as it ends and writes the table to ``tests/faults/PROOFS.md``. Exit 1 on any failure.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.faults.chance import FIELDS, promises
from tests.faults.families import FAMILIES
from tests.faults.killed_runs import kill
from tests.faults.sweep import Family, Point, Sweep

TABLE = Path(__file__).with_name("PROOFS.md")
KILLED = "run of a model server"
KILLS = 100
LABELER = "label-evidence, killed"
LABELER_KILLS = 500
CHANCE = "chance"


@dataclass(frozen=True)
class Row:
    """What one family's sweep found."""

    name: str
    points: int
    failures: int
    seconds: float


def sweep(family: Family, workers: int) -> Row:
    """Sweep one family at every point, ``workers`` runs at a time, and print each failure."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        ready = Sweep.ready(family, Path(folder))

        def one(numbered: tuple[int, Point]) -> tuple[Point, list[str]]:
            number, point = numbered
            return point, ready.fail_at(point, Path(folder) / f"work-{number % (workers * 2)}-{number}")

        failures = 0
        with ThreadPoolExecutor(workers) as pool:
            for point, wrong in pool.map(one, enumerate(ready.points)):
                if wrong:
                    failures += 1
                    print(f"  {family.name}: {point.how} at {point.call} {point.ordinal}: {wrong}")
        return Row(family.name, len(ready.points), failures, time.monotonic() - begun)


def killed_labeler() -> Row:
    """Kill the labeler at random moments and let it go on; one test does all rounds."""
    begun = time.monotonic()
    file = "tests/acts/test_label_evidence_killed.py"
    words = ["-q", "-p", "no:cacheprovider", file, "-k", "killed_and_resumed"]
    environ = {**os.environ, "EVH_KILL_ROUNDS": str(LABELER_KILLS)}
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=root, env=environ, check=False)
    return Row(LABELER, LABELER_KILLS, int(done.returncode != 0), time.monotonic() - begun)


def killed_runs() -> Row:
    """Kill runs of a model server at random moments and let them go on; print each failure."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        wrong = kill(KILLS, Path(folder))
    for seed, reasons in wrong.items():
        print(f"  {KILLED}: seed {seed}: {reasons}")
    return Row(KILLED, KILLS, len(wrong), time.monotonic() - begun)


def main() -> None:
    """Run the sweep over the families named, or over all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", help="names of families; all by default")
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    rows = []
    for family in FAMILIES:
        if not chosen.families or family.name in chosen.families:
            row = sweep(family, chosen.workers)
            rows.append(row)
            print(_line(row))
    if not chosen.families or KILLED in chosen.families:
        rows.append(killed_runs())
        print(_line(rows[-1]))
    if not chosen.families or LABELER in chosen.families:
        rows.append(killed_labeler())
        print(_line(rows[-1]))
    if not chosen.families or CHANCE in chosen.families:
        for promise in promises(FIELDS):
            failed = 0 if promise.kept else 1
            rows.append(Row(f"{promise.name} ({promise.share:.1%})", promise.fields, failed, promise.seconds))
            print(_line(rows[-1]))
    if not chosen.families:
        TABLE.write_text(_table(rows), encoding="utf-8")
    sys.exit(1 if any(row.failures for row in rows) else 0)


def _line(row: Row) -> str:
    return f"{row.name:24} {row.points:5} points {row.failures:3} failures {row.seconds:7.0f} s"


def _table(rows: list[Row]) -> str:
    lines = [
        "# Proofs",
        "",
        "Each writing command is killed, or fails with a full or broken disk, at every system call that",
        "touches its project. Afterwards every file is old or new, a record is whole or absent, and a second",
        "try succeeds. A run of a model server is killed at random moments instead, and goes on: every item",
        "is answered once, none is lost, none that was kept is asked again. `make proofs` writes this table.",
        "The last rows are promises of the statistics, held against simulated fields.",
        "",
        "| command | points | failures | seconds |",
        "|---|---:|---:|---:|",
    ]
    lines += [f"| {row.name} | {row.points} | {row.failures} | {row.seconds:.0f} |" for row in rows]
    totals = [sum(getattr(row, name) for row in rows) for name in ("points", "failures", "seconds")]
    lines.append(f"| all | {totals[0]} | {totals[1]} | {totals[2]:.0f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
