"""``evh catalog-build`` and ``catalog-verify``: the site of everything here, and whether it is whole."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evh.cli import common
from evh.store.text import plural

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh_build.shown import LeftOut
    from evh_build.site import Built, Plan
    from evh_build.verify import Verdict

MOST_TOLD = 20


@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="The site's folder (.build/catalog)."
)
@click.option("--public", is_flag=True, help="Leave out what may not be published; into .build/public.")
@click.option("--base-url", metavar="URL", help="The public site's address, for its sitemap.")
@click.option("--no-index", is_flag=True, help="Tell search engines to pass the public site by.")
@click.option(
    "--max-item-text", type=int, metavar="N", help="Characters of an item's text that a page shows."
)
@click.option(
    "--verify", is_flag=True, help="Ask every file for its size and time, also in finished records."
)
@click.option("--rehash", is_flag=True, help="Read every file again, whatever the files' times say.")
@click.option("--watch", is_flag=True, help="Build again at each change, until Ctrl-C.")
@common.command("catalog-build", writes=True, example="evh catalog-build --out /tmp/site")
def catalog_build(
    *,
    out: Path | None,
    public: bool,
    base_url: str | None,
    no_index: bool,
    max_item_text: int | None,
    verify: bool,
    rehash: bool,
    watch: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Build the static site of everything here: opened from disk, or served by any static host.

    It reads data/ and writes nothing there. A build that changes nothing touches nothing; one that fails
    leaves the old site as it was. To see what changed it trusts folder times where a record is never edited.
    """
    from evh_build import site

    if verify and rehash:
        raise click.UsageError("choose one of --verify and --rehash: --rehash asks for more")
    if watch and (rehash or dry_run or as_json):
        raise click.UsageError("--watch goes with neither --rehash nor --dry-run nor --json")

    def planned(one: Project) -> Plan:
        return site.plan(
            one,
            out=out,
            max_item_text=max_item_text,
            verify=verify,
            rehash=rehash,
            public=public,
            base_url=base_url,
            index=not no_index,
        )

    project = common.project()
    plan = planned(project)
    if watch:
        from evh.cli.catalog_serve import keep_building

        keep_building(project, planned)
        return
    if dry_run:
        _dry(project, plan, as_json=as_json)
        return
    began = time.monotonic()
    built = site.commit(project, plan)
    seconds = time.monotonic() - began
    if as_json:
        _emit(plan, built)
        return
    _tell(built)
    if public:
        _tell_public(plan, built)
    else:
        common.warn(_not_for_others(project))
    click.echo(f"{seconds:.1f} s", err=True)


@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@common.command("catalog-verify", example="evh catalog-verify .build/public")
def catalog_verify(*, folder: Path | None, as_json: bool) -> None:
    """Check a built site against its manifest.json: what was changed, what is missing, what is beside it.

    Without DIR it is the project's own catalog. Exit 1 when anything differs.
    """
    from evh_build import site, verify

    verdict = verify.verify(folder.absolute() if folder else site.usual_out(common.project()))
    if as_json:
        _emit_verdict(verdict)
    else:
        _tell_verdict(verdict)
    if not verdict.good:
        click.get_current_context().exit(1)


def _dry(project: Project, plan: Plan, *, as_json: bool) -> None:
    left_out = _left_out(project, plan) if plan.public else ()
    if as_json:
        common.emit(
            "catalog-build",
            "findings",
            [],
            out=str(plan.out),
            index=None,
            public=plan.public,
            left_out=[_row(one) for one in left_out],
            built=None,
        )
        return
    common.say(f"would build the {'public ' if plan.public else ''}catalog into {plan.out}")
    _tell_left_out(left_out)


def _left_out(project: Project, plan: Plan) -> tuple[LeftOut, ...]:
    from evh_build import guard
    from evh_build.public import PublicGathered

    made = PublicGathered(project)
    guard.check(made, plan.out)
    return made.shown.left_out


def _not_for_others(project: Project) -> list[str]:
    """Return what must not be published of what was built: this build shows everything."""
    from evh.project import datasets

    every = datasets.read_all(project, [])
    kept = [one for one in every if not one.redistributable]
    if project.settings.visibility == "public":
        kept += [one for one in every if one.visibility == "private" and one not in kept]
    if not kept:
        return []
    names = ", ".join(one.dataset_id for one in kept)
    told = f"these pages show all of {names}, private or not to be redistributed: they are for this machine"
    return [f"{told}; evh catalog-build --public leaves it out"]


def _emit(plan: Plan, built: Built) -> None:
    common.emit(
        "catalog-build",
        "findings",
        [{"what": one.what, "why": list(one.why)} for one in built.problems],
        out=str(plan.out),
        index=str(built.index),
        public=plan.public,
        left_out=[_row(one) for one in built.left_out],
        built={
            "pages": built.n_pages,
            "rendered": built.n_rendered,
            "unchanged": built.n_unchanged,
            "removed": built.n_removed,
            "nothing_changed": built.nothing_changed,
        },
    )


def _row(one: LeftOut) -> dict[str, str]:
    return {"noun": one.noun, "name": one.name, "why": one.why}


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
        common.warn([f"and {len(built.problems) - 10:,} more; evh validate lists them"])
    common.say(f"open {built.index}")


def _tell_public(plan: Plan, built: Built) -> None:
    _tell_left_out(built.left_out)
    if plan.index and not plan.base_url:
        common.warn(["there is no sitemap.xml: it needs the site's address (--base-url, [catalog] base_url)"])


def _tell_left_out(left_out: tuple[LeftOut, ...]) -> None:
    counts = Counter(one.noun for one in left_out)
    if counts:
        common.say("not shown: " + ", ".join(plural(n, noun) for noun, n in counts.items()))


def _emit_verdict(verdict: Verdict) -> None:
    rows = [
        {"path": path, "how": how}
        for how, paths in (
            ("changed", verdict.changed),
            ("missing", verdict.missing),
            ("extra", verdict.extra),
        )
        for path in paths
    ]
    common.emit(
        "catalog-verify",
        "differences",
        rows,
        out=str(verdict.out),
        public=verdict.public,
        files=verdict.n_files,
    )


def _tell_verdict(verdict: Verdict) -> None:
    if verdict.good:
        common.say(f"{plural(verdict.n_files, 'file')}, each as the manifest says: {verdict.out}")
        return
    for how, paths in (
        ("changed", verdict.changed),
        ("missing", verdict.missing),
        ("not in the manifest", verdict.extra),
    ):
        for path in paths[:MOST_TOLD]:
            common.say(f"{how}: {path}")
        if len(paths) > MOST_TOLD:
            common.say(f"{how}: {len(paths) - MOST_TOLD:,} more")
    common.next_steps(["evh catalog-build --rehash"])
