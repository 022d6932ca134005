"""Records as a public build shows them: without what names the hidden, this machine, or who runs it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evh_build.leaks import folded
from evh_build.unfree import LONGEST
from evh_build.withheld import NOT_PUBLIC, lineage, placeless, settings, text, values

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from evh.acts.deploy_check import Check
    from evh.acts.deploy_sheet import DeploySheet
    from evh.records.baseline import Baseline
    from evh.records.capture import Capture
    from evh.records.config import Config
    from evh.records.dataset import Dataset, Item
    from evh.records.labelset import LabelSet
    from evh.records.pick import Pick
    from evh.records.reference import Reference
    from evh.records.run import Prediction, Run
    from evh_build.shown import Shown
    from evh_build.unfree import Unfree

LEFT_OUT = "(left out of the public pages)"
_SOURCE_KEYS = ("kind", "sha256", "n", "format", "adapter_sha256")


def dataset(one: Dataset, shown: Shown, secret: Collection[str] = frozenset()) -> Dataset:
    """Return a dataset without a mention of a hidden parent, capture, dataset or pick, and without paths.

    Args:
        one: the dataset.
        shown: what is shown.
        secret: whole texts that may not be shown, as `leaks.folded` gives them: a field of one is left out.
    """
    free = one.dataset_id in shown.texts
    return replace(
        one,
        description=text(one.description, shown),
        source_dir="",
        parent=one.parent if one.parent is None or one.parent in shown.datasets else NOT_PUBLIC,
        items=tuple(_item(item, shown, secret, free=free) for item in one.items),
        extra={},
    )


def label_set(one: LabelSet, shown: Shown) -> LabelSet:
    """Return a label set: where its labels come from, without who ran the import and what was selected by."""
    told = {"kind", "by", "run_id", "config_id", "fingerprint", "model", "capture", "rules_file",
            "rules_sha256", "journal_sha256", "prompt_sha"}  # fmt: skip
    source = {key: value for key, value in values(one.source, shown).items() if key in told}
    if isinstance(source.get("rules_file"), str):
        source["rules_file"] = source["rules_file"].rpartition("/")[2]
    free = one.dataset_id in shown.texts
    return replace(
        one,
        source=source,
        items={
            key: replace(
                item,
                note=(text(item.note, shown) or None) if item.note and free else None,
                proposal=None,
                extra={},
            )
            if item.note or item.proposal or item.extra
            else item
            for key, item in one.items.items()
        },
        selection=values(one.selection, shown) if one.selection else None,
        relabel_of=one.relabel_of if (one.relabel_of or "") in shown.sets else None,
        imported_by=None,
        tool=values(one.tool, shown) if one.tool else None,
        rules=tuple(values(rule, shown) for rule in one.rules),
        extra={},
    )


def reference(one: Reference, shown: Shown) -> Reference:
    """Return a reference set; a reason or caveat that names something hidden is left out, and says so."""
    promoted = dict(one.promoted_from or {})
    sources = promoted.get("source")
    if isinstance(sources, list):
        promoted["source"] = [
            {key: value for key, value in values(told, shown).items() if key in ("kind", "by", "model")}
            if isinstance(told, dict)
            else told
            for told in sources
        ]
    return replace(
        one,
        promoted_from={
            key: value for key, value in promoted.items() if key in ("labels", "source", "labels_sha256")
        }
        if one.promoted_from
        else None,
        reason=text(one.reason, shown, instead=LEFT_OUT) if one.reason else one.reason,
        caveat=text(one.caveat, shown, instead=LEFT_OUT) if one.caveat else "",
        extra={},
    )


def run(one: Run, shown: Shown, *, fitted: bool) -> Run:
    """Return a run, its settings without addresses and paths.

    ``fitted`` tells that it was fitted on items that it was scored on: that is told though those are hidden.
    """
    extra: dict[str, Any] = {}
    if one.extra.get("limit") is not None:
        extra["limit"] = one.extra["limit"]
    named = one.extra.get("fitted_on")
    on = [name for name in named if name in shown.datasets] if isinstance(named, list) else []
    if fitted and one.dataset_id not in on:
        on.append(one.dataset_id)
    if on:
        extra["fitted_on"] = on
    return replace(
        one,
        params=settings(one.params, shown),
        fingerprint=_fingerprint(one.fingerprint, shown),
        build=values(one.build, shown) if one.build else one.build,
        judged=values(one.judged, shown) if one.judged else one.judged,
        extra=extra,
    )


def prediction(one: Prediction, shown: Shown, marks: Unfree | None) -> Prediction:
    """Return a prediction without hidden keys, and without its texts where those may not spread.

    ``marks`` are then what stands for a decision that is no choice; None where texts may be shown.
    """
    free, decision = marks is None, one.decision
    if decision is not None and marks is not None:
        decision = marks.text(decision)
    error = one.error
    if error is not None:
        error = text(placeless(error), shown, instead="failed") if free else "failed"
    return replace(
        one, output=one.output if free else None, decision=decision, error=error, hidden={}, extra={}
    )


def config(one: Config, shown: Shown) -> Config:
    """Return a config without the hidden dataset, sets and reference that it names."""
    return replace(
        one,
        dataset_id=one.dataset_id if one.dataset_id in shown.datasets else "",
        params=settings(one.params, shown),
        goal=_kept(one.goal, shown),
        reference=_kept(one.reference, shown),
        labels=_kept(one.labels, shown),
        model_record=_kept(one.model_record, shown),
        fitted_on=tuple(name for name in one.fitted_on if name in shown.datasets),
        extra={},
    )


def capture(one: Capture, shown: Shown) -> Capture:
    """Return a capture: what kind of source it had and its digest, never where that lay on this machine."""
    source = {key: value for key, value in values(one.source, shown).items() if key in _SOURCE_KEYS}
    hidden_parent = one.parent is not None and one.parent not in shown.captures
    return replace(
        one,
        source=source,
        since_capture=_capture(one.since_capture, shown),
        split={"of": NOT_PUBLIC} if hidden_parent else values(one.split, shown) if one.split else None,
        scrub={key: value for key, value in one.scrub.items() if key in ("rules_sha256", "counts")}
        if one.scrub
        else None,
        sample=values(one.sample, shown) if one.sample else None,
        adapter=values(one.adapter, shown) if one.adapter else None,
        extra={},
    )


def baseline(one: Baseline, shown: Shown) -> Baseline:
    """Return a baseline of a shown run; a reason that names something hidden is left out, and says so."""
    against = one.reference_id
    if against is not None:
        kept = against.removeprefix("labels/") in shown.sets or against in shown.references
        against = against if kept else None
    goal = one.goal if one.goal in shown.goals else None
    return replace(
        one,
        reason=text(one.reason, shown, instead=LEFT_OUT),
        reference_id=against,
        goal=goal,
        build=None,
        supersedes=one.supersedes if goal else None,
        over=_kept(one.over, shown),
        extra={},
    )


def deploy_sheet(one: DeploySheet, run: Run, promotions: tuple[Baseline, ...], shown: Shown) -> DeploySheet:
    """Return a deploy sheet without addresses, paths and what names the hidden; its check has counts alone.

    Args:
        one: the sheet.
        run: its run as it is shown.
        promotions: those of its promotions that are shown, as they are shown.
        shown: what is shown.
    """
    kept = values({"prompt_file": one.prompt_file, "adapter": one.adapter, **_names_of(one)}, shown)
    return replace(
        one,
        run=run,
        promotions=promotions,
        model=kept.get("model"),
        model_record=kept.get("model_record"),
        upstream=kept.get("upstream"),
        deployment=settings(one.deployment, shown),
        base_url=None,
        settings=settings(one.settings, shown),
        not_sent=tuple(each for each in one.not_sent if values({each.name: each.record}, shown)),
        own={},
        prompt=tuple(
            {
                "role": each["role"],
                "content": text(placeless(each["content"]), shown, instead=LEFT_OUT),
            }
            for each in one.prompt
        ),
        prompt_file=kept.get("prompt_file"),
        adapter=kept.get("adapter") or "",
        against=one.against
        if one.against is None
        or one.against.removeprefix("labels/") in shown.sets
        or one.against in shown.references
        else None,
        check=None if one.check is None else check(one.check, shown),
        notes=tuple(note for note in one.notes if not shown.names_hidden(note)),
    )


def check(one: Check, shown: Shown) -> Check | None:
    """Return what a capture says of an arm: counts by day, and what differs where that may be told."""
    if one.capture_id not in shown.captures:
        return None
    told = []
    for each in one.differences:
        pair = values({each.what: [each.expected or "", each.found]}, shown).get(each.what)
        if pair and len(pair) == 2 and max(map(len, pair)) <= LONGEST:  # one left out leaves one
            told.append(each)
    unsaid = []
    for other in one.unsaid:
        found = values({other.what: other.found}, shown).get(other.what)
        if found and len(found) <= LONGEST:
            unsaid.append(other)
    return replace(one, differences=tuple(told), problems=(), unsaid=tuple(unsaid))


def _names_of(one: DeploySheet) -> dict[str, str | None]:
    return {"model": one.model, "model_record": one.model_record, "upstream": one.upstream}


def pick(one: Pick, shown: Shown) -> Pick | None:
    """Return a pick without hidden targets; None where it has no others, or is of a hidden dataset."""
    targets = tuple(name for name in one.targets if not _hides(name, shown))
    if one.dataset_id not in shown.datasets or (one.targets and not targets):
        return None
    return replace(
        one,
        targets=targets,
        capture=_capture(one.capture, shown),
        note=text(one.note, shown) if one.dataset_id in shown.texts else "",
        tags={
            key: value for key, value in one.tags.items() if not shown.hides(key) and not shown.hides(value)
        },
        used=tuple(
            told
            for told in one.used
            if not any(_hides(each, shown) for each in told.values()) and not shown.names_hidden(str(told))
        ),
        extra={},
    )


def _item(item: Item, shown: Shown, secret: Collection[str], *, free: bool) -> Item:
    fields = item.fields
    gone = {key for key, value in fields.items() if isinstance(value, str) and _quotes(value, secret, free)}
    if gone:
        fields = {key: value for key, value in fields.items() if key not in gone}
    return replace(
        item,
        source_path="",
        fields=fields,
        lineage=lineage(item.lineage, shown),
        extra={},
    )


def _quotes(value: str, secret: Collection[str], free: bool) -> bool:  # noqa: FBT001
    """Tell whether a field is, or may quote, a text that must not be shown."""
    return (not free and len(value) > LONGEST) or (bool(secret) and folded(value) in secret)


def _capture(name: str | None, shown: Shown) -> str | None:
    """Return a capture's name, or what stands in place of one that is not shown."""
    return name if name is None or name in shown.captures else NOT_PUBLIC


def _kept(name: str | None, shown: Shown) -> str | None:
    return None if name is None or shown.hides(name) else name


def _hides(value: object, shown: Shown) -> bool:
    """Tell whether a value is the name of something hidden; a shown dataset's name never is."""
    return isinstance(value, str) and value not in shown.datasets and shown.hides(value)


def _fingerprint(told: Mapping[str, Any], shown: Shown) -> dict[str, Any]:
    """Return a fingerprint without its host; what answers has its settings as a run's."""
    made = values(
        {key: held for key, held in told.items() if key not in ("host", "system_under_test")}, shown
    )
    asked = told.get("system_under_test")
    return {**made, "system_under_test": settings(asked, shown)} if isinstance(asked, dict) else made
