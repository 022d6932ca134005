"""``evh rescore``: stored outputs scored again."""

from __future__ import annotations

import click

from evh.cli import common


@common.command("rescore", writes=True, example="evh rescore --dataset-id d --labels d/owner_2026_11")
@click.option("--run", "run_ids", multiple=True, metavar="R", help="A run; give it once for each.")
@click.option("--dataset-id", metavar="D", help="The latest run of every arm on this dataset.")
@click.option("--labels", metavar="D/S", help="Score against this label set.")
@click.option("--reference", metavar="T/N", help="Score against this reference set.")
def rescore(
    *,
    run_ids: tuple[str, ...],
    dataset_id: str | None,
    labels: str | None,
    reference: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Score stored outputs again, with no calls.

    Without --labels or --reference each run is scored against what its config names, else against what it
    was scored against before.
    """
    from evh.acts import rescore as act
    from evh.cli import run_lines

    project = common.project()
    with run_lines.quiet_adapters():
        plan = act.plan(
            project, run_ids=run_ids, dataset_id=dataset_id, labels_ref=labels, reference=reference
        )
    if dry_run:
        run_lines.tell_plan("rescore", plan.says(), as_json=as_json, notes=plan.notes)
        return
    with run_lines.quiet_adapters():
        done = act.commit(project, plan, progress=run_lines.progress("runs"))
    names = sorted({run.dataset_id for run in done.runs})
    steps = [
        line.format(name)
        for name in names
        for line in ("evh inspect --sheet --dataset-id {}", "evh runs --dataset-id {}")
    ]
    run_lines.tell(project, "rescore", done, as_json=as_json, next_steps=steps)
