"""The list of transcript logs whose chunks are labelled as evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class LogView:
    """A log in the list: its size, its questions, its journals and the range of their label rates."""

    name: str
    path: str | None
    n_chunks: int | None
    n_distinct: int | None
    n_questions: int
    n_journals: int
    n_measured: int
    n_decided: int
    n_failed: int
    lowest: float | None
    highest: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The list of logs.

    Attributes:
        logs: a log a row, by name.
        proxy: a journal has no random slice by a person.
    """

    logs: tuple[LogView, ...]
    proxy: bool


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    views = tuple(_view(source, name) for name in source.gathered.evidence.logs)
    yield Leaf(
        urls.EVIDENCE,
        Context(
            title="Evidence",
            section="evidence",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command("cut transcripts into a log", "log-import", "FILE", "--project", "P"),
                command(
                    "ask a question of it",
                    "query-add", "--project", "P", "--query", "Q", "--question", "…",
                ),
                command("label its chunks", "label-evidence", "--project", "P", "--query", "Q"),
                command(
                    "try it without a server, by a lexical baseline",
                    "label-evidence", "--project", "P", "--all-queries", "--provider", "overlap",
                ),
            ),
            logs=views,
            proxy=any(one.n_measured < one.n_journals for one in views),
        ),
    )  # fmt: skip


def _view(source: Source, name: str) -> LogView:
    held = source.gathered.evidence
    size, reports = held.size(name), held.reports(name)
    rates = [rate for one in reports if (rate := one.summary.label_rate.share) is not None]
    return LogView(
        name=name,
        path=source.urls.log(name),
        n_chunks=size.n_chunks if size else None,
        n_distinct=size.n_distinct if size else None,
        n_questions=len(held.queries(name)),
        n_journals=len(reports),
        n_measured=sum(one.people is not None for one in reports),
        n_decided=sum(one.summary.n_decided > 0 for one in reports),
        n_failed=sum(one.summary.n_failed for one in reports),
        lowest=min(rates, default=None),
        highest=max(rates, default=None),
    )


PAGE = Page("evidence", Context, make)
