"""``evh label-from-capture``: labels by rule from recorded outcomes."""

from __future__ import annotations

from pathlib import Path

import click

from evh.cli import common, labels_json


@common.command(
    "label-from-capture",
    writes=True,
    example="evh label-from-capture --dataset-id d --capture c --map data/rules/known.yaml --set known",
)
@click.option("--dataset-id", required=True, metavar="D", help="The dataset whose items are labelled.")
@click.option(
    "--capture", "capture_id", required=True, metavar="C", help="The capture that holds the outcomes."
)
@click.option("--map", "rules_path", required=True, type=click.Path(path_type=Path), help="The label rules.")
@click.option("--set", "name", required=True, metavar="S", help="The new set's name.")
@click.option("--task", metavar="T", help="The set's task (default: the dataset's).")
@click.option(
    "--conflicts",
    type=click.Choice(["leave", "accept"]),
    default="leave",
    help="Equal bytes with different answers: leave them unlabelled, or accept every answer.",
)
@click.option("--adapter", metavar="A", help="The adapter that reads the records (default: the capture's).")
@click.option("--guideline", type=click.Path(path_type=Path), help="The guideline (default: the rules).")
def label_from_capture(
    *,
    dataset_id: str,
    capture_id: str,
    rules_path: Path,
    name: str,
    task: str | None,
    conflicts: str,
    adapter: str | None,
    guideline: Path | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Make a rule set: what recorded outcomes say is right for each item."""
    from evh.acts import label_from_capture as act
    from evh.acts import steps
    from evh.cli.table import table

    project = common.project()
    plan = act.plan(
        project,
        dataset_id=dataset_id,
        capture_id=capture_id,
        rules_path=rules_path,
        name=name,
        task=task,
        accept_conflicts=conflicts == "accept",
        adapter=adapter,
        guideline_path=guideline,
    )
    label_set = plan.label_set if dry_run else act.commit(project, plan)
    if as_json:
        row = {
            **labels_json.made_row(label_set, plan.n_of, written=not dry_run),
            "n_no_record": plan.n_no_record,
            "n_no_rule": plan.n_no_rule,
            "n_in_conflict": plan.n_in_conflict,
            "rules": [one.as_json() for one in plan.rules],
        }
        common.emit("label-from-capture", "label_sets", [row], warnings=plan.warnings)
        return
    table(
        ["rule", "matched", "labelled", "coverage", "overlap", "conflict", "outcome before"],
        [
            (
                one.name,
                one.n_matched,
                one.n_labelled,
                f"{one.n_labelled / plan.n_of:.1%}" if plan.n_of else None,
                one.n_overlap,
                one.n_conflict,
                f"{one.n_preceding:,} of {one.n_timed:,}" if one.n_timed else None,
            )
            for one in plan.rules
        ],
        right=(1, 2, 3, 4, 5, 6),
    )
    common.say()
    done = "would label" if dry_run else "labelled"
    common.say(
        f"{done} {label_set.n_items:,} of {plan.n_of:,} items of {dataset_id} as {label_set.ref}"
        f" ({plan.n_no_record:,} without a record, {plan.n_no_rule:,} that no rule answers,"
        f" {plan.n_in_conflict:,} in conflict)"
    )
    common.warn(plan.warnings)
    common.next_steps(
        [
            f"evh labels --dataset-id {dataset_id}",
            steps.score_labels(project, dataset_id, [label_set.ref]),
        ]
    )
