"""The evidence labeler against what no client can pass: concurrency ÷ latency; and 100,000 chunks.

Durability is included: every label is flushed before it counts. Memory is that of the whole process.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.acts import label_evidence, log_import, query_add
from evh.project.find import Project

if TYPE_CHECKING:
    from collections.abc import Iterator

LATENCY_S = 0.05
AT_ONCE = 64
MOST_MB = 200
ROOT = Path(__file__).resolve().parents[2]


def rows(small: bool) -> list[dict[str, Any]]:
    """Give the times; fail where memory is not flat or a complete rerun asks anything."""
    return [_calls(320 if small else 6_400), *_many(1_000 if small else 100_000)]


def _calls(n: int) -> dict[str, Any]:
    """Time labelling ``n`` chunks of 20 kB at 64 at once, beside the least that the latency allows."""
    with tempfile.TemporaryDirectory(prefix="evh-evidence-") as place, _server() as base_url:
        project = _log(Path(place), n, 20_000)
        options = label_evidence.Options(base_url=base_url, concurrency=AT_ONCE, think_tokens=0)
        plan = label_evidence.plan(project, "p", "q", options)
        begun = time.perf_counter()
        done = label_evidence.commit(project, plan)
        took = time.perf_counter() - begun
    if done.n_new != n or done.failures:
        raise AssertionError(f"{done.n_new} of {n} labelled: {done.stopped} {done.failures}")
    return {
        "work": f"label {n:,} chunks of 20 kB, {AT_ONCE} at once, durably",
        "ours_s": took,
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


@contextlib.contextmanager
def _server() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.bench.loopback", str(LATENCY_S)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
