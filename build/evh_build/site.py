"""Building the site: gather, render aside, check every link, swap in. ``data/`` is read and never written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evh import __version__
from evh.errors import Refusal
from evh.store import atomic, strict
from evh.store.hashing import sha256
from evh.store.locks import held
from evh.store.text import plural
from evh_build import incremental, links
from evh_build.assets import Asset, assets, template_folders
from evh_build.gather import Gathered, Problem
from evh_build.incremental import Kept, State
from evh_build.page import File
from evh_build.pages import PAGES
from evh_build.render import Renderer
from evh_build.source import Source
from evh_build.urls import HOME

if TYPE_CHECKING:
    from collections.abc import Callable

    from evh.project.find import Project

MANIFEST = "manifest.json"
HTML = ".html"
FORM = "evh catalog/1"


@dataclass(frozen=True, slots=True)
class Plan:
    """A build: where the site goes, and how much of an item's text a page shows."""

    out: Path
    max_item_text: int
    rehash: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did. ``n_rendered`` pages were made anew, ``n_unchanged`` taken over as they were.

    ``nothing_changed`` tells that the site was already what the data gives, and was not touched.
    """

    index: Path
    n_pages: int
    n_rendered: int
    n_unchanged: int
    n_removed: int
    nothing_changed: bool
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class _Rendered:
    """One page or file of the site to be: its bytes, and whether they are the old site's."""

    data: bytes
    inputs: str
    fresh: bool


def plan(
    project: Project, *, out: Path | None = None, max_item_text: int | None = None, rehash: bool = False
) -> Plan:
    """Return what a build would do.

    Args:
        project: the project.
        out: the site's folder; ``evh.toml``'s ``[catalog] out``, else ``.build/catalog``, by default.
        max_item_text: characters of an item's text that a page shows; ``evh.toml``'s by default.
        rehash: read every record again, whatever the files' times say.

    Raises:
        Refusal: ``out`` lies in ``data/`` or around it, or is a folder that holds something else.
    """
    named = out or (project.root / (project.settings.out or ".build/catalog"))
    place = Path(named).absolute()
    if out is None and Path(os.path.normpath(place)).is_relative_to(project.root):
        project.writable(place)
    real, data = place.resolve(), project.data.resolve()
    if real == data or real.is_relative_to(data) or data.is_relative_to(real):
        raise Refusal(
            "bad-out",
            f"the catalog cannot be built into {named}",
            why=[f"{named}: it is in data/, or holds it, and the catalog never writes there"],
            next="evh catalog-build --out another folder",
        )
    if place.exists() and not _is_catalog(place):
        raise Refusal(
            "not-a-catalog",
            f"{named} holds something that is no catalog",
            why=[f"{named}: it would be replaced as a whole, and it has no {MANIFEST} of a catalog"],
            next="name an empty folder, or remove it",
        )
    most = project.settings.max_item_text if max_item_text is None else max_item_text
    if most < 1:
        raise Refusal("bad-option", "a page shows at least one character", why=[f"--max-item-text {most}"])
    return Plan(out=place, max_item_text=most, rehash=rehash)


def commit(project: Project, plan: Plan, *, progress: Callable[[int, int], None] | None = None) -> Built:
    """Build the site; a reader sees the old one or the new one, never half of either.

    Args:
        project: the project.
        plan: where to, and what to show.
        progress: called with how many pages are rendered, and 0 for a total that is not known yet.

    Raises:
        Refusal: a link leads nowhere, or the disk refuses: the old site stays.
    """
    folders = template_folders(project)
    with held(project.cache / "locks", plan.out):
        _clean(plan.out)
        tree = incremental.stamp(project, folders, plan.max_item_text, __version__)
        before = incremental.read(project, plan.out)
        if before.tree == tree and not plan.rehash and _whole(plan.out, before):
            n = sum(path.endswith(HTML) for path in before.pages)
            return Built(plan.out / HOME, n, 0, n, 0, nothing_changed=True, problems=())
        return _build(project, plan, folders, before=before, tree=tree, progress=progress)


def _build(
    project: Project,
    plan: Plan,
    folders: list[Path],
    *,
    before: State,
    tree: str,
    progress: Callable[[int, int], None] | None,
) -> Built:
    static = assets(folders)
    gathered = Gathered(project, with_outputs=False)
    source = Source(gathered, max_item_text=plan.max_item_text)
    renderer = Renderer(folders, project.name, {asset.name: asset.path for asset in static})
    try:
        pages = _render(source, renderer, plan.out, before, progress)
    finally:
        source.close()
    files = {path: one.data for path, one in pages.items()} | {asset.path: asset.data for asset in static}
    broken = links.broken({path: one.data for path, one in pages.items() if path.endswith(HTML)}, files)
    if broken:
        raise Refusal(
            "broken-links",
            f"the catalog was not built: {plural(len(broken), 'link leads', 'links lead')} nowhere",
            why=broken,
            next="mend the template; evh's own templates never do this",
        )
    manifest = _manifest(files, gathered.digest)
    digests = {path: sha256(one.data) for path, one in pages.items()}
    state = State(
        tree, sha256(manifest), {path: Kept(one.inputs, digests[path]) for path, one in pages.items()}
    )
    html = [one for path, one in pages.items() if path.endswith(HTML)]
    n_fresh = sum(one.fresh for one in html)
    made = any(one.fresh for one in pages.values())
    old = _names(plan.out)
    same = not made and old == set(files) | {MANIFEST} and (plan.out / MANIFEST).read_bytes() == manifest
    if not same:
        _swap(plan.out, pages, static, manifest)
    incremental.write(project, plan.out, state)
    return Built(
        index=plan.out / HOME,
        n_pages=len(html),
        n_rendered=n_fresh,
        n_unchanged=len(html) - n_fresh,
        n_removed=len({name for name in old if name.endswith(HTML)} - set(files)),
        nothing_changed=same,
        problems=gathered.problems,
    )


def _render(
    source: Source,
    renderer: Renderer,
    out: Path,
    before: State,
    progress: Callable[[int, int], None] | None,
) -> dict[str, _Rendered]:
    made: dict[str, _Rendered] = {}
    code = incremental.code()
    for page in PAGES:
        closure = renderer.closure(page.name)
        for leaf in page.make(source):
            if leaf.path in made:  # two records that name themselves alike: the first one stands
                continue
            if isinstance(leaf, File):
                inputs = incremental.inputs_of("", code, leaf.inputs)
            else:
                inputs = incremental.inputs_of(closure, code, leaf.context)
            data = old = _old(out / leaf.path, before.pages.get(leaf.path), inputs)
            if data is None:
                data = leaf.make() if isinstance(leaf, File) else renderer.render(page.name, leaf)
            made[leaf.path] = _Rendered(data, inputs, fresh=old is None)
            if progress is not None:
                progress(len(made), 0)
    return made


def _old(path: Path, kept: Kept | None, inputs: str) -> bytes | None:
    """Return the old page's bytes where it was made of the same and nobody changed it since."""
    if kept is None or kept.inputs != inputs or not path.is_file():
        return None
    data = path.read_bytes()
    return data if sha256(data) == kept.sha256 else None


def _swap(out: Path, pages: dict[str, _Rendered], static: list[Asset], manifest: bytes) -> None:
    with atomic.replaced_folder(out, flushed=False) as writer:
        for path, one in sorted(pages.items()):
            old = out / path
            if not one.fresh or (old.is_file() and old.read_bytes() == one.data):
                writer.keep(path, old)
            else:
                writer.add(path, one.data)
        for asset in static:
            writer.add(asset.path, asset.data)
        writer.add(MANIFEST, manifest)


def _manifest(files: dict[str, bytes], digest: str) -> bytes:
    return strict.dump_manifest(
        {
            "form": FORM,
            "evh": __version__,
            "data_sha256": digest,
            "files": {path: sha256(data) for path, data in files.items()},
        }
    )


def _is_catalog(place: Path) -> bool:
    if not place.is_dir():
        return False
    if not any(place.iterdir()):
        return True
    path = place / MANIFEST
    return path.is_file() and f'"form": "{FORM}"'.encode() in path.read_bytes()


def _whole(out: Path, state: State) -> bool:
    """Tell whether the site's files are all there, no others, and are those that the last build wrote."""
    if not state.pages or not (out / MANIFEST).is_file():
        return False
    manifest = (out / MANIFEST).read_bytes()
    if sha256(manifest) != state.manifest:
        return False
    files: dict[str, str] = strict.parse_object(manifest, MANIFEST)["files"]
    return _names(out) == {*files, MANIFEST} and all(
        sha256((out / path).read_bytes()) == digest for path, digest in files.items()
    )


def _names(out: Path) -> set[str]:
    if not out.is_dir():
        return set()
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}


def _clean(out: Path) -> None:
    """Remove what a build that was killed left beside the site."""
    for path in out.parent.glob(f"{atomic.TMP_PREFIX}{out.name[:60]}-*"):
        atomic.remove(path)
