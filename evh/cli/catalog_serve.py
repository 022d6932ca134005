"""``evh catalog-serve``: the catalog on a port of this project's own, built again at each change."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from evh.cli import common
from evh.errors import Refusal
from evh.store.text import clean, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evh.project.find import Project
    from evh_build.serve import Server
    from evh_build.site import Plan
    from evh_build.watch import Rebuilt, Workshop


@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="N",
    help="This port, or none. 0: any that is free. By default the project's own, or the next free one.",
)
@click.option(
    "--watch/--no-watch", default=True, help="Build again at each change; --no-watch: once, at the start."
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="The site's folder (.build/catalog)."
)
@common.command("catalog-serve", example="evh catalog-serve")
def catalog_serve(port: int | None, watch: bool, out: Path | None, as_json: bool) -> None:
    """Serve the catalog to this machine alone, and build it again whenever the project changes.

    Each project has a port of its own, made from the path of its folder: the same address every time, and
    two projects side by side have two. [serve] port in evh.toml sets another. An open page that was built
    again loads itself anew. Ctrl-C stops it.
    """
    from evh_build import serve, site
    from evh_build.watch import Workshop

    project = common.project()
    workshop = Workshop(project, lambda one: site.plan(one, out=out))
    place = site.plan(project, out=out).out
    wanted = project.settings.port or serve.port_of(project.root) if port is None else port
    server = serve.listening(
        place, name=project.name, root=project.root.resolve(), port=wanted, fixed=port is not None
    )
    stop = threading.Event()
    with _stopped(as_json=as_json):
        try:
            _first(workshop, place)
            server.begin()
            _tell_where(project, server, wanted=wanted, as_json=as_json)
            if watch:
                follow(workshop, stop, command="catalog-serve", err=as_json)
            else:
                stop.wait()
        finally:
            stop.set()
            server.end()


def keep_building(project: Project, planned: Callable[[Project], Plan]) -> None:
    """Build now and at each change, until Ctrl-C (``catalog-build --watch``).

    Raises:
        Refusal: the plan is refused. A build that is refused is told, and the next change is another try.
    """
    from evh_build.watch import Workshop

    common.say(f"watching {project.root}; open {planned(project).out / 'index.html'}; Ctrl-C stops")
    with _stopped(as_json=False):
        follow(Workshop(project, planned), threading.Event(), command="catalog-build")


@contextlib.contextmanager
def _stopped(*, as_json: bool) -> Iterator[None]:
    """Take Ctrl-C, and a request to end, as the way to stop: that is no failure."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except KeyboardInterrupt:
        if not as_json:
            common.say("stopped")
    finally:
        signal.signal(signal.SIGTERM, before)


def follow(workshop: Workshop, stop: threading.Event, *, command: str, err: bool = False) -> None:
    """Build at each change and tell of it in a line, until ``stop`` is set; Ctrl-C is raised.

    Args:
        workshop: what builds.
        stop: ends it.
        command: names the command before a Refusal.
        err: tell on stderr, for stdout holds a document.
    """
    from evh_build.watch import rounds

    for one in rounds(workshop, stop):
        if one.refusal is not None:
            common.tell(one.refusal, as_json=False, command=command)
            click.echo("the site is as it was; the next change is another try", err=True)
        elif one.changed or not (one.built and one.built.nothing_changed):
            click.echo(clean(_line(one)), err=err)


def _line(one: Rebuilt) -> str:
    """Return what a round did: ``3 pages in 0.4 s: data/labels/… changed``."""
    built = one.built
    pages = plural(built.n_rendered, "page") if built else "0 pages"
    removed = f", {built.n_removed:,} removed," if built and built.n_removed else ""
    left = f" ({plural(len(built.problems), 'record')} left out)" if built and built.problems else ""
    cause = f": {one.cause} changed" if one.cause else ""
    return f"{pages}{removed} in {one.seconds:.1f} s{cause}{left}"


def _first(workshop: Workshop, place: Path) -> None:
    """Build; where that is refused and there is an older site, tell why and serve that."""
    try:
        workshop.build()
    except Refusal as refusal:
        if not (place / "index.html").is_file():
            raise
        common.tell(refusal, as_json=False, command="catalog-serve")
        click.echo("serving the site as it was built before", err=True)


def _tell_where(project: Project, server: Server, *, wanted: int, as_json: bool) -> None:
    moved = [f"port {wanted} is taken; this is the next free one"] if wanted not in (0, server.port) else []
    if as_json:
        document = {
            "evh": "catalog-serve/1",
            "url": server.url,
            "port": server.port,
            "folder": str(project.root),
            "out": str(server.out),
            "project": project.name,
            "warnings": moved,
        }
        click.echo(json.dumps(document, sort_keys=True))
        return
    common.warn(moved)
    common.say(f"{project.name}: {server.url}")
    common.say(f"{project.root}; Ctrl-C stops")


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
