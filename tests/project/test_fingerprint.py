"""The fingerprint: what moves its hash, what does not, and the build of evh."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from evh import __version__
from evh.project import fingerprint


def made(**parts: dict[str, Any]) -> dict[str, Any]:
    """Return a fingerprint of four small parts, some of them replaced."""
    whole: dict[str, dict[str, Any]] = {
        "arm": {"config_id": "c"},
        "data": {"dataset": "d", "items_sha256": "1"},
        "instrument": {"adapter": "a"},
        "system_under_test": {"provider": "echo", "params": {"temperature": 0}},
    }
    return fingerprint.make(**{**whole, **parts})


@pytest.mark.parametrize("part", fingerprint.PARTS)
def test_each_part_moves_the_hash(part: str) -> None:
    """Another arm, other data, another scorer or another system: another hash."""
    assert made(**{part: {"x": 1}})["hash"] != made()["hash"]


def test_neither_the_host_nor_the_order_of_keys_moves_it() -> None:
    """The same parts give the same hash on another machine, in any order."""
    one = made(data={"dataset": "d", "items_sha256": "1"})
    other = made(data={"items_sha256": "1", "dataset": "d"})
    other["host"] = {"system": "elsewhere"}
    assert one["hash"] == other["hash"] == fingerprint.digest(other)


def test_the_host_has_no_name() -> None:
    """The system, the processor and the Python: no host, no user, no path."""
    assert sorted(fingerprint.host()) == ["machine", "python", "system"]
    assert not any("/" in value for value in fingerprint.host().values())


def test_differences_name_each_key() -> None:
    """One line a key that differs, with both values; the host is not told."""
    other = made(system_under_test={"provider": "echo", "params": {"temperature": 1}, "model": "m"})
    assert fingerprint.differences(made(), other) == [
        "system_under_test.model: nothing → m",
        "system_under_test.params.temperature: 0 → 1",
    ]
    assert fingerprint.differences(made(), made()) == []


def git(root: Path, *words: str) -> str:
    """Run git in a folder."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(
        ["git", "-C", str(root), *identity, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_the_build_is_the_checkouts_commit(tmp_path: Path) -> None:
    """A clean checkout is its commit; a change in the code makes it dirty, one in data/ does not."""
    (tmp_path / "evh").mkdir()
    (tmp_path / "pyproject.toml").write_text("[project]\n", "utf-8")
    (tmp_path / "evh" / "a.py").write_text("", "utf-8")
    git(tmp_path, "init", "-q")
    build = fingerprint._build.__wrapped__
    assert build(tmp_path) == {"ref": __version__, "source": "checkout", "dirty": True}  # no commit yet
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    commit = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "made").write_text("", "utf-8")
    assert build(tmp_path) == {"ref": commit, "source": "checkout", "dirty": False}
    (tmp_path / "evh" / "b.py").write_text("", "utf-8")
    assert build(tmp_path) == {"ref": commit, "source": "checkout", "dirty": True}


def test_an_installed_evh_is_its_version(tmp_path: Path) -> None:
    """Without a repository around it, the build is the released version."""
    assert fingerprint._build.__wrapped__(tmp_path) == {"ref": __version__, "source": "wheel", "dirty": False}


def test_gits_own_variables_do_not_lead_it_astray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIT_DIR of a hook that calls evh points at another repository: it is not followed."""
    (tmp_path / "pyproject.toml").write_text("[project]\n", "utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    commit = git(tmp_path, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert fingerprint._build.__wrapped__(tmp_path)["ref"] == commit
