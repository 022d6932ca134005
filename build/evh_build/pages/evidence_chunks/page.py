"""The texts of a transcript log in order, some chunks a page: a journal's rows lead there."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from evh_build import fragments, urls
from evh_build.page import Crumb, Frame, Leaf, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markupsafe import Markup

    from evh.records.chunk import Chunk
    from evh_build.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A page of a log's texts.

    Attributes:
        rows: the chunks as rows of the table.
        first: the position of the first one, from 1.
        last: of the last one.
        n_chunks: how many the log has.
        previous: the page before this one.
        following: the page after it.
    """

    rows: Markup
    first: int
    last: int
    n_chunks: int
    previous: str | None
    following: str | None


def make(source: Source) -> Iterator[Leaf]:
    """Give the pages of each log's texts."""
    held = source.gathered.evidence
    for name in held.logs:
        size, home = held.size(name), source.urls.log(name)
        if size is None or not size.starts or home is None:
            continue
        chunks = held.chunks(name)
        ends = (*size.starts[1:], size.n_chunks)
        for number, (start, end) in enumerate(zip(size.starts, ends, strict=True), start=1):
            made = [_row(one, source.max_item_text) for one in islice(chunks, end - start)]
            yield Leaf(
                source.urls.chunks(name, number),
                Context(
                    title=f"Chunks {start + 1:,}–{end:,}",
                    section="evidence",
                    crumbs=(
                        Crumb("Home", urls.HOME),
                        Crumb("Evidence", urls.EVIDENCE),
                        Crumb(name, home),
                    ),
                    rows=fragments.rows(made),
                    first=start + 1,
                    last=end,
                    n_chunks=size.n_chunks,
                    previous=source.urls.chunks(name, number - 1) if number > 1 else None,
                    following=source.urls.chunks(name, number + 1) if end < size.n_chunks else None,
                ),
            )


def _row(chunk: Chunk, most: int) -> str:
    cut = "" if len(chunk.text) <= most else f'<p class="quiet">the first {most:,} characters</p>'
    text = f'<pre class="text" tabindex="0">{fragments.text(chunk.text[:most])}</pre>{cut}'
    about = f'<span class="preview">{fragments.text(chunk.source)} · about {chunk.n_tokens:,} tokens</span>'
    head = f'<span id="t{chunk.t}">t {chunk.t}</span>{about}'
    return fragments.row(head, [fragments.cell(text)])


PAGE = Page("evidence_chunks", Context, make)
