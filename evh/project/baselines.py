"""The shelf of baselines: ``data/baselines/*.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.project.shelf import files, listed, read_each
from evh.records import baseline as record
from evh.store import strict

if TYPE_CHECKING:
    from pathlib import Path

    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.baseline import Baseline


def read_file(project: Project, path: Path) -> Baseline:
    """Return the baseline in a file."""
    return record.parse(strict.read_object(path), project.show(path), stem=path.stem)


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[Baseline]:
    """Return every baseline, by file name; see `shelf.read_each` for ``problems``."""
    paths = listed(lambda: files(project.data / "baselines", ".json"), problems)
    return read_each(paths, lambda path: read_file(project, path), problems)
