"""What checking a project's folder finds: promises that are broken, and what is only worth knowing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from evh.project.shelf import read_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evh.errors import Refusal
    from evh.project.find import Project

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken promise.

    ``severity`` is ``error`` where bytes or numbers cannot be trusted, ``warning`` where something lacks or
    is left over. ``code`` is a stable slug. ``file`` is the path in the project.
    """

    severity: str
    code: str
    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth knowing that breaks no promise."""

    code: str
    file: str
    reason: str


@dataclass
class Findings:
    """Findings and notes being gathered."""

    project: Project
    findings: list[Finding] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)

    def error(self, code: str, path: Path | str, reason: str) -> None:
        """Add a finding about bytes or numbers that cannot be trusted."""
        self.findings.append(Finding("error", code, self._file(path), reason))

    def warning(self, code: str, path: Path | str, reason: str) -> None:
        """Add a finding about what lacks or is left over."""
        self.findings.append(Finding("warning", code, self._file(path), reason))

    def note(self, code: str, path: Path | str, reason: str) -> None:
        """Add what is only worth knowing."""
        self.notes.append(Note(code, self._file(path), reason))

    def count(self, noun: str, n: int) -> None:
        """Say how many of ``noun`` were checked."""
        self.checked[noun] = self.checked.get(noun, 0) + n

    def attempt(self, path: Path, deed: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Return what ``deed(*args)`` returns; where it is refused, each reason is an error of ``path``.

        What may not be read is such a reason too: nothing of it ends the check of the rest.
        """
        refused: list[Refusal] = []
        try:
            made = read_each([path], lambda _: deed(*args, **kwargs), refused)
        except OSError as error:
            self.error("cannot-read", Path(error.filename or path), error.strerror or str(error))
            return None
        for refusal in refused:
            self.refused(path, refusal)
        return made[0] if made else None

    def refused(self, path: Path | str, refusal: Refusal) -> None:
        """Add a Refusal's reasons as errors about ``path``, without repeating the path in each."""
        file = self._file(path)
        for reason in refusal.why or (refusal.what,):
            short = reason
            for prefix in (str(path), file):
                short = short.removeprefix(f"{prefix}: ")
            self.error(refusal.code, path, short)

    def strays(self, folder: Path, allowed: Iterable[str], what: str) -> None:
        """Add a warning for each entry of ``folder`` that its record does not know."""
        known = set(allowed)
        for path in sorted(folder.iterdir()):
            if path.name not in known and not path.name.startswith(".tmp-"):
                self.warning("stray-file", path, f"{what} does not name it")

    def doubled(self, folder: Path, present: set[str], stems: Iterable[str], item_id: str) -> None:
        """Add an error where one item has two files: ours and a foreign tree's."""
        both = [f"{stem}.txt" for stem in stems if f"{stem}.txt" in present]
        if len(both) > 1:
            self.error("two-files", folder, f"{item_id}: it has two files: {', '.join(both)}")

    def _file(self, path: Path | str) -> str:
        return path if isinstance(path, str) else self.project.show(path)
