"""``evh catalog-build``: the static site of everything here."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evh.cli import common
from evh.store.text import plural

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh_build.site import Built


@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="The site's folder (.build/catalog)."
)
@click.option(
    "--max-item-text", type=int, metavar="N", help="Characters of an item's text that a page shows."
)
@click.option("--rehash", is_flag=True, help="Read every record again, whatever the files' times say.")
@common.command("catalog-build", writes=True, example="evh catalog-build --out /tmp/site")
def catalog_build(
    out: Path | None, max_item_text: int | None, rehash: bool, dry_run: bool, as_json: bool
) -> None:
    """Build the static site of everything here: opened from disk, or served by any static host.

    It reads data/ and writes nothing there. A build that changes nothing touches nothing; one that fails
    leaves the old site as it was.
    """
    from evh_build import site

    project = common.project()
    plan = site.plan(project, out=out, max_item_text=max_item_text, rehash=rehash)
    if dry_run:
        if as_json:
            common.emit("catalog-build", "findings", [], out=str(plan.out), index=None, built=None)
        else:
            common.say(f"would build the catalog into {plan.out}")
        return
    began = time.monotonic()
    built = site.commit(project, plan)
    seconds = time.monotonic() - began
    if as_json:
        _emit(plan.out, built)
        return
    _tell(built)
    common.warn(_not_for_others(project))
    click.echo(f"{seconds:.1f} s", err=True)


def _not_for_others(project: Project) -> list[str]:
    """Return what must not be published of what was built: this build shows everything."""
    from evh.project import datasets

    kept = [one for one in datasets.read_all(project, []) if not one.redistributable]
    if project.settings.visibility == "public":
        kept += [
            one for one in datasets.read_all(project, []) if one.visibility == "private" and one not in kept
        ]
    if not kept:
        return []
    names = ", ".join(one.dataset_id for one in kept)
    return [f"these pages show all of {names}, private or not to be redistributed: they are for this machine"]


def _emit(out: Path, built: Built) -> None:
    common.emit(
        "catalog-build",
        "findings",
        [{"what": one.what, "why": list(one.why)} for one in built.problems],
        out=str(out),
        index=str(built.index),
        built={
            "pages": built.n_pages,
            "rendered": built.n_rendered,
            "unchanged": built.n_unchanged,
            "removed": built.n_removed,
            "nothing_changed": built.nothing_changed,
        },
    )


def _tell(built: Built) -> None:
    if built.nothing_changed:
        common.say(f"nothing changed: {plural(built.n_pages, 'page')} as they were")
    else:
        removed = f", {built.n_removed:,} removed" if built.n_removed else ""
        common.say(
            f"{plural(built.n_pages, 'page')}: {built.n_rendered:,} rendered, "
            f"{built.n_unchanged:,} unchanged{removed}"
        )
    common.warn(f"left out: {one.what}" for one in built.problems[:10])
    if len(built.problems) > 10:
        common.warn([f"and {len(built.problems) - 10:,} more; the About page lists them"])
    common.say(f"open {built.index}")
