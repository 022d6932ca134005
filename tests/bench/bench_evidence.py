"""The evidence labeler against what no client can pass: concurrency ÷ latency; and 100,000 chunks.

Durability is included: every label is flushed before it counts. The server is the small C program of
`bench_run`. Memory is that of the whole process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evh.acts import label_evidence, log_import, query_add
from evh.project.find import Project
from tests.bench.bench_run import LATENCY_MS, ROUNDS, server

LATENCY_S = LATENCY_MS / 1000
AT_ONCE = 64
MOST_MB = 200
ROOT = Path(__file__).resolve().parents[2]


def rows(small: bool) -> list[dict[str, Any]]:
    """Give the times; fail where memory is not flat or a complete rerun asks anything."""
    return [_calls(320, 1) if small else _calls(6_400, ROUNDS), *_many(1_000 if small else 100_000)]


def _calls(n: int, rounds: int) -> dict[str, Any]:
    """Time labelling ``n`` chunks of 20 kB at 64 at once, beside the least that the latency allows.

    The fastest round counts; each has a journal of its own.
    """
    times = []
    with tempfile.TemporaryDirectory(prefix="evh-evidence-") as place, server(Path(place)) as base_url:
        project = _log(Path(place), n, 20_000)
        for number in range(rounds):
            options = label_evidence.Options(
                base_url=base_url, concurrency=AT_ONCE, think_tokens=0, journal=f"j{number}"
            )
            plan = label_evidence.plan(project, "p", "q", options)
            begun = time.perf_counter()
            done = label_evidence.commit(project, plan)
            times.append(time.perf_counter() - begun)
            if done.n_new != n or done.failures:
                raise AssertionError(f"{done.n_new} of {n} labelled: {done.stopped} {done.failures}")
    return {
        "work": f"label {n:,} chunks of 20 kB, {AT_ONCE} at once, durably",
        "ours_s": min(times),
        "peer": "concurrency ÷ latency (the limit)",
        "peer_s": n * LATENCY_S / AT_ONCE,
    }


def _many(n: int) -> list[dict[str, Any]]:
    """Time the baseline over ``n`` chunks and a complete rerun, each in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="evh-evidence-") as place:
        project = _log(Path(place), n, 2_000)
        words = ["-C", place, "label-evidence", "--project", "p", "--query", "q", "--provider", "overlap"]
        first = _evh(words)
        if first.mb > MOST_MB:
            raise AssertionError(f"{first.mb:.0f} MB for {n:,} chunks, over {MOST_MB}")
        again = min((_evh(words) for _ in range(3)), key=lambda one: one.seconds)
        start = min((_evh(["--version"]) for _ in range(3)), key=lambda one: one.seconds)
        if "nothing was asked" not in again.out:
            raise AssertionError(again.out)
        journal = project.data / "label" / "p" / "q.jsonl"
        begun = time.perf_counter()
        sum(1 for line in journal.read_bytes().splitlines() if json.loads(line))
        reading = time.perf_counter() - begun
    return [
        {
            "work": f"label {n:,} chunks of 2 kB by overlap ({first.mb:.0f} MB)",
            "ours_s": first.seconds,
            "peer": "json.loads of the journal alone",
            "peer_s": reading,
        },
        {
            "work": f"complete rerun of {n:,} labels, {again.seconds - start.seconds:.2f} s beyond start-up",
            "ours_s": again.seconds,
            "peer": "evh --version",
            "peer_s": start.seconds,
        },
    ]


def _log(root: Path, n: int, size: int) -> Project:
    """Return a project with a log of ``n`` different chunks of a size and one question."""
    (root / "data").mkdir()
    path = root / "in.jsonl"
    words = " ".join(f"word{number % 997}" for number in range(size // 7))[:size]
    with path.open("w") as file:
        for number in range(n):
            file.write(json.dumps({"text": f"turn {number}: {words}"}) + "\n")
    project = Project.find(home=root)
    log_import.commit(project, log_import.plan(project, "p", [path]))
    path.unlink()
    query_add.commit(project, query_add.plan(project, "p", {"q": "Where is the red harbour lantern?"}))
    return project


class _Ran:
    """One call of the command line: its time, its peak memory and what it printed."""

    def __init__(self, seconds: float, mb: float, out: str) -> None:
        self.seconds, self.mb, self.out = seconds, mb, out


def _evh(words: list[str]) -> _Ran:
    # Not ru_maxrss: across exec it keeps the size of the process that forked.
    code = (
        "import sys\nfrom evh.cli.main import main\ntry:\n    main(sys.argv[1:])\nfinally:\n"
        "    held = [line.split() for line in open('/proc/self/status')]\n"
        "    print('peak', next(one[1] for one in held if one[0] == 'VmHWM:'))"
    )
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'build'}"}
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *words], check=True, capture_output=True, text=True, env=environ
    )
    peak = int(done.stdout.rsplit("peak", 1)[1]) / 1024
    return _Ran(time.perf_counter() - begun, peak, done.stdout)
