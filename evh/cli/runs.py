"""``evh runs``: what has run, against what, and how it came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evh.cli import common

if TYPE_CHECKING:
    from evh.project.find import Project


@common.command("runs", example="evh runs --dataset-id cve_2024_07_08")
@click.option("--dataset-id", metavar="D", help="Only runs on this dataset.")
@click.option("--config", "config_id", metavar="C", help="Only runs of this arm.")
@click.option("--all", "everything", is_flag=True, help="Older runs too, not only the latest of each arm.")
@click.option("--diff", nargs=2, metavar="A B", help="Tell exactly what differs between two runs.")
def runs(
    *,
    dataset_id: str | None,
    config_id: str | None,
    everything: bool,
    diff: tuple[str, str] | None,
    as_json: bool,
) -> None:
    """List runs: what each was scored against, its primary metric, failures, and what has not finished.

    With --diff: what two runs were made of and where that differs, key by key, and what came out otherwise.
    """
    if diff:
        from evh.cli.runs_diff import tell_diff

        tell_diff(common.project(), *diff, as_json=as_json)
        return
    from evh.acts import runs as act
    from evh.acts import steps as step
    from evh.cli import run_lines
    from evh.cli.table import table

    project = common.project()
    found = act.listing(project, dataset_id=dataset_id, config_id=config_id, everything=everything)
    warnings = [str(problem) for problem in found.problems]
    if as_json:
        unfinished = [
            {
                "path": one.path,
                "run_id": one.run.run_id if one.run else None,
                "config_id": one.run.config_id if one.run else None,
                "dataset_id": one.run.dataset_id if one.run else None,
                "n_answered": one.n_rows,
                "n_failed": one.n_failed,
                "n_items": one.run.n_items if one.run else None,
            }
            for one in found.unfinished
        ]
        rows = [run_lines.as_row(line) for line in found.lines]
        common.emit("runs", "runs", rows, warnings=warnings, unfinished=unfinished, n_older=found.n_older)
        return
    if found.lines:
        left_out = table(
            [
                "run",
                "arm",
                "dataset",
                "against",
                "source",
                "metric",
                "value",
                "scored",
                "of",
                "errors",
                "when",
                "flags",
            ],
            [
                (
                    line.run.run_id,
                    line.run.config_id,
                    line.run.dataset_id,
                    line.run.labels or line.against,
                    line.source or (line.run.reference_tier if line.against else None),
                    line.metric or None,
                    line.value,
                    line.n_scored,
                    line.run.n_items,
                    line.run.n_errors,
                    line.run.created_at or None,
                    run_lines.flags(line),
                )
                for line in found.lines
            ],
            right=(6, 7, 8, 9),
            keep=(0, 2, 3),
            drop=(10, 1, 8, 9, 7, 4, 2, 5, 11),
        )
        if "flags" in left_out:  # a score that says less than it seems is never shown without saying so
            for line in found.lines:
                if (line.against or line.trial) and run_lines.flags(line):
                    said = line.run.run_id + (
                        f" against {line.run.labels or line.against}" if line.against else ""
                    )
                    common.say(f"{said}: {run_lines.flags(line)}")
    else:
        common.say("no finished run" + (" that matches" if dataset_id or config_id else " yet"))
    if found.n_older:
        narrowed = [
            f" {flag} {value}"
            for flag, value in (("--dataset-id", dataset_id), ("--config", config_id))
            if value
        ]
        common.say(f"and {found.n_older:,} that a later run stands for: evh runs --all{''.join(narrowed)}")
    steps = []
    for one in found.unfinished:
        said = f"{one.n_rows:,} of {one.run.n_items:,} answered" if one.run else "begun elsewhere"
        said += f", {one.n_failed:,} failed and asked again" if one.n_failed else ""
        common.say(f"unfinished: {one.path}: {said}")
        if one.run:
            steps.append(f"evh run --config {one.run.config_id} --dataset-id {one.run.dataset_id} --resume")
    common.warn(warnings)
    first = next((line.run.dataset_id for line in found.lines), None)
    steps += (
        [f"evh inspect --sheet --dataset-id {dataset_id or first}"]
        if first
        else [step.run_arm(project, dataset_id or _only_dataset(project))]
    )
    common.next_steps(steps)


def _only_dataset(project: Project) -> str:
    from evh.project import datasets

    known = datasets.ids(project)
    return known[0] if len(known) == 1 else "D"
