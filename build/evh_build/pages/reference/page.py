"""A reference set: what it was promoted from, by whom and why, and every text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import fragments, urls
from evh_build.findings import Preceding, preceding
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.labels.page import guideline_name
from evh_build.pages.references.page import ReferenceView, view
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markupsafe import Markup

    from evh_build.source import Source

MOST_LABELS = 1_000
MOST_ANSWERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """A reference set's page.

    Attributes:
        view: the reference as lists show it.
        digests: each label set it was promoted from, with the digest of its labels then.
        guidelines: what the guidelines of those sets are called, each once.
        preceding: rules of its label sets whose outcome was not after the decision, with counts.
        answers: each answer with how often it is given, the commonest first.
        n_answers: how many different answers there are.
        rows: its texts, the first ones, as rows of the table.
        n_shown: how many rows there are.
        n_texts: how many there are.
        kept_back: why some of them are not shown; empty where all are.
    """

    view: ReferenceView
    digests: tuple[tuple[str, str], ...]
    guidelines: tuple[str, ...]
    preceding: tuple[Preceding, ...]
    answers: tuple[tuple[str, int], ...]
    n_answers: int
    rows: Markup
    n_shown: int
    n_texts: int
    kept_back: str


def make(source: Source) -> Iterator[Leaf]:
    """Give a page a reference set."""
    for ref, one in source.gathered.references.items():
        path = source.urls.reference(ref)
        if path is None:
            continue
        rows = source.rows_of("reference", "texts", reference=ref)
        answers = source.rows_of("reference", "answers", reference=ref)
        digests = (one.promoted_from or {}).get("labels_sha256") or ()
        yield Leaf(
            path,
            Context(
                title=one.name,
                section="references",
                crumbs=(Crumb("Home", urls.HOME), Crumb("Reference sets", urls.REFERENCES)),
                commands=(
                    command(
                        "score every arm against it",
                        "rescore", "--dataset-id", one.dataset_id, "--reference", ref,
                    ),
                    command(
                        "the sheet by it",
                        "inspect", "--sheet", "--dataset-id", one.dataset_id, "--against", ref,
                    ),
                ),
                view=view(source, one),
                digests=tuple(
                    (name, str(digest)) for name, digest in zip(one.label_refs, digests, strict=False)
                ),
                guidelines=_guidelines(source, one.label_refs),
                preceding=preceding(source, one.label_refs),
                answers=tuple((row["answer"] or "", row["n"]) for row in answers[:MOST_ANSWERS]),
                n_answers=len(answers),
                rows=fragments.rows(
                    fragments.row(
                        fragments.link(
                            row["item_id"],
                            source.urls.full(one.dataset_id, row["item_id"]),
                            urls.root_of(path),
                        ),
                        (fragments.cell(fragments.text(row["answer"])),),
                    )
                    for row in rows[:MOST_LABELS]
                ),
                n_shown=min(len(rows), MOST_LABELS),
                n_texts=len(rows),
                kept_back=source.gathered.kept_back(one.dataset_id),
            ),
        )  # fmt: skip


def _guidelines(source: Source, refs: tuple[str, ...]) -> tuple[str, ...]:
    sets = [source.gathered.label_sets[ref] for ref in refs if ref in source.gathered.label_sets]
    named = {str(one.guideline["sha256"]): guideline_name(source, one) for one in sets if one.guideline}
    return tuple(name for name in named.values() if name)


PAGE = Page("reference", Context, make, queries=("texts", "answers"))
