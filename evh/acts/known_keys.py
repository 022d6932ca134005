"""What looks like a key in a text that would go into a file, the keys of this environment included."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evh.llm.mask import SHORTEST
from evh.project import configs
from evh.store import secrets, strict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.project.find import Project

NAMED = "api_key_env"
_SECRET_NAME = re.compile(r"(?i)(?:^|_)(?:api_?key|key|token|secret|password|passwd)$")
# Shorter than what a capture is refused for: in a remark of ours there is no such word by chance.
_MODEL_KEY = re.compile(r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]{0,250}[0-9])[A-Za-z0-9_-]{8,250}")


def found_in(project: Project, value: object) -> str | None:
    """Return what in a JSON value is a key or looks like one, in words that do not repeat it; None: nothing.

    Args:
        project: the project: its environment, and which variables its configs and settings name.
        value: texts, or mappings and lists of them.
    """
    told = strict.compact(value)
    for name, key in sorted(_keys(project).items()):
        if key in told or strict.compact(key)[1:-1] in told:
            return f"holds what the environment variable {name} holds"
    hits = secrets.find_in(value)
    if hits:
        return f"holds what looks like a secret ({hits[0].rule}, {hits[0].shown!r})"
    match = _MODEL_KEY.search(told)
    return f"holds what looks like a secret (model-api-key, '{match.group()[:4]}…')" if match else None


def _keys(project: Project) -> dict[str, str]:
    """Return the variables that hold keys: those that the project names, and those whose own name says so."""
    named = {str(one.params[NAMED]) for one in configs.read_all(project, []) if one.params.get(NAMED)}
    named |= set(_named_in(project.settings.extra))
    return {
        name: value.strip()
        for name, value in project.environ.items()
        if len(value.strip()) >= SHORTEST and (name in named or _SECRET_NAME.search(name))
    }


def _named_in(settings: Mapping[str, object]) -> list[str]:
    made: list[str] = []
    for key, value in settings.items():
        if isinstance(value, dict):
            made += _named_in(value)
        elif key == NAMED and isinstance(value, str):
            made.append(value)
    return made
