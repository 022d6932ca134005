"""What the guide shows works: its adapter loads, its rules and its config are read, no hook is left out."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest

from evh.acts import evidence_settings, task_scale
from evh.adapters.hooks import HOOKS
from evh.adapters.loader import load
from evh.project import configs, judges
from evh.project.find import Project
from evh.records import goal, rules, settings
from evh.records.settings import Settings
from evh.store import strict

GUIDE = Path(__file__).resolve().parents[2] / "evh" / "guide"


def _block(page: str, language: str) -> str:
    """Give the first code block of a language on a page of the guide."""
    found = re.search(rf"```{language}\n(.*?)```", (GUIDE / page).read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found.group(1)


def test_the_adapter_of_the_guide_defines_every_hook(project: Project) -> None:
    """It loads as it stands there, and shows each hook that an adapter may have."""
    path = project.data / "adapters" / "tickets.py"
    path.parent.mkdir()
    path.write_text(_block("adapters.md", "python"), encoding="utf-8")
    adapter = load(project, "data/adapters/tickets.py")
    assert [hook for hook in HOOKS if not adapter.has(hook)] == []
    record = {"ticket": "t1", "subject": "Lost", "body": "My card.", "reopened_at": "2026-07-02"}
    assert adapter.item(record, "t1") == "Lost\n\nMy card."
    assert [one["kind"] for one in adapter.outcomes(record, "t1")] == ["reopened"]
    assert adapter.score("File\n", '{"accept": ["close", "file"]}', None, "t1") == {
        "correct": 1.0,
        "n_words": 1,
    }


def test_the_rules_of_the_guide_are_rules() -> None:
    """The file is read as label rules, with the names and the label that accepts two answers."""
    made = rules.parse(strict.parse_yaml(_block("label-rules.md", "yaml").encode(), "guide"), "guide")
    assert [(rule.name, rule.label) for rule in made.rules] == [
        ("reopened", ("escalate",)),
        ("quiet", ("close", "answer")),
    ]


def test_the_goal_of_the_guide_is_a_goal() -> None:
    """It is read whole: no key of it is unknown, and none of a goal's is left out."""
    raw = strict.parse_yaml(_block("goals.md", "yaml").encode(), "guide")
    made = goal.parse(raw, "guide")
    assert (made.strategy, made.limits.latency_ms, made.extra) == ("cheapest-contender", 2000, {})
    assert set(raw) == set(goal.KEYS)


def test_the_config_of_the_guide_is_a_config(project: Project) -> None:
    """It is read with the provider and the datasets that it was fitted on."""
    path = project.data / "configs" / "candidate_v2.yaml"
    path.parent.mkdir()
    path.write_text(_block("configs.md", "yaml"), encoding="utf-8")
    config = configs.read(project, "candidate_v2")
    assert (config.provider, config.fitted_on) == ("python", ("june",))


def test_the_judge_of_the_guide_is_a_judge(project: Project) -> None:
    """It is read as a pairwise judge of two models that nobody has validated."""
    path = project.data / "judges" / "helpful.yaml"
    path.parent.mkdir()
    path.write_text(_block("judges.md", "yaml"), encoding="utf-8")
    judge = judges.read(project, "helpful")
    assert (judge.kind, judge.judges, judge.validated_by) == ("pairwise", ("judge_a", "judge_b"), None)


def test_the_guide_lists_every_setting_with_its_default(project: Project) -> None:
    """The block of evh.toml has each setting once, says the default, and is read as it stands."""
    raw = tomllib.loads(_block("project.md", "toml"))
    read = [key for table in ("project", "catalog", "serve", "statistics") for key in raw[table]]
    assert sorted(read) == sorted(one.name for one in fields(Settings) if one.name != "extra")
    assert replace(settings.parse(raw, "evh.toml"), extra={}) == Settings()
    assert sorted(settings.parse(raw, "evh.toml").extra) == ["labeler", "providers", "tasks"]
    quiet = replace(project, settings=replace(project.settings, extra=raw))
    assert task_scale.declared(quiet)["severity"].order == ("low", "high")
    given = evidence_settings.labeler(quiet, evidence_settings.Options(), keyless=True)
    plain = evidence_settings.labeler(project, evidence_settings.Options(), keyless=True)
    assert replace(given, usd_per_mtok_in=None, usd_per_mtok_out=None) == plain
    known = {one.name for one in fields(evidence_settings.Labeler)} - {"key", "constrain", "repeat"}
    assert set(raw["labeler"]) == known | {"api_key_env"}
    assert set(raw["providers"]["house"]) == {"base_url", "api_key_env"}


@pytest.mark.parametrize("page", sorted(path.name for path in GUIDE.glob("*.md")))
def test_the_readme_links_every_page_of_the_guide(page: str) -> None:
    """A page that nothing links is not found."""
    assert f"evh/guide/{page}" in (GUIDE.parents[1] / "README.md").read_text(encoding="utf-8")
