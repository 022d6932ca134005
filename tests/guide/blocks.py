"""The code blocks of the guide's pages: which are files, which are commands, and what a command printed.

A fenced block's first word is its language; what follows says what a test does with it.

=============================  ==========================================================================
```` ```sh ````                commands: each must succeed
```` ```console ````           commands after ``$``, and below each what it prints; ``…`` stands for anything
```` ```console refused ````   commands that must be refused (exit 1)
```` ```sh not run: WHY ````   commands that a test cannot run
```` ```yaml PATH ````         a file, of any language: it is written to PATH
```` ```python ````            any other block is only read
=============================  ==========================================================================

An indented block that begins with ``evh`` is commands too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "evh" / "guide"
PAGES = sorted(path.name.removesuffix(".md") for path in GUIDE.glob("*.md"))
NOT_RUN = "not run:"
FENCE = re.compile(r"^```(\w*)[ \t]*([^\n]*)\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?:^|\n\n)((?:    [^\n]*\n?|\n(?=    ))+)")
SCRUBBERS = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "<time>"),
    (re.compile(r"\d{8}T\d{6}Z(?:-\d+)?"), "<stamp>"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "<hash>"),
    (re.compile(r"\b\d[\d,.]* (?:ms|s)\b"), "<duration>"),
    (re.compile(r"[ \t]+"), " "),
)
"""What differs from run to run or machine to machine, and what stands for it; runs of blanks are one."""


@dataclass(frozen=True)
class Block:
    """A code block: where it stands, its language, the rest of its first line, and its text."""

    page: str
    line: int
    language: str
    rest: str
    text: str

    @property
    def runs(self) -> bool:
        """Whether it holds commands that a test runs."""
        return self.language in {"sh", "console"} and not self.rest.startswith(NOT_RUN)

    @property
    def file(self) -> str | None:
        """Where the block is written, if it is a file."""
        return self.rest if self.rest and self.language not in {"sh", "console", ""} else None


@dataclass(frozen=True)
class Step:
    """One command line and what it prints; ``expected`` is None where nothing is shown."""

    line: str
    expected: str | None


def blocks(page: str) -> list[Block]:
    """Give a page's code blocks in order."""
    return blocks_of(page, (GUIDE / f"{page}.md").read_text(encoding="utf-8"))


def blocks_of(page: str, text: str) -> list[Block]:
    """Give the code blocks of a page's text, in order."""
    made = [
        Block(page, text.count("\n", 0, found.start()) + 1, found[1], found[2].strip(), found[3])
        for found in FENCE.finditer(text)
    ]
    without = FENCE.sub(lambda found: re.sub(r"[^\n]", "", found[0]), text)  # the line numbers stay
    for found in INDENTED.finditer(without):
        commands = "".join(f"{line[4:]}\n" for line in found[1].splitlines())
        if commands.startswith("evh "):
            made.append(Block(page, without.count("\n", 0, found.start(1)) + 1, "sh", "", commands))
    return sorted(made, key=lambda one: one.line)


def steps(block: Block) -> list[Step]:
    """Give the command lines of a block; a line that ends in a backslash goes on in the next."""
    joined = block.text.replace("\\\n", " ")
    if block.language != "console":
        lines = [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        return [Step(line, None) for line in lines]
    made: list[Step] = []
    for line in joined.splitlines():
        if line.startswith("$ "):
            made.append(Step(line[2:], ""))
        elif made:
            made[-1] = Step(made[-1].line, f"{made[-1].expected}{line}\n")
    return made


def scrub(text: str) -> str:
    """Give a text with what differs from run to run replaced, and no blank at a line's end."""
    for pattern, instead in SCRUBBERS:
        text = pattern.sub(instead, text)
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


def shows(expected: str, printed: str) -> bool:
    """Tell whether what a page shows is what was printed; ``…`` alone is any lines, within one any text."""
    pattern = ""
    for line in scrub(expected).splitlines():
        pattern += r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*?") + r"\n"
    return re.fullmatch(pattern, scrub(printed)) is not None
