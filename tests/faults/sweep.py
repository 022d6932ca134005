"""Killing or failing a writing command at each system call that touches its project.

One run is traced first, to learn the ordinal of every call that touches the project. Then the command is run
again and again on a fresh copy: killed at such a call, or with the call failing as a full or a broken disk
makes it fail. After each run the tree must be in order, and after a kill a second try must succeed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evh.project.find import Project

CALLS = (
    "openat",
    "write",
    "pwrite64",
    "fsync",
    "rename",
    "renameat2",
    "mkdir",
    "link",
    "unlink",
    "ftruncate",
    "rmdir",
)
HOWS = ("signal=KILL", "error=ENOSPC", "error=EIO")
NOW = "2026-11-01T08:02:32Z"
LITTER = re.compile(r"(?:^|/)\.tmp-|(?:^|/)\.locks(?:/|$)|(?:^|/)\.cache(?:/|$)")


@dataclass(frozen=True)
class Family:
    """A writing command to be swept.

    ``prepare`` fills an empty project; ``words`` is the command line after ``evh -C DIR``; ``records`` are
    folders (below the project) that must be whole or absent; ``grows`` are append-only files and a running
    run's folder, which may hold a part of the new rows; ``again`` is the command that goes on after a kill.
    """

    name: str
    prepare: Callable[[Project], None]
    words: tuple[str, ...]
    records: tuple[str, ...] = ()
    grows: tuple[str, ...] = ()
    again: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Point:
    """One place to fail: the ``ordinal``-th ``call`` of the process, and how."""

    call: str
    ordinal: int
    how: str


def environment() -> dict[str, str]:
    """Give the environment of a swept command: a fixed clock and no bytecode, so that runs are alike."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("EVAL_", "EVH_"))}
    root = Path(__file__).resolve().parents[2]
    return {
        **kept,
        "EVH_NOW": NOW,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "build")]),
    }


def command(root: Path, words: tuple[str, ...]) -> list[str]:
    """Give the argument list that runs ``evh`` on a project, by the Python of the tests."""
    code = "from evh.cli.main import main; main()"
    return [sys.executable, "-c", code, "-C", str(root), *words]


def run(
    root: Path, words: tuple[str, ...], tracing: list[str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run one command line, under strace when ``tracing`` holds its options."""
    # Not its children: git, which is asked for the commit, makes as many calls as its index is stale.
    before = ["strace", "-qq", *tracing] if tracing else []
    return subprocess.run(
        [*before, *command(root, words)],
        env=environment(),
        cwd=root,
        capture_output=True,
        timeout=120,
        check=False,
    )


def points(root: Path, family: Family, log: Path) -> list[Point]:
    """Trace the command once on ``root`` and give every point of every call that touches the project."""
    done = run(root, family.words, ["-y", "-s", "4096", "-o", str(log), "-e", f"trace={','.join(CALLS)}"])
    assert done.returncode == 0, (
        f"{family.name} fails untouched:\n{done.stdout.decode()}\n{done.stderr.decode()}"
    )
    counts: dict[str, int] = {}
    found = []
    for line in log.read_text(errors="replace").splitlines():
        matched = re.match(r"(\w+)\((.*)", line)
        if matched is None or matched.group(1) not in CALLS:
            continue
        call, rest = matched.groups()
        counts[call] = counts.get(call, 0) + 1
        if str(root) in rest and not (call == "openat" and "O_CREAT" not in rest and "/data/" not in rest):
            found += [Point(call, counts[call], how) for how in HOWS]
    return found


def tree(root: Path) -> dict[str, str]:
    """Give path → sha256 of every file of a project, but for litter, locks and caches."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not LITTER.search(str(path.relative_to(root)))
    }


def litter(root: Path) -> list[str]:
    """Give what an unfinished write left behind."""
    return [str(path.relative_to(root)) for path in root.rglob(".tmp-*")]


@dataclass(frozen=True)
class Sweep:
    """A family made ready: a prepared project, and its tree before and after the command ran untouched."""

    family: Family
    prepared: Path
    before: dict[str, str]
    after: dict[str, str]
    points: tuple[Point, ...]

    @classmethod
    def ready(cls, family: Family, folder: Path) -> Sweep:
        """Prepare a family in ``folder`` and trace it once."""
        prepared = folder / "prepared"
        (prepared / "data").mkdir(parents=True)
        (prepared / "data" / ".gitattributes").write_bytes(b"* -text\n")
        (prepared / "evh.toml").write_bytes(b'[project]\nname = "faults"\n')
        family.prepare(Project.find(home=prepared, environ={"EVH_NOW": NOW}))
        work = folder / "work"
        shutil.copytree(prepared, work)
        found = points(work, family, folder / "trace.log")
        return cls(family, prepared, tree(prepared), tree(work), tuple(found))

    def fail_at(self, point: Point, work: Path) -> list[str]:
        """Run the command with one fault in a fresh copy at ``work``; give what is wrong afterwards."""
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(self.prepared, work)
        inject = f"inject={point.call}:{point.how}:when={point.ordinal}"
        done = run(work, self.family.words, ["-o", os.devnull, "-e", f"trace={point.call}", "-e", inject])
        wrong = list(self._torn(tree(work)))
        if b"Traceback" in done.stderr + done.stdout:
            wrong.append(f"a traceback:\n{done.stderr.decode(errors='replace')[-1500:]}")
        killed = done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
        # A read that fails while a finished deed is told does not undo it.
        finished = point.call == "openat" and set(self.after) <= _names(tree(work))
        changed = tree(work) != self.before and not self.family.grows and not finished
        if not killed and done.returncode != 0 and changed:
            wrong.append(
                f"refused with exit {done.returncode}, yet the tree changed: {self._changes(tree(work))}"
            )
        # What a deed replaced cannot be removed where its folder cannot be opened: it is done all the same.
        removing = point.call in ("unlink", "rmdir") or (point.call == "openat" and done.returncode == 0)
        if not killed and litter(work) and not removing:
            wrong.append(f"litter after a refusal: {litter(work)}")
        if done.returncode != 0:
            wrong += self._second_try(work)
        return wrong

    def _torn(self, now: dict[str, str]) -> Iterator[str]:
        """Give every file that is neither old nor new, and every record that is neither whole nor absent."""
        for name, digest in now.items():
            if any(name.startswith(part) for part in self.family.grows):
                continue
            if digest not in (self.before.get(name), self.after.get(name)):
                yield f"{name}: neither the old bytes nor the new"
        for name in self.before:
            if name not in now and name in self.after:
                yield f"{name}: lost"
        for record in self.family.records:
            whole = {name for name in self.after if name.startswith(record + "/")}
            old = {name for name in self.before if name.startswith(record + "/")}
            held = {name for name in now if name.startswith(record + "/")}
            if held not in (whole, old):
                yield f"{record}: neither whole nor absent: {len(held)} of {len(whole)} files"

    def _second_try(self, work: Path) -> Iterator[str]:
        """Go on as a user would: what the family says goes on, else the same command; give what is wrong."""
        if set(self.after) <= _names(tree(work)):  # the fault came after the commit point
            return
        told = b""
        for words in (self.family.again, self.family.words):
            if words:
                again = run(work, words)
                if again.returncode == 0:
                    break
                told = again.stderr[-800:]
        else:
            yield f"the second try fails: {told.decode(errors='replace')}"
        missing = sorted(set(self.after) - _names(tree(work)))
        if missing:
            yield f"after the second try these are missing: {missing[:5]}"

    def _changes(self, now: dict[str, str]) -> list[str]:
        return sorted(
            name for name in now.keys() | self.before.keys() if now.get(name) != self.before.get(name)
        )[:5]


def _names(files: dict[str, str]) -> set[str]:
    """Give the files' names; a run that took the next free id after a dead one counts as the same run."""
    return {re.sub(r"(_\d{8}T\d{6}Z)-\d+/", r"\1/", name) for name in files}
