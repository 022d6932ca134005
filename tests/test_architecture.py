"""The rooms stand in a line, and what only one room may do is done nowhere else.

Each rule of `rooms.py` is shown to be able to fail on a small bad tree, then held against the project itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rooms import ROOMS, RULES, Tree, read_tree, room_of

ROOT = Path(__file__).resolve().parents[1]

# rule, a file, its text, and words of the finding that it must give
BAD = [
    ("strays", "evh/helpers.py", "", "evh/helpers.py: in no known room"),
    ("strays", "evh/guide/pages.py", "", "in no known room"),
    ("right", "evh/store/a.py", "from evh.acts import run", "imports evh.acts, which is to its right"),
    ("right", "evh/store/a.py", "def f():\n    import evh.records.item", "evh/store/a.py:2"),
    ("right", "evh/records/a.py", "from ..cli import main", "imports evh.cli"),
    ("right", "evh/acts/a.py", "import evh_build.site", "imports evh_build.site"),
    (
        "right",
        "evh/acts/a.py",
        "import importlib\nimportlib.import_module('evh.cli.main')",
        "evh/acts/a.py:2",
    ),
    (
        "right",
        "evh/records/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from evh.acts import run",
        "evh/records/a.py:3",
    ),
    ("right", "build/evh_build/a.py", "from evh.cli import main", "build/evh_build/a.py:1"),
    ("right", "evh/__init__.py", "from evh.store import ok", "evh/__init__.py:1"),
    ("cycles", "evh/store/a.py", "def f():\n    from evh.store import b", "evh.store.a → evh.store.b"),
    ("printing", "evh/acts/a.py", "print('x')", "calls print"),
    ("printing", "build/evh_build/a.py", "import click\nclick.echo('x')", "imports click"),
    ("printing", "evh/store/a.py", "import sys\nsys.stderr.write('x')", "calls sys.stderr.write"),
    ("printing", "evh/api.py", "def f():\n    from rich.console import Console", "imports rich.console"),
    ("refusals", "evh/acts/a.py", "try:\n    pass\nexcept Refusal:\n    pass", "evh/acts/a.py:3"),
    ("refusals", "evh/api.py", "try:\n    pass\nexcept (OSError, errors.Refusal):\n    pass", "evh/api.py:3"),
    ("refusals", "evh/acts/a.py", "with contextlib.suppress(Refusal):\n    pass", "catches Refusal"),
    ("writing", "evh/project/a.py", "open('x', 'w')", "open('x', 'w')"),
    ("writing", "evh/project/a.py", "open('x', mode='ab')", "writes outside"),
    ("writing", "evh/project/a.py", "open('x', mode)", "writes outside"),
    ("writing", "evh/project/a.py", "p.open('r+b')", "writes outside"),
    ("writing", "evh/project/a.py", "gzip.open('x', 'wt')", "writes outside"),
    ("writing", "evh/project/a.py", "os.open('x', os.O_RDONLY | os.O_CREAT)", "writes outside"),
    ("writing", "evh/project/a.py", "os.open('x', flags)", "writes outside"),
    ("writing", "evh/project/a.py", "os.fdopen(3, 'wb')", "writes outside"),
    ("writing", "evh/store/text.py", "p.write_text('x')", "writes outside"),
    ("writing", "evh/acts/a.py", "p.mkdir(parents=True)", "writes outside"),
    ("writing", "evh/acts/a.py", "p.replace(q)", "writes outside"),
    ("writing", "evh/acts/a.py", "os.replace('a', 'b')", "writes outside"),
    ("writing", "evh/acts/a.py", "tempfile.mkdtemp()", "writes outside"),
    ("writing", "build/evh_build/a.py", "shutil.copytree('a', 'b')", "writes outside"),
    ("writing", "build/evh_build/a.py", "from shutil import rmtree\nrmtree('a')", "build/evh_build/a.py:2"),
    ("heavy", "evh/measure/a.py", "import numpy as np", "imports numpy at module level"),
    ("heavy", "evh/store/a.py", "try:\n    from yaml import load\nexcept ImportError:\n    pass", "yaml"),
    ("heavy", "evh/cli/a.py", "class A:\n    import rich.table", "imports rich.table"),
    (
        "heavy",
        "evh/acts/a.py",
        "from evh.store import strict_yaml",
        "imports evh.store.strict_yaml at module",
    ),
    ("long", "evh/acts/a.py", "x = 1\n" * 501, "501 lines, over 500"),
]

GOOD = {
    "evh/__init__.py": "def __getattr__(name):\n    from evh import api\n    return getattr(api, name)\n",
    "evh/__main__.py": "from evh.cli.main import main\nmain()\n",
    "evh/errors.py": "class Refusal(Exception):\n    pass\n",
    "evh/store/__init__.py": "",
    "evh/store/atomic.py": "import os\nos.replace('a', 'b')\nopen('a', 'w')\n",
    "evh/store/b.py": "from evh.store import a\n",
    "evh/store/ok.py": (
        "import os\nfrom evh.errors import Refusal\nopen('a')\nopen('a', 'rb')\np.open()\n"
        "os.open('a', os.O_RDONLY)\nos.open(os.devnull, os.O_WRONLY)\n"
        "try:\n    pass\nexcept Refusal:\n    raise\n"
        "'a'.replace('a', 'b')\ndataclasses.replace(x)\nwhen.replace(tzinfo=None)\nraise Refusal\n"
    ),
    "evh/store/strict_yaml.py": "import yaml\n",
    "evh/store/strict.py": "def f():\n    from evh.store import strict_yaml\n    return strict_yaml\n",
    "evh/records/__init__.py": "",
    "evh/measure/fast.py": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\n"
        "def f():\n    import numpy\n    return numpy\n"
    ),
    "evh/acts/__init__.py": "from evh.store import ok\nfrom evh import __version__\n",
    "evh/api.py": "from evh import acts\n",
    "evh/cli/__init__.py": "",
    "evh/cli/main.py": (
        "import click\nfrom evh import api\nimport evh_build\n"
        "def main():\n    try:\n        click.echo('x')\n    except Refusal:\n        print('x')\n"
    ),
    "build/evh_build/__init__.py": "import jinja2\nfrom evh.store import atomic\n",
}


def _lay(root: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_tree(root)


@pytest.mark.parametrize("rule", RULES)
def test_the_project_keeps_the_rule(rule: str) -> None:
    """No module of the project breaks the rule."""
    assert RULES[rule](read_tree(ROOT)) == []


@pytest.mark.parametrize("rule", RULES)
def test_a_tree_that_keeps_all_rules_is_let_through(rule: str, tmp_path: Path) -> None:
    """What each room may do gives no finding, so that a rule's findings mean something."""
    assert RULES[rule](_lay(tmp_path, GOOD)) == []


@pytest.mark.parametrize(("rule", "file", "text", "words"), BAD)
def test_a_rule_finds_a_breach(rule: str, file: str, text: str, words: str, tmp_path: Path) -> None:
    """One bad file in a good tree is found, and the finding says where and what."""
    findings = RULES[rule](_lay(tmp_path, {**GOOD, file: text}))
    assert any(words in finding for finding in findings), findings


def test_every_room_is_there() -> None:
    """The rules are held against the real rooms: none of those that the first form needs is empty."""
    rooms = {room_of(name) for name in read_tree(ROOT)}
    wanted = set(ROOMS) - {"evh.llm", "evh.api"}
    assert wanted <= rooms
