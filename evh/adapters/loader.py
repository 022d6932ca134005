"""Loading a project's adapter: one Python file, with the siblings that it imports, and what identifies it."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evh import __version__
from evh.adapters.bundled import BUNDLED, DEFAULTS, SETTINGS
from evh.adapters.hooks import HOOKS, Adapter, told
from evh.errors import Refusal
from evh.store.hashing import sha256, sha256_file, sha256_lines

if TYPE_CHECKING:
    from types import ModuleType

    from evh.project.find import Project

_loaded: dict[tuple[Path, str], Adapter] = {}


def load(project: Project, name: str, *, beside: Path | None = None) -> Adapter:
    """Return the adapter that a config or ``evh.toml`` names.

    Args:
        project: the project.
        name: a path that ends in ``.py`` (relative to ``beside``, then to the project, then to ``data/``), a
            bundled adapter's name, or empty: the project's own adapter, else the bundled default.
        beside: the folder of the config that names it.

    Raises:
        Refusal: no such file, a file outside the project, or one that fails on import.
    """
    name = name or project.settings.adapter or "default"
    if not name.endswith(".py"):
        return _bundled(name)
    path = _find(project, name, beside)
    key = path.resolve(), sha256_file(path)
    if key not in _loaded:
        _loaded[key] = _load(project, path)
    return _loaded[key]


def _bundled(name: str) -> Adapter:
    if name not in BUNDLED:
        raise Refusal(
            "no-such-adapter",
            f"there is no adapter {name!r}",
            why=[f"{name!r} is neither a path that ends in .py nor one of {', '.join(sorted(BUNDLED))}"],
            next="mend the adapter in the config or in evh.toml",
        )
    return Adapter(
        name,
        hooks={},
        defaults={**DEFAULTS, **BUNDLED[name]},
        settings=SETTINGS[name],
        identity=sha256(f"evh {__version__} {name}".encode()),
        files={},
    )


def _find(project: Project, name: str, beside: Path | None) -> Path:
    bases = [base for base in (beside, project.root, project.data, Path.cwd()) if base is not None]
    for base in bases:
        path = base / name
        if path.is_file():
            if not project.inside(path):
                raise Refusal(
                    "outside", f"the adapter {name} leads out of the project", why=[f"{path}: not run"]
                )
            return path
    raise Refusal(
        "no-such-adapter",
        f"the adapter {name} is not here",
        why=[f"{base / name}: no such file" for base in bases],
        next="mend the adapter's path in the config or in evh.toml",
    )


def _load(project: Project, path: Path) -> Adapter:
    module, files = _run(project, path)
    hooks = {hook: getattr(module, hook) for hook in HOOKS if inspect.isroutine(getattr(module, hook, None))}
    return Adapter(
        project.show(path),
        hooks=hooks,
        defaults=DEFAULTS,
        settings={
            key: getattr(module, key, None) for key in ("PRIMARY_METRIC", "METRIC_KINDS", "METRIC_DIRECTIONS")
        },
        identity=sha256_lines(f"{Path(name).name}\t{digest}" for name, digest in files.items()),
        files=files,
        path=path,
    )


def _run(project: Project, path: Path) -> tuple[ModuleType, dict[str, str]]:
    """Import an adapter under a name of its own, its folder first on the path while it does.

    Its siblings are taken out of ``sys.modules`` again, so that two projects' ``helpers.py`` never meet.
    """
    folder = str(path.parent.resolve())
    spec = importlib.util.spec_from_file_location(f"evh_adapter_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise Refusal("adapter-failed", f"{project.show(path)} is not a Python file", why=[str(path)])
    module = importlib.util.module_from_spec(spec)
    before = set(sys.modules)
    bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # no __pycache__ under data/
    sys.path.insert(0, folder)
    try:
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    except Exception as error:
        raise Refusal(
            "adapter-failed",
            f"the adapter {project.show(path)} fails on import",
            why=[told(error, path)],
            next=f"mend {project.show(path)}",
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
    return module, {project.show(Path(file)): sha256_file(Path(file)) for file in sorted(files)}


def _lies_in(module: ModuleType, project: Project, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    if not file:
        return False
    real = Path(file).resolve()
    return real.is_relative_to(folder) or real.is_relative_to(project.data.resolve())
