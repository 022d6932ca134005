"""A public dataset made of what is private: its items stay, and no file names what they came from."""

from __future__ import annotations

import pytest

from evh.project.find import Project
from evh_build import shown, withheld
from evh_build.public import PublicGathered
from tests.evh_build.public_of import build, everything
from tests.helpers import Builder

HIDDEN = ("vault_calls", "vault_2026", "trace-77-q", "trace-78-q")
SAID = "a record that is not public"


def extended(project: Project) -> Project:
    """Write a private dataset with its capture, and a public one of another that took its items."""
    made = Builder(project)
    made.capture("vault_calls", [{"record_id": "trace-77-q"}, {"record_id": "trace-78-q"}])
    made.capture("open_calls", [{"record_id": "r1"}])
    vault = {"p1": {"capture": "vault_calls", "record_id": "trace-77-q"},
             "p2": {"capture": "vault_calls", "record_id": "trace-78-q"}}  # fmt: skip
    made.dataset("vault_2026", {"p1": "lamp\n", "p2": "door\n"}, visibility="private", lineage=vault)
    opened = {"t1": {"capture": "open_calls", "record_id": "r1"}}
    made.dataset("open_v1", {"t1": "chair\n"}, visibility="public", lineage=opened, governed=True)
    taken = {
        name: {**vault[name], "dataset": "vault_2026", "item_id": name, "pick": f"vault_2026/{name}"}
        for name in vault
    }
    copied = {"t1": {**opened["t1"], "dataset": "open_v1", "item_id": "t1"}}
    made.dataset("open_v2", {"t1": "chair\n", "p1": "lamp\n", "p2": "door\n"}, visibility="public",
                 governed=True, parent="open_v1", lineage=copied | taken)  # fmt: skip
    made.pick("open_v2", "p1", targets=("open_v3",), capture="vault_calls")
    made.labels("open_v2", "ann", {"t1": "yes", "p1": "no"})
    for name, capture in (("vault_arm", "vault_calls"), ("open_arm", "open_calls")):
        params = {"provider": "recorded", "capture": capture}
        made.config(name, params=params)
        made.run(name, "open_v2", {"t1": "yes", "p1": "no"}, params=params)
    return project


@pytest.mark.parametrize("sheets", [False, True])
def test_what_a_version_took_from_private_records_is_not_named(project: Project, sheets: bool) -> None:
    """Neither capture, dataset, pick nor record is in a byte; the item, the version and the pick say so."""
    if sheets:
        (project.root / "evh.toml").write_text("[catalog]\npublic_sheets = true\n")
        project = Project.find(home=project.root)
    files = everything(build(extended(project)).index.parent)
    for path, text in files.items():
        for name in HIDDEN:
            assert name not in text, (path, name)
            assert name not in path
    assert SAID in files["items/open_v2/p1.html"]
    assert SAID not in files["items/open_v2/t1.html"]
    assert "open_calls" in files["items/open_v2/t1.html"]
    assert files["datasets/open_v2/index.html"].count(SAID) >= 3  # of the whole, and of each item it added
    assert f"from {SAID}" in files["picks/index.html"]
    assert "captures/open_calls/index.html" in files
    assert any(path.startswith("runs/") and "open_arm" in path for path in files)
    assert not any("vault_arm" in path for path in files)


@pytest.mark.parametrize(
    ("private", "public", "why"),
    [
        (None, {}, ""),
        ({}, {}, "a private dataset was made of it"),
        ({"dataset": "made_pub"}, {}, ""),
        ({"dataset": "gone"}, {}, "a private dataset was made of it"),
        ({}, {"dataset": "made_priv"}, "no public dataset was made of it"),
        (None, {"dataset": "gone"}, "no public dataset was made of it"),
    ],
)
def test_when_a_capture_is_shown(
    project: Project, private: dict[str, str] | None, public: dict[str, str], why: str
) -> None:
    """Where a public dataset was made of it and no private one; items count where they first came in."""
    made = Builder(project)
    made.capture("calls_9", [{"record_id": "r1"}])
    made.dataset(
        "made_pub", {"a": "lamp\n"}, visibility="public", lineage={"a": {"capture": "calls_9", **public}}
    )
    if private is not None:
        lineage = {"b": {"capture": "calls_9", **private}}
        made.dataset("made_priv", {"b": "door\n"}, visibility="private", lineage=lineage)
    held = PublicGathered(project)
    told = [one.why for one in held.shown.left_out if one.noun == "capture"]
    assert told == ([why] if why else [])
    assert ("calls_9" in held.captures) is (why == "")


def test_a_part_and_a_version_of_what_is_private_say_so(project: Project) -> None:
    """A capture split from a private one, and a version of a private dataset, name neither."""
    made = Builder(project)
    made.capture("vault_calls", [{"record_id": "r1"}])
    made.capture("part_b", [{"record_id": "r1"}], split={"of": "vault_calls"}, since_capture="vault_calls")
    made.dataset(
        "vault_2026", {"p": "lamp\n"}, visibility="private", lineage={"p": {"capture": "vault_calls"}}
    )
    made.dataset("open_v2", {"t": "door\n"}, visibility="public", parent="vault_2026",
                 lineage={"t": {"capture": "part_b"}})  # fmt: skip
    files = everything(build(project).index.parent)
    assert not any("vault" in text or "vault" in path for path, text in files.items())
    for page in ("captures/part_b/index.html", "datasets/open_v2/index.html", "datasets/index.html"):
        assert SAID in files[page], page


def test_lineage_of_a_log_is_told_with_the_log_alone() -> None:
    """An item frozen from a private log has no record id; one from a public log keeps them all."""
    told = {"log": "desk", "query": "q1", "record_id": "3-abc"}
    none: frozenset[str] = frozenset()
    nothing = shown.Shown(
        datasets=none, texts=none, captures=none, sets=none, references=none, runs=none, configs=none,
        goals=none, judges=none, left_out=(), names=none, ids=frozenset({"desk"}),
    )  # fmt: skip
    assert withheld.lineage(told, nothing) == {"from": SAID}
    from dataclasses import replace

    assert withheld.lineage(told, replace(nothing, ids=none)) == told
