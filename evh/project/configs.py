"""The shelf of configs: ``data/configs/*.yaml``, written by people; `arm-from-capture` writes one too."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project.shelf import check_new, listed, missing, read_each, yaml_files, yaml_of
from evh.records import config as record
from evh.store import atomic, strict
from evh.store.hashing import sha256
from evh.store.names import check_id

if TYPE_CHECKING:
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.config import Config


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = frozenset({"true", "false", "null"})
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def paths(project: Project) -> list[Path]:
    """Return the config files, sorted by name."""
    return yaml_files(project.data / "configs")


def path_of(project: Project, config_id: str) -> Path:
    """Return where a config of that id lies: under its own name, else in the file that says so."""
    check_id(config_id, "config")
    return yaml_of(project.data / "configs", config_id, lambda one: read_file(project, one).config_id)


def exists(project: Project, config_id: str) -> bool:
    """Tell whether there is a config of that id."""
    return path_of(project, config_id).exists()


def read(project: Project, config_id: str) -> Config:
    """Return a config, or raise a Refusal."""
    path = path_of(project, config_id)
    if not path.exists():
        known = [config.config_id for config in read_all(project, [])]
        raise missing("config", config_id, known, next=f"write data/configs/{config_id}.yaml")
    return read_file(project, path)


def read_file(project: Project, path: Path) -> Config:
    """Return the config in a file; its ``config_id`` is the file's stem where it names none."""

    def read() -> Config:
        raw = strict.parse_yaml(strict.read_bytes(path), project.show(path))
        return record.parse({"config_id": path.stem, **raw}, project.show(path))

    project.readable(path)
    return project.kept(("config", path), [path], read)


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[Config]:
    """Return every config, in the order of their file names; see `shelf.read_each` for ``problems``."""
    return read_each(
        listed(lambda: paths(project), problems), lambda path: read_file(project, path), problems
    )


def digest(project: Project, config_id: str) -> str:
    """Return the sha256 of a config file's bytes."""
    return sha256(strict.read_bytes(path_of(project, config_id)))


def resolve(project: Project, config: Config, name: str) -> Path | None:
    """Return the file that a config names, relative to the config, then to the project, or None.

    Raises:
        Refusal: the file lies outside the project.
    """
    bases = (path_of(project, config.config_id).parent, project.root, project.data)
    for base in bases:
        path = base / name
        if path.is_file():
            if not project.inside(path):
                raise Refusal("outside", f"{name} leads out of the project", why=[f"{path}: not followed"])
            return path
    return None


def write_new(project: Project, config: Config, *, comment: str) -> Path:
    """Write a new config file, or raise a Refusal when there is one of that id."""
    path = project.writable(path_of(project, config.config_id))
    check_new(path, "config")
    try:
        atomic.write_new_file(path, dump_yaml(record.dump(config), comment).encode())
    except FileExistsError:
        raise already(config.config_id) from None
    return path


def already(config_id: str) -> Refusal:
    """Return the Refusal for a config that exists."""
    return Refusal(
        "existing-config",
        f"there is a config {config_id!r} already",
        why=[f"configs/{config_id}.yaml: a config is written by people and never overwritten"],
        next="choose another name with --as",
    )


def dump_yaml(values: dict[str, Any], comment: str) -> str:
    """Return ``values`` as YAML that `strict.parse_yaml` reads back equal: JSON scalars in block style."""
    lines = [_escaped(f"# {line}" if line else "#") for line in comment.splitlines()]
    lines += _block(values, "")
    return "\n".join(lines) + "\n"


def _block(values: dict[str, Any], indent: str) -> list[str]:
    lines: list[str] = []
    for key, value in values.items():
        name = key if _PLAIN.fullmatch(key) and key not in _WORDS else _json(key)
        if isinstance(value, dict) and value:
            lines.append(f"{indent}{name}:")
            lines += _block(value, indent + "  ")
        else:
            lines.append(f"{indent}{name}: {_json(value)}")
    return lines


def _json(value: object) -> str:
    return _escaped(json.dumps(value, ensure_ascii=False))


def _escaped(text: str) -> str:
    """Escape what YAML does not take raw, or takes for a line's end; JSON's escapes mean the same there."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
