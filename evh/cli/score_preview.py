"""``evh score-preview``: which arms a change of scorer would move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.acts.score_preview import ArmMoved

ITEMS_SHOWN = 10


@common.command("score-preview", example="evh score-preview --config keyword_v1")
@click.option("--config", "config_id", required=True, metavar="C", help="The config that names the adapter.")
@click.option("--dataset-id", metavar="D", help="Only runs on this dataset (default: all).")
def score_preview(*, config_id: str, dataset_id: str | None, as_json: bool) -> None:
    """Score the stored outputs of every arm of an adapter again in memory, and tell what would move.

    Edit the adapter, then run this: no call is made and no run is written. evh rescore makes it so.
    """
    from evh.acts.score_preview import preview
    from evh.cli import run_lines

    project = common.project()
    with run_lines.quiet_adapters():
        found = preview(project, config_id, dataset_id=dataset_id)
    warnings = [str(problem) for problem in found.problems]
    if as_json:
        common.emit(
            "score-preview",
            "arms",
            [_row(arm) for arm in found.arms],
            warnings=warnings,
            adapter=found.adapter,
            n_moved=sum(arm.moves for arm in found.arms),
        )
        return
    for arm in found.arms:
        _tell(arm)
    common.warn(warnings)
    moved = [arm for arm in found.arms if arm.moves]
    said = (
        f"{plural(len(moved), 'scored run')} of {len(found.arms):,} would move"
        if moved
        else "nothing would move"
    )
    common.say(f"{found.adapter}: {said}; no run was written")
    names = dict.fromkeys(arm.run.dataset_id for arm in moved)
    common.next_steps([f"evh rescore --dataset-id {name}" for name in names])


def _tell(arm: ArmMoved) -> None:
    place = f"{arm.run.config_id} on {arm.run.dataset_id} against {arm.against}"
    if not arm.moves:
        common.say(f"{place}: unchanged" + (" (scored by this very code)" if arm.same_scorer else ""))
        return
    common.say(f"{place}:")
    before, now = arm.metric
    if before and before != now:
        common.say(f"  primary metric: {before} → {now}")
    for figure in arm.figures:
        shown = [("nothing" if value is None else f"{value:.4f}") for value in (figure.before, figure.after)]
        common.say(f"  {figure.name}: {shown[0]} → {shown[1]}")
    for said, items in (("scores of", arm.scores), ("decisions of", arm.decisions)):
        if items:
            more = f" and {len(items) - ITEMS_SHOWN:,} more" if len(items) > ITEMS_SHOWN else ""
            common.say(f"  {said} {plural(len(items), 'item')}: {', '.join(items[:ITEMS_SHOWN])}{more}")
    for item_id, error in arm.errors[:ITEMS_SHOWN]:
        common.say(f"  {item_id} would fail: {one_line(error, 200)}")


def _row(arm: ArmMoved) -> dict[str, Any]:
    return {
        "run": arm.run.key,
        "config_id": arm.run.config_id,
        "dataset_id": arm.run.dataset_id,
        "against": arm.against,
        "moves": arm.moves,
        "same_scorer": arm.same_scorer,
        "metric_before": arm.metric[0],
        "metric": arm.metric[1],
        "figures": [{"name": one.name, "before": one.before, "after": one.after} for one in arm.figures],
        "n_items": arm.n_items,
        "scores": list(arm.scores),
        "decisions": list(arm.decisions),
        "errors": [{"item_id": item_id, "error": error} for item_id, error in arm.errors],
    }
