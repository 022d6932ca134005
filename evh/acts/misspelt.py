"""Keys of a config that are nearly known ones: told before it runs, for a key that evh does not know is kept.

Reading never refuses such a key: the configs of another harness have keys of their own.
"""

from __future__ import annotations

import difflib
from dataclasses import fields
from typing import TYPE_CHECKING

from evh.acts import model_calls
from evh.errors import Refusal
from evh.project import configs
from evh.records.config import Config

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from evh.project.find import Project

KEYS = tuple(field.name for field in fields(Config) if field.name != "extra")
ALWAYS = ("provider", "prompt_file", "usd_per_mtok_in", "usd_per_mtok_out")
PARAMS = {"recorded": ("capture", "field"), "command": ("command", "timeout_s")}
"""What evh itself reads of ``params``, by provider; the rest is the adapter's own."""
NEAR = 0.8


def read(project: Project, name: str) -> Config:
    """Return the config that ``--config`` names.

    Raises:
        Refusal: no such config; the file of that name says that it is another one.
    """
    config = configs.read(project, name)
    if config.config_id == name:
        return config
    place = project.show(configs.path_of(project, name))
    raise Refusal(
        "other-config",
        f"{place} is not the config {name!r}",
        why=[f"{place}: config_id: is {config.config_id!r}, and the file is named {name!r}"],
        next=f"write config_id: {name} in it, or rename the file to {config.config_id}.yaml",
    )


def refuse(project: Project, config: Config) -> None:
    """Raise a Refusal that names each key of a config that is a near miss of a known one."""
    place = project.show(configs.path_of(project, config.config_id))
    there = {name for name in KEYS if getattr(config, name) != Config.__dataclass_fields__[name].default}
    known = (*ALWAYS, *PARAMS.get(config.provider, ()))
    if model_calls.is_model(project, config):
        known = (*ALWAYS, *model_calls.OWN, *model_calls.SETTINGS)
    reasons = [f"{place}: {said}" for said in _near(config.extra, KEYS, there)]
    reasons += [
        f"{place}: params.{said}" for said in _near(config.params, known, config.params, plurals=False)
    ]
    if not config.provider and "provider" in config.extra:
        reasons.append(f"{place}: provider: stands at the top; it belongs under params")
    if reasons:
        raise Refusal(
            "unknown-key",
            f"the config {config.config_id!r} has keys that evh does not know",
            why=reasons,
            next=f"mend {place}; evh help configs",
        )


def _near(
    given: Iterable[str], known: Collection[str], there: Collection[str], *, plurals: bool = True
) -> list[str]:
    """Return what to say of each key that is nearly a known one which is not there itself."""
    made = []
    for key in given:
        lacking = [name for name in known if name not in there and key not in known]
        if not plurals:  # an adapter may well read a list of them
            lacking = [name for name in lacking if key != f"{name}s"]
        near = difflib.get_close_matches(key, lacking, n=1, cutoff=NEAR)
        made += [f"{key}: is not known; {name} is" for name in near]
    return made
