"""Markdown made safe: no raw HTML, no images, links to http, https and mailto only.

The guide's own pages may link to each other beside that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from evh_build.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

SCHEMES = ("http://", "https://", "mailto:")
LOWER_BY = 2
KEPT = 1_024
"""How many rendered texts are kept while the process lives: a build that follows renders none again."""
_TOPIC = re.compile(r"([a-z0-9-]+)\.md(#[\w-]+)?")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document: its heading's text, the place on the page, and the words below it.

    ``words`` has no marks of Markdown; code is part of it.
    """

    title: str
    anchor: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document: the text of its first heading, the start of its first paragraph, the rest as HTML.

    ``opening`` is the text before the first section, ``words`` all of its text.
    """

    title: str
    lead: str
    html: Markup
    sections: tuple[Section, ...]
    opening: str = ""

    @property
    def words(self) -> str:
        """All of its text: the title, and each section with its heading."""
        parts = ((one.title, one.words) for one in self.sections)
        return "\n".join([self.title, self.opening, *(text for part in parts for text in part)])


@lru_cache(maxsize=KEPT)
def render(text: str) -> Markup:
    """Return Markdown as HTML. Headings stand two levels lower: the page has its own."""
    parser = _parser()
    tokens = parser.parse(visible(text))
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1:]) + LOWER_BY, 6)}"
    return _html(parser, tokens)


def note(text: str | None) -> Markup:
    """Return what a person wrote beside a record, Markdown, as HTML; nothing for none."""
    return render(text) if text and text.strip() else Markup()


@lru_cache(maxsize=KEPT)
def document(text: str) -> Document:
    """Return a page of the guide: its title apart, a place for each heading, links to other pages kept."""
    parser = _parser(within=True)
    tokens = parser.parse(visible(text))
    title = lead = ""
    sections: list[Section] = []
    anchors: set[str] = set()
    told: list[list[str]] = [[]]
    for at, token in enumerate(tokens):
        if token.type in {"fence", "code_block"}:
            told[-1].append(token.content)
        elif token.type == "inline" and tokens[at - 1].type != "heading_open":
            told[-1].append(_plain(token))
        if token.type == "paragraph_open" and not lead and tokens[at + 1].type == "inline":
            lead = _plain(tokens[at + 1])
        if token.type != "heading_open":
            continue
        words = _plain(tokens[at + 1])
        if token.tag == "h1":
            title = title or words
        else:
            anchor = _anchor(words, anchors)
            token.attrSet("id", anchor)
            sections.append(Section(words, anchor))
            told.append([])
    kept = tokens[3:] if tokens and tokens[0].tag == "h1" else tokens
    opening, *below = ("\n".join(parts) for parts in told)
    parts = (replace(one, words=text) for one, text in zip(sections, below, strict=True))
    return Document(title, lead, _html(parser, kept), tuple(parts), opening)


def _html(parser: MarkdownIt, tokens: Sequence[Token]) -> Markup:
    for token in tokens:
        if "style" in token.attrs:  # a cell's alignment: the policy forbids styles of an element's own
            aligned = str(token.attrs.pop("style"))
            if "right" in aligned:
                token.attrSet("class", "num")
    made = parser.renderer.render(tokens, parser.options, {})
    return Markup(made)  # noqa: S704 - the parser escapes all but its own tags


@cache
def _parser(*, within: bool = False) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False})
    parser.disable("image")
    parser.validateLink = _allowed_within if within else _allowed  # type: ignore[method-assign]
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _allowed(url: str) -> bool:
    return url.strip().lower().startswith(SCHEMES)


def _allowed_within(url: str) -> bool:
    return _allowed(url) or _TOPIC.fullmatch(url) is not None


def _link_open(
    self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[idx]
    topic = _TOPIC.fullmatch(str(token.attrGet("href") or ""))
    if topic:
        token.attrSet("href", f"{topic[1]}.html{topic[2] or ''}")
    else:
        token.attrSet("rel", "noopener noreferrer nofollow")
    return self.renderToken(tokens, idx, options, env)


def _code(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: object) -> str:
    """Return a block of code that the keyboard can scroll."""
    return f'<pre tabindex="0"><code>{escape(tokens[idx].content)}</code></pre>\n'


def _table_open(*_: object) -> str:
    return '<div class="scroll" tabindex="0" role="group" aria-label="Table">\n<table>\n'


def _table_close(*_: object) -> str:
    return "</table>\n</div>\n"


def _plain(inline: Token) -> str:
    """Return the words of a line of text, without its marks."""
    parts = [" " if one.type.endswith("break") else one.content for one in inline.children or ()]
    return " ".join("".join(parts).split())


def _anchor(words: str, taken: set[str]) -> str:
    stem = re.sub(r"[^\w]+", "-", words.lower()).strip("-") or "part"
    made, n = stem, 1
    while made in taken:
        n += 1
        made = f"{stem}-{n}"
    taken.add(made)
    return made
