"""A label set: who labelled, by what guideline, what each rule did, and every label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh_build import fragments, urls
from evh_build.findings import Preceding, preceding
from evh_build.markdown import note, render
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.labels.page import MARKDOWN, SetView, guideline_name, view
from evh_build.set_agreement import SetAgreement, set_agreement
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markupsafe import Markup

    from evh.records.labelset import LabelSet
    from evh_build.source import Source

MOST_LABELS = 1_000
MOST_ANSWERS = 40


@dataclass(frozen=True, slots=True)
class RuleView:
    """What a rule did: what it matched and labelled, and how often the outcome was not after the decision."""

    name: str
    because: str
    n_matched: int
    n_labelled: int
    n_preceding: int
    reads_output: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A label set's page.

    Attributes:
        view: the set as lists show it.
        source: where its labels came from, key by key.
        capture: the page of the capture that a rule set reads.
        run: the page of the run that a model set was taken from.
        labels_sha256: the digest of its labels.
        agreement: how it agrees with the other sets of its task.
        rules: what each rule did.
        preceding: rules whose outcome was not after the decision, with counts.
        answers: each answer with how often it is given, the commonest first.
        n_answers: how many different answers there are.
        rows: the labels, the first ones, as rows of the table.
        n_shown: how many rows there are.
        n_labels: how many labels there are.
        kept_back: why some of its texts are not shown; empty where all are.
        conflicts: sha256 of bytes that got different answers and stayed unlabelled, with those answers.
        guideline: the guideline, rendered; None where there is none.
        guideline_name: its own name, or its rule file's.
        guideline_plain: the guideline as plain text, where it is not Markdown.
    """

    view: SetView
    source: tuple[tuple[str, str], ...]
    capture: str | None
    run: str | None
    labels_sha256: str
    agreement: SetAgreement
    rules: tuple[RuleView, ...]
    preceding: tuple[Preceding, ...]
    answers: tuple[tuple[str, int], ...]
    n_answers: int
    rows: Markup
    n_shown: int
    n_labels: int
    kept_back: str
    conflicts: tuple[tuple[str, str], ...]
    guideline: Markup | None
    guideline_name: str
    guideline_plain: str | None


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a label set."""
    for ref, one in source.gathered.label_sets.items():
        path = source.urls.label_set(ref)
        if path is None:
            continue
        rows = source.rows_of("label_set", "labels", label_set=ref)
        answers = source.rows_of("label_set", "answers", label_set=ref)
        text = _guideline(source, one)
        markdown = str((one.guideline or {}).get("file")).endswith(MARKDOWN)
        yield Leaf(
            path,
            Context(
                title=one.set,
                section="labels",
                crumbs=(
                    Crumb("Home", urls.HOME),
                    Crumb("Label sets", urls.LABELS),
                    *([Crumb(one.dataset_id, at)] if (at := source.urls.dataset(one.dataset_id)) else []),
                ),
                commands=(
                    command("how it agrees with the others", "labels", "--dataset-id", one.dataset_id),
                    command(
                        "score every arm against it",
                        "rescore", "--dataset-id", one.dataset_id, "--labels", ref,
                    ),
                    command(  # an arm's own outputs, or production's, are no reference to hold arms against
                        "a sheet for a person, to hold it against",
                        "label-sheet", "--dataset-id", one.dataset_id, "--items", "all", "--out", "sheet.csv",
                    )
                    if one.from_arm or one.reads_output
                    else command(
                        "promote it to a reference",
                        "reference-promote", "--dataset-id", one.dataset_id, "--labels", one.set,
                        "--tier", "silver", "--reason", "WHY",
                    ),
                ),
                view=view(source, one),
                source=tuple((key, str(value)) for key, value in sorted(one.source.items())),
                capture=source.urls.capture(str(one.source.get("capture") or "")),
                run=source.urls.run(f"runs/{one.source.get('run_id')}"),
                labels_sha256=one.labels_sha256,
                agreement=set_agreement(source, ref),
                rules=tuple(_rule(rule) for rule in one.rules),
                preceding=preceding(source, (ref,)),
                answers=tuple((row["answer"] or "", row["n"]) for row in answers[:MOST_ANSWERS]),
                n_answers=len(answers),
                rows=_labels(source, one, rows[:MOST_LABELS], path),
                n_shown=min(len(rows), MOST_LABELS),
                n_labels=len(rows),
                kept_back=source.gathered.kept_back(one.dataset_id),
                conflicts=tuple(
                    (sha, ", ".join(map(str, given))) for sha, given in sorted(one.conflicts.items())
                ),
                guideline=render(text) if text is not None and markdown else None,
                guideline_name=guideline_name(source, one) or "",
                guideline_plain=text if not markdown else None,
            ),
        )  # fmt: skip


def _labels(source: Source, one: LabelSet, rows: list[dict[str, Any]], path: str) -> Markup:
    pages = [source.urls.full(one.dataset_id, row["item_id"]) for row in rows]
    root = urls.root_of(path)

    def make() -> Markup:
        return fragments.rows(_label(row, page, root) for row, page in zip(rows, pages, strict=True))

    return source.gathered.kept(("labels shown", path), (), make, rows, pages)


def _label(row: dict[str, Any], path: str | None, root: str) -> str:
    cells = (fragments.text(row["answer"]), note(row["note"]), fragments.text(row["slice"]))
    return fragments.row(
        fragments.link(row["item_id"], path, root),
        (fragments.cell(cell, kind) for cell, kind in zip(cells, ("", "written", ""), strict=True)),
    )


def _rule(rule: Mapping[str, Any]) -> RuleView:
    return RuleView(
        name=str(rule.get("name") or "a rule"),
        because=str(rule.get("because") or ""),
        n_matched=int(rule.get("n_matched") or 0),
        n_labelled=int(rule.get("n_labelled") or 0),
        n_preceding=int(rule.get("n_preceding") or 0),
        reads_output=bool(rule.get("reads_output")),
    )


def _guideline(source: Source, one: LabelSet) -> str | None:
    data = source.gathered.guideline(one)
    return None if data is None else data.decode("utf-8", "replace")[: source.max_item_text]


PAGE = Page("label_set", Context, make, queries=("labels", "answers"))
