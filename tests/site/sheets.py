"""Generated projects for the sheet's page: as many rows as a test asks for, seeded, through the shelves."""

from __future__ import annotations

import random

from evh.project.find import Project
from tests.helpers import Builder

ANSWERS = ("act", "attend", "track", "ignore")
VENDORS = ("Acme", "Borealis", "Cobalt", "Dynamo", "Eolian", "Fjord", "Granite", "Harbour")
TOLD = (
    "a heap buffer overflow in the parser of the mail gateway lets an attacker who sends a long header run "
    "code with the rights of the service before any login was asked for and without a trace in its log"
)
WORDS = TOLD.split()
ARMS = ("production", *(f"candidate_{letter}" for letter in "abcdefg"))


def generated(project: Project, rows: int, *, seed: int = 7) -> Project:
    """Write dataset ``big`` of ``rows`` items: eight arms, each with a decision and a score: 24 columns.

    Item, signals, eight decisions, eight scores, winner, a label set, three fields and the text are shown.
    """
    draw = random.Random(seed)
    made = Builder(project)
    ids = [f"REP-{n:06d}" for n in range(1, rows + 1)]
    truth = {item_id: draw.choice(ANSWERS) for item_id in ids}
    texts = {item_id: f"{item_id}: {' '.join(draw.choices(WORDS, k=18))}\n" for item_id in ids}
    fields = {
        item_id: {
            "vendor": draw.choice(VENDORS),
            "year": 2015 + draw.randrange(10),
            "cvss": draw.randrange(100) / 10,
        }
        for item_id in ids
    }
    made.dataset("big", texts, fields=fields, task="triage")
    made.labels("big", "owner", {item_id: truth[item_id] for item_id in ids if draw.random() < 0.6})
    for number, arm in enumerate(ARMS):
        right = 0.55 + 0.04 * number
        decided = {
            item_id: truth[item_id] if draw.random() < right else draw.choice(ANSWERS) for item_id in ids
        }
        scores = {item_id: {"quality": draw.randrange(101) / 100} for item_id in ids}
        made.run(
            arm, "big", decided,
            at=f"202610{number + 1:02d}T000000Z", scores=scores, against="labels/big/owner",
            params={"provider": "recorded" if number == 0 else "echo"}, primary_metric="quality",
        )  # fmt: skip
    return project
