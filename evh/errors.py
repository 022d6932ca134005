"""What bad input gets: one tree of errors, left of every room.

EvhError
└── Refusal       the input was refused; nothing was written (exit 1)
    └── Partly    some of the work failed; what was done is kept (exit 3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN = 20
"""How many reasons a message shows before it counts the rest."""


class EvhError(Exception):
    """The root of everything that evh raises on purpose."""


class Refusal(EvhError):
    """Input that evh will not act on, with every reason and the way out.

    Args:
        code: a stable slug, such as ``unknown-item``; also the name of its help topic.
        what: one sentence: what was refused.
        why: every reason, each naming the file, row, item or key that it is about.
        next: the command or the edit that puts it right, or None where nothing can.
    """

    exit_code = 1

    def __init__(self, code: str, what: str, *, why: Iterable[str] = (), next: str | None = None) -> None:
        super().__init__(what)
        self.code = code
        self.what = what
        self.why = tuple(why)
        self.next = next

    def __str__(self) -> str:
        """Return the message that a person reads: what, the first reasons, the way out."""
        lines = [self.what]
        lines += [f"  - {reason}" for reason in self.why[:SHOWN]]
        if len(self.why) > SHOWN:
            lines.append(f"  … and {len(self.why) - SHOWN} more")
        if self.next:
            lines.append(f"next: {self.next}")
        return "\n".join(lines)


class Partly(Refusal):
    """Some of the work failed. What succeeded is on disk; ``next`` says how to go on."""

    exit_code = 3
