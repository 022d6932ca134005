"""``evh deploy-sheet``: what production must match, and whether a capture says that it did."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common
from evh.store import strict
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.acts.deploy_check import Check
    from evh.acts.deploy_sheet import DeploySheet

FEW_DAYS = 5


@common.command("deploy-sheet", example="evh deploy-sheet --config candidate_v2 --capture october")
@click.option("--config", "config_id", required=True, metavar="ARM", help="The arm.")
@click.option("--capture", "capture_id", metavar="C", help="Hold this capture's records against it.")
def deploy_sheet(*, config_id: str, capture_id: str | None, as_json: bool) -> None:
    """Everything that production must match to run what was measured: exit 1 when a capture differs.

    It reads the run that was promoted, else the arm's latest, which it says.
    """
    from evh.acts.deploy_sheet import deploy_sheet as act
    from evh.cli import run_lines

    with run_lines.quiet_adapters():
        made = act(common.project(), config_id, capture_id=capture_id)
    if as_json:
        common.emit("deploy-sheet", "sheets", [_row(made)], warnings=made.notes)
    else:
        _show(made)
        common.warn(made.notes)
        if capture_id is None:
            quoted = shlex.quote(config_id)
            common.next_steps([f"evh deploy-sheet --config {quoted} --capture CAPTURE", "evh captures"])
    if made.check is not None and made.check.differ:
        click.get_current_context().exit(1)


def _show(made: DeploySheet) -> None:
    for promotion in made.promotions:
        where = f" for {promotion.goal}" if promotion.goal else ""
        common.say(f"{made.config_id}: promoted{where} {promotion.promoted_at}: {one_line(promotion.reason)}")
    if not made.promotions:
        common.say(f"{made.config_id}: not promoted{', as far as can be read' if made.unknown else ''}")
    common.say(f"run: {made.run.key}")
    _show_model(made)
    _show_prompt(made)
    common.say(f"adapter: {made.adapter}")
    _hash("", made.adapter_sha256)
    common.say(f"measured on: {made.dataset_id}")
    _hash("items ", made.items_sha256)
    common.say(f"measured against: {made.against or 'nothing'}")
    if made.check is not None:
        common.say()
        _show_check(made.check)


def _show_model(made: DeploySheet) -> None:
    common.say(f"provider: {made.provider or 'not recorded'}")
    common.say(f"model: {made.model or 'not recorded'}")
    if made.model_record:
        known = f", upstream {made.upstream}" if made.upstream else ""
        common.say(f"model record: {made.model_record}{known}")
    for key, value in made.deployment.items():
        common.say(f"  {one_line(key)}: {_shown(value)}")
    if made.base_url:
        common.say(f"server: {made.base_url}")
    common.say("settings sent:" if made.settings else "settings sent: none")
    for key, value in sorted(made.settings.items()):
        common.say(f"  {one_line(key)}: {_shown(value)}")
    for setting in made.not_sent:
        sent = "was not sent" if setting.sent is None else f"was sent as {_shown(setting.sent)}"
        common.say(
            f"  the model record says {one_line(setting.name)}: {_shown(setting.record)}, and it {sent}"
        )


def _show_prompt(made: DeploySheet) -> None:
    version = f", version {one_line(made.prompt_version)}" if made.prompt_version else ""
    place = made.prompt_file or ("in the config" if made.prompt_sha256 else "none")
    common.say(f"prompt: {one_line(place)}{version}")
    _hash("", made.prompt_sha256)
    for message in made.prompt:
        common.say(f"  {one_line(message['role'])}:")
        for line in message["content"].splitlines():
            common.say(f"    {line}")


def _hash(name: str, value: str | None) -> None:
    if value:
        common.say(f"  {name}sha256 {value}")


def _show_check(found: Check) -> None:
    from evh.cli.table import table

    common.say(
        f"{found.capture_id}: of {plural(found.n, 'record')} {found.match:,} match, {found.differ:,} differ, "
        f"{found.unrecorded:,} not recorded"
    )
    if found.sentence:
        common.say(found.sentence)
    for name, n in sorted(found.lacking.items()):
        common.say(f"  {plural(n, 'record')} cannot be told by the {name}: it is not recorded")
    if found.no_settings:
        common.say(f"  {plural(found.no_settings, 'record')} of those that match say nothing of the settings")
    for one in found.differences:
        expected = "nothing" if one.expected is None else one_line(one.expected)
        common.say(
            f"  {one.what}: {one_line(one.found)} in place of {expected}: {plural(one.n, 'record')}, on "
            f"{_days(one.days)}"
        )
    for other in found.unsaid:
        sent = f"{one_line(other.what)} = {one_line(other.found)}"
        verb = "sends" if other.n == 1 else "send"
        common.say(f"  {plural(other.n, 'record')} {verb} {sent}; what was measured does not say")
    if found.differ or (found.match and found.unrecorded):  # all alike needs no table
        table(
            ["day", "match", "differ", "not recorded"],
            [(one.day, one.match, one.differ, one.unrecorded) for one in found.days],
            right=(1, 2, 3),
            keep=(0,),
        )
    common.warn(found.problems)


def _days(days: tuple[str, ...]) -> str:
    """Return the days on which something differs: all of a few, else how many and from when to when."""
    if len(days) <= FEW_DAYS:
        return ", ".join(days)
    return f"{len(days)} days from {days[0]} to {days[-1]}"


def _shown(value: object) -> str:
    return one_line(value if isinstance(value, str) else strict.compact(value))


def _row(made: DeploySheet) -> dict[str, Any]:
    from evh.cli import deciding_json

    return {
        "config_id": made.config_id,
        "run": made.run.key,
        "promotions": [deciding_json.baseline(one) for one in made.promotions],
        "provider": made.provider or None,
        "model": made.model,
        "model_record": made.model_record,
        "upstream": made.upstream,
        "deployment": dict(made.deployment),
        "base_url": made.base_url,
        "settings": dict(made.settings),
        "not_sent": [{"name": one.name, "record": one.record, "sent": one.sent} for one in made.not_sent],
        "prompt": [dict(one) for one in made.prompt],
        "prompt_file": made.prompt_file,
        "prompt_sha256": made.prompt_sha256,
        "prompt_version": made.prompt_version,
        "adapter": made.adapter,
        "adapter_sha256": made.adapter_sha256,
        "dataset_id": made.dataset_id,
        "items_sha256": made.items_sha256,
        "against": made.against,
        "fingerprint": made.fingerprint,
        "check": deciding_json.check(made.check) if made.check else None,
    }
