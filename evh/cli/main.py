"""``evh``: the group of commands, in the order and under the headings that ``--help`` shows.

A command's module is imported when it is called, so that ``evh --help`` imports click and nothing else.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from evh import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence


class Entry(NamedTuple):
    """One command: its name, the module under ``evh.cli`` that holds it, and its one line of help."""

    name: str
    module: str
    help: str


HEADINGS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "Project",
        (
            Entry("init", "init", "Make a new project, or copy the sample."),
            Entry("overview", "overview", "What is here in one screen, and what to do next."),
            Entry("validate", "validate", "Check every promise of the data folder."),
            Entry("sql", "sql", "Query the project's tables with one SELECT."),
            Entry("why", "why", "The provenance of one number, and whether its files still match."),
            Entry("pack", "pack", "Turn records from text files into Parquet; digests stay."),
            Entry("unpack", "pack", "Turn records from Parquet into text files; digests stay."),
            Entry("doctor", "doctor", "What a bug report needs: versions, sizes, findings; no names."),
            Entry("help", "help", "The guide: a tutorial, and a page a topic."),
        ),
    ),
    (
        "Data",
        (
            Entry("capture", "captures", "Bring production records in."),
            Entry("capture-scrub", "capture_scrub", "Copy a capture with what scrub rules find taken out."),
            Entry("captures", "captures", "List captures."),
            Entry("split", "captures", "Split a capture in two, by time or at random."),
            Entry("dataset-create", "datasets", "Make a dataset from files."),
            Entry("dataset-set", "datasets", "Change a dataset's flags."),
            Entry("datasets", "datasets", "List datasets."),
            Entry("dataset-items", "datasets", "List a dataset's items."),
            Entry("dataset-from-capture", "datasets", "Make a dataset of a capture's records."),
        ),
    ),
    (
        "Labels",
        (
            Entry("label-sheet", "label_sheet", "Write a sheet of items to label."),
            Entry("label-import", "label_import", "Read a filled sheet back as a label set."),
            Entry("label-from-run", "label_from_run", "Make a model's labels of a run's answers."),
            Entry("label-from-capture", "label_from_capture", "Make labels by rule from recorded outcomes."),
            Entry("label-carry", "label_carry", "Carry labels across a scrub."),
            Entry("labels", "labels", "Every label set, its coverage, and how the sets agree."),
            Entry("adjudicate", "adjudicate", "Write a blind sheet of the items on which sets differ."),
            Entry("label-preview", "label_preview", "What would move if another set stood in a set's place."),
            Entry("label-plan", "label_plan", "How many more labels separate two arms, and which first."),
            Entry("reference-promote", "references", "Promote chosen labels to a reference set."),
            Entry("references", "references", "List reference sets."),
            Entry(
                "migrate-references",
                "migrate_references",
                "Give old references their label sets and promotions.",
            ),
        ),
    ),
    (
        "Arms and runs",
        (
            Entry("run", "run", "Run an arm over a dataset."),
            Entry("rescore", "rescore", "Score stored outputs again, with no calls."),
            Entry("arm-from-capture", "arm_from_capture", "Make production's own decisions an arm."),
            Entry("import-run", "import_run", "Make a run of another tool's outputs and scores."),
            Entry("export", "export", "Write a run or a label set for another tool."),
            Entry("runs", "runs", "List runs, or tell what differs between two."),
            Entry("arms", "arms", "List arms: what answers, how often it ran, at what cost."),
            Entry("arm-smoke", "arms", "Ask an arm once, about its shortest item."),
            Entry("score-preview", "score_preview", "Which arms a change of scorer would move."),
            Entry("promote", "promote", "Make a run the baseline of a goal, with the reason."),
            Entry("deploy-sheet", "deploy_sheet", "What production must match, and whether it did."),
            Entry("models", "models", "List model records."),
            Entry("model-record", "models", "Write which model and build a name stands for, and its prices."),
        ),
    ),
    (
        "Deciding",
        (
            Entry("goals", "deciding", "Each goal: leader, finalist, baseline, and what production runs."),
            Entry("leaderboard", "deciding", "Rank arms: means, intervals, leader, contenders, behind."),
            Entry("pair-test", "deciding", "Test a named pair of arms, and list the items that moved."),
            Entry("agreement", "deciding", "How often arms decided the same."),
            Entry("judge", "judge", "Let models judge stored outputs by a rubric."),
            Entry("judge-validate", "judge", "Measure a judge against people."),
        ),
    ),
    (
        "Evidence",
        (
            Entry("log-import", "evidence", "Cut transcripts into the chunks of a log."),
            Entry("query-add", "evidence", "Add a question to a log."),
            Entry("label-evidence", "evidence", "Let a model label which chunks hold evidence, and why."),
            Entry("evidence-report", "evidence_report", "The label rate, and how good the labels are."),
            Entry("evidence-freeze", "evidence", "Make a label set of a journal."),
        ),
    ),
    (
        "The sheet",
        (
            Entry(
                "inspect",
                "inspect",
                "Every item with each arm's output, the labels, the winner and the signals.",
            ),
            Entry("sheet-import", "sheet_import", "Read a filled sheet back: labels, picks or scores."),
        ),
    ),
    (
        "Picks and versions",
        (
            Entry("pick", "picks", "Mark items for the next version of a dataset."),
            Entry("picks", "picks", "List what waits."),
            Entry(
                "dataset-extend", "dataset_extend", "Make the next version of a dataset from chosen picks."
            ),
        ),
    ),
    (
        "Catalog",
        (
            Entry("catalog-build", "catalog", "Build the static site of everything here."),
            Entry("catalog-verify", "catalog", "Check a built site against its manifest."),
            Entry("catalog-serve", "catalog_serve", "Serve it here, and build it again at changes."),
        ),
    ),
)
COMMANDS: dict[str, Entry] = {entry.name: entry for _, entries in HEADINGS for entry in entries}


class Evh(click.Group):
    """The group: lists commands under their headings and imports a command's module when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the commands, in the order of `HEADINGS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """Return one command: the attribute of its module named like it, ``-`` being ``_``."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"evh.cli.{entry.module}")
        command = getattr(module, cmd_name.replace("-", "_"))
        if not isinstance(command, click.Command):
            message = f"evh.cli.{entry.module}.{cmd_name} is not a command"
            raise TypeError(message)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command; an unknown one is told with the nearest names."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=3, cutoff=0.5)
            hint = f" Did you mean {', '.join(near)}?" if near else " See evh --help."
            ctx.fail(f"there is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands under their headings."""
        for heading, entries in HEADINGS:
            with formatter.section(heading):
                formatter.write_dl([(entry.name, entry.help) for entry in entries])


@click.group(cls=Evh, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("-C", "--home", metavar="DIR", help="The project's folder (default: the nearest one upward).")
@click.version_option(__version__, prog_name="evh")
@click.pass_context
def cli(ctx: click.Context, home: str | None) -> None:
    """Evaluate what production decided: labels, scores, agreement, and a catalog of plain pages."""
    ctx.obj = home


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and exit: 0 done, 1 refused, 2 usage, 3 partly done, 130 interrupted."""
    # Records are read by the million and are in no cycle: looked through rarely, they cost a sixth less time.
    gc.set_threshold(50_000, 20, 100)
    try:
        # Outside its standalone mode click gives the code of ctx.exit() back instead of raising it.
        code = cli.main(args=None if argv is None else list(argv), prog_name="evh", standalone_mode=False)
        if isinstance(code, int) and code:
            sys.exit(code)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
