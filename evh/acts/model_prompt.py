"""The messages that a model gets for an item: a system message, and a user message with the item in it.

A prompt that holds ``{{item}}`` becomes the one user message, with the item in its place, and any
``{{fields.NAME}}`` with the item's fields. A prompt without ``{{item}}`` is the system message, and the item
alone is the user message. With no prompt the item alone is sent.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project import configs
from evh.store import strict
from evh.store.hashing import sha256_file, sha256_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.dataset import Dataset, Item

ITEM = "item"
_PLACE = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
_FIELD = "fields."
_NEAR = 0.6


@dataclass(frozen=True, slots=True)
class Prompt:
    """The texts that are sent with an item; ``None`` is no such message.

    ``user`` is where the item goes: ``{{item}}`` alone where the prompt has no place for it.
    """

    system: str | None
    user: str = "{{item}}"

    @property
    def fields(self) -> tuple[str, ...]:
        """The item's fields that it needs."""
        names = [name for text in (self.system, self.user) for name in _PLACE.findall(text or "")]
        return tuple(dict.fromkeys(n.removeprefix(_FIELD) for n in names if n.startswith(_FIELD)))

    def template(self) -> list[dict[str, str]]:
        """Return the messages with their placeholders: what is sent, minus the item."""
        return _messages(self.system, self.user)

    def messages(self, text: str, fields: Mapping[str, Any]) -> list[dict[str, str]]:
        """Return the messages for an item. What an item or a field holds is never read as a placeholder.

        Args:
            text: the item's text.
            fields: the item's fields.
        """
        return _messages(
            None if self.system is None else _filled(self.system, None, fields),
            _filled(self.user, text, fields),
        )


def read(project: Project, config: Config) -> tuple[Prompt | None, list[str], list[str]]:
    """Return a config's prompt, why there is none, and what a person should know of it.

    Args:
        project: the project.
        config: the arm.
    """
    params, place = config.params, config.config_id
    reasons = [
        f"{place}: params.{key}: is not a text"
        for key in ("system", "prompt", "prompt_file")
        if params.get(key) is not None and not isinstance(params[key], str)
    ]
    if params.get("prompt") is not None and params.get("prompt_file") is not None:
        reasons.append(f"{place}: params.prompt and params.prompt_file: give one of them")
    if reasons:
        return None, reasons, []
    system, prompt = params.get("system"), params.get("prompt")
    key = "params.prompt"
    if params.get("prompt_file"):
        path = configs.resolve(project, config, params["prompt_file"])
        if path is None:
            return None, [f"{place}: params.prompt_file: {params['prompt_file']}: no such file"], []
        prompt, key = strict.decode(strict.read_bytes(path), project.show(path)), project.show(path)
    notes: list[str] = []
    for name, text in (("params.system", system), (key, prompt)):
        told = _unknown(text or "")
        reasons += [
            f"{place}: {name}: {{{{{one}}}}} is no placeholder; {{{{{near}}}}} is"
            for one, near in told
            if near
        ]
        notes += [
            f"{name}: {{{{{one}}}}} is no placeholder and is sent as it is" for one, near in told if not near
        ]
    if system is not None and ITEM in _PLACE.findall(system):
        reasons.append(f"{place}: params.system: {{{{item}}}} belongs in the prompt, the user's message")
    if prompt is None:
        return Prompt(system), reasons, notes
    if ITEM in _PLACE.findall(prompt):
        return Prompt(system, prompt), reasons, notes
    if system is not None:
        reasons.append(
            f"{place}: {key}: has no {{{{item}}}}, so it is the system message, and params.system is one too"
        )
    return Prompt(prompt), reasons, notes


def prompt_sha(project: Project, config: Config) -> dict[str, str]:
    """Return ``{prompt_sha256}`` of a config's prompt, its file's bytes or its text; empty without one.

    Raises:
        Refusal: the file is not there, or lies outside the project.
    """
    named, inline = config.params.get("prompt_file"), config.params.get("prompt")
    if isinstance(named, str) and named:
        path = configs.resolve(project, config, named)
        if path is None:
            raise Refusal(
                "no-such-prompt",
                f"the prompt of {config.config_id!r} is not here",
                why=[f"{config.config_id}: params.prompt_file: {named}: no such file"],
                next="write the prompt, or mend the config",
            )
        return {"prompt_sha256": sha256_file(path)}
    return {"prompt_sha256": sha256_text(inline)} if isinstance(inline, str) else {}


def lacking(prompt: Prompt, dataset: Dataset, items: Iterable[Item]) -> list[str]:
    """Return why an item cannot be put into the prompt: each field that it lacks."""
    return [
        f"{dataset.dataset_id}/{item.item_id}: has no field {name!r}, which the prompt names"
        for item in items
        for name in prompt.fields
        if name not in item.fields
    ]


def _messages(system: str | None, user: str) -> list[dict[str, str]]:
    first = [] if system is None else [{"role": "system", "content": system}]
    return [*first, {"role": "user", "content": user}]


def _filled(text: str, item: str | None, fields: Mapping[str, Any]) -> str:
    def put(found: re.Match[str]) -> str:
        name = found[1]
        if name == ITEM and item is not None:
            return item
        value = fields.get(name.removeprefix(_FIELD)) if name.startswith(_FIELD) else None
        if value is None:
            return found[0]
        return value if isinstance(value, str) else strict.compact(value)

    return _PLACE.sub(put, text)


def _unknown(text: str) -> list[tuple[str, str | None]]:
    """Return each placeholder that is none, with the one that it is nearly."""
    names = dict.fromkeys(_PLACE.findall(text))
    made: list[tuple[str, str | None]] = []
    for name in names:
        if name == ITEM or (name.startswith(_FIELD) and name != _FIELD):
            continue
        head, dot, rest = name.partition(".")
        if dot and difflib.get_close_matches(head.lower(), ["fields"], cutoff=_NEAR):
            made.append((name, f"fields.{rest}"))
        elif not dot and difflib.get_close_matches(name.lower(), [ITEM], cutoff=_NEAR):
            made.append((name, ITEM))
        else:
            made.append((name, None))
    return made
