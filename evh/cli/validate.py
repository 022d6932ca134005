"""``evh validate``: every promise of the data folder, and the comparison of two trees."""

from __future__ import annotations

from pathlib import Path

import click

from evh.cli.common import command, emit, project, say, warn
from evh.store.text import one_line, plural

NOTES_SHOWN = 20


@command("validate", writes=True, example="evh validate")
@click.option("--clean", is_flag=True, help="Remove what unfinished writes left (.tmp-*), nothing else.")
@click.option(
    "--same-as",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Compare with another project, leaving out only what is measured anew.",
)
def validate(*, clean: bool, same_as: Path | None, as_json: bool, dry_run: bool) -> None:
    """Check every promise of the data folder; exit 1 on any finding."""
    if same_as is not None:
        if clean:
            raise click.UsageError("--clean and --same-as are two different deeds")
        _compare(same_as, as_json=as_json)
        return
    from evh.acts.validate import validate as check

    report = check(project(), clean=clean, dry_run=dry_run)
    if as_json:
        emit(
            "validate",
            "findings",
            [
                {"severity": one.severity, "code": one.code, "file": one.file, "reason": one.reason}
                for one in report.findings
            ],
            notes=[{"code": one.code, "file": one.file, "reason": one.reason} for one in report.notes],
            checked=dict(report.checked),
            cleaned=list(report.cleaned),
            dry_run=dry_run,
        )
    else:
        for path in report.cleaned:
            say(f"{'would remove' if dry_run else 'removed'} {one_line(path)}")
        for one in report.findings:
            say(f"{one.severity}: {one_line(one.file)}: {one_line(one.reason)}")
        lines = [f"{one_line(one.file)}: {one_line(one.reason)}" for one in report.notes]
        warn(lines[:NOTES_SHOWN])
        if len(lines) > NOTES_SHOWN:
            warn([f"and {plural(len(lines) - NOTES_SHOWN, 'more note')} (--json lists them)"])
        counts = ", ".join(
            f"{n:,} {noun[:-1] if n == 1 else noun}" for noun, n in sorted(report.checked.items())
        )
        say(f"checked {counts or 'an empty project'}: {plural(len(report.findings), 'finding')}")
    if report.findings:
        click.get_current_context().exit(1)


def _compare(other: Path, *, as_json: bool) -> None:
    from evh.acts.same_as import compare

    made = compare(project(), other)
    if as_json:
        emit(
            "validate",
            "differences",
            [{"file": one.file, "kind": one.kind, "where": one.where or None} for one in made.differences],
            other=made.other,
            n_files=made.n_files,
        )
    else:
        words = {"only-here": "only here", "only-there": f"only in {made.other}", "differs": "differs"}
        for one in made.differences:
            say(f"{one_line(one.file)}: {words[one.kind]}{f': {one_line(one.where)}' if one.where else ''}")
        same = made.n_files - len(made.differences)
        say(f"{plural(made.n_files, 'file')}: {same:,} the same, {len(made.differences):,} not")
    if made.differences:
        click.get_current_context().exit(1)
