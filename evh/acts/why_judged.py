"""What a judged number rests on: who judged, by which rubric, and in which sheet or by which verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evh.acts.why_model import Evidence, compared
from evh.project import judged, judges
from evh.project.shelf import read_each
from evh.store.hashing import sha256_file, sha256_text

if TYPE_CHECKING:
    from evh.acts.sources import Sources
    from evh.project.find import Project
    from evh.records.judge import Judge
    from evh.records.run import Run


def links(project: Project, sources: Sources, run: Run, depth: int, by: str) -> list[Evidence]:
    """Return the evidence of a judged run, nearest first.

    A filled sheet and its key stay where the sheet was filled: their hashes are on record, and nothing is
    here to hold them against. A judge's file and rubric are told as they are now.

    Args:
        project: the project.
        sources: its records.
        run: a judged run.
        depth: of the first line.
        by: the file that recorded what the run says of its judging.
    """
    about = run.judged or {}
    scorer = str(about.get("scorer") or run.folder.rpartition("/")[2])
    sheet, key, rubric = (_text(about.get(f"{name}_sha256")) for name in ("sheet", "key", "rubric"))
    found: list[Judge] = [] if sheet else read_each([scorer], lambda one: judges.read(project, one), [])
    valid = judged.validity(project, sources.runs, sources.problems).holds(run)
    kind = f" ({about['by_kind']})" if about.get("by_kind") else ""
    word = "validated against people" if valid else "unvalidated"
    who = Evidence(depth, "judge", scorer, f"judged by {about.get('by') or scorer}{kind}; {word}")
    if found:
        path = judges.path_of(project, scorer)
        who = replace(who, file=project.show(path), found=sha256_file(path))
    made = [who]
    if rubric:
        link = Evidence(depth + 1, "rubric", scorer, recorded=rubric, by=by)
        text = read_each(found, lambda one: judges.rubric_of(project, one), [])
        if text:
            made.append(compared(replace(link, told="the rubric as it is now", found=sha256_text(text[0]))))
        else:
            where = "it stands in the sheet and in its key" if sheet else "it is not here"
            made.append(replace(link, told=f"the rubric; {where}"))
    for digest, told in ((sheet, "the filled sheet"), (key, "the sheet's key")):
        if digest:
            where = f"{told}; it stays where it was filled"
            made.append(Evidence(depth + 1, "source", scorer, where, None, digest, by))
    verdicts = judged.verdicts_path(project, scorer)
    if verdicts.is_file():
        told, file = "the verdicts, each as it was given", project.show(verdicts)
        made.append(Evidence(depth + 1, "source", scorer, told, file, found=sha256_file(verdicts)))
    return made


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
