"""``evh sheet-import``: a sheet that somebody filled in becomes a label set, judged runs, or both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.cli.table import table
from evh.store.text import plural

if TYPE_CHECKING:
    from evh.records.labelset import LabelSet
    from evh.records.run import Run


@common.command(
    "sheet-import",
    writes=True,
    example="evh sheet-import sheet.csv --dataset-id d --by ann --scorer ann_picks",
)
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--dataset-id", required=True, metavar="D", help="The dataset of the sheet.")
@click.option("--by", required=True, metavar="WHO", help="The person or tool that filled it in.")
@click.option(
    "--kind",
    type=click.Choice(["person", "model"]),
    default="person",
    show_default=True,
    help="What --by names.",
)
@click.option("--set", "set_name", metavar="S", help="The new label set's name: for labels.")
@click.option(
    "--scorer", metavar="S", help="The judgements' name, one of your choosing: for picks or scores."
)
@click.option("--key", type=click.Path(path_type=Path), help="The sheet's key (default: the one beside it).")
@click.option("--no-key", is_flag=True, help="Read its labels without a key: it is lost, or there is none.")
@click.option(
    "--guideline", type=click.Path(path_type=Path), help="What was labelled by (default: the key's)."
)
@click.option("--encoding", metavar="E", help="The sheet's encoding, where it is not UTF-8.")
@click.option(
    "--as-typed", is_flag=True, help="Take labels that look like dates or times (3-Jan, 12:30) as they are."
)
def sheet_import(
    *,
    source: Path,
    dataset_id: str,
    by: str,
    kind: str,
    set_name: str | None,
    scorer: str | None,
    key: Path | None,
    no_key: bool,
    guideline: Path | None,
    encoding: str | None,
    as_typed: bool,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Read a filled sheet back: labels become a set, picks or scores judged runs marked unvalidated.

    All of it or nothing. Picks and scores are those of a sheet of evh inspect --sheet --fill.
    """
    from evh.acts import sheet_import as act

    project = common.project()
    asked = act.Asked(
        source=source,
        dataset_id=dataset_id,
        by=by,
        kind=kind,
        set_name=set_name,
        scorer=scorer,
        key_path=key,
        guideline_path=guideline,
        encoding=encoding,
        as_typed=as_typed,
        no_key=no_key,
    )
    plan = act.plan(project, asked)
    if dry_run:
        label_set = plan.labels.label_set if plan.labels else None
        runs = [one.run for one in plan.judged]
    else:
        done = act.commit(project, plan)
        label_set, runs = done.labels, list(done.judged)
    if as_json:
        row: dict[str, Any] = {
            "dataset_id": dataset_id,
            "by": by,
            "kind": kind,
            "label_set": _label_row(label_set),
            "scorer": plan.scorer,
            "judged": [_judged_row(one) for one in runs],
            "n_judged": plan.n_judged,
            "of": plan.n_of,
            "n_empty": plan.n_empty,
            "n_comments": plan.n_comments,
            "written": not dry_run,
        }
        common.emit("sheet-import", "sheets", [row], warnings=plan.warnings)
        return
    _show(label_set, runs, plan.n_judged, plan.n_of, dataset_id, would=dry_run)
    common.warn(plan.warnings)
    common.next_steps(_next(label_set, runs, dataset_id))


def _show(
    label_set: LabelSet | None, runs: list[Run], n_judged: int, n_of: int, dataset_id: str, *, would: bool
) -> None:
    if label_set is not None:
        done = "would label" if would else "labelled"
        common.say(
            f"{done} {label_set.n_items:,} of {n_of:,} items of {dataset_id} as {label_set.ref}, "
            f"by {label_set.by} ({label_set.kind})"
        )
    if runs:
        about = runs[0].judged or {}
        done = "would judge" if would else "judged"
        common.say(
            f"{done} {plural(len(runs), 'arm')} on {n_judged:,} of {n_of:,} items of {dataset_id} as "
            f"{about['scorer']}; {about['note']}"
        )
        table(
            ["arm", str(runs[0].primary_metric), "rows"],
            [[run.config_id, run.scores[str(run.primary_metric)], run.n_items] for run in runs],
            right=(1, 2),
        )


def _label_row(label_set: LabelSet | None) -> dict[str, Any] | None:
    if label_set is None:
        return None
    return {
        "set": label_set.set,
        "n_items": label_set.n_items,
        "labels_sha256": label_set.labels_sha256 or None,
        "guideline_sha256": (label_set.guideline or {}).get("sha256"),
    }


def _judged_row(run: Run) -> dict[str, Any]:
    about = run.judged or {}
    return {
        "run_id": run.run_id,
        "config_id": run.config_id,
        "folder": run.folder,
        "metric": run.primary_metric,
        "value": run.scores[str(run.primary_metric)],
        "n_items": run.n_items,
        "note": about["note"],
    }


def _next(label_set: LabelSet | None, runs: list[Run], dataset_id: str) -> list[str]:
    made = []
    if runs:
        names = ",".join(run.run_id for run in runs)
        metric = f"{(runs[0].judged or {})['scorer']}/{runs[0].primary_metric}"
        made.append(f"evh inspect --sheet --dataset-id {dataset_id} --runs {names} --metric {metric}")
    if label_set is not None:
        made.append(f"evh labels --dataset-id {dataset_id}")
        made.append(f"evh rescore --dataset-id {dataset_id} --labels {label_set.ref}")
    return made
