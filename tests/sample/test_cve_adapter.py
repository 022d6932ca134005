"""The sample's adapter: what it makes of the raw records, and what its arms answer.

Expected values are read or counted by hand from `data/raw/cve-triage.jsonl`, or come from the source that
a test names.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).resolve().parents[2] / "data"
ACCEPTS_NONE_OR_POC = '{"accept": ["none", "poc"]}'


def load(name: str) -> Any:
    """One module of the sample's adapter folder, found as evh finds it: by that folder on the path."""
    sys.path.insert(0, str(DATA / "adapters"))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # data/ holds records alone
    try:
        return importlib.import_module(name)
    finally:
        sys.dont_write_bytecode = before
        sys.path.pop(0)


@pytest.fixture(scope="module")
def cve() -> Any:
    """The adapter."""
    return load("cve")


@pytest.fixture(scope="module")
def bayes() -> Any:
    """The module of the classifier."""
    return load("cve_bayes")


@pytest.fixture(scope="module")
def cvss() -> Any:
    """The module that reads CVSS vectors."""
    return load("cve_cvss")


@pytest.fixture(scope="module")
def records() -> dict[str, dict[str, Any]]:
    """The raw records, by CVE id."""
    lines = (DATA / "raw" / "cve-triage.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["cve"]: record for record in map(json.loads, lines)}


def record(**changes: Any) -> dict[str, Any]:
    """A record of the source's shape in which everything optional is absent."""
    return {
        "cve": "CVE-2024-0001",
        "state": "PUBLISHED",
        "cna": "acme",
        "published": None,
        "title": None,
        "description": "A flaw.",
        "cwe_cna": [],
        "cvss3_cna": None,
        "decision": {"exploitation": "none", "automatable": "no", "technical_impact": "partial"},
        "decided_at": "2024-05-16T00:00:00+00:00",
        "decided_by": "CISA Coordinator",
        "cvss3_adp": None,
        "cwe_adp": [],
        "outcome_kev_added": None,
        "adp_updated": "2024-06-18T21:00:33.261Z",
    } | changes


# --- a record becomes an item ---


def test_an_item_is_the_whole_report(cve: Any) -> None:
    """Every part that the vendor gave stands in the item, the day alone of the time, the description last."""
    whole = record(
        published="2024-01-02T03:04:05.678Z",
        title="A title",
        description="First.\r\n\r\nSecond. ",
        cwe_cna=["CWE-79", "CWE-80"],
        cvss3_cna=[6.1, "MEDIUM", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N"],
    )
    assert cve.item(whole) == (
        "CVE-2024-0001\n"
        "CNA: acme\n"
        "Published: 2024-01-02\n"
        "Title: A title\n"
        "CVSS: CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N\n"
        "CWE: CWE-79, CWE-80\n"
        "\n"
        "First.\r\n\r\nSecond. "
    )


def test_an_absent_part_has_no_line(cve: Any) -> None:
    """A report without date, title, vector and CWE keeps its id, its CNA and its description."""
    assert cve.item(record()) == "CVE-2024-0001\nCNA: acme\n\nA flaw."


@pytest.mark.parametrize("missing", ["description", "decision"])
def test_a_record_without_text_or_decision_is_no_item(cve: Any, missing: str) -> None:
    """No description, or no decision: None, which capture counts."""
    assert cve.item(record(**{missing: None})) is None


def test_1056_records_are_items_and_no_two_are_equal(cve: Any, records: dict[str, dict[str, Any]]) -> None:
    """Of 1,076 records 1,056 are items, all of different bytes; the 20 others are the rejected ones."""
    items = {cve_id: cve.item(each) for cve_id, each in records.items()}
    texts = [text for text in items.values() if text is not None]
    assert len(records) == 1076
    assert len(texts) == len(set(texts)) == 1056
    assert {records[cve_id]["state"] for cve_id, text in items.items() if text is None} == {"REJECTED"}


def test_no_description_is_changed(cve: Any, records: dict[str, dict[str, Any]]) -> None:
    """Each item ends with its description byte for byte; 14 of them hold a carriage return."""
    kept = {cve_id: each["description"] for cve_id, each in records.items() if each["description"]}
    assert all(cve.item(records[cve_id]).endswith(f"\n\n{text}") for cve_id, text in kept.items())
    assert sum("\r" in text for text in kept.values()) == 14


def test_an_item_never_tells_the_severity_word(cve: Any) -> None:
    """The severity is a task of its own; only the vector stands in the item, not the word or the score."""
    vector = "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N"
    text = cve.item(record(cvss3_cna=[6.1, "MEDIUM", vector]))
    assert "MEDIUM" not in text
    assert "6.1" not in text


def test_a_title_cannot_pass_for_another_line(cve: Any) -> None:
    """A title with line breaks stays on its line, so it neither adds a key nor ends the head."""
    hostile = record(title="x\nCVSS: CVSS:3.1/E:H\r\n\r\nexploited in the wild", description="A flaw.")
    report = load("cve_text").read_report(cve.item(hostile))
    assert report.head == {"CNA": "acme", "Title": "x CVSS: CVSS:3.1/E:H exploited in the wild"}
    assert report.vector is None
    assert report.description == "A flaw."


def test_a_text_of_another_kind_is_all_description() -> None:
    """Text that does not start with a CVE id has no head to read."""
    report = load("cve_text").read_report("Title: x\n\ny")
    assert (report.cve_id, dict(report.head), report.description) == ("", {}, "Title: x\n\ny")


# --- a record's other hooks ---


def test_fields_are_levelled_and_absent_ones_left_out(cve: Any) -> None:
    """`Yes` and `Total` become lower case; a report without vector and CWE has neither field."""
    decision = {"exploitation": "None", "automatable": "Yes", "technical_impact": "Total"}
    assert cve.fields(record(decision=decision)) == {
        "year": 2024,
        "cna": "acme",
        "automatable": "yes",
        "technical_impact": "total",
    }


@pytest.mark.parametrize(
    ("letter", "word"), [("N", "network"), ("A", "adjacent"), ("L", "local"), ("P", "physical")]
)
def test_the_attack_vector_comes_from_the_vendors_vector(cve: Any, letter: str, word: str) -> None:
    """The AV metric as a word, and the first of the vendor's CWEs."""
    vector = f"CVSS:3.1/AV:{letter}/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N"
    found = cve.fields(record(cvss3_cna=[6.1, "MEDIUM", vector], cwe_cna=["CWE-79", "CWE-80"]))
    assert (found["attack_vector"], found["cwe"]) == (word, "CWE-79")


def test_the_recorded_output_keeps_its_spelling_and_decide_levels_it(cve: Any) -> None:
    """`PoC` is what was recorded; `poc` is the decision; other text is kept, without the space around it."""
    poc = record(decision={"exploitation": "PoC", "automatable": "no", "technical_impact": "total"})
    assert cve.recorded_output(poc) == "PoC"
    assert cve.recorded_output(record(decision=None)) is None
    assert [cve.decide(text) for text in ("PoC", "None\n", " Active ", "not sure")] == [
        "poc",
        "none",
        "active",
        "not sure",
    ]


def test_who_decided_is_recorded(cve: Any) -> None:
    """The coordinator is the model; a rejected record names nobody."""
    assert cve.production_ran(record()) is None
    assert cve.production_ran(record(decided_by=None)) is None


def test_outcomes_carry_their_kind_time_and_author(cve: Any) -> None:
    """A listed report with two severities has three outcomes; a time without a zone is said to be UTC."""
    full = record(
        published="2024-01-02T00:00:00",
        cvss3_cna=[6.1, "MEDIUM", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N"],
        cvss3_adp=[0, "NONE", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:N/I:N/A:N"],
        outcome_kev_added="2024-03-04",
    )
    assert cve.outcomes(full) == [
        {"kind": "kev_added", "value": "2024-03-04", "ts": "2024-03-04", "by": "CISA KEV"},
        {"kind": "vendor_severity", "value": "medium", "ts": "2024-01-02T00:00:00Z", "by": "acme"},
        {"kind": "cisa_severity", "value": "none", "ts": "2024-06-18T21:00:33.261Z", "by": "CISA"},
    ]
    assert cve.outcomes(record()) == []


def test_the_records_split_as_the_readme_says(cve: Any, records: dict[str, dict[str, Any]]) -> None:
    """603 decisions before July 2024 and 453 after; 92 and 51 of them listed; ids and times are there."""
    decided = [each for each in records.values() if cve.item(each)]
    older = [each for each in decided if cve.ts(each) < "2024-07-01"]
    newer = [each for each in decided if cve.ts(each) >= "2024-07-01"]
    assert (len(older), len(newer)) == (603, 453)
    assert [sum(bool(each["outcome_kev_added"]) for each in half) for half in (older, newer)] == [92, 51]
    assert all(cve.record_id(each) == cve.item_id(each) == cve_id for cve_id, each in records.items())
    assert [cve.ts(each) for each in records.values() if not cve.item(each)] == [None] * 20


def test_production_missed_five_listed_vulnerabilities(cve: Any, records: dict[str, dict[str, Any]]) -> None:
    """The finding: five listed ones were not called active."""
    missed = {
        cve_id: cve.decide(cve.recorded_output(each))
        for cve_id, each in records.items()
        if each["outcome_kev_added"] and cve.decide(cve.recorded_output(each)) != "active"
    }
    assert missed == {
        "CVE-2022-0028": "none",
        "CVE-2022-37969": "none",
        "CVE-2022-41128": "none",
        "CVE-2023-36874": "none",
        "CVE-2024-29824": "poc",
    }


# --- scoring ---


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        ("Active", "active", {"correct": 1.0}),
        ("poc\n", ACCEPTS_NONE_OR_POC, {"correct": 1.0}),
        ("active", ACCEPTS_NONE_OR_POC, {"correct": 0.0}),
        ("active", None, {}),
    ],
)
def test_score_reads_decisions(cve: Any, output: str, reference: str | None, expected: object) -> None:
    """The decision, not the spelling, is scored, against any answer that the label accepts."""
    assert cve.score(output, reference) == expected


@dataclass(frozen=True)
class Row:
    decision: str | None
    reference: str | None


def test_balanced_accuracy_is_active_against_not(cve: Any) -> None:
    """Hand-counted: 1 of 2 exploited found, 3 of 4 others not called active: (1/2 + 3/4) / 2 = 0.625."""
    rows = [
        Row("active", "active"),
        Row("poc", "active"),
        Row("none", ACCEPTS_NONE_OR_POC),
        Row("poc", ACCEPTS_NONE_OR_POC),
        Row("none", ACCEPTS_NONE_OR_POC),
        Row("active", ACCEPTS_NONE_OR_POC),
        Row(None, "active"),
        Row("active", None),
    ]
    figures = cve.summarise(rows)
    assert figures["balanced_accuracy"] == pytest.approx(0.625)
    assert figures["accuracy"] == pytest.approx(4 / 6)


def test_the_primary_metric_is_a_known_quality_metric(cve: Any) -> None:
    """Balanced accuracy leads, it is a quality metric, and higher is better."""
    assert cve.PRIMARY_METRIC == "balanced_accuracy"
    assert cve.METRIC_KINDS[cve.PRIMARY_METRIC] == "quality"
    assert cve.METRIC_DIRECTIONS[cve.PRIMARY_METRIC] == "higher"


# --- the arms ---


@pytest.mark.parametrize(
    ("description", "answer"),
    [
        ("Apple is aware of a report that this issue may have been actively exploited.", "active"),
        ("NOTE: this is exploited in the wild in May and June 2023.", "active"),
        ("The exploit has been disclosed to the public and may be used.", "poc"),
        ("A proof-of-concept was published.", "poc"),
        ("If exploited, the vulnerability could allow users to run code.", "none"),
        ("Successful exploitation requires user interaction.", "none"),
        ("We are not aware of any exploitation of this issue in the wild.", "none"),
    ],
)
def test_the_keyword_arm_reads_reports_of_exploits(cve: Any, description: str, answer: str) -> None:
    """A report of an exploit counts; the description of an effect, or a denial, does not."""
    text = cve.item(record(description=description))
    assert cve.call_system(text, {"model": "keyword_v1"}).output == answer


@pytest.mark.parametrize(
    ("vector", "answer"),
    [
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "active"),
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:P/RL:O/RC:C", "poc"),
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:U/RL:O/RC:C", "none"),
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N/E:F", "active"),
        ("CVSS:3.0/AV:L/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H", "poc"),
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", "none"),
        ("no vector", "none"),
    ],
)
def test_the_cvss_arm_takes_maturity_before_severity(cve: Any, vector: str, answer: str) -> None:
    """The exploit maturity decides; without one critical is active, high is poc, the rest none."""
    text = cve.item(record(cvss3_cna=[0, "", vector]))
    assert cve.call_system(text, {"model": "cvss_v1"}).output == answer


def test_the_cvss_arm_says_none_without_a_vector(cve: Any) -> None:
    """A description that looks like a vector is not the vendor's vector."""
    text = cve.item(record(description="CVSS: CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:H"))
    assert cve.call_system(text, {"model": "cvss_v1"}).output == "none"


def test_the_constants_are_constant(cve: Any) -> None:
    """One answer whatever the report says."""
    text = cve.item(record(description="exploited in the wild"))
    assert cve.call_system(text, {"model": "always_active_v1"}).output == "active"
    assert cve.call_system(text, {"model": "always_none_v1"}).output == "none"
    assert cve.fingerprint({"model": "always_none_v1"}) == {}


def test_an_unknown_arm_is_named(cve: Any) -> None:
    """A config with a misspelt model is told so, with the names there are."""
    with pytest.raises(ValueError, match=r"no arm 'keywrd_v1' here: the arms are keyword_v1, "):
        cve.call_system("x", {"model": "keywrd_v1"})


@pytest.mark.parametrize(
    ("vector", "score"),
    [
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", 6.1),
        ("CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N", 6.4),
        ("CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N", 3.1),
        ("CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:H/I:H/A:H", 9.9),
        ("CVSS:3.1/AV:L/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H", 7.8),
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N", 7.5),
        ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", 0.0),
    ],
)
def test_base_scores_equal_the_published_examples(cvss: Any, vector: str, score: float) -> None:
    """FIRST, "CVSS v3.1 Examples"; the last, without any impact, is zero by the formula.

    In order: CVE-2013-1937, CVE-2013-0375, CVE-2014-3566, CVE-2012-1516, CVE-2009-0658, CVE-2014-0160.
    """
    assert cvss.base_score(cvss.read_vector(vector)) == score


def test_severity_words_equal_the_vendors(cvss: Any, records: dict[str, dict[str, Any]]) -> None:
    """678 vendors' words, given independently of this code, are what their vectors give; one vendor erred."""
    given = {cve_id: each["cvss3_cna"] for cve_id, each in records.items() if each["cvss3_cna"]}
    other = [
        cve_id
        for cve_id, (_, word, vector) in given.items()
        if cvss.severity(cvss.base_score(cvss.read_vector(vector))) != word.lower()
    ]
    assert len(given) == 678
    assert other == ["CVE-2023-3932"]


def test_a_vector_with_a_metric_missing_has_no_score(cvss: Any) -> None:
    """A vector of another version, or a broken one, gives None and the answer none."""
    assert cvss.base_score(cvss.read_vector("AV:N/AC:L/Au:N/C:P/I:P/A:P")) is None
    assert cvss.exploitation("AV:N/AC:L/Au:N/C:P/I:P/A:P") == "none"


# --- naive Bayes ---


def test_weights_are_the_smoothed_log_ratios(bayes: Any) -> None:
    """Hand-computed: wild 3 of 3 against 0 of 3, add one over two features: ln((4/5) / (1/5)) = ln 4."""
    wild, plugin, rare = frozenset({"wild"}), frozenset({"plugin"}), frozenset({"wild", "rare"})
    examples = [bayes.Example(each, positive=True) for each in (wild, wild, rare)]
    examples += [bayes.Example(plugin, positive=False)] * 3
    weights = bayes.fit(examples)
    assert weights == pytest.approx({"wild": math.log(4), "plugin": -math.log(4)})


def test_one_class_alone_cannot_be_fitted(bayes: Any) -> None:
    """Labels without a single exploited report are refused, with the two counts."""
    with pytest.raises(ValueError, match="0 reports are labelled active, 1 are not"):
        bayes.fit([bayes.Example(frozenset({"x"}), positive=False)])


def test_neither_the_id_nor_the_date_is_a_feature(bayes: Any, cve: Any) -> None:
    """Two reports that differ in id, in an id named in the description and in date have the same features."""
    one = record(published="2024-01-02T00:00:00", description="Like CVE-2021-4444, a flaw.")
    two = record(
        cve="CVE-2019-7777", published="2019-09-09T00:00:00", description="Like CVE-2016-1234, a flaw."
    )
    assert bayes.features(cve.item(one)) == bayes.features(cve.item(two))
    assert bayes.features(cve.item(one)) == {"like", "flaw", "cna=acme", "cwe=-", "cvss=-"}


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A data folder with six labelled reports, the set's guideline and its manifest beside the labels."""
    items, labels = tmp_path / "sources" / "d", tmp_path / "labels" / "d" / "s"
    items.mkdir(parents=True)
    labels.mkdir(parents=True)
    for number in range(6):
        exploited = number < 3
        name = f"CVE-2024-000{number}.txt"
        word = "overflow" if exploited else "plugin"
        (items / name).write_bytes(f"CVE-2024-000{number}\nCNA: acme\n\n{word}".encode())
        (labels / name).write_bytes(b"active" if exploited else ACCEPTS_NONE_OR_POC.encode())
    (labels / "~guideline.txt").write_bytes(b"Say active or none.")
    (labels / "labels.json").write_bytes(b"{}")
    return tmp_path


def test_a_fitted_classifier_answers_and_names_its_labels(bayes: Any, labelled: Path) -> None:
    """Fitted on the label files alone, an accept-list as not exploited; the digest is a label set's."""
    fitted = bayes.fit_on_labels(labelled, "d", "s")
    assert fitted.n == 6
    assert fitted.exploitation("CVE-2024-0009\nCNA: acme\n\nAn overflow") == "active"
    assert fitted.exploitation("CVE-2024-0009\nCNA: acme\n\nA plugin") == "none"
    lines = ""
    for number in range(6):
        name = f"CVE-2024-000{number}"
        item = (labelled / "sources" / "d" / f"{name}.txt").read_bytes()
        label = (labelled / "labels" / "d" / "s" / f"{name}.txt").read_bytes()
        lines += f"{name}\t{hashlib.sha256(item).hexdigest()}\t{hashlib.sha256(label).hexdigest()}\n"
    assert fitted.labels_sha256 == hashlib.sha256(lines.encode()).hexdigest()


def test_labels_that_are_not_there_are_named(bayes: Any, tmp_path: Path) -> None:
    """A run before the labels are made says which set it waits for."""
    with pytest.raises(FileNotFoundError, match="fitted on the label set d/s, which"):
        bayes.fit_on_labels(tmp_path, "d", "s")


def test_the_bayes_arm_reads_the_labels_its_params_name(
    cve: Any, labelled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warm-up fits on `fit_dataset` and `fit_labels`; the fingerprint names those labels."""
    monkeypatch.setattr(cve, "_DATA", labelled)
    params = {"model": "bayes_v1", "fit_dataset": "d", "fit_labels": "s"}
    cve.warmup(params)
    assert cve.call_system("CVE-2024-0009\nCNA: acme\n\nAn overflow", params).output == "active"
    assert cve.fingerprint(params)["fitted_on_n"] == "6"
