"""Texts read ahead: each held against its hash, missing ones told at once, no more in memory than is let."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project import datasets, item_texts
from evh.project.find import Project
from evh.project.item_texts import ReadAhead
from evh.records.dataset import Dataset
from tests.helpers import Builder

N = 300


@pytest.fixture
def dataset(project: Project) -> Dataset:
    """The dataset ``d`` of 300 items, more than are read before anything is asked."""
    assert item_texts.FIRST < N - 10
    return Builder(project).dataset("d", {f"i{n:03}": f"text {n}" for n in range(N)})


def path_of(project: Project, n: int) -> Path:
    """Return the file of an item's text."""
    return project.data / "sources" / "d" / f"i{n:03}.txt"


def refused(ahead: ReadAhead) -> tuple[str, ...]:
    """Return the reasons with which texts are refused when all are asked for."""
    with pytest.raises(Refusal) as caught, ahead as texts:
        texts.check()
    assert caught.value.code == "item-bytes"
    return caught.value.why


def changed(n: int) -> str:
    """Return the reason that a text gives whose bytes changed."""
    return f"data/sources/d/i{n:03}.txt: the bytes are not the ones that the dataset recorded"


@pytest.mark.parametrize("most", [0, 40, 1 << 20])
def test_each_text_is_the_one_recorded(
    project: Project, dataset: Dataset, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """In order, whether they fit into memory, hardly or not at all; a wanted few among many too."""
    monkeypatch.setattr(item_texts, "AHEAD_BYTES", most)
    for wanted in (dataset.items, dataset.items[7:200:3]):
        with ReadAhead(project, dataset, dataset.items, wanted) as texts:
            got = [texts.text(one) for one in wanted]
            assert texts.sound
            texts.check()
        assert got == [f"text {int(one.item_id[1:])}".encode() for one in wanted]


def test_a_missing_text_is_told_before_anything_is_asked(project: Project, dataset: Dataset) -> None:
    """The last one as well as the first, and a folder in its place is no text."""
    path_of(project, 3).unlink()
    path_of(project, N - 1).unlink()
    path_of(project, N - 2).unlink()
    path_of(project, N - 2).mkdir()
    with (
        pytest.raises(Refusal) as caught,
        ReadAhead(project, dataset, dataset.items, dataset.items),
    ):
        raise AssertionError
    assert set(caught.value.why) == {
        f"d/{name}: the item's text is not here" for name in ("i003", "i298", "i299")
    }


def test_a_changed_text_among_the_first_is_told_before_anything_is_asked(
    project: Project, dataset: Dataset
) -> None:
    """Entering is refused."""
    path_of(project, 5).write_bytes(b"other")
    with (
        pytest.raises(Refusal) as caught,
        ReadAhead(project, dataset, dataset.items, dataset.items),
    ):
        raise AssertionError
    assert caught.value.why == (changed(5),)


def test_changed_texts_further_on_are_found_without_being_asked_for(
    project: Project, dataset: Dataset
) -> None:
    """While nothing takes a text: `sound` says no soon, and `check` names every one."""
    for n in (280, 250):
        path_of(project, n).write_bytes(b"other")
    with ReadAhead(project, dataset, dataset.items, dataset.items) as texts:
        end = time.monotonic() + 10
        while texts.sound and time.monotonic() < end:
            time.sleep(0.001)
        assert not texts.sound
    assert refused(ReadAhead(project, dataset, dataset.items, dataset.items)) == (changed(250), changed(280))


def test_a_text_that_nobody_wants_must_be_the_recorded_one_too(project: Project, dataset: Dataset) -> None:
    """The items that an earlier attempt answered are part of what was run."""
    path_of(project, 290).write_bytes(b"other")
    assert refused(ReadAhead(project, dataset, dataset.items, dataset.items[:2])) == (changed(290),)
    assert refused(ReadAhead(project, dataset, dataset.items, ())) == (changed(290),)


def test_a_taker_that_overtakes_the_thread_gets_the_same(
    project: Project, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks before the thread was there reads by itself; what changed is no text, and told once."""
    path_of(project, 299).write_bytes(b"other")
    go = threading.Event()
    real = ReadAhead._read_on

    def held_up(ahead: ReadAhead) -> None:
        go.wait(10)
        real(ahead)

    monkeypatch.setattr(ReadAhead, "_read_on", held_up)
    with ReadAhead(project, dataset, dataset.items, dataset.items) as texts:
        assert [texts.text(one) for one in dataset.items[:299]] == [f"text {n}".encode() for n in range(299)]
        before = texts.sound
        assert texts.text(dataset.items[299]) is None
        after = texts.sound
        go.set()
        with pytest.raises(Refusal) as caught:
            texts.check()
    assert (before, after) == (True, False)
    assert caught.value.why == (changed(299),)


@pytest.mark.parametrize("inside", [True, False])
def test_a_link_is_followed_only_where_it_stays_in_the_project(
    project: Project, tmp_path_factory: pytest.TempPathFactory, dataset: Dataset, inside: bool
) -> None:
    """A text that is a link, and a folder of texts that is one."""
    away = project.root / "away" if inside else tmp_path_factory.mktemp("away")
    away.mkdir(exist_ok=True)
    (away / "text").write_bytes(b"text 200")
    path_of(project, 200).unlink()
    path_of(project, 200).symlink_to(away / "text")
    if inside:
        assert datasets.item_bytes(project, dataset, dataset.items[200]) == b"text 200"
    else:
        missing = ("d/i200: the item's text is not here",)
        assert refused(ReadAhead(project, dataset, dataset.items, dataset.items)) == missing
    path_of(project, 200).unlink()
    path_of(project, 200).write_bytes(b"text 200")
    folder = project.data / "sources" / "d"
    folder.rename(away / "texts")
    folder.symlink_to(away / "texts")
    if inside:
        assert len(datasets.texts(project, dataset)) == N
    else:
        assert len(refused(ReadAhead(project, dataset, dataset.items, dataset.items))) == N


def test_texts_in_parquet_are_held_against_their_hashes_too(project: Project) -> None:
    """Over 5,000 items: the last text as well."""
    made = Builder(project).dataset("big", {f"i{n}": f"text {n}" for n in range(5_001)})
    with ReadAhead(project, made, made.items, made.items[-2:]) as texts:
        assert [texts.text(one) for one in made.items[-2:]] == [b"text 4999", b"text 5000"]
        texts.check()
    path = project.data / "datasets" / "big.items.parquet"
    other = Builder(project).dataset("twin", {f"i{n}": f"text {n or 'x'}" for n in range(5_001)})
    assert other.items_file is not None
    path.write_bytes((path.parent / other.items_file).read_bytes())
    assert refused(ReadAhead(project, made, made.items, ())) == (
        "big.items.parquet: i0: the bytes are not the ones that the dataset recorded",
    )
