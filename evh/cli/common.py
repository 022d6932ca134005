"""What every command does alike: its options, the project, ``--json``, and how a Refusal is told."""

from __future__ import annotations

import functools
import json
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evh.errors import Refusal
from evh.store.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evh.project.find import Project

F = TypeVar("F", bound="Callable[..., Any]")


def command(
    name: str, *, json_output: bool = True, writes: bool = False, example: str
) -> Callable[[F], click.Command]:
    """Make a function an evh command.

    The function gets its own options. Every command has ``-C``; ``json_output`` adds ``--json`` (argument
    ``as_json``), ``writes`` adds ``--dry-run`` (argument ``dry_run``).
    A Refusal raised inside is told on stderr, or with ``--json`` as a document on stdout, and is exit 1
    (3 when some of the work is done).

    Args:
        name: the command's name.
        json_output: whether it lists or reports.
        writes: whether it writes.
        example: one command line that works, shown by ``--help``.
    """

    def wrap(function: F) -> click.Command:
        @functools.wraps(function)
        def called(**options: Any) -> None:  # noqa: ANN401 - click's options
            ctx = click.get_current_context()
            home = options.pop("home", None)
            if home:
                ctx.obj = home
            try:
                function(**options)
            except Refusal as refusal:
                tell(refusal, as_json=bool(options.get("as_json")), command=name)
                ctx.exit(refusal.exit_code)
            except BrokenPipeError:
                raise
            except OSError as error:  # a disk that fails where no act expected it
                place = error.filename or "the project"
                told = Refusal(
                    "io-error",
                    f"a file could not be read or written: {place}",
                    why=[f"{place}: {error.strerror or error}"],
                    next="free space or mend the permissions, then run the same command again",
                )
                tell(told, as_json=bool(options.get("as_json")), command=name)
                ctx.exit(told.exit_code)

        made = called
        if writes:
            made = click.option(
                "--dry-run", is_flag=True, help="Say what would be written, and write nothing."
            )(made)
        if json_output:
            made = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")(made)
        made = click.option("-C", "--home", metavar="DIR", help="The project's folder.")(made)
        return click.command(name, epilog=f"Example: {example}", context_settings={"max_content_width": 110})(
            made
        )

    return wrap


def project() -> Project:
    """Return the project that the command works in, telling on stderr when the environment points away."""
    from evh.project.find import Project

    found = Project.find(home=click.get_current_context().obj)
    for note in found.notes:
        click.echo(clean(note), err=True)
    return found


def tell(refusal: Refusal, *, as_json: bool, command: str) -> None:
    """Tell a Refusal: to people on stderr, to programs as ``{"refused": {…}}`` on stdout."""
    if as_json:
        body = {"code": refusal.code, "what": refusal.what, "why": list(refusal.why), "next": refusal.next}
        click.echo(dump({"refused": body}))
    else:
        click.echo(f"evh {command}: {clean(str(refusal))}", err=True)


def emit(command: str, noun: str, rows: Sequence[Any], *, warnings: Iterable[str] = (), **more: Any) -> None:  # noqa: ANN401 - JSON values
    """Print one JSON document: ``{"evh": "<command>/1", "<noun>": [...], "warnings": []}``, keys sorted.

    Args:
        command: the command's name.
        noun: the plural that names the rows.
        rows: JSON objects; absent values are null, numbers unrounded, another record is its id.
        warnings: what a person should know, a sentence each.
        more: further keys of the document.
    """
    click.echo(dump({"evh": f"{command}/1", noun: list(rows), "warnings": list(warnings), **more}))


def dump(document: dict[str, Any]) -> str:
    """Return a JSON document as text: keys sorted, indented, text as it is."""
    return (
        json.dumps(document, ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False)
        .encode("utf-8", "replace")
        .decode()
    )


def say(text: str = "") -> None:
    """Print a line for people, without control characters or escape sequences from the data."""
    click.echo(clean(text))


def warn(lines: Iterable[str]) -> None:
    """Print lines on stderr: what a person should know and a program need not parse."""
    for line in lines:
        click.echo(clean(f"note: {line}"), err=True)


def next_steps(commands: Iterable[str]) -> None:
    """Print the commands for the next step, below a blank line."""
    listed = list(commands)
    if listed:
        say()
        say("next:")
        for line in listed:
            say(f"  {line}")


def interactive() -> bool:
    """Tell whether progress can be drawn: stderr is a terminal."""
    return sys.stderr.isatty()
