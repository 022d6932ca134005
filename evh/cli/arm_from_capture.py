"""``evh arm-from-capture``: production's own decisions as an arm."""

from __future__ import annotations

import click

from evh.cli import common


@common.command(
    "arm-from-capture",
    writes=True,
    example="evh arm-from-capture --dataset-id d --capture c --as production_v1",
)
@click.option("--dataset-id", required=True, metavar="D", help="The dataset of the first run.")
@click.option("--capture", "capture_id", required=True, metavar="C", help="The capture that was recorded.")
@click.option("--as", "name", required=True, metavar="NAME", help="The new config's id.")
@click.option("--like", metavar="CONFIG", help="Take the adapter and the goal of this config.")
@click.option(
    "--field",
    metavar="KEY",
    help="The record's key of the output (default: the adapter's recorded_output, which reads `output`).",
)
def arm_from_capture(
    *,
    dataset_id: str,
    capture_id: str,
    name: str,
    like: str | None,
    field: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Write a config that replays what production recorded, and run it: no call, no warm-up, no cost."""
    from evh.acts import arm_from_capture as act
    from evh.acts import steps as step
    from evh.cli import run_lines

    project = common.project()
    with run_lines.quiet_adapters():
        plan = act.plan(project, dataset_id, capture_id, name, like=like, field=field)
    if dry_run:
        run_lines.tell_plan("arm-from-capture", plan.says(), as_json=as_json, notes=plan.run.notes)
        return
    with run_lines.quiet_adapters(), run_lines.run_progress(as_json=as_json) as progress:
        done = act.commit(project, plan, progress=progress)
    if not as_json:
        common.say(f"configs/{plan.path.name}: written")
    steps = [
        step.score_run(project, dataset_id, done.runs[-1].run_id),
        f"evh inspect --sheet --dataset-id {dataset_id}",
        *step.other_dataset(project, name, capture_id, dataset_id),
    ]
    run_lines.tell(project, "arm-from-capture", done, as_json=as_json, next_steps=steps, strict=False)
