"""``evh label-import``: a filled sheet, or another tool's export, becomes label sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common, labels_json
from evh.errors import Refusal
from evh.records.answers import shown
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.acts.equal_bytes import Conflict
    from evh.records.labelset import LabelSet

EVH = "evh"
_SHOWN = 10
TOOLS = ("label-studio", "doccano", "prodigy", "argilla")


@common.command(
    "label-import",
    writes=True,
    example="evh label-import sheet.csv --dataset-id d --set owner_2026_11 --by owner",
)
@click.argument("source", metavar="FILE|DIR", type=click.Path(path_type=Path))
@click.option("--dataset-id", required=True, metavar="D", help="The dataset that was labelled.")
@click.option("--set", "name", required=True, metavar="S", help="The new set's name.")
@click.option("--by", required=True, metavar="NAME", help="Who labelled; of an export, who imports it.")
@click.option("--key", type=click.Path(path_type=Path), help="The sheet's key (default: the one beside it).")
@click.option("--no-key", is_flag=True, help="Read it without a key, though one of its rows is there.")
@click.option(
    "--guideline", type=click.Path(path_type=Path), help="What was labelled by (default: the key's)."
)
@click.option(
    "--adjudicates", default="", metavar="A,B", help="The sets that it settles (default: those of its key)."
)
@click.option("--task", metavar="T", help="The set's task (default: the sheet's, else the dataset's).")
@click.option("--encoding", metavar="E", help="The sheet's encoding, where it is not UTF-8.")
@click.option(
    "--as-typed", is_flag=True, help="Take labels that look like dates or times (3-Jan, 12:30) as they are."
)
@click.option(
    "--format",
    "tool",
    type=click.Choice([EVH, *TOOLS]),
    default=EVH,
    show_default=True,
    help="Whose file it is: ours, or another tool's export, a set S.<annotator> for each annotator.",
)
@click.option(
    "--question", metavar="Q", help="Of an export: which question to read, where there are several."
)
@click.option(
    "--several",
    type=click.Choice(["any", "together"]),
    help="Of an export: what several labels at once mean: each is right, or one label joined.",
)
@click.option(
    "--conflicts",
    type=click.Choice(["refuse", "leave"]),
    default="refuse",
    show_default=True,
    help="Items of equal bytes with different answers: refuse them, or leave them unlabelled and list them.",
)
@click.option("--tool-version", metavar="V", help="Of an export: the tool's version, which no export tells.")
def label_import(
    *,
    source: Path,
    dataset_id: str,
    name: str,
    by: str,
    key: Path | None,
    no_key: bool,
    guideline: Path | None,
    adjudicates: str,
    task: str | None,
    encoding: str | None,
    as_typed: bool,
    tool: str,
    question: str | None,
    several: str | None,
    conflicts: str,
    tool_version: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Read a filled sheet, a folder of <item>.txt or another tool's export as people's label sets."""
    sheet_only = {
        "--key": key,
        "--no-key": no_key,
        "--adjudicates": adjudicates,
        "--encoding": encoding,
        "--as-typed": as_typed,
    }
    tool_only = {"--question": question, "--several": several, "--tool-version": tool_version}
    _refuse_options(tool, tool_only if tool == EVH else sheet_only)
    if tool != EVH:
        from evh.acts import tool_import

        asked = tool_import.Asked(tool, tool_version, question, several, conflicts)
        _tool(source, dataset_id, name, by, asked, guideline, task, as_json=as_json, dry_run=dry_run)
        return
    from evh.acts import label_import as act

    project = common.project()
    plan = act.plan(
        project,
        dataset_id=dataset_id,
        source=source,
        name=name,
        by=by,
        key_path=key,
        no_key=no_key,
        guideline_path=guideline,
        task=task,
        encoding=encoding,
        as_typed=as_typed,
        conflicts=conflicts,
        adjudicates=tuple(one.strip() for one in adjudicates.split(",") if one.strip()),
    )
    label_set = plan.label_set if dry_run else act.commit(project, plan)
    settled = plan.settlement.counts() if plan.settlement else None
    if as_json:
        row = _row(label_set, plan.n_of, guideline=plan.guideline is not None, written=not dry_run)
        row.update(n_empty=plan.n_empty, n_comments=plan.n_comments, settled=settled)
        row["conflicts"] = [one.as_json() for one in plan.conflicts]
        common.emit("label-import", "label_sets", [row], warnings=plan.warnings)
        return
    done = "would label" if dry_run else "labelled"
    common.say(
        f"{done} {label_set.n_items:,} of {plan.n_of:,} items of {dataset_id} as {label_set.ref},"
        f" by {label_set.by} ({plural(plan.n_empty, 'row')} empty,"
        f" {plural(plan.n_comments, 'row')} that {'is no item' if plan.n_comments == 1 else 'are not items'})"
    )
    _tell_conflicts(plan.conflicts)
    if settled:
        parents = ", ".join(str(one["set"]) for one in label_set.parents)
        counts = ", ".join(f"{count:,} {how}" for how, count in settled.items())
        common.say(f"it settles {parents}: {counts}")
    if label_set.relabel_of:
        common.say(f"it labels {label_set.relabel_of} again: evh labels shows how often {by} agrees")
    _next(plan.warnings, dataset_id, [label_set.ref])


def _tool(  # noqa: PLR0917 - the command's options
    source: Path,
    dataset_id: str,
    name: str,
    by: str,
    asked: Any,  # noqa: ANN401 - imported where it is needed
    guideline: Path | None,
    task: str | None,
    *,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Import another tool's export."""
    from evh.acts import tool_import as act

    project = common.project()
    plan = act.plan(
        project,
        dataset_id=dataset_id,
        source=source,
        name=name,
        by=by,
        asked=asked,
        guideline_path=guideline,
        task=task,
    )
    made = [one.label_set for one in plan.sets] if dry_run else act.commit(project, plan)
    if as_json:
        rows = [
            {
                **_row(one, plan.n_of, guideline=plan.guideline is not None, written=not dry_run),
                "conflicts": [each.as_json() for each in planned.conflicts],
            }
            for one, planned in zip(made, plan.sets, strict=True)
        ]
        common.emit("label-import", "label_sets", rows, warnings=plan.warnings)
        return
    done = "would make" if dry_run else "made"
    n_labels = plural(sum(one.n_items for one in made), "label")
    common.say(f"{done} {plural(len(made), 'set')} of {n_labels} from {source}, question {plan.question}")
    for one, planned in zip(made, plan.sets, strict=True):
        common.say(f"  {one.ref}: {one.n_items:,} of {plan.n_of:,} items, by {one.by}")
        _tell_conflicts(planned.conflicts)
    _next(plan.warnings, dataset_id, [one.ref for one in made])


def _tell_conflicts(conflicts: Sequence[Conflict]) -> None:
    """List the texts that got different answers, with the items that they are of."""
    if not conflicts:
        return
    items = sum(len(one.items) for one in conflicts)
    what = f"{plural(len(conflicts), 'text')} of equal bytes with different answers"
    common.say(f"left unlabelled: {what}, {plural(items, 'item')}:")
    for one in conflicts[:_SHOWN]:
        more = f", … ({len(one.items):,} items)" if len(one.items) > _SHOWN else ""
        said = " | ".join(one_line(shown(answer), 60) for answer in one.answers)
        common.say(f"  {', '.join(one.items[:_SHOWN])}{more}: {said}")
    if len(conflicts) > _SHOWN:
        common.say(f"  … and {plural(len(conflicts) - _SHOWN, 'more text')} (--json lists them)")


def _row(label_set: LabelSet, n_of: int, *, guideline: bool, written: bool) -> dict[str, Any]:
    """Return a set as JSON has it; rows and comments are a sheet's, null for an export."""
    tool = label_set.tool
    return {
        **labels_json.made_row(label_set, n_of, written=written),
        "by": label_set.by,
        "imported_by": label_set.imported_by,
        "n_empty": None,
        "n_comments": None,
        "guideline": guideline,
        "tool": dict(tool) if tool else None,
        "parents": [dict(one) for one in label_set.parents],
        "settled": None,
        "relabel_of": label_set.relabel_of,
    }


def _next(warnings: tuple[str, ...], dataset_id: str, refs: list[str]) -> None:
    from evh.acts import steps

    common.warn(warnings)
    common.next_steps(
        [f"evh labels --dataset-id {dataset_id}", steps.score_labels(common.project(), dataset_id, refs)]
    )


def _refuse_options(tool: str, options: Mapping[str, object]) -> None:
    reasons = [
        f"{name}: a sheet of ours has no such thing" if tool == EVH else f"{name}: it is for sheets of ours"
        for name, value in options.items()
        if value
    ]
    if reasons:
        raise Refusal(
            "bad-options",
            f"these options do not go with --format {tool}",
            why=reasons,
            next="evh label-import --help",
        )
