"""``evh doctor``: what a bug report needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.cli import common

if TYPE_CHECKING:
    from collections.abc import Mapping


@common.command("doctor", example="evh doctor > report.txt")
def doctor(as_json: bool) -> None:
    """Tell what a bug report needs: versions, the machine by kind, sizes, findings. No names, no paths.

    Read it before you hand it on, all the same.
    """
    from evh.acts import doctor as act

    report = act.examine(common.project())
    if as_json:
        row: dict[str, Any] = {name: _plain(getattr(report, name)) for name in report.__slots__}
        common.emit("doctor", "reports", [row])
        return
    common.say(f"evh {report.evh['version']}")
    for name in report.__slots__:
        common.say(f"{name}:")
        for key, value in getattr(report, name).items():
            common.say(f"  {key:20} {_told(value)}")


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: dict(one) if isinstance(one, dict) else one for key, one in value.items()}


def _told(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {one:,}" for key, one in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "not installed" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
