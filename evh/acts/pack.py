"""Parquet ↔ text files: the one deed that writes into records that are here, and changes nothing they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project import captures, datasets, labels, references, repack, runs
from evh.project.shelf import read_each
from evh.store import parquet
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evh.project.find import Project

PARQUET, TEXT = repack.PARQUET, repack.TEXT
NOUNS: Mapping[str, Callable[[Project, str, str], Callable[[], None]]] = {
    "dataset": repack.dataset,
    "capture": repack.capture,
    "run": repack.run,
    "labels": repack.label_set,
    "reference": repack.reference,
}
"""What can be named, as ``noun:name``."""


@dataclass(frozen=True, slots=True)
class Job:
    """One record that would get its other form."""

    ref: str
    form: str
    deed: Callable[[], None] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """The records that would get their other form.

    ``left`` are those that were not named one by one and stay as they are because they cannot change, each
    with why.
    """

    jobs: tuple[Job, ...]
    form: str
    left: tuple[str, ...]

    def says(self) -> list[str]:
        """Return what would be done, a sentence each."""
        into = "Parquet" if self.form == PARQUET else "text files"
        return [f"write {job.ref} as {into}" for job in self.jobs]


def plan(project: Project, form: str, *, refs: Sequence[str] = (), everything: bool = False) -> Plan:
    """Return which records would get their other form.

    Args:
        project: the project.
        form: `PARQUET` or `TEXT`: the form to give them.
        refs: ``dataset:D``, ``capture:C``, ``run:R`` or ``run:FOLDER/R``, ``labels:D/S``, ``reference:T/N``.
        everything: every record that has the other form. With neither, `PARQUET` takes those of over 5,000
            rows that are text.

    Raises:
        Refusal: a name that is none; one that has the form already or would lose something; a record whose
            bytes are not the ones recorded; text asked for and nothing named.
    """
    problems: list[Refusal] = []
    if refs:
        if everything:
            raise Refusal(
                "bad-options", "records are named, or all are meant", why=["--all goes without names"]
            )
        jobs = read_each(dict.fromkeys(refs), lambda ref: _job(project, ref, form), problems)
        if problems:
            raise _together(problems)
        return Plan(tuple(jobs), form, ())
    if form == TEXT and not everything:
        raise Refusal(
            "which-records",
            "unpack needs to know which records",
            why=["name them, or give --all"],
            next="evh unpack labels:DATASET/SET; evh unpack --all",
        )
    found = [ref for ref, rows in _all(project, form) if everything or rows > parquet.ROWS_AS_TEXT]
    jobs = read_each(found, lambda ref: _job(project, ref, form), problems)
    left = [reason for one in problems for reason in one.why or (one.what,)]
    return Plan(tuple(jobs), form, tuple(left))


def commit(plan: Plan, *, progress: Callable[[int, int], None] | None = None) -> list[str]:
    """Give each record its other form, one after the other, each whole; return them.

    A kill between two leaves the one in its new form and the other in its old one: both are read.
    """
    done = []
    for number, job in enumerate(plan.jobs, start=1):
        job.deed()
        done.append(job.ref)
        if progress:
            progress(number, len(plan.jobs))
    return done


def _job(project: Project, ref: str, form: str) -> Job:
    noun, _, name = ref.partition(":")
    if noun not in NOUNS or not name:
        raise Refusal(
            "bad-ref",
            f"{ref!r} does not name a record",
            why=[f"{ref}: write it as one of {', '.join(f'{one}:NAME' for one in NOUNS)}"],
            next="evh pack --help",
        )
    return Job(ref, form, NOUNS[noun](project, name, form))


def _all(project: Project, form: str) -> Iterator[tuple[str, int]]:
    """Yield each record that has not the form, with how many rows it has."""
    other = form == PARQUET
    for dataset in datasets.read_all(project, []):
        if (dataset.items_file is None) == other:
            yield f"dataset:{dataset.dataset_id}", len(dataset.items)
    for capture in captures.read_all(project, []):
        large = (captures.path_of(project, capture.capture_id) / captures.RECORDS_LARGE).exists()
        if large != other:
            yield f"capture:{capture.capture_id}", capture.n_records
    for run in runs.read_all(project, []):
        place = runs.path_of(project, run)
        large = (place / runs.ROWS_LARGE).exists()
        if (large or (place / runs.ROWS).exists()) and large != other:
            yield f"run:{run.key}", run.n_items
    for one in labels.read_all(project, []):
        large = (labels.path_of(project, one.dataset_id, one.set) / labels.LARGE).exists()
        if large != other:
            yield f"labels:{one.ref}", len(one.items)
    for reference in references.read_all(project, []):
        large = (references.path_of(project, reference.tier, reference.name) / references.LARGE).exists()
        if large != other and reference.items:
            yield f"reference:{reference.ref}", len(reference.items)


def _together(problems: Sequence[Refusal]) -> Refusal:
    if len(problems) == 1:
        return problems[0]
    return Refusal(
        "cannot-repack",
        f"{plural(len(problems), 'record')} cannot change their form, so none did",
        why=[f"{one.what}: {reason}" for one in problems for reason in one.why or ("",)],
        next="; ".join(dict.fromkeys(one.next for one in problems if one.next)) or None,
    )
