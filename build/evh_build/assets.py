"""Where the templates and static files lie, and the names that the site gives them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.store.hashing import sha256
from evh.store.strict import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evh.project.find import Project

FOLDER = "site_templates"
STATIC = "static"


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file: its name among the templates, its name in the site, its bytes."""

    name: str
    path: str
    data: bytes


def own_templates() -> Path:
    """Return the folder of evh's templates: the checkout's where there is one, else the installed one."""
    here = Path(__file__).resolve().parent
    checkout = here.parents[1] / FOLDER
    return checkout if (checkout / "base.html").is_file() else here / f"_{FOLDER}"


def template_folders(project: Project) -> list[Path]:
    """Return where templates are looked for: the project's own folder where it has one, then evh's.

    Raises:
        Refusal: the project's own folder is a link that leads out of the project.
    """
    theirs = project.root / FOLDER
    ours = own_templates()
    if theirs.is_dir() and theirs.resolve() != ours.resolve():
        if not project.inside(theirs):
            raise _outside(theirs)
        return [theirs, ours]
    return [ours]


def theme_of(project: Project) -> str:
    """Return the style sheet that ``evh.toml``'s ``[catalog] theme`` names; empty where it names none.

    Raises:
        Refusal: there is no such file in ``site_templates/static/``, the project's own or evh's.
    """
    named = project.settings.theme
    if not named:
        return ""
    name = named if named.endswith(".css") else f"{named}.css"
    known = {
        path.name: path for folder in template_folders(project) for path in (folder / STATIC).glob("*.css")
    }
    if name in known and known[name].is_file():
        return name
    raise Refusal(
        "no-such-theme",
        f"there is no theme {named!r}",
        why=[f"evh.toml: [catalog] theme: {FOLDER}/{STATIC}/{name}: no such file"],
        next=f"write {FOLDER}/{STATIC}/{name} (evh help catalog shows one), or take theme out of evh.toml",
    )


def assets(folders: list[Path]) -> list[Asset]:
    """Return the static files, a project's own in place of evh's, with their hash in the name.

    Raises:
        Refusal: one is a link that leads out of the folders.
    """
    found: dict[str, Path] = {}
    for folder in reversed(folders):
        for path in sorted((folder / STATIC).glob("*")):
            if path.is_file() and not path.name.startswith("."):
                check_inside(path, folders)
                found[path.name] = path
    made = []
    for name, path in sorted(found.items()):
        data = read_bytes(path)
        stem, dot, ending = name.rpartition(".")
        made.append(Asset(name, f"assets/{stem}.{sha256(data)[:12]}{dot}{ending}", data))
    return made


def check_inside(path: Path, folders: Iterable[Path]) -> None:
    """Refuse a template or static file that a link leads out of the folders of templates.

    What is published is what lies there: a project that came from elsewhere cannot put another file in.

    Raises:
        Refusal: it lies elsewhere.
    """
    real = path.resolve()
    if not any(real.is_relative_to(folder.resolve()) for folder in folders):
        raise _outside(path)


def _outside(path: Path) -> Refusal:
    parts = path.parts[path.parts.index(FOLDER) :] if FOLDER in path.parts else path.parts[-1:]
    name = "/".join(parts)
    return Refusal(
        "outside",
        f"{name} leads out of {FOLDER}/" if len(parts) > 1 else f"{name}/ leads out of the project",
        why=[f"{name}: it is a link, or lies in one, to {path.resolve()}; it is not followed"],
        next="replace the link by the file itself",
    )
