"""Loading a project's adapter: one Python file, with the siblings that it imports, and what identifies it."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evh import __version__
from evh.adapters.bundled import BUNDLED, DEFAULTS, SETTINGS
from evh.adapters.hooks import HOOKS, Adapter, told
from evh.adapters.scorers_bundled import SCORERS, scorer
from evh.errors import Refusal
from evh.project.shelf import files
from evh.store.hashing import sha256, sha256_file, sha256_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from evh.project.find import Project

_loaded: dict[Path, Adapter] = {}


def load(project: Project, name: str, *, beside: Path | None = None) -> Adapter:
    """Return the adapter that a config or ``evh.toml`` names.

    Args:
        project: the project.
        name: a path that ends in ``.py`` (relative to ``beside``, then to the project, then to ``data/``), a
            bundled adapter's name, with options where it takes any (``numeric:atol=0.5``), or empty: the
            project's own adapter, else the bundled default.
        beside: the folder of the config that names it.

    Raises:
        Refusal: no such file, a file outside the project, or one that fails on import.
    """
    name = name or project.settings.adapter or "default"
    if not name.endswith(".py"):
        return _bundled(project, name)
    path = find(project, name, beside)
    known = _loaded.get(path)
    if known is None or known.files != _hashes(project, known.sources):
        known = _loaded[path] = _load(project, path)
    return known


def _bundled(project: Project, name: str) -> Adapter:
    if name in BUNDLED:
        hooks, settings = BUNDLED[name], SETTINGS[name]
    elif name.partition(":")[0] in SCORERS:
        made = scorer(name)
        hooks, settings = made.hooks, made.settings
    else:
        known = ", ".join(sorted([*BUNDLED, *SCORERS]))
        own = sorted(one.name for one in files(project.data / "adapters", ".py"))
        meant = [one for one in own if one == f"{name}.py"] or own
        named = f", as in adapters/{meant[0]}" if meant else ""
        raise Refusal(
            "no-such-adapter",
            f"there is no adapter {name!r}",
            why=[f"{name!r} is neither a path that ends in .py{named} nor one of {known}"],
            next="mend the adapter in the config or in evh.toml",
        )
    return Adapter(
        name,
        hooks={},
        defaults={**DEFAULTS, **hooks},
        settings=settings,
        identity=sha256(f"evh {__version__} {name}".encode()),
        files={},
    )


def find(project: Project, name: str, beside: Path | None) -> Path:
    """Return an adapter's file, links resolved; see `load` for where it is looked for.

    Raises:
        Refusal: it is not there, or lies outside the project.
    """
    bases = [base for base in (beside, project.root, project.data, Path.cwd()) if base is not None]
    # ".." is taken off by name first: the folder of configs may not be there yet.
    paths = list(dict.fromkeys(Path(os.path.normpath(base / name)) for base in bases))
    for path in paths:
        if path.is_file():
            if not project.inside(path):
                raise Refusal(
                    "outside", f"the adapter {name} leads out of the project", why=[f"{path}: not run"]
                )
            return path.resolve()
    # Told are the places that a path is written for: beside the config, then the project.
    told_of = [Path(os.path.normpath(base / name)) for base in (beside, project.root) if base is not None]
    inside = [path for path in dict.fromkeys(told_of) if path.is_relative_to(project.root)]
    raise Refusal(
        "no-such-adapter",
        f"the adapter {name} is not here",
        why=[f"{project.show(path)}: no such file" for path in inside] or [f"{name}: no such file"],
        next="mend the adapter's path in the config or in evh.toml",
    )


def _load(project: Project, path: Path) -> Adapter:
    module, files = _run(project, path)
    hashes = _hashes(project, files)
    name = _named(project, path)
    hooks = {hook: getattr(module, hook) for hook in HOOKS if inspect.isroutine(getattr(module, hook, None))}
    return Adapter(
        name,
        hooks=hooks,
        defaults=DEFAULTS,
        settings={
            key: getattr(module, key, None) for key in ("PRIMARY_METRIC", "METRIC_KINDS", "METRIC_DIRECTIONS")
        },
        identity=sha256_lines(f"{Path(file).name}\t{digest}" for file, digest in hashes.items()),
        files=hashes,
        path=path,
        sources=files,
    )


def _run(project: Project, path: Path) -> tuple[ModuleType, tuple[Path, ...]]:
    """Import an adapter under a name of its own, its folder first on the path while it does.

    Its siblings are taken out of ``sys.modules`` again, so that two projects' ``helpers.py`` never meet.
    """
    folder = str(path.parent)
    spec = importlib.util.spec_from_file_location(f"evh_adapter_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise Refusal(
            "adapter-failed", f"{_named(project, path)} is not a Python file", why=[_named(project, path)]
        )
    module = importlib.util.module_from_spec(spec)
    before = set(sys.modules)
    bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # no __pycache__ under data/
    sys.path.insert(0, folder)
    try:
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        name = _named(project, path)
        raise Refusal(
            "adapter-failed",
            f"the adapter {name} fails on import",
            why=[told(error, path, name)],
            next=f"mend {name}",
        ) from error
    finally:
        sys.path.remove(folder)
        sys.dont_write_bytecode = bytecode
        siblings = [
            name for name in set(sys.modules) - before if _lies_in(sys.modules[name], project, folder)
        ]
        files = {str(Path(str(sys.modules[name].__file__))) for name in siblings} | {str(path)}
        for name in siblings:
            del sys.modules[name]
    return module, tuple(Path(file) for file in sorted(files))


def _hashes(project: Project, files: Sequence[Path]) -> dict[str, str]:
    return {_named(project, file): sha256_file(file) if file.is_file() else "" for file in files}


def _named(project: Project, path: Path) -> str:
    """Return a file's path in the project, the same on every machine; links are resolved on both sides."""
    real = path.resolve()
    for base, prefix in ((project.root.resolve(), ""), (project.data.resolve(), "data/")):
        if real.is_relative_to(base):
            return prefix + real.relative_to(base).as_posix()
    return real.name


def _lies_in(module: ModuleType, project: Project, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    if not file:
        return False
    real = Path(file).resolve()
    return real.is_relative_to(folder) or real.is_relative_to(project.data.resolve())
