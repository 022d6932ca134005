"""A tree made by another harness, with the shared keys alone, opens unchanged; none of its code runs.

``tree/`` is hand-made: no labels, no captures, no ``.gitattributes``; file names that are not ids, item ids
with slashes, spaces and umlauts under their raw names, providers that evh does not know, an adapter outside
of ``adapters/`` whose import would write a file, a run without times, rows without decisions.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evh.acts.runs import listing
from evh.acts.sheet import build_sheet
from evh.project import configs, datasets
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import tree_bytes
from tests.schema import check

TREE = Path(__file__).parent / "tree"


@pytest.fixture
def foreign(tmp_path: Path) -> Project:
    """A copy of the foreign tree."""
    shutil.copytree(TREE, tmp_path / "foreign")
    return Project.find(home=tmp_path / "foreign")


@pytest.fixture
def door(foreign: Project, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line in the foreign tree."""
    return CommandLine(foreign.root, capsys)


READERS = [
    ("overview",),
    ("overview", "--json"),
    ("runs",),
    ("runs", "--json"),
    ("references",),
    ("references", "--json"),
    ("datasets",),
    ("datasets", "--json"),
    ("dataset-items", "--dataset-id", "tickets"),
    ("captures",),
    ("labels",),
    ("labels", "--dataset-id", "tickets", "--confusion"),
    ("picks",),
    ("inspect", "--sheet", "--dataset-id", "tickets"),
    ("inspect", "--sheet", "--dataset-id", "tickets", "--json"),
    ("inspect", "--sheet", "--dataset-id", "mail"),
    ("inspect", "--dataset-id", "tickets", "--item", "billing/refund"),
    ("inspect", "--dataset-id", "tickets", "--runs", "baseline,v2_large"),
]


@pytest.mark.parametrize("words", READERS, ids=[" ".join(words) for words in READERS])
def test_a_foreign_tree_opens_unchanged(foreign: Project, door: CommandLine, words: tuple[str, ...]) -> None:
    """Every reading command succeeds, writes nothing and runs no code of the tree."""
    before = tree_bytes(foreign.root)
    door.ok(*words)
    assert tree_bytes(foreign.root) == before
    assert not (foreign.data / "ADAPTER_RAN").exists()


def test_validate_says_what_the_tree_lacks(foreign: Project, door: CommandLine) -> None:
    """The rule for git, the promotions, and one text that is not here; file names are only notes."""
    before = tree_bytes(foreign.root)
    shown = door("validate", "--json")
    assert shown.code == 1
    document = check(shown.json, "validate")
    assert [(one["severity"], one["code"], one["file"]) for one in document["findings"]] == [
        ("error", "gitattributes", "data/.gitattributes"),
        ("error", "item-missing", "data/datasets/mail.v1.json"),
        ("warning", "no-promotion", "data/references/gold/tickets_gold/manifest.json"),
        ("warning", "no-promotion", "data/references/silver/tickets_silver/manifest.json"),
    ]
    assert {(one["code"], one["file"]) for one in document["notes"]} == {
        ("file-name", "data/configs/my config (v2).yaml"),
        ("file-name", "data/datasets/mail.v1.json"),
    }
    assert tree_bytes(foreign.root) == before


def test_items_are_found_under_their_raw_names(foreign: Project) -> None:
    """Whatever the path is relative to, each text is the one that its hash names."""
    dataset = datasets.read(foreign, "tickets")
    assert datasets.texts(foreign, dataset) == {
        "t1": b"The invoice is wrong.\n",
        "late fee (2)": b"Why a late fee?\r\n",
        "billing/refund": "Ich möchte mein Geld zurück.".encode(),
        "Überweisung": b"Where is my transfer?",
    }


def test_a_config_is_known_by_its_id_not_its_file(foreign: Project) -> None:
    """The arm in ``my config (v2).yaml`` is v2_large; unknown keys and providers are kept."""
    config = configs.read(foreign, "v2_large")
    assert (config.provider, config.extra["team"], config.params["stop"]) == ("bedrock", "billing", None)


def test_the_sheet_reads_foreign_runs(foreign: Project) -> None:
    """Scores, outputs, errors and references of the tree, counted by hand."""
    sheet = build_sheet(foreign, "tickets", ("v2_large", "baseline"))
    assert sheet.against is not None
    assert (sheet.against.ref, sheet.metric) == ("gold/tickets_gold", "correct")
    rows = {row.item_id: row for row in sheet.rows}
    assert [rows["t1"].cells[0].output, rows["late fee (2)"].cells[0].output] == ["invoice\n", "fee"]
    assert rows["billing/refund"].cells[0].output == "refund"
    assert rows["Überweisung"].cells[0].error == "timeout"
    assert rows["t1"].labels == ("invoice\n", "account")
    # v2_large: 1, 0, 1 against gold; wrong where gold or silver labels an item that it scored 0 on.
    assert {name: row.signals.wrong_by for name, row in rows.items()} == {
        "t1": ("silver/tickets_silver",),
        "late fee (2)": ("gold/tickets_gold", "silver/tickets_silver"),
        "billing/refund": (),
        "Überweisung": (),
    }
    assert not any(row.signals.disagree for row in sheet.rows)  # no decisions are stored
    assert any("no decisions are stored" in note for note in sheet.notes)
    # The baseline names its reference alone and is scored too: it wins "late fee (2)", v2_large two.
    footer = sheet.footer[0]
    assert (footer.n, footer.of, footer.errors, footer.win_rate) == (3, 4, 1, 2 / 3)
    assert dict(footer.figures)[sheet.against] == {"correct": 2 / 3, "n_words": 2.0}


def test_the_tree_in_the_repository_is_as_it_was_made() -> None:
    """No test, and no reader, left anything in it."""
    assert not (TREE / "data" / "ADAPTER_RAN").exists()
    assert not list(TREE.rglob("__pycache__"))
    assert not (TREE / "data" / ".locks").exists()


def test_a_run_of_four_keys_is_listed_with_what_it_says(foreign: Project) -> None:
    """The baseline names no primary metric and no count: its one score and its four rows stand in."""
    line = next(one for one in listing(foreign).lines if one.run.config_id == "baseline")
    assert (line.run.shown_metric, line.value, line.run.n_items) == ("correct", 0.25, 4)
