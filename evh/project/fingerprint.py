"""What a run was made of: the fingerprint that tells two runs apart, and the build of evh that made it."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh import __version__
from evh.store import strict
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERSION = 1
PARTS = ("arm", "data", "instrument", "system_under_test")
_GIT_SECONDS = 10


def make(
    *,
    arm: Mapping[str, Any],
    data: Mapping[str, Any],
    instrument: Mapping[str, Any],
    system_under_test: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the fingerprint ``{version, hash, arm, data, instrument, system_under_test, host}``.

    Two runs of one hash asked the same system the same items and scored the answers by the same scorer. The
    hash leaves the host out: it is there to explain a difference, not to make one.

    Args:
        arm: which config, and what it was fitted on.
        data: the dataset, the digest of its items, what the answers are scored against and its digest.
        instrument: the adapter and its files' hashes. The version of evh is added here.
        system_under_test: what answers: provider, model, every setting, the hash of a prompt or a capture.
    """
    made: dict[str, Any] = {
        "version": VERSION,
        "arm": dict(arm),
        "data": dict(data),
        "instrument": {**instrument, "harness": harness()},
        "system_under_test": dict(system_under_test),
        "host": host(),
    }
    return {**made, "hash": digest(made)}


def digest(fingerprint: Mapping[str, Any]) -> str:
    """Return the hash of a fingerprint: sha256 of its four parts as compact JSON, keys sorted."""
    return sha256_text(strict.compact({part: fingerprint.get(part) or {} for part in PARTS}))


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return where two fingerprints differ, one line a key: ``data.items_sha256: 1f… → 2a…``."""
    return [f"{found.key}: {_short(found.one)} → {_short(found.other)}" for found in compared(one, other)]


@dataclass(frozen=True, slots=True)
class Difference:
    """A key on which two fingerprints differ, ``data.items_sha256``, with both values; None is absent."""

    key: str
    one: Any
    other: Any


def compared(
    one: Mapping[str, Any], other: Mapping[str, Any], parts: Sequence[str] = PARTS
) -> list[Difference]:
    """Return where two fingerprints differ, key by key.

    Args:
        one: a fingerprint.
        other: another.
        parts: the parts to compare; those that make the hash by default.
    """
    made: list[Difference] = []
    for part in parts:
        _compare(part, one.get(part), other.get(part), made)
    return made


def harness() -> dict[str, Any]:
    """Return evh's own identity: its version, and where it runs from a checkout the commit.

    ``dirty`` tells whether that checkout's code differs from its commit.
    """
    ref = build()
    return {
        "name": "evh",
        "version": __version__,
        "commit": ref["ref"] if ref["source"] == "checkout" else None,
        "dirty": ref["dirty"],
    }


def host() -> dict[str, str]:
    """Return the machine by kind, never by name: the system, the processor, the Python."""
    return {"system": platform.system(), "machine": platform.machine(), "python": platform.python_version()}


def build() -> dict[str, Any]:
    """Return the build of evh, ``{ref, source, dirty}``: a checkout's commit, or a wheel's version.

    ``dirty`` tells whether the checkout's code differs from its commit; what lies in ``data/`` is no code.
    A checkout that git cannot read counts as dirty, with the version for a ref.
    """
    return dict(_build(Path(__file__).resolve().parents[2]))


@functools.cache
def _build(root: Path) -> Mapping[str, Any]:
    if not ((root / ".git").exists() and (root / "pyproject.toml").is_file()):
        return {"ref": __version__, "source": "wheel", "dirty": False}
    commit = _git(root, "rev-parse", "HEAD")
    changed = _git(root, "status", "--porcelain", "--", "evh", "pyproject.toml")
    if not commit or changed is None:
        return {"ref": __version__, "source": "checkout", "dirty": True}
    return {"ref": commit, "source": "checkout", "dirty": bool(changed)}


def _git(root: Path, *words: str) -> str | None:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *words],
            capture_output=True,
            env=environ,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None


def _compare(place: str, one: object, other: object, made: list[Difference]) -> None:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            _compare(f"{place}.{key}", one.get(key), other.get(key), made)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            _compare(f"{place}[{at}]", left, right, made)
    elif one != other:
        made.append(Difference(place, one, other))


def _short(value: object) -> str:
    text = "nothing" if value is None else value if isinstance(value, str) else strict.compact(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
