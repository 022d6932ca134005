"""Why a number is what it is: every file behind it is told, and one changed byte is found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.acts import why
from evh.acts.why import Answer, explain
from evh.errors import Refusal
from evh.project import captures, datasets, labels, references, runs
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder, correct, tree_bytes
from tests.schema import check

ANSWERS = {"a": "file", "b": "file", "c": "drop", "x/y#z": "drop"}
RIGHT = {"a": "file", "b": "drop", "c": "drop", "x/y#z": "drop"}


@pytest.fixture
def built(project: Project) -> Builder:
    """Two sets on four items, a reference from one of them, and a run scored against both; 3 of 4 right."""
    made = Builder(project)
    made.capture("cap", [{"record_id": "r1", "item": "1"}], source={"kind": "records", "path": "in.jsonl"})
    made.dataset("d", {"a": "1", "b": "2", "c": "3", "x/y#z": "4"})
    made.config("arm.v1")
    ann = made.labels("d", "ann", RIGHT)
    made.labels("d", "bo", {**RIGHT, "a": "drop"}, source={"kind": "person", "by": "bo"})
    made.reference("gold/d", ann)
    one = made.run("arm.v1", "d", ANSWERS, params={"provider": "recorded", "capture": "cap"})
    scores = correct(ANSWERS, RIGHT)
    made.rescored(one, ANSWERS, scores, against="labels/d/ann", figures={"f1": 0.5})
    made.rescored(one, ANSWERS, scores, against="gold/d")
    return made


def links(answer: Answer) -> list[tuple[str, str, bool | None]]:
    """Give kind, name and match of each link."""
    return [(one.kind, one.ref, one.matches) for one in answer.links]


def test_a_run_s_mean_leads_to_its_rows_labels_and_capture(built: Builder) -> None:
    """3 of 4 right; the rows are read again; the scoring, the run it derives from and the set are told."""
    answer = explain(built.project, "run:runs-labels-d-ann/arm.v1_20261001T000000Z#correct")
    assert answer.value == 0.75
    assert answer.how == "the mean of 4 rows against labels/d/ann, and is that again"
    told = links(answer)
    assert told[0] == ("run", "runs-labels-d-ann/arm.v1_20261001T000000Z", None)
    assert ("rows", "runs-labels-d-ann/arm.v1_20261001T000000Z", True) in told
    assert ("rows", "runs/arm.v1_20261001T000000Z", True) in told
    assert ("labels", "d/ann", True) in told
    assert ("capture", "cap", True) in told
    assert ("text", "d", True) in told
    assert answer.changed == ()


def test_a_figure_over_the_run_says_so(built: Builder) -> None:
    """A figure without a value per item is the scorer's; the items and errors are counted."""
    answer = explain(built.project, "run:runs-labels-d-ann/arm.v1_20261001T000000Z#f1")
    assert (answer.value, answer.how.split(",")[0]) == (0.5, "a figure over the whole run")
    assert explain(built.project, "run:arm.v1_20261001T000000Z#n_items").value == 4


def test_an_unscored_run_names_its_scorings(built: Builder) -> None:
    """The measured run has no score; the two scorings are named, ready to copy."""
    with pytest.raises(Refusal) as refused:
        explain(built.project, "run:arm.v1_20261001T000000Z#correct")
    assert refused.value.code == "no-such-metric"
    assert refused.value.why[0] == "runs/arm.v1_20261001T000000Z: there is n_errors, n_items"
    assert any("run:runs-rescored/arm.v1_20261001T000000Z#correct" in reason for reason in refused.value.why)


def test_a_cell_of_the_sheet_is_the_score_that_draws_its_winner(built: Builder) -> None:
    """By default against the reference; @ names the other; the item's own text and label are shown."""
    answer = explain(built.project, "sheet:d/b#arm.v1.correct")
    assert (answer.value, answer.how) == (0.0, "correct of arm.v1 on b against gold/d")
    assert ("label", "gold/d: b", None) in links(answer)
    assert ("text", "d/b", True) in links(answer)
    assert [one.told for one in answer.links if one.ref == "gold/d: b"] == ["drop"]
    assert answer.warnings == ("0.0 against labels/d/ann: add @labels/d/ann",)
    other = explain(built.project, "sheet:d/a#arm.v1.correct@d/ann")
    assert (other.value, other.how) == (1.0, "correct of arm.v1 on a against labels/d/ann")


def test_an_item_s_id_may_hold_every_separator(built: Builder) -> None:
    """``x/y#z`` on an arm with a dot: what is there decides where the parts end."""
    assert explain(built.project, "sheet:d/x/y#z#arm.v1.correct").value == 1.0
    assert explain(built.project, "sheet:d/x/y#z#arm.v1.decision").value == "drop"


def test_two_sets_agreement_is_counted_and_told(built: Builder) -> None:
    """3 of 4 alike; a set and the reference promoted from it agree by construction."""
    answer = explain(built.project, "agree:d/ann,d/bo#same")
    assert (answer.value, answer.how) == (
        0.75,
        "same of d/ann and d/bo over the 4 texts of d that both label, 3 of them alike",
    )
    # Marginals: ann 1 file, 3 drop; bo 0 file, 4 drop. Chance 0/4 * 1/4 + 3/4 * 4/4 = 3/4: kappa is 0.
    assert explain(built.project, "agree:d/bo,d/ann#kappa").value == 0.0
    derived = explain(built.project, "agree:d/ann,gold/d#n")
    assert (derived.value, derived.how.endswith("they agree by construction")) == (4, True)


@pytest.mark.parametrize(
    ("ref", "code"),
    [
        ("nothing", "bad-ref"),
        ("run:x", "bad-ref"),
        ("agree:d/ann#kappa", "bad-ref"),
        ("agree:d/ann,d/ann#kappa", "same-set"),
        ("agree:d/ann,d/bo#beauty", "no-such-figure"),
        ("agree:d/ann,d/no#kappa", "no-such-label-set"),
        ("run:nobody#correct", "no-such-run"),
        ("sheet:d#x", "bad-ref"),
        ("sheet:nope/a#arm.v1.correct", "no-such-dataset"),
        ("sheet:d/nobody#arm.v1.correct", "no-such-item"),
        ("sheet:d/a#nobody.correct", "no-such-arm"),
        ("sheet:d/a#arm.v1.beauty", "no-such-metric"),
        ("sheet:d/a#arm.v1.correct@silver/no", "no-such-metric"),
    ],
)
def test_what_is_not_there_is_refused(built: Builder, ref: str, code: str) -> None:
    """Each part of a reference that names nothing, with what there is."""
    with pytest.raises(Refusal) as refused:
        explain(built.project, ref)
    assert refused.value.code == code
    assert refused.value.why


def test_every_changed_file_is_found(built: Builder, evh: CommandLine) -> None:
    """One byte more in the rows, a label, an item, the capture: each is its own line, and the exit is 1."""
    ref = "run:runs-rescored/arm.v1_20261001T000000Z#correct"
    run = runs.read(built.project, "runs-rescored/arm.v1_20261001T000000Z")
    places = {
        "rows": runs.path_of(built.project, run) / "predictions.jsonl",
        "labels": labels.path_of(built.project, "d", "ann") / "a.txt",
        "reference": references.path_of(built.project, "gold", "d") / "b.txt",
        "text": built.project.data / "sources" / "d" / "c.txt",
        "capture": captures.path_of(built.project, "cap") / "records.jsonl",
    }
    assert evh.ok("why", ref).out.rstrip().endswith("match")
    for kind, path in places.items():
        before = path.read_bytes()
        path.write_bytes(before + b" ")
        changed = explain(built.project, ref).changed
        assert kind in [one.kind for one in changed], kind
        assert evh("why", ref).code == 1
        path.write_bytes(before)
    assert explain(built.project, ref).changed == ()


def test_what_is_gone_is_told_and_stops_nothing(built: Builder) -> None:
    """A dataset or a set that is no longer here is a line, not a traceback."""
    ref = "run:runs-labels-d-ann/arm.v1_20261001T000000Z#correct"
    for path in labels.path_of(built.project, "d", "ann").iterdir():
        path.unlink()
    datasets.path_of(built.project, "d").unlink()
    told = [(one.kind, one.told) for one in explain(built.project, ref).links]
    assert ("dataset", "not here") in told
    assert ("labels", "not here") in told


def test_a_set_from_a_sheet_rests_on_a_file_that_is_elsewhere(built: Builder, evh: CommandLine) -> None:
    """The filled sheet stays where it was filled: its hash is on record, and nothing of it has changed."""
    labels_json = labels.path_of(built.project, "d", "ann") / "labels.json"
    document = json.loads(labels_json.read_text())
    labels_json.write_text(json.dumps({**document, "sheet_sha256": "ab" * 32}))
    answer = explain(built.project, "agree:d/ann,d/bo#same")
    sheet = next(one for one in answer.links if one.kind == "source")
    assert (sheet.recorded, sheet.found, sheet.matches) == ("ab" * 32, None, None)
    assert answer.changed == ()
    assert "not here" in evh.ok("why", "agree:d/ann,d/bo#same").out


def test_a_packed_capture_is_held_against_its_own_form(built: Builder, evh: CommandLine) -> None:
    """Parquet has other bytes than the records that the run read: each is held against its own hash."""
    ref = "run:runs-labels-d-ann/arm.v1_20261001T000000Z#correct"
    evh.ok("pack", "capture:cap")
    assert (captures.path_of(built.project, "cap") / "records.parquet").is_file()
    assert ("capture", "cap", True) in links(explain(built.project, ref))
    assert explain(built.project, ref).changed == ()
    path = captures.path_of(built.project, "cap") / "records.parquet"
    path.write_bytes(path.read_bytes() + b" ")
    assert [one.kind for one in explain(built.project, ref).changed] == ["capture"]


def test_why_at_the_door(built: Builder, evh: CommandLine) -> None:
    """It writes nothing, the document holds to its schema, hostile names are stripped, refusals are told."""
    before = tree_bytes(built.project.data)
    shown = evh.ok("why", "agree:d/ann,d/bo#same").out
    assert shown.startswith("agree:d/ann,d/bo#same = 0.75\n")
    document: Any = check(evh.ok("why", "agree:d/ann,d/bo#same", "--json").json, "why")
    assert (document["value"], document["n_changed"]) == (0.75, 0)
    assert {one["kind"] for one in document["links"]} == {"labels", "dataset", "text"}
    evh.refused("bad-ref", "why", "x\x1b[2J")
    evh.refused("bad-options", "why", "run:x#y", "--dataset-id", "d")
    assert {name: data for name, data in tree_bytes(built.project.data).items() if ".locks" not in name} == {
        name: data for name, data in before.items() if ".locks" not in name
    }


def test_the_figures_are_named_in_the_refusal() -> None:
    """A reader learns the figures from the command itself."""
    assert list(why.FIGURES) == [
        "same", "kappa", "ac1", "alpha", "kappa_linear", "kappa_quadratic", "masi", "n",
    ]  # fmt: skip
