"""Judging stored outputs by models: verdicts kept as they come, then a judged run for each arm."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts.judge_asking import Asking
from evh.acts.judge_plan import Plan, plan
from evh.acts.judge_tally import Tally
from evh.acts.judge_verdict import load, unfit
from evh.acts.run_budget import Budget, Progress
from evh.acts.run_keep import FLUSH_S
from evh.measure.numbers import mean
from evh.project import datasets, fingerprint, judged
from evh.records.judge import UNVALIDATED, metrics_of
from evh.records.run import Prediction, Run
from evh.store.locks import held

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evh.project.find import Project
    from evh.store.journal import Appender

__all__ = ["Done", "Failed", "Plan", "Progress", "commit", "plan"]


@dataclass(frozen=True, slots=True)
class Failed:
    """One question without a verdict, and why."""

    judge: str
    item_id: str
    error: str


@dataclass(frozen=True, slots=True)
class Done:
    """What a pass did.

    Attributes:
        runs: the judged runs, in the order of the arms; none where it stopped early.
        failed: the questions without a verdict; the next pass asks them again.
        asked: questions that were asked now.
        known: questions whose verdict was here already.
        of: all questions.
        cost_usd: what the pass has cost by now, earlier calls included; None where that is not known.
        stopped: why not every question was asked; None where all were.
        measured: how the judges judge: position, noise, disagreement (see `Tally.measured`).
        notes: what a person should know.
    """

    runs: tuple[Run, ...]
    failed: tuple[Failed, ...]
    asked: int
    known: int
    of: int
    cost_usd: float | None
    stopped: str | None
    measured: Mapping[str, Any]
    notes: tuple[str, ...]


def commit(project: Project, plan: Plan, *, progress: Callable[[Progress], None] | None = None) -> Done:
    """Ask what has no verdict yet, keep each verdict as it comes, and write the judged runs.

    Each verdict is on the disk before it counts. A pass that was killed or stopped goes on where it ended:
    the same command asks only what is left. A pass that stopped early writes no judged run.

    Args:
        project: the project.
        plan: from `plan`.
        progress: told where it stands, about twenty times a second at most.

    Raises:
        Refusal: another process judges by this judge; the disk is full.
    """
    scorer = plan.judge.scorer
    budget = Budget(plan.max_cost)
    budget.had(list(plan.spent))
    asked = 0
    with held(project.locks, judged.verdicts_path(project, scorer), wait_s=0):
        judged.keep_salt(project, scorer, plan.salt)
        with judged.open_verdicts(project, scorer) as journal:
            if plan.imported is not None:
                asked = _keep_imported(project, plan, journal)
                reason = None
            else:
                meter = _Meter(plan, journal, progress)
                asking = Asking(plan, budget, idle=meter.idle)
                for one in asking.verdicts(plan.waiting):
                    journal.append({**one.row, "at": project.stamp()})
                    meter.saw(one.row)
                reason, asked = asking.stopped, meter.asked
                meter.tell()
        keys = {unit.key for unit in plan.units}
        rows = judged.verdicts(project, scorer, unfit=unfit(plan.judge, keys))
        wanted = list(dict.fromkeys(unit.key for unit in plan.units))
        left = [key for key in wanted if key not in rows]
        failed = _failed(plan, rows)
        tally = Tally(plan.judge, plan.frame, plan.items, len(plan.arms), rows)
        measured = tally.measured()
        made: tuple[Run, ...] = ()
        if reason is None or not left:
            made = _write(project, plan, tally, measured)
    costs = [row["cost_usd"] for key in wanted if (row := rows.get(key)) and "cost_usd" in row]
    return Done(
        runs=made,
        failed=failed,
        asked=asked,
        known=len(wanted) - len(plan.waiting) if plan.imported is None else 0,
        of=len(wanted),
        cost_usd=float(sum(costs)) if costs else None,
        stopped=reason if left else None,
        measured=measured,
        notes=plan.notes,
    )


def _keep_imported(project: Project, plan: Plan, journal: Appender) -> int:
    """Append the verdicts of a file that are not here as they are; return how many."""
    known = judged.verdicts(project, plan.judge.scorer)
    count = 0
    for row in plan.imported or ():
        before = known.get(row["key"])
        if before is None or any(
            before.get(name) != row.get(name) for name in ("said", "error", "shown", "why")
        ):
            journal.append(row)
            count += 1
    return count


def _failed(plan: Plan, rows: Mapping[str, Mapping[str, Any]]) -> tuple[Failed, ...]:
    made = {}
    for unit in plan.units:
        row = rows.get(unit.key)
        if row is not None and load(row.get("said")) is None:
            made[unit.key] = Failed(unit.judge, unit.item_id, str(row.get("error") or "no verdict"))
        elif row is None and plan.imported is not None:
            made[unit.key] = Failed(unit.judge, unit.item_id, "no row of the file answers this question")
    return tuple(made.values())


def _write(project: Project, plan: Plan, tally: Tally, measured: Mapping[str, Any]) -> tuple[Run, ...]:
    """Write a judged run for each arm and return them."""
    outcomes = {one.item.item_id: tally.outcomes(one) for one in plan.items}
    about = _about(project, plan, measured)
    named = {name: f"{name}{about['word']}" for name in metrics_of(plan.judge)}
    together = sorted(arm.run.key for arm in plan.arms)
    made = []
    for at, arm in enumerate(plan.arms):
        rows = []
        for item in plan.dataset.items:
            one = outcomes[item.item_id][at]
            scores = {named[name]: value for name, value in one.scores.items()}
            hidden = {"_judges": dict(one.judges)} if one.judges else {}
            rows.append(Prediction(item.item_id, scores=scores, error=one.error, hidden=hidden))
        means = {name: [row.scores[name] for row in rows if name in row.scores] for name in named.values()}
        run = Run(
            run_id=arm.run.run_id,
            config_id=arm.run.config_id,
            dataset_id=plan.dataset.dataset_id,
            folder=judged.folder(plan.judge.scorer),
            created_at=project.stamp(),
            n_items=len(rows),
            n_errors=sum(row.error is not None for row in rows),
            primary_metric=named[plan.judge.metric],
            metric_kinds=dict.fromkeys(named.values(), "judge"),
            metric_directions=dict.fromkeys(named.values(), "higher"),
            scores={name: value for name, of in means.items() if (value := mean(of)) is not None},
            build=fingerprint.build(),
            fingerprint=_fingerprint(plan, at),
            derived={"kind": "judged", "from": arm.run.key},
            judged={**about["judged"], "run_id": arm.run.run_id, "run": arm.run.key, "together": together},
            extra={"n_scored": sum(bool(row.scores) for row in rows)},
        )
        made.append(judged.write(project, run, rows))
    return tuple(made)


def _about(project: Project, plan: Plan, measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all judged runs of a pass say of the judging, and the word that their metrics end in."""
    judge = plan.judge
    by = ", ".join(judge.judges)
    about: dict[str, Any] = {
        "scorer": judge.scorer,
        "kind": judge.kind,
        "by": by,
        "by_kind": "model",
        "rubric_sha256": plan.rubric_sha256,
        "sheet_sha256": None,
        "key_sha256": None,
        "judge_sha256": plan.judge_sha256,
        "question_sha256": plan.frame.question_sha256,
        "askers": dict(plan.frame.askers),
        "combine": judge.combine,
        "repeats": judge.repeats,
        "measured": dict(measured),
        **({"imported": True} if plan.imported is not None else {}),
    }
    probe = Run("probe", "probe", plan.dataset.dataset_id, judged=about)
    valid = judged.validity(project).holds(probe)
    note = None if valid else f"unvalidated: judged by {by}, not measured against people"
    return {"judged": {**about, "note": note}, "word": "" if valid else UNVALIDATED}


def _fingerprint(plan: Plan, at: int) -> dict[str, Any]:
    """Return what a judged run was made of."""
    from evh.store.hashing import sha256_lines

    shas = [f"{one.item.sha256}\t{one.outputs.get(at, '')}" for one in plan.items]
    return fingerprint.make(
        arm={"config_id": plan.arms[at].run.config_id, "run": plan.arms[at].run.key},
        data={
            "dataset": plan.dataset.dataset_id,
            "items_sha256": datasets.digest(plan.dataset),
            "outputs_sha256": sha256_lines(shas),
        },
        instrument={"scorer": plan.judge.scorer, "question_sha256": plan.frame.question_sha256},
        system_under_test={"askers": dict(plan.frame.askers), "judge_sha256": plan.judge_sha256},
    )


class _Meter:
    """Flushes what has come, and tells where a pass stands."""

    def __init__(self, plan: Plan, journal: Appender, progress: Callable[[Progress], None] | None) -> None:
        self._plan, self._journal, self._progress = plan, journal, progress
        self._began = self._flushed_at = time.monotonic()
        self._tokens = 0.0
        self._failed = 0
        self._cost = sum(plan.spent) if plan.spent else None
        self.asked = 0

    def saw(self, row: Mapping[str, Any]) -> None:
        """Count one answer."""
        self.asked += 1
        self._failed += "error" in row
        self._tokens += (row.get("tokens_in") or 0) + (row.get("tokens_out") or 0)
        if row.get("cost_usd") is not None:
            self._cost = (self._cost or 0.0) + row["cost_usd"]
        if time.monotonic() - self._flushed_at >= FLUSH_S:
            self.idle()

    def idle(self) -> None:
        """Flush what has come while no more comes."""
        self._flushed_at = time.monotonic()
        if self._journal.waiting:
            self._journal.flush()
            self._flushed_at = time.monotonic()
            self.tell()

    def tell(self) -> None:
        """Tell where the pass stands."""
        if self._progress is None:
            return
        taken = max(time.monotonic() - self._began, 1e-9)
        left = len(self._plan.waiting) - self.asked
        of = len({unit.key for unit in self._plan.units})
        rate = self.asked / taken
        self._progress(
            Progress(
                done=of - left,
                of=of,
                failed=self._failed,
                per_s=rate,
                tokens=int(self._tokens),
                cost_usd=self._cost,
                left_s=left / rate if rate > 0 else None,
            )
        )
