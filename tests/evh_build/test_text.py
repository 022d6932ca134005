from __future__ import annotations

import html
import subprocess
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh_build.markdown import render
from evh_build.text import shell_word, visible


def test_hidden_characters_are_named() -> None:
    """A bidi override, a zero-width space, an escape and a lone surrogate show as what they are."""
    assert visible("a\u202eb") == "a⟨U+202E⟩b"
    assert visible("a\u200bb\x1b\ud800") == "a⟨U+200B⟩b⟨U+001B⟩⟨U+D800⟩"
    assert visible("line\r\nline\ttab") == "line\nline\ttab"


@given(st.text())
def test_what_is_shown_holds_no_control_or_bidi_mark(text: str) -> None:
    """Whatever comes in, nothing goes out that reorders or hides text, and it is UTF-8."""
    shown = visible(text)
    shown.encode("utf-8")
    assert not {char for char in shown if unicodedata.category(char) in {"Cc", "Cs"}} - {"\n", "\t"}
    assert not {char for char in shown if unicodedata.bidirectional(char) in
                {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}}  # fmt: skip


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def _tags(text: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Tags()
    parser.feed(text)
    return parser.found


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html,<script>1</script>)",
        "[x](file:///etc/passwd)",
        "[x](vbscript:1)",
        "[x](//example.org)",
        "[x](../../secret)",
        "<javascript:alert(1)>",
        "![x](https://example.org/i.png)",
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
    ],
)
def test_markdown_makes_no_other_link_image_or_html(text: str) -> None:
    """What is not a link to http, https or mailto stays text."""
    for tag, attributes in _tags(render(text)):
        assert tag in {"p", "a", "em", "strong"}
        assert str(attributes.get("href", "https://")).startswith("https://")


def test_markdown_links_say_that_they_lead_out() -> None:
    """A link to the web gives no referrer and no opener."""
    assert _tags(render("[x](https://example.org/?a=b&c)")) == [
        ("p", {}),
        ("a", {"href": "https://example.org/?a=b&c", "rel": "noopener noreferrer nofollow"}),
    ]


def test_markdown_headings_stand_below_the_page_s_own() -> None:
    """A page has one h1; a guideline's first heading is h3."""
    assert [tag for tag, _ in _tags(render("# one\n\n## two\n\n##### five"))] == ["h3", "h4", "h6"]


@given(st.text(alphabet="<>&\"'`[]()!:javscript/ \n#*_\\", max_size=60))
def test_markdown_never_runs(text: str) -> None:
    """No text of the characters that make HTML and links gives a tag or a target that runs."""
    for tag, attributes in _tags(render(text)):
        assert tag not in {"script", "img", "iframe", "style", "svg"}
        assert not any(name.startswith("on") for name in attributes)
        target = html.unescape(str(attributes.get("href", "https://"))).strip().lower()
        assert target.startswith(("http://", "https://", "mailto:"))


WORDS = [
    "plain-1", "it's", "a b", "a\u202eb", "\ufeffx", "a\u2028b", "a\nb\tc", "q'\\\u200b'", "\x1b[31mred\x07",
    "$(id)\u2066`x`",
    "\u202e11", "長\U000e0041z", "-x\u00ad",
]  # fmt: skip
"""Ids as they may be, and as a terminal would not show them."""


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_a_command_is_read_back_by_bash(word: str) -> None:
    """The line holds nothing that cannot be seen, and bash makes the very same bytes of it."""
    line = shell_word(word)
    assert visible(line) == line
    assert "\n" not in line
    env = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    read = subprocess.run(["bash", "-c", f"printf %s {line}"], capture_output=True, check=True, env=env)
    assert read.stdout == word.encode()


def test_what_no_argument_can_hold_is_replaced() -> None:
    """NUL and a lone surrogate are no part of any argument."""
    assert shell_word("a\x00b\ud800") == "$'a\ufffdb\ufffd'"
