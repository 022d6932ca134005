"""The list of goals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh_build import urls
from evh_build.page import Command, Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.pages.goal.page import lead_of, run_of
from evh_build.source import command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.source import Mark, Source


@dataclass(frozen=True, slots=True)
class GoalLine:
    """A goal in a line. ``said`` is who leads in its first group, against ``mark`` on ``dataset``.

    ``finalist`` is the arm suggested there, ``baseline`` the arm whose run was promoted, else the run; both
    None where there is none; ``unread`` says that there is a baseline that cannot be read. ``production``
    tells whether production runs the baseline: ``match``, ``differ``, ``not recorded``, or None.
    """

    goal_id: str
    path: str | None
    question: str
    datasets: tuple[Link, ...]
    metric: str
    mark: Mark | None
    said: str
    finalist: Link | None
    why: str
    baseline: Link | None
    unread: bool
    promoted: str
    production: str | None
    promote: Command | None
    deploy: Command | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The list of goals.

    Attributes:
        goals: a goal a row, by file name.
    """

    goals: tuple[GoalLine, ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    yield Leaf(
        urls.GOALS,
        Context(
            title="Goals",
            section="goals",
            crumbs=(Crumb("Home", urls.HOME),),
            commands=(
                command("the same on the terminal", "goals"),
                command("how a goal is written", "help", "goals"),
            ),
            goals=lines(source),
        ),
    )


def lines(source: Source) -> tuple[GoalLine, ...]:
    """Return every goal in a line."""
    return source.once(("goal lines", ""), lambda: tuple(_lines(source)))


def _lines(source: Source) -> Iterator[GoalLine]:
    held = source.gathered.deciding
    for name, goal in held.goals.items():
        found = held.view(name)
        if found is None:
            continue
        group = found.groups[0] if found.groups else None
        arm = group.field.arm(group.finalist.arm) if group and group.finalist.arm else None
        metric = goal.metric or (group.field.metric if group else "")
        baseline = None
        if found.baseline is not None:
            run = source.gathered.runs.get(run_of(source, found.baseline.promoted_from) or "")
            baseline = (
                Link(run.config_id, source.urls.arm(run.config_id))
                if run
                else Link(found.baseline.run_id, None)
            )
        words = ("promote", "--run", arm.to_promote, "--goal", name, "--reason", "REASON") if arm else ()
        made = found.production
        not_promoted = found.baseline is None and found.baseline_problem is None
        yield GoalLine(
            goal_id=name,
            path=source.urls.goal(name),
            question=goal.question,
            datasets=tuple(Link(one, source.urls.dataset(one)) for one in goal.datasets),
            metric=metric,
            mark=source.mark(group.field.against) if group and group.field.against else None,
            said=lead_of(group.field) if group else "no arm was scored by it yet",
            finalist=Link(arm.name, source.urls.arm(arm.run.config_id)) if arm else None,
            why=group.finalist.reason if group else "",
            baseline=baseline,
            unread=found.baseline_problem is not None,
            promoted=found.baseline.promoted_at if found.baseline else "",
            production=made.word if made else None,
            promote=command("promote it", *words) if words and not_promoted else None,
            deploy=command(
                "see what differs",
                "deploy-sheet", "--config", made.config_id, "--capture", made.check.capture_id,
            )
            if made and made.check and made.word == "differ"
            else None,
        )  # fmt: skip


PAGE = Page("goals", Context, make)
