"""evh: an evaluation harness for teams that run language-model systems in production.

The public names are handed on lazily, so that ``import evh`` costs nothing until one is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from evh.api import Project as Project
    from evh.errors import Refusal as Refusal

__all__ = ["Project", "Refusal", "__version__"]


def __getattr__(name: str) -> object:
    if name == "Project":
        from evh.api import Project

        return Project
    if name == "Refusal":
        from evh.errors import Refusal

        return Refusal
    message = f"module 'evh' has no attribute {name!r}"
    raise AttributeError(message)
