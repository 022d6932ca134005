"""A new project is whole or absent, and nothing of the user's is replaced."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

import evh
from evh.acts import init as act
from evh.errors import Refusal
from evh.project.find import Project


def why(root: Path, code: str, *, name: str | None = "p", sample: str | None = None) -> list[str]:
    """Give the reasons of what must be refused with ``code``."""
    before = sorted(root.rglob("*")) if root.exists() else None
    with pytest.raises(Refusal) as caught:
        act.plan(root, name=name, sample=sample)
    assert caught.value.code == code
    assert (sorted(root.rglob("*")) if root.exists() else None) == before
    return list(caught.value.why)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a small sample, in place of this one with its thousands of files."""
    root = tmp_path / "checkout"
    for name, text in {
        "pyproject.toml": 'name = "evh"\n',
        "evh.toml": '[project]\nname = "Sample"\nvisibility = "public"\n\n[catalog]\ntitle = "T"\n',
        "data/.gitattributes": "* -text\n",
        "data/adapters/ours.py": "x = 1\r\n",
        "data/labels/d/s/a%2Fb.txt": "no line end",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    monkeypatch.setattr(evh, "__file__", str(root / "evh" / "__init__.py"))
    return root


def test_a_new_project_opens(tmp_path: Path) -> None:
    """The folder is made; its settings name it; git leaves the bytes of data alone."""
    root = tmp_path / "deep" / "new"
    act.commit(act.plan(root, name='say "hé"\\n'))
    found = Project.find(root / "data")
    assert found.root == root
    assert found.name == 'say "hé"\\n'
    assert (root / "data" / ".gitattributes").read_bytes() == b"* -text\n"
    assert sorted(path.name for path in (root / "data").iterdir()) == [
        ".gitattributes",
        "adapters",
        "configs",
        "goals",
        "guidelines",
        "rules",
    ]
    assert (root / ".gitignore").read_text().split("\n") == [
        ".cache",
        ".build",
        "*.key.json",
        "scrub-map.jsonl",
        "data/.locks",
        "",
    ]
    assert (root / "AGENTS.md").read_text().startswith("# Working in this folder\n")


def test_gitignore_only_grows(tmp_path: Path) -> None:
    """Lines that stand there, with slashes too, are not written again; a cut last line is ended."""
    (tmp_path / ".gitignore").write_bytes(b"/.cache/\n*.pyc\nscrub-map.jsonl")
    act.commit(act.plan(tmp_path, name="p"))
    assert (tmp_path / ".gitignore").read_bytes() == (
        b"/.cache/\n*.pyc\nscrub-map.jsonl\n.build\n*.key.json\ndata/.locks\n"
    )


def test_an_agents_file_of_the_user_stays(tmp_path: Path) -> None:
    """It is not replaced, and the plan says so."""
    (tmp_path / "AGENTS.md").write_text("mine")
    plan = act.plan(tmp_path, name="p")
    act.commit(plan)
    assert plan.kept == ("AGENTS.md",)
    assert (tmp_path / "AGENTS.md").read_text() == "mine"


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_a_folder_that_has_data_is_refused(kind: str, tmp_path: Path) -> None:
    """Even an empty data/, a file of that name, or a link to nowhere."""
    data = tmp_path / "data"
    if kind == "folder":
        data.mkdir()
    elif kind == "file":
        data.touch()
    else:
        data.symlink_to("nowhere")
    why(tmp_path, "existing-project")


def test_settings_of_the_user_are_not_replaced(tmp_path: Path) -> None:
    """An evh.toml that says something else is refused, and stays."""
    (tmp_path / "evh.toml").write_text("[project]\nname = 'other'\n")
    assert "evh.toml" in why(tmp_path, "existing-project")[0]


def test_a_project_has_a_name(tmp_path: Path) -> None:
    """None, a blank one, one with a control character are refused; so is a file as a folder."""
    why(tmp_path / "n", "no-name", name=None)
    for name in ("", "  ", "a\nb", "a\x1b[0m", "x" * 201):
        why(tmp_path / "n", "bad-name", name=name)
    (tmp_path / "file").touch()
    why(tmp_path / "file", "existing-project")
    assert why(tmp_path / "n", "no-such-sample", sample="triag") == ["there is triage"]


def tree(root: Path) -> dict[str, bytes]:
    """Give every file below a folder with its bytes."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def test_a_sample_is_copied_byte_for_byte(checkout: Path, tmp_path: Path) -> None:
    """Every file of the sample's data and its settings; line ends and encoded names as they are."""
    act.commit(act.plan(tmp_path / "new", sample="triage"))
    assert tree(tmp_path / "new" / "data") == tree(checkout / "data")
    assert (tmp_path / "new" / "evh.toml").read_bytes() == (checkout / "evh.toml").read_bytes()


@pytest.mark.slow
def test_the_real_sample_is_copied_whole(tmp_path: Path) -> None:
    """The sample that ships: every file of the checkout's data but locks and leftovers is there."""
    checkout = Path(__file__).resolve().parents[2]
    act.commit(act.plan(tmp_path / "new", sample="triage"))
    made = tree(tmp_path / "new" / "data")
    names = {
        path.relative_to(checkout / "data").as_posix()
        for path in (checkout / "data").rglob("*")
        if path.is_file() and not {".locks", "__pycache__"} & set(path.parts) and "/.tmp-" not in str(path)
    }
    assert set(made) == names | {".gitattributes"}
    assert made["adapters/cve.py"] == (checkout / "data" / "adapters" / "cve.py").read_bytes()


def test_a_sample_under_another_name_keeps_its_other_settings(checkout: Path, tmp_path: Path) -> None:
    """Only the project's name is another."""
    act.commit(act.plan(tmp_path / "new", sample="triage", name="mine \\1"))
    assert tomllib.loads((tmp_path / "new" / "evh.toml").read_text()) == {
        "project": {"name": "mine \\1", "visibility": "public"},
        "catalog": {"title": "T"},
    }


def test_an_interrupted_copy_leaves_no_data_and_a_second_try_works(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped when everything is copied but nothing is flushed: there is no data/, and no litter."""

    def stop() -> None:
        raise KeyboardInterrupt

    root = tmp_path / "new"
    with monkeypatch.context() as patched:
        patched.setattr(os, "sync", stop)
        with pytest.raises(KeyboardInterrupt):
            act.commit(act.plan(root, sample="triage"))
    assert sorted(path.name for path in root.iterdir()) == [".gitignore", "AGENTS.md", "evh.toml"]
    act.commit(act.plan(root, sample="triage"))
    assert tree(root / "data") == tree(checkout / "data")
