"""``evh adjudicate``: a blind sheet of the items on which label sets differ."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from evh.cli import common
from evh.store.text import plural


@common.command(
    "adjudicate", writes=True, example="evh adjudicate --dataset-id d --sets ann,bo --out differ.csv"
)
@click.option("--dataset-id", required=True, metavar="D", help="The dataset.")
@click.option(
    "--sets",
    "set_refs",
    required=True,
    multiple=True,
    metavar="A,B[,…]",
    help="The label sets: SET of this dataset, or DATASET/SET.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The sheet: FILE.csv or .xlsx.")
@click.option("--seed", type=int, default=0, help="Of the letters' order (default 0).")
def adjudicate(
    *, dataset_id: str, set_refs: tuple[str, ...], out: Path, seed: int, as_json: bool, dry_run: bool
) -> None:
    """Write a blind sheet of only the items on which label sets differ.

    Their answers stand under letters, shuffled row by row; no set is named. Type a letter into the column
    label, or another answer. label-import with --adjudicates makes the new set of it.
    """
    from evh.acts import adjudicate as act

    refs = [ref.strip() for refs in set_refs for ref in refs.split(",") if ref.strip()]
    plan = act.plan(common.project(), dataset_id=dataset_id, set_refs=refs, out=out, seed=seed)
    if not dry_run:
        act.commit(plan)
    if as_json:
        row = {
            "sheet": str(plan.sheet_path),
            "key": str(plan.key_path),
            "dataset_id": dataset_id,
            "sets": list(plan.sets),
            "n_items": plan.n_rows,
            "of": plan.n_of,
            "n_agreed": plan.n_agreed,
            "n_settled": plan.n_settled,
            "n_alone": plan.n_alone,
            "n_shortened": plan.n_shortened,
            "written": not dry_run,
        }
        common.emit("adjudicate", "sheets", [row], warnings=plan.warnings)
        return
    done = "would write" if dry_run else "wrote"
    common.say(
        f"{done} {plan.n_rows:,} of {plan.n_of:,} items of {dataset_id} to {plan.sheet_path}: "
        f"those on which {', '.join(plan.sets)} differ"
    )
    common.say(
        f"{plural(plan.n_agreed, 'item')} labelled alike, {plan.n_settled:,} settled before, "
        f"{plan.n_alone:,} labelled by one set alone"
    )
    common.say(f"its key is {plan.key_path}: keep it beside the sheet, and from whoever adjudicates")
    if plan.n_shortened:
        common.warn([f"{plan.n_shortened:,} texts did not fit a cell and are shortened"])
    common.warn(plan.warnings)
    back = f"evh label-import {shlex.quote(str(out))} --dataset-id {dataset_id} --set SET --by NAME"
    common.next_steps([f"{back} --adjudicates {','.join(refs)}"])
