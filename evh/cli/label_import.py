"""``evh label-import``: a filled sheet becomes a label set."""

from __future__ import annotations

from pathlib import Path

import click

from evh.cli import common
from evh.store.text import plural


@common.command(
    "label-import",
    writes=True,
    example="evh label-import sheet.csv --dataset-id d --set owner_2026_11 --by owner",
)
@click.argument("source", metavar="FILE|DIR", type=click.Path(path_type=Path))
@click.option("--dataset-id", required=True, metavar="D", help="The dataset that was labelled.")
@click.option("--set", "name", required=True, metavar="S", help="The new set's name.")
@click.option("--by", required=True, metavar="NAME", help="Who labelled.")
@click.option("--key", type=click.Path(path_type=Path), help="The sheet's key (default: the one beside it).")
@click.option(
    "--guideline", type=click.Path(path_type=Path), help="What was labelled by (default: the key's)."
)
@click.option("--task", metavar="T", help="The set's task (default: the sheet's, else the dataset's).")
@click.option("--encoding", metavar="E", help="The sheet's encoding, where it is not UTF-8.")
@click.option(
    "--format", type=click.Choice(["evh"]), default="evh", expose_value=False, help="Whose file it is."
)
def label_import(
    *,
    source: Path,
    dataset_id: str,
    name: str,
    by: str,
    key: Path | None,
    guideline: Path | None,
    task: str | None,
    encoding: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Read a filled sheet, or a folder of <item>.txt, as a person's label set."""
    from evh.acts import label_import as act
    from evh.acts import steps

    project = common.project()
    plan = act.plan(
        project,
        dataset_id=dataset_id,
        source=source,
        name=name,
        by=by,
        key_path=key,
        guideline_path=guideline,
        task=task,
        encoding=encoding,
    )
    label_set = plan.label_set if dry_run else act.commit(project, plan)
    if as_json:
        row = {
            "dataset_id": label_set.dataset_id,
            "set": label_set.set,
            "by": label_set.by,
            "task": label_set.task,
            "n_items": label_set.n_items,
            "of": plan.n_of,
            "n_empty": plan.n_empty,
            "n_comments": plan.n_comments,
            "labels_sha256": label_set.labels_sha256 or None,
            "guideline": plan.guideline is not None,
            "written": not dry_run,
        }
        common.emit("label-import", "label_sets", [row], warnings=plan.warnings)
        return
    done = "would label" if dry_run else "labelled"
    common.say(
        f"{done} {label_set.n_items:,} of {plan.n_of:,} items of {dataset_id} as {label_set.ref},"
        f" by {label_set.by} ({plural(plan.n_empty, 'row')} empty,"
        f" {plural(plan.n_comments, 'row')} that {'is no item' if plan.n_comments == 1 else 'are not items'})"
    )
    common.warn(plan.warnings)
    common.next_steps(
        [
            f"evh labels --dataset-id {dataset_id}",
            steps.score_labels(project, dataset_id, [label_set.ref]),
        ]
    )
