"""``evh runs --diff A B``: what differs between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.cli import common
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.runs_diff import Diff, Figure
    from evh.project.find import Project
    from evh.project.fingerprint import Difference

ITEMS_SHOWN = 10


def tell_diff(project: Project, one: str, other: str, *, as_json: bool) -> None:
    """Tell what differs between two runs."""
    from evh.acts.runs_diff import diff

    found = diff(project, one, other)
    if as_json:
        common.emit("runs-diff", "differences", _keys(found), **_outcome(found))
        return
    common.say(f"A  {found.one.key}")
    common.say(f"B  {found.other.key}")
    common.say()
    if found.same:
        common.say("made of the same: their fingerprints have one hash")
    elif found.same is None and not found.made_of:
        common.say("what a run from elsewhere was made of is not on record")
    _tell_keys("made of:", found.made_of)
    _tell_keys("beside that (moves no fingerprint):", found.beside)
    common.say(
        f"outcome: of {plural(found.n_both, 'item')} that both answered "
        f"{len(found.changed):,} decided otherwise"
    )
    for said, items in (
        ("otherwise", found.changed),
        ("A alone answered", found.only_one),
        ("B alone answered", found.only_other),
    ):
        if items:
            more = f" and {len(items) - ITEMS_SHOWN:,} more" if len(items) > ITEMS_SHOWN else ""
            common.say(f"  {said}: {', '.join(items[:ITEMS_SHOWN])}{more}")
    if found.against[0] != found.against[1]:
        common.say(f"scored against: {found.against[0] or 'nothing'} → {found.against[1] or 'nothing'}")
    for figure in (*found.figures, *found.totals):
        common.say(f"  {figure.name}: {_number(figure.one)} → {_number(figure.other)}")
    if found.one.dataset_id == found.other.dataset_id and found.changed:
        names = f"{found.one.run_id},{found.other.run_id}"
        common.next_steps([f"evh inspect --dataset-id {found.one.dataset_id} --runs {names} --disagree"])


def _tell_keys(heading: str, differences: Sequence[Difference]) -> None:
    if not differences:
        return
    common.say(heading)
    for one in differences:
        common.say(f"  {one.key}: {_value(one.one)} → {_value(one.other)}")
    common.say()


def _value(value: object) -> str:
    from evh.store import strict

    text = "nothing" if value is None else value if isinstance(value, str) else strict.compact(value)
    return one_line(text, 160)


def _number(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6g}"


def _keys(found: Diff) -> list[dict[str, Any]]:
    return [
        {"key": one.key, "a": one.one, "b": one.other, "moves_fingerprint": moves}
        for moves, group in ((True, found.made_of), (False, found.beside))
        for one in group
    ]


def _outcome(found: Diff) -> dict[str, Any]:
    def figures(group: Sequence[Figure]) -> list[dict[str, Any]]:
        return [{"name": one.name, "a": one.one, "b": one.other} for one in group]

    return {
        "runs": [found.one.key, found.other.key],
        "same_fingerprint": found.same,
        "n_both": found.n_both,
        "changed": list(found.changed),
        "only_a": list(found.only_one),
        "only_b": list(found.only_other),
        "against": list(found.against),
        "scores": figures(found.figures),
        "totals": figures(found.totals),
    }
