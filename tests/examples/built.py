"""The example projects, each made once a process by its ``make.sh``, with this checkout's evh."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
NAMES = ("pairwise-preferences", "claims")


def make(name: str, folder: Path, *, again: bool = False) -> Path:
    """Run an example's ``make.sh`` into a new folder and return the project's folder.

    Args:
        name: one of `NAMES`.
        folder: where the project and the command that stands for evh go.
        again: make a second one beside the first.
    """
    command = folder / "evh"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from evh.cli.main import main; main()" "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join([str(ROOT), str(ROOT / "build")])
    made = folder / (f"{name}-again" if again else name)
    done = subprocess.run(
        ["bash", str(EXAMPLES / name / "make.sh"), str(made)],
        env={**os.environ, "EVH": str(command), "PYTHON": sys.executable, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(
            f"{name}/make.sh ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )
    return made


@cache
def built(name: str, base: Path) -> Path:
    """Return the example's project below ``base``, made at the first call of this process."""
    folder = base / f"example-{name}"
    folder.mkdir()
    return make(name, folder)
