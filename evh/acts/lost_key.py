"""A filled sheet whose key is not beside it: what tells that it has one, and the way out."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from evh.project.shelf import read_each
from evh.records import sheet_key
from evh.store import strict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

_LETTER = re.compile(r"[A-Z]")
_JUDGED = re.compile(r"pick|score: ?[a-z]", re.IGNORECASE | re.ASCII)


def keys_of(dataset_id: str, item_ids: Collection[str], source: Path, *, judging: bool | None) -> list[Path]:
    """Return the keys in a sheet's folder that know all of its items.

    Args:
        dataset_id: the sheet's dataset.
        item_ids: the items that are filled in; none are known by no key.
        source: the sheet.
        judging: those of sheets to judge, or those of other sheets; None for any.
    """
    found: list[Path] = []

    def look(path: Path) -> None:
        key = sheet_key.parse(strict.read_object(path), path)
        known = key.dataset_id == dataset_id and judging in (None, key.judging)
        if known and item_ids and all(item_id in key.rows for item_id in item_ids):
            found.append(path)

    # Another program's file, or a key that was cut, can vouch for nothing: it is passed over.
    read_each(sorted(source.parent.glob("*.key.json")), look, [])
    return found


def blind_columns(header: Sequence[str]) -> list[str]:
    """Return the columns by which a sheet is one to judge: answers under letters, picks, scores."""
    letters = [head for head in header if _LETTER.fullmatch(head)]
    judged = [head for head in header if _JUDGED.fullmatch(" ".join(head.split()))]
    return [*(letters if len(letters) > 1 or judged else []), *judged]


def way_out(source: Path, found: Sequence[Path], *, labels_alone: bool) -> str:
    """Return how to go on without a key beside the sheet.

    Args:
        source: the sheet.
        found: the keys beside it that know its rows, see `keys_of`.
        labels_alone: nothing but labels is filled in.
    """
    name = shlex.quote(str(found[0])) if found else "FILE"
    told = "" if found else f", where it is kept: it was written as {source.with_suffix('.key.json').name}"
    if labels_alone:
        return f"--key {name}{told}; or --no-key, to read its labels without"
    return f"--key {name}{told}; without it nobody can tell whose answers were judged"
