"""``evh label-carry``: labels across a scrub."""

from __future__ import annotations

from pathlib import Path

import click

from evh.cli import common, labels_json


@common.command(
    "label-carry",
    writes=True,
    example="evh label-carry --dataset-id june_clean --set june/ann --as ann "
    "--map data/captures/june_clean/scrub-map.jsonl",
)
@click.option("--dataset-id", required=True, metavar="D", help="The dataset of the scrubbed items.")
@click.option("--set", "set_ref", required=True, metavar="D0/S", help="The labelled set, of the old items.")
@click.option(
    "--map", "map_path", required=True, type=click.Path(path_type=Path), help="The scrub-map.jsonl between."
)
@click.option("--as", "name", required=True, metavar="S2", help="The new set's name.")
def label_carry(
    *, dataset_id: str, set_ref: str, map_path: Path, name: str, as_json: bool, dry_run: bool
) -> None:
    """Make a set of a scrubbed dataset from the labels of the old one; it names its parent.

    Notes and proposals stay behind: they were written about the text before the scrub.
    """
    from evh.acts import label_carry as act
    from evh.acts import steps

    project = common.project()
    plan = act.plan(project, dataset_id=dataset_id, set_ref=set_ref, map_path=map_path, name=name)
    label_set = plan.label_set if dry_run else act.commit(project, plan)
    if as_json:
        row = {
            **labels_json.made_row(label_set, plan.n_of, written=not dry_run),
            "parent": plan.parent,
            "source": dict(label_set.source),
            "n_changed": plan.n_changed,
            "n_same": plan.n_same,
            "n_not_here": plan.n_not_here,
            "n_in_conflict": plan.n_in_conflict,
            "guideline": plan.guideline is not None,
        }
        common.emit("label-carry", "label_sets", [row], warnings=plan.warnings)
        return
    done = "would carry" if dry_run else "carried"
    common.say(
        f"{done} {label_set.n_items:,} labels of {plan.parent} to {label_set.ref}: "
        f"{plan.n_changed:,} to other bytes, {plan.n_same:,} to the same ({plan.n_of:,} items)"
    )
    common.warn(plan.warnings)
    common.next_steps(
        [f"evh labels --dataset-id {dataset_id}", steps.score_labels(project, dataset_id, [label_set.ref])]
    )
