"""The shelf of configs: found by their id, written once, read back as they were written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evh.errors import Refusal
from evh.project import configs
from evh.project.find import Project
from evh.records import config as record
from evh.records.config import Config
from evh.store import strict

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def write(project: Project, name: str, text: str) -> None:
    """Write a config file as a person would."""
    folder = project.data / "configs"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")


def test_a_config_is_found_by_the_id_it_names(project: Project) -> None:
    """Under its own name, else in the file that says so: a foreign file's name need not be an id."""
    write(project, "my config (v2).yaml", "config_id: mine\nparams: {provider: martian}\n")
    write(project, "plain.yaml", "params: {provider: echo}\n")
    assert configs.read(project, "mine").provider == "martian"
    assert configs.read(project, "plain").config_id == "plain"
    assert configs.exists(project, "mine")
    assert not configs.exists(project, "other")


def test_a_broken_config_does_not_hide_the_others(project: Project) -> None:
    """It is a problem of its own, told where problems are asked for."""
    write(project, "broken.yaml", "config_id: [\n")
    write(project, "fine.yaml", "config_id: fine\n")
    problems: list[Refusal] = []
    assert [one.config_id for one in configs.read_all(project, problems)] == ["fine"]
    assert len(problems) == 1
    assert configs.read(project, "fine").config_id == "fine"


def test_words_stay_words(project: Project) -> None:
    """`no`, a date and a version stay the text that was typed."""
    write(project, "c.yaml", "config_id: c\nparams: {a: no, b: 2024-01-01, c: 1e3, d: 1.5, e: true}\n")
    assert configs.read(project, "c").params == {
        "a": "no",
        "b": "2024-01-01",
        "c": "1e3",
        "d": 1.5,
        "e": True,
    }


def test_a_config_is_written_once(project: Project) -> None:
    """A second one of the same id is refused, also when the first lies under another file name."""
    configs.write_new(project, Config("c"), comment="x")
    write(project, "other file.yaml", "config_id: d\n")
    for name in ("c", "d"):
        with pytest.raises(Refusal) as told:
            configs.write_new(project, Config(name), comment="x")
        assert told.value.code == "existing-config"


KEYS = TEXT | st.sampled_from(["true", "null", "no", "1", "1e3", "2024-01-01", "~", "a_b", "\x85", "\u2028"])


@given(params=st.dictionaries(KEYS, VALUES | KEYS, max_size=4), comment=TEXT)
def test_what_is_written_is_read_back_equal(params: dict[str, object], comment: str) -> None:
    """Any settings, with any text in keys, values and the comment, survive the YAML."""
    config = Config("c", dataset_id="d", adapter="a.py", params=params, fitted_on=("x", "y"))
    text = configs.dump_yaml(record.dump(config), comment)
    assert record.parse(strict.parse_yaml(text.encode(), "c"), "c") == config


def test_a_file_is_found_beside_the_config_then_in_the_project(project: Project) -> None:
    """Relative to the config, then to the project; one that leads outside is refused."""
    write(project, "c.yaml", "config_id: c\n")
    write(project, "p.txt", "beside")
    config = configs.read(project, "c")
    assert configs.resolve(project, config, "p.txt") == project.data / "configs" / "p.txt"
    assert configs.resolve(project, config, "evh.toml") == project.root / "evh.toml"
    assert configs.resolve(project, config, "nowhere.txt") is None
    (project.root.parent / "outside.txt").write_text("x", "utf-8")
    with pytest.raises(Refusal) as told:
        configs.resolve(project, config, "../../../outside.txt")
    assert told.value.code == "outside"
