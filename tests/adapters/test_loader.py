"""Loading an adapter: where it is looked for, what identifies it, and what a broken one gives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evh.adapters import loader
from evh.errors import Refusal
from evh.project.find import Project


def write(project: Project, name: str, text: str) -> Path:
    """Write a file under data/ and return its path."""
    path = project.data / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def refused(project: Project, name: str) -> Refusal:
    """Load an adapter that must be refused."""
    with pytest.raises(Refusal) as told:
        loader.load(project, name, beside=project.data / "configs")
    return told.value


def test_an_empty_name_is_the_projects_adapter_else_the_bundled_one(project: Project) -> None:
    """evh.toml names the project's; without it the default stands in."""
    assert loader.load(project, "").name == "default"
    write(project, "a.py", "PRIMARY_METRIC = 'mine'\n")
    (project.root / "evh.toml").write_text('[project]\nname = "t"\nadapter = "data/a.py"\n', "utf-8")
    made = loader.load(Project.find(home=project.root), "")
    assert (made.name, made.primary_metric) == ("data/a.py", "mine")


def test_a_path_is_relative_to_the_config_then_to_the_project(project: Project) -> None:
    """The same file gets the same name however it is named, whether the configs' folder is there or not."""
    write(project, "adapters/a.py", "")
    beside = project.data / "configs"
    names = {
        loader.load(project, name, beside=beside).name for name in ("../adapters/a.py", "data/adapters/a.py")
    }
    assert names == {"data/adapters/a.py"}


def test_its_identity_is_its_files_and_those_it_imports(project: Project) -> None:
    """A change in an imported sibling changes the identity; one in a file that is not imported does not."""
    write(project, "adapters/a.py", "import helper_of_a\nPRIMARY_METRIC = helper_of_a.NAME\n")
    write(project, "adapters/helper_of_a.py", "NAME = 'one'\n")
    write(project, "adapters/unrelated.py", "")
    first = loader.load(project, "data/adapters/a.py")
    assert sorted(first.files) == ["data/adapters/a.py", "data/adapters/helper_of_a.py"]
    write(project, "adapters/unrelated.py", "x = 1\n")
    assert loader.load(project, "data/adapters/a.py") is first
    write(project, "adapters/helper_of_a.py", "NAME = 'two'\n")
    second = loader.load(project, "data/adapters/a.py")
    assert second.primary_metric == "two"
    assert second.identity != first.identity


def test_two_projects_helpers_never_meet(project: Project, tmp_path: Path) -> None:
    """Siblings of one name in two folders stay apart; nothing stays in sys.modules or on the path."""
    for folder, name in (("one", "1"), ("two", "2")):
        write(project, f"{folder}/a.py", "import shared_name\nPRIMARY_METRIC = shared_name.NAME\n")
        write(project, f"{folder}/shared_name.py", f"NAME = '{name}'\n")
    path = list(sys.path)
    assert [loader.load(project, f"data/{one}/a.py").primary_metric for one in ("one", "two")] == ["1", "2"]
    assert "shared_name" not in sys.modules
    assert sys.path == path
    assert not list(project.data.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1\nraise ValueError('no')\n", "data/adapters/a.py:2: ValueError: no"),
        ("def f(:\n", "data/adapters/a.py:1: invalid syntax"),
        (
            "import no_such_module_anywhere\n",
            "ModuleNotFoundError: No module named 'no_such_module_anywhere'",
        ),
        ("import sys\nsys.exit(4)\n", "SystemExit: 4"),
    ],
)
def test_one_that_fails_on_import_is_refused_with_its_line(project: Project, text: str, reason: str) -> None:
    """The file, the line and the error; never a traceback, and never an absolute path."""
    write(project, "adapters/a.py", text)
    refusal = refused(project, "data/adapters/a.py")
    assert refusal.code == "adapter-failed"
    assert reason in refusal.why[0]
    assert str(project.root) not in refusal.why[0]


def test_one_that_is_not_there_is_refused(project: Project) -> None:
    """With every place where it was looked for; a word that is no bundled adapter too."""
    assert "data/adapters/gone.py: no such file" in refused(project, "../adapters/gone.py").why
    assert "classification, default" in refused(project, "clasification").why[0]


def test_one_outside_the_project_is_never_run(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """By a path that climbs out or by a link: the file is not imported."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a.py").write_text(f"open({str(outside / 'ran')!r}, 'w').close()\n", "utf-8")
    (project.data / "adapters").mkdir()
    (project.data / "adapters" / "link.py").symlink_to(outside / "a.py")
    for name in (str(outside / "a.py"), "data/adapters/link.py"):
        assert refused(project, name).code == "outside"
    assert not (outside / "ran").exists()


def test_one_that_raises_what_is_no_exception_is_refused(project: Project) -> None:
    """A BaseException of its own, on import, with its line."""
    write(project, "a.py", "class Own(BaseException):\n    pass\n\nraise Own('odd')\n")
    told = refused(project, "data/a.py")
    assert (told.code, told.why) == ("adapter-failed", ("data/a.py:4: Own: odd",))


def test_a_name_without_its_ending_is_told_which_file_may_be_meant(project: Project) -> None:
    """``triage`` for ``adapters/triage.py``: the refusal writes it as a config has to."""
    for name in ("a_first", "triage"):
        write(project, f"adapters/{name}.py", "PRIMARY_METRIC = 'mine'\n")
    assert "as in adapters/triage.py nor one of classification" in refused(project, "triage").why[0]
    assert "as in adapters/a_first.py nor" in refused(project, "other").why[0]
    assert (
        loader.load(project, "adapters/triage.py", beside=project.data / "configs").primary_metric == "mine"
    )
