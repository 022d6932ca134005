"""`evh run` of 3,000 items at a model server: 50 ms a reply, 64 at once, prompts of 20 kB, all on disk.

The server is a small C program of its own, so that it takes nothing from the client's Python. The limit is
concurrency by latency: 1,280 answers a second. The peer, openai-python, asks the same and keeps nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evh.acts import run as act
from evh.project import configs, runs
from evh.project.find import Project
from tests.helpers import Builder

AT_ONCE = 64
LATENCY_MS = 50
PROMPT = 20_000
FULL = 3_000
SMALL = 128
ROUNDS = 3
SOURCE = Path(__file__).with_name("loopback_server.c")


@contextlib.contextmanager
def server(folder: Path) -> Iterator[str]:
    """Compile and start the loopback server; give its base URL."""
    binary = folder / "loopback_server"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise RuntimeError("bench_run needs a C compiler: apt-get install gcc")
    subprocess.run([compiler, "-O2", "-o", binary, SOURCE], check=True)
    process = subprocess.Popen(
        [binary, str(LATENCY_MS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def made_up(n: int) -> dict[str, str]:
    """Make texts of `PROMPT` characters, each its own."""
    line = "The valve of line 7 was closed at 08:14 and opened again at 08:31. "
    return {
        f"i{number:05}": f"{number} " + (line * (PROMPT // len(line)))[: PROMPT - 6] for number in range(n)
    }


def ours(folder: Path, base_url: str, texts: dict[str, str]) -> tuple[float, float]:
    """Run the arm once; give the seconds for the whole run and for its calls alone."""
    root = Path(tempfile.mkdtemp(dir=folder))
    (root / "data").mkdir()
    project = Project.find(home=root)
    build = Builder(project)
    build.dataset("d", texts)
    build.config(
        "c",
        dataset_id="d",
        params={"provider": "openai", "model": "m", "base_url": base_url, "prompt": "Is it closed? {{item}}"},
    )
    plan = act.plan(project, configs.read(project, "c"), concurrency=AT_ONCE)
    begun = time.perf_counter()
    calls = [begun, begun]

    def progress(now: act.Progress) -> None:
        calls[1] = time.perf_counter()

    done = act.commit(project, plan, progress=progress)
    whole = time.perf_counter() - begun
    rows = runs.predictions(project, done.runs[0])
    if len(rows) != len(texts) or any(row.error for row in rows):
        raise AssertionError("not every item was answered")
    shutil.rmtree(root)
    return whole, calls[1] - calls[0]


def openai_python(base_url: str, texts: dict[str, str]) -> float:
    """Ask the same with openai-python's AsyncOpenAI, `AT_ONCE` at once; give the seconds."""
    openai: Any = importlib.import_module("openai")

    async def go() -> float:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client:
            left = iter(texts.values())

            async def work() -> None:
                for text in left:
                    messages = [{"role": "user", "content": f"Is it closed? {text}"}]
                    await client.chat.completions.create(model="m", messages=messages)

            begun = time.perf_counter()
            await asyncio.gather(*(work() for _ in range(AT_ONCE)))
            return time.perf_counter() - begun

    return asyncio.run(go())


def rows(small: bool) -> list[dict[str, Any]]:
    """Time both in turn and give their fastest rounds, beside the time that no client can beat."""
    texts = made_up(SMALL if small else FULL)
    times: list[tuple[float, float]] = []
    theirs: list[float] = []
    try:
        importlib.import_module("openai")
        peer = True
    except ImportError:
        print("bench_run: openai-python is not installed; pip install openai to compare", file=sys.stderr)
        peer = False
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as base_url:
        for _ in range(1 if small else ROUNDS):
            times.append(ours(Path(name), base_url, texts))
            if peer:
                theirs.append(openai_python(base_url, texts))
    limit = len(texts) * LATENCY_MS / 1000 / AT_ONCE
    whole, calls = min(one for one, _ in times), min(two for _, two in times)
    work = f"evh run of {len(texts):,} prompts of 20 kB, {LATENCY_MS} ms, {AT_ONCE} at once"
    made = [
        {
            "work": f"{work}: the calls, kept",
            "ours_s": calls,
            "peer": "concurrency ÷ latency",
            "peer_s": limit,
        },
        {
            "work": f"{work}: scored and on disk",
            "ours_s": whole,
            "peer": "concurrency ÷ latency",
            "peer_s": limit,
        },
    ]
    if peer:
        made.append(
            {"work": work, "ours_s": whole, "peer": "openai-python (keeps nothing)", "peer_s": min(theirs)}
        )
    return made
