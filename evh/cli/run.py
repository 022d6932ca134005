"""``evh run``: an arm over a dataset."""

from __future__ import annotations

import click

from evh.cli import common


@common.command("run", writes=True, example="evh run --config keyword_v1 --dataset-id cve_2024_07_08")
@click.option("--config", "config_id", required=True, metavar="C", help="The arm: a config's id.")
@click.option("--dataset-id", metavar="D", help="The dataset (default: the config's).")
@click.option(
    "--labels", metavar="D/S", help="Score against this label set (default: what the config names)."
)
@click.option(
    "--resume", is_flag=True, help="Go on with the latest unfinished run; no answer is asked twice."
)
@click.option(
    "--repeat", type=click.IntRange(1, 100), metavar="N", help="Make N runs (default: the config's)."
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N items.")
@click.option("--concurrency", type=click.IntRange(1, 256), metavar="N", help="Ask N items at once.")
def run(
    *,
    config_id: str,
    dataset_id: str | None,
    labels: str | None,
    resume: bool,
    repeat: int | None,
    limit: int | None,
    concurrency: int | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Run an arm over a dataset's items and score what it answers.

    Each output is kept as it comes: a run that was killed goes on with --resume. Exit 3: some items failed;
    the others are scored.
    """
    from evh.acts import misspelt
    from evh.acts import run as act
    from evh.acts import steps as step
    from evh.cli import run_lines
    from evh.errors import Refusal

    if resume and (repeat or limit):
        raise Refusal(
            "resume-as-begun",
            "a run goes on as it began",
            why=["--resume takes no --repeat and no --limit: both are kept with the run"],
            next=f"evh run --config {config_id} --resume",
        )
    project = common.project()
    config = misspelt.read(project, config_id)
    with run_lines.quiet_adapters():
        plan = act.plan(
            project,
            config,
            dataset_id=dataset_id,
            labels_ref=labels,
            resume=resume,
            repeat=repeat,
            limit=limit,
            concurrency=concurrency,
        )
    if dry_run:
        run_lines.tell_plan("run", plan.says(), as_json=as_json, notes=plan.notes)
        return
    with run_lines.quiet_adapters():
        done = act.commit(project, plan, progress=run_lines.progress("items"))
    name = plan.dataset.dataset_id
    steps = [f"evh inspect --sheet --dataset-id {name}", f"evh runs --dataset-id {name}"]
    if plan.target is None:
        steps.insert(0, step.score_run(project, name, done.runs[-1].run_id))
    run_lines.tell(project, "run", done, as_json=as_json, next_steps=steps, strict=not config.recorded)
