"""The shelf of model records: ``data/models/<model>.json``, written by `model-record` and `arm-smoke`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.project.shelf import check_new, files, listed, missing, read_each
from evh.records import model as record
from evh.store import atomic, strict
from evh.store.locks import held
from evh.store.names import check_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.model import Model


def path_of(project: Project, model_id: str) -> Path:
    """Return where the record of a model lies."""
    return project.data / "models" / f"{check_id(model_id, 'model')}.json"


def exists(project: Project, model_id: str) -> bool:
    """Tell whether there is a record of that model."""
    return path_of(project, model_id).is_file()


def read(project: Project, model_id: str) -> Model:
    """Return a model record, or raise a Refusal that names those that are here."""
    path = path_of(project, model_id)
    if not path.is_file():
        raise missing("model", model_id, ids(project), next=f"evh model-record --model {model_id}")
    return _read(project, path)


def ids(project: Project) -> list[str]:
    """Return the ids of the model records, sorted."""
    return sorted(path.stem for path in files(project.data / "models", ".json"))


def read_all(project: Project, problems: list[Refusal] | None = None) -> list[Model]:
    """Return every model record, by id; see `shelf.read_each` for ``problems``."""
    paths = listed(lambda: files(project.data / "models", ".json"), problems)
    return read_each(paths, lambda path: _read(project, path), problems)


def update(project: Project, model_id: str, change: Callable[[Model | None], Model]) -> Model:
    """Write a model record under its lock: what ``change`` makes of the one there, or of None.

    Two commands that change one record at once wait for each other; neither's change is lost.

    Raises:
        Refusal: the record there cannot be read, or another command holds it for long.
    """
    path = project.writable(path_of(project, model_id))
    with held(project.locks, path):
        if not path.exists():
            check_new(path, "model")
        made = change(_read(project, path) if path.is_file() else None)
        atomic.write_file(path, strict.dump_manifest(record.dump(made)))
    return made


def _read(project: Project, path: Path) -> Model:
    project.readable(path)
    return record.parse({"model_id": path.stem, **strict.read_object(path)}, project.show(path))
