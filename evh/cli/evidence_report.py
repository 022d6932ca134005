"""``evh evidence-report``: how often the labeler says yes, and how good its labels are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evh.cli import common, evidence_lines
from evh.cli.evidence_lines import shown, shown_interval
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from evh.acts.evidence_report import People, QueryReport

_SHOWN = 10


@common.command("evidence-report", example="evh evidence-report --project airline --query refund")
@click.option("--project", "log", required=True, metavar="P", help="The log.")
@click.option("--query", "query_id", metavar="Q", help="One question (default: all that were begun).")
@click.option("--journal", metavar="NAME", help="One journal by its name.")
def evidence_report(*, log: str, query_id: str | None, journal: str | None, as_json: bool) -> None:
    """Tell the label rate beside the controller's update rate, and how good the labels are.

    Probes and repeated readings say it without people; a random slice that a person labelled gives the
    corrected rate.
    """
    from evh.acts import evidence_command
    from evh.acts import evidence_report as act

    project = common.project()
    found = act.report(project, log, query_id, journal)
    if as_json:
        warnings = [f"{one.at.stem}: {line}" for one in found for line in act.says(one)]
        common.emit("evidence-report", "journals", [_row(one) for one in found], warnings=warnings)
        return
    for number, one in enumerate(found):
        if number:
            common.say()
        _tell(one)
        common.warn(f"{one.at.stem}: {line}" for line in act.says(one))
    first = found[0]
    if first.people is None:
        dataset = f"{first.at.log}.{first.at.query_id}"
        named = f" --journal {first.at.name}" if first.at.name else ""
        common.next_steps(
            [
                f"evh evidence-freeze --project {log} --query {first.at.query_id}{named} --set S",
                evidence_command.slice_line(dataset),
            ]
        )


def _tell(one: QueryReport) -> None:
    common.say(f"{one.at.log}/{one.at.stem}: {one_line(one.query.question, 160)}")
    common.say(f"  labelled by: {one_line(one.model, 160) or '—'}")
    for line in evidence_lines.summary_lines(one.summary)[:-1]:
        common.say(f"  {line}")
    if one.gap is not None:
        common.say(f"  label rate − update rate: {one.gap:+.3f}{shown_interval(one.gap_interval)}")
    if one.probes:
        failed = f", {plural(one.probes.n_failed, 'probe')} failed" if one.probes.n_failed else ""
        wrong_yes, wrong_no = shown(one.probes.false_yes), shown(one.probes.false_no)
        common.say(f"  probes: false yes {wrong_yes}, false no {wrong_no}{failed}")
        for kind, wrong in one.probes.by_kind.items():
            common.say(f"    {kind}: wrong {shown(wrong)}")
    if one.readings:
        alpha = "—" if one.readings.alpha is None else f"{one.readings.alpha:.3f}"
        common.say(f"  self-agreement: all readings alike {shown(one.readings.unanimous)}, alpha {alpha}")
    for line in _of_people(one.people):
        common.say(f"  {line}")
    common.say(f"  {one.note}")
    if one.same_text:
        common.say(f"  {plural(len(one.same_text), 'text')} at several places, one label each:")
        listed = list(one.same_text.items())
        for sha, places in listed[:_SHOWN]:
            where = ", ".join(map(str, places[:12])) + (", …" if len(places) > 12 else "")
            common.say(f"    {sha[:12]}…: t {where}")
        if len(listed) > _SHOWN:
            common.say(f"    … and {len(listed) - _SHOWN:,} more")
    for failure in one.failures[:_SHOWN]:
        common.say(f"  failed: t {failure.places[0]}: {failure.kind}: {one_line(failure.says, 160)}")
    if len(one.failures) > _SHOWN:
        common.say(f"  … and {len(one.failures) - _SHOWN:,} more failures")


def _of_people(people: People | None) -> list[str]:
    if people is None:
        return []
    held, made = people.slice, people.corrected
    good = f"sensitivity {shown(held.sensitivity)}, specificity {shown(held.specificity)}"
    lines = [f"a person's random slice ({', '.join(people.sets)}): n {held.n:,}, {good}"]
    if made.share is None:
        lines.append(f"corrected rate: — ({made.refused})")
    else:
        lines.append(f"corrected rate: {made.share:.3f}{shown_interval(made.interval)} (Rogan–Gladen)")
        if made.unbounded:
            lines.append(f"  {made.unbounded}")
    return lines


def _row(one: QueryReport) -> dict[str, Any]:
    return {
        "project": one.at.log,
        "query_id": one.at.query_id,
        "question": one.query.question,
        "journal": one.at.ref,
        "model": one.model or None,
        "settings_sha": one.settings.settings_sha if one.settings else None,
        "note": one.note,
        **evidence_lines.summary_row(one.summary),
        "gap": None if one.gap is None else {"value": one.gap, **evidence_lines.ends(one.gap_interval)},
        "probes": None
        if one.probes is None
        else {
            "false_yes": evidence_lines.rate_row(one.probes.false_yes),
            "false_no": evidence_lines.rate_row(one.probes.false_no),
            "wrong_by_kind": {
                kind: evidence_lines.rate_row(wrong) for kind, wrong in one.probes.by_kind.items()
            },
            "n_failed": one.probes.n_failed,
        },
        "self_agreement": None
        if one.readings is None
        else {
            "n": one.readings.n,
            "unanimous": evidence_lines.rate_row(one.readings.unanimous),
            "pairs": one.readings.pairs,
            "alpha": one.readings.alpha,
        },
        "people": _people_row(one.people),
        "same_text": [
            {"chunk_sha": sha, "places": list(places)} for sha, places in sorted(one.same_text.items())
        ],
        "failures": [
            {"chunk_sha": it.chunk_sha, "places": list(it.places), "kind": it.kind, "says": it.says}
            for it in one.failures
        ],
        "suspects": list(one.suspects),
    }


def _people_row(people: People | None) -> dict[str, Any] | None:
    if people is None:
        return None
    held, made = people.slice, people.corrected
    return {
        "label_sets": list(people.sets),
        "n": held.n,
        "n_unclear": people.n_unclear,
        "hits": held.hits,
        "missed": held.missed,
        "false_yes": held.false_yes,
        "right_no": held.right_no,
        "sensitivity": evidence_lines.rate_row(held.sensitivity),
        "specificity": evidence_lines.rate_row(held.specificity),
        "corrected": {
            "share": made.share,
            "refused": made.refused,
            "unbounded": made.unbounded,
            **evidence_lines.ends(made.interval),
        },
    }
