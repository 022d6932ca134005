"""A transcript log: its size, its questions, and each journal's label rate against the update rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import evidence_figures, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.evidence_figures import JournalView
    from evh_build.forest import Axis
    from evh_build.page import Command
    from evh_build.source import Source

MOST_SOURCES = 50


@dataclass(frozen=True, slots=True)
class Open:
    """A question that has no journal yet."""

    query_id: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The page of a log.

    Attributes:
        n_chunks: its places; None where the log cannot be read.
        n_distinct: different contents.
        n_tokens: bytes / 4.
        sources: the files that the chunks come from, the first ones, with how many.
        n_sources: how many files.
        chunks: the first page of its texts.
        journals: a journal a row, in the order of the questions.
        axis: what their pictures share.
        open: the questions without a journal.
        proxy: a journal has no random slice by a person.
    """

    n_chunks: int | None
    n_distinct: int
    n_tokens: int
    sources: tuple[tuple[str, int], ...]
    n_sources: int
    chunks: str | None
    journals: tuple[JournalView, ...]
    axis: Axis
    open: tuple[Open, ...]
    proxy: bool


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a log."""
    held = source.gathered.evidence
    for name in held.logs:
        path = source.urls.log(name)
        if path is None:
            continue
        size, queries = held.size(name), held.queries(name)
        order = {one.query_id: at for at, one in enumerate(queries)}
        views = sorted(
            (evidence_figures.view(source, one) for one in held.reports(name)),
            key=lambda one: (order.get(one.query_id, len(order)), one.journal),
        )
        begun = {one.query_id for one in views}
        files = sorted(size.sources.items()) if size else []
        yield Leaf(
            path,
            Context(
                title=name,
                section="evidence",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Evidence", urls.EVIDENCE)),
                commands=_commands(source, name),
                n_chunks=size.n_chunks if size else None,
                n_distinct=size.n_distinct if size else 0,
                n_tokens=size.n_tokens if size else 0,
                sources=tuple(files[:MOST_SOURCES]),
                n_sources=len(files),
                chunks=source.urls.chunks(name, 1) if size and size.n_chunks else None,
                journals=tuple(views),
                axis=evidence_figures.axis(views),
                open=tuple(Open(one.query_id, one.question) for one in queries if one.query_id not in begun),
                proxy=any(not one.measured for one in views),
            ),
        )


def _commands(source: Source, name: str) -> tuple[Command, ...]:
    from evh.acts import evidence_command

    asked = {
        evidence_command.options(source.gathered.project, one.settings)
        for one in source.gathered.evidence.reports(name)
        if one.settings is not None and not one.at.name
    }
    options = next(iter(asked)) if len(asked) == 1 else ()  # one command cannot ask in two ways
    return (
        command("the same on the terminal", "evidence-report", "--project", name),
        command(
            "label what has no label yet", "label-evidence", "--project", name, "--all-queries", *options
        ),
        command("ask another question", "query-add", "--project", name, "--query", "Q", "--question", "…"),
    )


PAGE = Page("evidence_project", Context, make)
