"""What the search box finds of the guide: its text, its headings, and the commands."""

from __future__ import annotations

import re

import pytest

from evh.project.find import Project
from evh_build import search
from evh_build.gather import Gathered
from evh_build.source import Source


@pytest.fixture
def lines(project: Project) -> list[list[str]]:
    """The index of an empty project, a line an entry: group, leaf, name, text, hidden words."""
    made = search.index(Source(Gathered(project), max_item_text=1000))
    return [entry.line.split("\t") for entry in made.entries]


@pytest.mark.parametrize("word", ["kappa", "adjudicate", "leaderboard", "production", "interval"])
def test_a_word_of_the_guide_finds_its_section(lines: list[list[str]], word: str) -> None:
    """Words that stand in a section's text, and in no heading, are found with the section."""
    assert any(word in " ".join(line[2:]).split() for line in lines)


@pytest.mark.parametrize("name", ["leaderboard", "label-sheet", "adjudicate", "run", "sheet-import"])
def test_a_command_leads_into_the_guide(lines: list[list[str]], name: str) -> None:
    """Each command that the guide shows is an entry of its own, by its whole name."""
    (found,) = [line for line in lines if line[2] == f"evh {name}"]
    assert found[3].startswith("in the guide: ")


def test_words_of_prose_are_no_commands(lines: list[list[str]]) -> None:
    """Only what evh runs is a command: not what a sentence says that evh knows or reads."""
    names = {line[2].removeprefix("evh ") for line in lines if line[2].startswith("evh ")}
    assert names.isdisjoint({"knows", "reads", "writes", "has", "keeps", "does"})


def test_hidden_words_hold_no_id_and_no_sentence(lines: list[list[str]]) -> None:
    """They are letters alone, each once, in the alphabet's order: no name of a record, no quoted text."""
    hidden = [line[4].split() for line in lines if len(line) > 4]
    assert hidden
    for words in hidden:
        assert words == sorted(set(words))
        assert all(re.fullmatch(r"[^\W\d_]{3,}", word) for word in words)
