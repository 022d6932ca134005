"""Holding a command's ``--json`` document against the JSON Schema that ships for it."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema


def check(document: Any, command: str) -> Any:
    """Return the document when ``evh/schemas/<command>.json`` describes it; else fail the test."""
    schema = json.loads((resources.files("evh") / "schemas" / f"{command}.json").read_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    return document
