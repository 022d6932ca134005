from __future__ import annotations

import pytest

from evh_build.links import broken


def _page(body: str) -> bytes:
    return f'<a href="{body}">x</a><h2 id="here">y</h2>'.encode()


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("b.html", "no such file"),
        ("../a.html", "no such file"),
        ("#there", "no such place"),
        ("d/index.html#there", "no such place"),
        ("d/", "no such file"),
        ("/a.html", "neither"),
        ("javascript:1", "neither"),
        ("data:text/html,x", "neither"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(target: str, reason: str) -> None:
    """A missing file, a missing fragment, a link to a folder, an absolute one and other schemes are told."""
    pages = {"a.html": _page(target), "d/index.html": _page("#here")}
    found = broken(pages.items(), pages)
    assert len(found) == 1
    assert reason in found[0]
    assert found[0].startswith("a.html: ")


@pytest.mark.parametrize(
    "target",
    ["a.html", "d/index.html#here", "#here", "https://example.org/", "mailto:a@example.org", "d%2520e.txt"],
)
def test_a_link_that_leads_somewhere_is_let_through(target: str) -> None:
    """Relative files, fragments, percent-encoded names and the web are fine."""
    pages = {"a.html": _page(target), "d/index.html": _page("../a.html")}
    assert broken(pages.items(), [*pages, "d%20e.txt"]) == []


def test_equal_pages_in_two_folders_lead_to_two_places() -> None:
    """The same bytes twice: from one folder the link leads somewhere, from the other one nowhere."""
    same = _page("b.html")
    pages = {"a.html": same, "b.html": _page("#here"), "d/a.html": same}
    assert [line.split(":")[0] for line in broken(pages.items(), pages)] == ["d/a.html"]


def test_every_page_with_a_broken_link_is_told() -> None:
    """Two links of one page and one of another lead to the same missing page: a line each."""
    both = b'<a href="no.html">x</a><a href="../e/no.html">y</a>'
    pages = {"e/a.html": both, "f/a.html": _page("../e/no.html")}
    assert broken(pages.items(), pages) == [
        "e/a.html: ../e/no.html: there is no such file in the site",
        "e/a.html: no.html: there is no such file in the site",
        "f/a.html: ../e/no.html: there is no such file in the site",
    ]
