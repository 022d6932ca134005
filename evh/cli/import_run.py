"""``evh import-run``: another tool's outputs and scores become a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.records.run import Run

FORMATS = ("promptfoo", "inspect", "lm-eval", "openai-evals", "csv")


@common.command(
    "import-run",
    writes=True,
    example="evh import-run --from-file results.json --format promptfoo --dataset-id d --as gpt_v2",
)
@click.option("--from-file", "source", required=True, type=click.Path(path_type=Path), help="The tool's log.")
@click.option("--format", "tool", required=True, type=click.Choice(FORMATS), help="Whose log it is.")
@click.option("--dataset-id", required=True, metavar="D", help="The dataset that was evaluated.")
@click.option("--as", "config_id", required=True, metavar="CONFIG", help="The arm that it is a run of.")
@click.option("--part", metavar="P", help="Which arm, where the log holds several (a provider, a filter).")
@click.option(
    "--adapter", default="", metavar="A", help="What decides (default: the config's, the project's)."
)
@click.option("--tool-version", metavar="V", help="The tool's version, where the log does not tell it.")
def import_run(
    *,
    source: Path,
    tool: str,
    dataset_id: str,
    config_id: str,
    part: str | None,
    adapter: str,
    tool_version: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Make a run of another tool's per-item outputs and scores; nothing is called or scored.

    An item is the one that the log names by item_id, else by the sample's id, else the one with its bytes.
    Repeats of one arm (Inspect's epochs, a column repeat in a CSV) become a run each, in one group.
    """
    from evh.acts import import_run as act
    from evh.cli import run_lines
    from evh.project import imported

    project = common.project()
    asked = act.Asked(tool, part=part, version=tool_version, adapter=adapter)
    with run_lines.quiet_adapters():
        plan = act.plan(project, dataset_id=dataset_id, source=source, config_id=config_id, asked=asked)
    made = [one.run for one in plan.runs] if dry_run else act.commit(project, plan)
    if as_json:
        rows = [_row(run, plan.n_of, written=not dry_run) for run in made]
        common.emit(
            "import-run", "runs", rows, warnings=plan.warnings, found=dict(plan.found), there=list(plan.there)
        )
        return
    for run in made:
        name = run.key if not dry_run else f"runs/{config_id}_<time>"
        trial = (imported.of_run(run) or {}).get("part") if run.repeat_group is not None else None
        origin = source.name if trial is None else f"{source.name}, repeat {one_line(str(trial))}"
        failed = f", {plural(run.n_errors, 'item')} failed" if run.n_errors else ""
        common.say(
            f"{'would import' if dry_run else 'imported'} {name}: {plural(run.n_items, 'item')} of "
            f"{dataset_id} from {origin}{failed}"
        )
        for metric, value in run.scores.items():
            common.say(f"  {metric} {value:.4g} (as {tool} scored it)")
    common.warn(plan.warnings)
    if not dry_run:
        named = " ".join(f"--run {run.run_id}" for run in made)
        common.next_steps(
            [
                *([f"evh leaderboard --dataset-id {dataset_id}"] if len(made) > 1 else []),
                f"evh inspect --sheet --dataset-id {dataset_id}",
                f"evh rescore {named} --labels {dataset_id}/SET",
            ]
        )


def _row(run: Run, n_of: int, *, written: bool) -> dict[str, Any]:
    from evh.project import imported

    facts = dict(imported.of_run(run) or {})
    return {
        "run_id": run.run_id or None,
        "folder": run.folder,
        "config_id": run.config_id,
        "dataset_id": run.dataset_id,
        "n_items": run.n_items,
        "n_errors": run.n_errors,
        "of": n_of,
        "primary_metric": run.primary_metric,
        "scores": dict(run.scores),
        "repeat_group": run.repeat_group or None,
        "imported": facts,
        "written": written,
    }
