"""What a run does about texts that are not the ones recorded: they are not asked, and nothing is lost."""

from __future__ import annotations

from collections import Counter

import pytest

from evh.project import datasets, item_texts, runs
from evh.project.find import Project
from evh.records.dataset import Dataset, Item
from tests.acts.asking import arm, rows_of, run, sent
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.servers.replies import fine
from tests.servers.scripted import Scripted

N = 40


@pytest.fixture
def build(project: Project, monkeypatch: pytest.MonkeyPatch) -> Builder:
    """The dataset ``d`` of 40 items, of which 4 are read before anything is asked."""
    monkeypatch.setattr(item_texts, "FIRST", 4)
    made = Builder(project)
    made.dataset("d", {f"i{n:02}": f"text {n}" for n in range(N)})
    return made


def test_a_missing_text_is_refused_before_any_call(build: Builder, evh: CommandLine) -> None:
    """The very last one: the server hears nothing."""
    (build.project.data / "sources/d/i39.txt").unlink()
    with Scripted([fine()]) as server:
        arm(build, server)
        told = evh.refused("item-bytes", "run", "--config", "c").out
    assert "d/i39: the item's text is not here" in told
    assert server.requests == []


@pytest.mark.parametrize("at_once", ["1", "8"])
def test_what_was_paid_for_is_kept(
    build: Builder, evh: CommandLine, monkeypatch: pytest.MonkeyPatch, at_once: str
) -> None:
    """A text that changed further on ends the run with the reason; put back, no item is asked twice.

    What is in flight when it is found is answered and kept. The thread that reads ahead is held up here, so
    that calls are made before it is found.
    """
    monkeypatch.setattr(item_texts.ReadAhead, "_read_on", lambda _: None)
    path = build.project.data / "sources/d/i20.txt"
    path.write_bytes(b"other")
    with Scripted(lambda _: fine("yes", wait_s=0.01)) as server:
        arm(build, server)
        told = evh.refused("item-bytes", "run", "--config", "c", "--concurrency", at_once).out
        assert "data/sources/d/i20.txt: the bytes are not the ones that the dataset recorded" in told
        assert len(server.requests) == 20
        (begun,) = runs.unfinished(build.project)
        half = runs.running(build.project, begun)
        assert half is not None
        kept = runs.running_rows(build.project, half)
        assert {row.item_id for row in kept} == {f"i{n:02}" for n in range(20)}
        assert all(row.output == "yes" for row in kept)
        path.write_bytes(b"text 20")
        outcome = run(evh, "--resume")
    assert set(Counter(one.body["messages"][-1]["content"] for one in server.requests).values()) == {1}
    assert set(sent(server)) == {f"text {n}" for n in range(N)}
    assert len(rows_of(build.project, outcome)) == N


@pytest.mark.parametrize("words", [(), ("--concurrency", "4")], ids=["one by one", "threads"])
def test_other_providers_stop_there_too(
    build: Builder, evh: CommandLine, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """The answers before it are kept, the item itself is never answered."""
    monkeypatch.setattr(item_texts.ReadAhead, "_read_on", lambda _: None)
    path = build.project.data / "sources/d/i20.txt"
    path.write_bytes(b"other")
    build.config("c", dataset_id="d")
    evh.refused("item-bytes", "run", "--config", "c", *words)
    (begun,) = runs.unfinished(build.project)
    half = runs.running(build.project, begun)
    assert half is not None
    assert {row.item_id for row in runs.running_rows(build.project, half)} == {f"i{n:02}" for n in range(20)}
    path.write_bytes(b"text 20")
    row = evh.ok("run", "--config", "c", "--resume", "--json").json["runs"][0]
    assert (row["n_items"], row["n_errors"]) == (N, 0)


def test_finishing_looks_at_the_texts_too(build: Builder, evh: CommandLine) -> None:
    """`--finish` asks nothing, and a run over texts that are others is not finished."""
    with Scripted([fine()]) as server:
        arm(build, server, usd_per_mtok_in=1e6)
        evh("run", "--config", "c", "--max-cost", "20")
    path = build.project.data / "sources/d/i30.txt"
    path.write_bytes(b"other")
    evh.refused("item-bytes", "run", "--config", "c", "--finish")
    path.write_bytes(b"text 30")
    assert run(evh, "--finish", code=3).json["runs"][0]["n_items"] == N


def test_bytes_that_are_no_text_fail_and_are_not_sent(project: Project, evh: CommandLine) -> None:
    """The item is a failed one, the others are asked, under a cap on the cost as well."""
    items = tuple(Item(name, "") for name in "abc")
    datasets.write_new(project, Dataset("d", items), {"a": b"\xff", "b": b"two", "c": b"three"})
    build = Builder(project)
    with Scripted([fine("yes")]) as server:
        arm(build, server, usd_per_mtok_in=1)
        for words in ((), ("--max-cost", "5")):
            outcome = run(evh, *words, code=3)
            assert [one["item_id"] for one in outcome.json["failed"]] == ["a"]
            assert "not UTF-8" in outcome.json["failed"][0]["error"]
            assert [
                row.output is not None or row.error is None for row in rows_of(project, outcome).values()
            ] == [
                False,
                True,
                True,
            ]
    assert Counter(one.body["messages"][-1]["content"] for one in server.requests) == {"two": 2, "three": 2}
