"""Make production's own decisions an arm: a config that replays a capture, and its first run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import run as run_act
from evh.adapters import loader
from evh.errors import Refusal
from evh.project import captures, configs, datasets, runs
from evh.project.shelf import check_new, read_each
from evh.records import config as record
from evh.records.config import Config
from evh.store import atomic, strict
from evh.store.locks import held
from evh.store.names import check_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evh.acts.run import Done, Progress
    from evh.project.find import Project


@dataclass(frozen=True, slots=True)
class Plan:
    """The config that would be written, and what its run would do."""

    config: Config
    path: Path
    text: str
    run: run_act.Plan

    def says(self) -> list[str]:
        """Return what would be done, a sentence each."""
        return [f"write data/configs/{self.path.name}", *self.run.says()]


def plan(
    project: Project,
    dataset_id: str,
    capture_id: str,
    name: str,
    *,
    like: str | None = None,
    field: str | None = None,
) -> Plan:
    """Return what making the arm would write.

    Args:
        project: the project.
        dataset_id: the dataset of the first run.
        capture_id: the capture that holds production's outputs.
        name: the new config's id.
        like: the config whose adapter and goal the arm takes; else it has the project's adapter.
        field: the record's key that holds the output, where the adapter has no ``recorded_output``.

    Raises:
        Refusal: an existing name, an unknown dataset, capture or config, or a capture that holds no record
            of the dataset.
    """
    check_id(name, "config")
    problems: list[Refusal] = []
    read_each([dataset_id], lambda one: datasets.read(project, one), problems)
    capture = next(iter(read_each([capture_id], lambda one: captures.read(project, one), problems)), None)
    model = next(
        iter(read_each([like] if like else [], lambda one: configs.read(project, one), problems)), None
    )
    if problems:
        raise _together(problems, name)
    adapter = (
        model.adapter
        if model
        else _adapter(project, str(((capture and capture.adapter) or {}).get("path") or ""))
    )
    config = Config(
        config_id=name,
        dataset_id=dataset_id,
        adapter=adapter,
        params={"provider": "recorded", "capture": capture_id, **({"field": field} if field else {})},
        goal=model.goal if model else None,
    )
    text = configs.dump_yaml(
        record.dump(config), f"Production's own decisions, as {capture_id} recorded them."
    )
    path = configs.path_of(project, name)
    _refuse_taken(project, name, path, text)
    return Plan(config, path, text, run_act.plan(project, config, dataset_id=dataset_id))


def commit(project: Project, plan: Plan, *, progress: Callable[[Progress], None] | None = None) -> Done:
    """Write the config and run it; when the run is refused, the config is taken back.

    Args:
        project: the project.
        plan: from `plan`.
        progress: told where the run stands.

    Raises:
        Refusal: another command makes the same arm now, or has made it since the plan.
    """
    with held(project.locks, project.writable(plan.path), wait_s=0):
        _refuse_taken(project, plan.config.config_id, plan.path, plan.text)
        if not plan.path.exists():
            try:
                atomic.write_new_file(plan.path, plan.text.encode())
            except FileExistsError:
                raise configs.already(plan.config.config_id) from None
        try:
            return run_act.commit(project, plan.run, progress=progress)
        except Exception:  # an interrupt leaves it: its run goes on with --resume
            atomic.remove(plan.path)
            raise


def _refuse_taken(project: Project, name: str, path: Path, text: str) -> None:
    """Refuse a name that is taken; the same config without a run is what a killed attempt left: it is not."""
    if not path.exists():
        check_new(path, "config")
        return
    left = strict.read_bytes(path) == text.encode()
    if not left or any(run.config_id == name for run in runs.read_all(project, [])):
        raise configs.already(name)


def _adapter(project: Project, of_capture: str) -> str:
    """Return the adapter's path from the configs' folder: the project's, else the capture's, else none."""
    named = project.settings.adapter or of_capture
    if not named.endswith(".py"):
        return named
    path = loader.find(project, named, None)
    return os.path.relpath(path, (project.data / "configs").resolve()).replace(os.sep, "/")


def _together(problems: list[Refusal], name: str) -> Refusal:
    if len(problems) == 1:
        return problems[0]
    return Refusal(
        "cannot-make-arm",
        f"the arm {name!r} cannot be made",
        why=[f"{one.what}: {reason}" for one in problems for reason in one.why or ("",)],
        next="; ".join(dict.fromkeys(one.next for one in problems if one.next)) or None,
    )
