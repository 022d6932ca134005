"""A project's own template that is wrong is told, and the site that was there stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CommandLine


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{{ nope.x }}", "line 1: 'nope' is undefined"),
        ("one\n{% if %}", "line 2"),
        ("{{ 1 / 0 }}", "line 1: division by zero"),
        ('{% extends "gone.html" %}', "gone.html"),
    ],
)
def test_a_bad_template_is_refused_with_its_line(evh: CommandLine, text: str, why: str) -> None:
    """The refusal names the template and the line; the built site is as it was."""
    evh.ok("catalog-build")
    before = (evh.root / ".build" / "catalog" / "index.html").read_bytes()
    own = Path(evh.root) / "site_templates" / "pages" / "home.html"
    own.parent.mkdir(parents=True)
    own.write_text(text, encoding="utf-8")
    told = evh.refused("bad-template", "catalog-build").json["refused"]
    assert "home.html" in told["what"]
    assert why in told["why"][0]
    assert (evh.root / ".build" / "catalog" / "index.html").read_bytes() == before
