"""``evh dataset-extend``: the next version of a dataset, made of its items and chosen picks."""

from __future__ import annotations

import click

from evh.cli.common import command, emit, next_steps, project, say, warn
from evh.cli.table import table
from evh.store.text import plural

SHOWN = 20
"""How many of the items that join are listed to people."""


@command(
    "dataset-extend",
    writes=True,
    example="evh dataset-extend cve_2024_h1 --dataset-id cve_2024_h1_v2 --picks",
)
@click.argument("parent", metavar="V1")
@click.option("--dataset-id", required=True, metavar="V2", help="The version's id.")
@click.option("--picks", "every", is_flag=True, help="Take every pick that waits for V1.")
@click.option(
    "--pick", "chosen", multiple=True, metavar="ITEM|DATASET/ITEM", help="Take this pick; repeatable."
)
def dataset_extend(
    *, parent: str, dataset_id: str, every: bool, chosen: tuple[str, ...], as_json: bool, dry_run: bool
) -> None:
    """Make the next version of a dataset: V1's items and the picks you choose, with their lineage."""
    from evh.acts import dataset_extend as act
    from evh.acts import steps

    here = project()
    plan = act.plan(here, parent, dataset_id, every=every, chosen=chosen)
    warnings = list(plan.warnings)
    made = plan.dataset
    if not dry_run:
        done = act.commit(here, plan)
        made = done.dataset
        warnings += done.warnings
    if as_json:
        rows = [
            {
                "item_id": one.item.item_id,
                "sha256": one.item.sha256,
                "pick": {"dataset_id": one.pick.dataset_id, "item_id": one.pick.item_id},
                "lineage": dict(one.item.lineage),
                "labels": {kind: list(refs) for kind, refs in one.labels.items()},
                "tags": dict(one.pick.tags),
                "note": one.pick.note or None,
            }
            for one in plan.added
        ]
        emit(
            "dataset-extend",
            "added",
            rows,
            warnings=warnings,
            dataset_id=made.dataset_id,
            parent=parent,
            version=made.version,
            n_items=len(made.items),
            written=not dry_run,
        )
        return
    n_old = len(made.items) - len(plan.added)
    done_word = "would make" if dry_run else "made"
    say(
        f"{done_word} the dataset {made.dataset_id}: {plural(len(made.items), 'item')}, "
        f"the {n_old:,} of {parent} and {plural(len(plan.added), 'pick')}"
    )
    table(
        ["item", "dataset", "capture", "labels", "tags", "note"],
        [
            [
                one.item.item_id,
                one.pick.dataset_id,
                one.pick.capture,
                "; ".join(f"{kind}: {', '.join(refs)}" for kind, refs in one.labels.items()) or "none yet",
                " ".join(f"{key}={value}" for key, value in one.pick.tags.items()) or None,
                one.pick.note or None,
            ]
            for one in plan.added[:SHOWN]
        ],
    )
    if len(plan.added) > SHOWN:
        say(f"and {len(plan.added) - SHOWN} more")
    warn(warnings)
    if not dry_run:
        refs = sorted({ref for one in plan.added for group in one.labels.values() for ref in group})
        follow = [steps.promote(made.dataset_id, refs)] if refs else []
        if any(not one.labels for one in plan.added):
            follow = [steps.label_sheet(made.dataset_id), *follow]
        next_steps([f"evh labels --dataset-id {made.dataset_id}", *follow])
