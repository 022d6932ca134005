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
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "line 1: access to attribute '__class__'"),
        ("{{ cycler.__init__.__globals__ }}", "line 1: access to attribute '__init__'"),
        ("{{ ''|attr('__class__') }}", "line 1: access to attribute '__class__'"),
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


def test_a_template_runs_no_code_of_its_own(evh: CommandLine) -> None:
    """The way out through a class's subclasses, to a shell, ends at its first step: no file is made."""
    own = Path(evh.root) / "site_templates" / "pages" / "home.html"
    own.parent.mkdir(parents=True)
    shell = (
        "{% if one.__name__ == '_wrap_close' %}{{ one.__init__.__globals__.system('touch ran') }}{% endif %}"
    )
    own.write_text(
        "{% for one in ''.__class__.__base__.__subclasses__() %}"
        + shell.replace("ran", f"{evh.root}/ran")
        + "{% endfor %}",
        encoding="utf-8",
    )
    evh.refused("bad-template", "catalog-build")
    assert not (Path(evh.root) / "ran").exists()
    assert not (Path(evh.root) / ".build").exists()


def test_a_template_changes_no_value(evh: CommandLine) -> None:
    """A list that a page is filled from cannot be added to: other pages read it too."""
    own = Path(evh.root) / "site_templates" / "pages" / "home.html"
    own.parent.mkdir(parents=True)
    own.write_text("{{ asset.clear() }}", encoding="utf-8")
    evh.refused("bad-template", "catalog-build")
