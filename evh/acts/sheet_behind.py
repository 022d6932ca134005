"""What lies behind a blind sheet: the outputs that its key names, and whether the key was edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.project import runs
from evh.project.shelf import read_each
from evh.store import spreadsheet

if TYPE_CHECKING:
    from collections.abc import Mapping

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
