"""The example of pairwise preferences says what its raw files say: the published kappas, who was right.

Everything expected is published by the source or counted here from `raw/` in plain Python.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evh.api import Project
from tests.conftest import CommandLine
from tests.examples.built import EXAMPLES, built

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("examples")]

RAW = EXAMPLES / "pairwise-preferences" / "raw"
PEOPLE = ("annotator_1", "annotator_2", "annotator_3")
WORDS = {"0": "tie", "Tie": "tie", "1": "first", "2": "second"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, as make.sh makes it."""
    return built("pairwise-preferences", tmp_path_factory.getbasetemp())


@pytest.fixture
def project(root: Path) -> Project:
    """The project, read."""
    return Project.find(home=root)


@pytest.fixture(scope="module")
def people() -> dict[str, dict[str, str]]:
    """What each person said of each comparison, read without evh: person → item id → answer."""
    with (RAW / "human_labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        person: {f"pair-{int(row['idx']):03}": WORDS[row[person.replace("_", "")]] for row in rows}
        for person in PEOPLE
    }


def verdicts(judge: str) -> dict[str, str | None]:
    """What a judge said of each comparison; None where its verdict could not be read."""
    lines = (RAW / f"judge_{judge}.jsonl").read_text(encoding="utf-8").split("\n")
    return {
        f"pair-{one['idx']:03}": WORDS.get(str(one["result"])) for one in map(json.loads, filter(None, lines))
    }


def comparisons() -> dict[str, dict[str, Any]]:
    """The comparisons by item id."""
    lines = (RAW / "items.jsonl").read_text(encoding="utf-8").split("\n")
    return {f"pair-{one['idx']:03}": one for one in map(json.loads, filter(None, lines))}


@pytest.mark.parametrize(
    ("a", "b", "published"),
    [
        ("annotator_1", "annotator_2", 0.85),
        ("annotator_1", "annotator_3", 0.88),
        ("annotator_2", "annotator_3", 0.86),
    ],
)
def test_the_published_kappas_show(
    a: str, b: str, published: float, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cohen's kappa of each two people over all 999 comparisons, as the source's README has them."""
    told = CommandLine(root, capsys).ok("labels", "--dataset-id", "comparisons", "--json").json
    pairs = {(one["a"], one["b"]): one for one in told["datasets"][0]["tasks"][0]["pairs"]}
    pair = pairs[f"comparisons/{a}", f"comparisons/{b}"]
    assert round(pair["kappa"], 2) == published
    assert pair["n"] == 999


def test_every_comparison_is_an_item_of_its_own(project: Project) -> None:
    """999 items of 999 different bytes, though 170 of the comparisons hold the same four texts as another."""
    texts = Counter(
        (one["instruction"], one["input"], one["response1"], one["response2"])
        for one in comparisons().values()
    )
    assert sum(count for count in texts.values() if count > 1) == 170
    (dataset,) = project.datasets()
    assert len(dataset.items) == len({item.sha256 for item in dataset.items}) == 999


def test_people_who_answered_equal_texts_differently_keep_both_answers(
    root: Path, people: dict[str, dict[str, str]]
) -> None:
    """Comparisons 578 and 580 have the same texts; person 1 said second of one and tie of the other."""
    both = [comparisons()[name] for name in ("pair-578", "pair-580")]
    assert all(both[0][key] == both[1][key] for key in ("instruction", "input", "response1", "response2"))
    said = [
        (root / "data/labels/comparisons/annotator_1" / f"{name}.txt").read_text(encoding="utf-8")
        for name in ("pair-578", "pair-580")
    ]
    assert said == ["second", "tie"]
    assert [people["annotator_1"][name] for name in ("pair-578", "pair-580")] == said


@pytest.mark.parametrize(("judge", "n"), [("gpt-3.5-turbo", 974), ("pandalm-7b", 999)])
@pytest.mark.parametrize("person", PEOPLE)
def test_a_judge_is_right_as_often_as_the_files_say(
    judge: str, n: int, person: str, project: Project, people: dict[str, dict[str, str]]
) -> None:
    """The mean of `correct` over the verdicts that could be read, and how many these are."""
    said = {name: word for name, word in verdicts(judge).items() if word is not None}
    right = sum(word == people[person][name] for name, word in said.items())
    run = next(
        one for one in project.runs() if (one.config_id, one.labels) == (judge, f"comparisons/{person}")
    )
    assert len(said) == n
    assert run.scores["correct"] == pytest.approx(right / n, abs=1e-12)
    assert run.n_items - run.n_errors == n


def test_an_unreadable_verdict_is_no_decision(root: Path, project: Project) -> None:
    """25 verdicts of gpt-3.5-turbo are `garbage`: each fails, keeps its output, and is no tie."""
    unread = {name for name, word in verdicts("gpt-3.5-turbo").items() if word is None}
    assert len(unread) == 25
    sheet = project.sheet("comparisons", ["gpt-3.5-turbo"])
    cells = {row.item_id: row.cells[0] for row in sheet.rows}
    assert {name for name, cell in cells.items() if cell.decision is None} == unread
    assert sum(cell.decision == "tie" for cell in cells.values()) == 38
    (run,) = (root / "data" / "runs").glob("gpt-3.5-turbo_*")
    assert (run / "outputs" / "pair-114.txt").read_text(encoding="utf-8") == "Verdict: garbage\n"


def test_both_spellings_of_a_tie_are_one(project: Project) -> None:
    """`Tie` of the one judge and 0 of the other: 38 and 107 of them."""
    sheet = project.sheet("comparisons", ["gpt-3.5-turbo", "pandalm-7b"])
    ties = [sum(row.cells[at].decision == "tie" for row in sheet.rows) for at in (0, 1)]
    assert ties == [38, 107]


def test_the_longer_answer_is_told_from_the_characters(
    project: Project, people: dict[str, dict[str, str]]
) -> None:
    """The arm that reads nothing: right as often as counting characters here says."""
    right = 0
    for name, one in comparisons().items():
        first, second = (
            len(str(one[key])) if str(one[key]).strip() else 7 for key in ("response1", "response2")
        )
        word = "tie" if first == second else "first" if first > second else "second"
        right += word == people["annotator_1"][name]
    run = next(
        one
        for one in project.runs()
        if (one.config_id, one.labels) == ("longer_v1", "comparisons/annotator_1")
    )
    assert run.scores["correct"] == pytest.approx(right / 999, abs=1e-12)


def test_the_reference_is_where_all_three_agree(project: Project, people: dict[str, dict[str, str]]) -> None:
    """879 comparisons, each with the answer that all three gave."""
    same = {
        name: word
        for name, word in people["annotator_1"].items()
        if word == people["annotator_2"][name] == people["annotator_3"][name]
    }
    sheet = project.sheet("comparisons")
    at = next(n for n, column in enumerate(sheet.labels) if column.ref == "gold/unanimous")
    assert {row.item_id: row.labels[at] for row in sheet.rows if row.labels[at] is not None} == same
    assert len(same) == 879


def test_the_readme_has_the_figures_of_the_runs(project: Project) -> None:
    """Each arm's row: right by each person and by the reference, in per cent."""
    text = (RAW.parent / "README.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `([\w.-]+)` \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|", text, re.MULTILINE
    )
    assert len(rows) == 4
    found = {
        (one.config_id, one.labels or one.reference): one.scores["correct"]
        for one in project.runs()
        if one.scores
    }
    for arm, *shares in rows:
        against = [*(f"comparisons/{person}" for person in PEOPLE), "gold/unanimous"]
        assert shares == [f"{100 * found[arm, one]:.1f}" for one in against]
