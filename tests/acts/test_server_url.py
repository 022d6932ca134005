"""Which addresses a model server can be asked at, and which are refused before anything is asked."""

from __future__ import annotations

import pytest

from evh.acts.server_url import bad_url
from evh.project.find import Project
from tests.acts.asking import arm, three_fields
from tests.conftest import CommandLine


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000/v1",
        "https://api.example.com/v1/",
        "http://127.0.0.1:9/v1",
        "http://[::1]:80/v1",
        "http://[fe80::1%25eth0]:80/v1",
        "http://a_b.example/v1",
        "http://é.example/v1",
        f"http://{'a' * 63}.example/v1",
    ],
)
def test_an_address_that_can_be_asked(url: str) -> None:
    """Names, addresses of both kinds, names in other scripts, and a part of 63 signs, the most there is."""
    assert bad_url(url) is None


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"http://{'a' * 64}.example/v1", "a part of it is empty or longer than 63 signs"),
        ("http://a..b/v1", "a part of it is empty or longer than 63 signs"),
        ("http://xn--a/v1", "no network can look up"),
        ("http://\u0301a.example/v1", "no network can look up"),
        ("http://a b.example/v1", "a blank in the server's name"),
        ("http://h:0/v1", "the port 0"),
        ("http://h:99999/v1", "is not a URL"),
        ("ftp://h/v1", "begins with http:// or https://"),
        ("http://me:pw@h/v1", "holds a password"),
        ("http://h/v1?key=1", "holds a query"),
        ("http://h/v1/chat/completions/", "leave /chat/completions off"),
    ],
)
def test_an_address_that_cannot(url: str, said: str) -> None:
    """A name that no network can look up would end in a traceback of the network; each is told in words."""
    found = bad_url(url)
    assert found is not None
    assert said in found


def test_the_setting_is_named(project: Project, evh: CommandLine) -> None:
    """An arm's and the labeler's: refused with the setting, before any call."""
    url = f"http://{'a' * 64}.example/v1"
    arm(three_fields(project), None, base_url=url)
    said = "holds a server's name that no network can look up: a part of it is empty or longer than 63 signs"
    why = evh.refused("bad-params", "run", "--config", "c").json["refused"]["why"]
    assert why == [f"c: params.base_url: {said}"]
    (project.root / "l.jsonl").write_text('{"text": "a chunk"}\n')
    evh.ok("log-import", project.root / "l.jsonl", "--project", "p", "--format", "jsonl")
    evh.ok("query-add", "--project", "p", "--query", "q", "--question", "is it?")
    words = ("label-evidence", "--project", "p", "--query", "q", "--base-url", url)
    assert evh.refused("bad-settings", *words).json["refused"]["why"] == [f"base_url: {said}"]
