"""The judged runs that the picks or scores of a filled sheet become: one an arm, marked unvalidated."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from evh.measure.numbers import mean
from evh.project import datasets, fingerprint, judged
from evh.records.judge import GRADE, PICK, SCORE, UNVALIDATED, WON
from evh.records.run import Prediction, Run
from evh.store.hashing import sha256_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.sheet_behind import Behind
    from evh.acts.sheet_judgements import Judgement
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.sheet_key import SheetKey


@dataclass(frozen=True, slots=True)
class Filled:
    """Who filled in which sheet.

    Attributes:
        scorer: the name that the judgements get.
        by: a person's name, or a tool's.
        by_kind: ``person`` or ``model``.
        sheet_sha256: of the filled sheet.
        key_sha256: of its key.
    """

    scorer: str
    by: str
    by_kind: str
    sheet_sha256: str
    key_sha256: str

    @property
    def note(self) -> str:
        """What every view says beside the figures."""
        return f"unvalidated: filled in a sheet by {self.by}"


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One arm's judged run, and what its rows are made of: for each item a value and a letter, or a space."""

    run: Run
    items: tuple[str, ...]
    values: tuple[float, ...]
    letters: str

    @property
    def rows(self) -> tuple[Prediction, ...]:
        """Its rows, made when they are asked for: those of every arm at once take much memory."""
        hidden = {letter: {"_letter": letter} for letter in ascii_uppercase} | {_NONE: {}}
        metric = str(self.run.primary_metric)
        return tuple(
            Prediction(item_id, scores={metric: value}, hidden=hidden[letter])
            for item_id, value, letter in zip(self.items, self.values, self.letters, strict=True)
        )


_NONE = " "
"""Stands for the letter of an arm that did not answer on a row."""


def shares(answers: Mapping[str, str], picked: Sequence[str]) -> dict[str, float]:
    """Return letter → its share of a row's one win.

    What is picked is an answer: several share the win evenly, and arms that gave one answer share its part,
    whichever of their letters was written. Of A, B and C, where B and C answered alike, ``A|B`` gives A a
    half, and B and C a quarter each.

    Args:
        answers: letter → what the arm answered, the whole text.
        picked: the letters picked, at least one.
    """
    chosen = {answers[letter] for letter in picked}
    holders = Counter(answers.values())
    return {
        letter: 1 / len(chosen) / holders[answer] if answer in chosen else 0.0
        for letter, answer in answers.items()
    }


def shared_win(answers: Mapping[str, str], picked: Sequence[str]) -> bool:
    """Tell whether a letter that was not picked shares the win: its arm gave an answer that was."""
    chosen = {answers[letter] for letter in picked}
    return any(answer in chosen for letter, answer in answers.items() if letter not in picked)


def judged_runs(
    project: Project,
    dataset: Dataset,
    key: SheetKey,
    behind: Behind,
    *,
    judgements: Mapping[str, Judgement],
    filled: Filled,
) -> list[JudgedRun]:
    """Return the judged runs of a sheet, in the order of its arms; an arm without a score has none.

    A row with a pick gives every arm its share: 1 for the one picked, a part of it in a tie, else 0, for an
    arm too that did not answer there. A score is kept as it was given.

    Args:
        project: the project.
        dataset: the dataset.
        key: the sheet's key.
        behind: the runs of every arm of the sheet, with their outputs.
        judgements: item id → what was filled in; picks alone or scores alone.
        filled: who filled it in.
    """
    picks = any(one.picked for one in judgements.values())
    metric = f"{WON if picks else SCORE}{UNVALIDATED}"
    arms = behind.runs
    made: dict[str, _Column] = {name: _Column() for name in arms}
    for item in dataset.items:
        one = judgements.get(item.item_id)
        if one is None:
            continue
        key_row = key.rows[item.item_id]
        answers = behind.answers(key_row, item.item_id) if picks else {}
        values = shares(answers, one.picked) if picks else one.scores
        by_run = {key_row.outputs[letter]["run"]: letter for letter in values}
        for name in arms:
            letter = by_run.get(name)
            if letter is None and not picks:
                continue
            column = made[name]
            column.items.append(item.item_id)
            column.values.append(values[letter] if letter else 0.0)
            column.letters.append(letter or _NONE)
            if letter:
                column.outputs.append(f"{key_row.sha256}\t{key_row.outputs[letter]['sha256']}")
    digest = datasets.digest(dataset)
    together = sorted(name for name in arms if made[name].items)
    return [
        JudgedRun(
            _run(
                project,
                key,
                run,
                made[name].values,
                metric=metric,
                about={**_about(key, filled), "together": together},
                data={
                    "dataset": dataset.dataset_id,
                    "items_sha256": digest,
                    "outputs_sha256": sha256_lines(made[name].outputs),
                },
            ),
            tuple(made[name].items),
            tuple(made[name].values),
            "".join(made[name].letters),
        )
        for name, run in arms.items()
        if made[name].items
    ]


@dataclass(slots=True)
class _Column:
    """What is gathered of one arm, an entry a row; ``outputs`` of the rows that it answered."""

    items: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


def _about(key: SheetKey, filled: Filled) -> dict[str, Any]:
    return {
        "scorer": filled.scorer,
        "by": filled.by,
        "by_kind": filled.by_kind,
        "rubric_sha256": (key.rubric or {}).get("sha256"),
        "sheet_sha256": filled.sheet_sha256,
        "key_sha256": filled.key_sha256,
        "note": filled.note,
    }


def _run(
    project: Project,
    key: SheetKey,
    run: Run,
    values: Sequence[float],
    *,
    metric: str,
    about: Mapping[str, Any],
    data: Mapping[str, Any],
) -> Run:
    picks = metric.startswith(WON)
    graded = {} if picks else {"scale": [key.scale.low, key.scale.high]}
    return Run(
        run_id=run.run_id,
        config_id=run.config_id,
        dataset_id=key.dataset_id,
        folder=judged.folder(str(about["scorer"])),
        created_at=project.stamp(),
        n_items=len(values),
        primary_metric=metric,
        metric_kinds={metric: "judge"},
        metric_directions={metric: "higher"},
        scores={metric: mean(values) or 0.0},
        build=fingerprint.build(),
        fingerprint=fingerprint.make(
            arm={"config_id": run.config_id, "run": run.key},
            data=data,
            instrument={"scorer": about["scorer"], "rubric_sha256": about["rubric_sha256"], **graded},
            system_under_test={"by": about["by"], "by_kind": about["by_kind"]},
        ),
        derived={"kind": "judged", "from": run.key},
        judged={
            **about,
            **graded,
            "kind": PICK if picks else GRADE,
            "run_id": run.run_id,
            "run": run.key,
        },
        extra={"n_scored": len(values)},
    )
