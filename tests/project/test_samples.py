"""Where a sample is found: the checkout's own data first, else what was installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project import samples


def lay(root: Path, *names: str) -> None:
    """Lay the files of a project."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text('name = "evh"\n')


def test_in_a_checkout_the_sample_is_its_own_data(tmp_path: Path) -> None:
    """The folder above the package holds data/, evh.toml and a pyproject.toml that names evh."""
    lay(
        tmp_path,
        "evh/__init__.py",
        "pyproject.toml",
        "evh.toml",
        "data/a.txt",
        "evh/_samples/triage/data/old.txt",
    )
    assert samples.find("triage", package=tmp_path / "evh").root == tmp_path


@pytest.mark.parametrize("lacking", ["pyproject.toml", "evh.toml", "data/a.txt"])
def test_installed_the_sample_lies_in_the_package(lacking: str, tmp_path: Path) -> None:
    """Where one of the three is missing, the folder above is somebody else's."""
    names = {"pyproject.toml", "evh.toml", "data/a.txt"} - {lacking}
    lay(tmp_path, *names, "evh/_samples/triage/data/b.txt", "evh/_samples/triage/evh.toml")
    assert samples.find("triage", package=tmp_path / "evh").root == tmp_path / "evh/_samples/triage"


def test_another_projects_checkout_is_not_taken_for_ours(tmp_path: Path) -> None:
    """A pyproject.toml of another name does not count."""
    lay(tmp_path, "evh.toml", "data/a.txt", "evh/_samples/triage/data/b.txt", "evh/_samples/triage/evh.toml")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "theirs"\n')
    assert samples.find("triage", package=tmp_path / "evh").root == tmp_path / "evh/_samples/triage"


def test_locks_leftovers_caches_and_links_are_not_copied(tmp_path: Path) -> None:
    """Only real files are yielded, in the order of their names."""
    lay(tmp_path, "data/b/x.txt", "data/a.txt", "data/.locks/l", "data/.tmp-1/x", "data/b/__pycache__/p.pyc")
    lay(tmp_path, "data/b/.tmp-y", "data/.gitattributes")
    (tmp_path / "data" / "link").symlink_to(tmp_path)
    names = [file.name for file in samples.Sample("triage", tmp_path).files()]
    assert names == [".gitattributes", "a.txt", "b/x.txt"]


def test_a_sample_that_was_not_installed_is_refused(tmp_path: Path) -> None:
    """The refusal names the folder where it should be."""
    with pytest.raises(Refusal) as caught:
        samples.find("triage", package=tmp_path / "evh")
    assert caught.value.code == "no-such-sample"
    assert "_samples/triage" in caught.value.why[0]
