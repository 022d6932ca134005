"""The Python API: its public names, and that it says what the commands say."""

from __future__ import annotations

import subprocess
import sys

import evh
from evh.api import Project as ApiProject
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder


def test_the_public_names_are_these() -> None:
    """A name is public only when it stands here: taking one away, or adding one, is a decision."""
    assert sorted(evh.__all__) == ["Project", "Refusal", "__version__"]
    methods = sorted(name for name in vars(ApiProject) if not name.startswith("_"))
    assert methods == [
        "captures",
        "datasets",
        "find",
        "item",
        "label_sets",
        "label_texts",
        "labels",
        "name",
        "overview",
        "picks",
        "predictions",
        "references",
        "root",
        "runs",
        "sheet",
    ]


def test_importing_evh_imports_none_of_its_rooms() -> None:
    """``import evh`` costs nothing until a name is used."""
    code = "import sys, evh; print([name for name in sys.modules if name.startswith('evh.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_says_what_the_commands_say(project: Project, evh: CommandLine) -> None:
    """The sheet of the API and of ``inspect --sheet --json`` name the same items."""
    builder = Builder(project)
    builder.dataset("d", {"i1": "one", "i2": "two"})
    builder.labels("d", "ana", {"i1": "y", "i2": "n"})
    api = ApiProject.find(home=evh.root)
    assert [one.ref for one in api.label_sets()] == ["d/ana"]
    assert api.labels("d").n_items == 2
    told = evh.ok("inspect", "--sheet", "--dataset-id", "d", "--json").json
    assert [row.item_id for row in api.sheet("d").rows] == [row["item_id"] for row in told["rows"]]
