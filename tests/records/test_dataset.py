"""A dataset's items by id: the same mapping each time, and a changed dataset's own."""

from __future__ import annotations

from dataclasses import replace

from evh.records.dataset import Dataset, Item


def test_the_items_by_id_are_made_once() -> None:
    """Asking for each of many items costs no walk over all of them."""
    dataset = Dataset("d", (Item("a", "1"), Item("b", "2")))
    assert dataset.by_id is dataset.by_id
    assert {key: item.sha256 for key, item in dataset.by_id.items()} == {"a": "1", "b": "2"}


def test_a_copy_with_other_items_has_its_own() -> None:
    """What was made for one dataset is never another's, and equal datasets stay equal."""
    dataset = Dataset("d", (Item("a", "1"),))
    assert dataset.by_id.keys() == {"a"}
    assert replace(dataset, items=(Item("b", "2"),)).by_id.keys() == {"b"}
    assert dataset == Dataset("d", (Item("a", "1"),))
    assert "_known" not in repr(dataset)
