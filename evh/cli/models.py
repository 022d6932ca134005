"""``evh models`` and ``evh model-record``: which model and build a name stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evh.cli import common

if TYPE_CHECKING:
    from evh.records.model import Model


@common.command("models", example="evh models")
def models(*, as_json: bool) -> None:
    """List model records: the build, the prices, the arms that name each, and when it last answered."""
    from evh.acts import models as act
    from evh.cli.table import table

    project = common.project()
    found = act.listing(project)
    warnings = [str(problem) for problem in found.problems]
    warnings += [
        f"{', '.join(arms)}: the model record {name} is not here (evh model-record --model {name})"
        for name, arms in found.lacking.items()
    ]
    if as_json:
        rows = [{**_row(line.model), "arms": list(line.arms)} for line in found.lines]
        common.emit("models", "models", rows, warnings=warnings)
        return
    if found.lines:
        table(
            ["model", "upstream", "build", "USD/M in", "USD/M out", "arms", "last smoke", "answered"],
            [
                (
                    line.model.model_id,
                    line.model.name,
                    line.model.deployment.get("tag") or line.model.deployment.get("digest"),
                    _price(line.model, "usd_per_mtok_in"),
                    _price(line.model, "usd_per_mtok_out"),
                    ", ".join(line.arms) or None,
                    line.smoke.get("at") if line.smoke else None,
                    ("yes" if line.smoke.get("ok") else "no") if line.smoke else None,
                )
                for line in found.lines
            ],
            right=(3, 4),
            keep=(0,),
            drop=(1, 2, 5),
        )
    else:
        common.say("no model record yet")
    common.warn(warnings)
    first = next((line.arms[0] for line in found.lines if line.arms and line.smoke is None), None)
    common.next_steps(
        [f"evh arm-smoke --config {first}"]
        if first
        else []
        if found.lines
        else ["evh model-record --model NAME --price in=USD --price out=USD"]
    )


@common.command(
    "model-record",
    writes=True,
    example="evh model-record --model r1_32b --upstream reasoning --deployment tag=v2 --price in=0.2",
)
@click.option("--model", "model_id", required=True, metavar="M", help="The record's id: configs name it.")
@click.option("--upstream", metavar="NAME", help="The name that the server knows it by (default: M).")
@click.option(
    "--deployment",
    multiple=True,
    metavar="K=V",
    help="The build: tag, digest, server, server_settings.NAME. K= takes a key away.",
)
@click.option(
    "--setting", "settings", multiple=True, metavar="K=V", help="A setting it is meant to run with."
)
@click.option(
    "--price", "prices", multiple=True, metavar="in|out=USD", help="US dollars a million tokens, in or out."
)
@click.option("--notes", metavar="TEXT", help="A remark.")
def model_record(
    *,
    model_id: str,
    upstream: str | None,
    deployment: tuple[str, ...],
    settings: tuple[str, ...],
    prices: tuple[str, ...],
    notes: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Write a model record, or change keys of the one that is there; its smoke calls are kept.

    A config that names the record (model_record: M) asks its upstream name, takes its prices, and has its
    build and settings in the fingerprint.
    """
    from evh.acts import model_record as act

    project = common.project()
    plan = act.plan(
        project,
        model_id,
        upstream=upstream,
        deployment=deployment,
        settings=settings,
        prices=prices,
        notes=notes,
    )
    changes = [{"key": one.key, "before": one.before, "after": one.after} for one in plan.changes]
    if dry_run:
        if as_json:
            common.emit("model-record", "models", [], changes=changes, would=plan.says())
            return
        for line in plan.says():
            common.say(f"would {line}" if line == plan.says()[0] else f"  {line}")
        return
    made = act.commit(project, plan)
    if as_json:
        common.emit("model-record", "models", [_row(made)], changes=changes)
        return
    common.say(f"models/{model_id}.json: {'written' if plan.new else 'changed'}")
    for line in plan.says()[1:]:
        common.say(f"  {line}")
    common.next_steps(["evh arm-smoke --config CONFIG   # one whose model_record is this", "evh models"])


def _row(model: Model) -> dict[str, Any]:
    from evh.records.model import dump

    return {key: value for key, value in dump(model).items() if key not in model.extra} | {
        "identity_sha256": model.identity()
    }


def _price(model: Model, name: str) -> str | None:
    value = model.prices.get(name)
    return None if value is None else f"{value:g}"
