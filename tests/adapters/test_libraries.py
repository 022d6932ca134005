"""Which libraries an adapter imports is read off its files."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from evh.adapters import loader
from evh.adapters.libraries import libraries_of
from evh.project.find import Project


def test_the_libraries_are_those_that_the_files_import_wherever_they_do(tmp_path: Path) -> None:
    """At the top, inside a function, from a sibling; by the library's name where the module's is another."""
    (tmp_path / "a.py").write_text("import json, sibling\nimport numpy as np\nfrom . import sibling\n")
    (tmp_path / "sibling.py").write_text(
        "def f():\n    from markdown_it.token import Token\n    import yaml\n"
    )
    found = libraries_of([tmp_path / "a.py", tmp_path / "sibling.py"])
    assert found == {
        "PyYAML": version("PyYAML"),
        "markdown-it-py": version("markdown-it-py"),
        "numpy": version("numpy"),
    }


def test_what_is_no_library_is_none(tmp_path: Path) -> None:
    """The standard library, evh, a name that nobody installed, a broken file and an empty list."""
    (tmp_path / "a.py").write_text(
        "import os.path\nfrom evh.errors import Refusal\nimport not_installed_at_all\n"
    )
    (tmp_path / "b.py").write_text("def (:\n")
    assert libraries_of([tmp_path / "a.py", tmp_path / "b.py"]) == {}
    assert libraries_of([]) == {}


def test_an_adapters_instrument_names_them_and_one_without_any_says_nothing(project: Project) -> None:
    """They stand beside the adapter's hash, where two runs are compared."""
    folder = project.data / "adapters"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("import numpy\n")
    (folder / "b.py").write_text("import json\n")
    assert loader.load(project, "data/adapters/a.py").instrument["libraries"] == {"numpy": version("numpy")}
    assert "libraries" not in loader.load(project, "data/adapters/b.py").instrument
    assert "libraries" not in loader.load(project, "default").instrument
