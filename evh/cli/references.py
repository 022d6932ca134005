"""``evh reference-promote`` and ``evh references``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh.records.reference import Reference


@common.command(
    "reference-promote",
    writes=True,
    example='evh reference-promote --dataset-id d --labels owner --tier gold --reason "two people agree"',
)
@click.option("--dataset-id", required=True, metavar="D", help="The dataset that the reference is for.")
@click.option(
    "--labels", "label_refs", required=True, multiple=True, metavar="S|D0/S", help="A label set (repeatable)."
)
@click.option(
    "--item", "item_ids", multiple=True, metavar="ID", help="This item (repeatable; default: all labelled)."
)
@click.option("--items-from", type=click.Path(path_type=Path), help="A file of item ids, one a line.")
@click.option("--tier", required=True, type=click.Choice(["gold", "silver"]), help="The tier you decide on.")
@click.option("--reason", default="", help="Why these labels are what is measured against.")
@click.option("--name", metavar="N", help="The reference's name (default: the dataset's id).")
@click.option("--by", metavar="WHO", help="Who promotes.")
def reference_promote(
    *,
    dataset_id: str,
    label_refs: tuple[str, ...],
    item_ids: tuple[str, ...],
    items_from: Path | None,
    tier: str,
    reason: str,
    name: str | None,
    by: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Promote chosen labels to a reference set: the only way to make one."""
    from evh.acts import reference_promote as act
    from evh.acts import steps

    project = common.project()
    chosen = list(item_ids) + (act.read_item_ids(items_from) if items_from else [])
    plan = act.plan(
        project,
        dataset_id=dataset_id,
        label_refs=[ref for refs in label_refs for ref in refs.split(",") if ref],
        tier=tier,
        reason=reason,
        item_ids=chosen if item_ids or items_from else None,
        name=name,
        by=by,
    )
    reference = plan.reference if dry_run else act.commit(project, plan)
    if as_json:
        row = {**_row(reference), "of": plan.n_of, "written": not dry_run}
        common.emit("reference-promote", "references", [row], warnings=plan.warnings)
        return
    done = "would promote" if dry_run else "promoted"
    common.say(
        f"{done} {reference.n_items:,} of {plan.n_of:,} items of {dataset_id} "
        f"from {', '.join(reference.label_refs)} to {reference.ref}"
    )
    common.warn([*plan.warnings, *([reference.caveat] if reference.caveat else [])])
    common.next_steps([steps.score_reference(project, dataset_id, reference.ref), "evh references"])


@common.command("references", example="evh references")
@click.option("--dataset-id", metavar="D", help="Of this dataset only.")
def references(dataset_id: str | None, as_json: bool) -> None:
    """List reference sets: what each was promoted from, by whom, and why."""
    from evh.cli.table import table
    from evh.errors import Refusal
    from evh.project import datasets
    from evh.project import references as shelf
    from evh.project.shelf import missing

    project = common.project()
    problems: list[Refusal] = []
    every = shelf.read_all(project, problems)
    found = [one for one in every if dataset_id in (None, one.dataset_id)]
    if dataset_id is not None and not found and not datasets.exists(project, dataset_id):
        known = {*datasets.ids(project), *(one.dataset_id for one in every)}
        raise missing("dataset", dataset_id, known, next="evh datasets")
    warnings = [f"{problem.what}: {'; '.join(problem.why)}" for problem in problems]
    notes = [f"{project.show(one.path)}: {one.what}" for one in shelf.strays(project)]
    if as_json:
        common.emit("references", "references", [_row(one) for one in found], warnings=[*warnings, *notes])
        return
    if not found:
        common.say("no reference set yet")
    else:
        table(
            ["tier", "name", "dataset", "items", "promoted from", "source", "by", "reason"],
            [
                (
                    one.tier,
                    one.name,
                    one.dataset_id,
                    one.n_items,
                    ", ".join(one.label_refs) or "no promotion on record",
                    ", ".join(_source_kinds(one)) or None,
                    one.promoted_by,
                    one.reason,
                )
                for one in found
            ],
            right=(3,),
            keep=(1, 2),
            drop=(6, 5, 7, 4),
        )
    common.warn([*warnings, *notes])
    common.next_steps([_scored_next(project, found)] if found else [_promoted_next(project, dataset_id)])


def _scored_next(project: Project, found: list[Reference]) -> str:
    from evh.acts import steps

    if len(found) == 1:
        return steps.score_reference(project, found[0].dataset_id, found[0].ref)
    return "evh rescore --dataset-id D --reference TIER/NAME"


def _promoted_next(project: Project, dataset_id: str | None) -> str:
    from evh.acts import steps
    from evh.project import labels

    refs = [ref for ref in labels.refs(project) if dataset_id in (None, ref.partition("/")[0])]
    owners = {ref.partition("/")[0] for ref in refs}
    one = dataset_id or (owners.pop() if len(owners) == 1 else "D")
    return steps.promote_or_label(project, one, refs)


def _source_kinds(reference: Reference) -> list[str]:
    sources = (reference.promoted_from or {}).get("source")
    listed = sources if isinstance(sources, list) else [sources]
    return [str(one.get("kind", "")) for one in listed if isinstance(one, dict)]


def _row(reference: Reference) -> dict[str, Any]:
    return {
        "reference": reference.ref,
        "tier": reference.tier,
        "name": reference.name,
        "dataset_id": reference.dataset_id,
        "n_items": reference.n_items,
        "created_at": reference.created_at or None,
        "labels": list(reference.label_refs),
        "source": _source_kinds(reference),
        "labels_sha256": list((reference.promoted_from or {}).get("labels_sha256") or []),
        "reason": reference.reason,
        "promoted_by": reference.promoted_by,
        "caveat": reference.caveat or None,
        "promotion_on_record": reference.promoted_from is not None,
    }
