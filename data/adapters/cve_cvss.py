"""CVSS version 3 in the part that this project needs: reading a vector, its base score, its severity word.

Source of the formulas, weights and the rating scale: FIRST, "Common Vulnerability Scoring System version 3.1:
Specification Document", sections 5, 7.1 and 7.4, and appendix A for the rounding. Version 3.0 differs in the
rounding only, as far as base scores go; its vectors are read by the formula of 3.1. The severity word that
comes out is the vendor's own in 677 of the 678 reports that have a vector; in CVE-2023-3932 the vendor's word
does not fit its vector.
"""

from __future__ import annotations

from collections.abc import Mapping

ATTACK_VECTORS = {"N": "network", "A": "adjacent", "L": "local", "P": "physical"}

_MATURITY = {"H": "active", "F": "active", "P": "poc", "U": "none"}
_BY_SEVERITY = {"critical": "active", "high": "poc"}

_AV = {"N": 0.85, "A": 0.62, "L": 0.55, "P": 0.2}
_AC = {"L": 0.77, "H": 0.44}
_PR = {"U": {"N": 0.85, "L": 0.62, "H": 0.27}, "C": {"N": 0.85, "L": 0.68, "H": 0.5}}
_UI = {"N": 0.85, "R": 0.62}
_CIA = {"H": 0.56, "L": 0.22, "N": 0.0}


def read_vector(vector: str) -> dict[str, str]:
    """The metrics of a vector, by their abbreviation: `{"AV": "N", "AC": "L", …}`.

    Args:
        vector: such as `CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:F`; the temporal metrics are optional.
    """
    _, *parts = vector.split("/")
    return dict(part.split(":", 1) for part in parts if ":" in part)


def base_score(metrics: Mapping[str, str]) -> float | None:
    """The base score, 0.0 to 10.0 with one decimal; None when a base metric is missing or unknown.

    Args:
        metrics: as `read_vector` gives them.
    """
    try:
        changed = metrics["S"] == "C"
        privileges = _PR[metrics["S"]][metrics["PR"]]
        exploitability = 8.22 * _AV[metrics["AV"]] * _AC[metrics["AC"]] * privileges * _UI[metrics["UI"]]
        kept = (1 - _CIA[metrics["C"]]) * (1 - _CIA[metrics["I"]]) * (1 - _CIA[metrics["A"]])
    except KeyError:
        return None
    lost = 1 - kept
    impact = 7.52 * (lost - 0.029) - 3.25 * (lost - 0.02) ** 15 if changed else 6.42 * lost
    if impact <= 0:
        return 0.0
    return _round_up(min((1.08 if changed else 1.0) * (impact + exploitability), 10.0))


def severity(score: float) -> str:
    """The word of the rating scale for a score: none, low, medium, high or critical."""
    if score <= 0:
        return "none"
    floors = (("critical", 9.0), ("high", 7.0), ("medium", 4.0))
    return next((word for word, floor in floors if score >= floor), "low")


def exploitation(vector: str | None) -> str:
    """What the vendor's vector says about exploitation: none, poc or active.

    The exploit code maturity (E) decides where the vendor gave one. High and Functional count as active: of
    the 15 reports of the older half that have one of them, 14 were listed as exploited. Without a maturity
    the severity stands in, which is what people do who patch the critical ones first: critical is active,
    high is poc, the rest is none. No vector is none.

    Args:
        vector: a CVSS 3 vector, or None.
    """
    if vector is None:
        return "none"
    metrics = read_vector(vector)
    maturity = metrics.get("E", "X")
    if maturity in _MATURITY:
        return _MATURITY[maturity]
    score = base_score(metrics)
    return "none" if score is None else _BY_SEVERITY.get(severity(score), "none")


def _round_up(value: float) -> float:
    """The smallest number with one decimal that is not below the value, by appendix A in whole numbers."""
    scaled = round(value * 100_000)
    return scaled / 100_000 if scaled % 10_000 == 0 else (scaled // 10_000 + 1) / 10
