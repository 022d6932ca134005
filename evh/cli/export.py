"""``evh export``: a run or a label set, for another tool."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from evh.cli import common
from evh.store.text import plural

FORMATS = ("inspect", "label-studio", "openai-evals", "csv", "parquet")


@common.command(
    "export", writes=True, example="evh export --set d/ann --format label-studio --out tasks.json"
)
@click.option("--run", "run_id", metavar="R", help="A run: outputs and scores.")
@click.option("--set", "set_ref", metavar="D/S", help="A label set: items and their labels.")
@click.option("--format", "kind", required=True, type=click.Choice(FORMATS), help="For which tool.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The file; it must not be there.")
@click.option("--private-ok", is_flag=True, help="Write the items of a private dataset all the same.")
def export(
    *,
    run_id: str | None,
    set_ref: str | None,
    kind: str,
    out: Path,
    private_ok: bool,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Write a run or a label set in another tool's form; a private dataset needs --private-ok."""
    from evh.acts import export as act

    plan = act.plan(
        common.project(), run_id=run_id, set_ref=set_ref, kind=kind, out=out, private_ok=private_ok
    )
    if not dry_run:
        act.commit(plan)
    if as_json:
        row = {
            "file": str(plan.out),
            "format": kind,
            "what": plan.what,
            "dataset_id": plan.dataset_id,
            "n_rows": plan.n_rows,
            "n_bytes": len(plan.data),
            "labeling_config": plan.config,
            "written": not dry_run,
        }
        common.emit("export", "files", [row], warnings=plan.warnings)
        return
    common.say(
        f"{'would write' if dry_run else 'wrote'} {plural(plan.n_rows, 'item')} of {plan.what} to {plan.out}"
    )
    common.warn(plan.warnings)
    if plan.config:
        common.say("\nthe labelling configuration that it fits:\n" + plan.config)
    file = shlex.quote(str(out))
    if kind == "label-studio":
        common.next_steps(
            [f"evh label-import FILE --format label-studio --dataset-id {plan.dataset_id} --set S --by NAME"]
        )
    elif kind == "inspect" and run_id:
        common.next_steps([f"inspect view --log-dir {shlex.quote(str(out.parent))}"])
    elif kind in ("csv", "openai-evals") and run_id:
        back = f"evh import-run --from-file {file} --format {kind} --dataset-id {plan.dataset_id} --as CONFIG"
        common.next_steps([back])
