"""What the tests of judging share: a dataset with two arms, a judge's file, and servers that judge."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evh.project import judged, runs
from evh.project.find import Project
from evh.records.run import Run
from evh.store import spreadsheet
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check
from tests.servers import replies
from tests.servers.scripted import Play, Request

ITEMS = tuple(f"i{number:02}" for number in range(12))
PAIRWISE = "kind: pairwise\njudges: [m]\n"
PICK = "kind: pick\njudges: [m]\n"
HEADER = ["item_id", "first", "second", "verdict"]


def arms(project: Project, outputs: Mapping[str, Mapping[str, str | None]]) -> Builder:
    """Write the dataset ``d`` of the items that the arms answer, and a run of each arm."""
    builder = Builder(project)
    ids = list(dict.fromkeys(item_id for one in outputs.values() for item_id in one))
    builder.dataset("d", {item_id: f"question {item_id}" for item_id in ids})
    for name, one in outputs.items():
        builder.run(name, "d", one)
    return builder


def two_arms(project: Project, items: Sequence[str] = ITEMS) -> Builder:
    """Write ``d`` with ``arm_a``, which answers ``good <item>``, and ``arm_b``: ``bad <item>``."""
    return arms(
        project,
        {"arm_a": {one: f"good {one}" for one in items}, "arm_b": {one: f"bad {one}" for one in items}},
    )


def judge_file(project: Project, text: str, scorer: str = "helpful") -> Path:
    """Write a judge's YAML: a rubric of its own where the text has none."""
    path = project.data / "judges" / f"{scorer}.yaml"
    path.parent.mkdir(exist_ok=True)
    rubric = "" if "rubric" in text else "rubric: Which answer is right?\n"
    path.write_text(f"scorer: {scorer}\n{rubric}{text}", encoding="utf-8")
    return path


def model(builder: Builder, base_url: str, name: str = "m", **more: object) -> None:
    """Write the config of a judge's model; a token costs a dollar a million."""
    prices = {"usd_per_mtok_in": 1, "usd_per_mtok_out": 1}
    builder.config(name, params={"provider": "openai", "model": name, "base_url": base_url, **prices, **more})


def prompt_of(request: Request) -> str:
    """Return what a judge was asked."""
    return str(request.body["messages"][-1]["content"])


def answers_of(request: Request) -> list[str]:
    """Return the outputs that a judge was shown, in their order: the text between the marked lines."""
    found = re.findall(
        r"^([0-9a-f]{16}) ANSWER ?[A-Z]? ?BEGINS\n(.*?)\n\1 ANSWER ?[A-Z]? ?ENDS$",
        prompt_of(request),
        re.MULTILINE | re.DOTALL,
    )
    return [text for _, text in found]


def says(verdict: object, why: str = "because") -> Play:
    """Play a verdict as JSON."""
    return replies.fine(json.dumps({"why": why, "verdict": verdict}))


def prefers(test: Callable[[str], bool]) -> Callable[[Request], Play]:
    """Play a judge that prefers the answers for which ``test`` holds, and says tie where none or all do."""

    def play(request: Request) -> Play:
        shown = answers_of(request)
        best = ["ABCDEFGHIJKLMNOPQRSTUVWXYZ"[at] for at, text in enumerate(shown) if test(text)]
        return says("tie" if len(best) in (0, len(shown)) else "|".join(best))

    return play


good = prefers(lambda text: text.startswith("good"))


def judge(evh: CommandLine, *more: str, scorer: str = "helpful", code: int = 0) -> Any:
    """Judge the arms of ``d`` and return the JSON."""
    found = evh("judge", "--scorer", scorer, "--dataset-id", "d", *more, "--json")
    assert found.code == code, f"{found.code}\n{found.out}\n{found.err}"
    return check(found.json, "judge")


def scores(project: Project, scorer: str = "helpful") -> dict[str, dict[str, Mapping[str, float]]]:
    """Return arm → item → the scores of a judge's runs."""
    folder = judged.folder(scorer)
    return {
        run.config_id: {row.item_id: row.scores for row in runs.predictions(project, run)}
        for run in runs.read_all(project)
        if run.folder == folder
    }


def judged_run(project: Project, arm: str = "arm_a", scorer: str = "helpful") -> Run:
    """Return an arm's judged run."""
    return next(
        run for run in runs.read_all(project) if run.folder == judged.folder(scorer) and run.config_id == arm
    )


def verdicts(project: Project, rows: list[list[str]], header: list[str] = HEADER) -> Path:
    """Write a file of verdicts."""
    path = project.root / "verdicts.csv"
    path.write_bytes(spreadsheet.write_rows(header, rows))
    return path


def take(evh: CommandLine, path: Path, scorer: str = "helpful") -> Any:
    """Take a file's verdicts on ``d`` and return the JSON; exit 3 says that some question has none."""
    outcome = evh("judge", "--scorer", scorer, "--dataset-id", "d", "--from-file", path, "--json")
    document = check(outcome.json, "judge")
    assert outcome.code == (3 if document["failed"] else 0)
    return document


def picks(
    evh: CommandLine, project: Project, rows: list[tuple[str, str]], *more: str, scorer: str = "best"
) -> None:
    """Take picks (item, arm) by a judge that gave them elsewhere."""
    path = project.root / "picks.csv"
    path.write_text("item_id,verdict\n" + "".join(f"{item},{arm}\n" for item, arm in rows))
    found = evh("judge", "--scorer", scorer, "--dataset-id", "d", "--from-file", path, *more)
    assert found.code in (0, 3), found.err  # 3: a question has no verdict
