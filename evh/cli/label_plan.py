"""``evh label-plan``: how many more labels would separate two arms, and which items first."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.store.text import clean, one_line, plural

if TYPE_CHECKING:
    from evh.acts.label_plan import First, LabelPlan

SHOWN = 20
WIDTH = 24


@common.command("label-plan", example="evh label-plan --dataset-id d --runs production,candidate")
@click.option("--dataset-id", required=True, metavar="D", help="The dataset.")
@click.option("--runs", required=True, metavar="A,B", help="The two arms: config or run ids.")
@click.option("--metric", metavar="M", help="The metric compared (default: as in the sheet).")
@click.option(
    "--against", metavar="D/S|T/N", help="The set whose scores are gone by (default: as in the sheet)."
)
@click.option("--alpha", type=float, help="The test's level (default: the goal's, else 0.05).")
@click.option(
    "--limit", type=click.IntRange(min=1), help="Show this many items (default 20; all with --json)."
)
@click.option("--ids", is_flag=True, help="Print only item ids, one a line, for label-sheet --items-from.")
def label_plan(
    *,
    dataset_id: str,
    runs: str,
    metric: str | None,
    against: str | None,
    alpha: float | None,
    limit: int | None,
    ids: bool,
    as_json: bool,
) -> None:
    """How many more labels would separate arm A from arm B, and which items to label first."""
    from evh.acts import label_plan as act

    names = [name.strip() for name in runs.split(",") if name.strip()]
    found = act.plan(common.project(), dataset_id, names, metric=metric, against=against, alpha=alpha)
    wanted = _wanted(found)
    if ids:
        chosen = [one for one in found.first if clean(one.item_id) == one.item_id][: limit or wanted]
        for one in chosen:
            common.say(one.item_id)
        return
    if as_json:
        common.emit("label-plan", "plans", [_row(found, limit)], warnings=found.notes)
        return
    _tell(found)
    _table(found, limit or SHOWN)
    common.warn(found.notes)
    common.next_steps(_steps(found, runs, wanted))


def _wanted(found: LabelPlan) -> int:
    """Return how many items to label next: what the plan says, else a first batch of `SHOWN`."""
    counted = found.more_differ if found.more_differ is not None else found.more
    return max(1, min(counted or SHOWN, len(found.first)))


def _tell(found: LabelPlan) -> None:
    seen = found.seen
    one, two = found.arms
    where = f" against {found.against.ref}" if found.against else ""
    common.say(
        f"{one} and {two} on {found.dataset_id}: {found.metric or 'no score'}{where}, "
        f"{plural(seen.n, 'item')} scored for both"
    )
    if seen.n:
        common.say(
            f"they differ on {seen.nonzero:,} ({seen.share:.1%}): {seen.positive:,} better by {one}, "
            f"{seen.nonzero - seen.positive:,} by {two}; mean difference {seen.mean:+.4f}"
        )
    if found.smallest is not None:
        common.say(f"the smallest difference that {plural(seen.n, 'item')} would show: {found.smallest:.4f}")
    rule = f"{found.power:.0%} power, paired sign-flip test at {found.alpha:g}" + (
        f" (goal {found.goal})" if found.goal else ""
    )
    if found.needed is not None:
        common.say(
            f"for {rule}: {plural(found.needed, 'item')} in all, {found.more:,} more drawn as these were"
        )
    else:
        common.say(f"for {rule}: no number can be given")
    if found.more == 0:
        common.say("there are as many labels as that takes already")
    elif found.more_differ is not None:
        common.say(
            f"labelling only where they differ: about {found.more_differ:,} more; "
            f"{found.n_open:,} of {found.n_differ:,} such items are not scored yet"
        )
    else:
        common.say(
            f"they decided differently on {found.n_differ:,}; {found.n_open:,} of those not scored yet"
        )


def _table(found: LabelPlan, limit: int) -> None:
    from evh.cli.table import table

    if not found.first:
        return
    common.say()
    common.say("label first:")
    table(
        ["item", "starts", *found.arms, "why"],
        [
            (
                one.item_id,
                one_line(one.preview, 2 * WIDTH),
                *(None if text is None else one_line(text, WIDTH) for text in one.decisions),
                ", ".join(_why(one)) or None,
            )
            for one in found.first[:limit]
        ],
        keep=(0,),
        drop=(1,),
    )
    if len(found.first) > limit:
        common.say(f"and {len(found.first) - limit:,} more (--limit N, --ids)")


def _why(one: First) -> list[str]:
    return [
        *(["differ"] if one.differ else []),
        *(["unlabelled"] if one.unlabelled else []),
        *([f"new ({', '.join(one.new)})"] if one.new else []),
    ]


def _steps(found: LabelPlan, runs: str, wanted: int) -> list[str]:
    from evh.acts import steps

    chosen = [one.item_id for one in found.first if clean(one.item_id) == one.item_id][:wanted]
    if not chosen:
        return []
    task = f" --task {shlex.quote(found.task)}" if found.task else ""
    if len(chosen) <= SHOWN:
        items = " ".join(f"--item {shlex.quote(item_id)}" for item_id in chosen)
        return [steps.label_sheet(found.dataset_id, f"{items}{task}")]
    ids = f"evh label-plan --dataset-id {found.dataset_id} --runs {shlex.quote(runs)} --ids --limit {wanted}"
    return [f"{ids} > first.txt", steps.label_sheet(found.dataset_id, f"--items-from first.txt{task}")]


def _row(found: LabelPlan, limit: int | None) -> dict[str, Any]:
    seen = found.seen
    return {
        "dataset_id": found.dataset_id,
        "arms": list(found.arms),
        "metric": found.metric or None,
        "against": found.against.ref if found.against else None,
        "task": found.task,
        "alpha": found.alpha,
        "goal": found.goal,
        "power": found.power,
        "seen": {
            "n": seen.n,
            "nonzero": seen.nonzero,
            "positive": seen.positive,
            "share": seen.share,
            "mean": seen.mean if seen.n else None,
            "mean_nonzero": seen.mean_nonzero,
        },
        "needed": found.needed,
        "more": found.more,
        "more_differ": found.more_differ,
        "n_differ": found.n_differ,
        "n_open": found.n_open,
        "power_if_all": found.power_if_all,
        "smallest_difference": found.smallest,
        "n_items": len(found.first),
        "items": [
            {
                "item_id": one.item_id,
                "preview": one.preview,
                "decisions": list(one.decisions),
                "differ": one.differ,
                "unlabelled": one.unlabelled,
                "new": list(one.new),
            }
            for one in found.first[:limit]
        ],
    }
