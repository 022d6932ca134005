"""A public build of a dataset whose texts may not be redistributed: it shows choices, no other answers."""

from __future__ import annotations

import re

import pytest

from evh.project.find import Project
from evh.store.hashing import sha256
from evh_build.public import PublicGathered
from evh_build.unfree import Unfree
from tests.evh_build.public_of import build, everything
from tests.helpers import Builder

SUMMARY = (
    "The council voted on Tuesday to close both swimming baths before winter, at odds with its own report"
)
OTHER = (
    "Both swimming baths shall close before the winter although nobody has told the swimmers so far, it says"
)
LONG = "A council wants to save on heating and closes what the town is proud of: " + "so it goes. " * 8
BITS = ("council voted", "swimming baths", "save on heating", "leeds")
ITEMS = [f"n{at:02}" for at in range(1, 21)]


def news(project: Project) -> Project:
    """Write twenty items that may not be redistributed, with choices, reference summaries and an arm."""
    made = Builder(project)
    texts = {name: f"Leeds, report {at} of the day\n" for at, name in enumerate(ITEMS)}
    made.dataset("news_pub", texts, visibility="public", redistributable=False, task="summary")
    made.labels("news_pub", "topic", {name: "town" if at % 2 else "sport" for at, name in enumerate(ITEMS)})
    summaries = {name: f"{at}: {SUMMARY}" for at, name in enumerate(ITEMS)}
    own = made.labels("news_pub", "ann_wrote", summaries | {"n20": LONG}, task="summary")
    both = f'{{"accept": ["0: {SUMMARY}", "{OTHER}"]}}'
    made.labels("news_pub", "bob_wrote", summaries | {"n01": both, "n20": LONG}, task="summary")
    made.reference("gold/summaries", own)
    made.labels("news_pub", "copied", {"n01": "leeds, report 0 of the day", "n02": "rain"}, task="copy")
    said = summaries | {"n01": OTHER, "n20": LONG}
    right = {name: {"correct": float(said[name] == (summaries | {"n20": LONG})[name])} for name in ITEMS}
    made.run("writer", "news_pub", said, scores=right, against="gold/summaries", primary_metric="correct")
    return project


@pytest.mark.parametrize("sheets", [False, True])
def test_no_byte_holds_a_text_that_may_not_spread(project: Project, sheets: bool) -> None:
    """Summaries, answers among several and copies of items are in no file; choices are, and why is said."""
    if sheets:
        (project.root / "evh.toml").write_text("[catalog]\npublic_sheets = true\n")
        project = Project.find(home=project.root)
    files = everything(build(news(project)).index.parent)
    for path, text in files.items():
        for bit in BITS:
            assert bit not in text, (path, bit)
    for page in ("labels/news_pub/ann_wrote/index.html", "references/gold/summaries/index.html",
                 "items/news_pub/n01.html", "datasets/news_pub/index.html"):  # fmt: skip
        assert "its texts may not be redistributed" in files[page], page
    assert "its bytes are not here" not in files["items/news_pub/n01.html"]
    assert "sport" in files["labels/news_pub/topic/index.html"]
    assert "rain" in files["labels/news_pub/copied/index.html"]
    assert len(re.findall(r"\(text \d+ is not public\)", files["labels/news_pub/ann_wrote/index.html"])) == 40


def test_the_figures_are_those_of_the_texts(project: Project) -> None:
    """Equal texts have one mark: two sets alike on 19 of 20, sharing an answer on one; no signal changes."""
    gathered = PublicGathered(news(project))
    report = gathered.report("news_pub")
    assert report is not None
    pairs = {(one.a, one.b): one.agreement for task in report.tasks for one in task.pairs}
    pair = pairs["news_pub/ann_wrote", "news_pub/bob_wrote"]
    assert (pair.n, pair.same, pair.sharing) == (20, 19, 1)
    assert all(" is not public)" in one for one in pair.confusion.categories)
    sheet = gathered.sheet("news_pub")
    assert sheet is not None
    wrong = {row.item_id for row in sheet.rows if "gold/summaries" in row.signals.wrong_by}
    assert wrong == {"n01"}


def test_the_figures_of_a_class_that_is_left_out_go() -> None:
    """A metric's key spells its class: of a long answer it is left out, of a choice it stays."""
    marks = Unfree([[(LONG, ""), ("no", "")]], ())
    key = "a_council_wants_to_save_on_heating_and_closes_what_the_town__" + sha256(LONG.encode())[:8]
    scores = {
        f"recall_{key}": 1.0,
        "recall_no": 0.5,
        f"confused_no_as_{key}": 2.0,
        "f1_no": 0.25,
        "correct": 1.0,
    }
    assert marks.figures(scores) == {"recall_no": 0.5, "f1_no": 0.25, "correct": 1.0}


@pytest.mark.parametrize(
    ("answers", "shown"),
    [
        (["yes", "no"], True),
        ([f"class {at}" for at in range(16)], True),
        ([f"class {at}" for at in range(17)], False),
        ([f"class {at % 17}" for at in range(34)], True),
        (["x" * 120], True),
        (["x" * 121], False),
    ],
)
def test_which_answers_are_choices(answers: list[str], shown: bool) -> None:
    """At most 120 characters; at most 16 different ones, or each given twice on average."""
    marks = Unfree([[(answer, f"item {at} of the lot") for at, answer in enumerate(answers)]], ())
    assert (marks.text(answers[0]) == answers[0]) is shown


def test_what_a_free_dataset_says_is_no_secret() -> None:
    """An answer that a label of a dataset with free texts has too stays; one that is its item's text goes."""
    marks = Unfree([[(SUMMARY * 2, ""), ("rain in leeds", "rain in leeds"), (OTHER * 2, "")]], [SUMMARY * 2])
    assert marks.text(SUMMARY * 2) == SUMMARY * 2
    assert sorted(map(marks.text, ("rain in leeds", OTHER * 2))) == [
        "(text 1 is not public)", "(text 2 is not public)",
    ]  # fmt: skip
