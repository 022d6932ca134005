"""A journal of evidence labels: its rates, how good they are, and every chunk in order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evh_build import evidence_figures, fragments, urls
from evh_build.evidence import KINDS
from evh_build.evidence_figures import Figure, of_rate
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.source import command, flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markupsafe import Markup

    from evh.acts.evidence_report import QueryReport
    from evh.measure.rates import Slice
    from evh_build.evidence import Place, Size
    from evh_build.evidence_figures import JournalView
    from evh_build.forest import Axis
    from evh_build.page import Command
    from evh_build.source import Mark, Source

ROWS = 250
"""How many chunks are a page; where there are no more, the filters are radios of the one page."""
PREVIEW, EXCERPT = 160, 1_500
NAMES = {
    "": "all",
    "yes": "yes",
    "disagree": "disagreements",
    "failed": "failures",
    "suspect": "suspects",
}


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of the rows: its key, empty for all; its name, how many rows it shows, its page."""

    key: str
    name: str
    n: int
    path: str | None
    current: bool


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another journal of the same question."""

    name: str
    path: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A page of a journal: the first one tells all of it, the others hold rows alone.

    Attributes:
        whole: this is the first page.
        view: the journal as lists show it.
        log: the log's page.
        note: how far to trust the labels.
        says: what a reader must know beside.
        figures: the rates, on one axis.
        axis: that axis.
        gap: label rate minus update rate; None without decisions.
        sets: the sets that people's random slice comes from.
        slice: what people and the labeler say of it; None without one.
        probes: wrong answers to questions with a known answer.
        n_probes_failed: probes without an answer.
        unanimous: chunks that were read more than once and whose readings all agree; None without such.
        alpha: Krippendorff's alpha over the readings.
        settings: how it was asked.
        failures: kinds of failure with how many contents.
        frozen: the label sets that the journal became.
        siblings: other journals of the same question.
        filters: the filters; radios of this page where they have no page of their own.
        current: the name of the filter that the rows are of.
        rows: the chunks in order, as rows of the table.
        n_shown: how many rows.
        n_rows: how many the filter has in all.
        has_people: a person said something of a chunk.
        first_page: the journal's first page.
        previous: the page before this one.
        following: the page after it.
    """

    whole: bool
    view: JournalView
    log: str | None
    note: str
    says: tuple[str, ...]
    figures: tuple[Figure, ...]
    axis: Axis
    gap: Figure | None
    sets: tuple[Mark, ...]
    slice: Slice | None
    probes: tuple[Figure, ...]
    n_probes_failed: int
    unanimous: Figure | None
    alpha: float | None
    settings: tuple[tuple[str, str], ...]
    failures: tuple[tuple[str, int], ...]
    frozen: tuple[Mark, ...]
    siblings: tuple[Sibling, ...]
    filters: tuple[Filter, ...]
    current: str
    rows: Markup
    n_shown: int
    n_rows: int
    has_people: bool
    first_page: str
    previous: str | None
    following: str | None


def make(source: Source) -> Iterator[Leaf]:
    """Give the pages of each journal."""
    held = source.gathered.evidence
    for log in held.logs:
        size, reports = held.size(log), held.reports(log)
        for one in reports:
            if size is not None:
                yield from _Pages(source, one, size, reports).leaves()


class _Pages:
    """The pages of one journal."""

    def __init__(
        self, source: Source, one: QueryReport, size: Size, reports: tuple[QueryReport, ...]
    ) -> None:
        self._source, self._one, self._size = source, one, size
        self._root = urls.root_of(source.urls.journal(one.at.log, one.at.stem))
        self._counts: Counter[str] = Counter()
        for place in source.gathered.evidence.places(one):
            self._counts.update(("", *place.kinds))
            self._counts["people"] += bool(place.people)
        self._split = self._counts[""] > ROWS
        self._base = _context(source, one, reports, has_people=self._counts["people"] > 0)

    def leaves(self) -> Iterator[Leaf]:
        """Give the pages, each as soon as its rows are there."""
        held: dict[str, list[str]] = {key: [] for key in ("", *(KINDS if self._split else ()))}
        numbers = Counter(dict.fromkeys(held, 0))
        for place in self._source.gathered.evidence.places(self._one):
            row = self._row(place)
            for key in ("", *place.kinds):
                if key in held:
                    held[key].append(row)
                    if len(held[key]) == ROWS:
                        numbers[key] += 1
                        yield self._leaf(key, numbers[key], held[key])
                        held[key] = []
        for key, rows in held.items():
            if rows or (not key and not numbers[key]):
                yield self._leaf(key, numbers[key] + 1, rows)

    def _path(self, key: str, number: int) -> str:
        name = "index" if not key and number == 1 else f"{key or 'all'}-{number}"
        return self._source.urls.journal(self._one.at.log, self._one.at.stem, name)

    def _leaf(self, key: str, number: int, rows: list[str]) -> Leaf:
        n, whole = self._counts[key], not key and number == 1
        first = (number - 1) * ROWS + 1
        title = self._base.title if whole else f"{NAMES[key]} {first:,}–{first + len(rows) - 1:,}"
        home = Crumb(self._base.title, self._path("", 1))
        return Leaf(
            self._path(key, number),
            replace(
                self._base,
                title=title,
                crumbs=self._base.crumbs if whole else (*self._base.crumbs, home),
                commands=self._base.commands if whole else (),
                whole=whole,
                filters=tuple(
                    Filter(
                        one, NAMES[one], self._counts[one],
                        self._path(one, 1) if self._split and self._counts[one] else None,
                        one == key,
                    )
                    for one in ("", *KINDS)
                ),
                current=NAMES[key],
                rows=fragments.rows(rows),
                n_shown=len(rows),
                n_rows=n,
                previous=self._path(key, number - 1) if number > 1 else None,
                following=self._path(key, number + 1) if number * ROWS < n else None,
            ),
        )  # fmt: skip

    def _row(self, place: Place) -> str:
        """Return a place's row: its text, verdict and why, the controller's decision, people's words."""
        t = place.chunk.t
        page = self._size.page_of(place.position)
        whole = f"{self._source.urls.chunks(self._one.at.log, page)}#t{t}"
        item = self._source.urls.full(*place.item) if place.item else None
        cells = [
            fragments.cell(_text(place, fragments.link("the whole text", whole, self._root))),
            fragments.cell(_verdict(place)),
            fragments.cell(fragments.text(place.why) or "—", "why"),
            fragments.cell(_decision(place)),
        ]
        if self._base.has_people:
            cells.append(fragments.cell(_people(place)))
        kinds = " ".join(f"k-{kind}" for kind in place.kinds)
        head = fragments.link(f"t {t}", item, self._root)
        return f'<tr id="t{t}" class="{kinds}"><th scope="row">{head}</th>{"".join(cells)}</tr>'


def _text(place: Place, link: str) -> str:
    """Return the start of a chunk's text, more of it folded, and where all of it is."""
    text = place.chunk.text
    start = fragments.text(" ".join(text[: 2 * PREVIEW].split())[:PREVIEW]) or "(empty)"
    marks = ' <span class="flag">tries to steer</span>' if place.suspect else ""
    if len(place.places) > 1:
        others = [str(t) for t in place.places if t != place.chunk.t]
        more = ", …" if len(others) > 5 else ""
        marks += f' <span class="quiet">same text at t {", ".join(others[:5])}{more}</span>'
    if len(text) <= PREVIEW:
        return f"{start}{marks} {link}"
    excerpt = fragments.text(text[:EXCERPT]) + (" …" if len(text) > EXCERPT else "")
    more = f'<pre class="text" tabindex="0">{excerpt}</pre>{link}'
    return f"<details><summary>{start} …{marks}</summary>{more}</details>"


def _verdict(place: Place) -> str:
    if place.label is not None:
        return f'<span class="decided">{"yes" if place.label else "no"}</span>'
    if place.failure:
        return f'<span class="flag">failed</span> {fragments.text(place.failure.replace("_", " "))}'
    return '<span class="quiet">no label</span>'


def _decision(place: Place) -> str:
    if place.update is None:
        return "—"
    word = "update" if place.update else "no update"
    if place.label is None:
        return word
    if place.controller_differs:
        return f'{word} <span class="wrong">✗<span class="sr"> not the label</span></span>'
    return f'{word} <span class="right">✓<span class="sr"> as the label</span></span>'


def _people(place: Place) -> str:
    word = {True: "yes", False: "no", None: None}[place.label]
    made = []
    for one in place.people:
        answer = one.answer.strip()
        differs = word is not None and answer.casefold() != word
        mark = ' <span class="wrong">✗<span class="sr"> not the label</span></span>' if differs else ""
        note = f'<span class="preview">{fragments.text(one.note)}</span>' if one.note else ""
        made.append(
            f'<div><span class="decided">{fragments.text(answer)}</span>{mark} '
            f'<span class="quiet">{fragments.text(one.by)}</span>{note}</div>'
        )
    return "".join(made) or "—"


def _context(
    source: Source, one: QueryReport, reports: tuple[QueryReport, ...], *, has_people: bool
) -> Context:
    from evh.acts import evidence_report

    view, summary = evidence_figures.view(source, one), one.summary
    figures = [
        view.label,
        of_rate("label rate, each content once", "label", summary.distinct_label_rate),
        view.update,
        *([view.corrected] if view.corrected else []),
    ]
    if summary.n_suspect:
        figures += [
            of_rate("of texts that try to steer", "plain", summary.suspect_rate),
            of_rate("of the other texts", "plain", summary.plain_rate),
        ]
    log = source.urls.log(one.at.log)
    readings, probes = one.readings, one.probes
    return Context(
        title=view.name,
        section="evidence",
        crumbs=(
            Crumb("Home", urls.HOME),
            Crumb("Evidence", urls.EVIDENCE),
            *([Crumb(one.at.log, log)] if log else []),
        ),
        commands=_commands(source, one),
        whole=True,
        view=view,
        log=log,
        note=one.note,
        says=tuple(evidence_report.says(one)),
        figures=tuple(figures),
        axis=evidence_figures.axis_over(figures),
        gap=None
        if one.gap is None or one.gap_interval is None
        else Figure(
            "label rate minus update rate", "plain", one.gap, one.gap_interval.low, one.gap_interval.high
        ),
        sets=tuple(source.mark_of_ref(f"labels/{ref}") for ref in (one.people.sets if one.people else ())),
        slice=one.people.slice if one.people else None,
        probes=()
        if probes is None
        else (
            of_rate("yes where the answer is no", "plain", probes.false_yes),
            of_rate("no where the answer is yes", "plain", probes.false_no),
            *(
                of_rate(f"wrong: {KIND_NAMES.get(kind, kind)}", "plain", each)
                for kind, each in probes.by_kind.items()
            ),
        ),
        n_probes_failed=probes.n_failed if probes else 0,
        unanimous=of_rate("all readings of a chunk agree", "plain", readings.unanimous)
        if readings and readings.n
        else None,
        alpha=readings.alpha if readings else None,
        settings=flat(_settings(one)),
        failures=tuple(summary.failed.items()),
        frozen=tuple(
            source.mark_of_ref(f"labels/{ref}")
            for ref, label_set in source.gathered.label_sets.items()
            if label_set.source.get("journal") == one.at.ref
        ),
        siblings=tuple(
            Sibling(other.at.stem, source.urls.journal(other.at.log, other.at.stem), other.model)
            for other in reports
            if other.query.query_id == one.query.query_id and other.at != one.at
        ),
        filters=(),
        current="",
        rows=fragments.rows(()),
        n_shown=0,
        n_rows=0,
        has_people=has_people,
        first_page=view.path,
        previous=None,
        following=None,
    )  # fmt: skip


KIND_NAMES = {
    "needle": "a sentence that answers was put in",
    "other": "another question’s text",
    "empty": "an empty text",
    "shuffled": "a shuffled text",
}


def _settings(one: QueryReport) -> Mapping[str, object]:
    """Return how a journal was asked: no address, which is a matter of one machine."""
    if one.settings is None:
        return {}
    began = one.settings.began
    return {
        **one.settings.asked,
        "settings_sha": one.settings.settings_sha,
        **({"begun": began["created_at"]} if began.get("created_at") else {}),
    }


def _commands(source: Source, one: QueryReport) -> tuple[Command, ...]:
    from evh.acts import evidence_command

    of = ("--project", one.at.log, "--query", one.query.query_id)
    named = ("--journal", one.at.name) if one.at.name else ()
    dataset = f"{one.at.log}.{one.query.query_id}"
    shown = dataset in source.gathered.datasets or source.gathered.view == "all"  # a hidden one is not named
    on_dataset = (
        command(
            "a random slice for a person to label, so that the rate can be corrected",
            "label-sheet", "--dataset-id", dataset, *evidence_command.SLICE,
        ),
        command("how good the labels are", "labels", "--dataset-id", dataset, "--confusion"),
    )  # fmt: skip
    return (
        command("the same on the terminal", "evidence-report", *of),
        command(
            "label what has no label yet",
            "label-evidence",
            *evidence_command.words(source.gathered.project, one.at, one.settings),
        ),
        command("make it a label set", "evidence-freeze", *of, *named, "--set", "NAME"),
        *(on_dataset if shown else ()),
    )


PAGE = Page("evidence_query", Context, make)
