"""Markdown from the data, made safe: no raw HTML, no images, links to http, https and mailto only."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from evh_build.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

SCHEMES = ("http://", "https://", "mailto:")
LOWER_BY = 2


def render(text: str) -> Markup:
    """Return Markdown as HTML. Headings stand two levels lower: the page has its own."""
    return Markup(_parser().render(visible(text)))  # noqa: S704 - the parser escapes all but its own tags


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False})
    parser.disable("image")
    parser.validateLink = _allowed  # type: ignore[method-assign]
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    return parser


def _allowed(url: str) -> bool:
    return url.strip().lower().startswith(SCHEMES)


def _link_open(
    self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[idx].attrSet("rel", "noopener noreferrer nofollow")
    return self.renderToken(tokens, idx, options, env)


def _heading(
    self: RendererHTML, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
) -> str:
    level = min(int(tokens[idx].tag[1:]) + LOWER_BY, 6)
    tokens[idx].tag = f"h{level}"
    return self.renderToken(tokens, idx, options, env)
