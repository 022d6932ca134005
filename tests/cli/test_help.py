"""`evh help`: the guide on the terminal."""

from __future__ import annotations

import re
from pathlib import Path

from evh.cli.help import ORDER
from tests.conftest import CommandLine
from tests.schema import check


def test_it_lists_its_pages(evh: CommandLine) -> None:
    """Without a topic every page is named with its first line."""
    told = evh.ok("help").out
    assert "adapters       Adapters: your code, in one file" in told
    check(evh.ok("help", "--json").json, "help")


def test_it_begins_with_the_tutorial(evh: CommandLine) -> None:
    """The pages stand in the order of reading them, every one of them, and the tutorial is next."""
    told = evh.ok("help").out
    pages = [line.split()[0] for line in told.split("next:")[0].splitlines() if line.strip()]
    assert pages == list(ORDER)
    assert told.rstrip().endswith("evh help tutorial")
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    table = readme[readme.index("| [tutorial](evh/guide/tutorial.md)") :]
    assert list(dict.fromkeys(re.findall(r"evh/guide/([a-z-]+)\.md", table))) == list(ORDER)


def test_it_prints_a_page(evh: CommandLine) -> None:
    """A topic is printed as it was written."""
    assert "def recorded_output(record):" in evh.ok("help", "adapters").out


def test_an_unknown_topic_is_refused(evh: CommandLine) -> None:
    """The refusal names the pages that there are."""
    told = evh.refused("no-such-topic", "help", "adaptors").json["refused"]
    assert "adapters, catalog, configs" in told["why"][0]
