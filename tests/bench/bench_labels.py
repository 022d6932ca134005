"""``evh labels`` from the files to the printed table, beside a DuckDB script: whole processes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PEER = Path(__file__).with_name("peer_labels_duckdb.py")
DATASET = "cve_2024_h1"
ROUNDS = 7


def ours() -> dict[tuple[str, str], float]:
    """Run the command and give the kappa of each pair of its sets."""
    words = ["labels", "--dataset-id", DATASET, "--json"]
    code = "from evh.cli.main import main; main()"
    told = json.loads(_output([sys.executable, "-c", code, "-C", str(ROOT), *words]))
    found = {}
    for task in told["datasets"][0]["tasks"]:
        for pair in task["pairs"]:
            one, other = sorted(name.rpartition("/")[2] for name in (pair["a"], pair["b"]))
            found[one, other] = pair["kappa"]
    return found


def peer() -> dict[tuple[str, str], float]:
    """Run the script and give the kappa of each pair of its sets."""
    lines = _output([sys.executable, str(PEER), str(ROOT), DATASET]).splitlines()
    return {(row[0], row[1]): float(row[4]) for row in (line.split() for line in lines)}


def rows(small: bool) -> list[dict[str, Any]]:
    """Time both in turn and give their medians; both must find the same kappa where both look."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(1 if small else ROUNDS):
        mine = _timed(ours, times[0])
        theirs = _timed(peer, times[1])
        both = mine.keys() & theirs.keys()
        if not both or any(abs(mine[pair] - theirs[pair]) > 1e-9 for pair in both):
            raise AssertionError(f"the figures differ: {mine}, {theirs}")
    middle = [sorted(one)[len(one) // 2] for one in times]
    work = "evh labels on the sample's older half, whole process"
    return [{"work": work, "ours_s": middle[0], "peer": "a DuckDB script", "peer_s": middle[1]}]


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _timed(run: Any, times: list[float]) -> dict[tuple[str, str], float]:
    start = time.perf_counter()
    found: dict[tuple[str, str], float] = run()
    times.append(time.perf_counter() - start)
    return found
