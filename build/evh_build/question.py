"""What the process of a query is asked and what it says: known at both ends, and light enough for both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evh.errors import Refusal

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh_build.gather import Problem


@dataclass(frozen=True, slots=True)
class Question:
    """One SELECT. The answer comes as rows, or as the bytes of one Parquet file."""

    project: Project
    sql: str
    seconds: float
    parquet: bool


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer: its name, unique in the answer, and DuckDB's name of its type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Head:
    """The first thing that an answer says: its columns, how many rows follow, and what could not be read."""

    columns: tuple[Column, ...]
    n_rows: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A Refusal on its way between two processes."""

    code: str
    what: str
    why: tuple[str, ...]
    next: str | None

    @classmethod
    def of(cls, refusal: Refusal) -> Refused:
        """Return what a Refusal says."""
        return cls(refusal.code, refusal.what, refusal.why, refusal.next)

    def refusal(self) -> Refusal:
        """Return the Refusal again."""
        return Refusal(self.code, self.what, why=self.why, next=self.next)


def too_large() -> Refusal:
    """Return the Refusal for a query that needs too much memory."""
    return Refusal(
        "too-large",
        "the query needs more memory than it may have",
        why=["it was stopped"],
        next="ask for fewer rows or columns, or for counts",
    )


def too_slow(seconds: float) -> Refusal:
    """Return the Refusal for a query that ran longer than it may."""
    return Refusal(
        "too-slow",
        f"the query was stopped after {seconds:g} seconds",
        why=["it was still running"],
        next="ask for less, or allow more with --seconds",
    )


def spill(project: Project, process: int) -> Path:
    """Return where DuckDB puts what does not fit in memory: each process has its own folder in the cache."""
    return project.writable(project.cache / "duckdb" / str(process))
