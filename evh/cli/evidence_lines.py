"""How the evidence labeler is told: its progress, its summary, and rates as people and programs read them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from evh.cli import common

if TYPE_CHECKING:
    from evh.acts.evidence_counts import Progress as Standing
    from evh.acts.evidence_summary import Summary
    from evh.measure.intervals import Interval
    from evh.measure.rates import Rate, Reward
    from evh.project.evidence import Place

_BAR = 24
_LINE_S = 10.0


class Progress:
    """Draws where a run stands: a bar on a terminal, else a plain line now and then."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._drawn = False
        self._told_at = time.monotonic()

    def draw(self, at: Standing) -> None:
        """Show where the run stands."""
        if common.interactive():
            width = round(_BAR * at.done / at.of) if at.of else _BAR
            bar = "█" * width + "·" * (_BAR - width)
            click.echo(f"\r\x1b[K{bar} {self._said(at)}", nl=False, err=True)
            self._drawn = True
        elif time.monotonic() - self._told_at >= _LINE_S:
            self._told_at = time.monotonic()
            click.echo(self._said(at), err=True)

    def end(self) -> None:
        """Leave the line that the bar stands on."""
        if self._drawn:
            click.echo(err=True)

    def _said(self, at: Standing) -> str:
        said = f"{self._name}: {at.done:,} of {at.of:,}, {at.yes:,} yes, {at.no:,} no, {at.failed:,} failed"
        if at.calls:
            said += f", {at.calls_per_s:.1f} calls/s, {at.tokens:,} tokens"
        if at.cost_usd is not None:
            said += f", {at.cost_usd:.4g} USD"
        return said if at.left_s is None else f"{said}, {_time(at.left_s)} left"


def summary_lines(summary: Summary) -> list[str]:
    """Return what a journal comes to, a line each: both rates, the reward, and what the labels are."""
    texts = f"{summary.n_distinct_yes:,} of {summary.n_distinct_labelled:,} different texts"
    lines = [f"label rate: {shown(summary.label_rate)} of the log's chunks that have a label; {texts}"]
    if summary.n_decided:
        lines.append(f"update rate: {shown(summary.update_rate)} of the controller's decisions")
        lines.append(f"r_update: {shown_reward(summary.r_update)}")
    else:
        lines.append("update rate: — (no decisions recorded)")
    if summary.n_failed:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in summary.failed.items())
        lines.append(f"failed: {shown(summary.failed_rate)} ({kinds})")
    if summary.n_left - summary.n_failed > 0:
        lines.append(f"not asked yet: {summary.n_left - summary.n_failed:,}")
    if summary.n_suspect:
        lines.append(
            f"texts that try to steer: {shown(summary.suspect_rate)}; the others: {shown(summary.plain_rate)}"
        )
    lines.append(
        "labels of a model are a proxy: evh evidence-report says how good, once a person has labelled some"
    )
    return lines


def shown(rate: Rate) -> str:
    """Return a rate as people read it: the share, its interval and its counts."""
    if rate.share is None:
        return f"— ({rate.count:,} of {rate.n:,})"
    return f"{rate.share:.3f}{shown_interval(rate.interval)} ({rate.count:,} of {rate.n:,})"


def shown_reward(reward: Reward) -> str:
    """Return a mean reward as people read it."""
    if reward.mean is None:
        return "— (no decision about a labelled chunk)"
    return f"{reward.mean:+.3f}{shown_interval(reward.interval)} (n {reward.n:,})"


def shown_interval(interval: Interval | None) -> str:
    """Return an interval in brackets, or nothing."""
    return "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"


def rate_row(rate: Rate) -> dict[str, Any]:
    """Return a rate as programs read it."""
    return {"count": rate.count, "n": rate.n, "share": rate.share, **ends(rate.interval)}


def reward_row(reward: Reward) -> dict[str, Any]:
    """Return a mean reward as programs read it."""
    return {"n": reward.n, "right": reward.right, "mean": reward.mean, **ends(reward.interval)}


def ends(interval: Interval | None) -> dict[str, float | None]:
    """Return an interval's ends."""
    return {
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
    }


def summary_row(summary: Summary) -> dict[str, Any]:
    """Return a journal's counts and rates as programs read them."""
    return {
        "n_chunks": summary.n_chunks,
        "n_distinct": summary.n_distinct,
        "n_left": summary.n_left,
        "n_elsewhere": summary.n_elsewhere,
        "n_lost": summary.n_lost,
        "n_outside": summary.n_outside,
        "n_again": summary.n_again,
        "label_rate": rate_row(summary.label_rate),
        "label_rate_distinct": rate_row(summary.distinct_label_rate),
        "failed_rate": rate_row(summary.failed_rate),
        "failed_kinds": dict(summary.failed),
        "suspect_rate": rate_row(summary.suspect_rate),
        "plain_rate": rate_row(summary.plain_rate),
        "update_rate": rate_row(summary.update_rate) if summary.n_decided else None,
        "r_update": reward_row(summary.r_update) if summary.n_decided else None,
    }


def run_row(
    at: Place,
    summary: Summary,
    *,
    model: str,
    n_new: int = 0,
    n_calls: int = 0,
    tokens: int = 0,
    cost_usd: float | None = None,
    stopped: str | None = None,
) -> dict[str, Any]:
    """Return one journal as ``label-evidence --json`` gives it."""
    return {
        "project": at.log,
        "query_id": at.query_id,
        "journal": at.ref,
        "model": model,
        "n_new": n_new,
        "n_calls": n_calls,
        "tokens": tokens,
        "cost_usd": cost_usd,
        "stopped": stopped,
        **summary_row(summary),
    }


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
