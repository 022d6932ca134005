"""The rules of the rooms, read from the source as syntax trees. `test_architecture.py` holds them.

Each rule takes the tree of modules and gives one line per finding: the file, the line and what is wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

# From left to right: a room imports only from itself and from rooms before it.
ROOMS = (
    "evh.errors",
    "evh.store",
    "evh.records",
    "evh.project",
    "evh.measure",
    "evh.adapters",
    "evh.llm",
    "evh.acts",
    "evh.api",
    "evh_build",
    "evh.cli",
)
RANK = {room: rank for rank, room in enumerate(ROOMS)}
DOOR = "evh.cli"
# The package itself hands public names on when they are asked for, so it may defer an import of any room.
PACKAGE = "evh"
SITE = "evh_build"
WRITERS = {"evh.store.atomic", "evh.store.journal", "evh.store.locks"}
HEAVY = {"duckdb", "pyarrow", "jinja2", "numpy", "rich", "yaml", "markdown_it", "httpx"}
# These stand on a heavy package from their first line, so they are imported inside functions alone.
LATE = {"evh.store.strict_yaml", "evh.llm.client", "evh.llm.crowd", "evh.llm.transport"}
MOST_LINES = 500

WRITING_CALLS = {
    "os": {
        "link",
        "makedirs",
        "mkdir",
        "mkfifo",
        "remove",
        "removedirs",
        "rename",
        "renames",
        "replace",
        "rmdir",
    }
    | {"symlink", "truncate", "unlink"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "make_archive", "move", "rmtree", "unpack_archive"},
    "tempfile": {"NamedTemporaryFile", "TemporaryDirectory", "TemporaryFile", "mkdtemp", "mkstemp"},
}
WRITING_METHODS = {"hardlink_to", "mkdir", "rename", "rmdir", "symlink_to", "touch", "unlink", "write_bytes"}
WRITING_METHODS |= {"OSFile", "write_dataset", "write_text"}
WRITING_FLAGS = {"O_APPEND", "O_CREAT", "O_RDWR", "O_TRUNC", "O_WRONLY"}
# In these modules' open() the mode is the second argument; in a path's own open() it is the first.
OPENERS = {"bz2", "codecs", "gzip", "io", "lzma", "tarfile"}
SCREEN_PACKAGES = {"click", "rich"}


@dataclass(frozen=True, slots=True)
class Import:
    """One name that a module imports: where it may lie, and how the import stands in the file."""

    candidates: tuple[str, ...]
    line: int
    deferred: bool
    types_only: bool


@dataclass(frozen=True, slots=True)
class Module:
    """One source file: its dotted name, path, text and syntax tree."""

    name: str
    path: Path
    lines: int
    tree: ast.Module
    is_package: bool


Tree = dict[str, Module]


def read_tree(root: Path) -> Tree:
    """Read every module of the two packages under `root`, by dotted name."""
    tree: Tree = {}
    for base, package in ((root, "evh"), (root / "build", "evh_build")):
        for path in sorted((base / package).rglob("*.py")):
            parts = list(path.relative_to(base).with_suffix("").parts)
            is_package = parts[-1] == "__init__"
            text = path.read_text(encoding="utf-8")
            name = ".".join(parts[:-1] if is_package else parts)
            tree[name] = Module(name, path.relative_to(root), text.count("\n"), ast.parse(text), is_package)
    return tree


def room_of(name: str) -> str | None:
    """Give the room that a dotted name lies in; `evh.__main__` is part of the door."""
    if name == f"{PACKAGE}.__main__":
        return DOOR
    return next((room for room in ROOMS if name == room or name.startswith(room + ".")), None)


def imports(module: Module) -> Iterator[Import]:
    """Give every import of a module: at its top, deferred into a function, or only for types."""
    yield from _imports(module, module.tree, deferred=False, types_only=False)


def _imports(module: Module, node: ast.AST, *, deferred: bool, types_only: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom | ast.Call):
            for candidates in _imported(module, child):
                yield Import(candidates, child.lineno, deferred, types_only)
        inner = deferred or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for part in child.body:
                holder = ast.Module(body=[part], type_ignores=[])
                yield from _imports(module, holder, deferred=inner, types_only=True)
            for part in child.orelse:
                holder = ast.Module(body=[part], type_ignores=[])
                yield from _imports(module, holder, deferred=inner, types_only=types_only)
        else:
            yield from _imports(module, child, deferred=inner, types_only=types_only)


def _imported(module: Module, node: ast.Import | ast.ImportFrom | ast.Call) -> Iterator[tuple[str, ...]]:
    """Give, for each name of an import, the modules it may be, the most precise first."""
    if isinstance(node, ast.Import):
        yield from ((alias.name,) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parts = module.name.split(".")
            up = node.level - 1 if module.is_package else node.level
            base = ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])
        yield from ((f"{base}.{alias.name}", base) for alias in node.names)
    elif ast.unparse(node.func) in {"import_module", "importlib.import_module", "__import__"}:
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield (first.value,)


def target_of(tree: Tree, found: Import) -> str:
    """Give the module of the tree that an import reaches, else the name as it stands."""
    return next((name for name in found.candidates if name in tree), found.candidates[-1])


def find_strays(tree: Tree) -> list[str]:
    """Find modules that lie in no room."""
    return [f"{m.path}: in no known room" for m in tree.values() if m.name != PACKAGE and not room_of(m.name)]


def find_right_imports(tree: Tree) -> list[str]:
    """Find imports of a room further right, those for types only included: a type is knowledge too."""
    found = []
    for module in tree.values():
        room = room_of(module.name)
        for each in imports(module):
            target = target_of(tree, each)
            other = room_of(target)
            if other is None:
                continue
            if module.name == PACKAGE:
                right = not (each.deferred or each.types_only)
            else:
                right = room is not None and RANK[other] > RANK[room]
            if right:
                found.append(
                    f"{module.path}:{each.line}: {module.name} imports {target}, which is to its right"
                )
    return found


def find_cycles(tree: Tree) -> list[str]:
    """Find import cycles between modules, deferred imports counted.

    Those for types only count in the package; the site's parts name what is gathered, which calls them.
    """
    graph: dict[str, set[str]] = {name: set() for name in tree}
    for module in tree.values():
        for each in imports(module):
            target = target_of(tree, each)
            handed_on = module.name == PACKAGE and (each.deferred or each.types_only)
            handed_on |= each.types_only and module.name.startswith(SITE)
            if target in graph and target != module.name and not handed_on:
                graph[module.name].add(target)
    # What neither ends nor starts a chain is taken off until only cycles, and chains between them, are left.
    while True:
        reached = {target for targets in graph.values() for target in targets}
        loose = [name for name, targets in graph.items() if not targets or name not in reached]
        if not loose:
            break
        graph = {name: targets - set(loose) for name, targets in graph.items() if name not in loose}
    return [f"import cycle: {name} → {', '.join(sorted(targets))}" for name, targets in sorted(graph.items())]


def find_printing(tree: Tree) -> list[str]:
    """Find what reaches the screen outside the door: print, the standard streams, click and rich."""
    found = []
    for module in tree.values():
        if room_of(module.name) == DOOR:
            continue
        found += [
            f"{module.path}:{each.line}: imports {each.candidates[-1]} outside {DOOR}"
            for each in imports(module)
            if each.candidates[-1].split(".")[0] in SCREEN_PACKAGES
        ]
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            streams = ("sys.stdout.", "sys.stderr.", "sys.__stdout__.", "sys.__stderr__.")
            if name in {"print", "pprint", "pprint.pprint", "input"} or name.startswith(streams):
                found.append(f"{module.path}:{node.lineno}: calls {name} outside {DOOR}")
    return found


GATHERER = "evh.project.shelf"
"""Reads every record of a shelf and hands back what could not be read: it gathers, it swallows nothing."""


def find_caught_refusals(tree: Tree) -> list[str]:
    """Find a Refusal caught, or suppressed, outside the door; one that is raised again at once is let by."""
    found = []
    for module in tree.values():
        if room_of(module.name) == DOOR or module.name == GATHERER:
            continue
        for node in ast.walk(module.tree):
            caught: list[ast.expr] = []
            if isinstance(node, ast.ExceptHandler) and node.type is not None:
                passed_on = ast.unparse(node.body[0]) == "raise"
                caught = [] if passed_on else [node.type]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"suppress", "contextlib.suppress"}:
                caught = node.args
            names = {
                ast.unparse(part) for each in caught for part in ast.walk(each) if isinstance(part, ast.expr)
            }
            if any(name.split(".")[-1] == "Refusal" for name in names):
                line = getattr(node, "lineno", 0)
                found.append(f"{module.path}:{line}: catches Refusal outside {DOOR}")
    return found


def find_writing(tree: Tree) -> list[str]:
    """Find what opens, makes, moves or removes a file outside the three modules that may."""
    return [
        f"{module.path}:{node.lineno}: {ast.unparse(node)} writes outside evh.store"
        for module in tree.values()
        if module.name not in WRITERS
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and _writes(node)
    ]


def _writes(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        name = call.func.id
        return (name == "open" and _mode_writes(call, 1)) or any(name in names for names in LOOSE_CALLS)
    if not isinstance(call.func, ast.Attribute):
        return False
    owner, method = ast.unparse(call.func.value), call.func.attr
    if method == "open" and call.args and ast.unparse(call.args[0]) == "os.devnull":
        return False
    if owner == "os" and method == "open":
        flags = {
            part.attr for each in call.args[1:] for part in ast.walk(each) if isinstance(part, ast.Attribute)
        }
        return bool(flags & WRITING_FLAGS) or not flags
    if owner == "os" and method == "fdopen":
        return _mode_writes(call, 1)
    if owner in WRITING_CALLS:
        return method in WRITING_CALLS[owner]
    if method == "open":
        return _mode_writes(call, 1 if owner in OPENERS else 0)
    if (
        method == "replace"
    ):  # a path's takes one argument, a text's two, a date's and a record's only keywords
        return len(call.args) == 1 and not call.keywords and owner not in {"dataclasses", "copy"}
    return method in WRITING_METHODS


# Names distinct enough to be known when imported bare: `from shutil import rmtree`.
LOOSE_CALLS = (WRITING_CALLS["shutil"] - {"copy", "move"}, WRITING_CALLS["tempfile"])


def _mode_writes(call: ast.Call, place: int) -> bool:
    """Tell whether the mode of an open() call writes; a mode that cannot be read here counts as writing."""
    by_name = next((keyword.value for keyword in call.keywords if keyword.arg == "mode"), None)
    mode = by_name or (call.args[place] if len(call.args) > place else None)
    if mode is None:
        return False
    if isinstance(mode, ast.Constant) and isinstance(mode.value, str):
        return set(mode.value) <= set("rwxabt+U") and bool(set(mode.value) & set("wxa+"))
    # The first argument of some other object's open() may be anything; elsewhere it is a mode.
    return by_name is not None or place == 1


def find_heavy_imports(tree: Tree) -> list[str]:
    """Find heavy packages imported when a module of evh is, rather than in the function that needs them."""
    found = []
    for module in tree.values():
        if module.name.split(".")[0] != PACKAGE:
            continue
        for each in imports(module):
            target = target_of(tree, each)
            heavy = target in LATE or target.split(".")[0] in HEAVY
            if heavy and module.name not in LATE and not each.deferred and not each.types_only:
                found.append(f"{module.path}:{each.line}: imports {target} at module level")
    return found


def find_long_files(tree: Tree) -> list[str]:
    """Find files that have outgrown their room."""
    return [f"{m.path}: {m.lines} lines, over {MOST_LINES}" for m in tree.values() if m.lines > MOST_LINES]


RULES: dict[str, Callable[[Tree], list[str]]] = {
    "strays": find_strays,
    "right": find_right_imports,
    "cycles": find_cycles,
    "printing": find_printing,
    "refusals": find_caught_refusals,
    "writing": find_writing,
    "heavy": find_heavy_imports,
    "long": find_long_files,
}
