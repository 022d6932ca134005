"""`evh run`: every refusal, before a byte is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evh.acts import run as act
from evh.errors import Refusal
from evh.project import configs
from evh.project.find import Project
from tests.acts.running import (
    three_items,
    unchanged,
)
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes


@pytest.fixture
def build(project: Project) -> Builder:
    """The project of `three_items`."""
    return three_items(project)


def test_an_unknown_config_is_refused(build: Builder, evh: CommandLine) -> None:
    """The names that are there are told."""
    build.config("carol", dataset_id="d")
    assert "carol" in unchanged(build, evh, "no-such-config", "run", "--config", "carl")


def test_an_unknown_dataset_is_refused(build: Builder, evh: CommandLine) -> None:
    """So is a config that names no dataset, when none is given."""
    build.config("c")
    unchanged(build, evh, "no-such-dataset", "run", "--config", "c", "--dataset-id", "x")
    unchanged(build, evh, "no-dataset", "run", "--config", "c")


def test_a_missing_adapter_or_prompt_is_refused_with_all_reasons(build: Builder, evh: CommandLine) -> None:
    """A missing adapter and a missing prompt are told at once."""
    params = {"provider": "echo", "prompt_file": "../prompts/p.txt"}
    build.config("c", dataset_id="d", adapter="../adapters/gone.py", params=params)
    out = unchanged(build, evh, "cannot-run", "run", "--config", "c")
    assert "gone.py" in out
    assert "../prompts/p.txt" in out
    build.config("c2", dataset_id="d", adapter="../adapters/gone.py")
    unchanged(build, evh, "no-such-adapter", "run", "--config", "c2")
    build.config("c3", dataset_id="d", params=params)
    unchanged(build, evh, "no-such-prompt", "run", "--config", "c3")


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"provider": "openai", "model": "m"}, "no-base-url"),
        ({"provider": "martian"}, "unknown-provider"),
        ({"model": "m"}, "unknown-provider"),
        ({"provider": "python"}, "no-call-system"),
        ({"provider": "command"}, "bad-command"),
        ({"provider": "command", "command": "no-such-program-here"}, "bad-command"),
        ({"provider": "command", "command": "'open"}, "bad-command"),
        ({"provider": "command", "command": "true", "timeout_s": 0}, "bad-command"),
        ({"provider": "recorded"}, "bad-recorded"),
        ({"provider": "recorded", "capture": "gone"}, "no-such-capture"),
    ],
)
def test_a_provider_that_cannot_run_is_refused(
    build: Builder, evh: CommandLine, params: dict[str, Any], code: str
) -> None:
    """Before anything is written, with what to mend."""
    build.config("c", dataset_id="d", params=params)
    unchanged(build, evh, code, "run", "--config", "c")


def test_a_capture_of_other_items_is_refused(build: Builder, evh: CommandLine) -> None:
    """A recorded arm over a dataset of which nothing was recorded is a mistake, not a run of failures."""
    build.capture("k", [{"record_id": "1", "item": "zz", "output": "x"}])
    build.config("c", dataset_id="d", params={"provider": "recorded", "capture": "k"})
    unchanged(build, evh, "nothing-recorded", "run", "--config", "c")


def test_labels_of_another_dataset_are_refused(build: Builder, evh: CommandLine) -> None:
    """They are promoted first, and the command for it is given."""
    build.dataset("e", {"one": "alpha"})
    build.labels("e", "t", {"one": "alpha"})
    build.config("c", dataset_id="d")
    out = unchanged(build, evh, "other-dataset", "run", "--config", "c", "--labels", "e/t")
    assert "evh reference-promote --dataset-id d --labels e/t" in out
    unchanged(build, evh, "no-such-label-set", "run", "--config", "c", "--labels", "d/nope")


def test_an_edited_label_set_is_refused(build: Builder, evh: CommandLine) -> None:
    """Scoring recomputes the set's digest: a label that was edited in place is found."""
    build.config("c", dataset_id="d")
    (build.project.data / "labels" / "d" / "s" / "one.txt").write_bytes(b"edited")
    unchanged(build, evh, "edited-set", "run", "--config", "c", "--labels", "d/s")


def test_changed_item_bytes_are_refused(build: Builder, evh: CommandLine) -> None:
    """An item whose bytes are not those the dataset recorded is not asked."""
    build.config("c", dataset_id="d")
    (build.project.data / "sources" / "d" / "one.txt").write_bytes(b"edited")
    evh.refused("item-bytes", "run", "--config", "c")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("adaptr: x.py\nparams: {provider: echo}\n", "adaptr: is not known; adapter is"),
        ("params: {provder: echo}\n", "params.provder: is not known; provider is"),
        ("params: {provider: recorded, capure: k}\n", "params.capure: is not known; capture is"),
        ("provider: echo\n", "provider: stands at the top; it belongs under params"),
    ],
)
def test_a_key_that_is_nearly_known_is_refused_by_name(
    build: Builder, evh: CommandLine, text: str, told: str
) -> None:
    """Before anything runs, and only then: the config is still listed."""
    configs.path_of(build.project, "c").parent.mkdir()
    configs.path_of(build.project, "c").write_text(f"config_id: c\ndataset_id: d\n{text}")
    why = evh.refused("unknown-key", "run", "--config", "c").json["refused"]["why"]
    assert f"data/configs/c.yaml: {told}" in why
    assert configs.read(build.project, "c").config_id == "c"


def test_keys_of_the_adapters_own_are_left_alone(build: Builder, evh: CommandLine) -> None:
    """A parameter that no provider reads, and a note: both are the user's."""
    build.config(
        "c", dataset_id="d", params={"provider": "echo", "timeout": 3, "prompts": 2}, extra={"owner": "me"}
    )
    evh.ok("run", "--config", "c")


def test_a_file_that_names_another_config_is_refused(build: Builder, evh: CommandLine) -> None:
    """copy.yaml, copied from c.yaml with its config_id, would run as c."""
    path = build.config("c", dataset_id="d")
    path.with_name("copy.yaml").write_bytes(path.read_bytes())
    refused = evh.refused("other-config", "run", "--config", "copy").json["refused"]
    assert refused["why"] == ["data/configs/copy.yaml: config_id: is 'c', and the file is named 'copy'"]


def test_python_without_an_adapter_says_that_none_is_named(build: Builder, evh: CommandLine) -> None:
    """Neither the config nor the project names one; a bundled one that is named is told by its name."""
    build.config("c", dataset_id="d", params={"provider": "python"})
    refused = evh.refused("no-call-system", "run", "--config", "c").json["refused"]
    assert "neither the config nor evh.toml names one" in refused["why"][0]
    assert refused["next"] == "evh help adapters"
    build.config("e", dataset_id="d", adapter="classification", params={"provider": "python"})
    why = evh.refused("no-call-system", "run", "--config", "e").json["refused"]["why"]
    assert "the bundled adapter 'classification' has none" in why[0]


def test_a_call_system_that_wants_other_arguments_is_told_before_anything_is_asked(
    build: Builder, evh: CommandLine
) -> None:
    """One that wants three: the run does not begin. One that takes more where it likes is none of these."""
    path = build.project.data / "adapters" / "own.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text("def call_system(text, params, config_id):\n    return text\n", "utf-8")
    build.config("c", dataset_id="d", adapter="adapters/own.py", params={"provider": "python"})
    unchanged(build, evh, "no-call-system", "run", "--config", "c")
    why = evh.refused("no-call-system", "run", "--config", "c").json["refused"]["why"]
    assert "call_system(text, params, config_id): missing a required argument: 'config_id'" in why[0]
    path.write_text("def call_system(text, params, more=1, **rest):\n    return text\n", "utf-8")
    evh.ok("run", "--config", "c")


def test_a_missing_adapter_is_told_at_the_places_it_is_written_for(build: Builder, evh: CommandLine) -> None:
    """Beside the config, then the project, as paths in the project."""
    build.config("c", dataset_id="d", adapter="nope.py")
    why = evh.refused("no-such-adapter", "run", "--config", "c").json["refused"]["why"]
    assert why == ["data/configs/nope.py: no such file", "nope.py: no such file"]


@pytest.mark.parametrize("repeats", ["0", "-1", "101", "1000000000", "1.5"])
def test_repeats_are_1_to_100(build: Builder, evh: CommandLine, repeats: str) -> None:
    """In the config: refused with the key; nothing is run."""
    folder = build.project.data / "configs"
    folder.mkdir()
    (folder / "c.yaml").write_text(f"dataset_id: d\nrepeats: {repeats}\nparams:\n  provider: echo\n", "utf-8")
    why = evh.refused("bad-record", "run", "--config", "c").json["refused"]["why"]
    assert why[0].startswith("data/configs/c.yaml: repeats: ")
    assert not (build.project.data / "runs").exists()


def test_repeat_is_1_to_100(build: Builder, evh: CommandLine) -> None:
    """As an option, and where the plan is asked from Python."""
    build.config("c", dataset_id="d")
    assert evh("run", "--config", "c", "--repeat", "101").code == 2
    with pytest.raises(Refusal, match="--repeat 0: it can be 1 to 100"):
        act.plan(build.project, configs.read(build.project, "c"), repeat=0)


def test_a_folder_of_other_things_takes_no_runs(
    build: Builder, evh: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EVAL_RUNS_DIR at somebody's files: refused before a byte is written; runs and an empty folder do."""
    build.config("c", dataset_id="d")
    place = tmp_path / "elsewhere"
    (place / "photos").mkdir(parents=True)
    (place / "photos" / "one.jpg").write_bytes(b"x")
    monkeypatch.setenv("EVAL_RUNS_DIR", str(place))
    before = tree_bytes(tmp_path)
    why = evh.refused("not-a-runs-folder", "run", "--config", "c").json["refused"]["why"]
    assert why == [f"{place / 'photos'}: is no folder of a run"]
    assert tree_bytes(tmp_path) == before
    (place / "photos" / "one.jpg").unlink()
    evh.ok("run", "--config", "c")
    evh.ok("run", "--config", "c")
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("EVAL_RUNS_DIR", str(tmp_path / "file"))
    evh.refused("not-a-runs-folder", "run", "--config", "c")
