"""Five items of the sample, read by hand from data/raw/cve-triage.jsonl: half, decision, label."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# One that production missed (listed before it decided), one listed only afterwards, a false alarm, a found
# one, and one that nobody has listed.
FIVE = {
    "CVE-2022-37969": ("cve_2024_07_08", "none", "active"),
    "CVE-2024-29824": ("cve_2024_07_08", "poc", "active"),
    "CVE-2024-28986": ("cve_2024_07_08", "active", '{"accept": ["none", "poc"]}'),
    "CVE-2023-41061": ("cve_2024_h1", "active", "active"),
    "CVE-2023-20135": ("cve_2024_h1", "none", '{"accept": ["none", "poc"]}'),
}
