"""Building the sample's site, beside a plain Jinja2 loop that renders every page from the same contexts.

The peer is told honestly: it is this machine's Jinja2 with evh's own templates and the contexts at hand, so
that it neither reads the project nor writes, checks or hashes anything. No static site generator can read
the project's records; one would have to be fed as many pages of text first.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evh.project.find import Project
from evh_build import site
from evh_build.assets import assets, template_folders
from evh_build.gather import Gathered
from evh_build.page import Leaf
from evh_build.pages import PAGES
from evh_build.render import Renderer
from evh_build.source import Source
from evh_build.watch import Workshop

ROOT = Path(__file__).resolve().parents[2]
PEER = "Jinja2, every page from contexts at hand"
LABEL = "data/labels/cve_2024_h1/cisa"
ROUNDS = 5


def rows(small: bool) -> list[dict[str, Any]]:
    """Time a clean build, one with nothing changed, and one after one label changed in a watching process."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        shutil.copytree(ROOT / "data", root / "data")
        shutil.copy(ROOT / "evh.toml", root)
        project = Project.find(home=root)
        render = _peer(project)
        render()  # compiles the templates
        peer_s = _timed(render)
        clean_s = _timed(lambda: site.commit(project, site.plan(project)))
        n = 1 if small else ROUNDS
        site.commit(project, site.plan(project))
        unchanged_s = min(_timed(lambda: site.commit(project, site.plan(project))) for _ in range(n))
        workshop = Workshop(project, site.plan)
        workshop.build()
        time.sleep(2.1)  # what is younger is not kept
        workshop.warm()
        label = min((root / LABEL).glob("*.txt"))
        held = label.read_bytes()
        changed = []
        for number in range(n):
            label.write_bytes(b"another" if number % 2 == 0 else held)
            changed.append(_timed(workshop.build))
    work = {
        "the sample's site, clean": clean_s,
        "the sample's site, nothing changed": unchanged_s,
        "the sample's site, one label changed, in a process that watches": min(changed),
    }
    return [{"work": name, "ours_s": took, "peer": PEER, "peer_s": peer_s} for name, took in work.items()]


def _peer(project: Project) -> Callable[[], object]:
    """Return what renders every page from its context, one after the other."""
    folders = template_folders(project)
    plan = site.plan(project)
    named = {one.name: one.path for one in assets(folders)}
    renderer = Renderer(folders, project.name, named, plan.theme)
    source = Source(Gathered(project, with_outputs=False), max_item_text=plan.max_item_text)
    leaves = [(page.name, one) for page in PAGES for one in page.make(source) if isinstance(one, Leaf)]
    source.close()
    return lambda: [renderer.render(name, one) for name, one in leaves]


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
