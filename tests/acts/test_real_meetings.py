"""The evidence labeler on eight real meetings, 57 questions with people's answers: how good its baseline is.

The transcripts are QMSum's (tests/cases/meetings). Every expected figure is counted here from them, without
evh, and by scikit-learn and the krippendorff package; those that the guide prints are literal.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import krippendorff
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from evh.project.find import Project
from evh.store import spreadsheet
from tests.conftest import CommandLine
from tests.schema import check

PLACE = Path(__file__).resolve().parents[1] / "cases" / "meetings"
NAMES = sorted(path.stem for path in PLACE.glob("*.json"))
GUIDE = Path(__file__).resolve().parents[2] / "evh" / "guide" / "evidence.md"


@pytest.fixture(autouse=True)
def _unflushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """30,000 small files are written here, and no test is about what a power loss leaves of them."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def meeting(name: str) -> Any:
    """Return a meeting as it ships."""
    return json.loads((PLACE / f"{name}.json").read_bytes())


def said(turn: dict[str, Any]) -> str:
    """Return a turn as a log holds it."""
    return f"{turn['speaker']}: {turn['content'].strip()}"


def is_gold(query: dict[str, Any], turn: int) -> bool:
    """Tell whether people marked a turn as one that answers a question."""
    return any(first <= turn <= last for first, last in query["relevant_turns"])


def turns_of(one: Any, chunks: list[str]) -> list[list[int]]:
    """Return which turns each chunk holds a part of, found by the letters alone: no packing is redone."""
    ends: list[int] = []
    whole = ""
    for turn in one["turns"]:
        whole += "".join(said(turn).split())
        ends.append(len(whole))
    made: list[list[int]] = []
    begin = 0
    for text in chunks:
        letters = "".join(text.split())
        assert whole[begin : begin + len(letters)] == letters
        end = begin + len(letters)
        starts = [0, *ends[:-1]]
        made.append([t for t, (a, b) in enumerate(zip(starts, ends, strict=True)) if a < end and b > begin])
        begin = end
    assert begin == len(whole)
    return made


def ask(evh: CommandLine, name: str, *cut: str) -> None:
    """Import a meeting as the log of its name, with its questions, and label it with the baseline."""
    evh.ok("log-import", PLACE / f"{name}.json", "--project", name, *cut)
    for number, query in enumerate(meeting(name)["queries"]):
        words = ("query-add", "--project", name, "--query", f"q{number}", "--question", query["query"])
        evh.ok(*words)
    evh.ok("label-evidence", "--project", name, "--all-queries", "--provider", "overlap")


def rows_of(path: Path) -> list[Any]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def people(evh: CommandLine, name: str, number: int, answers: list[bool], *more: str) -> Any:
    """Freeze a question's journal, import what people marked on the same items, and return what is told."""
    words = ("--project", name, "--query", f"q{number}", "--set", "overlap")
    evh.ok("evidence-freeze", *words)
    sheet = evh.root / "people.csv"
    rows = [[f"{t:06d}", "yes" if one else "no"] for t, one in enumerate(answers)]
    sheet.write_bytes(spreadsheet.write_rows(["item_id", "label (yes|no)"], rows))
    of = ("--dataset-id", f"{name}.q{number}", "--set", "people", "--by", "people")
    done = evh("label-import", sheet, *of, *more, "--json")
    return done.json if done.code else check(done.json, "label-import")["label_sets"][0]


@pytest.mark.slow
def test_the_baseline_against_people_on_eight_meetings(project: Project, evh: CommandLine) -> None:
    """317 chunks, 2,634 labels: each of 57 confusions and coefficients, and the pooled ones of the guide."""
    n_chunks = 0
    counted: dict[str, tuple[list[bool], list[bool]]] = {}
    for name in NAMES:
        ask(evh, name, "--chunk-tokens", "250")
        chunks = [row["text"] for row in rows_of(project.data / "logs" / name / "chunks.jsonl")]
        n_chunks += len(chunks)
        held = turns_of(meeting(name), chunks)
        for number, query in enumerate(meeting(name)["queries"]):
            gold = [any(is_gold(query, turn) for turn in turns) for turns in held]
            people(evh, name, number, gold)
            labels = rows_of(project.data / "label" / name / f"q{number}.jsonl")
            assert [one["t"] for one in labels] == list(range(len(chunks)))
            counted[f"{name}.q{number}"] = gold, [one["label"] for one in labels]
    assert (len(NAMES), n_chunks, len(counted)) == (8, 317, 57)

    shown = check(evh.ok("labels", "--confusion", "--json").json, "labels")["datasets"]
    pairs = {one["dataset_id"]: one["tasks"][0]["pairs"][0] for one in shown}
    assert pairs.keys() == counted.keys()
    for dataset, (gold, mine) in counted.items():
        pair = pairs[dataset]
        assert pair["a"].endswith("/overlap")
        assert pair["n"] == len(gold)
        both = [word == "yes" for word in pair["categories"]]
        assert pair["counts"] == confusion_matrix(mine, gold, labels=both).tolist()
        assert pair["ac1"] == pytest.approx(ac1(gold, mine))
        if len(both) > 1:
            assert pair["kappa"] == pytest.approx(cohen_kappa_score(gold, mine))
            assert pair["alpha"] == pytest.approx(alpha(gold, mine))

    gold = [one for each in counted.values() for one in each[0]]
    mine = [one for each in counted.values() for one in each[1]]
    right_no, false_yes, missed, hits = confusion_matrix(gold, mine).ravel().tolist()
    assert (hits, missed, false_yes, right_no) == (110, 153, 254, 2_117)
    assert cohen_kappa_score(gold, mine) == pytest.approx(0.266, abs=5e-4)
    assert ac1(gold, mine) == pytest.approx(0.804, abs=5e-4)
    assert alpha(gold, mine) == pytest.approx(0.263, abs=5e-4)
    assert sum(gold) / len(gold) == pytest.approx(0.100, abs=5e-4)
    assert hits / (hits + missed) == pytest.approx(0.418, abs=5e-4)
    assert right_no / (right_no + false_yes) == pytest.approx(0.893, abs=5e-4)
    assert (hits + right_no) / len(gold) == pytest.approx(0.845, abs=5e-4)
    assert sum(pair["paradox"] for pair in pairs.values()) == 18
    table = "| baseline: yes | 110 | 254 |\n| baseline: no | 153 | 2,117 |\n"
    told = "kappa 0.266, AC1 0.804, alpha 0.263", "41.8 %", "89.3 %", "84.5 %", "90.0 %", "18 of the 57"
    guide = GUIDE.read_text("utf-8")
    assert [one for one in (table, *told) if one not in guide] == []


def ac1(one: list[bool], other: list[bool]) -> float:
    """Return Gwet's AC1 of two raters and two answers (Gwet 2008, table 3)."""
    same = sum(a == b for a, b in zip(one, other, strict=True)) / len(one)
    yes = (sum(one) + sum(other)) / (2 * len(one))
    chance = 2 * yes * (1 - yes)
    return (same - chance) / (1 - chance)


def alpha(one: list[bool], other: list[bool]) -> float:
    """Return Krippendorff's nominal alpha by the krippendorff package."""
    return float(
        krippendorff.alpha([list(map(int, one)), list(map(int, other))], level_of_measurement="nominal")
    )


def test_a_rare_answer_gets_the_paradox_warning(project: Project, evh: CommandLine) -> None:
    """Bed016, "What's the thesis about?": 44 of 52 alike, kappa 0.119, and the terminal says why."""
    ask(evh, "Bed016", "--chunk-tokens", "250")
    one = meeting("Bed016")
    chunks = [row["text"] for row in rows_of(project.data / "logs" / "Bed016" / "chunks.jsonl")]
    gold = [any(is_gold(one["queries"][0], turn) for turn in turns) for turns in turns_of(one, chunks)]
    people(evh, "Bed016", 0, gold)
    told = evh.ok("labels", "--dataset-id", "Bed016.q0", "--confusion").out
    (row,) = [line.split() for line in told.splitlines() if line.startswith("Bed016.q0/overlap × ")]
    assert row[3:5] == ["52", "84.6%"]
    assert "0.119" in row
    assert "one answer dominates: prevalence 0.81, bias 0.04" in told  # (43 - 1) / 52, (5 - 3) / 52


def both_ways(one: Any, query: dict[str, Any]) -> dict[str, list[int]]:
    """Return the texts that stand both inside and outside of a question's evidence, with their turns."""
    turns: dict[str, list[int]] = {}
    for turn in one["turns"]:
        turns.setdefault(said(turn), []).append(turn["t"])
    return {text: at for text, at in turns.items() if len({is_gold(query, t) for t in at}) == 2}


def every() -> Iterator[tuple[str, Any, int, dict[str, Any]]]:
    """Yield each question: the meeting's name, the meeting, its number, itself."""
    for name in NAMES:
        one = meeting(name)
        for number, query in enumerate(one["queries"]):
            yield name, one, number, query


@pytest.mark.slow
def test_equal_turns_inside_and_outside_the_evidence_are_left_and_listed(
    project: Project, evh: CommandLine
) -> None:
    """``--by turn``, 57 questions: in 32 one text is both. Those are listed, all other turns are labelled."""
    with_conflicts: Counter[str] = Counter()
    for name in NAMES:
        ask(evh, name, "--by", "turn")
    for name, one, number, query in every():
        gold = [is_gold(query, turn["t"]) for turn in one["turns"]]
        expected = both_ways(one, query)
        made = people(evh, name, number, gold, "--conflicts", "leave")
        left = {t for turns in expected.values() for t in turns}
        listed = [(each["answers"], [int(item) for item in each["items"]]) for each in made["conflicts"]]
        assert listed == [(["no", "yes"], turns) for turns in expected.values()]
        assert made["n_items"] == len(one["turns"]) - len(left)
        place = project.data / "labels" / f"{name}.q{number}" / "people"
        record = json.loads((place / "labels.json").read_bytes())
        assert len(record.get("conflicts") or {}) == len(expected)
        assert {int(path.stem) for path in place.glob("*.txt")} == set(range(len(gold))) - left
        if expected:
            with_conflicts[name] += 1
    assert with_conflicts.total() == 32
    shown = check(evh.ok("labels", "--json").json, "labels")["datasets"]
    sets = [each for one in shown for task in one["tasks"] for each in task["sets"]]
    assert sum(each["n_conflicts"] > 0 for each in sets if each["by"] == "people") == 32


def test_without_the_option_they_are_refused_with_the_way_out(evh: CommandLine) -> None:
    """A person who answers equal bytes in two ways is told of each, and nothing is written."""
    ask(evh, "ES2004a", "--by", "turn")
    one = meeting("ES2004a")
    gold = [is_gold(one["queries"][0], turn["t"]) for turn in one["turns"]]
    refused = people(evh, "ES2004a", 0, gold)["refused"]
    assert refused["code"] == "two-answers"
    assert "(equal bytes: " in refused["why"][0]
    assert refused["next"].endswith("--conflicts leave")
    done = people_told(evh, "ES2004a.q0")
    n = len(both_ways(one, one["queries"][0]))
    assert f"left unlabelled: {n} texts of equal bytes with different answers" in done
    assert ": no | yes" in done


def people_told(evh: CommandLine, dataset: str) -> str:
    """Import the sheet that lies there, leaving conflicts, and return what the terminal is told."""
    of = ("--dataset-id", dataset, "--set", "people", "--by", "people", "--conflicts", "leave")
    return evh.ok("label-import", evh.root / "people.csv", *of).out
