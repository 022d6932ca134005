"""The rows of each noun, record by record where they are many: each record's can be kept by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from evh.project import labels, references, runs
from evh.project.memory import Same
from evh.records.answers import shown
from evh.store.hashing import sha256_text
from evh_build import tables
from evh_build.tables import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from evh.records.dataset import Dataset
    from evh.records.labelset import LabelSet
    from evh.records.reference import Reference
    from evh.records.run import Run
    from evh_build.gather import Gathered
    from evh_build.tables import Row


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of a noun that one record gives.

    Attributes:
        record: names the record; empty for the rows of all records together.
        places: the files and folders that the rows are made of; None where they do not tell it all, and the
            rows are not worth keeping or may not be kept.
        rows: gives the rows.
        more: what else they are made of.
    """

    record: str
    places: tuple[Path, ...] | None
    rows: Callable[[], Iterable[Row]]
    more: tuple[str, ...] = ()


def parts(noun: str, gathered: Gathered) -> Iterator[Part]:
    """Give the rows of a noun that lie in text files, record by record where they are many."""
    if noun in tables.SMALL:
        yield Part("", None, partial(tables.SMALL[noun], gathered))
    else:
        yield from _LARGE[noun](gathered)


def _items(gathered: Gathered) -> Iterator[Part]:
    for name, dataset in gathered.datasets.items():
        if not dataset.items_file or gathered.view != "all":
            texts = gathered.text_places(name)
            places = None if texts is None else tuple(texts)
            yield Part(name, places, partial(_items_of, gathered, dataset), (_told(gathered, dataset),))


def _told(gathered: Gathered, dataset: Dataset) -> str:
    """Return what tells a dataset from every other one, made once for a process that builds again."""
    key = ("dataset told", dataset.dataset_id)
    return gathered.kept(key, (), lambda: sha256_text(repr(dataset)), Same(dataset))


def _items_of(gathered: Gathered, dataset: Dataset) -> Iterator[Row]:
    texts = gathered.texts(dataset)
    for position, item in enumerate(dataset.items):
        data = texts.get(item.item_id)
        yield {
            "dataset_id": dataset.dataset_id,
            "position": position,
            "item_id": item.item_id,
            "sha256": item.sha256,
            "text": None if data is None else data.decode("utf-8", "replace"),
            "fields": as_json(dict(item.fields)),
            "lineage": as_json(dict(item.lineage)),
        }


def _predictions(gathered: Gathered) -> Iterator[Part]:
    for key, run in gathered.runs.items():
        if not _is_parquet(gathered, key):
            held = gathered.outputs_chain(run) if gathered.with_outputs else (run,)
            places = tuple(runs.path_of(gathered.project, one) for one in held)
            more = (str(gathered.with_outputs), repr(run.predictions), repr(run.derived))
            yield Part(key, places, partial(_predictions_of, gathered, run), more)


def _predictions_of(gathered: Gathered, run: Run) -> Iterator[Row]:
    outputs = gathered.outputs(run)
    for one in gathered.predictions(run):
        yield {
            "run": run.key,
            "item_id": one.item_id,
            "output": outputs.get(one.item_id, one.output),
            "decision": one.decision,
            "error": one.error,
            "latency_ms": one.latency_ms,
            "tokens_in": one.tokens_in,
            "tokens_out": one.tokens_out,
            "cost_usd": one.cost_usd,
        }


def _scores(gathered: Gathered) -> Iterator[Part]:
    for key, run in gathered.runs.items():
        if not _is_parquet(gathered, key):
            place = runs.path_of(gathered.project, run)
            yield Part(key, (place,), partial(_scores_of, gathered, run), (repr(run.predictions),))


def _scores_of(gathered: Gathered, run: Run) -> Iterator[Row]:
    for one in gathered.predictions(run):
        for metric, value in sorted(one.scores.items()):
            yield {"run": run.key, "item_id": one.item_id, "metric": metric, "value": value}


def _labels(gathered: Gathered) -> Iterator[Part]:
    large = {name for name, _ in tables.files("labels", gathered)}
    for ref, one in gathered.label_sets.items():
        if ref not in large:
            place = labels.path_of(gathered.project, one.dataset_id, one.set)
            yield Part(ref, (place,), partial(_labels_of, gathered, ref, one))


def _labels_of(gathered: Gathered, ref: str, label_set: LabelSet) -> Iterator[Row]:
    for item_id, text in gathered.set_texts(label_set).items():
        item = label_set.items[item_id]
        yield {
            "label_set": ref,
            "item_id": item_id,
            "item_sha256": item.sha256,
            "label": text,
            "answer": shown(text),
            "note": item.note,
            "slice": item.slice,
        }


def _reference_labels(gathered: Gathered) -> Iterator[Part]:
    large = {name for name, _ in tables.files("reference_labels", gathered)}
    for ref, one in gathered.references.items():
        if ref not in large:
            # A foreign one may take its items' hashes from the dataset, and lie under another name.
            place = references.path_of(gathered.project, one.tier, one.name)
            whole = bool(one.items) and all(one.items.values()) and place.is_dir()
            yield Part(ref, (place,) if whole else None, partial(_reference_labels_of, gathered, ref, one))


def _reference_labels_of(gathered: Gathered, ref: str, reference: Reference) -> Iterator[Row]:
    dataset = gathered.datasets.get(reference.dataset_id)
    known = dataset.by_id if dataset else {}
    for item_id, text in gathered.reference_texts(reference).items():
        sha = reference.items.get(item_id) or (known[item_id].sha256 if item_id in known else None)
        yield {
            "reference": ref,
            "item_id": item_id,
            "item_sha256": sha,
            "label": text,
            "answer": shown(text),
        }


_LARGE: dict[str, Callable[[Gathered], Iterator[Part]]] = {
    "items": _items,
    "predictions": _predictions,
    "scores": _scores,
    "labels": _labels,
    "reference_labels": _reference_labels,
}


def _is_parquet(gathered: Gathered, key: str) -> bool:
    if gathered.view != "all":
        return False
    folder = runs.path_of(gathered.project, gathered.runs[key])
    return (folder / runs.ROWS_LARGE).is_file() and not (folder / runs.ROWS).is_file()
