"""``evh init``."""

from __future__ import annotations

from pathlib import Path

import click

from evh.acts import init as act
from evh.cli.common import command, emit, next_steps, say, warn
from evh.store.text import plural


@command("init", writes=True, example='evh init reviews --name "Review triage"')
@click.argument("folder", metavar="[DIR]", default=".")
@click.option("--name", metavar="N", help="The project's name; a sample brings its own.")
@click.option("--sample", metavar="NAME", help="Copy a sample project: triage.")
def init(folder: str, name: str | None, sample: str | None, as_json: bool, dry_run: bool) -> None:
    """Make a new project in DIR (default: this folder), or copy the sample."""
    root = (Path(click.get_current_context().obj or ".") / folder).absolute()
    named = str(Path(click.get_current_context().obj or ".") / folder)
    plan = act.plan(root, name=name, sample=sample, named=named)
    if not dry_run:
        act.commit(plan)
    kept = [f"{one} was there already and stays as it is" for one in plan.kept]
    if as_json:
        row = {
            "root": str(root),
            "name": plan.name,
            "sample": plan.sample,
            "files": sorted([*plan.beside, "data/.gitattributes"]),
            "n_sample_files": len(plan.files),
        }
        emit("init", "projects", [row], warnings=kept, written=not dry_run)
        return
    copied = (
        f", {plural(len(plan.files), 'file')} copied from the sample {plan.sample}" if plan.sample else ""
    )
    say(f"{'would make' if dry_run else 'made'} the project {plan.name!r} in {root}{copied}")
    say(f"  {', '.join([*plan.beside, 'data/'])}")
    warn(kept)
    if not dry_run:
        cd = [] if folder == "." else [f"cd {folder}"]
        following = (
            ["evh overview", "evh catalog-build"]
            if plan.sample
            else ["evh capture --as NAME --from-file FILE"]
        )
        next_steps([*cd, *following])
