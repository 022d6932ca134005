"""The sheet, an item and a comparison as JSON objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evh.records.answers import answers

if TYPE_CHECKING:
    from evh.acts.compare_runs import Comparison
    from evh.acts.item_view import ItemView
    from evh.acts.sheet import Against, ArmColumn, Cell, Footer, LabelColumn, Row, ScoreColumn, Sheet
    from evh.acts.sheet_model import ValueCount
    from evh.records.pick import Pick


def sheet_rows(sheet: Sheet, *, scores_only: bool) -> list[dict[str, Any]]:
    """Return the rows of a sheet."""
    return [_row(sheet, row, scores_only=scores_only) for row in sheet.rows]


def sheet_rest(sheet: Sheet, counts: tuple[ValueCount, ...] | None) -> dict[str, Any]:
    """Return what a sheet says beside its rows."""
    return {
        "dataset_id": sheet.dataset_id,
        "n_items": sheet.n_items,
        "metric": sheet.metric or None,
        "row_metric": sheet.row_metric or None,
        "higher_is_better": sheet.higher,
        "against": _ref(sheet.against),
        "new_vs": sheet.new_vs,
        "judged_by": sheet.judged_by or None,
        "judge": sheet.judge,
        "goal": sheet.goal,
        "fields": list(sheet.fields),
        "arms": [arm(one) for one in sheet.arms],
        "label_columns": [label_column(one) for one in sheet.labels],
        "footer": [_footer(one) for one in sheet.footer],
        "by": None
        if counts is None
        else [{"value": one.value, "n": one.n, "signals": dict(one.signals)} for one in counts],
    }


def item(view: ItemView) -> dict[str, Any]:
    """Return an item in full."""
    return {
        "dataset_id": view.dataset_id,
        "item_id": view.item_id,
        "sha256": view.sha256,
        "fields": dict(view.fields),
        "lineage": dict(view.lineage),
        "text": view.text,
        "arms": [
            {
                "name": one.name,
                "run_id": one.run_id,
                "repeats": list(one.repeats),
                "recorded": one.recorded,
                "latency_ms": one.latency_ms,
                "tokens_in": one.tokens_in,
                "tokens_out": one.tokens_out,
                "cost_usd": one.cost_usd,
                **_answered(one.cell),
                "scores": _scores(one.scores, one.cell),
            }
            for one in view.arms
        ],
        "labels": [
            {
                **label_column(one.column),
                "text": one.text,
                "answers": list(answers(one.text)),
                "note": one.note,
                "slice": one.slice,
            }
            for one in view.labels
        ],
        "elsewhere": [{"dataset_id": one.dataset_id, "item_id": one.item_id} for one in view.elsewhere],
        "picked": _pick(view.picked),
    }


def moved(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the items that moved between two arms."""
    return [
        {
            "item_id": one.item_id,
            "preview": one.preview,
            "decided_otherwise": one.decided_otherwise,
            "better": one.better,
            "arms": [
                {"name": column.name, **_answered(cell), "score": score}
                for column, cell, score in zip(comparison.arms, one.cells, one.scores, strict=True)
            ],
        }
        for one in comparison.rows
    ]


def moved_rest(comparison: Comparison) -> dict[str, Any]:
    """Return what a comparison says beside its items."""
    return {
        "dataset_id": comparison.dataset_id,
        "metric": comparison.metric or None,
        "against": _ref(comparison.against),
        "n_items": comparison.n_items,
        "n_both": comparison.n_both,
        "n_same": comparison.n_same,
        "n_better": None if comparison.n_better is None else list(comparison.n_better),
        "arms": [arm(one) for one in comparison.arms],
    }


def arm(column: ArmColumn) -> dict[str, Any]:
    """Return an arm with its score columns."""
    return {
        "name": column.name,
        "run_id": column.run.run_id,
        "config_id": column.run.config_id,
        "recorded": column.recorded,
        "floor": column.floor,
        "trial": column.trial,
        "repeats": [run.run_id for run in column.repeats],
        "scores": [
            {
                "metric": one.metric,
                "against": _ref(one.against),
                "primary": one.primary,
                "higher_is_better": one.higher,
                "own_labels": one.own,
                "fitted_here": one.fitted,
                "runs": list(one.runs),
            }
            for one in column.scores
        ],
    }


def label_column(column: LabelColumn) -> dict[str, Any]:
    """Return a label or reference set."""
    return {
        "ref": column.ref,
        "kind": column.kind,
        "name": column.name,
        "tier": column.tier,
        "source_kind": column.source_kind,
        "by": column.by or None,
        "task": column.task or None,
        "n": column.n,
    }


def _row(sheet: Sheet, row: Row, *, scores_only: bool) -> dict[str, Any]:
    arms = []
    for column, cell in zip(sheet.arms, row.cells, strict=True):
        made = {"name": column.name, **_answered(cell), "scores": _scores(column.scores, cell)}
        if scores_only:
            made["output"] = None
        arms.append(made)
    signals = row.signals
    return {
        "item_id": row.item_id,
        "sha256": row.sha256,
        "preview": row.preview,
        "fields": dict(row.fields),
        "arms": arms,
        "labels": [
            {"ref": column.ref, "text": text, "answers": list(answers(text))}
            for column, text in zip(sheet.labels, row.labels, strict=True)
            if text is not None
        ],
        "winners": list(row.winners),
        "none_right": row.none_right,
        "judge_winners": list(row.judge_winners),
        "signals": {
            "wrong": list(signals.wrong),
            "wrong_by": list(signals.wrong_by),
            "disagree": signals.disagree,
            "split": signals.split,
            "new": list(signals.new),
            "unlabelled": signals.unlabelled,
        },
        "picked": _pick(row.picked),
    }


def _answered(cell: Cell) -> dict[str, Any]:
    return {"output": cell.output, "decision": cell.decision, "error": cell.error}


def _scores(columns: tuple[ScoreColumn, ...], cell: Cell) -> list[dict[str, Any]]:
    return [
        {"metric": column.metric, "against": _ref(column.against), "value": score}
        for column, score in zip(columns, cell.scores, strict=True)
        if score is not None
    ]


def _footer(footer: Footer) -> dict[str, Any]:
    return {
        "arm": footer.arm,
        "n": footer.n,
        "of": footer.of,
        "errors": footer.errors,
        "means": list(footer.means),
        "counts": list(footer.counts),
        "win_rate": footer.win_rate,
        "verdict": footer.verdict,
        "p_corrected": footer.p,
        "judge_win_rate": footer.judge_win_rate,
        "figures": [{"against": _ref(against), "scores": dict(scores)} for against, scores in footer.figures],
        "repeats": [
            {
                "against": _ref(against),
                "metrics": {
                    name: {"runs": list(one.runs), "low": one.low, "high": one.high}
                    for name, one in spreads.items()
                },
            }
            for against, spreads in footer.spreads
        ],
        "majority_rates": [
            {"against": _ref(against), "rate": rate} for against, rate in footer.majority_rates
        ],
    }


def _pick(pick: Pick | None) -> dict[str, Any] | None:
    if pick is None:
        return None
    return {
        "targets": list(pick.targets),
        "tags": dict(pick.tags),
        "note": pick.note or None,
        "by": pick.by or None,
        "at": pick.at or None,
    }


def _ref(against: Against | None) -> str | None:
    return against.ref if against else None
