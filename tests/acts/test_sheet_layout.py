"""What sheets and tests of one project share is made once, and anew when a record of it changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evh.acts import field_table, field_tests
from evh.acts.sheet import build_sheet
from evh.acts.sheet_layout import lay_out
from evh.acts.sources import Sources
from evh.project import memory
from evh.project.find import Project
from evh.project.memory import Memory
from evh.store.hashing import sha256
from tests.evh_build.projects import decided


@pytest.fixture
def kept(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project of several arms with a memory, whose files count as old."""
    monkeypatch.setattr(memory, "SETTLED_S", 0.0)
    return replace(decided(project), memory=Memory())


def _look(kept: Project) -> Sources:
    """Return the records as another look finds them."""
    assert kept.memory is not None
    kept.memory.look_again()
    return Sources(kept)


def _rescore(kept: Project, name: str, old: bytes, new: bytes) -> None:
    """Write other scores into an arm's run, as a run that was scored anew has them."""
    place = kept.data / "runs" / f"{name}_20261001T000000Z"
    before = (place / "predictions.jsonl").read_bytes()
    after = before.replace(old, new)
    assert after != before
    (place / "predictions.jsonl").write_bytes(after)
    metrics = (place / "metrics.json").read_text(encoding="utf-8")
    assert sha256(before) in metrics
    (place / "metrics.json").write_text(metrics.replace(sha256(before), sha256(after)), encoding="utf-8")


def _field(sources: Sources) -> field_tests.Tests:
    layout = lay_out(sources, "d", ("best", "near"))
    table = field_table.read(sources, layout.dataset, layout.found, metric="correct", against="gold/ann")
    return field_tests.of(sources, table, metric="correct")


def test_an_arm_is_the_same_in_every_sheet_until_its_run_changes(kept: Project) -> None:
    """All arms, two of them, a second look: the same data. Another score: that arm's alone is another."""
    sources = _look(kept)
    every = {one.column.name: one for one in lay_out(sources, "d", with_outputs=False).columns}
    two = lay_out(sources, "d", ("near", "far"), with_outputs=False).columns
    assert [one is every[one.column.name] for one in two] == [True, True]
    again = {one.column.name: one for one in lay_out(_look(kept), "d", with_outputs=False).columns}
    assert {name for name in every if again[name] is not every[name]} == set()
    _rescore(kept, "near", b'"correct":0.0', b'"correct":1.0')
    third = {one.column.name: one for one in lay_out(_look(kept), "d", with_outputs=False).columns}
    assert {name for name in every if third[name] is not every[name]} == {"near"}
    means = {line.arm: line.means for line in build_sheet(kept, "d", sources=_look(kept)).footer}
    assert means["near"] == (1.0,)


def test_a_changed_label_leaves_the_arms_and_is_counted(kept: Project) -> None:
    """The arms stay; the item's row, and what an arm that always says the same could reach, are new."""
    before = build_sheet(kept, "d", sources=_look(kept))
    path = kept.data / "references" / "gold" / "ann" / "i00.txt"
    assert path.read_bytes() == b"yes"
    path.write_bytes(b"no")
    after = build_sheet(kept, "d", sources=_look(kept))
    assert [one is other for one, other in zip(after.arms, before.arms, strict=True)] == [True] * 4
    shares = [
        {one.ref: share for one, share in sheet.footer[0].majority_rates if one}["gold/ann"]
        for sheet in (before, after)
    ]
    assert shares == [6 / 12, 7 / 12]
    rows = [{row.item_id: row for row in sheet.rows} for sheet in (before, after)]
    assert {name for name in rows[0] if rows[1][name] is not rows[0][name]} == {"i00"}


def test_two_arms_are_tested_once_until_one_of_them_changes(kept: Project) -> None:
    """A second look, and another arm's change: the same tests. Its own change: others, of the new scores."""
    first = _field(_look(kept))
    assert first.pair(0, 1).difference == pytest.approx(1 / 12)
    assert _field(_look(kept)) is first
    _rescore(kept, "far", b'"correct":1.0', b'"correct":0.0')
    assert _field(_look(kept)) is first
    _rescore(kept, "near", b'"correct":0.0', b'"correct":1.0')
    assert _field(_look(kept)).pair(0, 1).difference == 0.0


def test_other_settings_of_the_tests_make_them_anew(kept: Project) -> None:
    """Fewer resamples, another seed: they are not those that were kept."""
    first = _field(_look(kept))
    for settings in (replace(kept.settings, resamples=50), replace(kept.settings, seed=7)):
        assert _field(_look(replace(kept, settings=settings))) is not first
