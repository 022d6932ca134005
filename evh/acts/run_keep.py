"""What a run keeps: each answer on the disk's way as it comes, and what an earlier attempt kept."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from evh.acts.scoring import OUTPUT_SHA, output_sha
from evh.project import runs
from evh.records.run import Prediction, dump_prediction
from evh.store import atomic, parquet
from evh.store.names import item_stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item
    from evh.records.run import Run

FLUSH_S = 0.05
"""One flush serves all that came within this time. A power cut can lose as much; a kill loses nothing."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking one item: its row, and its output where there is one.

    ``may_pass`` marks a failure that says nothing of the item, such as a server that is down: the item is
    asked again when the run goes on. Any other failure stands.
    """

    row: Prediction
    output: str | None = None
    may_pass: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows that an unfinished run has: those that stand, with their outputs, and those that may pass."""

    rows: dict[str, Prediction] = field(default_factory=dict)
    passing: dict[str, Prediction] = field(default_factory=dict)

    @property
    def n_failed(self) -> int:
        """How many of the rows that stand are failures."""
        return sum(row.error is not None for row in self.rows.values())


def kept(project: Project, run: Run) -> Kept:
    """Return what an unfinished run has kept.

    An answer is a row that holds its output, or that names the hash of its output's file and the file is
    that one. A row that is neither is no answer, and the item is asked again.
    """
    found = Kept()
    for row in runs.running_rows(project, run):
        if row.hidden.get(runs.ASK_AGAIN):
            found.passing[row.item_id] = row
            continue
        text, sha = row.output, row.hidden.get(OUTPUT_SHA)
        if text is None and sha:
            data = runs.kept_output(project, run, row.item_id)
            text = data.decode("utf-8", "replace") if data is not None else None
        if text is not None and (sha is None or output_sha(text) == sha):
            found.rows[row.item_id] = replace(row, output=text)
        elif row.error is not None and text is None and sha is None:
            found.rows[row.item_id] = row
    return found


class Keeper:
    """Keeps each answer of one run as it comes. A context manager; leaving it flushes.

    Whoever makes it holds the run's lock.

    Attributes:
        rows: item id → the row that stands, with its output.
        passing: item id → the row of a failure that may pass.
        waiting: the planned items that have no row that stands.
        written: the items whose output file is written, and flushed when the run is finished. Until then the
            journal's rows hold the outputs.
        settled: how many rows that stand are flushed to the disk.
    """

    def __init__(self, project: Project, run: Run, dataset: Dataset, items: Sequence[Item]) -> None:
        before = kept(project, run)
        mine = {item.item_id for item in items}
        self.rows = {key: row for key, row in before.rows.items() if key in mine}
        self.passing = {key: row for key, row in before.passing.items() if key in mine}
        self.waiting = tuple(item for item in items if item.item_id not in self.rows)
        self.settled = len(self.rows)
        self.written: set[str] = set()
        # Over 5,000 rows the outputs end up in Parquet: the journal alone holds them until then.
        self._as_files = len(items) <= parquet.ROWS_AS_TEXT
        self._project, self._run = project, run
        self._outputs: Path | None = None
        self._stems = item_stems([item.item_id for item in dataset.items])
        self._journal = runs.open_rows(project, run)
        self._flushed_at = time.monotonic()

    def __enter__(self) -> Self:
        """Return itself."""
        self._journal.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Flush and close."""
        self._journal.__exit__()
        self.settled = len(self.rows)

    def keep(self, item: Item, found: Answer) -> None:
        """Append one answer: from now on a kill does not lose it. From one thread at a time, and short."""
        row = found.row
        if found.output is not None:
            hidden = {**row.hidden, OUTPUT_SHA: output_sha(found.output)}
            row = replace(row, output=found.output, hidden=hidden)
        if found.may_pass:
            row = replace(row, hidden={**row.hidden, runs.ASK_AGAIN: True})
        self._journal.append(dump_prediction(row))
        if found.may_pass:
            self.passing[item.item_id] = row
        else:
            self.passing.pop(item.item_id, None)
            self.rows[item.item_id] = row

    def take_over(self, answers: Iterable[Prediction]) -> None:
        """Keep answers of an earlier run for the items that wait, and flush them: none of those is asked."""
        waiting = {item.item_id: item for item in self.waiting}
        for row in answers:
            item = waiting.get(row.item_id)
            if item is not None:
                found = Answer(replace(row, output=None), row.output)
                self.keep(item, found)
                self.settle(item, found)
        self.flush()
        self.waiting = tuple(item for item in self.waiting if item.item_id not in self.rows)

    def settle(self, item: Item, found: Answer) -> bool:
        """Write the file of an output that is kept; tell whether it, and all before it, is flushed."""
        if self._as_files and found.output is not None:
            self._outputs = self._outputs or runs.outputs_folder(self._project, self._run)
            atomic.write_draft(self._outputs, f"{self._stems[item.item_id]}.txt", found.output.encode())
            self.written.add(item.item_id)
        return self.flush() if time.monotonic() - self._flushed_at >= FLUSH_S else False

    def flush(self) -> bool:
        """Flush what is not flushed yet; tell whether there was anything."""
        self._flushed_at = time.monotonic()
        if not self._journal.waiting:
            return False
        kept = len(self.rows)
        self._journal.flush()
        self._flushed_at = time.monotonic()
        self.settled = kept
        return True

    def give_up(self, reason: str) -> None:
        """Let every item that still waits stand as failed: with its own error, else with ``reason``."""
        for item in self.waiting:
            row = self.passing.pop(item.item_id, None)
            if item.item_id in self.rows:
                continue
            if row is None:
                row = Prediction(item.item_id, error=reason)
            plain = {key: value for key, value in row.hidden.items() if key != runs.ASK_AGAIN}
            self.rows[item.item_id] = replace(row, hidden=plain)
