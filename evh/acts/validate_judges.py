"""Checks of judges and their verdicts: files that can be read, rubrics that are there, whole lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts.validate_tree import check_journal
from evh.project import judged, judges
from evh.project.shelf import folders

if TYPE_CHECKING:
    from evh.acts.findings import Findings


def check(found: Findings) -> None:
    """Check each judge, that what it judges by is there, and each file of verdicts."""
    project = found.project
    seen: dict[str, str] = {}
    for path in found.attempt(project.data / "judges", judges.paths, project) or []:
        judge = found.attempt(path, judges.read_file, project, path)
        if judge is None:
            continue
        found.count("judges", 1)
        if judge.scorer in seen:
            found.error("doubled-id", path, f"{seen[judge.scorer]} is the judge {judge.scorer!r} too")
        seen[judge.scorer] = project.show(path)
        found.attempt(path, judges.rubric_of, project, judge)
    place = project.data / judged.PLACE
    for folder in found.attempt(place, folders, place) or []:
        path = folder / judged.VERDICTS
        if path.is_file() and project.inside(path):
            check_journal(found, path)
            if not any(one.file == project.show(path) and one.severity == "error" for one in found.findings):
                found.attempt(path, judged.verdicts, project, folder.name)
