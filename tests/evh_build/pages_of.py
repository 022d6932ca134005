"""What a built site's pages and data say, for the tests of pages."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from evh.project.find import Project
from evh_build import site


def build(project: Project) -> Path:
    """Build the catalog of a project and return its folder."""
    return site.commit(project, site.plan(project)).index.parent


def words(path: Path) -> str:
    """Return a page's text with single spaces."""
    text = re.sub(r"<(script|style).*?</\1>|<wbr>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def commands(path: Path) -> list[str]:
    """Return the commands that a page shows."""
    text = path.read_text(encoding="utf-8")
    return [html.unescape(one) for one in re.findall(r'<div class="command"><code>(.*?)</code>', text)]


def data_of(path: Path) -> dict[str, Any]:
    """Return what a data file of the search says."""
    text = path.read_text(encoding="utf-8")
    made: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return made


def found_in(folder: Path) -> dict[tuple[str, str], str]:
    """Return every entry of a small index: (kind, name) → the path that its link leads to."""
    data = data_of(folder / "search" / "data.js")
    made = {}
    for line in data["lines"].split("\n"):
        number, leaf, name, *_ = line.split("\t")
        group = data["groups"][int(number)]
        made[group["kind"], name] = group["before"] + (leaf or name) + group["after"]
    return made
