"""The judged runs that the picks or scores of a filled sheet become: one an arm, marked unvalidated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.measure.numbers import mean
from evh.project import datasets, fingerprint, judged
from evh.records.judge import GRADE, PICK, SCORE, UNVALIDATED, WON
from evh.records.run import Prediction, Run
from evh.store.hashing import sha256_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.sheet_judgements import Judgement
    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.sheet_key import KeyRow, SheetKey


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
    """One arm's judged run and its rows."""

    run: Run
    rows: tuple[Prediction, ...]


def shares(row: KeyRow, picked: Sequence[str]) -> dict[str, float]:
    """Return letter → its share of a row's one win.

    What is picked is a text: several share the win evenly, and arms of equal texts share a text's part,
    whichever of their letters was written.

    Args:
        row: the row of the key.
        picked: the letters picked, at least one.
    """
    chosen = {row.cells[letter] for letter in picked}
    holders = {text: [one for one in row.outputs if row.cells[one] == text] for text in chosen}
    return {
        letter: 1 / len(chosen) / len(holders[row.cells[letter]]) if row.cells[letter] in chosen else 0.0
        for letter in row.outputs
    }


def judged_runs(
    project: Project,
    dataset: Dataset,
    key: SheetKey,
    arms: Mapping[str, Run],
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
        arms: run key → run, of every arm of the sheet.
        judgements: item id → what was filled in; picks alone or scores alone.
        filled: who filled it in.
    """
    picks = any(one.picked for one in judgements.values())
    metric = f"{WON if picks else SCORE}{UNVALIDATED}"
    rows: dict[str, list[Prediction]] = {name: [] for name in arms}
    for item in dataset.items:
        one = judgements.get(item.item_id)
        if one is None:
            continue
        key_row = key.rows[item.item_id]
        values = shares(key_row, one.picked) if picks else dict(one.scores)
        by_run = {key_row.outputs[letter]["run"]: letter for letter in values}
        for name in arms:
            letter = by_run.get(name)
            if letter is None and not picks:
                continue
            hidden = {"_letter": letter} if letter else {}
            value = values[letter] if letter else 0.0
            rows[name].append(Prediction(item.item_id, scores={metric: value}, hidden=hidden))
    together = sorted(name for name in arms if rows[name])
    return [
        JudgedRun(
            _run(
                project, dataset, key, run, rows[name], metric, {**_about(key, filled), "together": together}
            ),
            tuple(rows[name]),
        )
        for name, run in arms.items()
        if rows[name]
    ]


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


def _run(  # noqa: PLR0917 - what a run is made of
    project: Project,
    dataset: Dataset,
    key: SheetKey,
    run: Run,
    rows: Sequence[Prediction],
    metric: str,
    about: Mapping[str, Any],
) -> Run:
    picks = metric.startswith(WON)
    graded = {} if picks else {"scale": [key.scale.low, key.scale.high]}
    outputs = [
        f"{key.rows[row.item_id].sha256}\t{behind['sha256']}"
        for row in rows
        for behind in key.rows[row.item_id].outputs.values()
        if behind["run"] == run.key
    ]
    return Run(
        run_id=run.run_id,
        config_id=run.config_id,
        dataset_id=dataset.dataset_id,
        folder=judged.folder(str(about["scorer"])),
        created_at=project.stamp(),
        n_items=len(rows),
        primary_metric=metric,
        metric_kinds={metric: "judge"},
        metric_directions={metric: "higher"},
        scores={metric: mean(row.scores[metric] for row in rows) or 0.0},
        build=fingerprint.build(),
        fingerprint=fingerprint.make(
            arm={"config_id": run.config_id, "run": run.key},
            data={
                "dataset": dataset.dataset_id,
                "items_sha256": datasets.digest(dataset),
                "outputs_sha256": sha256_lines(outputs),
            },
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
        extra={"n_scored": len(rows)},
    )
