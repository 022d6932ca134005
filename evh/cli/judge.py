"""``evh judge`` and ``evh judge-validate``: models judge stored outputs, and are measured against people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.errors import Partly, Refusal
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.judge import Done, Plan
    from evh.acts.judge_validation import Validation


@common.command("judge", writes=True, example="evh judge --scorer helpful --dataset-id d --runs arm_a,arm_b")
@click.option("--scorer", required=True, metavar="S", help="The judge: data/judges/S.yaml.")
@click.option("--dataset-id", required=True, metavar="D", help="The dataset.")
@click.option(
    "--runs", default="", metavar="A,B", help="Config or run ids (default: all arms that ran on D)."
)
@click.option(
    "--from-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take verdicts that were given elsewhere from a CSV file; nothing is asked.",
)
@click.option(
    "--max-cost", type=float, metavar="USD", help="Ask no further question that would pass this cost."
)
@click.option("--concurrency", type=click.IntRange(1, 256), metavar="N", help="Ask N questions at once.")
def judge(
    *,
    scorer: str,
    dataset_id: str,
    runs: str,
    from_file: Path | None,
    max_cost: float | None,
    concurrency: int | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Let models judge stored outputs by a rubric, blind to whose they are.

    Each verdict is kept as it comes: the same command goes on where it was stopped, and asks nothing that is
    known already. Exit 3: some questions have no verdict; the rest is judged.
    """
    from evh.acts import judge as act
    from evh.cli import run_lines

    project = common.project()
    with run_lines.quiet_adapters():
        plan = act.plan(
            project, scorer, dataset_id, _listed(runs),
            verdicts=from_file, max_cost=max_cost, concurrency=concurrency,
        )  # fmt: skip
    if dry_run:
        if as_json:
            common.emit("judge", "runs", [], warnings=plan.notes, failed=[], would=plan.says())
            return
        for line in plan.says():
            common.say(f"would {line}")
        common.warn(plan.notes)
        return
    with run_lines.quiet_adapters(), run_lines.run_progress(as_json=as_json) as progress:
        done = act.commit(project, plan, progress=progress)
    _tell_done(plan, done, as_json=as_json)


@common.command(
    "judge-validate",
    writes=True,
    example="evh judge-validate --scorer helpful --labels d/owner_2026_11 --write",
)
@click.option("--scorer", required=True, metavar="S", help="The judge: data/judges/S.yaml.")
@click.option(
    "--labels", "labels_ref", required=True, metavar="D/S", help="A person's labels of what was judged."
)
@click.option("--runs", default="", metavar="A,B", help="The arms, where the judge has judged several times.")
@click.option(
    "--map", "mapped", multiple=True, metavar="LABEL=ARM", help="What a label stands for: an arm, or tie."
)
@click.option("--write", "writes", is_flag=True, help="Set validated_by in the judge's file.")
def judge_validate(
    *,
    scorer: str,
    labels_ref: str,
    runs: str,
    mapped: tuple[str, ...],
    writes: bool,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Measure a judge against people's labels, and record that with --write.

    Until then every metric of the judge ends in _unvalidated.
    """
    from evh.acts import judge_validate as act
    from evh.store.strict import compact

    project = common.project()
    stands = _mapped(mapped)
    found = act.measure(project, scorer, labels_ref, names=_listed(runs), mapped=stands)
    line = f"validated_by: {compact(found.record(project.stamp()))}"
    written = None
    if writes and not dry_run:
        written = project.show(act.write(project, found))
    if as_json:
        row = {**_validation(found), "line": line, "written": written}
        common.emit("judge-validate", "judges", [row], warnings=found.notes)
        return
    _tell_validation(found)
    common.warn(found.notes)
    common.say()
    if written:
        common.say(f"{written}: validated_by is set; the judge's metrics are shown without _unvalidated")
        return
    common.say(
        f"{'would write' if writes else 'to record it, write'} this line into data/judges/{scorer}.yaml:"
    )
    common.say(f"  {line}")
    if not writes:
        common.next_steps([f"evh judge-validate --scorer {scorer} --labels {found.labels} --write"])


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _mapped(given: Sequence[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    reasons = []
    for one in given:
        label, sign, arm = one.rpartition("=")
        if not sign or not label or not arm:
            reasons.append(f"--map {one}: it is written LABEL=ARM")
        elif made.setdefault(label, arm) != arm:
            reasons.append(f"--map {one}: {label} stands for {made[label]} already")
    if reasons:
        raise Refusal("bad-options", "that cannot be measured", why=reasons, next="evh judge-validate --help")
    return made


def _tell_done(plan: Plan, done: Done, *, as_json: bool) -> None:
    failed = [{"judge": one.judge, "item_id": one.item_id, "error": one.error} for one in done.failed]
    code = Partly.exit_code if done.stopped or done.failed else 0
    if as_json:
        common.emit(
            "judge",
            "runs",
            [_run(run) for run in done.runs],
            warnings=done.notes,
            failed=failed,
            scorer=plan.judge.scorer,
            kind=plan.judge.kind,
            dataset_id=plan.dataset.dataset_id,
            asked=done.asked,
            known=done.known,
            of=done.of,
            cost_usd=done.cost_usd,
            stopped=done.stopped,
            rubric_sha256=plan.rubric_sha256,
            judge_sha256=plan.judge_sha256,
            measured=done.measured,
        )
        if code:
            click.get_current_context().exit(code)
        return
    cost = f", {done.cost_usd:.4f} USD in all" if done.cost_usd is not None else ""
    what = "taken from the file" if plan.imported is not None else "asked"
    common.say(
        f"{plan.judge.scorer} ({plan.judge.kind}) on {plan.dataset.dataset_id}: "
        f"{plural(done.of, 'question')}, {done.asked:,} {what}, {done.known:,} known{cost}"
    )
    for run in done.runs:
        value = run.scores.get(run.primary_metric or "")
        told = "—" if value is None else f"{value:.3f}"
        scored = run.extra.get("n_scored")
        common.say(f"{run.key}: {run.primary_metric} {told} over {scored:,} of {plural(run.n_items, 'item')}")
    for line in _measured_lines(done.measured):
        common.say(line)
    common.warn(done.notes)
    why = [f"{one.judge}: {one.item_id}: {one_line(one.error, 160)}" for one in done.failed]
    again = f"evh judge --scorer {plan.judge.scorer} --dataset-id {plan.dataset.dataset_id}"
    names = ",".join(arm.name for arm in plan.arms)
    if code:
        following = f"{again} --runs {names} asks what is left; no verdict is asked twice"
        if plan.imported is not None:
            following = f"add what lacks to the file: {again} --runs {names} --from-file FILE takes it too"
        raise Partly(
            "judging-stopped" if done.stopped else "questions-failed",
            done.stopped or f"{plural(len(done.failed), 'question')} without a verdict; the rest is judged",
            why=why,
            next=following,
        )
    common.next_steps(
        [
            f"evh judge-validate --scorer {plan.judge.scorer} --labels {plan.dataset.dataset_id}/SET",
            f"evh inspect --sheet --dataset-id {plan.dataset.dataset_id} --runs {names}",
        ]
    )


def _measured_lines(measured: Mapping[str, Any]) -> list[str]:
    made = []
    for name, one in measured["judges"].items():
        parts = [f"{one['read']:,} of {plural(one['asked'], 'verdict')} read"]
        position = one.get("position")
        if position and position["pairs"]:
            parts.append(
                f"both orders alike on {position['agreement']:.1%} of {plural(position['pairs'], 'pair')}"
            )
            if position["first_share"] is not None:
                interval = position["first_interval"]
                parts.append(
                    f"the first shown won {position['first_share']:.1%} "
                    f"({interval['low']:.1%}–{interval['high']:.1%}; 50 % without bias)"
                )
        parts += [
            f"place A picked {place['share']:.1%} ({place['expected']:.1%} without bias)"
            for place in (one.get("places") or [])[:1]
        ]
        noise = one["noise"]
        if noise["questions"]:
            parts.append(f"asked again it changed {noise['share']:.1%} of {noise['questions']:,} verdicts")
        made.append(f"  {name}: {'; '.join(parts)}")
    apart = measured["disagreement"]
    if apart and apart["questions"]:
        alpha = f", alpha {apart['alpha']:.3f}" if apart["alpha"] is not None else ""
        made.append(f"  the judges part on {apart['share']:.1%} of {apart['questions']:,} questions{alpha}")
    return made


def _tell_validation(found: Validation) -> None:
    from evh.cli.table import table
    from evh.records.answers import shown

    agreed = found.agreement
    common.say(
        f"{found.judge.scorer} ({found.judge.kind}) against {found.labels} on {found.dataset_id}: "
        f"{plural(agreed.n, 'item')} of both, {found.n_labelled:,} labelled, {found.n_judged:,} judged"
    )
    rows: list[list[object]] = [
        ["agrees with people", _share(agreed.same_share), _ends(agreed.same_interval, percent=True)],
        [
            "always the same answer",
            _share(found.baseline),
            None if found.baseline_answer is None else one_line(shown(found.baseline_answer), 40),
        ],
        ["Cohen's kappa", _figure(agreed.kappa), _ends(found.intervals.kappa)],
        ["Gwet's AC1", _figure(agreed.ac1), _ends(found.intervals.ac1)],
    ]
    if agreed.kappa_quadratic is not None:
        rows.append(["kappa, quadratic weights", _figure(agreed.kappa_quadratic), None])
    if found.mean_error is not None:
        rows.append(["mean distance of grades", _figure(found.mean_error), None])
    for one in found.orders:
        rows += [
            [
                f"{one.judge}: {order.first} first",
                _share(order.accuracy),
                f"{order.correct:,} of {order.read:,} read, {order.n:,} asked",
            ]
            for order in one.orders
        ]
        rows.append([f"{one.judge}: both orders", _share(one.accuracy), "the mean of the two"])
        position = one.position
        rows.append(
            [
                f"{one.judge}: orders alike",
                _share(position.agreement),
                f"{position.consistent:,} of {plural(position.pairs, 'pair')}",
            ]
        )
    table(["", "figure", "interval or count"], rows, right=(1,))
    common.say()
    common.say("judge ↓ people →")
    named = [one_line(shown(text), 32) for text in agreed.confusion.categories]
    table(
        ["", *named],
        [[name, *counts] for name, counts in zip(named, agreed.confusion.counts, strict=True)],
        right=range(1, len(named) + 1),
    )


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.1%}"


def _figure(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"


def _ends(interval: Any, *, percent: bool = False) -> str | None:  # noqa: ANN401 - an Interval or None
    if interval is None:
        return None
    low, high = interval.low, interval.high
    return f"{low:.1%}–{high:.1%}" if percent else f"{low:.3f}–{high:.3f}"


def _run(run: Any) -> dict[str, Any]:  # noqa: ANN401 - a Run
    return {
        "run": run.key,
        "of": run.judged["run"],
        "config_id": run.config_id,
        "metric": run.primary_metric,
        "value": run.scores.get(run.primary_metric),
        "scores": dict(run.scores),
        "n_items": run.n_items,
        "n_scored": run.extra["n_scored"],
        "n_errors": run.n_errors,
        "validated": run.judged["note"] is None,
        "note": run.judged["note"],
    }


def _validation(found: Validation) -> dict[str, Any]:
    from dataclasses import asdict

    agreed = found.agreement

    def ends(interval: Any) -> dict[str, float] | None:  # noqa: ANN401 - an Interval or None
        return None if interval is None else {"low": interval.low, "high": interval.high}

    return {
        "scorer": found.judge.scorer,
        "kind": found.judge.kind,
        "dataset_id": found.dataset_id,
        "arms": list(found.arms),
        "runs": list(found.runs),
        "labels": found.labels,
        "rubric_sha256": found.rubric_sha256,
        "judge_sha256": found.judge_sha256 or None,
        "n": agreed.n,
        "n_labelled": found.n_labelled,
        "n_judged": found.n_judged,
        "too_few": agreed.too_few,
        "agreement": agreed.same_share,
        "agreement_interval": ends(agreed.same_interval),
        "sharing": agreed.sharing,
        "kappa": agreed.kappa,
        "kappa_interval": ends(found.intervals.kappa),
        "kappa_quadratic": agreed.kappa_quadratic,
        "ac1": agreed.ac1,
        "ac1_interval": ends(found.intervals.ac1),
        "baseline": found.baseline,
        "baseline_answer": found.baseline_answer,
        "mean_error": found.mean_error,
        "confusion": {
            "categories": list(agreed.confusion.categories),
            "counts": [list(row) for row in agreed.confusion.counts],
        },
        "orders": [asdict(one) for one in found.orders],
    }
