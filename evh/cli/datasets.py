"""``evh dataset-create``, ``dataset-set``, ``datasets``, ``dataset-items`` and ``dataset-from-capture``."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evh.acts import dataset_create as create_act
from evh.acts import dataset_from_capture as from_capture_act
from evh.acts import dataset_set as set_act
from evh.acts import steps as step
from evh.acts.dataset_create import Flags, Plan, Source
from evh.cli.common import command, emit, next_steps, project, say, warn
from evh.cli.table import table
from evh.project import captures, labels, runs
from evh.project import datasets as shelf
from evh.records import dataset as record
from evh.records.dataset import VISIBILITIES
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item

PREVIEW = 80
"""How many characters of an item a list shows."""

PREVIEWED = 50
"""How many items a list shows to people where no limit is given."""

F = TypeVar("F", bound="Callable[..., Any]")


def _flags(function: F) -> F:
    """Add the options that `dataset-create`, `dataset-from-capture` and `dataset-set` share."""
    for option in (
        click.option("--description", metavar="TEXT", help="What the dataset is, in a sentence."),
        click.option(
            "--cluster-field",
            metavar="F",
            help="Items with the same value of this field belong together: tests and intervals draw them "
            "together. '' takes it away.",
        ),
        click.option("--task", metavar="T", help="What its labels answer; sets of two tasks never meet."),
        click.option(
            "--redistribute/--no-redistribute",
            "redistributable",
            default=None,
            help="May its texts be passed on?",
        ),
        click.option("--visibility", type=click.Choice(VISIBILITIES), help="Default: the project's."),
        click.option(
            "--governed/--not-governed", default=None, help="A dataset whose versions are made on purpose."
        ),
    ):
        function = option(function)
    return function


@command(
    "dataset-from-capture",
    writes=True,
    example="evh dataset-from-capture --capture older --dataset-id older --governed",
)
@click.option("--capture", "capture_id", required=True, metavar="C", help="The capture.")
@click.option("--dataset-id", required=True, metavar="D", help="The new dataset's id.")
@click.option("--adapter", default="", metavar="A", help="Reads the records (default: the capture's).")
@click.option("--allow-duplicates", is_flag=True, help="Let records of equal bytes make an item each.")
@_flags
def dataset_from_capture(
    *,
    capture_id: str,
    dataset_id: str,
    adapter: str,
    allow_duplicates: bool,
    as_json: bool,
    dry_run: bool,
    **flags: Any,  # noqa: ANN401 - click's options
) -> None:
    """Make a dataset of a capture's records."""
    here = project()
    plan = from_capture_act.plan(
        here, capture_id, dataset_id, Flags(**flags), adapter=adapter, allow_duplicates=allow_duplicates
    )
    _finish(here, "dataset-from-capture", plan, as_json=as_json, dry_run=dry_run)


@command(
    "dataset-create",
    writes=True,
    example="evh dataset-create --dataset-id reviews --from-file reviews.csv --id-field id --text-field body",
)
@click.option("--dataset-id", required=True, metavar="D", help="The new dataset's id.")
@click.option("--source-dir", type=click.Path(path_type=Path), metavar="DIR", help="A folder of texts.")
@click.option("--from-file", "file", type=click.Path(path_type=Path), help="JSONL, JSON, CSV or Parquet.")
@click.option("--from", "parent", metavar="V1", help="A dataset: the new one has its items.")
@click.option("--id-field", default="item_id", show_default=True, help="The column of the id.")
@click.option("--text-field", default="text", show_default=True, help="The column of the text.")
@click.option(
    "--field", "fields", multiple=True, metavar="F", help="A column that becomes a field (repeatable)."
)
@click.option("--allow-duplicates", is_flag=True, help="Let equal bytes stand under several ids.")
@_flags
def dataset_create(
    *,
    dataset_id: str,
    source_dir: Path | None,
    file: Path | None,
    parent: str | None,
    id_field: str,
    text_field: str,
    fields: tuple[str, ...],
    allow_duplicates: bool,
    as_json: bool,
    dry_run: bool,
    **flags: Any,  # noqa: ANN401 - click's options
) -> None:
    """Make a dataset from files, or from another dataset."""
    here = project()
    source = Source(source_dir, file, parent, id_field, text_field, fields)
    plan = create_act.plan(here, dataset_id, source, Flags(**flags), allow_duplicates=allow_duplicates)
    _finish(here, "dataset-create", plan, as_json=as_json, dry_run=dry_run)


def _finish(here: Project, name: str, plan: Plan, *, as_json: bool, dry_run: bool) -> None:
    made = plan.dataset if dry_run else create_act.commit(here, plan)
    if as_json:
        emit(
            name,
            "datasets",
            [_row(made)],
            warnings=plan.warnings,
            written=not dry_run,
            n_left_out=plan.n_left_out,
        )
        return
    done = "would make" if dry_run else "made"
    say(f"{done} the dataset {made.dataset_id}: {plural(len(made.items), 'item')}")
    if name == "dataset-from-capture":
        say(f"  {plural(plan.n_left_out, 'record')} without an item left out")
    warn(plan.warnings)
    if not dry_run:
        next_steps(
            [
                f"evh dataset-items --dataset-id {made.dataset_id}",
                step.label_sheet(made.dataset_id),
            ]
        )


def _row(one: Dataset) -> dict[str, Any]:
    """Return a dataset as a row of ``--json``: its manifest without the items."""
    return {
        "dataset_id": one.dataset_id,
        "version": one.version,
        "created_at": one.created_at,
        "description": one.description,
        "n_items": len(one.items),
        "governed": one.governed,
        "visibility": one.visibility,
        "redistributable": one.redistributable,
        "task": one.task,
        "cluster_field": one.cluster_field,
        "parent": one.parent,
        "captures": sorted(
            {str(item.lineage["capture"]) for item in one.items if item.lineage.get("capture")}
        ),
        "fields": dict(one.field_types) or record.field_types_of(list(one.items)),
    }


@command("dataset-set", writes=True, example="evh dataset-set --dataset-id older --governed")
@click.option("--dataset-id", required=True, metavar="D", help="The dataset.")
@_flags
def dataset_set(dataset_id: str, as_json: bool, dry_run: bool, **flags: Any) -> None:  # noqa: ANN401 - click's options
    """Change a dataset's flags, saying before and after."""
    here = project()
    plan = set_act.plan(here, dataset_id, Flags(**flags))
    done = plan if dry_run else set_act.commit(here, plan)
    if as_json:
        rows = [
            {"dataset_id": dataset_id, "flag": one.flag, "before": one.before, "after": one.after}
            for one in done.changes
        ]
        emit("dataset-set", "changes", rows, written=not dry_run and any(one.changed for one in done.changes))
        return
    for one in done.changes:
        same = "" if one.changed else " (as it was)"
        say(f"{dataset_id}: {one.flag}: {_shown(one.before)} → {_shown(one.after)}{same}")
    if dry_run:
        say("nothing written (--dry-run)")
    next_steps(["evh datasets"])


@command("datasets", example="evh datasets")
def datasets(as_json: bool) -> None:
    """List datasets."""
    here = project()
    problems: list[Refusal] = []
    listed = shelf.read_all(here, problems)
    n_sets = Counter(ref.partition("/")[0] for ref in labels.refs(here))
    n_runs = Counter(run.dataset_id for run in runs.read_all(here, problems))
    warnings = [reason for problem in problems for reason in problem.why or (problem.what,)]
    counted = [
        {**_row(one), "n_label_sets": n_sets[one.dataset_id], "n_runs": n_runs[one.dataset_id]}
        for one in listed
    ]
    if as_json:
        emit("datasets", "datasets", counted, warnings=warnings)
        return
    warn(warnings)
    if not listed:
        say("no datasets yet")
        next_steps(
            [
                f"evh dataset-from-capture --capture {_only_capture(here)} --dataset-id D",
                "evh dataset-create --dataset-id D --from-file FILE",
            ]
        )
        return
    keys = ("dataset_id", "n_items", "governed", "visibility", "task", "parent")
    table(
        ["dataset", "items", "governed", "visibility", "task", "parent", "capture", "label sets", "runs"],
        [
            [*(row[key] or (None if key in {"task", "parent"} else row[key]) for key in keys),
             ", ".join(row["captures"]) or None, row["n_label_sets"], row["n_runs"]]
            for row in counted
        ],
        right=(1, 7, 8),
        keep=(0,),
        drop=(3, 4, 6, 5),
    )  # fmt: skip
    next_steps([f"evh dataset-items --dataset-id {listed[-1].dataset_id}"])


@command("dataset-items", example="evh dataset-items --dataset-id older --limit 20")
@click.option("--dataset-id", required=True, metavar="D", help="The dataset.")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="At most N items (default: 50; all with --json)."
)
def dataset_items(dataset_id: str, limit: int | None, as_json: bool) -> None:
    """List a dataset's items."""
    here = project()
    dataset = shelf.read(here, dataset_id)
    shown = list(dataset.items[: limit or (None if as_json else PREVIEWED)])
    texts = shelf.texts(here, dataset, shown)
    rows = [
        {
            "item_id": item.item_id,
            "sha256": item.sha256,
            "preview": one_line(texts[item.item_id].decode("utf-8", "replace")[: PREVIEW * 4], PREVIEW),
            "fields": dict(item.fields),
            "lineage": dict(item.lineage),
        }
        for item in shown
    ]
    if as_json:
        emit("dataset-items", "items", rows, dataset_id=dataset_id, n_items=len(dataset.items))
        return
    table(
        ["item", "text", "fields"],
        [[item.item_id, row["preview"], _fields(item)] for item, row in zip(shown, rows, strict=True)],
    )
    if len(shown) < len(dataset.items):
        say(f"{len(shown):,} of {plural(len(dataset.items), 'item')}; --limit shows more")
    if shown:
        next_steps([f"evh inspect --dataset-id {dataset_id} --item {shlex.quote(shown[0].item_id)}"])


def _only_capture(here: Project) -> str:
    known = captures.ids(here)
    return known[0] if len(known) == 1 else "C"


def _fields(item: Item) -> str:
    return " ".join(f"{name}={value}" for name, value in item.fields.items())


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) or "—"
