"""Templates compiled and parsed once a process: each build has an environment of its own."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import jinja2
import jinja2.meta

if TYPE_CHECKING:
    from types import CodeType

    from jinja2.bccache import Bucket


class Compiled(jinja2.BytecodeCache):
    """The code of each template by its name and place, while its text is the same."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, CodeType]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template's code where its text is the same."""
        checksum, code = self._kept.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template's code."""
        if bucket.code is not None:
            self._kept[bucket.key] = (bucket.checksum, bucket.code)


COMPILED = Compiled()
"""The code of this process's templates; every environment is made with the same settings."""


@functools.lru_cache(maxsize=512)
def referenced(text: str) -> tuple[str, ...]:
    """Return the names of the templates that a template's text leads to."""
    made = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - parses, never renders
    return tuple(name for name in jinja2.meta.find_referenced_templates(made.parse(text)) if name)
