"""How runs are told, by the commands that make them and by ``evh runs``."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.errors import SHOWN, Partly
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evh.acts.run import Done
    from evh.acts.runs import RunLine
    from evh.project.find import Project


@contextlib.contextmanager
def quiet_adapters() -> Iterator[None]:
    """Send what a project's own code prints to stderr: stdout is the command's."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def progress(noun: str) -> Callable[[int, int], None] | None:
    """Return a callback that draws a counter on a terminal, or None where stderr is none."""
    if not common.interactive():
        return None

    def draw(done: int, of: int) -> None:
        click.echo(f"\r{done:,} of {of:,} {noun}", nl=done == of, err=True)

    return draw


def as_row(line: RunLine) -> dict[str, Any]:
    """Return a run as a JSON row."""
    run = line.run
    return {
        "run_id": run.run_id,
        "folder": run.folder,
        "config_id": run.config_id,
        "dataset_id": run.dataset_id,
        "created_at": run.created_at or None,
        "against": line.against,
        "tier": run.reference_tier if line.against and not run.labels else None,
        "source": line.source,
        "primary_metric": run.shown_metric,
        "value": line.value,
        "scores": dict(run.scores),
        "n_items": run.n_items,
        "n_scored": line.n_scored,
        "n_errors": run.n_errors,
        "recorded": run.recorded,
        "derived": dict(run.derived) if run.derived else None,
        "repeat_group": run.repeat_group,
        "own_labels": line.own,
        "fitted_here": line.fitted,
        "fingerprint": run.fingerprint.get("hash"),
    }


def flags(line: RunLine) -> str:
    """Return what makes a score say less than it seems, in words."""
    return ", ".join(
        word for word, holds in (("own labels", line.own), ("fitted here", line.fitted)) if holds
    )


def against(line: RunLine) -> str | None:
    """Return what a run was scored against as people read it: with a set's source, or the tier."""
    if line.against is None:
        return None
    if line.run.labels:
        return f"labels {line.run.labels}" + (f" ({line.source})" if line.source else "")
    return line.against


def sentence(line: RunLine) -> str:
    """Return what one finished run came to."""
    run = line.run
    said = f"{run.key}: {plural(run.n_items, 'item')} of {run.dataset_id}"
    if line.against:
        said += f", {line.n_scored:,} scored against {against(line)}" if line.n_scored is not None else ""
    if line.value is not None:
        said += f", {run.shown_metric} {line.value:.3f}"
    if flags(line):
        said += f" ({flags(line)})"
    return said


def tell(
    project: Project,
    command: str,
    done: Done,
    *,
    as_json: bool,
    next_steps: Sequence[str],
    strict: bool = True,
) -> None:
    """Tell what was run, and end with exit 3 when some items failed.

    Args:
        project: the project.
        command: the command's name.
        done: what was run.
        as_json: one JSON document on stdout.
        next_steps: the commands for the next step.
        strict: whether failed items make the exit code 3; what production never recorded did not fail.
    """
    from evh.acts.runs import lines

    listed = lines(project, done.runs)
    failures = [{"run_id": one.run_id, "item_id": one.item_id, "error": one.error} for one in done.failed]
    if as_json:
        common.emit(command, "runs", [as_row(line) for line in listed], warnings=done.notes, failed=failures)
        if done.failed and strict:
            click.get_current_context().exit(Partly.exit_code)
        return
    for line in listed:
        common.say(sentence(line))
    common.warn(done.notes)
    why = [f"{one.run_id}: {one.item_id}: {one_line(one.error, 200)}" for one in done.failed]
    if done.failed and strict:
        raise Partly(
            "items-failed",
            f"{plural(len(done.failed), 'item')} failed; what was answered is kept and scored",
            why=why,
            next="mend what failed, then run again: a new run asks every item",
        )
    if why:
        more = [f"… and {len(why) - SHOWN} more"] if len(why) > SHOWN else []
        common.warn([f"{plural(len(why), 'item')} without a score:", *why[:SHOWN], *more])
    common.next_steps(next_steps)


def tell_plan(command: str, says: Sequence[str], *, as_json: bool, notes: Sequence[str] = ()) -> None:
    """Tell what a command would do (``--dry-run``)."""
    if as_json:
        common.emit(command, "runs", [], warnings=notes, failed=[], would=list(says))
        return
    for line in says:
        common.say(f"would {line}")
    common.warn(notes)
