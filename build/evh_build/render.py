"""Rendering: Jinja2 with escaping on for every name, no undefined value let through, templates kept."""

from __future__ import annotations

import contextlib
import re
import traceback
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup, escape

from evh.errors import Refusal
from evh.store.hashing import sha256_text
from evh.store.text import plural
from evh_build.assets import check_inside
from evh_build.compiled import COMPILED, referenced
from evh_build.markdown import note
from evh_build.navigation import NAVIGATION
from evh_build.text import visible
from evh_build.urls import ABOUT, SEARCH, SEARCH_DATA, href, root_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evh_build.page import Leaf

DASH = "—"
_BREAK = re.compile(r"([_/.\-])")  # none of these is in what escaping puts in
_SHORT = 20
"""A name of up to so many characters without a space fits every column: it breaks nowhere."""
MOST_ASKED = 20_000
SITE_VARIABLES = {"root", "project", "asset", "theme", "navigation", "about", "search", "search_data"}
"""What every template may use beside its Context: the renderer gives them."""


class Renderer:
    """Turns a leaf into the bytes of a page.

    Args:
        folders: where templates are looked for, the project's own first.
        project: the project's name, shown in the header.
        assets: the name of each static file → the name with its content's hash.
        theme: the static file that is one more style sheet after evh's own; empty for none.
    """

    def __init__(
        self, folders: Sequence[Path], project: str, assets: dict[str, str], theme: str = ""
    ) -> None:
        self._project = project
        self._assets = assets
        self._theme = theme
        self._environment = environment(folders)
        self._closures: dict[str, str] = {}

    def render(self, name: str, leaf: Leaf) -> bytes:
        """Return a page's bytes."""
        values = {field.name: getattr(leaf.context, field.name) for field in fields(leaf.context)}
        with _told(f"pages/{name}.html"):
            text = self._environment.get_template(f"pages/{name}.html").render(
                **values,
                root=root_of(leaf.path),
                project=self._project,
                asset=self._assets,
                theme=self._theme,
                navigation=NAVIGATION,
                about=ABOUT,
                search=SEARCH,
                search_data=SEARCH_DATA,
            )
        return text.encode("utf-8")

    def prepare(self, name: str) -> None:
        """Compile a page's template and those that it leads to: no page need wait for it."""
        self.closure(name)
        with _told(f"pages/{name}.html"):
            for one in sources(self._environment, f"pages/{name}.html"):
                self._environment.get_template(one)

    def closure(self, name: str) -> str:
        """Return the digest of a page's template and of every template that it leads to."""
        if name not in self._closures:
            with _told(f"pages/{name}.html"):
                texts = sources(self._environment, f"pages/{name}.html")
            told = "".join(f"{one}\0{text}\0" for one, text in sorted(texts.items()))
            self._closures[name] = sha256_text(
                f"{told}{self._project}\0{self._theme}\0{sorted(self._assets.items())}\0{NAVIGATION!r}"
            )
        return self._closures[name]


@contextlib.contextmanager
def _told(name: str) -> Iterator[None]:
    """Turn what a template raises into a Refusal: a project may bring templates of its own."""
    try:
        yield
    except Refusal:
        raise
    except Exception as error:
        raise Refusal(
            "bad-template",
            f"the template {name} cannot be rendered",
            why=[f"{_place(error, name)}: {error}"],
            next="mend it in site_templates/, or remove it there to use the bundled one",
        ) from error


def _place(error: Exception, name: str) -> str:
    """Return the template and line that an error comes from."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"{error.name or name}: line {error.lineno}"
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".html")
    ]
    if not frames:
        return name
    parts = frames[-1].filename.replace("\\", "/").split("/site_templates/")
    return f"{parts[-1].split('/_site_templates/')[-1]}: line {frames[-1].lineno}"


class _Templates(jinja2.FileSystemLoader):
    """Templates of these folders alone: a link that leads out of them is refused, as a static file's is."""

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        found = super().get_source(environment, template)
        check_inside(Path(found[1]), [Path(one) for one in self.searchpath])
        return found


class _Sandbox(ImmutableSandboxedEnvironment):
    """The sandbox, which asks once for each type and name: pages ask for the same ones very often.

    What it answers goes by the value's type and the name alone.
    """

    _safe: ClassVar[dict[tuple[type, str], bool]] = {}

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        """Tell whether a template may have an attribute."""
        key = (type(obj), attr)
        safe = self._safe.get(key)
        if safe is None:
            if len(self._safe) > MOST_ASKED:  # names may be made by a template
                self._safe.clear()
            safe = self._safe[key] = super().is_safe_attribute(obj, attr, value)
        return safe


def environment(folders: Sequence[Path]) -> jinja2.Environment:
    """Return the templates' environment: a sandbox, for a project that came from elsewhere brings its own.

    A template sees the values of its page and nothing behind them: no attribute that begins with ``_``, and
    nothing that changes a value.
    """
    made = _Sandbox(
        loader=_Templates([str(folder) for folder in folders]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        cache_size=-1,
        bytecode_cache=COMPILED,
    )
    made.filters |= {
        "href": href,
        "figure": figure,
        "markdown": note,
        "percent": percent,
        "count": count,
        "plural": plural,
        "metric": metric_name,
        "day": day,
        "short": short,
        "scale": scale,
        "breakable": breakable,
    }
    return made


def sources(made: jinja2.Environment, name: str) -> dict[str, str]:
    """Return the text of a template and of those it leads to, by name."""
    found: dict[str, str] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in found or made.loader is None:
            continue
        text, _, _ = made.loader.get_source(made, one)
        found[one] = text
        waiting += referenced(text)
    return found


def figure(value: float | None, places: int = 3) -> str:
    """Return a number to three places; "—" for none; a true minus sign."""
    if value is None:
        return DASH
    if isinstance(value, int):
        return f"{value:,}"
    return f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")  # never a zero with a sign


def percent(value: float | None) -> str:
    """Return a share as a percentage to one place."""
    return DASH if value is None else f"{100 * value:.1f} %"


def count(value: int | None) -> str:
    """Return a count with thousands separated."""
    return DASH if value is None else f"{value:,}"


def metric_name(name: str) -> str:
    """Return a metric's key as a reader sees it: spaces for underscores."""
    return name.replace("_", " ")


def day(stamp: str | None) -> str:
    """Return the day of a time as a record writes it."""
    return stamp[:10] if stamp else DASH


def short(digest: str | None) -> str:
    """Return the first twelve digits of a digest."""
    return digest[:12] if digest else DASH


def scale(value: float, low: float, high: float, width: float) -> str:
    """Return where a value lies on an axis ``width`` long, to two places."""
    span = high - low
    place = 0.5 if span == 0 else min(max((value - low) / span, 0.0), 1.0)
    return f"{place * width:.2f}"


def breakable(text: str) -> Markup:
    """Return an id as HTML that may break after ``_ / . -``, so that a long one fits a narrow column.

    A short one breaks nowhere: not at its hyphens either.
    """
    if "-" in text and len(text) <= _SHORT and not any(one.isspace() for one in text):
        return Markup('<span class="whole">{}</span>').format(visible(text))
    return Markup(_BREAK.sub(r"\1<wbr>", str(escape(visible(text)))))  # noqa: S704 - escaped just before


def _shown(value: Any) -> Any:  # noqa: ANN401 - any value that a template prints
    """Return a printed value: hidden characters named in every text that is not HTML already."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return DASH if value is None else value
