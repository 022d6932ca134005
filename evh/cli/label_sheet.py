"""``evh label-sheet``: a sheet of items to label."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from evh.cli import common


@common.command(
    "label-sheet",
    writes=True,
    example="evh label-sheet --dataset-id d --out sheet.csv --items disagree --runs A,B --choices yes,no",
)
@click.option("--dataset-id", required=True, metavar="D", help="The dataset to label.")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="The sheet to write: .csv or .xlsx."
)
@click.option(
    "--items",
    type=click.Choice(["unlabelled", "all", "disagree"]),
    help="Which items (default: unlabelled; with --item or --plus-random alone, only those).",
)
@click.option(
    "--runs",
    default="",
    metavar="A,B",
    help="Show what these arms decided, the first first (default: production's recorded arms).",
)
@click.option("--blind", is_flag=True, help="Show neither decisions nor proposals beside the items.")
@click.option("--item", "item_ids", multiple=True, metavar="ID", help="This item too (repeatable).")
@click.option(
    "--items-from", type=click.Path(path_type=Path), metavar="FILE", help="Items to take, an id a line."
)
@click.option("--sample", type=int, metavar="N", help="Only N of the --items, drawn at random.")
@click.option("--plus-random", type=int, default=0, metavar="N", help="Add N drawn from all items, marked.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws.")
@click.option("--propose", metavar="SET|RUN", help="Show what a label set or an arm says as a proposal.")
@click.option(
    "--hide-share",
    type=float,
    metavar="P",
    help="Hide this share of the proposals (default: 0.33), so that anchoring can be measured.",
)
@click.option(
    "--relabel", metavar="SET", help="Items of this person's set again, blind to what was answered."
)
@click.option("--choices", default="", metavar="a,b,c", help="The only labels allowed.")
@click.option("--guideline", type=click.Path(path_type=Path), help="What to label by; the sheet's first row.")
@click.option("--task", metavar="T", help="The task that is labelled (default: the dataset's).")
def label_sheet(
    *,
    dataset_id: str,
    out: Path,
    items: str | None,
    runs: str,
    blind: bool,
    item_ids: tuple[str, ...],
    items_from: Path | None,
    sample: int | None,
    plus_random: int,
    seed: int,
    propose: str | None,
    hide_share: float | None,
    relabel: str | None,
    choices: str,
    guideline: Path | None,
    task: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Write a sheet of items to label, and the key that it is read back with.

    The sheet is not blind: beside each item stands what production decided, or the arms of --runs, and with
    --propose a proposal. --blind leaves them out, and so does --relabel.
    """
    from evh.acts import label_sheet as act

    options = act.Options(
        items=items,
        runs=tuple(name.strip() for name in runs.split(",") if name.strip()),
        item_ids=item_ids,
        items_from=items_from,
        sample=sample,
        plus_random=plus_random,
        seed=seed,
        propose=propose,
        hide_share=hide_share,
        relabel=relabel,
        choices=tuple(one.strip() for one in choices.split(",")) if choices else (),
        guideline_path=guideline,
        task=task,
        blind=blind,
    )
    plan = act.plan(common.project(), dataset_id, out, options)
    if not dry_run:
        act.commit(plan)
    if as_json:
        row = {
            "sheet": str(plan.sheet_path),
            "key": str(plan.key_path),
            "dataset_id": dataset_id,
            "n_items": plan.n_rows,
            "of": plan.n_of,
            "n_random": plan.n_random,
            "n_proposed": plan.n_proposed,
            "n_hidden": plan.n_hidden,
            "n_shortened": plan.n_shortened,
            "relabel_of": plan.relabel_of,
            "written": not dry_run,
        }
        common.emit("label-sheet", "sheets", [row])
        return
    done = "would write" if dry_run else "wrote"
    common.say(f"{done} {plan.n_rows:,} of {plan.n_of:,} items of {dataset_id} to {plan.sheet_path}")
    common.say(f"its key is {plan.key_path}: keep it beside the sheet, and from whoever labels")
    if plan.n_proposed:
        common.say(f"{plan.n_proposed:,} with a proposal, {plan.n_hidden:,} of them hidden")
    if plan.relabel_of:
        common.say(f"to be labelled again by who made {plan.relabel_of}, without a look at it")
    if plan.n_random:
        common.say(f"{plan.n_random:,} drawn at random from all items")
    if plan.n_shortened:
        common.warn([f"{plan.n_shortened:,} texts did not fit a cell and are shortened"])
    common.next_steps(
        [f"evh label-import {shlex.quote(str(out))} --dataset-id {dataset_id} --set SET --by NAME"]
    )
