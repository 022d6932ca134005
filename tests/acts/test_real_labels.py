"""Real people's labels go through sheets: what they publish is what comes out.

The data does not ship: the folder that EVH_TEST_DATA names holds it (WeOpenML/PandaLM, Apache-2.0;
google-research-datasets/xsum_hallucination_annotations and paul-rottger/exaggerated-safety, CC-BY-4.0).
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evh.project import labels
from evh.project.find import Project
from evh.store import spreadsheet
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.tools import require_data


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a CSV or JSONL file."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def sheet(path: Path, choices: str, answers: Mapping[str, str]) -> Path:
    """Write one person's sheet: an item and an answer a row."""
    path.write_bytes(spreadsheet.write_rows(["item_id", f"label ({choices})"], list(answers.items())))
    return path


def texts(project: Project, dataset_id: str, name: str) -> dict[str, str]:
    """Return the labels of a set."""
    return labels.texts(project, labels.read(project, dataset_id, name), verify=True)


def kappa(one: Mapping[str, str], other: Mapping[str, str]) -> float:
    """Return Cohen's kappa (1960) of two people over what both labelled."""
    both = [key for key in one if key in other]
    same = sum(one[key] == other[key] for key in both) / len(both)
    left, right = Counter(one[key] for key in both), Counter(other[key] for key in both)
    by_chance = sum(left[label] * right[label] for label in left) / len(both) ** 2
    return (same - by_chance) / (1 - by_chance)


def imported(evh: CommandLine, dataset_id: str, name: str, path: Path, *more: str) -> Any:
    """Import one sheet and return its row."""
    words = [
        "label-import",
        str(path),
        "--dataset-id",
        dataset_id,
        "--set",
        name,
        "--by",
        name,
        *more,
        "--json",
    ]
    return evh.ok(*words).json["label_sets"][0]


def test_three_people_who_compare_answers(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """999 comparisons: the kappas of the imported sets are the published 0.85, 0.88 and 0.86."""
    folder = require_data("pairwise-preferences")
    Builder(project).dataset(
        "d", {str(row["idx"]): json.dumps(row) for row in rows_of(folder / "items.jsonl")}
    )
    human = rows_of(folder / "human_labels.csv")
    for person in ("annotator1", "annotator2", "annotator3"):
        path = sheet(tmp_path / f"{person}.csv", "0|1|2", {row["idx"]: row[person] for row in human})
        assert imported(evh, "d", person, path)["n_items"] == 999
    one, two, three = (texts(project, "d", f"annotator{n}") for n in (1, 2, 3))
    assert [round(kappa(*pair), 2) for pair in ((one, two), (one, three), (two, three))] == [0.85, 0.88, 0.86]


def test_raters_who_are_missing_or_say_null(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """1,869 summaries: one rater lacks ten; eleven NULLs of each are no labels, refused when typed."""
    rows = rows_of(require_data("factuality") / "annotations.csv")
    item = {f"{row['bbcid']}/{row['system']}": row for row in rows}
    Builder(project).dataset(
        "d", {key: f"{row['bbcid']}\n{row['system']}\n{row['summary']}" for key, row in item.items()}
    )
    assert len(item) == 1869
    for person, n_labels, n_empty in (("wid_0", 1858, 11), ("wid_1", 1858, 11), ("wid_2", 1848, 11)):
        mine = {f"{r['bbcid']}/{r['system']}": r["is_factual"] for r in rows if r["worker_id"] == person}
        typed = sheet(tmp_path / "typed.csv", "yes|no", mine)
        words = ["label-import", str(typed), "--dataset-id", "d", "--set", person, "--by", person]
        why = evh.refused("off-choices", *words).json["refused"]["why"]
        assert len(why) == n_empty
        assert all("'NULL' is not one of yes, no" in reason for reason in why)
        left = {key: "" if answer == "NULL" else answer for key, answer in mine.items()}
        more = [] if person == "wid_0" else ["--dry-run"]
        row = imported(evh, "d", person, sheet(tmp_path / f"{person}.csv", "yes|no", left), *more)
        assert (row["n_items"], row["n_empty"], row["of"]) == (n_labels, n_empty, 1869)
    assert Counter(texts(project, "d", "wid_0").values()) == {"no": 1678, "yes": 180}


@pytest.mark.parametrize(
    ("arm", "settled"),
    [
        ("gpt4", {"agreed": 443, "chosen": 6, "new": 1}),
        ("llama2new", {"agreed": 431, "chosen": 19, "new": 0}),
    ],
)
def test_two_people_and_who_decided_between_them(
    project: Project, evh: CommandLine, tmp_path: Path, arm: str, settled: dict[str, int]
) -> None:
    """450 completions: an item is prompt and completion; where two people differ the final one settles."""
    folder = require_data("refusals")
    prompts = {row["id"]: row["prompt"] for row in rows_of(folder / "items.jsonl")}
    rows = {row["id"]: row for row in rows_of(folder / f"arm_{arm}.jsonl")}
    Builder(project).dataset(
        "d", {key: f"{prompts[key]}\n\n{row['completion']}" for key, row in rows.items()}
    )
    choices = "1_full_compliance|2_full_refusal|3_partial_refusal"
    for person in ("annotation_1", "annotation_2"):
        answers = {key: row[person] for key, row in rows.items()}
        imported(evh, "d", person, sheet(tmp_path / f"{person}.csv", choices, answers))
    final = tmp_path / "final"
    final.mkdir()
    for key, row in rows.items():
        if row["annotation_1"] != row["annotation_2"]:
            (final / f"{key}.txt").write_text(row["final_label"], "utf-8")
    row = imported(evh, "d", "final", final, "--adjudicates", "annotation_1,annotation_2")
    assert row["settled"] == settled
    assert texts(project, "d", "final") == {key: row["final_label"] for key, row in rows.items()}


def test_a_judge_and_a_rule_beside_people(project: Project, evh: CommandLine, tmp_path: Path) -> None:
    """Every kind of source at once: each set says whose it is, and they are compared."""
    folder = require_data("refusals")
    prompts = {row["id"]: row["prompt"] for row in rows_of(folder / "items.jsonl")}
    rows = {row["id"]: row for row in rows_of(folder / "arm_gpt4.jsonl")}
    builder = Builder(project)
    builder.dataset("d", {key: f"{prompts[key]}\n\n{row['completion']}" for key, row in rows.items()})
    for name, source in (
        ("judge_gpt4", {"kind": "model", "by": "gpt-4"}),
        ("rule_strmatch", {"kind": "rule", "rules_file": "strmatch.yaml"}),
    ):
        builder.labels("d", name, {key: row[name] for key, row in rows.items()}, source=source)
    choices = "1_full_compliance|2_full_refusal|3_partial_refusal"
    mine = {key: row["final_label"] for key, row in rows.items()}
    imported(evh, "d", "final", sheet(tmp_path / "final.csv", choices, mine))
    told = evh.ok("labels", "--dataset-id", "d").out
    assert all(name in told for name in ("judge_gpt4", "rule_strmatch", "final"))
    final = texts(project, "d", "final")
    alike = [
        sum(final[key] == row[name] for key, row in rows.items()) for name in ("judge_gpt4", "rule_strmatch")
    ]
    assert alike == [421, 416]  # counted in the file by another script
