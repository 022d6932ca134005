"""`validate` holds logs and journals against their texts, questions, settings and replies."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from evh.acts.validate import validate
from evh.project.find import Project
from tests.acts.evidence_logs import (
    CHUNKS,
    JOURNAL,
    PROBES,
    QUERIES,
    READINGS,
    SETTINGS,
    UPDATES,
    change,
    decide,
    labelled,
)
from tests.conftest import CommandLine

Change = Callable[[bytes], bytes]


def swap(old: bytes, new: bytes) -> Change:
    """Replace the first ``old``."""
    return lambda data: data.replace(old, new, 1)


def again(data: bytes) -> bytes:
    """Repeat the first line at the end."""
    return data + data.splitlines(keepends=True)[0]


def garbage(data: bytes) -> bytes:
    """Put a line that is no JSON behind the first."""
    first, *rest = data.splitlines(keepends=True)
    return b"".join([first, b"garbage\n", *rest])


def other(key: bytes) -> Change:
    """Let the first hash under a key begin otherwise."""
    return lambda data: re.sub(
        rb'("%s": ?")..' % key, rb"\1zz" if key == b"salt" else rb"\g<1>00", data, count=1
    )


def test_a_log_and_its_journal_that_keep_every_promise(project: Project, evh: CommandLine) -> None:
    """Nothing is found, and the line says what was checked."""
    labelled(evh, more_texts(), "--probes", "4")
    decide(project, (0, 0, True), (1, 1, False))
    told = evh.ok("validate").out
    assert told.strip() == (
        "checked 11 chunks, 2 decisions, 10 evidence labels, 1 journal, 1 log, 1 question: 0 findings"
    )
    assert validate(project).notes == ()


def more_texts() -> list[str]:
    """Return ten texts, and one of them again: two places of one content are no fault."""
    from tests.acts.evidence_logs import TEXTS

    return [*TEXTS, TEXTS[0]]


@pytest.mark.parametrize(
    ("name", "how", "told"),
    [
        (CHUNKS, swap(b"turn 7", b"turn 8"), ("bad-chunks", "chunk_sha")),
        (CHUNKS, again, ("bad-chunks", "t 0 stands twice")),
        (CHUNKS, garbage, ("bad-json", "line 2")),
        (CHUNKS, lambda data: data[:-20], ("cut-log", "its last line has no end")),
        (CHUNKS, lambda _: b"", ("cut-log", "it is empty")),
        (QUERIES, again, ("bad-queries", "stands twice")),
        (QUERIES, swap(b"red", b"blue"), ("other-question", "it asked the question")),
        (JOURNAL, again, ("bad-journal", "a second label")),
        (JOURNAL, garbage, ("bad-json", "line 2")),
        (JOURNAL, swap(b'"label":true', b'"label":"yes"'), ("bad-journal", "label: is not true or false")),
        (
            JOURNAL,
            swap(b'"label":true', b'"label":false'),
            ("other-label", "its replies say yes 1 of 1 times"),
        ),
        (
            JOURNAL,
            lambda data: re.sub(rb'"why":"[^"]*"', b'"why":" "', data, count=1),
            ("bad-journal", "why"),
        ),
        (JOURNAL, other(b"prompt_sha"), ("bad-journal", "prompt_sha")),
        (JOURNAL, other(b"question_sha"), ("bad-journal", "question_sha")),
        (JOURNAL, swap(b"overlap-baseline", b"other"), ("bad-journal", "model 'other'")),
        (JOURNAL, lambda data: data[:-20], ("torn-line", "cut by a crash")),
        (READINGS, garbage, ("bad-json", "line 2")),
        (READINGS, lambda data: data[:-20], ("torn-line", "cut by a crash")),
        (PROBES, swap(b'"expected":', b'"expected":7,"x":'), ("bad-journal", "expected")),
        (SETTINGS, other(b"settings_sha"), ("edited-settings", "of what was asked")),
        (SETTINGS, swap(b'"repeat": 1', b'"repeat": 3'), ("edited-settings", "of what was asked")),
        (SETTINGS, swap(b"yes where at least", b"yes where"), ("edited-settings", "of the prompt")),
        (SETTINGS, swap(b"red harbour", b"blue harbour"), ("edited-settings", "of the question")),
        (SETTINGS, other(b"salt"), ("bad-record", "is not hex")),
        (UPDATES, swap(b'"update": true', b'"update": "yes"'), ("bad-updates", "is not true or false")),
        (UPDATES, swap(b'"t": 1', b'"t": 1000'), ("outside-log", "1 decision about places")),
    ],
)
def test_each_broken_promise_is_found(
    project: Project, evh: CommandLine, name: str, how: Change, told: tuple[str, str]
) -> None:
    """With the file, and exit 1."""
    labelled(evh, more_texts(), "--probes", "4")
    decide(project, (0, 0, True), (1, 1, False))
    change(project.data / name, how)
    found = [(one.code, one.reason) for one in validate(project).findings]
    assert [reason for code, reason in found if code == told[0] and told[1] in reason], found
    assert evh("validate").code == 1


def test_a_journal_that_lost_its_settings_and_one_that_never_had_any(
    project: Project, evh: CommandLine
) -> None:
    """evh's own rows name their prompt: how they were asked is lost. Another tool's row is only noted."""
    labelled(evh)
    (project.data / SETTINGS).unlink()
    assert [one.code for one in validate(project).findings] == ["unknown-settings"]
    for name in (JOURNAL, READINGS):
        (project.data / name).unlink()
    row = b'{"chunk_sha":"' + b"ab" * 32 + b'","t":0,"label":true,"why":"It says so."}\n'
    (project.data / JOURNAL).write_bytes(row)
    made = validate(project)
    assert made.findings == ()
    assert {one.code for one in made.notes} == {"unknown-settings", "other-contents"}


def test_decisions_that_do_not_count_are_noted(project: Project, evh: CommandLine) -> None:
    """A place that was decided again, and a journal whose log is gone."""
    labelled(evh)
    decide(project, (0, 0, True), (0, 0, False))
    made = validate(project)
    assert (made.findings, [one.code for one in made.notes]) == ((), ["decided-again"])
    (project.data / CHUNKS).unlink()
    assert {one.code for one in validate(project).findings} == {"no-log"}
