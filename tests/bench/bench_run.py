"""`evh run` of 3,000 items at a model server: 50 ms a reply, 64 at once, prompts of 20 kB, all on disk.

The server is a small C program of its own, so that it takes nothing from the client's Python. The limit is
concurrency by latency: 1,280 answers a second. The peers, a plain httpx client and openai-python where it is
installed, ask the same and keep nothing.

No round removes its files before the last has ended: ext4 takes hundreds of microseconds to make a file where
thousands were removed a minute ago, which no run meets.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
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
Peer = Callable[[str, dict[str, str]], float]
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
    return whole, calls[1] - calls[0]


def httpx_alone(base_url: str, texts: dict[str, str]) -> float:
    """Ask the same with httpx; give the seconds.

    A client for each worker, of one connection: one client for all looks at every connection for every
    request, and takes eight times as long.
    """
    import ssl

    import httpx

    limits, tls = httpx.Limits(max_connections=1, max_keepalive_connections=1), ssl.create_default_context()

    async def go() -> float:
        async with contextlib.AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(httpx.AsyncClient(limits=limits, timeout=60.0, verify=tls))
                for _ in range(AT_ONCE)
            ]

            async def ask(worker: int, text: str) -> None:
                body = {"model": "m", "messages": [{"role": "user", "content": f"Is it closed? {text}"}]}
                reply = await clients[worker].post(f"{base_url}/chat/completions", json=body)
                json.loads(reply.content)["choices"][0]["message"]["content"]

            return await at_once(ask, texts)

    return asyncio.run(go())


def openai_python(base_url: str, texts: dict[str, str]) -> float:
    """Ask the same with openai-python's AsyncOpenAI, `AT_ONCE` at once; give the seconds."""
    openai: Any = importlib.import_module("openai")

    async def go() -> float:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client:

            async def ask(_: int, text: str) -> None:
                messages = [{"role": "user", "content": f"Is it closed? {text}"}]
                await client.chat.completions.create(model="m", messages=messages)

            return await at_once(ask, texts)

    return asyncio.run(go())


async def at_once(ask: Callable[[int, str], Awaitable[None]], texts: dict[str, str]) -> float:
    """Ask about every text by `AT_ONCE` workers; give the seconds."""
    left = iter(texts.values())

    async def work(worker: int) -> None:
        for text in left:
            await ask(worker, text)

    begun = time.perf_counter()
    await asyncio.gather(*map(work, range(AT_ONCE)))
    return time.perf_counter() - begun


def peers() -> dict[str, Peer]:
    """Name the clients that are here."""
    found: dict[str, Peer] = {"httpx, a client each (keeps nothing)": httpx_alone}
    try:
        importlib.import_module("openai")
    except ImportError:
        print("bench_run: openai-python is not installed; pip install openai to compare", file=sys.stderr)
    else:
        found["openai-python (keeps nothing)"] = openai_python
    return found


def rows(small: bool) -> list[dict[str, Any]]:
    """Time all in turn and give their fastest rounds, beside the time that no client can beat."""
    texts = made_up(SMALL if small else FULL)
    times: list[tuple[float, float]] = []
    others = peers()
    theirs: dict[str, list[float]] = {peer: [] for peer in others}
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as base_url:
        for _ in range(1 if small else ROUNDS):
            times.append(ours(Path(name), base_url, texts))
            for peer, ask in others.items():
                theirs[peer].append(ask(base_url, texts))
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
    made += [
        {"work": work, "ours_s": whole, "peer": peer, "peer_s": min(took)} for peer, took in theirs.items()
    ]
    return made
