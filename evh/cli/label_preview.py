"""``evh label-preview``: what would move if one label set stood in another's place."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.acts.label_preview_model import ArmMove, ItemMove, Preview

SHOWN = 20
WIDTH = 24


@common.command("label-preview", example="evh label-preview --dataset-id d --replace ann --with ann_2")
@click.option("--dataset-id", required=True, metavar="D", help="The dataset.")
@click.option(
    "--replace", required=True, metavar="A", help="The set that arms are scored against: SET, D/S or T/N."
)
@click.option("--with", "by", required=True, metavar="B", help="The set in its place.")
@click.option(
    "--limit", type=click.IntRange(min=0), help="Show this many items (default 20; all with --json)."
)
def label_preview(*, dataset_id: str, replace: str, by: str, limit: int | None, as_json: bool) -> None:
    """What would move if labels B stood in the place of labels A: means, ranks, winners, baselines.

    The stored outputs of the arms that are scored against A are scored against both, in memory. Nothing is
    called and nothing is written.
    """
    from evh.acts import label_preview as act
    from evh.cli import run_lines

    project = common.project()
    with run_lines.quiet_adapters():
        found = act.preview(project, dataset_id, replace, by)
    if as_json:
        common.emit("label-preview", "previews", [_row(found, limit)], warnings=found.notes)
        return
    _tell(found)
    _items(found, SHOWN if limit is None else limit)
    common.warn(found.notes)
    option = "--labels" if found.by.startswith("labels/") else "--reference"
    common.next_steps([f"evh rescore --dataset-id {dataset_id} {option} {found.by.removeprefix('labels/')}"])


def _tell(found: Preview) -> None:
    from evh.cli.table import table

    common.say(
        f"{found.by} in the place of {found.replace} on {found.dataset_id}, {plural(found.n_items, 'item')}: "
        f"{found.n_same:,} labelled alike, {found.n_changed:,} otherwise, {found.n_gained:,} only by the new "
        f"set, {found.n_lost:,} only by the replaced one"
    )
    common.say()
    table(
        ["arm", "metric", "before", "after", "on both", "items", "rank", "better", "worse", "flags"],
        [row for arm in found.arms for row in _arm_rows(arm, {found.metric, found.row_metric})],
        right=(2, 3, 4, 5, 6, 7, 8),
        keep=(0,),
        drop=(9, 5),
    )
    common.say()
    common.say(
        f"best by {found.metric or 'no metric'}: {', '.join(found.leaders_before) or 'nobody'} before, "
        f"{', '.join(found.leaders_after) or 'nobody'} after; "
        f"{plural(found.n_winners, 'row')} with another winner"
    )
    for one in found.baselines:
        goal = f" (goal {one.goal})" if one.goal else ""
        common.say(
            f"baseline {one.baseline_id}{goal}, {one.arm}: {_number(one.before)} before, "
            f"{_number(one.after)} after; ahead of it {', '.join(one.ahead_before) or 'nobody'} before, "
            f"{', '.join(one.ahead_after) or 'nobody'} after"
        )


def _arm_rows(arm: ArmMove, shown: set[str]) -> list[list[object]]:
    """Return a row for the metric that ranks and one for the metric of the rows; ``--json`` has all."""
    rows: list[list[object]] = []
    for at, one in enumerate(one for one in arm.metrics if one.metric in shown):
        both = None
        if one.before_both is not None and one.after_both is not None:
            both = f"{one.after_both - one.before_both:+.3f} over {one.n_both:,}"
        items = None if one.n_before is None else f"{one.n_before:,} → {one.n_after:,}"
        first = at == 0
        rank = f"{arm.rank_before or '—'} → {arm.rank_after or '—'}" if first else None
        flags = [
            *(["own labels before"] if arm.own_before else []),
            *(["own labels after"] if arm.own_after else []),
            *(["fitted here"] if arm.fitted else []),
        ]
        rows.append(
            [
                arm.name if first else "",
                one.metric + ("" if one.higher else " ↓"),
                one.before,
                one.after,
                both,
                items,
                rank,
                arm.better if first else None,
                arm.worse if first else None,
                (", ".join(flags) or None) if first else "",
            ]
        )
    return rows or [[arm.name, None, None, None, None, None, None, 0, 0, "no scores"]]


def _items(found: Preview, limit: int) -> None:
    from evh.cli.table import table

    if not found.items or not limit:
        return
    names = [arm.name for arm in found.arms]
    common.say()
    table(
        ["item", "label before", "label after", *names, "winner before", "winner after"],
        [
            (
                one.item_id,
                _label(one.label_before),
                _label(one.label_after),
                *(_moved(before, after) for before, after in zip(one.before, one.after, strict=True)),
                ", ".join(one.winners_before) or None,
                ", ".join(one.winners_after) or None,
            )
            for one in found.items[:limit]
        ],
        keep=(0,),
    )
    if len(found.items) > limit:
        common.say(f"and {len(found.items) - limit:,} more items (--limit N)")


def _label(text: str | None) -> str | None:
    from evh.records.answers import shown

    return None if text is None else one_line(shown(text), WIDTH)


def _moved(before: float | None, after: float | None) -> str:
    return _number(before) if before == after else f"{_number(before)} → {_number(after)}"


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"


def _row(found: Preview, limit: int | None) -> dict[str, Any]:
    names = [arm.name for arm in found.arms]
    return {
        "dataset_id": found.dataset_id,
        "replace": found.replace,
        "with": found.by,
        "metric": found.metric or None,
        "row_metric": found.row_metric or None,
        "n_items": found.n_items,
        "n_same": found.n_same,
        "n_changed": found.n_changed,
        "n_gained": found.n_gained,
        "n_lost": found.n_lost,
        "n_winners": found.n_winners,
        "leaders_before": list(found.leaders_before),
        "leaders_after": list(found.leaders_after),
        "arms": [{**_plain(arm), "metrics": [_plain(one) for one in arm.metrics]} for arm in found.arms],
        "baselines": [_plain(one) for one in found.baselines],
        "verdicts": found.verdicts,
        "items": [_item(one, names) for one in found.items[:limit]],
    }


def _item(one: ItemMove, names: list[str]) -> dict[str, Any]:
    return {
        "item_id": one.item_id,
        "label_before": one.label_before,
        "label_after": one.label_after,
        "arms": [
            {"name": name, "before": before, "after": after}
            for name, before, after in zip(names, one.before, one.after, strict=True)
        ],
        "winners_before": list(one.winners_before),
        "winners_after": list(one.winners_after),
    }


def _plain(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the model's dataclasses
    made = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {name: list(one) if isinstance(one, tuple) else one for name, one in made.items()}
