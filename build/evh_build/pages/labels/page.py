"""The list of label sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import known, urls
from evh_build.markdown import document
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.records.labelset import LabelSet
    from evh_build.source import Mark, Source


MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class SetView:
    """A label set in the list: its mark, dataset, task, coverage, guideline and what was promoted from it."""

    mark: Mark
    dataset_id: str
    dataset: str | None
    task: str
    created_at: str
    n_items: int
    of: int | None
    guideline: str | None
    conflicts: int
    promoted: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The list of label sets.

    Attributes:
        sets: a set a row, by dataset, then name.
    """

    sets: tuple[SetView, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    name = known.a_dataset(source)
    yield Leaf(
        urls.LABELS,
        Context(
            title="Label sets",
            section="labels",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command(
                    "labels by rule from recorded outcomes",
                    "label-from-capture", "--dataset-id", name, "--capture",
                    known.its_capture(source, name), "--map", "rules.yaml", "--set", "NAME",
                ),
                command("how they agree", "labels", "--dataset-id", name),
                command(
                    "a sheet for a person to fill", "label-sheet", "--dataset-id", name, "--out", "sheet.csv"
                ),
                command(
                    "read it back",
                    "label-import", "sheet.csv", "--dataset-id", name, "--set", "NAME", "--by", "WHO",
                ),
            ),
            sets=tuple(view(source, one) for one in source.gathered.label_sets.values()),
        ),
    )  # fmt: skip


def view(source: Source, one: LabelSet) -> SetView:
    """Return a set as lists show it."""
    dataset = source.gathered.datasets.get(one.dataset_id)
    return SetView(
        mark=source.mark_of_ref(f"labels/{one.ref}"),
        dataset_id=one.dataset_id,
        dataset=source.urls.dataset(one.dataset_id),
        task=source.gathered.sources.task_of(one),
        created_at=one.created_at,
        n_items=one.n_items,
        of=len(dataset.items) if dataset else None,
        guideline=guideline_name(source, one),
        conflicts=len(one.conflicts),
        promoted=tuple(
            source.mark_of_ref(ref)
            for ref, reference in source.gathered.references.items()
            if one.ref in reference.label_refs
        ),
    )


def guideline_name(source: Source, one: LabelSet) -> str | None:
    """Return what a set's guideline is called: the rule file's name, its first heading, else its file's."""
    held = one.guideline or {}
    if not held.get("file"):
        return None
    rules = one.source.get("rules_file")
    if rules and held.get("sha256") == one.source.get("rules_sha256"):
        return str(rules).rsplit("/", 1)[-1]
    name = str(held["file"]).lstrip("~")
    text = source.gathered.guideline(one) if name.endswith(MARKDOWN) else None
    return (document(text.decode("utf-8", "replace")).title if text else "") or name


PAGE = Page("labels", Context, make)
