"""Notes are Markdown, and whatever they hold is harmless."""

from __future__ import annotations

import pytest

from evh_build.markdown import document, note


def test_a_note_is_markdown() -> None:
    """Emphasis, code and a link become tags; nothing becomes nothing."""
    made = str(note("**why**: see `E-5` and [the log](https://example.org/a)"))
    assert "<strong>why</strong>" in made
    assert "<code>E-5</code>" in made
    assert 'href="https://example.org/a"' in made
    assert note(None) == note(" \n") == ""


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![x](https://example.org/x.png)",
     "[x](javascript:alert(1))", "[x](data:text/html,x)"],
)  # fmt: skip
def test_a_hostile_note_is_text(text: str) -> None:
    """No element but a paragraph and a link to http comes out of it."""
    made = str(note(text))
    assert not any(found in made for found in ("<script", "<img", 'javascript:alert(1)"', 'href="data'))


def test_a_document_has_the_words_of_its_sections() -> None:
    """The text before the first heading, then each section's, code included, marks left out."""
    made = document(
        "# T\n\nFirst *words*.\n\n## One\n\nSome `code` here.\n\n    evh run\n\n## Two\n\nLast.\n"
    )
    assert made.opening == "First words."
    assert [(one.title, one.words) for one in made.sections] == [
        ("One", "Some code here.\nevh run\n"),
        ("Two", "Last."),
    ]
    assert made.words == "T\nFirst words.\nOne\nSome code here.\nevh run\n\nTwo\nLast."
