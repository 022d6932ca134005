"""The hooks that a project supplies, the bundled ones, and what an adapter may import.

This is the only room that imports or runs a project's own code.
"""

from __future__ import annotations

from evh.adapters.results import Result
from evh.adapters.scorers import json_fields, numeric, rouge, set_match
from evh.measure.scores import ClassRow, classification
from evh.records.answers import answers

__all__ = [
    "ClassRow",
    "Result",
    "answers",
    "classification",
    "json_fields",
    "numeric",
    "rouge",
    "set_match",
]
