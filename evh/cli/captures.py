"""``evh capture``, ``captures`` and ``split``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evh.acts import capture as capture_act
from evh.acts import split as split_act
from evh.acts.capture_source import FORMATS
from evh.cli.common import command, emit, interactive, next_steps, project, say, warn
from evh.cli.table import table
from evh.errors import Refusal
from evh.project import captures as shelf
from evh.records import capture as record
from evh.store.text import plural

if TYPE_CHECKING:
    from evh.records.capture import Capture


@command(
    "capture",
    writes=True,
    example="evh capture --as cve_2024 --from-file records.jsonl --adapter data/adapters/cve.py",
)
@click.option("--as", "name", required=True, metavar="C", help="The new capture's name.")
@click.option("--from-file", "file", required=True, type=click.Path(path_type=Path), help="The records.")
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    help="records (JSONL or a JSON array), csv, parquet; otlp (OpenTelemetry), langfuse (its exports).",
)
@click.option("--adapter", default="", metavar="A", help="Reads the records (default: the project's).")
@click.option("--since-capture", "since", metavar="C0", help="Only records that C0's chain lacks.")
@click.option(
    "--with-updates", is_flag=True, help="With --since-capture: known records with new outcomes too."
)
@click.option("--sample", type=int, metavar="N", help="Draw N records.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw.")
@click.option("--by", metavar="FIELD", help="Draw from each value of a field in proportion.")
@click.option("--scrub", type=click.Path(path_type=Path), metavar="FILE", help="Scrub rules (YAML).")
@click.option("--secrets-ok", metavar="REASON", help="Take records with secrets all the same; recorded.")
def capture(
    *,
    name: str,
    file: Path,
    format: str | None,
    adapter: str,
    since: str | None,
    with_updates: bool,
    sample: int | None,
    seed: int,
    by: str | None,
    scrub: Path | None,
    secrets_ok: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Bring production records in, as a capture."""
    here = project()
    options = capture_act.Options(
        format=format,
        adapter=adapter,
        since=since,
        with_updates=with_updates,
        sample=sample,
        seed=seed,
        by=by,
        scrub=scrub,
        secrets_ok=secrets_ok,
    )
    with _progress() as progress:
        plan = capture_act.plan(here, name, file, options, progress)
    made = plan.capture if dry_run else capture_act.commit(here, plan)
    if as_json:
        emit(
            "capture",
            "captures",
            [_row(made)],
            warnings=plan.warnings,
            written=not dry_run,
            n_read=plan.n_read,
            n_known=plan.n_known,
            updated=list(plan.updated),
        )
        return
    done = "would capture" if dry_run else "captured"
    say(f"{done} {plural(made.n_records, 'record')} as {name}{_left(plan)}")
    say(f"  {_facts(made)}")
    warn(plan.warnings)
    if not dry_run:
        next_steps(
            [
                f"evh dataset-from-capture --capture {name} --dataset-id NAME",
                f"evh split --capture {name} --at TIME --into A,B",
            ]
        )


@command("captures", example="evh captures")
def captures(as_json: bool) -> None:
    """List captures."""
    here = project()
    problems: list[Refusal] = []
    listed = shelf.read_all(here, problems)
    warnings = [reason for problem in problems for reason in problem.why or (problem.what,)]
    if as_json:
        emit("captures", "captures", [_row(one) for one in listed], warnings=warnings)
        return
    warn(warnings)
    if not listed:
        say("no captures yet")
        next_steps(["evh capture --as NAME --from-file FILE"])
        return
    table(
        ["capture", "records", "no item", "no time", "from", "to", "made from"],
        [
            [
                one.capture_id,
                one.n_records,
                one.n_no_item,
                one.n_no_time,
                *(one.time_range or (None, None)),
                _origin(one),
            ]
            for one in listed
        ],
        right=(1, 2, 3),
        keep=(0,),
        drop=(6, 2, 3),
    )
    next_steps([f"evh dataset-from-capture --capture {listed[-1].capture_id} --dataset-id NAME"])


@command("split", writes=True, example="evh split --capture cve_2024 --at 2024-07-01 --into older,newer")
@click.option("--capture", "capture_id", required=True, metavar="C", help="The capture to split.")
@click.option("--at", metavar="TIME", help="Records before this time go to A, the others to B.")
@click.option("--fraction", type=float, metavar="F", help="The share that a draw puts into A.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw.")
@click.option("--into", required=True, metavar="A,B", help="The names of the two halves.")
def split(
    *,
    capture_id: str,
    at: str | None,
    fraction: float | None,
    seed: int,
    into: str,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Split a capture in two, by time or at random."""
    names = into.split(",")
    if len(names) != 2:
        raise Refusal(
            "bad-options",
            "a split makes two captures",
            why=[f"--into {into}: write it as A,B"],
            next="evh split --help",
        )
    here = project()
    plan = split_act.plan(here, capture_id, (names[0], names[1]), at=at, fraction=fraction, seed=seed)
    made = tuple(half.capture for half in plan.halves) if dry_run else split_act.commit(here, plan)
    notes = [
        f"{half.capture.capture_id} is there already, byte for byte: it was left as it is"
        for half in plan.halves
        if half.there
    ]
    if as_json:
        emit(
            "split",
            "captures",
            [_row(one) for one in made],
            warnings=notes,
            written=not dry_run,
            n_no_item=plan.n_no_item,
            n_no_time=plan.n_no_time,
            n_neither=plan.n_neither,
        )
        return
    counts = " and ".join(f"{plural(one.n_records, 'record')} as {one.capture_id}" for one in made)
    say(f"{'would split' if dry_run else 'split'} {capture_id}: {counts}")
    for note in notes:
        say(f"  {note}")
    say(
        f"  {plural(plan.n_neither, 'record')} in neither half:"
        f" {plan.n_no_item:,} without an item, {plan.n_no_time:,} without a time"
    )
    if not dry_run:
        next_steps(
            [
                f"evh dataset-from-capture --capture {one.capture_id} --dataset-id {one.capture_id}"
                for one in made
            ]
        )


def _row(one: Capture) -> dict[str, Any]:
    """Return a capture as a row of ``--json``: every key of its manifest, absent ones null."""
    made = record.dump(one)
    return {key: made.get(key) for key in _KEYS} | {"secrets_ok": made.get("secrets_ok")}


_KEYS = (
    "capture_id", "created_at", "source", "n_records", "records_sha256", "since_capture", "sample", "scrub",
    "time_range", "n_no_item", "n_no_time", "split", "adapter",
)  # fmt: skip


def _left(plan: capture_act.Plan) -> str:
    if plan.n_read == plan.capture.n_records:
        return ""
    known = f", {plan.n_known:,} of them known already" if plan.n_known else ""
    return f" (of {plan.n_read:,} in the file{known})"


def _facts(made: Capture) -> str:
    times = f"from {made.time_range[0]} to {made.time_range[1]}; " if made.time_range else ""
    return f"{times}{made.n_no_item:,} without an item, {made.n_no_time:,} without a time"


def _origin(one: Capture) -> str:
    if one.split:
        return f"{one.split.get('part', 'part')} half of {one.parent}"
    since = f", since {one.since_capture}" if one.since_capture else ""
    return f"{one.source.get('path', '')}{since}"


class _progress:  # noqa: N801 - reads as a function
    """A count on stderr while records are read, where stderr is a terminal."""

    def __enter__(self) -> Any:  # noqa: ANN401 - a callback, or None
        return self._draw if interactive() else None

    def __exit__(self, *_: object) -> None:
        if interactive():
            click.echo("\r\x1b[K", nl=False, err=True)

    def _draw(self, done: int, of: int) -> None:
        click.echo(f"\r{done:,} of {of:,} records", nl=False, err=True)
