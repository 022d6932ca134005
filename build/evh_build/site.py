"""Building the site: gather, render aside, check every link, swap in. ``data/`` is read and never written."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evh import __version__
from evh.errors import Refusal
from evh.store import atomic
from evh.store.locks import held
from evh.store.text import plural
from evh_build import incremental, publish
from evh_build.aside import HTML, Aside, look_at_links, n_pages, whole
from evh_build.assets import Asset, assets, template_folders, theme_of
from evh_build.gather import Gathered, Problem
from evh_build.incremental import State
from evh_build.manifest import FORM, MANIFEST, STAMP, commit_of, installed, manifest, stamp
from evh_build.page import File, Leaf
from evh_build.pages import PAGES
from evh_build.render import Renderer
from evh_build.source import Source
from evh_build.told import Teller
from evh_build.urls import HOME

if TYPE_CHECKING:
    from collections.abc import Callable

    from evh.project.find import Project
    from evh_build.leaks import Watch
    from evh_build.shown import LeftOut

LOCAL_OUT, PUBLIC_OUT = ".build/catalog", ".build/public"


@dataclass(frozen=True, slots=True)
class Plan:
    """A build: where the site goes and what it shows.

    Attributes:
        out: the site's folder.
        max_item_text: characters of an item's text that a page shows.
        verify: ask every file of the project for its size and time, and read the old site's files.
        rehash: read everything again, whatever the files' times say.
        public: leave out what may not be published.
        base_url: the address that a public site will have, ending in ``/``; empty where it is not known.
        index: whether search engines may list a public site.
        theme: the static file that is one more style sheet; empty for none.
    """

    out: Path
    max_item_text: int
    verify: bool = False
    rehash: bool = False
    public: bool = False
    base_url: str = ""
    index: bool = True
    theme: str = ""


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did. ``n_rendered`` pages were made anew, ``n_unchanged`` taken over as they were.

    ``nothing_changed`` tells that the site was already what the data gives, and was not touched.
    ``left_out`` are the records that a public build does not show.
    """

    index: Path
    n_pages: int
    n_rendered: int
    n_unchanged: int
    n_removed: int
    nothing_changed: bool
    problems: tuple[Problem, ...]
    left_out: tuple[LeftOut, ...] = ()


def plan(
    project: Project,
    *,
    out: Path | None = None,
    max_item_text: int | None = None,
    verify: bool = False,
    rehash: bool = False,
    public: bool = False,
    base_url: str | None = None,
    index: bool = True,
) -> Plan:
    """Return what a build would do.

    Args:
        project: the project.
        out: the site's folder; by default ``evh.toml``'s ``[catalog] out``, else ``.build/catalog``, and
            ``.build/public`` for a public build.
        max_item_text: characters of an item's text that a page shows; ``evh.toml``'s by default.
        verify: ask every file for its size and time.
        rehash: read every record and every file of the site again, whatever the files' times say.
        public: leave out what may not be published.
        base_url: the public site's address; ``evh.toml``'s ``[catalog] base_url`` by default.
        index: whether search engines may list the public site.

    Raises:
        Refusal: ``out`` lies in ``data/`` or around it, is a folder that holds something else or a catalog of
            the other kind; the address, the theme or a number cannot be used.
    """
    place = _place(project, out, public=public)
    most = project.settings.max_item_text if max_item_text is None else max_item_text
    reasons = []
    if most < 1:
        reasons.append(f"--max-item-text {most}: a page shows at least one character")
    if not public and base_url:
        reasons.append("--base-url: only a public build has an address; add --public")
    if not public and not index:
        reasons.append("--no-index: only a public build is for search engines; add --public")
    if reasons:
        raise Refusal("bad-option", "the options do not fit a build", why=reasons)
    url = ""
    if public and (base_url or project.settings.base_url):
        named_by = "--base-url" if base_url else "evh.toml: [catalog] base_url"
        url = publish.check_base_url(base_url or project.settings.base_url, named_by=named_by)
    return Plan(
        out=place,
        max_item_text=most,
        verify=verify,
        rehash=rehash,
        public=public,
        base_url=url,
        index=index,
        theme=theme_of(project),
    )


def commit(project: Project, plan: Plan, *, progress: Callable[[int, int], None] | None = None) -> Built:
    """Build the site; a reader sees the old one or the new one, never half of either.

    Args:
        project: the project.
        plan: where to, and what to show.
        progress: called with how many pages are rendered, and 0 for a total that is not known yet.

    Raises:
        Refusal: a link leads nowhere, something in a public build must not be published, or the disk refuses:
            the old site stays.
    """
    folders = template_folders(project)
    with held(project.cache / "locks", plan.out):
        atomic.mend_swap(plan.out, lambda folder: (folder / MANIFEST).is_file())
        before = incremental.read(project, plan.out)
        head = commit_of(project.root)
        shows = (
            plan.max_item_text,
            plan.public,
            plan.base_url,
            plan.index,
            plan.theme,
            __version__,
            installed(),
            head,
        )
        tree = incremental.stamp(project, folders, shows)
        asked = plan.verify or plan.rehash or project.memory is not None  # who watches was told of a file
        deep = incremental.stamp(project, folders, shows, deep=True) if asked else ""
        same = before.tree == tree and (not asked or before.deep == deep)
        if same and not plan.rehash and whole(plan.out, before, read=plan.verify):
            n = n_pages(before.files)
            return Built(plan.out / HOME, n, 0, n, 0, nothing_changed=True, problems=())
        if plan.rehash:
            project = replace(project, memory=None)
            atomic.remove(project.writable(project.cache / "tables"))
        after = State(tree, deep)
        return _build(project, plan, folders, before=before, after=after, head=head, progress=progress)


def usual_out(project: Project, *, public: bool = False) -> Path:
    """Return where a build goes that names no folder."""
    return (project.root / (PUBLIC_OUT if public else project.settings.out or LOCAL_OUT)).absolute()


def look(project: Project, plan: Plan) -> None:
    """Make what every page shows, and no page: a process that builds again then has it at hand.

    What is made once a process is made too: the templates' code, and where the site's pages lead.

    Raises:
        Refusal: a template cannot be read.
    """
    folders = template_folders(project)
    gathered, _ = _gathered(project, plan)
    source = Source(gathered, max_item_text=plan.max_item_text)
    renderer = _renderer(project, folders, {one.name: one.path for one in assets(folders)}, plan.theme)
    teller = _teller(project)
    try:
        for page in PAGES:
            for made in page.make(source):
                if isinstance(made, Leaf):
                    made.digest(teller)
            renderer.prepare(page.name)
    finally:
        source.close()
    look_at_links(plan.out, incremental.read(project, plan.out))


def is_catalog(place: Path) -> bool:
    """Tell whether a folder is one that a catalog may be built into: empty, or a catalog."""
    return place.is_dir() and (not any(place.iterdir()) or _kind(place) is not None)


def _place(project: Project, out: Path | None, *, public: bool) -> Path:
    named = out or usual_out(project, public=public)
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
    if place.exists() and not is_catalog(place):
        raise Refusal(
            "not-a-catalog",
            f"{named} holds something that is no catalog",
            why=[f"{named}: it would be replaced as a whole, and it has no {MANIFEST} of a catalog"],
            next="name an empty folder, or remove it",
        )
    there = _kind(place)
    if there is not None and there != public:
        words = ("a public", "a local") if there else ("a local", "a public")
        raise Refusal(
            "other-catalog",
            f"{named} holds {words[0]} catalog, and stays one",
            why=[f"{named}: {words[1]} build there could be published, or read, as what it is not"],
            next="name another folder with --out, or remove this one",
        )
    return place


def _kind(place: Path) -> bool | None:
    """Return whether a folder's catalog is a public one; None where it holds no catalog."""
    path = place / MANIFEST
    if not path.is_file():
        return None
    data = path.read_bytes()
    return b'\n  "public": true' in data if f'"form": "{FORM}"'.encode() in data else None


def _build(
    project: Project,
    plan: Plan,
    folders: list[Path],
    *,
    before: State,
    after: State,
    head: str | None,
    progress: Callable[[int, int], None] | None,
) -> Built:
    static = assets(folders)
    gathered, watch = _gathered(project, plan)
    source = Source(gathered, max_item_text=plan.max_item_text)
    renderer = _renderer(project, folders, {asset.name: asset.path for asset in static}, plan.theme)
    with Aside(plan.out, before, read=plan.verify or plan.rehash, watch=watch) as aside:
        try:
            _render(source, renderer, aside, plan, progress)
        finally:
            source.close()
        _beside(aside, plan, static, gathered.digest, head)
        _check(aside, project)
        aside.finish()
        pages = [path for path in aside.files if path.endswith(HTML)]
        removed = [path for path in aside.found if path.endswith(HTML) and path not in aside.files]
        same = not aside.differs
    guard = watch.digest if watch is not None else ""
    incremental.write(project, plan.out, replace(after, guard=guard, files=aside.state()))
    problems, left_out = _told(gathered)
    return Built(
        index=plan.out / HOME,
        n_pages=len(pages),
        n_rendered=len(aside.fresh),
        n_unchanged=len(pages) - len(aside.fresh),
        n_removed=len(removed),
        nothing_changed=same,
        problems=problems,
        left_out=left_out,
    )


def _renderer(project: Project, folders: list[Path], named: dict[str, str], theme: str) -> Renderer:
    """Return the renderer; a process that builds again keeps it, and its templates, while those stay."""
    return project.kept(
        ("renderer",), folders, lambda: Renderer(folders, project.name, named, theme),
        [str(folder) for folder in folders], project.name, named, theme,
    )  # fmt: skip


def _teller(project: Project) -> Teller:
    """Return what tells contexts; a process that builds again keeps it."""
    return project.kept(("teller",), (), Teller)


def _gathered(project: Project, plan: Plan) -> tuple[Gathered, Watch | None]:
    if not plan.public:
        return Gathered(project, with_outputs=False), None
    from evh_build import guard, hidden
    from evh_build.public import PublicGathered

    made = PublicGathered(project, with_outputs=False)
    guard.check(made, plan.out)
    return made, hidden.watch(made)


def _told(gathered: Gathered) -> tuple[tuple[Problem, ...], tuple[LeftOut, ...]]:
    """Return what the one who builds should know: what could not be read, what is not shown."""
    from evh_build.public import PublicGathered

    if isinstance(gathered, PublicGathered):
        every = {*gathered.problems, *gathered.unread}
        return tuple(sorted(every, key=lambda one: (one.what, one.why))), gathered.shown.left_out
    return gathered.problems, ()


def _render(
    source: Source,
    renderer: Renderer,
    aside: Aside,
    plan: Plan,
    progress: Callable[[int, int], None] | None,
) -> None:
    code = incremental.code()
    teller = _teller(source.gathered.project)
    teller.begin()
    quiet = plan.public and not source.gathered.project.settings.public_sheets
    for page in PAGES:
        closure = renderer.closure(page.name)
        for made in page.make(source):
            if made.path in aside.files:  # two records that name themselves alike: the first one stands
                continue
            leaf = publish.trimmed(made) if quiet and isinstance(made, Leaf) else made
            if isinstance(leaf, File):
                inputs = incremental.inputs_of("", code, leaf.inputs)
            else:
                inputs = incremental.inputs_of(closure, code, leaf.digest(teller))
            if not aside.take_over(leaf.path, inputs):
                data = leaf.make() if isinstance(leaf, File) else renderer.render(page.name, leaf)
                aside.put(leaf.path, data, inputs, fresh=isinstance(leaf, Leaf))
            if progress is not None:
                progress(len(aside.files), 0)


def _beside(aside: Aside, plan: Plan, static: list[Asset], digest: str, head: str | None) -> None:
    """Put in what is no page: assets, files for hosts and search engines, the stamp, the manifest last."""
    for asset in static:
        aside.put(asset.path, asset.data)
    if plan.public:
        pages = [path for path in aside.files if path.endswith(HTML)]
        for path, data in publish.files(pages, base_url=plan.base_url, index=plan.index).items():
            aside.put(path, data)
    digests = {path: one.sha256 for path, one in aside.files.items()}
    aside.put(STAMP, stamp(digests, data_sha256=digest, commit=head))
    digests[STAMP] = aside.files[STAMP].sha256
    aside.put(MANIFEST, manifest(digests, data_sha256=digest, commit=head, public=plan.public))


def _check(aside: Aside, project: Project) -> None:
    if aside.leaks:
        from evh_build.guard import standing

        n = plural(len(aside.leaks), "thing")
        raise Refusal(
            "must-not-be-published",
            f"the public catalog was not built: {n} in it must not be published",
            why=sorted(aside.leaks),
            next="take it out of the record that the page shows, or make its dataset private (dataset-set)"
            + standing(project, aside.out),
        )
    broken = aside.broken()
    if broken:
        raise Refusal(
            "broken-links",
            f"the catalog was not built: {plural(len(broken), 'link leads', 'links lead')} nowhere",
            why=broken,
            next="mend the template; evh's own templates never do this",
        )
