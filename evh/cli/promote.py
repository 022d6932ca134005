"""``evh promote``: a run becomes the baseline of a goal."""

from __future__ import annotations

import shlex

import click

from evh.cli import common


@common.command(
    "promote",
    writes=True,
    example='evh promote --run candidate_v2_20261101T080232Z --goal keep_up --reason "leads on the gold set"',
)
@click.option("--run", "run_id", required=True, metavar="R", help="The run: its id, or FOLDER/ID.")
@click.option("--goal", "goal_id", required=True, metavar="G", help="The goal.")
@click.option("--reason", default="", help="Why this run.")
@click.option("--over", metavar="RUN", help="A run that it ties with and is preferred to.")
def promote(
    *, run_id: str, goal_id: str, reason: str, over: str | None, as_json: bool, dry_run: bool
) -> None:
    """Make a run the baseline of a goal, from any of its groups; the one before it is archived."""
    from evh.acts import promote as act
    from evh.cli import deciding_json

    project = common.project()
    plan = act.plan(project, run_id, goal_id, reason=reason, over=over)
    made = plan.baseline if dry_run else act.commit(project, plan)
    if as_json:
        row = {**deciding_json.baseline(made), "written": not dry_run}
        common.emit("promote", "baselines", [row], warnings=plan.notes)
        return
    if dry_run:
        for line in plan.says():
            common.say(f"would {line}")
    else:
        where = f" against {made.reference_id}" if made.reference_id else ""
        common.say(f"{made.promoted_from} is the baseline of {goal_id}{where}")
        if made.supersedes:
            common.say(f"the one before it is data/baselines/superseded/{made.supersedes}.json")
    common.warn(plan.notes)
    common.next_steps(
        [
            f"evh deploy-sheet --config {shlex.quote(plan.run.config_id)}",
            f"evh goals --goal {goal_id}",
        ]
        if not plan.run.recorded
        else [f"evh goals --goal {goal_id}"]
    )
