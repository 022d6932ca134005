"""The shelf of judges: ``data/judges/*.yaml``, written by people; `judge-validate --write` sets one key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project.shelf import listed, missing, read_each, yaml_files, yaml_of
from evh.records import judge as record
from evh.store import atomic, strict
from evh.store.locks import held
from evh.store.names import check_id

if TYPE_CHECKING:
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.judge import Judge

_KEY = re.compile(r"validated_by[ \t]*:.*")


def paths(project: Project) -> list[Path]:
    """Return the judge files, sorted by name."""
    return yaml_files(project.data / "judges")


def path_of(project: Project, scorer: str) -> Path:
    """Return where the judge of that name lies: under its own name, else in the file that says so."""
    check_id(scorer, "judge")
    return yaml_of(project.data / "judges", scorer, lambda one: read_file(project, one).scorer)


def read(project: Project, scorer: str) -> Judge:
    """Return a judge, or raise a Refusal that names those that are here.

    Raises:
        Refusal: no such judge; the file of that name says that it is another one; a key that is wrong.
    """
    path = path_of(project, scorer)
    if not path.exists():
        known = [judge.scorer for judge in read_all(project, [])]
        raise missing("judge", scorer, known, next=f"write data/judges/{scorer}.yaml; evh help judges")
    judge = read_file(project, path)
    if judge.scorer != scorer:
        place = project.show(path)
        raise Refusal(
            "other-judge",
            f"{place} is not the judge {scorer!r}",
            why=[f"{place}: scorer: is {judge.scorer!r}, and the file is named {scorer!r}"],
            next=f"write scorer: {scorer} in it, or rename the file to {judge.scorer}.yaml",
        )
    return judge


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[Judge]:
    """Return every judge, in the order of their file names; see `shelf.read_each` for ``problems``."""
    return read_each(
        listed(lambda: paths(project), problems), lambda path: read_file(project, path), problems
    )


def rubric_of(project: Project, judge: Judge) -> str:
    """Return what a judge judges by: its own text, or its file's, relative to the judge, then the project.

    Raises:
        Refusal: the file is not there, lies outside the project, is empty, or is not UTF-8.
    """
    if judge.rubric is not None:
        return judge.rubric
    name = judge.rubric_file or ""
    place = project.show(path_of(project, judge.scorer))
    for base in (path_of(project, judge.scorer).parent, project.root, project.data):
        path = base / name
        if not path.is_file():
            continue
        if not project.inside(path):
            raise Refusal("outside", f"{name} leads out of the project", why=[f"{path}: not followed"])
        text = strict.decode(strict.read_bytes(path), project.show(path))
        if not text.strip():
            raise Refusal("empty-rubric", "the rubric is empty", why=[project.show(path)], next="write it")
        return text
    raise Refusal(
        "no-such-rubric",
        f"the rubric of the judge {judge.scorer!r} is not here",
        why=[f"{place}: rubric_file: {name}: no such file"],
        next=f"write the rubric, or mend {place}",
    )


def with_validation(text: str, value: dict[str, Any]) -> str:
    """Return a judge's YAML with its key ``validated_by`` set; every other line stays byte for byte.

    Args:
        text: the YAML.
        value: JSON values, written on one line.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    line = f"validated_by: {strict.compact(value)}"
    lines = text.split(end)
    at = next((number for number, one in enumerate(lines) if _KEY.fullmatch(one)), None)
    if at is None:
        body = text if text.endswith(end) or not text else text + end
        return f"{body}{line}{end}"
    rest = at + 1
    while rest < len(lines) and lines[rest][:1] in (" ", "\t"):  # what the value goes on with
        rest += 1
    return end.join([*lines[:at], line, *lines[rest:]])


def write_validation(project: Project, scorer: str, value: dict[str, Any]) -> Path:
    """Set ``validated_by`` in a judge's file and return its path.

    Raises:
        Refusal: the file is written in a way in which that key cannot be set alone; it tells the line.
    """
    path = project.writable(path_of(project, scorer))
    with held(project.locks, path):
        before = strict.decode(strict.read_bytes(path), project.show(path))
        after = with_validation(before, value)
        whole = {**strict.parse_yaml(before.encode(), project.show(path)), "validated_by": value}
        kept = read_each([after], lambda text: strict.parse_yaml(text.encode(), project.show(path)), [])
        if not kept or kept[0] != whole:
            raise Refusal(
                "cannot-set-key",
                f"{project.show(path)} is written in a way that evh does not change",
                why=[f"{project.show(path)}: validated_by cannot be set without touching other lines"],
                next=f"write this line into it: validated_by: {strict.compact(value)}",
            )
        atomic.write_file(path, after.encode())
    return path


def read_file(project: Project, path: Path) -> Judge:
    """Return the judge in a file; its ``scorer`` is the file's stem where it names none."""

    def read() -> Judge:
        raw = strict.parse_yaml(strict.read_bytes(path), project.show(path))
        return record.parse({"scorer": path.stem, **raw}, project.show(path))

    project.readable(path)
    return project.kept(("judge", path), [path], read)
