"""``evh inspect``: the sheet of a dataset, one item in full, or what moved between two arms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evh.cli import inspect_show
from evh.cli.common import command, emit, next_steps, project, warn
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.project.find import Project


@command(
    "inspect",
    writes=True,
    example="evh inspect --sheet --dataset-id cve_2024_07_08 --runs production_v1,cvss_v1 --disagree",
)
@click.option("--dataset-id", required=True, metavar="D", help="The dataset.")
@click.option("--sheet", is_flag=True, help="Every item with its outputs, labels, winner and signals.")
@click.option("--item", metavar="ID", help="One item in full.")
@click.option("--runs", default="", metavar="A,B", help="Config or run ids; the first stands for production.")
@click.option("--metric", metavar="M", help="Draws the winner (default: the primary metric).")
@click.option("--against", metavar="SET", help="The D/S or TIER/NAME whose scores draw the winner.")
@click.option("--scores-only", is_flag=True, help="Leave the outputs out.")
@click.option("--disagree", is_flag=True, help="Only where the first arm decided otherwise than another.")
@click.option("--split", is_flag=True, help="Only where the candidates differ among themselves.")
@click.option("--unlabelled", is_flag=True, help="Only items that no set labels.")
@click.option("--wrong-against", metavar="SET", help="Only where the first arm is wrong against this set.")
@click.option("--new-vs", metavar="D0", help="Only items with a field value that D0 never had.")
@click.option("--where", multiple=True, metavar="F:V", help="Only items whose field F has the value V.")
@click.option("--by", metavar="F", help="Count the rows shown per value of a field, and signal.")
@click.option("--csv", type=click.Path(path_type=Path), metavar="FILE", help="Write the sheet as CSV.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="How many rows are printed.")
def inspect(
    *,
    dataset_id: str,
    sheet: bool,
    item: str | None,
    runs: str,
    metric: str | None,
    against: str | None,
    scores_only: bool,
    disagree: bool,
    split: bool,
    unlabelled: bool,
    wrong_against: str | None,
    new_vs: str | None,
    where: tuple[str, ...],
    by: str | None,
    csv: Path | None,
    limit: int | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Show every item of a dataset with its arms and labels, one item, or what moved between two arms."""
    from evh.acts.sheet import Filters, build_sheet, count_by

    found = project()
    names = [name.strip() for name in runs.split(",") if name.strip()]
    filtered = {"--split": split, "--unlabelled": unlabelled, "--wrong-against": wrong_against}
    sheet_only = {**filtered, "--new-vs": new_vs, "--by": by, "--csv": csv, "--scores-only": scores_only}
    if sheet and item is not None:
        raise click.UsageError("--sheet shows every item and --item one: give one of them")
    if not sheet:
        extra = [name for name, value in sheet_only.items() if value]
        if extra:
            raise click.UsageError(f"{', '.join(extra)}: only with --sheet")
        if item is not None:
            _one_item(found, dataset_id, item, names, as_json=as_json)
        elif names:
            _moved(
                found, dataset_id, names,
                metric=metric, against=against, disagree=disagree, where=where, limit=limit, as_json=as_json,
            )  # fmt: skip
        else:
            raise click.UsageError("give --sheet, --item ID, or --runs A,B")
        return
    if csv is not None:
        from evh.acts import sheet_csv

        sheet_csv.plan_write(found, csv)
    made = build_sheet(
        found, dataset_id, names,
        metric=metric, against=against, new_vs=new_vs, wrong_against=wrong_against,
        filters=Filters(
            disagree=disagree, split=split, unlabelled=unlabelled, new=new_vs is not None, where=where
        ),
        with_outputs=not scores_only,
    )  # fmt: skip
    if by is not None and by not in made.fields:
        from evh.project.shelf import missing

        raise missing("field", by, made.fields, next=f"evh dataset-items --dataset-id {dataset_id}")
    counts = count_by(made, by) if by is not None else None
    if csv is not None:
        from evh.acts import sheet_csv

        data = sheet_csv.dump(made, scores_only=scores_only)
        if not dry_run:
            sheet_csv.write(csv, data)
        say_written = f"{'would write' if dry_run else 'wrote'} {csv}: {plural(len(made.rows), 'row')}"
        click.echo(one_line(say_written), err=as_json)
        if not as_json:
            warn(made.notes)
            ids = [row.item_id for row in made.rows[: inspect_show.INLINE_IDS]]
            next_steps(
                [
                    f"evh inspect --sheet --dataset-id {dataset_id}",
                    *inspect_show.row_commands(dataset_id, ids),
                ]
            )
            return
    if as_json:
        from evh.cli import sheet_json

        rows = sheet_json.sheet_rows(made, scores_only=scores_only)
        emit("inspect", "rows", rows, warnings=made.notes, **sheet_json.sheet_rest(made, counts))
        return
    inspect_show.show_sheet(made, counts, by, limit)


def _one_item(found: Project, dataset_id: str, item_id: str, names: list[str], *, as_json: bool) -> None:
    """Print one item in full."""
    from evh.acts.item_view import view_item

    view = view_item(found, dataset_id, item_id, names)
    if as_json:
        from evh.cli import sheet_json

        emit("inspect", "items", [sheet_json.item(view)], warnings=view.notes)
        return
    inspect_show.show_view(view)


def _moved(
    found: Project,
    dataset_id: str,
    names: list[str],
    *,
    metric: str | None,
    against: str | None,
    disagree: bool,
    where: tuple[str, ...],
    limit: int | None,
    as_json: bool,
) -> None:
    """Print what moved between two arms."""
    from evh.acts.compare_runs import compare_runs

    made = compare_runs(
        found, dataset_id, names, metric=metric, against=against, disagree=disagree, where=where
    )
    if as_json:
        from evh.cli import sheet_json

        emit("inspect", "moved", sheet_json.moved(made), warnings=made.notes, **sheet_json.moved_rest(made))
        return
    inspect_show.show_comparison(made, limit)
