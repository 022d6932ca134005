"""How runs are told, by the commands that make them and by ``evh runs``."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.errors import SHOWN, Partly
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evh.acts.run import Done, Progress, Unfinished
    from evh.acts.runs import RunLine
    from evh.project.find import Project
    from evh.records.config import Config

EVERY_S = 10.0
"""How often a line of progress is printed where stderr is no terminal."""


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


@contextlib.contextmanager
def run_progress(*, as_json: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Give a callback that shows where a run stands: a bar on a terminal, else a line every 10 seconds.

    With ``--json`` there is none.
    """
    if as_json:
        yield None
    elif common.interactive():
        with _bar() as draw:
            yield draw
    else:
        yield _Lines().draw


class _Lines:
    """Prints a line now and then: none for a run that is done at once."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def draw(self, now: Progress) -> None:
        """Print a line where the last one is long ago."""
        if time.monotonic() - self._last >= EVERY_S:
            self._last = time.monotonic()
            click.echo(f"{now.done:,} of {now.of:,} items, {standing(now)}", err=True)


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        BarColumn(),
        TextColumn("{task.fields[standing]}", markup=False),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("items", total=1, standing="")

        def draw(now: Progress) -> None:
            bar.update(task, completed=now.done, total=now.of, standing=standing(now))

        yield draw


def standing(now: Progress) -> str:
    """Return where a run stands beside its items: failures, pace, tokens, cost and the time left."""
    said = [f"{now.failed:,} failed" if now.failed else "", f"{now.per_s:.3g} calls/s"]
    said += [f"{now.tokens:,} tokens" if now.tokens else ""]
    said += [f"{now.cost_usd:.4f} USD" if now.cost_usd is not None else ""]
    if now.left_s is not None and now.done < now.of:
        minutes, seconds = divmod(round(now.left_s), 60)
        hours, minutes = divmod(minutes, 60)
        said.append(f"{hours}:{minutes:02}:{seconds:02} left" if hours else f"{minutes}:{seconds:02} left")
    return ", ".join(filter(None, said))


def go_on(config: Config, dataset_id: str, flag: str = "--resume") -> str:
    """Return the command that goes on with an unfinished run, or ends it with ``--finish``."""
    named = "" if dataset_id == config.dataset_id else f" --dataset-id {dataset_id}"
    return f"evh run --config {config.config_id}{named} {flag}"


def as_unfinished(project: Project, found: Unfinished) -> dict[str, Any]:
    """Return a run that could not be finished as a JSON row."""
    run = found.run
    return {
        "run_id": run.run_id,
        "folder": run.folder,
        "config_id": run.config_id,
        "dataset_id": run.dataset_id,
        "n_items": run.n_items,
        "n_done": found.n_done,
        "reason": found.reason,
        "failed": [{"item_id": one.item_id, "error": one.error} for one in found.failed],
        "cost_usd": found.cost_usd,
        "next": _ways(project, found)[0],
    }


def _ways(project: Project, found: Unfinished) -> tuple[str, str]:
    from evh.acts import misspelt

    config = misspelt.read(project, found.run.config_id)
    return go_on(config, found.run.dataset_id), go_on(config, found.run.dataset_id, "--finish")


def as_row(line: RunLine) -> dict[str, Any]:
    """Return a run as a JSON row."""
    from evh.acts.run_totals import of_run

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
        "trial": line.trial,
        "fingerprint": run.fingerprint.get("hash"),
        "totals": of_run(run).dump() or None,
    }


def flags(line: RunLine) -> str:
    """Return what makes a score say less than it seems, in words, and which repeat the run is."""
    trial = "" if line.trial is None else f"trial over {plural(line.trial, 'item')}"
    repeat = "" if line.repeat is None else f"repeat {line.repeat} of {line.n_repeats}"
    told = ("own labels" if line.own else "", "fitted here" if line.fitted else "", trial, repeat)
    return ", ".join(filter(None, told))


def against(line: RunLine) -> str | None:
    """Return what a run was scored against as people read it: with a set's source, or the tier."""
    if line.against is None:
        return None
    if line.run.labels:
        return f"labels {line.run.labels}" + (f" ({line.source})" if line.source else "")
    return line.against


def sentence(line: RunLine) -> str:
    """Return what one finished run came to."""
    from evh.acts.run_totals import of_run

    run = line.run
    said = f"{run.key}: {plural(run.n_items, 'item')} of {run.dataset_id}"
    if line.against:
        said += f", {line.n_scored:,} scored against {against(line)}" if line.n_scored is not None else ""
    if line.value is not None:
        said += f", {line.metric} {line.value:.3f}"
    took = of_run(run)
    if took.cost_usd is not None:
        said += f", {took.cost_usd:.4f} USD"
    if took.latency_ms_p50 is not None:
        said += f", {took.latency_ms_p50:,.0f} ms a call"
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
    """Tell what was run, and end with exit 3 when some items failed or a run could not be finished.

    Args:
        project: the project.
        command: the command's name.
        done: what was run.
        as_json: one JSON document on stdout.
        next_steps: the commands for the next step.
        strict: whether every failed item makes the exit code 3; else those do not that production never
            recorded, for nothing failed there.
    """
    from evh.acts.runs import lines
    from evh.adapters.providers import NOT_RECORDED

    listed = lines(project, done.runs)
    failed = [one for one in done.failed if strict or one.error != NOT_RECORDED]
    failures = [{"run_id": one.run_id, "item_id": one.item_id, "error": one.error} for one in done.failed]
    if as_json:
        more: dict[str, Any] = {"unfinished": []} if command == "run" else {}
        if done.unfinished:
            more = {"unfinished": [as_unfinished(project, done.unfinished)]}
        rows = [as_row(line) for line in listed]
        common.emit(command, "runs", rows, warnings=done.notes, failed=failures, **more)
        if done.unfinished or failed:
            click.get_current_context().exit(Partly.exit_code)
        return
    for line in listed:
        common.say(sentence(line))
    common.warn(done.notes)
    why = [f"{one.run_id}: {one.item_id}: {one_line(one.error, 200)}" for one in done.failed]
    if done.unfinished:
        raise _not_finished(project, done.unfinished, why)
    if failed:
        raise Partly(
            "items-failed",
            f"{plural(len(failed), 'item')} failed; what was answered is kept and scored",
            why=why,
            next="mend what failed; what failed is then asked again, and nothing else, with --retry-failed",
        )
    if why:
        rest = [f"… and {len(why) - SHOWN} more"] if len(why) > SHOWN else []
        common.warn([f"{plural(len(why), 'item')} without a score:", *why[:SHOWN], *rest])
    common.next_steps(next_steps)


def _not_finished(project: Project, found: Unfinished, why: Sequence[str]) -> Partly:
    run = found.run
    n_left = run.n_items - found.n_done
    reasons = [f"{run.key}: stopped: {one_line(found.reason, 300)}"] if found.reason else []
    reasons += [f"{run.key}: {one.item_id}: {one_line(one.error, 200)}" for one in found.failed]
    n_unasked = n_left - len(found.failed)
    reasons += [f"{run.key}: {plural(n_unasked, 'item')} not asked yet"] if n_unasked else []
    on, end = _ways(project, found)
    return Partly(
        "unfinished-run",
        f"{run.run_id} is not finished: {plural(n_left, 'item')} of {run.n_items:,} without an answer; "
        "what was answered is kept",
        why=[*reasons, *why],
        next=f"{on}; or, to let them fail and score the rest: {end}",
    )


def tell_plan(
    command: str,
    says: Sequence[str],
    *,
    as_json: bool,
    notes: Sequence[str] = (),
    **more: Any,  # noqa: ANN401
) -> None:
    """Tell what a command would do (``--dry-run``)."""
    if as_json:
        common.emit(command, "runs", [], warnings=notes, failed=[], would=list(says), **more)
        return
    for line in says:
        common.say(f"would {line}")
    common.warn(notes)
