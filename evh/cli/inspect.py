"""``evh inspect``: the sheet of a dataset, one item in full, or what moved between two arms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evh.cli import inspect_sheet, inspect_show
from evh.cli.common import command, emit, project

if TYPE_CHECKING:
    from collections.abc import Mapping

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
@click.option(
    "--metric", metavar="M|SCORER/M", help="Draws the winner (default: the goal's, else the primary one)."
)
@click.option(
    "--goal", metavar="G", help="Its metric, set and rules hold (default: the one goal that names D)."
)
@click.option("--against", metavar="SET", help="The D/S or TIER/NAME whose scores draw the winner.")
@click.option(
    "--from",
    "from_dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The scores of this folder alone: a runs-… folder of the project, or runs that lie elsewhere.",
)
@click.option(
    "--scorers", metavar="S,T|none", help="Only these judges' columns (default: all that judged the arms)."
)
@click.option("--scores-only", is_flag=True, help="Leave the outputs out.")
@click.option("--disagree", is_flag=True, help="Only where the first arm decided otherwise than another.")
@click.option("--split", is_flag=True, help="Only where the candidates differ among themselves.")
@click.option("--unlabelled", is_flag=True, help="Only items that no set labels.")
@click.option("--wrong-against", metavar="SET", help="Only where the first arm is wrong against this set.")
@click.option("--new-vs", metavar="D0", help="Only items with a field value that D0 never had.")
@click.option("--where", multiple=True, metavar="F:V", help="Only items whose field F has the value V.")
@click.option("--by", metavar="F", help="Count the rows shown per value of a field, and signal.")
@click.option("--csv", type=click.Path(path_type=Path), metavar="FILE", help="Write the sheet as CSV.")
@click.option("--xlsx", type=click.Path(path_type=Path), metavar="FILE", help="Write it as a workbook.")
@click.option(
    "--fill",
    "fills",
    type=click.Choice(["label", "pick", "scores"]),
    multiple=True,
    help="Add empty columns to fill in (repeatable). With pick or scores the arms are blind: A, B, C …",
)
@click.option("--rubric", type=click.Path(path_type=Path), help="What to judge by: the sheet's first row.")
@click.option("--scale", metavar="LO..HI", help="Of the scores (default: 1..5).")
@click.option("--seed", type=int, metavar="N", help="Of the letters' order (default: 0).")
@click.option("--choices", default="", metavar="a,b,c", help="The only labels allowed.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="How many rows are printed.")
def inspect(
    *,
    dataset_id: str,
    sheet: bool,
    item: str | None,
    runs: str,
    metric: str | None,
    goal: str | None,
    against: str | None,
    from_dir: Path | None,
    scorers: str | None,
    scores_only: bool,
    disagree: bool,
    split: bool,
    unlabelled: bool,
    wrong_against: str | None,
    new_vs: str | None,
    where: tuple[str, ...],
    by: str | None,
    csv: Path | None,
    xlsx: Path | None,
    fills: tuple[str, ...],
    rubric: Path | None,
    scale: str | None,
    seed: int | None,
    choices: str,
    limit: int | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Show every item of a dataset with its arms and labels, one item, or what moved between two arms.

    With --fill the sheet is for a person or a tool to fill in; evh sheet-import reads it back.
    """
    names = [name.strip() for name in runs.split(",") if name.strip()]
    fill_only = {"--rubric": rubric, "--scale": scale, "--seed": seed is not None, "--choices": choices}
    sheet_only = {
        "--split": split,
        "--unlabelled": unlabelled,
        "--wrong-against": wrong_against,
        "--new-vs": new_vs,
        "--by": by,
        "--goal": goal,
        "--from": from_dir,
        "--csv": csv,
        "--xlsx": xlsx,
        "--scorers": scorers,
        "--scores-only": scores_only,
        "--fill": fills,
        **fill_only,
    }
    if sheet and item is not None:
        raise click.UsageError("--sheet shows every item and --item one: give one of them")
    if not sheet:
        extra = [name for name, value in sheet_only.items() if value]
        if extra:
            raise click.UsageError(f"{', '.join(extra)}: only with --sheet")
        if item is not None:
            _one_item(project(), dataset_id, item, names, as_json=as_json)
        elif names:
            _moved(
                project(), dataset_id, names,
                metric=metric, against=against, disagree=disagree, where=where, limit=limit, as_json=as_json,
            )  # fmt: skip
        else:
            raise click.UsageError("give --sheet, --item ID, or --runs A,B")
        return
    _refuse_mix(csv, xlsx, fills, fill_only, scores_only=scores_only, by=by)
    inspect_sheet.run(
        project(),
        inspect_sheet.Asked(
            dataset_id=dataset_id,
            names=tuple(names),
            metric=metric,
            goal=goal,
            against=against,
            from_dir=from_dir,
            scorers=_scorers(scorers),
            scores_only=scores_only,
            disagree=disagree,
            split=split,
            unlabelled=unlabelled,
            wrong_against=wrong_against,
            new_vs=new_vs,
            where=where,
            by=by,
            file=csv or xlsx,
            workbook=xlsx is not None,
            fills=tuple(dict.fromkeys(fills)),
            rubric=rubric,
            scale=scale,
            seed=seed or 0,
            choices=tuple(one.strip() for one in choices.split(",")) if choices else (),
            limit=limit,
            as_json=as_json,
            dry_run=dry_run,
        ),
    )


def _scorers(text: str | None) -> tuple[str, ...] | None:
    """Return the judges that ``--scorers`` names: none for the word ``none``, all where it is not given."""
    if text is None:
        return None
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    return () if names == ("none",) else names


def _refuse_mix(
    csv: Path | None,
    xlsx: Path | None,
    fills: tuple[str, ...],
    fill_only: Mapping[str, object],
    *,
    scores_only: bool,
    by: str | None,
) -> None:
    """Refuse options of a file that do not go together."""
    if csv is not None and xlsx is not None:
        raise click.UsageError("--csv and --xlsx each write the sheet: give one of them")
    if fills and csv is None and xlsx is None:
        raise click.UsageError("--fill makes a file to fill in: add --csv FILE or --xlsx FILE")
    extra = [name for name, value in fill_only.items() if value]
    if extra and not fills:
        raise click.UsageError(f"{', '.join(extra)}: only with --fill")
    if fills and (scores_only or by):
        raise click.UsageError("--fill takes neither --scores-only nor --by: the outputs are what is judged")


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
