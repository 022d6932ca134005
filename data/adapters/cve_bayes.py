"""A small naive Bayes classifier, in pure Python, fitted on one labelled dataset of the project.

The multinomial model with add-one smoothing (Manning, Raghavan and Schütze, "Introduction to Information
Retrieval", 2008, section 13.2), over the set of features of a report. Both classes get the same prior: about
one report in seven is exploited, and an arm that is compared by balanced accuracy should not start from that
share.

The model form (multinomial or Bernoulli), the smoothing and the least number of reports that a feature must
stand in were chosen by ten-fold cross-validation on the older half alone: 0.80 balanced there, the best of 40
settings. The newer half was not looked at for it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cve_cvss import read_vector
from cve_text import CVE_ID, read_report

POSITIVE = "active"
_SMOOTHING = 1.0
_LEAST_REPORTS = 3
_WORD = re.compile(r"[a-z][a-z]+")


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled report: its features, and whether its label is `active` alone."""

    features: frozenset[str]
    positive: bool


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fitted classifier.

    Args:
        weights: per feature the log of how much likelier it is in an exploited report; natural logarithm.
        labels_sha256: the digest of what it was fitted on, by the formula of a label set's `labels_sha256`;
            the two are equal, as the whole set is fitted on.
        n: how many reports it was fitted on.
    """

    weights: Mapping[str, float]
    labels_sha256: str
    n: int

    def exploitation(self, text: str) -> str:
        """`active` or `none` for an item's text: labels that know listed or not listed teach no poc."""
        weights = (self.weights.get(feature, 0.0) for feature in features(text))
        return POSITIVE if math.fsum(weights) > 0 else "none"


def features(text: str) -> frozenset[str]:
    """The features of an item: the words of its prose, and the CNA, the CWEs and the CVSS metrics.

    CVE ids are no feature, wherever they stand, and neither is the date. Both tell the year, and in this data
    reports from before 2024 are exploited far more often: that tells how it was chosen, and nothing of a
    report.

    Args:
        text: an item's text.
    """
    report = read_report(text)
    found = set(_WORD.findall(CVE_ID.sub(" ", report.prose).lower()))
    found.add(f"cna={report.head.get('CNA', '-')}")
    found.update(f"cwe={cwe}" for cwe in report.cwes or ("-",))
    metrics = read_vector(report.vector) if report.vector else {"cvss": "-"}
    found.update(f"{name}={value}" for name, value in metrics.items())
    return frozenset(found)


def fit(examples: Iterable[Example]) -> dict[str, float]:
    """The weight of each feature that stands in at least three reports.

    Raises:
        ValueError: one of the two classes has no example.
    """
    n = {True: 0, False: 0}
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for example in examples:
        n[example.positive] += 1
        counts[example.positive].update(example.features)
    if not all(n.values()):
        why = f"naive Bayes needs both classes: {n[True]} reports are labelled {POSITIVE}, {n[False]} are not"
        raise ValueError(why)
    seen = counts[True] + counts[False]
    vocabulary = sorted(feature for feature, reports in seen.items() if reports >= _LEAST_REPORTS)
    total = {side: sum(counts[side][feature] for feature in vocabulary) for side in counts}

    def log_share(feature: str, *, side: bool) -> float:
        smoothed = counts[side][feature] + _SMOOTHING
        return math.log(smoothed / (total[side] + _SMOOTHING * len(vocabulary)))

    return {feature: log_share(feature, side=True) - log_share(feature, side=False) for feature in vocabulary}


def fit_on_labels(data: Path, dataset_id: str, label_set: str) -> Fitted:
    """Fits on the label files of one set, each joined to its item by the name they share.

    Args:
        data: the project's `data` folder.
        dataset_id: the dataset whose items are read, from `sources/<dataset_id>`.
        label_set: the set whose labels are read, from `labels/<dataset_id>/<label_set>`.

    Raises:
        FileNotFoundError: the set is not there, or a label has no item.
        ValueError: one of the two classes has no example.
    """
    folder = data / "labels" / dataset_id / label_set
    if not folder.is_dir():
        why = f"fitted on the label set {dataset_id}/{label_set}, which the project does not have yet"
        raise FileNotFoundError(why)
    examples: list[Example] = []
    lines: list[str] = []
    # A name that starts with ~ is the set's guideline, not a label.
    for path in sorted(found for found in folder.glob("*.txt") if not found.name.startswith("~")):
        item = (data / "sources" / dataset_id / path.name).read_bytes()
        label = path.read_bytes()
        examples.append(Example(features(item.decode("utf-8")), _is_positive(label.decode("utf-8"))))
        lines.append(
            f"{path.stem}\t{hashlib.sha256(item).hexdigest()}\t{hashlib.sha256(label).hexdigest()}\n"
        )
    digest = hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
    return Fitted(weights=fit(examples), labels_sha256=digest, n=len(examples))


def _is_positive(label: str) -> bool:
    """Whether a label is `active` and nothing else; one that accepts several answers is not."""
    plain = label.removesuffix("\n")
    if not plain.startswith("{"):
        return plain == POSITIVE
    accepted: object = json.loads(plain)
    return accepted == {"accept": [POSITIVE]}
