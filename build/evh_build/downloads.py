"""The aggregate tables as files: what each holds, column by column, and its bytes as CSV and Parquet.

They hold counts, figures and provenance, and no item's text, output or label: a public build, which has only
the records that are shown, may give them all.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.project.arms import scored_against
from evh.store import strict
from evh.store.spreadsheet import guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evh.measure.agreement import PairAgreement
    from evh.records.reference import Reference
    from evh_build.gather import Gathered

FOLDER = "downloads"
SCHEMA = f"{FOLDER}/schema.json"
FORM = "evh downloads/1"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its type (``text``, ``whole``, ``number`` or ``bool``) and what it says, with its unit."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table: what a row of it is, its columns, and the rows of a project, in an order of its own."""

    name: str
    title: str
    row: str
    columns: tuple[Column, ...]
    rows: Callable[[Gathered], Iterator[Row]]

    @property
    def csv_path(self) -> str:
        """Where the CSV lies in the site."""
        return f"{FOLDER}/{self.name}.csv"

    @property
    def parquet_path(self) -> str:
        """Where the Parquet file lies in the site."""
        return f"{FOLDER}/{self.name}.parquet"


def csv_bytes(table: Table, rows: list[Row]) -> bytes:
    """Return a table as CSV: UTF-8, LF, texts guarded so that no spreadsheet runs them, numbers in full."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for row in rows:
        writer.writerow([_cell(row.get(column.name)) for column in table.columns])
    return out.getvalue().encode("utf-8", "replace")


def parquet_bytes(table: Table, rows: list[Row]) -> bytes:
    """Return a table as Parquet, zstd; the same rows give the same bytes, with one version of pyarrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "bool": pa.bool_()}
    schema = pa.schema(
        [
            pa.field(column.name, types[column.type], metadata={"meaning": column.meaning})
            for column in table.columns
        ]
    )
    arrays = [
        pa.array([_typed(row.get(column.name), column.type) for row in rows], type=types[column.type])
        for column in table.columns
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def schema_bytes(counts: dict[str, int]) -> bytes:
    """Return ``schema.json``: each table's files, columns and number of rows; ``counts`` has that by name."""
    return strict.dump_manifest(
        {
            "form": FORM,
            "tables": {
                table.name: {
                    "title": table.title,
                    "row": table.row,
                    "rows": counts[table.name],
                    "csv": f"{table.name}.csv",
                    "parquet": f"{table.name}.parquet",
                    "columns": [
                        {"name": one.name, "type": one.type, "meaning": one.meaning} for one in table.columns
                    ],
                }
                for table in TABLES
            },
        }
    )


def _datasets(gathered: Gathered) -> Iterator[Row]:
    for name, one in sorted(gathered.datasets.items()):
        yield {
            "dataset_id": name,
            "version": str(one.version),
            "created_at": one.created_at,
            "task": one.task,
            "governed": one.governed,
            "visibility": one.visibility,
            "redistributable": one.redistributable,
            "parent": one.parent,
            "n_items": len(one.items),
        }


def _label_sets(gathered: Gathered) -> Iterator[Row]:
    for ref, one in sorted(gathered.label_sets.items()):
        yield {
            "label_set": ref,
            "dataset_id": one.dataset_id,
            "task": gathered.sources.task_of(one),
            "source": one.kind,
            "by": one.by,
            "created_at": one.created_at,
            "n_items": one.n_items,
            "n_conflicts": len(one.conflicts),
            "n_preceding": one.n_preceding,
            "guideline_sha256": (one.guideline or {}).get("sha256"),
            "labels_sha256": one.labels_sha256,
        }


def _references(gathered: Gathered) -> Iterator[Row]:
    for ref, one in sorted(gathered.references.items()):
        yield {
            "reference": ref,
            "dataset_id": one.dataset_id,
            "tier": one.tier,
            "n_items": one.n_items,
            "created_at": one.created_at,
            "promoted_from": ", ".join(one.label_refs) or None,
            "promoted_by": one.promoted_by,
            "guideline_sha256": ", ".join(_guidelines(gathered, one)) or None,
            "reason": one.reason,
        }


def _guidelines(gathered: Gathered, one: Reference) -> list[str]:
    sets = [gathered.label_sets[ref] for ref in one.label_refs if ref in gathered.label_sets]
    return sorted({str(held.guideline["sha256"]) for held in sets if held.guideline})


def _coverage(gathered: Gathered) -> Iterator[Row]:
    for name in sorted(gathered.datasets):
        report = gathered.report(name)
        for task in report.tasks if report else ():
            for one in task.sets:
                yield {
                    "dataset_id": name,
                    "task": task.task,
                    "set": one.ref,
                    "kind": one.kind,
                    "source": one.source_kind,
                    "n_labelled": one.covered,
                    "n_items": one.of,
                    "n_distinct": one.distinct,
                    "majority_share": one.majority_share,
                    "own": one.own,
                }


def _agreement(gathered: Gathered) -> Iterator[Row]:
    for name in sorted(gathered.datasets):
        report = gathered.report(name)
        for task in report.tasks if report else ():
            for pair in task.pairs:
                yield {
                    "dataset_id": name,
                    "task": task.task,
                    "a": pair.a,
                    "b": pair.b,
                    **_figures_of(pair.agreement),
                    "guideline_differs": pair.guideline_differs,
                    "derived": pair.derived,
                }


def _figures_of(one: PairAgreement) -> Row:
    return {
        "n": one.n,
        "n_same": one.same,
        "same_share": one.same_share,
        "same_low": one.same_interval.low if one.same_interval else None,
        "same_high": one.same_interval.high if one.same_interval else None,
        "n_sharing": one.sharing,
        "kappa": one.kappa,
        "ac1": one.ac1,
        "alpha": one.alpha,
        "prevalence": one.prevalence,
        "bias": one.bias,
        "too_few": one.too_few,
    }


def _runs(gathered: Gathered) -> Iterator[Row]:
    for key, run in sorted(gathered.runs.items()):
        yield {
            "run": key,
            "arm": run.config_id,
            "dataset_id": run.dataset_id,
            "created_at": run.created_at,
            "recorded": run.recorded,
            "against": scored_against(run),
            "tier": run.reference_tier,
            "n_items": run.n_items,
            "n_errors": run.n_errors,
            "primary_metric": run.primary_metric,
            "primary_value": run.scores.get(run.primary_metric or ""),
            "derived": (run.derived or {}).get("kind"),
            "fingerprint": run.fingerprint.get("hash"),
        }


def _figures(gathered: Gathered) -> Iterator[Row]:
    for key, run in sorted(gathered.runs.items()):
        for metric, value in sorted(run.scores.items()):
            yield {
                "run": key,
                "metric": metric,
                "value": value,
                "higher_is_better": run.higher_is_better(metric),
            }


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return guard(value) if isinstance(value, str) else repr(value)


def _typed(value: object, kind: str) -> object:
    if kind == "number" and isinstance(value, int):  # Arrow refuses one over 2**53, which JSON can hold
        return float(value)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _columns(*told: tuple[str, str, str]) -> tuple[Column, ...]:
    return tuple(Column(*one) for one in told)


_DATASET = ("dataset_id", "text", "the dataset")
_AGAINST = "`labels/<dataset>/<set>` or `<tier>/<name>`"

TABLES: tuple[Table, ...] = (
    Table(
        "datasets", "Datasets", "a dataset",
        _columns(
            _DATASET,
            ("version", "text", "its version, as its manifest has it"),
            ("created_at", "text", "when it was made, UTC"),
            ("task", "text", "what is asked of an item; empty for none"),
            ("governed", "bool", "whether it only changes by a new version"),
            ("visibility", "text", "`public` or `private`"),
            ("redistributable", "bool", "whether its items' texts may be handed on"),
            ("parent", "text", "the dataset that it is a version of, where that may be told"),
            ("n_items", "whole", "items"),
        ),
        _datasets,
    ),
    Table(
        "label_sets", "Label sets", "a label set",
        _columns(
            ("label_set", "text", "`<dataset>/<set>`"),
            _DATASET,
            ("task", "text", "its task, else its dataset's"),
            ("source", "text", "who labelled: `person`, `model` or `rule`"),
            ("by", "text", "the person, model or rule file"),
            ("created_at", "text", "when it was made, UTC"),
            ("n_items", "whole", "labelled items"),
            ("n_conflicts", "whole", "texts left unlabelled, for equal bytes got different answers"),
            ("n_preceding", "whole", "records whose outcome came no later than the decision"),
            ("guideline_sha256", "text", "sha256 of the guideline it was labelled by"),
            ("labels_sha256", "text", "digest of the labels"),
        ),
        _label_sets,
    ),
    Table(
        "coverage", "Coverage", "a label or reference set that labels items of a dataset",
        _columns(
            _DATASET,
            ("task", "text", "the set's task"),
            ("set", "text", "`<dataset>/<set>`, or `<tier>/<name>` of a reference"),
            ("kind", "text", "`labels` or `reference`"),
            ("source", "text", "`person`, `model` or `rule`; empty where mixed"),
            ("n_labelled", "whole", "items of the dataset that it labels"),
            ("n_items", "whole", "items of the dataset"),
            ("n_distinct", "whole", "different labels that it gives there"),
            ("majority_share", "number", "share of the most frequent label, 0 to 1"),
            ("own", "bool", "whether it is a set of this dataset"),
        ),
        _coverage,
    ),
    Table(
        "agreement", "Agreement", "two sets of one task that label the same bytes of a dataset",
        _columns(
            _DATASET,
            ("task", "text", "the task of both"),
            ("a", "text", "the first set"),
            ("b", "text", "the second set"),
            ("n", "whole", "items that both label"),
            ("n_same", "whole", "items that both answer alike"),
            ("same_share", "number", "n_same / n, 0 to 1"),
            ("same_low", "number", "lower end of Wilson's 95 % interval of it"),
            ("same_high", "number", "upper end"),
            ("n_sharing", "whole", "items whose accepted answers differ but meet"),
            ("kappa", "number", "Cohen's kappa"),
            ("ac1", "number", "Gwet's AC1"),
            ("alpha", "number", "Krippendorff's nominal alpha of the two"),
            ("prevalence", "number", "prevalence index"),
            ("bias", "number", "bias index"),
            ("too_few", "bool", "whether n is below the least overlap that says anything"),
            ("guideline_differs", "bool", "whether they were labelled by two guidelines"),
            ("derived", "bool", "whether one was promoted from the other: they agree by construction"),
        ),
        _agreement,
    ),
    Table(
        "reference_sets", "Reference sets", "a reference set",
        _columns(
            ("reference", "text", "`<tier>/<name>`"),
            _DATASET,
            ("tier", "text", "its tier"),
            ("n_items", "whole", "items"),
            ("created_at", "text", "when it was promoted, UTC"),
            ("promoted_from", "text", "the label sets it was promoted from"),
            ("promoted_by", "text", "who promoted it"),
            ("guideline_sha256", "text", "sha256 of each different guideline of those sets"),
            ("reason", "text", "why"),
        ),
        _references,
    ),
    Table(
        "runs", "Runs", "a finished run",
        _columns(
            ("run", "text", "`<folder>/<run id>`"),
            ("arm", "text", "the config"),
            _DATASET,
            ("created_at", "text", "when it began, UTC"),
            ("recorded", "bool", "whether it replays production's own decisions"),
            ("against", "text", f"what it was scored against: {_AGAINST}"),
            ("tier", "text", "the tier of that reference; `labels` for a label set"),
            ("n_items", "whole", "items"),
            ("n_errors", "whole", "items that failed"),
            ("primary_metric", "text", "the metric that stands for it"),
            ("primary_value", "number", "its value"),
            ("derived", "text", "`rescored` or `recorded`: made of another run or of a capture"),
            ("fingerprint", "text", "hash of all that identifies it"),
        ),
        _runs,
    ),
    Table(
        "figures", "Figures", "a figure of a run",
        _columns(
            ("run", "text", "`<folder>/<run id>`"),
            ("metric", "text", "the metric"),
            ("value", "number", "its value over the run"),
            ("higher_is_better", "bool", "whether a larger value is better"),
        ),
        _figures,
    ),
)  # fmt: skip
"""The tables, in the order of the page."""
