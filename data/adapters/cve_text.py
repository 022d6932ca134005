"""The text of a vulnerability report: how it is written from a record, and how an arm reads it back.

A report is a head of lines, a blank line, and the description with not one byte changed:

    CVE-2023-20269
    CNA: cisco
    Published: 2023-09-06
    Title: ...
    CVSS: CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:L/I:L/A:N
    CWE: CWE-288

A part that the vendor did not give has no line. The vendor's severity word and score are left out on purpose:
the severity is a labelling task of its own, and its answer must not stand in the item.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CVE_ID = re.compile(r"CVE-(\d{4})-\d{4,}")


@dataclass(frozen=True, slots=True)
class Report:
    """A report read back from an item's text.

    Args:
        cve_id: the first line.
        head: the `Key: value` lines, by key.
        description: everything after the first blank line.
    """

    cve_id: str
    head: Mapping[str, str] = field(default_factory=dict)
    description: str = ""

    @property
    def prose(self) -> str:
        """What people wrote: the title and the description."""
        return f"{self.head.get('Title', '')}\n{self.description}"

    @property
    def vector(self) -> str | None:
        """The vendor's CVSS vector, or None when the vendor gave none."""
        return self.head.get("CVSS")

    @property
    def cwes(self) -> tuple[str, ...]:
        """The vendor's CWE ids, in the vendor's order."""
        return tuple(part for part in self.head.get("CWE", "").split(", ") if part)


def write_report(record: Mapping[str, Any]) -> str:
    """The item's text of a record that has a description.

    Args:
        record: one record of the capture, with the keys of the source.
    """
    head = {
        "CNA": record["cna"],
        "Published": (record["published"] or "")[:10],
        "Title": record["title"] or "",
        "CVSS": record["cvss3_cna"][2] if record["cvss3_cna"] else "",
        "CWE": ", ".join(record["cwe_cna"]),
    }
    # A value must stay on its line: a line break in a title could pass for another key, or end the head.
    lines = [f"{key}: {' '.join(value.split())}" for key, value in head.items() if value]
    return "\n".join([record["cve"], *lines]) + "\n\n" + str(record["description"])


def read_report(text: str) -> Report:
    """Reads back what `write_report` wrote; of any other text, all is description.

    Args:
        text: an item's text.
    """
    head, _, description = text.partition("\n\n")
    first, *lines = head.split("\n")
    if not CVE_ID.fullmatch(first):
        return Report(cve_id="", description=text)
    pairs = (line.partition(": ") for line in lines)
    return Report(cve_id=first, head={key: value for key, _, value in pairs}, description=description)
