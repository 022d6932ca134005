"""``evh run``: an arm over a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evh.cli import common

if TYPE_CHECKING:
    from evh.acts.run_plan import Plan
    from evh.project.find import Project


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
    "--finish",
    is_flag=True,
    help="End the latest unfinished run as it is: nothing is asked, and what has no answer has failed.",
)
@click.option(
    "--retry-failed",
    is_flag=True,
    help="Make a new run with the answers of the latest finished one, and ask only what failed in it.",
)
@click.option(
    "--repeat", type=click.IntRange(1, 100), metavar="N", help="Make N runs (default: the config's)."
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N items.")
@click.option(
    "--max-cost",
    type=float,
    metavar="USD",
    help="Stop before the runs cost more, an earlier attempt's cost included.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Ask N items at once (default: a model server is asked as many as it takes well, up to 64); "
    "with --engine ray so many on each worker (default: 16).",
)
@click.option(
    "--engine", type=click.Choice(["ray"]), help="ray: ask on a Ray cluster (pip install 'evh[ray]')."
)
def run(
    *,
    config_id: str,
    dataset_id: str | None,
    labels: str | None,
    resume: bool,
    finish: bool,
    retry_failed: bool,
    repeat: int | None,
    limit: int | None,
    max_cost: float | None,
    concurrency: int | None,
    engine: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Run an arm over a dataset's items and score what it answers.

    Each output is kept as it comes: a run that was killed, stopped or left with calls that failed goes on
    with --resume. Items that failed for good are asked again, in a new run, with --retry-failed. Exit 3: some
    items failed, or the run is not finished.
    """
    from evh.acts import misspelt
    from evh.acts import run as act
    from evh.acts import steps as step
    from evh.cli import run_lines
    from evh.errors import Refusal

    if (resume or finish) and (repeat or limit):
        raise Refusal(
            "resume-as-begun",
            "a run goes on as it began",
            why=["--resume and --finish take no --repeat and no --limit: both are kept with the run"],
            next=f"evh run --config {config_id} --resume",
        )
    if retry_failed and (resume or finish or repeat or limit):
        raise Refusal(
            "bad-options",
            "--retry-failed makes a new run as the finished one was",
            why=["it takes no --resume, --finish, --repeat and no --limit"],
            next=f"evh run --config {config_id} --retry-failed",
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
            max_cost=max_cost,
            finish=finish,
            retry_failed=retry_failed,
            engine=engine or "",
        )
    if dry_run:
        run_lines.tell_plan("run", plan.says(), as_json=as_json, notes=plan.notes, unfinished=[])
        return
    try:
        with run_lines.quiet_adapters(), run_lines.run_progress(as_json=as_json) as progress:
            done = act.commit(project, plan, progress=progress)
    except KeyboardInterrupt:
        _tell_interrupted(project, plan, as_json=as_json)
        click.get_current_context().exit(130)
    name = plan.dataset.dataset_id
    steps = [f"evh inspect --sheet --dataset-id {name}", f"evh runs --dataset-id {name}"]
    if plan.target is None and done.runs:
        steps.insert(0, step.score_run(project, name, done.runs[-1].run_id))
    run_lines.tell(project, "run", done, as_json=as_json, next_steps=steps, strict=not config.recorded)


def _tell_interrupted(project: Project, plan: Plan, *, as_json: bool) -> None:
    """Tell what an interrupted run has kept, and how it goes on."""
    from evh.acts.runs import unfinished_line
    from evh.cli import run_lines
    from evh.errors import Refusal

    found = unfinished_line(project, plan.config, plan.dataset.dataset_id)
    kept = (
        f"{found.path}: {found.n_rows:,} of {len(plan.items):,} items are kept" if found else "nothing began"
    )
    way = run_lines.go_on(plan.config, plan.dataset.dataset_id) if found else None
    common.tell(Refusal("interrupted", "interrupted", why=[kept], next=way), as_json=as_json, command="run")
