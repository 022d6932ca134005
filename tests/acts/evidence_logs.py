"""A small labelled log for tests of what may befall its files: ten chunks, of which 0 and 5 say yes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from evh.project.find import Project
from evh.store.hashing import sha256_text
from tests.conftest import CommandLine

QUESTION = "Where is the red harbour lantern?"
TEXTS = [
    f"turn {n}: " + ("the red harbour lantern hangs here" if n % 5 == 0 else "nothing") for n in range(10)
]
OVERLAP = ("--project", "p", "--query", "q", "--provider", "overlap")
CHUNKS, QUERIES, UPDATES = "logs/p/chunks.jsonl", "logs/p/queries.jsonl", "logs/p/updates/q.jsonl"
JOURNAL, READINGS, PROBES = "label/p/q.jsonl", "label/p/q~readings.jsonl", "label/p/q~probes.jsonl"
SETTINGS = "label/p/q~settings.json"


def import_texts(evh: CommandLine, texts: Sequence[str] = TEXTS, *more: str) -> None:
    """Import ready chunks as the log ``p``."""
    path = evh.root / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    evh.ok("log-import", path, "--project", "p", *more)


def labelled(evh: CommandLine, texts: Sequence[str] = TEXTS, *more: str) -> None:
    """Import chunks as ``p``, ask ``q``, and label with the lexical baseline."""
    import_texts(evh, texts)
    evh.ok("query-add", "--project", "p", "--query", "q", "--question", QUESTION)
    evh.ok("label-evidence", *OVERLAP, *more)


def decide(project: Project, *decisions: tuple[int, int, bool]) -> None:
    """Record a controller's decisions: (the chunk that the text is of, t, whether it updated)."""
    path = project.data / UPDATES
    path.parent.mkdir(exist_ok=True)
    rows = [
        {"chunk_sha": sha256_text(TEXTS[of]), "t": t, "update": update, "raw": ""}
        for of, t, update in decisions
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def change(path: Path, how: Callable[[bytes], bytes]) -> None:
    """Change a file's bytes in place, as an editor or a crash would; what changes nothing is a mistake."""
    before = path.read_bytes()
    after = how(before)
    assert after != before
    path.write_bytes(after)
