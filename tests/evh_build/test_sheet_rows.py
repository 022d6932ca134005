"""A row of HTML is escaped once for all its cells, and says the same as one that is escaped cell by cell."""

from __future__ import annotations

import html

from hypothesis import given
from hypothesis import strategies as st

from evh_build.sheet_rows import joined
from evh_build.text import visible

CELLS = st.lists(
    st.text().map(lambda text: text.replace("\n", " ").replace("\r", " ")), min_size=1, max_size=8
)


@given(CELLS)
def test_each_cell_is_escaped(texts: list[str]) -> None:
    """Between its tags each cell is the text escaped, hidden characters named; no markup of it survives."""
    opening = [f"<td class={n}>" for n in range(len(texts))] + ["</td>"]
    expected = "".join(
        tag + html.escape(visible(text)) for tag, text in zip(opening, [*texts, ""], strict=True)
    )
    assert joined(opening, texts) == expected


def test_hostile_cells_are_text() -> None:
    """A script, a quote and a bidi mark, by hand."""
    assert joined(["<td>", "</td><td>", "</td>"], ["<script>&'\"", "a\u202eb"]) == (
        "<td>&lt;script&gt;&amp;&#x27;&quot;</td><td>a⟨U+202E⟩b</td>"
    )
