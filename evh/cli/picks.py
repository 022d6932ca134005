"""``evh pick`` and ``evh picks``: marking items for the next version of a dataset, and what waits."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evh.cli.common import command, emit, next_steps, project, say, warn
from evh.cli.table import table
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.acts.pick import Report
    from evh.project.find import Project


@command(
    "pick",
    writes=True,
    example="evh pick --dataset-id cve_2024_07_08 --item CVE-2024-37383 --for cve_2024_h1 --tag kind=missed",
)
@click.option("--dataset-id", required=True, metavar="D", help="The dataset that holds the items.")
@click.option("--item", "items", multiple=True, metavar="ID", help="An item; repeatable.")
@click.option("--items-from", type=click.Path(path_type=Path), help="A file of item ids, one a line.")
@click.option("--for", "targets", multiple=True, metavar="D2", help="A dataset it may join; repeatable.")
@click.option("--tag", "tags", multiple=True, metavar="K=V", help="Set a tag; K= removes it.")
@click.option("--note", metavar="TEXT", help="Why this item.")
@click.option("--by", metavar="WHO", help="Who picks.")
@click.option("--drop", is_flag=True, help="Take the items off the list.")
def pick(
    *,
    dataset_id: str,
    items: tuple[str, ...],
    items_from: Path | None,
    targets: tuple[str, ...],
    tags: tuple[str, ...],
    note: str | None,
    by: str | None,
    drop: bool,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Mark items as candidates for the next version of one or more datasets."""
    from evh.acts import pick as act
    from evh.acts.reference_promote import read_item_ids
    from evh.records.pick import dump

    found = project()
    chosen = [*items, *(read_item_ids(items_from) if items_from else [])]
    change = act.Change(
        targets=targets or None, tags=act.read_tags(tags) or None, note=note, by=by, drop=drop
    )
    plan = act.plan(found, dataset_id, chosen, change)
    warnings = list(plan.warnings)
    lines = plan.lines
    if not dry_run:
        done = act.commit(found, plan)
        lines = done.lines
        if done.torn:
            warnings.append("the last line of the list had been cut by a crash; it was dropped")
    if as_json:
        emit("pick", "picks", [dump(line) for line in lines], warnings=warnings, dry_run=dry_run)
        return
    verb = "drop" if drop else "pick"
    done_word = f"would {verb}" if dry_run else {"drop": "dropped", "pick": "picked"}[verb]
    say(f"{done_word} {plural(len(lines), 'item')} of {dataset_id}")
    for line in lines:
        tagged = " ".join(f"{key}={value}" for key, value in line.tags.items())
        target = ", ".join(line.targets) or "no dataset yet"
        if not drop:
            say(f"  {one_line(line.item_id)} for {target}{f' [{tagged}]' if tagged else ''}")
    warn(warnings)
    next_steps(["evh picks"])


@command("picks", example="evh picks --for cve_2024_h1")
@click.option("--for", "target", metavar="D", help="What waits for this dataset, and for its parents.")
@click.option("--tag", "tags", multiple=True, metavar="K=V", help="Only picks with this tag; repeatable.")
def picks(*, target: str | None, tags: tuple[str, ...], as_json: bool) -> None:
    """List the picks that wait, by the dataset they wait for."""
    from evh.acts import pick as act
    from evh.project import datasets

    found = project()
    report = act.report(found, target=target, tags=act.read_tags(tags))
    if as_json:
        rows = [
            {
                "target": group.target,
                "dataset_id": one.pick.dataset_id,
                "item_id": one.pick.item_id,
                "sha256": one.pick.sha256,
                "capture": one.pick.capture,
                "labels": {kind: list(refs) for kind, refs in one.labels.items()},
                "targets": list(one.pick.targets),
                "used_for": list(one.used_for),
                "tags": dict(one.pick.tags),
                "note": one.pick.note or None,
                "by": one.pick.by or None,
                "at": one.pick.at or None,
            }
            for group in report.groups
            for one in group.picks
        ]
        emit("picks", "picks", rows, warnings=report.warnings)
        return
    for group in report.groups:
        newer = group.newest if group.newest != group.target else None
        told = f" (not for {newer}, a version of it: the commands below retarget them)" if newer else ""
        say(f"waiting for {group.target}{told}:" if group.target else "waiting, for no dataset yet:")
        table(
            ["item", "dataset", "capture", "labels", "tags", "note", "by"],
            [
                [
                    one.pick.item_id,
                    one.pick.dataset_id,
                    one.pick.capture,
                    "; ".join(f"{kind}: {', '.join(refs)}" for kind, refs in one.labels.items())
                    or "none yet",
                    " ".join(f"{key}={value}" for key, value in one.pick.tags.items()) or None,
                    one.pick.note or None,
                    one.pick.by or None,
                ]
                for one in group.picks
            ],
        )
        say()
    if not report.groups:
        say("nothing waits")
        known = datasets.ids(found)
        name = known[0] if len(known) == 1 else "DATASET"
        next_steps([f"evh inspect --sheet --dataset-id {name}", f"evh pick --dataset-id {name} --item ITEM"])
    elif steps := _next_of(found, report):
        next_steps(steps)
    warn(report.warnings)


def _next_of(here: Project, report: Report) -> list[str]:
    """Return the commands for what waits: labels for what has none, then a version of each target."""
    from evh.acts import dataset_extend, steps
    from evh.acts import pick as act
    from evh.project import datasets

    bare: dict[str, list[str]] = {}
    for group in report.groups:
        for one in group.picks:
            if not datasets.exists(here, one.pick.dataset_id):
                continue  # nothing can be labelled or taken: the notes tell how to drop it
            if not one.labels and one.pick.item_id not in bare.get(one.pick.dataset_id, ()):
                bare.setdefault(one.pick.dataset_id, []).append(one.pick.item_id)
    made = [
        steps.label_sheet(
            name, " ".join(f"--item {shlex.quote(item_id)}" for item_id in item_ids[: act.MOST_ITEMS])
        )
        for name, item_ids in bare.items()
    ]
    for group in report.groups:
        if not group.target or not datasets.exists(here, group.target):
            continue
        newest = group.newest or group.target
        if newest != group.target:
            made += act.retarget_commands((one.pick for one in group.picks), {group.target}, newest)
        version = dataset_extend.next_version(here, newest)
        made.append(f"evh dataset-extend {newest} --dataset-id {version} --picks")
    return list(dict.fromkeys(made))
