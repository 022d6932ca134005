"""`evh help`: the guide on the terminal."""

from __future__ import annotations

from tests.conftest import CommandLine
from tests.schema import check


def test_it_lists_its_pages(evh: CommandLine) -> None:
    """Without a topic every page is named with its first line."""
    told = evh.ok("help").out
    assert "adapters       Adapters: your code, in one file" in told
    check(evh.ok("help", "--json").json, "help")


def test_it_prints_a_page(evh: CommandLine) -> None:
    """A topic is printed as it was written."""
    assert "def recorded_output(record):" in evh.ok("help", "adapters").out


def test_an_unknown_topic_is_refused(evh: CommandLine) -> None:
    """The refusal names the pages that there are."""
    told = evh.refused("no-such-topic", "help", "adaptors").json["refused"]
    assert "adapters, catalog, configs" in told["why"][0]
