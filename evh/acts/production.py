"""Which arm of a sheet stands for production, and where it was wrong against one set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts.sheet_columns import STAND_IN

if TYPE_CHECKING:
    from evh.acts.sheet_model import ArmColumn, Row, Sheet


@dataclass(frozen=True, slots=True)
class LookedAt:
    """What one set says of production.

    Attributes:
        decided: the rows that the set labels and production answered: what a share of errors is out of.
        wrong: those of them that it was wrong on.
        failed: how many rows the set labels and production gave no answer to; no decision, no error of it.
    """

    decided: tuple[Row, ...]
    wrong: tuple[Row, ...]
    failed: int


def production(sheet: Sheet) -> ArmColumn | None:
    """Return the arm that stands for production: the first one, where it alone is recorded.

    None where no arm is recorded, or several are: then none of them is more "production" than another.
    """
    recorded = [arm for arm in sheet.arms if arm.recorded]
    return sheet.arms[0] if len(recorded) == 1 and sheet.arms[0].recorded else None


def looked_at(sheet: Sheet, at: int) -> LookedAt:
    """Return where the sheet's first arm was wrong against the set of the label column ``at``.

    An arm that stores no decision, but has a score ``correct`` against the set, answered all the same.
    """
    column = sheet.labels[at]
    place = next(
        (
            place
            for place, one in enumerate(sheet.arms[0].scores)
            if one.metric == STAND_IN and one.against is not None and one.against.ref == column.ref
        ),
        None,
    )
    labelled = [row for row in sheet.rows if row.labels[at] is not None]
    decided = tuple(row for row in labelled if _answered(row, place))
    wrong = tuple(row for row in decided if column.ref in row.signals.wrong_by)
    return LookedAt(decided, wrong, len(labelled) - len(decided))


def _answered(row: Row, place: int | None) -> bool:
    cell = row.cells[0]
    if cell.decision is not None:
        return True
    return cell.error is None and place is not None and cell.scores[place] is not None
