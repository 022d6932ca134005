"""Every command block of the guide runs, and prints what the page shows; every command is in the guide."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evh.cli.main import COMMANDS, main
from evh.project import datasets, labels, picks, references
from evh.project.find import Project
from evh.records.answers import answers
from tests.guide.blocks import GUIDE, NOT_RUN, PAGES, Block, blocks, blocks_of, shows, steps
from tests.guide.projects import PROJECTS, sample

ROOT = Path(__file__).resolve().parents[2]
SHELL = re.compile(r"[|><;&`$*]")
MOST_NOT_RUN = 12
"""Blocks that need what a test has not: a model, a person, a browser. More would be a hole."""


class Terminal:
    """Runs command lines one after the other, as a reader does: in a folder, with a clock that goes on."""

    def __init__(
        self,
        root: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
        tmp_path: Path,
    ) -> None:
        self._patch = monkeypatch
        self._captured = capfd
        self._minute = 0
        self._patch.chdir(root)
        binaries = tmp_path / "bin"
        binaries.mkdir()
        for name, code in (
            ("evh", f'exec {shlex.quote(sys.executable)} -c "from evh.cli.main import main; main()" "$@"'),
            ("python", f'exec {shlex.quote(sys.executable)} "$@"'),
        ):
            (binaries / name).write_text(f"#!/bin/sh\n{code}\n")
            (binaries / name).chmod(0o755)
        self._patch.setenv("PATH", f"{binaries}{os.pathsep}{os.environ['PATH']}")
        self._patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "build")]))
        for name in ("EVAL_HOME", "EVAL_DATA_DIR", "EVAL_RUNS_DIR", "EVAL_GOALS_DIR"):
            self._patch.delenv(name, raising=False)

    def __call__(self, line: str) -> tuple[int, str]:
        """Run one line; give its exit code and what it printed: notes left out, a refusal as it is told."""
        hours, minutes = divmod(self._minute, 60)
        self._minute += 1
        self._patch.setenv("EVH_NOW", f"2026-11-02T{8 + hours:02d}:{minutes:02d}:00Z")
        words = shlex.split(re.sub(r"\s#\s.*", "", line))
        if words[0] == "cd":
            self._patch.chdir(words[1])
            return 0, ""
        if words[0] != "evh" or SHELL.search(re.sub(r"'[^']*'|\"[^\"]*\"|\s#\s.*", "", line)):
            done = subprocess.run(
                ["bash", "-c", line], capture_output=True, text=True, timeout=120, check=False
            )
            return done.returncode, done.stdout + (done.stderr if done.returncode else "")
        self._captured.readouterr()
        code = 0
        try:
            main(words[1:])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        out, err = self._captured.readouterr()
        return code, out + (err if code else "")


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Callable[[Path], Terminal]]:
    """A terminal in the folder that the caller names."""
    loaded = set(sys.modules)
    yield lambda root: Terminal(root, monkeypatch, capfd, tmp_path)
    for name in set(sys.modules) - loaded:
        if name.startswith("evh_adapter"):
            del sys.modules[name]


def write_file(block: Block) -> None:
    """Write the file that a block is."""
    path = Path(str(block.file))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # it may be a link to the sample's own
    path.write_text(block.text, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_runs_and_prints_what_it_shows(
    page: str, tmp_path: Path, terminal: Callable[[Path], Terminal]
) -> None:
    """In order, in one project, as a reader would: files are written, commands run, their output compared."""
    if not any(block.runs for block in blocks(page)):
        pytest.skip("this page has no commands")
    root = PROJECTS.get(page, sample)(tmp_path / "work")
    run = terminal(root)
    for block in blocks(page):
        if block.file is not None:
            write_file(block)
        if not block.runs:
            continue
        wanted = 1 if block.rest == "refused" else 0
        for step in steps(block):
            code, printed = run(step.line)
            where = f"{page}.md, the block at line {block.line}: {step.line}"
            assert code == wanted, f"{where}\nexited {code}:\n{printed}"
            if step.expected is not None:
                assert shows(step.expected, printed), f"{where}\nprinted:\n{printed}"
    if page in AFTER:
        AFTER[page](root)


def the_lesson(root: Path) -> None:
    """Hold what the tutorial made against what the sample's README and the filled sheet say.

    ``filled-by-rule.csv`` is the sheet as the tutorial's script filled it, rows without a label left out: a
    rule over the outcome and the vendor's severity, and no person. Its rows were counted by hand: 17 are on
    the list; the other 56 are not, and the vendor calls them low or medium.
    """
    project = Project.find(home=root / "lesson", environ={})
    made = labels.read(project, "cve_2024_07_08", "by_rule")
    with (Path(__file__).with_name("filled-by-rule.csv")).open(encoding="utf-8", newline="") as file:
        filled = {row["item_id"]: row for row in csv.DictReader(file)}
    said = {item_id: answers(text) for item_id, text in labels.texts(project, made).items()}
    assert said == {
        item_id: tuple(sorted(one for one in (row["label"], row["also right"]) if one))
        for item_id, row in filled.items()
    }
    assert Counter(said.values()) == {("active",): 17, ("none", "poc"): 56}
    missed = ["CVE-2022-37969", "CVE-2022-41128", "CVE-2023-36874", "CVE-2024-29824"]
    new = ["CVE-2012-4792", "CVE-2016-1285"]
    version = datasets.read(project, "cve_2024_h1_v2")
    assert [item.item_id for item in version.items[603:]] == [*missed, *new]
    assert {item.lineage["capture"] for item in version.items[603:]} == {"cve_2024_07_08"}
    assert (version.governed, version.task, version.parent) == (True, "exploitation", "cve_2024_h1")
    state = picks.read_state(project)
    assert [one.tags["case"] for one in state.values()] == ["missed"] * 4 + ["new-year"] * 2
    assert {one.used[0]["in"] for one in state.values()} == {"cve_2024_h1_v2"}
    gold = references.read(project, "gold/cve_2024_h1_v2")
    assert (gold.n_items, gold.promoted_by, len(gold.label_refs)) == (609, "you", 2)
    page = (root / "lesson/.build/catalog/datasets/cve_2024_h1_v2/index.html").read_text(encoding="utf-8")
    assert "6 items that cve_2024_h1 has not" in page


AFTER: dict[str, Callable[[Path], None]] = {"tutorial": the_lesson}
"""What a page must have made."""


def test_blocks_that_are_not_run_are_few_and_say_why() -> None:
    """Each names its reason; a block of commands in any other language than sh and console is not known."""
    left_out = [one for page in PAGES for one in blocks(page) if one.rest.startswith(NOT_RUN)]
    assert [one for one in left_out if len(one.rest.removeprefix(NOT_RUN).strip()) < 10] == []
    assert len(left_out) <= MOST_NOT_RUN
    known = {"sh", "console", "python", "yaml", "toml", "css", "json", "jsonl", "csv", "text", "sql", "xml"}
    assert {one.language for page in PAGES for one in blocks(page)} <= known


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_guide(command: str) -> None:
    """Some page shows it in a block of commands."""
    lines = [
        step.line for page in PAGES for block in blocks(page) if _commands(block) for step in steps(block)
    ]
    assert [line for line in lines if re.search(rf"(?:^|[|;&] *)evh {re.escape(command)}(?![\w-])", line)]


def _commands(block: Block) -> bool:
    return block.runs or (block.language in {"sh", "console"} and block.rest.startswith(NOT_RUN))


def test_blocks_are_read_as_they_stand() -> None:
    """Fenced and indented, files, refusals and reasons; lines that go on; prose that only looks like one."""
    text = (
        "# T\n\n    evh a\n    evh b \\\n      --c\n\nText.\n\n"
        "```console refused\n$ evh d\nno\n  - why\n$ evh e\n```\n\n"
        "```yaml data/x.yaml\nevh: 1\n```\n\n```sh not run: it asks a model\nevh f\n```\n\n    no command\n"
    )
    found = blocks_of("t", text)
    assert [(one.line, one.language, one.rest, one.runs, one.file) for one in found] == [
        (3, "sh", "", True, None),
        (9, "console", "refused", True, None),
        (16, "yaml", "data/x.yaml", False, "data/x.yaml"),
        (20, "sh", "not run: it asks a model", False, None),
    ]
    assert [(step.line.split(), step.expected) for step in steps(found[0])] == [
        (["evh", "a"], None),
        (["evh", "b", "--c"], None),
    ]
    assert [(step.line, step.expected) for step in steps(found[1])] == [
        ("evh d", "no\n  - why\n"),
        ("evh e", ""),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a  b\n", "a b\n", True),
        ("a b\n", "a c\n", False),
        ("a\n", "a\nb\n", False),
        ("a\n…\n", "a\nb\nc\n", True),
        ("…\nc\n", "a\nb\nc\n", True),
        ("a … z\n", "a b c z\n", True),
        ("run_20240101T000000Z 3 ms\n", "run_20261102T080000Z-2 12.5 ms\n", True),
        ("took 0.31 s at 2024-01-01T00:00:00Z\n", "took 2 s at 2026-11-02T08:00:00Z\n", True),
        ("0.957\n", "0.958\n", False),
        ("", "", True),
        ("", "a\n", False),
    ],
)
def test_what_is_shown_is_compared_through_scrubbers(shown: str, printed: str, same: bool) -> None:
    """Blanks, times, hashes and durations may differ; figures and words may not; … stands for more."""
    assert shows(shown, printed) is same


def test_the_pages_are_where_the_package_has_them() -> None:
    """The tests read what ships."""
    assert GUIDE.is_dir()
    assert "tutorial" in PAGES
    assert shutil.which("bash")
