"""A blind sheet leaves out what gives an arm away: fields that say what one arm answered, in any words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evh.acts import sheet_blind
from evh.acts.sheet import build_sheet
from evh.project.find import Project
from tests.acts.sheets import cells_of
from tests.conftest import CommandLine
from tests.helpers import Builder

A = ["yes", "no", "yes", "yes", "no", "no", "yes", "no", "yes", "no"]
"""What arm_a answers on ten items; arm_b says the contrary on the first six."""
B = ["no", "yes", "no", "no", "yes", "yes", *A[6:]]


def telling(
    project: Project, values: Sequence[Any], a: Sequence[str | None] = A, b: Sequence[str | None] = B
) -> list[str]:
    """Return which fields are left out of a sheet of arm_a and arm_b; ``f`` has these values."""
    made = Builder(project)
    ids = [f"i{at}" for at in range(len(values))]
    fields = {item: {} if value is None else {"f": value} for item, value in zip(ids, values, strict=True)}
    made.dataset("d", {item: item for item in ids}, fields=fields)
    for name, said in (("arm_a", a), ("arm_b", b)):
        made.run(name, "d", dict(zip(ids, said, strict=True)))
    return sheet_blind.telling_fields(build_sheet(project, "d"))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("the answer itself", A),
        ("in other case and spaces", [f" {one.upper()}  " for one in A]),
        ("but for one row of ten", ["yes" if one == "no" and at == 1 else one for at, one in enumerate(A)]),
        ("as 1 and 0", [1 if one == "yes" else 0 for one in A]),
        ("as true and false", [one == "yes" for one in A]),
        (
            "as words of its own, but for one row",
            ["ja", "nein", *("ja" if x == "yes" else "nein" for x in A[2:9]), "ja"],
        ),
        ("where a row has no such field", [None, *A[1:]]),
    ],
)
def test_a_field_that_says_what_one_arm_answered_is_telling(
    project: Project, name: str, values: list[Any]
) -> None:
    """In nearly all rows (nine of ten), without regard to case and spaces, or one word for each answer."""
    assert telling(project, values) == ["f"], name


@pytest.mark.parametrize(
    ("name", "values", "arms"),
    [
        ("two rows of ten say otherwise", ["no", "yes", *A[2:]], {}),
        ("the same in every row", ["yes"] * 10, {}),
        ("another value in each row", list(range(10)), {}),
        ("what both say", A, {"b": A}),
        ("three words for two answers", ["x", "y", "z", "x", "y", "y", "z", "y", "x", "y"], {}),
        (
            "nothing of either",
            ["red", "red", "blue", "blue", "red", "blue", "red", "blue", "blue", "red"],
            {},
        ),
    ],
)
def test_a_field_that_tells_no_arm_from_another_stays(
    project: Project, name: str, values: list[Any], arms: dict[str, list[str]]
) -> None:
    """A fifth of the rows otherwise, a constant, an id, or what every arm says."""
    assert telling(project, values, **arms) == [], name


def test_a_number_is_the_same_in_another_form(project: Project) -> None:
    """Arm a says 1.50 and 7, the fields 1.5 and 7.0: read as numbers they are its answers."""
    said: list[str | None] = ["1.50", "7", "3", "20"]
    assert telling(project, [1.5, 7.0, 3, 20], said, ["1.5001", "8", "2", "19"]) == ["f"]


def test_a_field_that_an_output_begins_with_is_telling(project: Project) -> None:
    """The start of a's long outputs, 24 characters, stands in a field: it gives a away."""
    long: list[str | None] = [f"The report of item {at} says that the parser fails." for at in range(4)]
    other: list[str | None] = [f"Item {at} is fine." for at in range(4)]
    assert telling(project, [str(one)[:24] for one in long], long, other) == ["f"]


def test_the_sheet_leaves_it_out_and_the_note_names_it(
    project: Project, evh: CommandLine, tmp_path: Path
) -> None:
    """production_flag is 1 where a said yes: neither its column nor a word of it is in the file."""
    made = Builder(project)
    ids = [f"i{at}" for at in range(10)]
    fields = {
        item: {"production_flag": int(said == "yes"), "vendor": "acme"}
        for item, said in zip(ids, A, strict=True)
    }
    made.dataset("d", {item: f"text {item}" for item in ids}, fields=fields)
    made.run("arm_a", "d", dict(zip(ids, A, strict=True)))
    made.run("arm_b", "d", dict(zip(ids, B, strict=True)))
    out = tmp_path / "s.csv"
    shown = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--csv", out, "--fill", "pick")
    assert cells_of(out)[0] == ["item_id", "item", "vendor", "A", "B", "pick"]
    assert "left out, because they say what one arm answered: production_flag" in shown.err
