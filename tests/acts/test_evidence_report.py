"""From a journal to a set, people's labels, the corrected rate, and the controller as an arm."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evh.project import datasets, labels, runs
from evh.project.find import Project
from evh.records.labelset import LabelItem, LabelSet
from evh.store.hashing import sha256_text
from tests.conftest import CommandLine
from tests.schema import check

QUESTION = "Where is the red harbour lantern?"
TEXTS = [
    f"turn {n}: " + ("the red harbour lantern hangs here" if n % 4 == 0 else "nothing") for n in range(40)
]


def log(evh: CommandLine, texts: list[str] = TEXTS) -> None:
    """Import ready chunks as ``p``, ask ``q``, and label with the lexical baseline: 10 of 40 say yes."""
    path = evh.root / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    evh.ok("log-import", path, "--project", "p")
    evh.ok("query-add", "--project", "p", "--query", "q", "--question", QUESTION)
    evh.ok("label-evidence", "--project", "p", "--query", "q", "--provider", "overlap")


def freeze(evh: CommandLine, *more: str) -> Any:
    """Freeze the journal as the set ``s``."""
    done = evh.ok("evidence-freeze", "--project", "p", "--query", "q", "--set", "s", *more, "--json")
    return check(done.json, "evidence-freeze")["label_sets"][0]


def people(project: Project, said: dict[int, str], *, name: str = "ann", drawn: bool = True) -> None:
    """Write a person's set over some places, as a random draw."""
    dataset = datasets.read(project, "p.q")
    items = {
        f"{t:06d}": LabelItem(dataset.by_id[f"{t:06d}"].sha256, slice="random" if drawn else "selected")
        for t in said
    }
    made = LabelSet("p.q", name, {"kind": "person", "by": name}, items, "")
    labels.write_new(project, made, {f"{t:06d}": word.encode() for t, word in said.items()})


def report(evh: CommandLine) -> Any:
    """Return the one journal's report."""
    return check(evh.ok("evidence-report", "--project", "p", "--json").json, "evidence-report")["journals"][0]


def test_a_journal_becomes_a_set_on_a_dataset_of_questions_and_chunks(
    project: Project, evh: CommandLine
) -> None:
    """The item's bytes are the question, a blank line, the chunk; the id is t in six digits."""
    log(evh)
    made = freeze(evh)
    assert (made["n_items"], made["of"], made["n_yes"], made["new_dataset"]) == (40, 40, 10, True)
    dataset = datasets.read(project, "p.q")
    item = dataset.by_id["000004"]
    assert datasets.item_bytes(project, dataset, item) == f"Question: {QUESTION}\n\n{TEXTS[4]}".encode()
    assert dict(item.fields) == {"chunk_sha": sha256_text(TEXTS[4]), "t": 4}
    label_set = labels.read(project, "p.q", "s")
    assert label_set.source["model"] == "overlap-baseline"
    assert label_set.source["journal"] == "label/p/q.jsonl"
    assert label_set.items["000004"].note == (
        "The lexical baseline finds 3 of the question's 3 content words in it: red, harbour, lantern."
    )
    evh.ok("validate")
    evh.refused("existing-set", "evidence-freeze", "--project", "p", "--query", "q", "--set", "s")
    again = evh.ok("evidence-freeze", "--project", "p", "--query", "q", "--set", "s2", "--json").json
    assert again["label_sets"][0]["new_dataset"] is False


def test_one_questions_labels_never_meet_anothers(project: Project, evh: CommandLine) -> None:
    """Two questions about the same chunks are two sets of different bytes."""
    log(evh)
    evh.ok("query-add", "--project", "p", "--query", "r", "--question", "Is anything green?")
    evh.ok("label-evidence", "--project", "p", "--query", "r", "--provider", "overlap")
    freeze(evh)
    evh.ok("evidence-freeze", "--project", "p", "--query", "r", "--set", "s")
    one, other = ({item.sha256 for item in datasets.read(project, name).items} for name in ("p.q", "p.r"))
    assert not one & other


def test_a_journal_with_gaps_is_frozen_only_when_asked(project: Project, evh: CommandLine) -> None:
    """Refused with every place that has no label; with --partial it is recorded."""
    log(evh)
    path = evh.root / "in.jsonl"
    path.write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in [*TEXTS, "a new one"]), encoding="utf-8"
    )
    evh.ok("log-import", path, "--project", "p", "--replace")
    words = ("evidence-freeze", "--project", "p", "--query", "q", "--set", "s")
    told = evh.refused("unlabelled-chunks", *words).json["refused"]["why"]
    assert len(told) == 1
    assert "t 40" in told[0]
    assert freeze(evh, "--partial")["partial"] is True
    selection = labels.read(project, "p.q", "s").selection
    assert selection == {"items": "labelled", "partial": True, "n_unlabelled": 1}


def test_without_people_the_labels_are_called_a_proxy(evh: CommandLine) -> None:
    """The report says so, and gives no corrected rate."""
    log(evh)
    made = report(evh)
    assert made["people"] is None
    assert "proxy" in made["note"]
    assert "proxy" in evh.ok("evidence-report", "--project", "p").out


def test_a_persons_random_slice_corrects_the_rate(project: Project, evh: CommandLine) -> None:
    """20 places: 5 yes of both, 2 missed, 0 false yes, 13 no: sensitivity 5/7, specificity 1, 0.25 → 0.35."""
    log(evh)
    freeze(evh)
    said = {t: "yes" if t % 4 == 0 else "no" for t in range(20)}
    people(project, {**said, 1: "Yes", 2: "yes"})
    made = report(evh)["people"]
    assert (made["hits"], made["missed"], made["false_yes"], made["right_no"]) == (5, 2, 0, 13)
    assert made["sensitivity"]["share"] == pytest.approx(5 / 7)
    assert made["corrected"]["share"] == pytest.approx(0.25 / (5 / 7))
    assert made["corrected"]["low"] <= 0.35 <= made["corrected"]["high"]


def test_a_slice_that_was_chosen_corrects_nothing(project: Project, evh: CommandLine) -> None:
    """Items that a person picked do not stand for the rest."""
    log(evh)
    freeze(evh)
    people(project, {0: "yes", 1: "no"}, drawn=False)
    assert report(evh)["people"] is None


def test_a_labeler_worse_than_chance_is_not_corrected(project: Project, evh: CommandLine) -> None:
    """Where sensitivity and specificity add up to no more than 1 the reason stands instead."""
    log(evh)
    freeze(evh)
    people(project, {t: "no" if t % 4 == 0 else "yes" for t in range(12)})
    made = report(evh)["people"]["corrected"]
    assert made["share"] is None
    assert "no more than 1" in made["refused"]
    assert "no more than 1" in evh.ok("evidence-report", "--project", "p").out


def test_people_who_differ_are_left_out(project: Project, evh: CommandLine) -> None:
    """Two answers for the same bytes, or one that is neither yes nor no, count for nothing."""
    log(evh)
    freeze(evh)
    people(project, {0: "yes", 1: "no", 2: "perhaps"})
    people(project, {0: "no", 1: "no"}, name="bob")
    made = report(evh)["people"]
    assert (made["n"], made["n_unclear"], made["label_sets"]) == (1, 2, ["p.q/ann", "p.q/bob"])


def test_equal_texts_are_told_with_their_places(evh: CommandLine) -> None:
    """One label stands at every place of its text; the report lists them."""
    log(evh, ["a", "b", "a"])
    assert [one["places"] for one in report(evh)["same_text"]] == [[0, 2]]


def test_the_controller_is_an_arm_scored_by_r_update(project: Project, evh: CommandLine) -> None:
    """updates → capture → arm → rescore: the mean r_update of the run is that of the report."""
    log(evh)
    freeze(evh)
    path = project.data / "logs" / "p" / "updates" / "q.jsonl"
    path.parent.mkdir()
    rows = [
        {
            "chunk_sha": sha256_text(text),
            "t": t,
            "update": t < 8,
            "raw": f"<check>{'yes' if t < 8 else 'no'}</check>",
        }
        for t, text in enumerate(TEXTS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    evh.ok("capture", "--as", "p.q", "--from-file", path, "--adapter", "r_update")
    evh.ok("arm-from-capture", "--dataset-id", "p.q", "--capture", "p.q", "--as", "controller")
    evh.ok("rescore", "--dataset-id", "p.q", "--labels", "p.q/s")
    (scored,) = [one for one in runs.read_all(project) if one.folder == "runs-labels-p.q-s"]
    # Labels are yes at 0, 4, …, 36; updates at 0..7: wrong at 1, 2, 3, 5, 6, 7 and 8, 12, …, 36: 14 of 40.
    assert scored.scores["r_update"] == pytest.approx((26 - 14) / 40)
    made = report(evh)
    assert made["r_update"]["mean"] == pytest.approx((26 - 14) / 40)
    assert (made["update_rate"]["count"], made["label_rate"]["count"]) == (8, 10)
    assert made["gap"]["value"] == pytest.approx(0.05)


def test_decisions_about_other_texts_are_counted_apart(project: Project, evh: CommandLine) -> None:
    """A log that was cut anew keeps no decision by its place alone."""
    log(evh)
    path = project.data / "logs" / "p" / "updates" / "q.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps({"chunk_sha": "ab" * 32, "t": 0, "update": True, "raw": ""}) + "\n")
    made = report(evh)
    assert (made["n_lost"], made["update_rate"]) == (1, None)


# --- real data

DATA = os.environ.get("EVH_TEST_DATA")
real = pytest.mark.skipif(not DATA, reason="EVH_TEST_DATA names no folder of real data")


@real
def test_the_passages_as_ready_chunks(project: Project, evh: CommandLine) -> None:
    """A sentence a chunk of one real passage: the baseline labels each, the report gives its rate."""
    rows = [
        json.loads(line)
        for line in (Path(DATA or "") / "passages" / "passages.jsonl").read_text().splitlines()
    ]
    one = next(row for row in rows if len(row["sentences"]) >= 3)
    path = evh.root / "s.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in one["sentences"]), encoding="utf-8")
    evh.ok("log-import", path, "--project", "p")
    evh.ok("query-add", "--project", "p", "--query", "q", "--question", one["question"])
    evh.ok("label-evidence", "--project", "p", "--query", "q", "--provider", "overlap")
    assert report(evh)["label_rate"]["n"] == len(one["sentences"])
