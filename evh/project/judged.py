"""The shelf of judgements: ``data/runs-judged/<scorer>/``, the judged runs with the verdicts beside them.

``~verdicts.jsonl`` holds each verdict once it was given, by what it is about; ``~settings.json`` the salt of
the marks and letters. No run's name holds a ``~``.
"""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project import judges as shelf
from evh.project import runs
from evh.project.shelf import read_each
from evh.records import run as record
from evh.records.judge import plain
from evh.records.verdict import wrong_with
from evh.store import atomic, journal, strict
from evh.store.hashing import sha256
from evh.store.locks import held
from evh.store.names import check_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.judge import Judge
    from evh.records.run import Prediction, Run

PLACE = "runs-judged"
VERDICTS = "~verdicts.jsonl"
SETTINGS = "~settings.json"


def folder(scorer: str) -> str:
    """Return the name of the ``runs*`` folder that holds a scorer's judged runs."""
    return f"{PLACE}/{check_id(scorer, 'scorer')}"


def write(project: Project, run: Run, rows: Sequence[Prediction]) -> Run:
    """Write a judged run whole, in place of an earlier one of the same scorer over the same run."""
    return runs.write_scored(project, run, rows)


def exists(project: Project, scorer: str) -> bool:
    """Tell whether there are judgements under this name already."""
    return (project.data / folder(scorer)).exists()


def write_new(
    project: Project,
    scorer: str,
    judged_runs: Iterable[tuple[Run, Sequence[Prediction]]],
    *,
    before: Callable[[], Path | None] | None = None,
) -> list[Run]:
    """Write all judged runs of a new scorer at once: their folder is renamed in last.

    Args:
        project: the project.
        scorer: a name that is not used yet.
        judged_runs: each run with its rows, taken one after the other.
        before: writes what belongs to them, once the name is known to be free, and returns its folder: it is
            taken away again where the runs cannot be written.

    Returns:
        The runs as written.

    Raises:
        Refusal: there are judgements of that name.
    """
    place = project.writable(project.data / folder(scorer))
    made = []
    with held(project.locks, place), contextlib.ExitStack() as stack:
        if place.exists():
            raise taken(scorer)
        part = before() if before else None
        if part is not None:
            stack.enter_context(atomic.removed_unless(place, part))
        try:
            with atomic.new_folder(place) as writer:
                for run, rows in judged_runs:
                    name, data = runs.dump_rows(rows)
                    one = replace(run, predictions={"file": name, "sha256": sha256(data), "rows": len(rows)})
                    writer.add(f"{run.run_id}/{name}", data)
                    writer.add(f"{run.run_id}/{runs.METRICS}", strict.dump_manifest(record.dump(one)))
                    made.append(one)
        except FileExistsError:
            raise taken(scorer) from None
    return made


def refuse_filled(project: Project, scorer: str) -> None:
    """Refuse to judge under a name whose judgements came in a filled sheet: two kinds do not share a folder.

    Raises:
        Refusal: ``data/runs-judged/<scorer>/`` was made by ``evh sheet-import``.
    """
    found = [
        run
        for run in runs.read_all(project, [])
        if run.folder == folder(scorer) and (run.judged or {}).get("sheet_sha256")
    ]
    if found:
        by = (found[0].judged or {}).get("by")
        raise Refusal(
            "existing-scorer",
            f"the judgements by {scorer!r} came in a filled sheet, not from a judge",
            why=[f"data/{found[0].folder}/: filled in by {by}; a judge's would replace them"],
            next=f"give the judge another name: rename data/judges/{scorer}.yaml and its scorer",
        )


def taken(scorer: str) -> Refusal:
    """Return the Refusal for a scorer whose judgements are there: they are never written over."""
    return Refusal(
        "existing-scorer",
        f"there are judgements by {scorer!r} already",
        why=[f"data/{folder(scorer)}/: a filled sheet never writes over judgements"],
        next="choose another name with --scorer",
    )


def verdicts_path(project: Project, scorer: str) -> Path:
    """Return where a scorer's verdicts go; a link that leads out of the project is refused."""
    return project.writable(project.data / folder(scorer) / VERDICTS)


def verdicts(
    project: Project, scorer: str, *, unfit: Callable[[Mapping[str, Any]], str | None] = lambda _: None
) -> dict[str, dict[str, Any]]:
    """Return a scorer's verdicts by their key; of a key that was asked again the last line counts.

    A line without a key is another program's, and no verdict. A question that was answered is asked no more:
    a second verdict that differs is a contradiction, unless it came in a file after the first.

    Args:
        project: the project.
        scorer: the judge.
        unfit: why a row is no verdict of the judge as it is now, or None.

    Raises:
        Refusal: a line that is not one JSON object; every row that is no verdict, or contradicts another.
    """
    path = verdicts_path(project, scorer)
    made: dict[str, dict[str, Any]] = {}
    lines: dict[str, int] = {}
    reasons: list[str] = []
    for number, row in enumerate(journal.read(path).rows, start=1):
        if "key" not in row:
            continue
        wrong = wrong_with(row)
        told = wrong or [reason for reason in [unfit(row)] if reason]
        reasons += [f"{project.show(path)}: line {number}: {reason}" for reason in told]
        if wrong:
            continue
        before = made.get(row["key"])
        if before is not None and _contradict(before, row):
            reasons.append(
                f"{project.show(path)}: line {number}: another verdict of {row['judge']} on {row['item_id']} "
                f"than in line {lines[row['key']]}"
            )
        made[row["key"]], lines[row["key"]] = row, number
    if reasons:
        raise Refusal(
            "bad-verdicts",
            f"the verdicts of {scorer!r} are not what a judge gave",
            why=reasons,
            next=f"restore {project.show(path)} (git checkout), or take the lines out: they are asked again",
        )
    return made


def _contradict(before: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    if "said" not in before or "said" not in row or before["said"] == row["said"]:
        return False
    return row.get("source") is None or row.get("source") == before.get("source")


def open_verdicts(project: Project, scorer: str) -> journal.Appender:
    """Open a scorer's verdicts to append to; the caller holds the lock of `verdicts_path`."""
    path = verdicts_path(project, scorer)
    atomic.make_folder(path.parent)
    return journal.Appender(path)


def salt(project: Project, scorer: str) -> str | None:
    """Return the salt of a scorer's marks and letters, or None: none was drawn yet."""
    path = project.data / folder(scorer) / SETTINGS
    known = strict.read_object(path).get("salt") if path.is_file() else None
    return known if isinstance(known, str) and known else None


def new_salt() -> str:
    """Draw a salt. It is recorded: the same salt gives the same letters and marks."""
    return secrets.token_hex(16)


def keep_salt(project: Project, scorer: str, drawn: str) -> None:
    """Write a scorer's salt where there is none yet; the caller holds the lock of `verdicts_path`.

    Raises:
        Refusal: another command has drawn another one in the meantime.
    """
    known = salt(project, scorer)
    if known == drawn:
        return
    if known is not None:
        raise Refusal(
            "changed-meanwhile",
            f"another command began to judge by {scorer!r} just now",
            next="run the same command again",
        )
    path = project.writable(project.data / folder(scorer) / SETTINGS)
    atomic.make_folder(path.parent)
    atomic.write_file(path, strict.dump_manifest({"salt": drawn}))


@dataclass(frozen=True, slots=True)
class Validity:
    """Which judges were measured against people, to tell which judged runs are theirs."""

    judges: Mapping[str, Judge] = field(default_factory=dict)
    measured: Mapping[str, str | None] = field(default_factory=dict)

    def holds(self, run: Run) -> bool:
        """Tell whether a judged run was made by a judge that is validated for the run's rubric.

        A sheet that somebody filled was not. Nor was a judge of the same name and rubric that asks other
        models than the measured one did.
        """
        judged = run.judged or {}
        judge = self.judges.get(str(judged.get("scorer")))
        if judge is None or judge.validated_by is None or judged.get("sheet_sha256"):
            return False
        if judge.validated_by["rubric_sha256"] != judged.get("rubric_sha256"):
            return False
        known = self.measured.get(judge.scorer)
        return known is None or known == judged.get("judge_sha256")

    def metric(self, run: Run, name: str) -> str:
        """Return a metric's name as readers show it: without the word once the judge is validated."""
        return plain(name) if self.holds(run) else name


def validity(
    project: Project, all_runs: Sequence[Run] | None = None, problems: list[Refusal] | None = None
) -> Validity:
    """Return which judges are validated.

    Args:
        project: the project.
        all_runs: every run, where the caller has read them already.
        problems: where the Refusals of unreadable judges go; see `shelf.read_each`.
    """
    found = {judge.scorer: judge for judge in shelf.read_all(project, [] if problems is None else problems)}
    known = {run.key: run for run in all_runs or () if run.judged}
    measured: dict[str, str | None] = {}
    for judge in found.values():
        by = judge.validated_by or {}
        if not by:
            continue
        own = by.get("judge_sha256")
        if not isinstance(own, str):
            key = str(by.get("run"))
            key = key if key.startswith(f"{PLACE}/") else f"{folder(judge.scorer)}/{key}"
            runs_found = (
                [known[key]] if key in known else read_each([key], lambda one: runs.read(project, one), [])
            )
            own = next((one.judged.get("judge_sha256") for one in runs_found if one.judged), None)
        measured[judge.scorer] = own if isinstance(own, str) else None
    return Validity(found, measured)
