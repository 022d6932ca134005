"""The adapter of the sample: which vulnerabilities are being exploited, as CISA's coordinators decided.

The hooks stand in the order of the loop: a record becomes an item, a recorded decision and its outcomes;
an arm answers an item; an answer is scored. A record has the keys of `data/raw/cve-triage.jsonl`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import cve_bayes
import cve_cvss
import cve_keywords
from cve_text import CVE_ID, read_report, write_report

from evh.adapters import ClassRow, Result, answers, classification

PRIMARY_METRIC = "balanced_accuracy"
METRIC_KINDS = {
    "correct": "quality",
    "accuracy": "quality",
    "balanced_accuracy": "quality",
    "macro_f1": "quality",
    "recall_active": "quality",
    "recall_none": "quality",
    "recall_poc": "quality",
    "recall_none_or_poc": "quality",
}
METRIC_DIRECTIONS = dict.fromkeys(METRIC_KINDS, "higher")

_DATA = Path(__file__).resolve().parents[1]
_HAS_ZONE = re.compile(r"(?:Z|[+-]\d\d:\d\d)$")

# --- a record ---


def record_id(record: Mapping[str, Any]) -> str:
    """The CVE id: the source has one record a vulnerability."""
    return str(record["cve"])


def ts(record: Mapping[str, Any]) -> str | None:
    """When CISA decided, UTC; None for a rejected record, which has no decision."""
    return _utc(record["decided_at"])


def item(record: Mapping[str, Any]) -> str | None:
    """The report as the coordinator saw it; None where there is no description or no decision."""
    if not record["description"] or not record["decision"]:
        return None
    return write_report(record)


def item_id(record: Mapping[str, Any]) -> str:
    """The CVE id."""
    return str(record["cve"])


def fields(record: Mapping[str, Any]) -> dict[str, str | int]:
    """What the sheet can be filtered and grouped by; a field that the record lacks is absent.

    Spelling is levelled where the source spells one value in two ways (`Yes` and `yes`).
    """
    found: dict[str, str | int] = {"cna": record["cna"]}
    if year := CVE_ID.fullmatch(record["cve"]):
        found["year"] = int(year.group(1))
    if record["cvss3_cna"]:
        metric = cve_cvss.read_vector(record["cvss3_cna"][2]).get("AV", "")
        if metric in cve_cvss.ATTACK_VECTORS:
            found["attack_vector"] = cve_cvss.ATTACK_VECTORS[metric]
    if record["cwe_cna"]:
        found["cwe"] = record["cwe_cna"][0]
    if record["decision"]:
        # These two are parts of CISA's decision, not of the report: no arm sees them. They are here to look
        # at scores by, never to decide with.
        found["automatable"] = record["decision"]["automatable"].lower()
        found["technical_impact"] = record["decision"]["technical_impact"].lower()
    return found


def recorded_output(record: Mapping[str, Any]) -> str | None:
    """CISA's decision about exploitation, in its own spelling (`None`, `PoC`, `active`, …)."""
    return str(record["decision"]["exploitation"]) if record["decision"] else None


def production_ran(record: Mapping[str, Any]) -> None:
    """Nothing: people decided here, so no record names a model or a prompt."""


def outcomes(record: Mapping[str, Any]) -> list[dict[str, str | None]]:
    """What others said of the vulnerability, each with its time.

    - `kev_added`: it entered the list of vulnerabilities known to be exploited; the value and the time are
      the day.
    - `vendor_severity`: the vendor's severity word, given with the report.
    - `cisa_severity`: CISA's severity word. Its own time is not in the source; CISA's last change of the
      record stands in, which is never too early.
    """
    found: list[dict[str, str | None]] = []
    if day := record["outcome_kev_added"]:
        found.append({"kind": "kev_added", "value": day, "ts": day, "by": "CISA KEV"})
    if given := record["cvss3_cna"]:
        when = _utc(record["published"])
        found.append({"kind": "vendor_severity", "value": given[1].lower(), "ts": when, "by": record["cna"]})
    if given := record["cvss3_adp"]:
        when = _utc(record["adp_updated"])
        found.append({"kind": "cisa_severity", "value": given[1].lower(), "ts": when, "by": "CISA"})
    return found


# --- an arm ---


def call_system(text: str, params: Mapping[str, Any]) -> Result:
    """One arm's answer to one report; `params["model"]` says which arm.

    Raises:
        ValueError: there is no arm of that name here.
    """
    return Result(output=_answer(text, params))


def warmup(params: Mapping[str, Any]) -> None:
    """Fits the classifier before the first item, so that no item's time has the fitting in it."""
    if params["model"] == "bayes_v1":
        _fitted(params["fit_dataset"], params["fit_labels"])


def fingerprint(params: Mapping[str, Any]) -> dict[str, str]:
    """What else decides an arm's answers: for the classifier, the labels that it was fitted on."""
    if params["model"] != "bayes_v1":
        return {}
    fitted = _fitted(params["fit_dataset"], params["fit_labels"])
    return {"fitted_on_labels_sha256": fitted.labels_sha256, "fitted_on_n": str(fitted.n)}


def _answer(text: str, params: Mapping[str, Any]) -> str:
    """The answer as text: none, poc or active."""
    match params["model"]:
        case "keyword_v1":
            return cve_keywords.exploitation(read_report(text).prose)
        case "cvss_v1":
            return cve_cvss.exploitation(read_report(text).vector)
        case "bayes_v1":
            return _fitted(params["fit_dataset"], params["fit_labels"]).exploitation(text)
        case "always_active_v1":
            return "active"
        case "always_none_v1":
            return "none"
        case other:
            known = "keyword_v1, cvss_v1, bayes_v1, always_active_v1, always_none_v1"
            raise ValueError(f"no arm {other!r} here: the arms are {known}")


@cache
def _fitted(dataset_id: str, label_set: str) -> cve_bayes.Fitted:
    """The classifier, fitted once a process: a label set never changes."""
    return cve_bayes.fit_on_labels(_DATA, dataset_id, label_set)


# --- scoring ---


def decide(output: str) -> str:
    """The decision in an output: no space around it, lower case; `PoC` and `poc` are one decision."""
    return output.strip().casefold()


def score(output: str, reference: str | None) -> dict[str, float]:
    """`correct`: 1 when the reference accepts the decision, else 0. Nothing without a reference."""
    if reference is None:
        return {}
    return {"correct": 1.0 if decide(output) in answers(reference) else 0.0}


def summarise(rows: Sequence[Any]) -> dict[str, float]:
    """The figures that only a whole run has.

    Balanced accuracy is active against not active: the mean of the share of exploited ones that were called
    active and the share of the others that were not. An arm that always says the same gets 0.5, however rare
    the exploited ones are.

    Args:
        rows: each with `decision` and `reference`, either of which may be None; such rows count nowhere.
    """
    pairs = [
        ClassRow(row.decision, row.reference)
        for row in rows
        if row.decision is not None and row.reference is not None
    ]
    return classification(pairs, positive="active")


def _utc(time: str | None) -> str | None:
    """The source's times are UTC, with or without saying so; evh wants it said."""
    if not time or _HAS_ZONE.search(time):
        return time
    return f"{time}Z"
