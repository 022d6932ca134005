"""A project's public site, every byte of it, and notes to look for, for the tests of public builds."""

from __future__ import annotations

from pathlib import Path

from evh.project import datasets, labels
from evh.project.find import Project
from evh.records.labelset import LabelItem, LabelSet
from evh_build import leaks, site
from tests.helpers import AT, tree_bytes


def build(project: Project, **options: object) -> site.Built:
    """Build the public catalog."""
    return site.commit(project, site.plan(project, public=True, **options))  # type: ignore[arg-type]


def everything(folder: Path) -> dict[str, str]:
    """Return every file of a site as text in lower case, what scripts hold compressed unpacked."""
    return {
        path: " ".join([data.decode("utf-8", "replace"), *leaks.unpacked(data)]).replace("<wbr>", "").lower()
        for path, data in tree_bytes(folder).items()
    }


def noted(project: Project, dataset_id: str, name: str, notes: dict[str, str]) -> LabelSet:
    """Write a label set whose items have notes, with a guideline."""
    known = datasets.read(project, dataset_id).by_id
    made = LabelSet(
        dataset_id, name, {"kind": "person", "by": "ann"},
        {key: LabelItem(known[key].sha256, note=note) for key, note in notes.items()}, "", created_at=AT,
    )  # fmt: skip
    text = b"The secret guideline of loans_2026: call Ottokar first and then write it all down"
    return labels.write_new(project, made, dict.fromkeys(notes, b"yes"), guideline=(".md", text))
