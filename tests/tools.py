"""What a test may need beside Python: tools of the machine, and data that does not ship with the project.

A test asks for what it needs; where it is missing the test is skipped with the command that would install it,
and with ``EVH_REQUIRE_TOOLS=1`` (as in CI) it fails instead.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Tool:
    """A program: the names it goes by, and the Debian package that brings it."""

    programs: tuple[str, ...]
    package: str


TOOLS = {
    "chromium": Tool(("chromium", "chromium-browser", "google-chrome"), "chromium"),
    "git": Tool(("git",), "git"),
    "make": Tool(("make",), "make"),
    "soffice": Tool(("soffice", "libreoffice"), "libreoffice-calc-nogui"),
    "strace": Tool(("strace",), "strace"),
}


def require_tool(name: str) -> str:
    """Give the full path of a tool of `TOOLS`; skip the test, or fail it in CI, where it is missing."""
    tool = TOOLS[name]
    for program in tool.programs:
        found = shutil.which(program)
        if found is not None:
            return found
    reason = f"{name} is not here; install it with: sudo apt-get install {tool.package}"
    if os.environ.get("EVH_REQUIRE_TOOLS") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def require_data(folder: str) -> Path:
    """Give a folder of the data that `EVH_TEST_DATA` names; skip the test where that is unset.

    The variable alone decides: the data may not ship, so CI without it is no failure. A named folder that
    lacks the data is one.
    """
    root = os.environ.get("EVH_TEST_DATA")
    if not root:
        pytest.skip("EVH_TEST_DATA is unset; it names the folder of data that may not ship")
    found = Path(root) / folder
    if not found.is_dir():
        pytest.fail(f"EVH_TEST_DATA is {root}, but {found} is not a folder", pytrace=False)
    return found
