"""An arm that a person could write in an afternoon: look for the phrases that report an exploit.

The phrases were written from what vendors say about exploitation. No label was used to choose them.
"""

from __future__ import annotations

import re

# "We are not aware of any exploitation" must not count as a report of one.
_DENIALS = re.compile(
    r"\b(?:not (?:been )?aware of|no (?:known|evidence of|reports? of))\b[^.\n]{0,60}", re.IGNORECASE
)

_ACTIVE = re.compile(
    r"\bexploit(?:ed|ation|s)?\b[^.\n]{0,40}\bin the wild\b"
    r"|\bin the wild\b[^.\n]{0,40}\bexploit"
    r"|\bactive(?:ly)? (?:being )?exploit"
    r"|\bunder (?:active )?(?:attack|exploitation)\b"
    r"|\baware of [^.\n]{0,80}\bexploit"
    r"|\b(?:has|have|were|was) (?:actively |already )?(?:been )?exploited\b"
    r"|\bknown(?: to be)? exploited\b",
    re.IGNORECASE,
)

_POC = re.compile(
    r"\bproof[- ]of[- ]concept\b"
    r"|\bpoc\b"
    r"|\bexploit (?:code |details )?(?:has been|have been|is|are|was) (?:now )?"
    r"(?:disclosed|published|released|public|available)"
    r"|\bpublic(?:ly)?(?: available| disclosed| known)? exploit",
    re.IGNORECASE,
)


def exploitation(prose: str) -> str:
    """What a report's own words say about exploitation: none, poc or active.

    Args:
        prose: the title and the description.
    """
    told = _DENIALS.sub(" ", prose)
    if _ACTIVE.search(told):
        return "active"
    return "poc" if _POC.search(told) else "none"
