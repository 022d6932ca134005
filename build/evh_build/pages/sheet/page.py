"""A dataset's sheet: every item with each arm's decision, the labels, the winner and the signals."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from evh.acts import sheet_csv
from evh.measure import signals
from evh.store.hashing import sha256
from evh_build import sheet_data, sheet_rows, urls
from evh_build.forest import p_text
from evh_build.page import Crumb, File, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.sheet_columns import (
    MOST_FIELDS,
    SIGNALS,
    Column,
    columns,
    figures_of,
    has_repeats,
    has_verdicts,
    kinds_of,
    places_of,
    repeats_line,
    rights_of,
    short_ref,
)
from evh_build.sheet_full import full_rows
from evh_build.source import SHEET_ROWS, Mark, command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.acts.sheet_model import ArmColumn, Sheet
    from evh_build.source import Source

CSV = "sheet.csv"


@dataclass(frozen=True, slots=True)
class ArmHead:
    """An arm's column.

    ``judged`` tells whether its cells say right or wrong by the winner's set; its flags say why it cannot.
    A ``floor`` shows what is easy, and never wins; nor does a ``trial`` over so many of the items.
    ``repeat`` says which of its repeats is shown, ``told`` also what the scores are; empty for a run alone.
    """

    arm: Link
    recorded: bool
    judged: bool
    own: bool
    fitted: bool
    floor: bool
    trial: int | None
    repeat: str
    told: str


@dataclass(frozen=True, slots=True)
class LabelHead:
    """A label or reference set's column, with how many of the items it labels."""

    mark: Mark
    task: str
    same_task: bool
    n: int


@dataclass(frozen=True, slots=True)
class Foot:
    """An arm's footer: the mean of the winner's metric, over how many, failures, its share of the wins.

    ``judge_win_rate`` is its share of what a judge gave, where one draws a winner too.
    ``verdict`` is what the paired tests say of it, ``p`` theirs against the leader, after the correction.
    ``spread`` is how far its repeats lie apart, and ``runs`` how many there are, in words.
    """

    value: float | None
    n: int
    of: int
    errors: int
    win_rate: float | None
    judge_win_rate: float | None
    figures: tuple[tuple[str, float], ...]
    verdict: str | None
    p: str
    spread: str
    runs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A sheet's page.

    Attributes:
        dataset: the dataset's id and page.
        n_items: how many items it has.
        metric: the metric that draws each row's winner; empty where none is drawn.
        primary: the run-level metric that the footer shows.
        mark: the set that the winner is drawn by; None where there is none.
        judge: the judge, ``<scorer>/<metric>``, that draws a winner beside the metric; None where none does.
        arms: a column an arm; the first stands for production.
        labels: a column a label or reference set.
        fields: the names of the fields shown, the first ones.
        rows: the first rows as HTML, those with most signals first.
        foot: a footer cell an arm.
        verdicts: whether the paired tests say anything of an arm.
        repeats: whether an arm ran several times, so that its scores are means.
        notes: sentences that a reader must see.
        counts: how many of all rows carry each signal.
        new_vs: the dataset that *new* compares with.
        left: how many rows are not HTML; with scripts on they are in the table all the same.
        data: the columns for the scripts, inert JSON; None where they are in a file or there is no row.
        script: the file that holds the columns of a large sheet; None where they are in the page.
        csv: the sheet as the terminal writes it, a file beside the page.
    """

    dataset: Link
    n_items: int
    metric: str
    primary: str
    mark: Mark | None
    judge: str | None
    arms: tuple[ArmHead, ...]
    labels: tuple[LabelHead, ...]
    fields: tuple[str, ...]
    rows: Markup
    foot: tuple[Foot, ...]
    verdicts: bool
    repeats: bool
    notes: tuple[str, ...]
    counts: tuple[tuple[str, int], ...]
    new_vs: Link | None
    left: int
    data: Markup | None
    script: str | None
    csv: str | None


def make(source: Source) -> Iterator[Leaf | File]:
    """Give a dataset a page and the files beside it; one whose sheet cannot be made says so in a note."""
    for name, dataset in source.gathered.datasets.items():
        path = source.urls.sheet(name)
        if path is None:
            continue
        sheet = source.gathered.sheet(name)
        folder = path.rpartition("/")[0]
        made = sheet_data.Data(None, None, ())
        if sheet is not None and sheet.rows:
            made, csv = _of_sheet(source, sheet, folder, path)
            yield File(f"{folder}/{CSV}", sha256(csv), lambda csv=csv: csv)  # type: ignore[misc]
        yield from made.files
        yield Leaf(path, _context(source, name, len(dataset.items), sheet, made))


def _of_sheet(source: Source, sheet: Sheet, folder: str, page: str) -> tuple[sheet_data.Data, bytes]:
    """Return the page's data and its CSV; a process that builds again keeps those of a small sheet."""

    def make() -> tuple[sheet_data.Data, bytes]:
        return _data(source, sheet, folder, page), sheet_csv.dump(sheet)

    if len(sheet.rows) > sheet_data.INLINE_ROWS:
        return make()
    key = ("sheet page", sheet.dataset_id, page, str(source.max_item_text))
    return source.gathered.kept_of(sheet.dataset_id, key, make)


def _data(source: Source, sheet: Sheet, folder: str, page: str) -> sheet_data.Data:
    governed = {
        name: signals.seen_values(item.fields for item in dataset.items)
        for name, dataset in source.gathered.datasets.items()
        if (dataset.governed or name == sheet.new_vs) and name != sheet.dataset_id
    }
    places = {item.item_id: at for at, item in enumerate(source.gathered.datasets[sheet.dataset_id].items, 1)}
    held = columns(sheet, places.__getitem__, governed)
    about = _about(source, sheet, held, urls.root_of(page), list(governed))
    return sheet_data.data(folder, held, about, full_rows(source, sheet, page), len(sheet.rows))


def _about(
    source: Source, sheet: Sheet, held: list[Column], root: str, governed: list[str]
) -> dict[str, Any]:
    """Return what the scripts read beside the columns."""
    places, rights = places_of(sheet), rights_of(sheet)
    scores = [
        [column.key for column in held if column.arm == at and column.role == "score"]
        for at in range(len(sheet.arms))
    ]
    datasets = source.gathered.datasets
    return {
        "dataset": sheet.dataset_id,
        "metric": sheet.row_metric.replace("_", " "),
        "higher": sheet.higher,
        "arms": [
            {
                "name": arm.name,
                "path": _href(source.urls.arm(arm.run.config_id), root),
                "recorded": arm.recorded,
                "run": arm.run.run_id,
                "floor": arm.floor,
                "score": None if place is None else keys[place],
                "right": None if right is None else keys[right],
            }
            for arm, place, right, keys in zip(sheet.arms, places, rights, scores, strict=True)
        ],
        "sets": [
            {
                **asdict(mark := source.mark(one)),
                "path": _href(mark.path, root),
                "short": short_ref(one.ref),
                "task": one.task,
                "wrong": one.same_task,
                "reason": _reason(source, one.ref),
            }
            for one in sheet.labels
        ],
        "governed": governed,
        "new": sheet.new_vs,
        "targets": sorted(datasets, key=lambda name: (not datasets[name].governed, name)),
    }


def _reason(source: Source, ref: str) -> str | None:
    """Return why a reference was promoted, or None."""
    held = source.gathered.references.get(ref)
    return held.reason if held else None


def _href(path: str | None, root: str) -> str | None:
    return None if path is None else urls.href(path, root)


def _context(source: Source, name: str, n_items: int, sheet: Sheet | None, made: sheet_data.Data) -> Context:
    places = places_of(sheet) if sheet else ()
    rows = sheet.rows if sheet else ()
    kinds = Counter(kind for row in rows for kind in kinds_of(row))
    words = ("inspect", "--sheet", "--dataset-id", name)
    page = source.urls.sheet(name) or ""
    return Context(
        title=f"Sheet of {name}",
        section="datasets",
        crumbs=(
            Crumb("Home", urls.HOME),
            Crumb("Datasets", urls.DATASETS),
            Crumb(name, source.urls.dataset(name) or urls.DATASETS),
        ),
        commands=(
            command("every row as a CSV", *words, "--csv", f"{name}.csv"),
            command("rows where the arms disagree", *words, "--disagree"),
            command("a sheet to label", "label-sheet", "--dataset-id", name, "--out", "sheet.csv"),
            command("keep an item for the next version", "pick", "--dataset-id", name, "--item", "ITEM"),
        ),
        dataset=Link(name, source.urls.dataset(name)),
        n_items=n_items,
        metric=sheet.row_metric if sheet else "",
        primary=sheet.metric if sheet else "",
        mark=source.mark(sheet.against) if sheet and sheet.against else None,
        judge=sheet.judge if sheet and sheet.two_winners else None,
        arms=tuple(_head(source, arm, at) for arm, at in zip(sheet.arms, places, strict=True))
        if sheet
        else (),
        labels=tuple(
            LabelHead(source.mark(one), one.task, one.same_task, one.n)
            for one in (sheet.labels if sheet else ())
        ),
        fields=sheet.fields[:MOST_FIELDS] if sheet else (),
        rows=sheet_rows.first_rows(source, sheet, SHEET_ROWS, urls.root_of(page)) if sheet else Markup(),
        foot=_foot(sheet, places) if sheet else (),
        verdicts=sheet is not None and has_verdicts(sheet),
        repeats=sheet is not None and has_repeats(sheet),
        notes=sheet.notes
        if sheet
        else ("The sheet cannot be made: the home page lists what could not be read.",),
        counts=tuple((kind, kinds[kind]) for kind in SIGNALS),
        new_vs=Link(sheet.new_vs, source.urls.dataset(sheet.new_vs)) if sheet and sheet.new_vs else None,
        left=max(len(rows) - SHEET_ROWS, 0),
        data=made.inline,
        script=made.script,
        csv=CSV if rows else None,
    )


def _head(source: Source, arm: ArmColumn, place: int | None) -> ArmHead:
    column = arm.scores[place] if place is not None else None
    return ArmHead(
        arm=Link(arm.name, source.urls.arm(arm.run.config_id)),
        recorded=arm.recorded,
        judged=column is not None,
        own=column.own if column else False,
        fitted=column.fitted if column else False,
        floor=arm.floor,
        trial=arm.trial,
        repeat=arm.repeat,
        told=arm.told_repeats,
    )


def _foot(sheet: Sheet, places: tuple[int | None, ...]) -> tuple[Foot, ...]:
    return tuple(
        Foot(
            value=footer.means[place] if place is not None else None,
            n=footer.counts[place] if place is not None else 0,
            of=footer.of,
            errors=footer.errors,
            win_rate=footer.win_rate,
            judge_win_rate=footer.judge_win_rate,
            figures=figures_of(sheet, footer),
            verdict=footer.verdict,
            p=p_text(footer.p),
            spread=repeats_line(sheet, at)[0],
            runs=repeats_line(sheet, at)[1],
        )
        for at, (footer, place) in enumerate(zip(sheet.footer, places, strict=True))
    )


PAGE = Page("sheet", Context, make)
