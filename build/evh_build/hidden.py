"""The texts and ids of what a public build leaves out: what the last look at its files searches for."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from evh_build.guide import topics
from evh_build.leaks import LEAST_WHOLE, Probes, Watch, folded
from evh_build.shown import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh_build.gather import Gathered
    from evh_build.public import PublicGathered
    from evh_build.shown import Shown

MOST_CHUNKS, MOST_OF_A_CHUNK = 5_000, 2_000


def watch(gathered: PublicGathered) -> Watch:
    """Return what a public build's files are held against.

    Cost: every text of the project is read once: those hidden to look for them, the others to excuse words
    that they share.
    """
    whole, shown = gathered.whole, gathered.shown
    probes = Probes()
    # What a shown record says of itself, in words that a hidden one uses too, is its own to say.
    probes.add(_notes(whole, shown), but=_said(gathered))
    probes.add([*_items(whole, shown), *_answers(gathered), *_logs(gathered)])
    free = [*_free(gathered), *(topic.page.words for topic in topics())]
    probes.excuse(free)
    shown_ids = {item.item_id for name in shown.datasets for item in whole.datasets[name].items}
    hidden = {
        item.item_id
        for name, one in whole.datasets.items()
        if name not in shown.datasets
        for item in one.items
    } - shown_ids
    if hidden:
        for text in _free(gathered):
            hidden -= words(text)
    return Watch(gathered.project, shown, probes, frozenset(hidden))


def whole_texts(whole: Gathered, shown: Shown) -> frozenset[str]:
    """Return the whole texts of items that may not be shown, folded: no field of a shown item may be one."""
    made = {folded(text) for _, text in _items(whole, shown)}
    return frozenset(text for text in made if len(text) >= LEAST_WHOLE)


def unfree_texts(whole: Gathered, shown: Shown) -> dict[str, dict[str, str]]:
    """Return the texts of shown datasets that may not be shown, folded, by dataset and item."""
    open_bytes = _open_bytes(whole, shown)
    return {
        name: {
            item_id: folded(data.decode("utf-8", "replace"))
            for item_id, data in whole.texts(whole.datasets[name]).items()
            if whole.datasets[name].by_id[item_id].sha256 not in open_bytes
        }
        for name in sorted(shown.datasets - shown.texts)
    }


def _open_bytes(whole: Gathered, shown: Shown) -> set[str]:
    return {item.sha256 for name in shown.texts for item in whole.datasets[name].items}


def _items(whole: Gathered, shown: Shown) -> Iterator[tuple[str, str]]:
    """Give the texts of items that may not be shown; bytes that another dataset shows are no secret."""
    open_bytes = _open_bytes(whole, shown)
    for name, one in whole.datasets.items():
        if name in shown.texts:
            continue
        known = one.by_id
        for item_id, data in whole.texts(one).items():
            if known[item_id].sha256 not in open_bytes:
                yield f"an item of {name}", data.decode("utf-8", "replace")


def _answers(gathered: PublicGathered) -> Iterator[tuple[str, str]]:
    """Give what the hidden runs answered, and those on datasets whose texts may not be shown."""
    whole, shown = gathered.whole, gathered.shown
    for key, run in whole.runs.items():
        if key in shown.runs and run.dataset_id in shown.texts:
            continue
        for text in whole.outputs(run).values():
            yield f"an output of {run.run_id}", text
    for ref, label_set in whole.label_sets.items():
        if ref not in shown.sets:
            for text in whole.set_texts(label_set).values():
                yield f"a label of {ref}", text
    for text in gathered.sources.marks.marks:
        yield "a label or decision that may not be redistributed", text


def _notes(whole: Gathered, shown: Shown) -> Iterator[tuple[str, str]]:
    """Give what people wrote about hidden records: notes, guidelines, descriptions, reasons."""
    guidelines = {
        str((one.guideline or {}).get("sha256")) for ref, one in whole.label_sets.items() if ref in shown.sets
    }
    for name, dataset in whole.datasets.items():
        if name not in shown.datasets:
            yield f"the description of {name}", dataset.description
    for ref in whole.label_sets.keys() - shown.sets:
        one = whole.label_sets[ref]
        yield from ((f"a note of {ref}", item.note) for item in one.items.values() if item.note)
        told = str((one.guideline or {}).get("sha256"))
        data = whole.guideline(one) if one.guideline and told not in guidelines else None
        if data is not None:
            yield f"the guideline of {ref}", data.decode("utf-8", "replace")
    for ref, reference in whole.references.items():
        if ref not in shown.references:
            yield f"the reason of {ref}", reference.reason or ""
            if not reference.label_refs:  # the caveat of a promoted one is evh's own words
                yield f"the caveat of {ref}", reference.caveat
    for (dataset_id, item_id), pick in whole.sources.picks.items():
        if dataset_id not in shown.datasets:
            yield f"the note of the pick {dataset_id}/{item_id}", pick.note


def _said(gathered: PublicGathered) -> Iterator[str]:
    """Give what shown records say of themselves: notes, guidelines, reasons, descriptions."""
    yield from (one.description for one in gathered.datasets.values())
    for label_set in gathered.label_sets.values():
        yield from (item.note for item in label_set.items.values() if item.note)
        data = gathered.guideline(label_set)
        if data is not None:
            yield data.decode("utf-8", "replace")
    yield from (one.reason or "" for one in gathered.references.values())
    yield from (one.reason or "" for one in (*gathered.baselines, *gathered.superseded))
    yield from (one.note for one in gathered.sources.picks.values())


def _logs(gathered: PublicGathered) -> Iterator[tuple[str, str]]:
    """Give the starts of the chunks of private logs, of long logs the first ones; no page is made of them."""
    whole = gathered.whole.evidence
    for name in set(whole.logs) - set(gathered.evidence.logs):
        for chunk in islice(whole.chunks(name), MOST_CHUNKS):
            yield f"a chunk of the log {name}", chunk.text[:MOST_OF_A_CHUNK]


def _free(gathered: PublicGathered) -> Iterator[str]:
    """Give the texts that may be shown: items, answers, labels, public logs; no note excuses anything."""
    for dataset in gathered.datasets.values():
        for data in gathered.texts(dataset).values():
            yield data.decode("utf-8", "replace")
    for run in gathered.runs.values():
        yield from gathered.outputs(run).values()
    for label_set in gathered.label_sets.values():
        yield from gathered.set_texts(label_set).values()
    told = gathered.evidence
    for log in told.logs:
        for chunk in told.chunks(log):
            yield chunk.text
        for report in told.reports(log):
            yield report.query.question
            yield from (place.why for place in told.places(report))
