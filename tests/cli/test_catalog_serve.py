"""``evh catalog-serve`` and ``catalog-build --watch``, as processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import serve
from tests import schema
from tests.conftest import CommandLine
from tests.evh_build.projects import small
from tests.helpers import tree_bytes

PATIENCE = 60
"""Seconds: a busy machine is no failure."""


class Process:
    """One ``evh`` that goes on: its lines as they come."""

    def __init__(self, *words: str | Path) -> None:
        main = "from evh.cli.main import main; main()"
        self._err = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-c", main, *map(str, words)],
            stdout=subprocess.PIPE, stderr=self._err, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        self.lines: Queue[str | None] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def line(self) -> str:
        """Return the next line on stdout."""
        found = self.lines.get(timeout=PATIENCE)
        assert found is not None, f"it ended:\n{self.ended()[1]}"
        return found

    def document(self) -> dict[str, Any]:
        """Return a document of many lines."""
        return json.loads("".join(iter(self.line, "}")) + "}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Send Ctrl-C and return the exit code and what stood on stderr."""
        if self._process.poll() is None:
            self._process.send_signal(how)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """Wait for its end and return the exit code and what stood on stderr."""
        code = self._process.wait(timeout=PATIENCE)
        self._reader.join(timeout=PATIENCE)
        self._err.seek(0)
        return code, self._err.read().decode()

    def end(self) -> None:
        """Leave nothing behind, whatever happened."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reader.join(timeout=PATIENCE)
        self._err.close()


@contextmanager
def going(*words: str | Path) -> Iterator[Process]:
    """Run an ``evh`` that goes on, and end it."""
    process = Process(*words)
    try:
        yield process
    finally:
        process.end()


def read(url: str, path: str = "") -> str:
    """Return a page as it is served."""
    with urllib.request.urlopen(url + path, timeout=10) as answer:
        return answer.read().decode()


def until(url: str, path: str, words: str) -> str:
    """Return a page once it says something."""
    deadline = time.monotonic() + PATIENCE
    while words not in (text := read(url, path)):
        assert time.monotonic() < deadline, f"{words} never came"
        time.sleep(0.05)
    return text


def lay(root: Path, name: str) -> Project:
    """Lay a project of a name."""
    (root / "data").mkdir(parents=True)
    (root / "evh.toml").write_text(f'[project]\nname = "{name}"\n')
    return small(Project.find(home=root))


def test_two_projects_side_by_side_are_never_confused(tmp_path: Path) -> None:
    """Each has its own port, name and folder on its pages, is built again alone, and stops with exit 0."""
    one, two = lay(tmp_path / "one", "first project"), lay(tmp_path / "two", "second project")
    with (
        going("-C", one.root, "catalog-serve") as first,
        going("-C", two.root, "catalog-serve") as second,
    ):
        urls = []
        for process, project in ((first, one), (second, two)):
            told = re.fullmatch(rf"{project.name}: (http://127\.0\.0\.1:(\d+)/)", process.line())
            assert told is not None
            assert process.line() == f"{project.root}; Ctrl-C stops"
            assert int(told[2]) == serve.port_of(project.root)
            urls.append(told[1])
        assert urls[0] != urls[1]
        for url, mine, other in ((urls[0], one, two), (urls[1], two, one)):
            page = read(url)
            assert mine.name in page
            assert str(mine.root) in page
            assert other.name not in page
            assert str(other.root) not in page
        before = tree_bytes(two.root / ".build")
        time.sleep(4)  # the watch has begun
        (one.data / "labels" / "d" / "ann" / "i1.txt").write_bytes(b"quite another")
        assert re.fullmatch(r"\d+ pages in \d+\.\d s: data/labels/d/ann/i1.txt changed", first.line())
        assert "quite another" in read(urls[0], "items/d/i1.html")
        assert "quite another" not in read(urls[1], "items/d/i1.html")
        (two.data / "labels" / "d" / "ann" / "i2.txt").write_bytes(b"a third")
        until(urls[1], "items/d/i2.html", "a third")
        assert first.stop() == (0, "")
        assert second.stop(signal.SIGTERM) == (0, "")
    assert tree_bytes(two.root / ".build") != before
    built = b"".join(tree_bytes(one.root / ".build").values())
    assert str(one.root).encode() not in built
    assert str(serve.port_of(one.root)).encode() not in built


def test_the_same_project_twice_takes_the_next_port(tmp_path: Path) -> None:
    """The second says so; --port of the first is refused; [serve] port names another."""
    project = lay(tmp_path / "p", "p")
    with going("-C", project.root, "catalog-serve", "--no-watch", "--json") as first:
        told = schema.check(json.loads(first.line()), "catalog-serve")
        assert told["folder"] == str(project.root)
        port = told["port"]
        with going("-C", project.root, "catalog-serve", "--no-watch", "--json") as second:
            other = schema.check(json.loads(second.line()), "catalog-serve")
            assert other["port"] > port
            assert other["warnings"] == [f"port {port} is taken; this is the next free one"]
        with going("-C", project.root, "catalog-serve", "--port", str(port), "--json") as third:
            assert third.document()["refused"]["code"] == "port-taken"
            assert third.ended()[0] == 1
        assert first.stop() == (0, "")
    (project.root / "evh.toml").write_text(f'[project]\nname = "p"\n[serve]\nport = {port + 7}\n')
    with going("-C", project.root, "catalog-serve", "--no-watch", "--json") as set_by_hand:
        assert json.loads(set_by_hand.line())["port"] in range(port + 7, port + 17)


def test_a_build_that_fails_leaves_the_site_and_says_why(tmp_path: Path) -> None:
    """A template that cannot be rendered is told on stderr; the old page stays; the mended one is built."""
    project = lay(tmp_path / "p", "p")
    pages = project.root / "site_templates" / "pages"
    pages.mkdir(parents=True)
    with going("-C", project.root, "catalog-serve", "--port", "0", "--json") as served:
        url = json.loads(served.line())["url"]
        time.sleep(1)
        (pages / "about.html").write_text("{{ nothing }}")
        time.sleep(2)
        assert "<h1" in read(url, "about/index.html")
        (pages / "about.html").write_text("<html><body>mended</body></html>")
        assert "mended" in until(url, "about/index.html", "mended")
        code, err = served.stop()
    assert code == 0
    assert "evh catalog-serve: the template pages/about.html cannot be rendered" in err
    assert "the site is as it was" in err
    assert "Traceback" not in err


def test_a_first_build_that_is_refused_ends_it(tmp_path: Path) -> None:
    """Without an older site there is nothing to serve: exit 1, and the port is free again."""
    project = lay(tmp_path / "p", "p")
    pages = project.root / "site_templates" / "pages"
    pages.mkdir(parents=True)
    (pages / "about.html").write_text("{{ nothing }}")
    with going("-C", project.root, "catalog-serve", "--json") as served:
        assert served.document()["refused"]["code"] == "bad-template"
        assert served.ended()[0] == 1


def test_a_build_that_watches(tmp_path: Path) -> None:
    """`catalog-build --watch` builds, builds again at a change, and stops with exit 0."""
    project = lay(tmp_path / "p", "p")
    with going("-C", project.root, "catalog-build", "--watch") as watching:
        index = project.root / ".build" / "catalog" / "index.html"
        assert watching.line() == f"watching {project.root}; open {index}; Ctrl-C stops"
        assert re.fullmatch(r"\d+ pages in \d+\.\d s", watching.line())
        time.sleep(1)
        (project.data / "labels" / "d" / "ann" / "i1.txt").write_bytes(b"another")
        assert re.fullmatch(r"\d+ pages in \d+\.\d s: data/labels/d/ann/i1.txt changed", watching.line())
        assert watching.stop() == (0, "")
    assert "another" in (index.parent / "items" / "d" / "i1.html").read_text()


@pytest.mark.parametrize("other", ["--json", "--dry-run", "--rehash"])
def test_a_watch_goes_alone(project: Project, evh: CommandLine, other: str) -> None:
    """What cannot go on with a watch is a wrong use of it."""
    assert evh("catalog-build", "--watch", other).code == 2


def test_a_port_is_a_number(project: Project, evh: CommandLine) -> None:
    """One that no system has is a wrong use; in evh.toml it is refused."""
    small(project)
    assert evh("catalog-serve", "--port", "70000").code == 2
    (project.root / "evh.toml").write_text("[serve]\nport = 70000\n")
    evh.refused("bad-record", "catalog-serve")
    assert not os.path.lexists(project.root / ".build")
