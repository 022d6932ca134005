"""``evh overview``: what is here in one screen, what it says, and what to do next."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from evh.cli.common import command, emit, next_steps, project, say, warn
from evh.cli.table import table
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.acts.overview import DatasetLine, Overview, WrongCount


@command("overview", example="evh overview")
def overview(*, as_json: bool) -> None:
    """Show what is here in one screen, and what to do next."""
    from evh.acts.overview import overview as look

    made = look(project())
    if as_json:
        emit(
            "overview",
            "datasets",
            [
                {**asdict(line), "against": line.against.ref if line.against else None}
                for line in made.datasets
            ],
            warnings=made.notes,
            name=made.name,
            captures=[asdict(line) for line in made.captures],
            label_sets=dict(made.label_sets),
            reference_sets=dict(made.reference_sets),
            n_configs=made.n_configs,
            n_runs=made.n_runs,
            n_scorings=made.n_scorings,
            n_baselines=made.n_baselines,
            unfinished=list(made.unfinished),
            waiting=[{"target": name or None, "n": n} for name, n in made.waiting.items()],
            next=list(made.next),
        )
        return
    _show(made)


def _show(made: Overview) -> None:
    from evh.acts.runs import RunCount

    say(one_line(made.name))
    sets = ", ".join(f"{n} {kind}" for kind, n in made.label_sets.items())
    tiers = ", ".join(f"{n} {tier}" for tier, n in made.reference_sets.items())
    say(
        f"{plural(len(made.captures), 'capture')}, {plural(len(made.datasets), 'dataset')}, "
        f"{plural(sum(made.label_sets.values()), 'label set')}{f' ({sets})' if sets else ''}, "
        f"{plural(sum(made.reference_sets.values()), 'reference set')}{f' ({tiers})' if tiers else ''}, "
        f"{plural(made.n_configs, 'arm')}, {RunCount(made.n_runs, made.n_scorings).told}"
    )
    if made.captures:
        say()
        table(
            ["capture", "records", "datasets"],
            [[one.capture_id, one.n_records, ", ".join(one.datasets) or None] for one in made.captures],
            right=(1,),
        )
    if made.datasets:
        say()
        table(
            ["dataset", "items", "unlabelled", "label sets", "references", ""],
            [
                [
                    one.dataset_id,
                    one.n_items,
                    one.n_unlabelled,
                    ", ".join(_short(ref, one.dataset_id) for ref in one.sets) or None,
                    ", ".join(one.references) or None,
                    "governed" if one.governed else "",
                ]
                for one in made.datasets
            ],
            right=(1, 2),
        )
    for line in made.datasets:
        _show_arms(line)
    findings = [
        f"{one.arm}{' (recorded)' if one.recorded else ''} was wrong on {one.n:,} of {one.of:,} items of "
        f"{line.dataset_id} by {_short(one.ref, line.dataset_id)}{_failed(one)}{_split(one)}"
        for line in made.datasets
        for one in line.wrong
    ]
    if findings:
        say()
        for text in findings:
            say(text)
    if made.waiting or made.unfinished:
        say()
    for name, n in made.waiting.items():
        say(f"{plural(n, 'pick')} {'waits' if n == 1 else 'wait'} for {name or 'no dataset yet'}")
    for place in made.unfinished:
        say(f"unfinished: {one_line(place)}")
    warn(made.notes)
    next_steps(made.next)


def _show_arms(line: DatasetLine) -> None:
    if not line.arms:
        return
    say()
    say(f"{line.dataset_id}, against {line.against.ref if line.against else 'nothing yet'}:")
    table(
        ["arm", "metric", "value", "items", "failed", "note"],
        [
            [
                one.arm,
                one.metric or None,
                one.value,
                f"{one.n:,} of {line.n_items:,}",
                one.errors,
                ", ".join(
                    [
                        *(["recorded"] if one.recorded else []),
                        *(["own labels"] if one.own else []),
                        *(["fitted here"] if one.fitted else []),
                        *([] if one.trial is None else [f"trial, {one.trial:,} of {line.n_items:,}"]),
                    ]
                ),
            ]
            for one in line.arms
        ],
        right=(2, 3, 4),
    )


def _failed(one: WrongCount) -> str:
    return f", {one.failed:,} more failed" if one.failed else ""


def _split(one: WrongCount) -> str:
    """Return where the errors lie, by the right answer: the three that have most of them."""
    parts = [f"{part.n:,} of {part.of:,} {one_line(part.label, 40)}" for part in one.by_label if part.n]
    return f": {', '.join(parts[:3])}" if parts else ""


def _short(ref: str, dataset_id: str) -> str:
    return ref.removeprefix(f"labels/{dataset_id}/").removeprefix("labels/")
