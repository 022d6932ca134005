"""Checking a built site against its manifest: what was changed, what is missing, what is there beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.store.hashing import sha256_file
from evh_build import incremental
from evh_build.manifest import MANIFEST, read

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a site differs from its manifest; each list is of paths below it, in their order.

    A link in place of a file counts as changed: a manifest is of files.
    """

    out: Path
    public: bool
    n_files: int
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether the site is exactly what its manifest says."""
        return not (self.changed or self.missing or self.extra)


def verify(out: Path) -> Verdict:
    """Return how a built site differs from its ``manifest.json``.

    Raises:
        Refusal: there is no site, its manifest cannot be read, or a file of it cannot.

    Cost: every file is read once.
    """
    said = read(out)
    if said is None:
        raise Refusal(
            "no-catalog",
            f"there is no built catalog in {out}",
            why=[f"{out / MANIFEST}: no such file"],
            next="evh catalog-build, or name the site's folder",
        )
    there = incremental.found(out)
    changed = [
        path
        for path, digest in said.files.items()
        if path in there and (there[path][0] < 0 or sha256_file(out / path) != digest)
    ]
    return Verdict(
        out=out,
        public=said.public,
        n_files=len(said.files),
        changed=tuple(sorted(changed)),
        missing=tuple(sorted(set(said.files) - set(there))),
        extra=tuple(sorted(set(there) - set(said.files) - {MANIFEST})),
    )
