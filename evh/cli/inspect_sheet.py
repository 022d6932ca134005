"""``evh inspect --sheet``: the sheet on the terminal, as JSON, in a file, or in a file to fill in."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from evh.cli import inspect_show
from evh.cli.common import emit, next_steps, warn
from evh.errors import Refusal
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from pathlib import Path

    from evh.acts import sheet_fill
    from evh.acts.sheet import Sheet
    from evh.project.find import Project
    from evh.records.dataset import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options of ``inspect --sheet``; ``file`` is that of ``--csv``, or ``workbook`` of ``--xlsx``."""

    dataset_id: str
    names: tuple[str, ...]
    metric: str | None
    goal: str | None
    against: str | None
    from_dir: Path | None
    scorers: tuple[str, ...] | None
    scores_only: bool
    disagree: bool
    split: bool
    unlabelled: bool
    wrong_against: str | None
    new_vs: str | None
    where: tuple[str, ...]
    by: str | None
    file: Path | None
    workbook: bool
    fills: tuple[str, ...]
    rubric: Path | None
    scale: str | None
    seed: int
    choices: tuple[str, ...]
    limit: int | None
    as_json: bool
    dry_run: bool

    @property
    def filters(self) -> tuple[str, ...]:
        """The options that choose rows, as they were written."""
        flags = {"--disagree": self.disagree, "--split": self.split, "--unlabelled": self.unlabelled}
        named = {"--wrong-against": self.wrong_against, "--new-vs": self.new_vs}
        return (
            *(name for name, on in flags.items() if on),
            *(f"{name} {value}" for name, value in named.items() if value),
            *(f"--where {one}" for one in self.where),
        )


def run(project: Project, asked: Asked) -> None:
    """Show a sheet, or write it."""
    from evh.acts.sheet import Filters, build_sheet, count_by
    from evh.acts.sheet_arms import From, read_from
    from evh.acts.sources import Sources

    _plan_file(project, asked)
    source = read_from(project, asked.from_dir) if asked.from_dir else From(project, None)
    sources = Sources(source.project)
    made = build_sheet(
        source.project, asked.dataset_id, asked.names,
        metric=asked.metric, against=asked.against, goal=asked.goal, folder=source.folder,
        new_vs=asked.new_vs, wrong_against=asked.wrong_against, scorers=asked.scorers,
        filters=Filters(
            disagree=asked.disagree, split=asked.split, unlabelled=asked.unlabelled,
            new=asked.new_vs is not None, where=asked.where,
        ),
        with_outputs=not asked.scores_only,
        # A sheet to fill in shows the items whole, and one to judge nothing of what the arms scored.
        with_previews=asked.as_json or not asked.fills,
        with_verdicts=asked.as_json or not {"pick", "scores"} & set(asked.fills),
        sources=sources,
    )  # fmt: skip
    if asked.by is not None and asked.by not in made.fields:
        from evh.project.shelf import missing

        raise missing(
            "field", asked.by, made.fields, next=f"evh dataset-items --dataset-id {asked.dataset_id}"
        )
    counts = count_by(made, asked.by) if asked.by is not None else None
    written = None
    notes = made.notes
    if asked.fills:
        fill = _fill(source.project, made, sources.datasets.get(made.dataset_id), asked)
        notes, written = (*notes, *fill.notes), _filled_row(fill, asked)
    elif asked.file is not None:
        written = _write(made, asked.file, asked)
    if written is not None:
        done = "would write" if asked.dry_run else "wrote"
        n = plural(int(written["n_rows"]), "row")
        click.echo(one_line(f"{done} {written['file']}: {n}"), err=asked.as_json)
    if asked.as_json:
        from evh.cli import sheet_json

        rows = sheet_json.sheet_rows(made, scores_only=asked.scores_only)
        rest = sheet_json.sheet_rest(made, counts)
        emit("inspect", "rows", rows, warnings=notes, written=written, **rest)
    elif written is None:
        inspect_show.show_sheet(made, counts, asked.by, asked.limit)
    else:
        warn(notes)
        next_steps(_next_fill(asked, written) if asked.fills else _next(made))


def _plan_file(project: Project, asked: Asked) -> None:
    """Refuse a file that must not be written, before anything is read."""
    if asked.file is None:
        return
    from evh.acts import sheet_csv, sheet_xlsx

    if asked.workbook:
        sheet_xlsx.refuse_name(asked.file)
    elif asked.file.suffix.lower() == sheet_xlsx.SUFFIX:
        raise Refusal(
            "bad-options",
            f"{asked.file} is no name of a CSV file",
            why=[f"--csv {asked.file}: by its name it is a workbook"],
            next=f"--xlsx {asked.file}",
        )
    sheet_csv.plan_write(project, asked.file)


def _write(made: Sheet, path: Path, asked: Asked) -> dict[str, Any]:
    from evh.acts import sheet_csv, sheet_xlsx

    data = (sheet_xlsx if asked.workbook else sheet_csv).dump(made, scores_only=asked.scores_only)
    if not asked.dry_run:
        sheet_csv.write(path, data)
    return {
        "file": str(path),
        "key": None,
        "fills": [],
        "n_rows": len(made.rows),
        "n_shortened": None,
        "written": not asked.dry_run,
    }


def _fill(project: Project, made: Sheet, dataset: Dataset | None, asked: Asked) -> sheet_fill.Plan:
    """Write the sheet to fill in and its key, and return them."""
    from evh.acts import sheet_fill as act
    from evh.records.judge import Scale, read_scale

    scale = Scale() if asked.scale is None else read_scale(asked.scale)
    reasons = []
    if scale is None:
        reasons.append(f"--scale {asked.scale}: write its ends as 1..5")
    if asked.scale is not None and "scores" not in asked.fills:
        reasons.append("--scale: it is for --fill scores")
    if asked.from_dir is not None:
        reasons.append("--from: a sheet to fill in is of the project's own arms: bring the runs in first")
    if reasons or asked.file is None or scale is None:
        raise Refusal("bad-options", "no such sheet can be made", why=reasons, next="evh inspect --help")
    options = act.Options(
        fills=asked.fills,
        rubric_path=asked.rubric,
        scale=scale,
        seed=asked.seed,
        choices=asked.choices,
        filters=asked.filters,
    )
    plan = act.plan(project, made, asked.file, options, dataset=dataset)
    if not asked.dry_run:
        act.commit(plan)
    return plan


def _filled_row(plan: sheet_fill.Plan, asked: Asked) -> dict[str, Any]:
    return {
        "file": str(plan.sheet_path),
        "key": str(plan.key_path),
        "fills": list(plan.fills),
        "n_rows": plan.n_rows,
        "n_shortened": plan.n_shortened,
        "written": not asked.dry_run,
    }


def _next(made: Sheet) -> list[str]:
    ids = [row.item_id for row in made.rows[: inspect_show.INLINE_IDS]]
    return [
        f"evh inspect --sheet --dataset-id {made.dataset_id}",
        *inspect_show.row_commands(made.dataset_id, ids),
    ]


def _next_fill(asked: Asked, written: dict[str, Any]) -> list[str]:
    click.echo(
        one_line(f"its key is {written['key']}: keep it beside the sheet, and from whoever fills it in")
    )
    names = ["--set SET"] if "label" in asked.fills else []
    names += ["--scorer NAME"] if {"pick", "scores"} & set(asked.fills) else []
    file = shlex.quote(str(written["file"]))
    return [f"evh sheet-import {file} --dataset-id {asked.dataset_id} --by WHO {' '.join(names)}"]
