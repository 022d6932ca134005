"""What the tests of the evidence labeler share: a log, servers that answer, and what was kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evh.project.find import Project
from evh.store.hashing import sha256_text
from tests.conftest import CommandLine
from tests.schema import check
from tests.servers.replies import fine, http
from tests.servers.scripted import Play, Request, Scripted

QUESTION = "Did the customer ask for a refund?"
TEXTS = [f"user: turn {n}, {'I want a refund' if n % 5 == 0 else 'hello'}." for n in range(10)]


def answer(request: Request) -> Play:
    """Say yes where the chunk speaks of a refund, between the two fences; look-ups find nothing."""
    if not request.path.endswith("/chat/completions"):
        return http(404, {"detail": "Not Found"})
    if request.body["messages"][0]["content"] == "Say hello.":  # the try whether a form is honoured
        return fine("Hello!")
    yes = "want a refund" in chunk_of(request)
    return fine(f"{'Yes' if yes else 'No'}. It {'does' if yes else 'does not'} speak of a refund.")


def chunk_of(request: Request) -> str:
    """Return the chunk in a request: what stands between the two lines of the fence."""
    said = request.body["messages"][-1]["content"]
    found = re.search(r"^([0-9a-f]{16})\n(.*)\n\1$", said, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[2]


def scripted(*plays: Play) -> Callable[[Request], Play]:
    """Play replies to chat requests in order, the last one for good; look-ups find nothing."""
    chats: list[int] = []

    def script(request: Request) -> Play:
        if not request.path.endswith("/chat/completions"):
            return http(404, {"detail": "Not Found"})
        chats.append(request.number)
        return plays[min(len(chats), len(plays)) - 1]

    return script


def chats(server: Scripted) -> list[Request]:
    """Return the chat requests that came."""
    return [one for one in server.requests if one.path.endswith("/chat/completions")]


def log(evh: CommandLine, texts: Sequence[str] = TEXTS, *, query: str = "q") -> None:
    """Import ready chunks as the log ``p`` and ask one question."""
    path = evh.root / "chunks.in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    evh.ok("log-import", path, "--project", "p", "--replace")
    evh.ok("query-add", "--project", "p", "--query", query, "--question", QUESTION)


def rows(project: Project, name: str = "q.jsonl") -> list[dict[str, Any]]:
    """Return the rows of a journal or a companion."""
    path = project.data / "label" / "p" / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def label(evh: CommandLine, server: Scripted, *more: str | Path, code: int = 0) -> Any:
    """Run the labeler against a server and return its JSON document."""
    words = ("label-evidence", "--project", "p", "--query", "q", "--base-url", server.base_url)
    done = evh(*words, *more, "--json")
    assert done.code == code, f"{done.code}: {done.out}\n{done.err}"
    return check(done.json, "label-evidence")


def decide(project: Project, updates: dict[int, bool], texts: Sequence[str] = TEXTS) -> None:
    """Record a controller's decisions, by place."""
    path = project.data / "logs" / "p" / "updates" / "q.jsonl"
    path.parent.mkdir(exist_ok=True)
    lines = [
        {
            "chunk_sha": sha256_text(texts[t]),
            "t": t,
            "update": update,
            "raw": f"<check>{'yes' if update else 'no'}</check>",
        }
        for t, update in updates.items()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
