"""What lies behind a blind sheet: the outputs that its key names, and whether the key was edited."""

from __future__ import annotations

from string import ascii_uppercase
from typing import TYPE_CHECKING

from evh.acts.sheet_blind import cell_of, digest_of, rank_of
from evh.project import runs
from evh.project.shelf import read_each
from evh.store import spreadsheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.acts.sheet_judgements import Judgement
    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.run import Run
    from evh.records.sheet_key import KeyRow, SheetKey


class Behind:
    """The runs whose outputs a sheet shows, read when they are first asked for."""

    def __init__(self, project: Project, key: SheetKey | None) -> None:
        self.problems: list[Refusal] = []
        self.runs: dict[str, Run] = {}
        self._texts: dict[str, Mapping[str, str]] = {}
        known = {run.key: run for run in runs.read_all(project, [])} if key and key.runs else {}
        for name in key.runs if key else ():
            found = [known[name]] if name in known else self._sought(project, name)
            self.runs |= dict.fromkeys([name], found[0]) if found else {}
        self._project = project

    def text(self, run_key: str, item_id: str) -> str | None:
        """Return an arm's output on an item; None where it cannot be read."""
        if run_key not in self._texts:
            run = self.runs.get(run_key)
            found = read_each([run] if run else [], self._read, self.problems)
            self._texts[run_key] = found[0] if found else {}
        return self._texts[run_key].get(item_id)

    def answer(self, shown: Mapping[str, str], item_id: str) -> str:
        """Return what tells whether two outputs are one answer: the whole text, not what a cell holds of it.

        A line end at its end, which no cell shows, makes no other answer.

        Args:
            shown: whose output it is, as the key has it.
            item_id: the row's item.
        """
        text = self.text(shown["run"], item_id)
        return shown["sha256"] if text is None else spreadsheet.level(text.removesuffix("\n"))

    def answers(self, row: KeyRow, item_id: str) -> dict[str, str]:
        """Return letter → `answer`, of a whole row."""
        return {letter: self.answer(shown, item_id) for letter, shown in row.outputs.items()}

    def _sought(self, project: Project, name: str) -> list[Run]:
        return read_each([name], lambda one: runs.read(project, one), self.problems)

    def _read(self, run: Run) -> Mapping[str, str]:
        return runs.outputs(self._project, run, runs.predictions(self._project, run))


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
