"""A path is only built from a checked id, and no two ids of a folder share a file on any system."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import Refusal
from evh.store import names

ITEM_ID = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=200).filter(
    lambda text: not text.startswith("#")
)


@pytest.mark.parametrize("good", ["a", "0", "A-b_c.d", "x" * 100, "cve_2024_h1"])
def test_an_id_of_the_layout_is_taken(good: str) -> None:
    """Letters, digits and . _ - after a letter or digit."""
    assert names.check_id(good, "dataset") == good


@pytest.mark.parametrize(
    "bad", ["", ".", "..", ".a", "-a", "_a", "a/b", "a\\b", "a b", "é", "a~b", "a\n", "x" * 101, None, 5]
)
def test_anything_else_is_no_id(bad: object) -> None:
    """Nothing that could leave a folder, hide a file, or separate names."""
    with pytest.raises(Refusal) as caught:
        names.check_id(bad, "dataset")
    assert caught.value.code == "bad-id"


@pytest.mark.parametrize("bad", ["", "#1", "a\nb", "a\x00", "\x85", "\ud800", "x" * 201, None, 5])
def test_an_item_id_has_no_control_characters_and_no_hash_in_front(bad: object) -> None:
    """Each is told why."""
    assert names.bad_item_id(bad)


@pytest.mark.parametrize(
    ("item_id", "stem"),
    [
        ("CVE-2024-1", "CVE-2024-1"),
        ("a b", "a%20b"),
        ("é", "%C3%A9"),
        ("..", "%2E."),
        (".git", "%2Egit"),
        ("a/../b", "a%2F..%2Fb"),
        ("100%", "100%25"),
        # printf con | sha256sum begins with 1143da2bc54c
        ("con", "con~1143da2bc54c"),
    ],
)
def test_the_stem_of_an_item_id_is_as_the_layout_says(item_id: str, stem: str) -> None:
    """Bytes outside A-Za-z0-9._- are percent-encoded, a leading dot too; a device gets a digest."""
    assert names.item_stem(item_id) == stem


@pytest.mark.parametrize("device", ["CON", "nul", "Com1", "lpt9", "aux.txt", "PRN.a.b"])
def test_a_devices_name_gets_a_digest(device: str) -> None:
    """With an ending too, as Windows reads it."""
    assert "~" in names.item_stem(device)


@given(ITEM_ID)
def test_a_stem_is_a_safe_file_name(item_id: str) -> None:
    """Whatever the id: no separator, no leading dot, 120 characters at most, ASCII."""
    stem = names.item_stem(item_id)
    assert names.bad_item_id(item_id) is None
    assert 0 < len(stem) <= 120
    assert not stem.startswith(".")
    assert set(stem) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-%~")


@given(st.lists(ITEM_ID, unique=True, max_size=20))
def test_no_two_ids_of_a_folder_share_a_file(ids: list[str]) -> None:
    """Also where case is ignored; and a reader finds each id's file among its possible stems."""
    stems = names.item_stems(ids)
    assert len({stem.lower() for stem in stems.values()}) == len(ids)
    assert all(stems[item_id] in names.possible_stems(item_id) for item_id in ids)


def test_ids_that_differ_by_case_alone_get_a_digest_each() -> None:
    """Both, so that neither depends on the other's being there first."""
    assert [stem.partition("~")[0] for stem in names.item_stems(["Ab", "aB", "c"]).values()] == [
        "Ab",
        "aB",
        "c",
    ]
    assert (
        names.item_stems(["Ab", "aB"])["Ab"] == "Ab~" + names.item_stems(["Ab", "AB"])["Ab"].partition("~")[2]
    )


def test_a_raw_name_of_another_tree_is_tried_last_and_never_leads_out() -> None:
    """`a b` may lie as `a b.txt`; a name with a slash, or of dots, is never tried raw."""
    assert list(names.possible_stems("a b"))[-1] == "a b"
    assert all("/" not in stem for stem in names.possible_stems("../x"))
    assert ".." not in names.possible_stems("..")
