"""``evh pack`` and ``unpack``: Parquet ↔ text files."""

from __future__ import annotations

import click

from evh.cli import common
from evh.store.text import plural

HELP = "dataset:D, capture:C, run:R, labels:D/S or reference:T/N"


@common.command("pack", writes=True, example="evh pack labels:d/rules capture:c2024")
@click.argument("refs", nargs=-1, metavar="[NOUN:NAME]…")
@click.option("--all", "everything", is_flag=True, help="Every record that is text files.")
def pack(*, refs: tuple[str, ...], everything: bool, as_json: bool, dry_run: bool) -> None:
    """Turn records from text files into Parquet; digests do not change.

    Name them as dataset:D, capture:C, run:R, labels:D/S or reference:T/N. Without a name: those of over 5,000
    rows.
    """
    _repack("pack", "parquet", refs, everything=everything, as_json=as_json, dry_run=dry_run)


@common.command("unpack", writes=True, example="evh unpack labels:d/rules")
@click.argument("refs", nargs=-1, metavar="[NOUN:NAME]…")
@click.option("--all", "everything", is_flag=True, help="Every record that is Parquet.")
def unpack(*, refs: tuple[str, ...], everything: bool, as_json: bool, dry_run: bool) -> None:
    """Turn records from Parquet into text files that a person can diff; digests do not change.

    Name them as dataset:D, capture:C, run:R, labels:D/S or reference:T/N.
    """
    _repack("unpack", "text", refs, everything=everything, as_json=as_json, dry_run=dry_run)


def _repack(
    command: str, form: str, refs: tuple[str, ...], *, everything: bool, as_json: bool, dry_run: bool
) -> None:
    from evh.acts import pack as act
    from evh.cli import run_lines

    plan = act.plan(common.project(), form, refs=refs, everything=everything)
    if dry_run:
        done = [job.ref for job in plan.jobs]
    else:
        done = act.commit(plan, progress=None if as_json else run_lines.progress("records"))
    if as_json:
        rows = [{"ref": ref, "form": form, "written": not dry_run} for ref in done]
        common.emit(command, "records", rows, warnings=plan.left)
        return
    word = "would " + command if dry_run else f"{command}ed"
    if not done:
        common.say(f"nothing to {command}")
    for ref in done:
        common.say(f"{word} {ref}")
    common.warn(f"left as it is: {reason}" for reason in plan.left)
    if done and not dry_run:
        common.say(f"{plural(len(done), 'record')}: the same digests in the other form")
        common.next_steps(["evh validate"])
