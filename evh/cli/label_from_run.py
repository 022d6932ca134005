"""``evh label-from-run``: a run's answers become a model's label set."""

from __future__ import annotations

from pathlib import Path

import click

from evh.cli import common, labels_json


@common.command(
    "label-from-run",
    writes=True,
    example="evh label-from-run --run judge_v1_20261101T080232Z --set judge_v1",
)
@click.option("--run", "run_id", required=True, metavar="R", help="The run whose answers are taken.")
@click.option("--set", "name", required=True, metavar="S", help="The new set's name.")
@click.option(
    "--guideline", type=click.Path(path_type=Path), help="What the model was told: a labelling prompt."
)
@click.option("--allow-cut-off", is_flag=True, help="Take answers that max_tokens ended, as they are.")
@click.option(
    "--conflicts",
    type=click.Choice(["leave", "accept"]),
    default="leave",
    help="Equal bytes with different answers: leave them unlabelled, or accept every answer.",
)
@click.option("--task", metavar="T", help="The set's task (default: the dataset's).")
def label_from_run(
    *,
    run_id: str,
    name: str,
    guideline: Path | None,
    allow_cut_off: bool,
    conflicts: str,
    task: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Make a model set of a run's answers: each label is the answer's stored decision."""
    from evh.acts import label_from_run as act
    from evh.acts import steps

    project = common.project()
    plan = act.plan(
        project,
        run_id=run_id,
        name=name,
        guideline_path=guideline,
        allow_cut_off=allow_cut_off,
        accept_conflicts=conflicts == "accept",
        task=task,
    )
    label_set = plan.label_set if dry_run else act.commit(project, plan)
    if as_json:
        row = {
            **labels_json.made_row(label_set, plan.n_of, written=not dry_run),
            "run_id": label_set.source.get("run_id"),
            "config_id": label_set.source.get("config_id"),
            "model": label_set.source.get("model"),
            "n_failed": plan.n_failed,
            "n_not_run": plan.n_not_run,
            "n_in_conflict": plan.n_in_conflict,
            "n_cut_off": plan.n_cut_off,
            "guideline": plan.guideline is not None,
        }
        common.emit("label-from-run", "label_sets", [row], warnings=plan.warnings)
        return
    done = "would label" if dry_run else "labelled"
    common.say(
        f"{done} {label_set.n_items:,} of {plan.n_of:,} items of {label_set.dataset_id} as {label_set.ref},"
        f" by {label_set.by} ({plan.n_failed:,} failed, {plan.n_not_run:,} not run,"
        f" {plan.n_in_conflict:,} in conflict)"
    )
    common.warn(plan.warnings)
    common.next_steps(
        [
            f"evh labels --dataset-id {label_set.dataset_id}",
            steps.score_labels(project, label_set.dataset_id, [label_set.ref]),
        ]
    )
