"""``evh leaderboard``, ``pair-test``, ``agreement`` and ``goals``: which arm, and how sure."""

from __future__ import annotations

import click

from evh.cli import common


@common.command("leaderboard", example="evh leaderboard --dataset-id d --against d/owner_2026_11")
@click.option("--dataset-id", required=True, metavar="D", help="The dataset.")
@click.option("--runs", metavar="A,B", help="Config or run ids (default: all arms that ran on it).")
@click.option(
    "--metric", metavar="[SCORER/]M", help="What they are ranked by (default: the goal's, else the primary)."
)
@click.option("--against", metavar="D/S|T/N", help="The set that the scores were made against.")
@click.option("--goal", "goal_id", metavar="G", help="Whose level, direction and least effect hold.")
@click.option("--all-pairs", is_flag=True, help="Every two arms too, their p corrected (Holm).")
def leaderboard(
    *,
    dataset_id: str,
    runs: str | None,
    metric: str | None,
    against: str | None,
    goal_id: str | None,
    all_pairs: bool,
    as_json: bool,
) -> None:
    """Rank the arms of a dataset: means, intervals, and who leads, may be as good, or is behind.

    A contender is an arm that these items do not tell apart from the leader: "could show" is the smallest
    difference that they would. The p is corrected, as the line below the table says. A judge's metric is
    named SCORER/M.
    """
    from evh.acts.leaderboard import leaderboard as act
    from evh.cli import deciding_json, deciding_show

    made = act(common.project(), dataset_id, _names(runs), metric=metric, against=against, goal_id=goal_id)
    if as_json:
        rows = [deciding_json.arm(one) for one in made.arms]
        rest = deciding_json.field_rest(made) | deciding_json.pairs(made if all_pairs else None)
        common.emit("leaderboard", "arms", rows, warnings=made.notes, **rest)
        return
    deciding_show.field(made)
    if all_pairs:
        deciding_show.all_pairs(made)
    common.warn(made.notes)
    common.next_steps(deciding_show.after_field(made))


@common.command("pair-test", example="evh pair-test candidate_v2 production_v1 --dataset-id d")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--dataset-id", required=True, metavar="D", help="The dataset.")
@click.option(
    "--metric", metavar="[SCORER/]M", help="What they are compared by (default: the primary metric)."
)
@click.option("--against", metavar="D/S|T/N", help="The set that the scores were made against.")
@click.option("--alpha", type=float, help="The level (default: the goal's, else 0.05).")
@click.option(
    "--limit", type=click.IntRange(min=0), help="Name so many items each way (default 10; all with --json)."
)
def pair_test(
    *,
    first: str,
    second: str,
    dataset_id: str,
    metric: str | None,
    against: str | None,
    alpha: float | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Test a pair of arms that you named in advance, A minus B; its p is not corrected."""
    from evh.acts.pair_test import pair_test as act
    from evh.cli import deciding_json, deciding_show

    made = act(common.project(), first, second, dataset_id, metric=metric, against=against, alpha=alpha)
    if as_json:
        common.emit("pair-test", "tests", [deciding_json.pair_test(made, limit)], warnings=made.notes)
        return
    deciding_show.pair_test(made, limit)
    common.warn(made.notes)
    common.next_steps(deciding_show.after_pair(made))


@common.command("agreement", example="evh agreement --dataset-id d --runs production_v1,candidate_v2")
@click.option("--dataset-id", required=True, metavar="D", help="The dataset.")
@click.option("--runs", metavar="A,B,…", help="Config or run ids (default: all arms that ran on it).")
def agreement(*, dataset_id: str, runs: str | None, as_json: bool) -> None:
    """How often arms decided the same, every two of them."""
    from evh.acts.agreement_of_arms import agreement as act
    from evh.cli import deciding_json, deciding_show

    made = act(common.project(), dataset_id, _names(runs))
    if as_json:
        rows = [deciding_json.arm_pair(one) for one in made.pairs]
        common.emit("agreement", "pairs", rows, warnings=made.notes, **deciding_json.agreement_rest(made))
        return
    deciding_show.agreement(made)
    common.warn(made.notes)
    common.next_steps(deciding_show.after_agreement(made))


@common.command("goals", example="evh goals --goal keep_up")
@click.option("--goal", "goal_id", metavar="G", help="This goal alone.")
def goals(*, goal_id: str | None, as_json: bool) -> None:
    """Each goal: who leads against which labels, the suggested finalist, the baseline, and production."""
    from evh.acts.goals import goals as act
    from evh.acts.sources import Sources
    from evh.cli import deciding_json, deciding_show

    project = common.project()
    sources = Sources(project)
    made = act(project, goal_id, sources=sources)
    notes = [note for one in made for note in one.notes] or sources.notes()
    if as_json:
        common.emit(
            "goals", "goals", [deciding_json.goal(one) for one in made], warnings=dict.fromkeys(notes)
        )
        return
    if not made:
        common.say("no goals yet: a goal is a file in data/goals/")
        common.warn(notes)
        common.next_steps(["evh help goals"])
        return
    for one in made:
        deciding_show.goal(one)
    common.warn(dict.fromkeys(notes))
    common.next_steps(deciding_show.after_goals(made))


def _names(runs: str | None) -> list[str]:
    return [name.strip() for name in (runs or "").split(",") if name.strip()]
