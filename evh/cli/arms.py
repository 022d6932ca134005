"""``evh arms`` and ``evh arm-smoke``: what answers, and whether it does."""

from __future__ import annotations

import click

from evh.cli import common


@common.command("arms", example="evh arms --dataset-id cve_2024_07_08")
@click.option("--dataset-id", metavar="D", help="Only arms that ran on this dataset or name it.")
def arms(*, dataset_id: str | None, as_json: bool) -> None:
    """List arms: each config with what answers for it, how often it ran, and what that cost."""
    from evh.acts import arms as act
    from evh.acts import steps as step
    from evh.cli.table import table

    project = common.project()
    found = act.listing(project, dataset_id=dataset_id)
    warnings = [str(problem) for problem in found.problems]
    if as_json:
        rows = [
            {
                "config_id": line.config_id,
                "here": line.config is not None,
                "kind": line.kind or None,
                "model": line.model,
                "model_record": line.config.model_record if line.config else None,
                "adapter": line.adapter or None,
                "dataset_id": (line.config.dataset_id or None) if line.config else None,
                "goal": line.config.goal if line.config else None,
                "n_runs": line.n_runs,
                "n_unfinished": line.n_unfinished,
                "datasets": list(line.datasets),
                "latest": line.latest.key if line.latest else None,
                "cost_usd": line.cost_usd,
            }
            for line in found.lines
        ]
        common.emit("arms", "arms", rows, warnings=warnings)
        return
    if found.lines:
        table(
            ["arm", "kind", "model", "runs", "unfinished", "datasets", "cost USD", "latest"],
            [
                (
                    line.config_id,
                    line.kind or None,
                    line.model,
                    line.n_runs,
                    line.n_unfinished or None,
                    ", ".join(line.datasets) or None,
                    None if line.cost_usd is None else f"{line.cost_usd:.4f}",
                    (line.latest.created_at or line.latest.run_id) if line.latest else None,
                )
                for line in found.lines
            ],
            right=(3, 4, 6),
            keep=(0,),
            drop=(7, 4, 5, 2),
        )
    else:
        common.say("no arm yet")
    common.warn(warnings)
    gone = [line.config_id for line in found.lines if line.config is None]
    if gone:
        common.warn([f"their configs are not here: {', '.join(gone)}"])
    waiting = next((line for line in found.lines if line.config and not line.n_runs), None)
    if waiting:
        target = "" if waiting.config and waiting.config.dataset_id else f" --dataset-id {dataset_id or 'D'}"
        common.next_steps([f"evh run --config {waiting.config_id}{target}"])
    elif found.lines:
        latest = next((line.latest for line in found.lines if line.latest), None)
        common.next_steps([f"evh runs --dataset-id {latest.dataset_id}"] if latest else [])
    else:
        common.next_steps([step.run_arm(project, dataset_id or "D")])


@common.command("arm-smoke", writes=True, example="evh arm-smoke --config judge_v3")
@click.option("--config", "config_id", required=True, metavar="C", help="The arm: a config's id.")
@click.option("--dataset-id", metavar="D", help="The dataset (default: the config's).")
@click.option("--item", "item_id", metavar="X", help="The item to ask about (default: the shortest).")
def arm_smoke(
    *, config_id: str, dataset_id: str | None, item_id: str | None, as_json: bool, dry_run: bool
) -> None:
    """Ask an arm once, about its shortest item, with no second try: does it answer, how fast, at what price.

    The call goes into the smokes of the model record that the config names; the record is made where there
    is none. Of a config that names none, the command is told that records what was seen. No run is written.
    Exit 3: the call failed.
    """
    from evh.acts import arm_smoke as act
    from evh.acts import misspelt
    from evh.cli import run_lines
    from evh.errors import Partly
    from evh.store.text import one_line

    project = common.project()
    config = misspelt.read(project, config_id)
    with run_lines.quiet_adapters():
        plan = act.plan(project, config, dataset_id=dataset_id, item_id=item_id)
    if dry_run:
        if as_json:
            common.emit("arm-smoke", "smokes", [], warnings=plan.notes, would=plan.says())
            return
        for line in plan.says():
            common.say(f"would {line}")
        common.warn(plan.notes)
        return
    with run_lines.quiet_adapters():
        done = act.commit(project, plan)
    told = done.recorded
    if as_json:
        keys = ("model", "system_fingerprint", "finish_reason", "latency_ms", "tokens_in", "tokens_out")
        row = {
            key: told.get(key) for key in ("at", "config_id", "dataset_id", "item_id", "ok", "error", *keys)
        }
        row |= {"cost_usd": told.get("cost_usd"), "output": done.answer.output, "model_record": done.record}
        row["record_command"] = done.way.command if done.way else None
        common.emit("arm-smoke", "smokes", [row], warnings=plan.notes)
        if not told["ok"]:
            click.get_current_context().exit(Partly.exit_code)
        return
    common.warn(plan.notes)
    place = f"{config_id} about {told['dataset_id']}/{told['item_id']}"
    if not told["ok"]:
        raise Partly(
            "smoke-failed",
            f"{place}: no answer",
            why=[f"{place}: {one_line(str(told['error']), 300)}"],
            next=f"mend what failed, then: evh arm-smoke --config {config_id}",
        )
    figures = [
        f"{told['latency_ms']:,.0f} ms" if "latency_ms" in told else "",
        f"{told['tokens_in']:,} tokens in" if "tokens_in" in told else "",
        f"{told['tokens_out']:,} out" if "tokens_out" in told else "",
        f"{told['cost_usd']:.6f} USD" if "cost_usd" in told else "",
        f"model {told['model']}" if "model" in told else "",
        f"build {told['system_fingerprint']}" if "system_fingerprint" in told else "",
        f"ended by {told['finish_reason']}" if "finish_reason" in told else "",
    ]
    common.say(f"{place}: answered; {', '.join(filter(None, figures))}".rstrip("; "))
    common.say(f"  {one_line(done.answer.output or '', 300)}")
    if done.record:
        common.say(f"models/{done.record}.json: the call is recorded")
    steps = [run_lines.go_on(config, plan.dataset.dataset_id, "").rstrip()]
    if done.way:
        name = done.way.model_id
        if done.way.command is None:
            common.say(f"the model record {name} is of this model, and {config_id} does not name it")
        else:
            steps.insert(0, done.way.command)
        common.say(f"to record calls, name it in {done.way.config}: model_record: {name}")
    common.next_steps(steps)
