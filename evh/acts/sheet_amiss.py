"""Why judgements cannot be given to the arms that a blind sheet's key names."""

from __future__ import annotations

from string import ascii_uppercase
from typing import TYPE_CHECKING

from evh.acts.sheet_blind import cell_of, digest_of, rank_of
from evh.store import spreadsheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.acts.sheet_behind import Behind
    from evh.acts.sheet_judgements import Judgement
    from evh.records.sheet_key import KeyRow, SheetKey


def amiss(
    key: SheetKey, behind: Behind, judged: Mapping[str, Judgement], place: object
) -> list[tuple[str, str]]:
    """Return why judgements cannot be given to the arms that the key names, as (code, reason).

    A run is gone, an output is not the one that was judged, or the key was edited: its letters do not stand
    in the order that its secret gives, or a cell is not that of the output beside it.

    Args:
        key: the sheet's key.
        behind: the runs that it names.
        judged: item id → what was filled in.
        place: the sheet's name in a reason.

    Cost: about two microseconds for each row and arm, and the outputs are read once.
    """
    made = [
        ("missing-run", f"{place}: the run {name}, which the sheet shows, is not here")
        for name in key.runs
        if name not in behind.runs
    ]
    places = {name: at for at, name in enumerate(key.runs)}
    for item_id, one in judged.items():
        row = key.rows[item_id]
        if not _in_order(key, places, item_id, row):
            told = "its letters do not stand in the order that its secret gives"
            made.append(("edited-key", f"{one.place}: the key was edited: {told}"))
            continue
        for letter, shown in row.outputs.items():
            if shown["run"] not in behind.runs:
                continue
            text = behind.text(shown["run"], item_id)
            if text is None or digest_of(text) != shown["sha256"]:
                told = f"the output of {shown['run']} is not the one that was judged"
                made.append(("changed-output", f"{one.place}: {told}"))
            elif row.cells.get(letter, "") != spreadsheet.cell_digest(cell_of(text)):
                told = f"the cell {letter} is not that of the output that it names"
                made.append(("edited-key", f"{one.place}: the key was edited: {told}"))
    return made


def _in_order(key: SheetKey, places: Mapping[str, int], item_id: str, row: KeyRow) -> bool:
    """Tell whether a row's letters begin at A and stand in the order of their ranks, each arm once."""
    letters = sorted(row.outputs)
    named = [row.outputs[letter]["run"] for letter in letters]
    if "".join(letters) != ascii_uppercase[: len(letters)] or not set(named) <= set(places):
        return False
    ranks = [rank_of(key.secret, key.seed, item_id, places[name]) for name in named]
    return len(set(named)) == len(named) and ranks == sorted(ranks)
