"""The pages of goals, deploy sheets, runs, judges and models: each says what the terminal says, by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import shown, site
from evh_build.deciding import Deciding
from evh_build.deciding_public import PublicDeciding
from evh_build.forest import axis_of, p_text
from evh_build.gather import Gathered
from evh_build.public import PublicGathered
from tests.acts.judging import PAIRWISE, judge_file, two_arms
from tests.conftest import CommandLine
from tests.evh_build.pages_of import build, commands, found_in, words
from tests.evh_build.projects import decided, hostile
from tests.helpers import Builder


@pytest.fixture
def out(project: Project) -> Path:
    """The site of the project whose goal has a baseline."""
    return build(decided(project))


# --------------------------------------------------------------------------------------------------- goals


def test_a_goal_says_who_leads_and_how_sure_it_is(out: Path) -> None:
    """far is wrong on ten of twelve: p = 2 / 2^10 = 0.00195, times 3 arms that could have led = 0.0059."""
    text = words(out / "goals/answers/index.html")
    assert "Which arm answers? On d" in text
    assert "Against gold ann on d best leads paired test by sign flips at level 0.05 (goal answers)" in text
    assert "correction Bonferroni × 3: the leader was picked among 4 arms" in text
    assert "Suggested finalist: best it leads by correct; not told apart from near, production" in text
    assert "best baseline finalist 1.000 1.000 to 1.000" in text
    assert "near 0.917" in text
    assert "contender not told apart from the leader; no difference would show here" in text
    assert "behind 0.833" in text
    assert "0.0059 alone 0.0020" in text
    assert "production replays what was recorded: there is nothing of it to deploy" in text


def test_a_goal_s_table_is_the_terminal_s(out: Path, evh: CommandLine) -> None:
    """Every arm's figure, interval and verdict on the page are those of `evh goals --json`."""
    (group,) = evh.ok("goals", "--json").json["goals"][0]["groups"]
    text = words(out / "goals/answers/index.html")
    assert len(group["arms"]) == 4
    for arm in group["arms"]:
        low, high = arm["low"], arm["high"]
        assert f"{arm['value']:.3f} {low:.3f} to {high:.3f} {arm['verdict']}" in text, arm


def test_a_goal_tells_its_baseline_and_the_ones_before(out: Path) -> None:
    """best in force with its reason, near before it; of 4 records 2 match, 1 differs, 1 is silent."""
    text = words(out / "goals/answers/index.html")
    assert "best_20261001T000000Z of best against gold ann , promoted 2026-11-01" in text
    assert "Because: right on every item" in text
    assert "1 earlier baseline, the latest first" in text
    assert "near_20261001T000000Z of near against gold ann 2026-11-01 the first that was good enough" in text
    assert "production differs" in text
    assert "Of 4 records of c : 2 match, 1 differ, 1 not recorded." in text
    assert "model agent-2 agent-1 1 2026-09-01" in text
    assert "2026-09-01 1 1 0 2026-09-02 1 0 1" in text
    assert "d best decided as production did on 11 of 12 items (91.7 %" in text
    page = (out / "goals/answers/index.html").read_text()
    assert 'href="../../compare/d/production/best/index.html"' in page
    assert "evh deploy-sheet --config best --capture c" in commands(out / "goals/answers/index.html")


def test_a_goal_without_a_baseline_gives_the_command(project: Project) -> None:
    """Nothing promoted: the finalist, and the command that promotes its run, here and on the home page."""
    decided(project)
    for path in (project.data / "baselines").rglob("*.json"):
        path.unlink()
    out = build(project)
    line = "evh promote --run runs/best_20261001T000000Z --goal answers --reason REASON"
    assert line in commands(out / "goals/answers/index.html")
    assert line in commands(out / "index.html")
    assert "None was promoted yet." in words(out / "goals/answers/index.html")
    assert "the goal answers has no baseline; it suggests best" in words(out / "index.html")


def test_a_baseline_that_cannot_be_read_is_not_taken_for_none(project: Project) -> None:
    """The goal's page, the list and the home page say that there is one, and offer no other in its place."""
    decided(project)
    path = project.data / "baselines" / "answers.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "promoted_from": 5}))
    out = build(project)
    text = words(out / "goals/answers/index.html")
    assert "There is one, and it cannot be read: data/baselines/answers.json" in text
    assert "None was promoted yet." not in text
    assert "There is a baseline, and it cannot be read." in words(out / "goals/index.html")
    for page in ("goals/answers/index.html", "goals/index.html", "index.html"):
        assert not [one for one in commands(out / page) if one.startswith("evh promote")]


def test_the_home_page_and_the_list_tell_where_a_goal_stands(out: Path) -> None:
    """Question, leader, baseline and production in a few words; what waits is to see what differs."""
    for page in ("index.html", "goals/index.html"):
        text = words(out / page)
        assert "Which arm answers?" in text
        assert "best leads by correct against gold ann" in text
        assert "Baseline: best 2026-11-01 production differs" in text
    assert "evh deploy-sheet --config best --capture c" in commands(out / "index.html")


def test_a_label_set_s_group_has_a_chip_and_no_pill(project: Project) -> None:
    """A group against a person's labels is headed by the source chip and suggests as a reference's does."""
    made = Builder(project)
    items = [f"i{n}" for n in range(10)]
    made.dataset("d", {item: item for item in items})
    made.labels("d", "ann", dict.fromkeys(items[:5], "yes") | dict.fromkeys(items[5:], "no"))
    for name, good in (("a", 1.0), ("b", 0.0)):
        scores = {item: {"correct": good} for item in items}
        made.run(name, "d", dict.fromkeys(items, "yes"), scores=scores, against="labels/d/ann")
    (project.data / "goals").mkdir()
    (project.data / "goals" / "g.yaml").write_text("datasets: [d]\n")
    out = build(project)
    text = words(out / "goals/g/index.html")
    assert "Against person ann on d a leads alone" in text
    assert "Suggested finalist: a" in text
    assert "pill" not in (out / "goals/g/index.html").read_text()


def test_no_goal_no_judge_no_model(project: Project) -> None:
    """The lists are there and say how to begin; the home page has no section of goals."""
    out = build(project)
    assert "There is no goal yet" in words(out / "goals/index.html")
    assert "There is no judge yet" in words(out / "judges/index.html")
    assert "There is no model record yet" in words(out / "models/index.html")
    assert "What is decided" not in words(out / "index.html")


# ---------------------------------------------------------------------------------------------------- arms


def test_a_promoted_arm_shows_its_deploy_sheet(out: Path) -> None:
    """What was sent, the prompt, the model record's other temperature, and what the capture says of it."""
    text = words(out / "arms/best/index.html")
    assert "Promoted as the baseline for answers on d from the run best_20261001T000000Z" in text
    assert "What production must match" in text
    assert "model agent-2" in text
    assert "build: tag v2" in text
    assert "the model record says temperature: 0.5, and it was sent as 0.0" in text
    assert "Is it {{item}}?" in text
    assert "2 match, 1 differ, 1 not recorded" in text
    assert "What production must match" not in words(out / "arms/far/index.html")
    near = words(out / "arms/near/index.html")
    assert "another has replaced it since" in near
    assert "What production must match" not in near


def test_a_deploy_sheet_tells_a_trial_and_settings_that_cannot_be_held_against_any(project: Project) -> None:
    """A promoted trial over 5 of 12 items; two records send top_p, and the run does not say; as text."""
    decided(project)
    path = project.data / "runs" / "best_20261001T000000Z" / "metrics.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "limit": 5}))
    shutil.rmtree(project.data / "captures" / "c")
    ran = {"model": "agent-2", "prompt_version": "p2"}
    sent = [{"top_p": 0.9}, {"top_p": 0.9}, {"<b>": "<i>"}, {"temperature": 0.0}]
    Builder(project).capture(
        "c",
        [
            {
                "record_id": f"r{n}",
                "ts": f"2026-09-0{1 + n // 2}T09:00:00Z",
                "production": ran | {"settings": one},
            }
            for n, one in enumerate(sent)
        ],
        time_range=("2026-09-01T00:00:00Z", "2026-09-02T00:00:00Z"),
    )
    out = build(project)
    text = words(out / "arms/best/index.html")
    assert "best_20261001T000000Z was a trial: measured on 5 of 12 items only" in text
    assert "4 match, 0 differ, 0 not recorded" in text
    assert "2 records send top_p = 0.9, on 2026-09-01; what was measured does not say." in text
    assert "1 record sends <b> = <i>, on 2026-09-02; what was measured does not say." in text
    assert "<i>" not in (out / "arms/best/index.html").read_text()


def test_an_arm_names_its_model_record(out: Path) -> None:
    """The arm's page and the list lead to the record, which tells its build, price and arms."""
    assert 'href="../../models/index.html#model-agent"' in (out / "arms/far/index.html").read_text()
    text = words(out / "models/index.html")
    assert "agent agent-2 2.5 — best far near never" in text
    assert "build.tag v2" in text


# ---------------------------------------------------------------------------------------------------- runs


def test_a_run_tells_its_interval_and_what_changed(out: Path, evh: CommandLine) -> None:
    """The temperature moved from 0.5 to 0.0, i00 and i01 were decided otherwise, 10/12 became 12/12."""
    text = words(out / "runs/runs/best_20261001T000000Z/index.html")
    assert "The arm’s run before this one: best_20260901T000000Z" in text
    assert "arm.temperature 0.5 0.0" in text
    assert "correct 0.833333 1" in text
    assert "Of 12 items that both answered, 2 were decided otherwise. i00 i01" in text
    assert "Since the run before it" not in words(out / "runs/runs/best_20260901T000000Z/index.html")
    told = evh.ok("leaderboard", "--dataset-id", "d", "--json").json["arms"]
    near = next(one for one in told if one["arm"] == "near")
    page = words(out / "runs/runs/near_20261001T000000Z/index.html")
    assert f"correct primary 0.917 {near['low']:.3f} to {near['high']:.3f} 12 items" in page


def test_a_comparison_has_the_paired_test(out: Path, evh: CommandLine) -> None:
    """best minus far: ten of twelve, p = 2 / 2^10, as `evh pair-test` tells it; it is not corrected."""
    text = words(out / "compare/d/best/far/index.html")
    assert "best minus far: 0.833" in text
    assert "p = 0.0020, all sign patterns counted; significant at 0.05 (goal answers); not corrected" in text
    (told,) = evh.ok("pair-test", "best", "far", "--dataset-id", "d", "--json").json["tests"]
    assert told["p"] == pytest.approx(2 / 2**10)
    assert f"95 % {told['difference_low']:.3f} to {told['difference_high']:.3f}" in text
    near = words(out / "compare/d/best/near/index.html")
    assert "not significant at 0.05" in near
    assert "So many items would show no difference at 80% power." in near


# -------------------------------------------------------------------------------------------------- judges


def test_a_judge_tells_how_it_was_measured(out: Path) -> None:
    """It said best on ten, people on eight: 80 %, as always saying best; kappa 0; both orders alike."""
    text = words(out / "judges/helpful/index.html")
    assert "Which answer is right?" in text
    assert "agrees with people 80.0 %" in text
    assert "always the same answer 80.0 % — best" in text
    assert "Cohen’s kappa 0.000" in text
    assert "best 8 2 10" in text
    assert "asker: orders alike 100.0 %" in text
    assert "the answer shown first won 50.0 %" in text
    assert "always saying 'best' would agree as often" in text
    assert "judge won unvalidated" not in text


def test_an_unvalidated_judge_says_so(project: Project) -> None:
    """A judge without validated_by: the word on the list, its page, its judged runs and the home page."""
    decided(project)
    path = project.data / "judges" / "helpful.yaml"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("validated_by")]
    path.write_text("\n".join(lines) + "\n")
    out = build(project)
    assert "unvalidated: not measured against people" in words(out / "judges/index.html")
    text = words(out / "judges/helpful/index.html")
    assert "no decision should rest on it alone" in text
    run = words(out / "runs/runs-judged/helpful/best_20261001T000000Z/index.html")
    assert "Judged by helpful" in run
    assert "the pairwise judge helpful is unvalidated" in words(out / "index.html")


def test_a_rubric_changed_since_makes_it_unvalidated(project: Project) -> None:
    """Another rubric: what it judged then stays validated by that rubric; the next pass will not be."""
    decided(project)
    path = project.data / "judges" / "helpful.yaml"
    path.write_text(path.read_text().replace("Which answer is right?", "Which answer is longer?"))
    out = build(project)
    text = words(out / "judges/helpful/index.html")
    assert "It cannot be measured again here" in text


def test_a_judge_whose_verdicts_came_in_a_file_is_asked_nothing(project: Project, evh: CommandLine) -> None:
    """Its models answered none of them: the page offers no pass that would ask them all."""
    two_arms(project, ("i00",))
    judge_file(project, PAIRWISE)
    file = project.root / "verdicts.csv"
    file.write_text("item_id,first,second,verdict\ni00,arm_a,arm_b,first\ni00,arm_b,arm_a,second\n")
    evh.ok("judge", "--scorer", "helpful", "--dataset-id", "d", "--from-file", file)
    page = build(project) / "judges/helpful/index.html"
    assert "no known verdict is asked again" not in words(page)
    assert "take more verdicts from a file" in words(page)
    line = "evh judge --scorer helpful --dataset-id d --runs arm_a,arm_b"
    asked = [one for one in commands(page) if one.startswith(line)]
    assert asked == [f"{line} --from-file verdicts.csv"]


# ------------------------------------------------------------------------------------------- search, public


def test_they_can_be_found(out: Path) -> None:
    """A goal, a judge and a model are entries of the search, and their links lead to pages."""
    found = found_in(out)
    assert found["goal", "answers"] == "goals/answers/index.html"
    assert found["judge", "helpful"] == "judges/helpful/index.html"
    assert found["model", "agent"].startswith("models/index.html")


def test_a_hostile_goal_and_judge_are_text(project: Project) -> None:
    """A question, rubric, reason and model name that try to be markup stay text."""
    made = hostile(project)
    bad = "<script>window.ran = 1</script>\u202e"
    (made.data / "goals").mkdir()
    (made.data / "goals" / "g.yaml").write_text(f"question: {json.dumps(bad)}\ndatasets: [index.html]\n")
    (made.data / "judges").mkdir()
    text = f"kind: grade\njudges: [arm]\nrubric: {json.dumps(bad)}\n"
    (made.data / "judges" / "j.yaml").write_text(text)
    (made.data / "models").mkdir()
    (made.data / "models" / "m.json").write_text(json.dumps({"model_id": "m", "notes": bad, "upstream": bad}))
    out = build(made)
    for page in ("goals/g/index.html", "goals/index.html", "judges/j/index.html", "models/index.html"):
        raw = (out / page).read_text(encoding="utf-8")
        assert "<script>window" not in raw
        assert "\u202e" not in raw


def publish(project: Project) -> Path:
    """Build the public site and return its folder."""
    return site.commit(project, site.plan(project, public=True)).index.parent


def make_public(project: Project, dataset_id: str = "d") -> None:
    """Let a dataset be public."""
    path = project.data / "datasets" / f"{dataset_id}.json"
    raw = json.loads(path.read_text())
    path.write_text(json.dumps({**raw, "visibility": "public", "redistributable": True}))


def test_a_public_site_shows_a_goal_of_public_datasets(project: Project) -> None:
    """The same goal, baseline and deploy sheet; no address of a server, no remark of a model record."""
    decided(project)
    make_public(project)
    out = publish(project)
    assert "best leads" in words(out / "goals/answers/index.html")
    assert "What production must match" in words(out / "arms/best/index.html")
    assert "2 match, 1 differ, 1 not recorded" in words(out / "arms/best/index.html")
    assert "agrees with people 80.0 %" in words(out / "judges/helpful/index.html")


def test_a_goal_that_names_a_private_dataset_is_hidden(project: Project) -> None:
    """No page, no id beside a verdict, not in search; it is told as left out. Its level still holds."""
    decided(project)
    make_public(project)
    Builder(project).dataset("hush_2026", {"x": "secret words\n"}, visibility="private")
    path = project.data / "goals" / "answers.yaml"
    text = path.read_text().replace("[d]", "[d, hush_2026]")
    path.write_text(f"goal_id: secret_goal\nalpha: 0.01\n{text}")
    built = site.commit(project, site.plan(project, public=True))
    assert ("goal", "secret_goal") in {(one.noun, one.name) for one in built.left_out}
    out = built.index.parent
    assert not (out / "goals" / "secret_goal").exists()
    for file in out.rglob("*"):
        if file.is_file():
            assert b"secret_goal" not in file.read_bytes(), file
    assert "at level 0.01" in words(out / "arms/best/index.html")


def test_a_hidden_judge_and_baseline_are_on_no_page(project: Project) -> None:
    """All of it on a private dataset: no goal, judge or baseline of it in any byte."""
    decided(project)
    Builder(project).dataset("open", {"x": "words\n"}, visibility="public")
    out = publish(project)
    assert not (out / "judges" / "helpful").exists()
    for file in out.rglob("*"):
        if (
            file.is_file()
            and "guide" not in file.parts
            and file.parent.name != "search"
            and file.suffix in (".html", ".js", ".csv")
        ):
            raw = file.read_text(encoding="utf-8")
            assert "helpful" not in raw, file
            assert "right on every item" not in raw, file
            assert "Which arm answers" not in raw, file
    assert not {("judge", "helpful"), ("goal", "answers"), ("model", "agent")} & found_in(out).keys()


def test_every_way_of_deciding_is_filtered() -> None:
    """What Deciding offers is overridden for public builds, or made of what is: new ways are thought of."""
    made_of_others = {"promotions", "previous", "diff", "judged_runs", "passes"}
    ways = {name for name in vars(Deciding) if not name.startswith("_")}
    own = {name for name in vars(PublicDeciding) if not name.startswith("_")}
    assert ways - own == made_of_others
    assert vars(PublicGathered)["deciding"] is not vars(Gathered)["deciding"]
    assert {"goal", "judge"} <= set(shown.NOUNS)


# -------------------------------------------------------------------------------------------------- charts


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((0.5, 0.957), (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)),
        ((0.0, 1.0), (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ((0.0, 1000.0, None), (0.0, 200.0, 400.0, 600.0, 800.0, 1000.0)),
        ((-3.0, 2.0), (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0)),
        ((), (0.0, 0.5, 1.0)),
        ((1.0, 1.0), (0.95, 0.96, 0.97, 0.98, 0.99, 1.0)),
    ],
)
def test_an_axis_ends_on_round_numbers(values: tuple[Any, ...], ticks: tuple[float, ...]) -> None:
    """The ends hold every value and are ticks, at most five steps apart."""
    made = axis_of(values)
    assert made.ticks == pytest.approx(ticks)
    assert (made.low, made.high) == pytest.approx((ticks[0], ticks[-1]))
    assert len({f"{tick:.{made.places}f}" for tick in made.ticks}) == len(made.ticks)


def test_a_small_p_is_never_told_as_zero() -> None:
    """Four places, and "< 0.0001" below them."""
    assert [p_text(one) for one in (None, 0.0049, 0.00001, 1.0)] == ["", "0.0049", "< 0.0001", "1.0000"]
