"""The command that goes on with a journal as it was begun: with other options it would be refused."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from evh.acts import evidence_settings
from evh.acts.evidence_settings import Options
from evh.project.shelf import read_each

if TYPE_CHECKING:
    from evh.project.evidence import Place
    from evh.project.find import Project
    from evh.records.evidence import JournalSettings

SLICE = ("--plus-random", "100", "--blind", "--choices", "yes,no", "--out", "sheet.csv")
"""How a random slice of a log is put before a person, blind to the labels that it is to measure."""
_NUMBERS = ("think_tokens", "answer_tokens", "temperature", "top_p")


def slice_line(dataset_id: str) -> str:
    """Return the command that puts a random slice before a person."""
    return shlex.join(("evh", "label-sheet", "--dataset-id", dataset_id, *SLICE))


def line(project: Project, at: Place, settings: JournalSettings | None) -> str:
    """Return the command as a line for a shell; see `words`."""
    return shlex.join(("evh", "label-evidence", *words(project, at, settings)))


def line_of_all(project: Project, at: Place, settings: JournalSettings) -> str:
    """Return the command that does so for every question of the log."""
    named = ("--journal", at.name) if at.name else ()
    asked = options(project, settings)
    return shlex.join(("evh", "label-evidence", "--project", at.log, "--all-queries", *named, *asked))


def words(project: Project, at: Place, settings: JournalSettings | None) -> tuple[str, ...]:
    """Return what follows ``evh label-evidence`` to label what a journal has no label for.

    Args:
        project: the project.
        at: the journal.
        settings: how it was begun; None where that is not known.
    """
    named = ("--journal", at.name) if at.name else ()
    return (
        "--project",
        at.log,
        "--query",
        at.query_id,
        *named,
        *(options(project, settings) if settings else ()),
    )


def options(project: Project, settings: JournalSettings) -> tuple[str, ...]:
    """Return the options that ask as a journal was asked, but what ``evh.toml`` or a default says already."""
    asked, made = settings.asked, list[str]()
    provider = str(asked.get("provider", ""))
    plain = read_each([Options()], lambda one: evidence_settings.labeler(project, one, keyless=True), [])
    if provider and (not plain or plain[0].provider != provider):
        made += ["--provider", provider]
    if provider == "overlap":
        return tuple(made)
    base_url = settings.began.get("base_url")
    if base_url and (not plain or plain[0].base_url != base_url):
        made += ["--base-url", str(base_url)]
    if not plain or plain[0].model != asked.get("model"):
        made += ["--model", str(asked.get("model", ""))]
    for name in _NUMBERS:
        if name in asked and (not plain or getattr(plain[0], name) != asked[name]):
            made += [f"--{name.replace('_', '-')}", f"{asked[name]}"]
    if asked.get("constrain"):
        made.append("--constrain")
    if asked.get("repeat", 1) != 1:
        made += ["--repeat", f"{asked['repeat']}"]
    return tuple(made)
