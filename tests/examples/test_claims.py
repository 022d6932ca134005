"""The example of claims says what its raw files say: how the claims of seven models fare by people's word.

Everything expected is counted here from `raw/` in plain Python, or by hand.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evh.api import Project
from tests.conftest import CommandLine
from tests.examples.built import EXAMPLES, built, make

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("examples")]

RAW = EXAMPLES / "claims" / "raw"
MODELS = ("alpaca_7B", "chatgpt", "claude2", "davinci001", "falcon_40B_instruct", "gpt4", "llama2_70b_chat")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, as make.sh makes it."""
    return built("claims", tmp_path_factory.getbasetemp())


@pytest.fixture
def project(root: Path) -> Project:
    """The project, read."""
    return Project.find(home=root)


def answers(model: str) -> list[dict[str, Any]]:
    """A model's 100 answers, read without evh."""
    lines = (RAW / f"{model}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def test_the_files_are_the_source_cut_by_model() -> None:
    """Put together in the order of the models they are the source's file, byte for byte."""
    digest = hashlib.sha256(b"".join((RAW / f"{model}.jsonl").read_bytes() for model in MODELS)).hexdigest()
    assert digest == "af265a30767ee3eb0e9e1829c53a3e564cbda1c97c893a93eb16071b4ca8374d"


def test_the_commands_make_the_same_project_again(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second make.sh gives the same files, but for what a run measures."""
    again = make("claims", tmp_path, again=True)
    told = CommandLine(root, capsys).ok("validate", "--same-as", again, "--json").json
    assert told["differences"] == []
    assert told["n_files"] > 2_000


@pytest.mark.parametrize("model", MODELS)
def test_an_arm_fares_as_its_claims_do(model: str, project: Project) -> None:
    """Means of an answer's shares over the answers that make a claim, and the shares of all claims."""
    verdicts = [[verdict for _, verdict in one["claims"]] for one in answers(model)]
    made = [said for said in verdicts if said]
    run = next(one for one in project.runs() if (one.config_id, one.labels) == (model, "answers/people"))
    total = sum(map(len, made))
    expected = {
        "supported": sum(said.count("Entailment") / len(said) for said in made) / len(made),
        "contradicted": sum(said.count("Contradiction") / len(said) for said in made) / len(made),
        "correct": sum(set(said) == {"Entailment"} for said in verdicts) / 100,
        "answered": len(made) / 100,
        "claims_per_answer": total / 100,
        "claims_supported": sum(said.count("Entailment") for said in made) / total,
        "claims_contradicted": sum(said.count("Contradiction") for said in made) / total,
    }
    assert run.scores == pytest.approx(expected, abs=1e-12)
    assert (run.n_items, run.n_errors) == (100, 0)


def test_gpt4_and_claude2_by_hand(project: Project) -> None:
    """gpt4: 205 of 300 claims supported, 26 contradicted. claude2: 253 of 759, and 24."""
    runs = {one.config_id: one.scores for one in project.runs() if one.labels == "answers/people"}
    assert runs["gpt4"]["claims_supported"] == pytest.approx(205 / 300)
    assert runs["gpt4"]["claims_contradicted"] == pytest.approx(26 / 300)
    assert runs["claude2"]["claims_supported"] == pytest.approx(253 / 759)
    assert runs["claude2"]["claims_contradicted"] == pytest.approx(24 / 759)


def test_an_answer_without_a_claim_has_no_share(project: Project) -> None:
    """87 of the 700 answers: the decision says so, they count as not correct, and in no mean of shares."""
    sheet = project.sheet("answers")
    silent = sum(cell.decision == "no claims" for row in sheet.rows for cell in row.cells)
    assert silent == sum(not one["claims"] for model in MODELS for one in answers(model)) == 87
    for at, arm in enumerate(sheet.arms):
        places = {one.metric: n for n, one in enumerate(arm.scores)}
        for row in sheet.rows:
            cell = row.cells[at]
            assert (cell.scores[places["supported"]] is None) == (cell.decision == "no claims")
            if cell.decision == "no claims":
                assert cell.scores[places["correct"]] == 0


def test_the_output_shows_each_claim_and_what_people_said(root: Path) -> None:
    """The counts first, then the answer, then the claims: read by hand for one answer of gpt4."""
    (run,) = (root / "data" / "runs").glob("gpt4_*")
    text = (run / "outputs" / "nq-4073418639113603971.txt").read_text(encoding="utf-8")
    assert text.startswith("gpt4: 1 claim: 1 supported, 0 contradicted, 0 neither\n\n")
    assert text.endswith('\nsupported: Peter, Paul and Mary | sang | "I Dig Rock and Roll Music"\n')


def test_the_claims_of_gpt4_have_the_peoples_labels(root: Path, project: Project) -> None:
    """300 claims: 205 entailment, 69 neutral, 26 contradiction; believing all of them is right on 205."""
    folder = root / "data/labels/gpt4_claims/people"
    said = Counter(path.read_text(encoding="utf-8") for path in folder.glob("*.txt"))
    assert said == {"entailment": 205, "neutral": 69, "contradiction": 26}
    runs = {one.config_id: one for one in project.runs() if one.labels == "gpt4_claims/people"}
    assert runs["always_entailment_v1"].scores["correct"] == pytest.approx(205 / 300)
    assert runs["always_entailment_v1"].scores["balanced_accuracy"] == pytest.approx(1 / 3)


def test_the_readme_has_the_figures_of_the_runs(project: Project) -> None:
    """Each model's row, to the last digit shown."""
    text = (RAW.parent / "README.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \| (\d+) \| (\d+) \| ([\d.]+) \|$", text, re.MULTILINE
    )
    assert len(rows) == 7
    runs = {one.config_id: one.scores for one in project.runs() if one.labels == "answers/people"}
    for model, *figures in rows:
        scores = runs[model]
        assert figures == [
            f"{scores['supported']:.3f}",
            f"{scores['contradicted']:.3f}",
            f"{100 * scores['correct']:.0f}",
            f"{100 * scores['answered']:.0f}",
            f"{scores['claims_per_answer']:.1f}",
        ]
    assert [model for model, *_ in rows] == sorted(runs, key=lambda model: -runs[model]["supported"])


def test_the_seven_models_are_ranked_by_the_peoples_word(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By support gpt4 leads alone, by contradiction claude2: each mean is that of the raw shares."""
    told = {}
    for metric, word in (("supported", "Entailment"), ("contradicted", "Contradiction")):
        found = (
            CommandLine(root, capsys)
            .ok("leaderboard", "--dataset-id", "answers", "--metric", metric, "--json")
            .json
        )
        for arm in found["arms"]:
            said = [[verdict for _, verdict in one["claims"]] for one in answers(arm["arm"]) if one["claims"]]
            assert arm["value"] == pytest.approx(sum(x.count(word) / len(x) for x in said) / len(said))
            assert arm["n"] == len(said)
        told[metric] = [(arm["arm"], arm["verdict"]) for arm in found["arms"]]
        assert found["correction"] == "Bonferroni × 6: the leader was picked among 7 arms"
        assert found["higher_is_better"] is (metric == "supported")
    assert told["supported"][:2] == [("gpt4", "leader"), ("chatgpt", "behind")]
    assert told["contradicted"][:2] == [("claude2", "leader"), ("gpt4", "behind")]
    assert all(verdict == "behind" for _, verdict in [*told["supported"][1:], *told["contradicted"][1:]])
