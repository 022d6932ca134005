"""A run's answers become a ``model`` set: what a model said, kept as labels that other arms are held against.

A label is exactly what a scorer reads. So it is the answer's stored decision, the adapter's canonical form of
it (``decide``), which is also what people's labels say. Where no decision is stored (a run made elsewhere) it
is the output without one trailing line end. An output that is an accept-list, ``{"accept": […]}``, becomes
a label that accepts several answers.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts.label_from_capture import Guideline
from evh.errors import Refusal
from evh.project import datasets, labels, runs
from evh.records.answers import answers, canonical, comparable, listed, malformed
from evh.records.labelset import LabelItem, LabelSet
from evh.records.shape import is_number
from evh.store import strict
from evh.store.hashing import is_sha256
from evh.store.names import check_id
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.run import Prediction, Run

CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "MAX_TOKENS"})
"""What servers call an answer that the limit of tokens ended."""
FINISH = ("finish_reason", "stop_reason", "_finish_reason", "_stop_reason")


@dataclass(frozen=True, slots=True)
class Plan:
    """A model set that would be written.

    Attributes:
        label_set: the manifest.
        texts: item id → the label's bytes.
        guideline: what is copied into the set, or None.
        n_of: items of the dataset.
        n_failed: items that the run failed on: they get no label.
        n_not_run: items that the run did not come to.
        n_in_conflict: items left unlabelled because equal bytes got different answers.
        n_cut_off: labels taken from answers that the limit of tokens ended.
        warnings: what a person should know, a sentence each.
    """

    label_set: LabelSet
    texts: Mapping[str, bytes]
    guideline: Guideline | None
    n_of: int
    n_failed: int
    n_not_run: int
    n_in_conflict: int
    n_cut_off: int
    warnings: tuple[str, ...]


def plan(
    project: Project,
    *,
    run_id: str,
    name: str,
    guideline_path: Path | None = None,
    allow_cut_off: bool = False,
    accept_conflicts: bool = False,
    task: str | None = None,
) -> Plan:
    """Return the set that a run's answers become, for the dataset that it ran on.

    Args:
        project: the project.
        run_id: the run, or ``<folder>/<run_id>``.
        name: the set's name.
        guideline_path: what the model was told, such as the labelling prompt.
        allow_cut_off: take answers that the limit of tokens ended, as they are.
        accept_conflicts: make one label that accepts every answer of equal bytes, instead of none.
        task: the set's task; the dataset's by default.

    Raises:
        Refusal: with every reason: a run that is not finished, was derived from another or holds judgements;
            one of a dirty or unknown build; a dataset that changed since; an answer that is empty, is not
            here, is a malformed accept-list or was cut off; nothing answered; an existing set.
    """
    check_id(name, "label set")
    run = runs.read(project, run_id)
    _refuse_run(run)
    dataset = datasets.read(project, run.dataset_id)
    if labels.exists(project, dataset.dataset_id, name):
        raise labels.already(f"{dataset.dataset_id}/{name}")
    guideline = None
    if guideline_path is not None:
        guideline = Guideline(guideline_path.suffix or ".txt", strict.read_bytes(guideline_path))
    rows = runs.predictions(project, run)
    outputs = runs.outputs(project, run, rows, verify=True)
    _refuse_dataset(run, dataset, rows)
    taken = _Taken(run, outputs, allow_cut_off=allow_cut_off)
    for row in rows:
        taken.take(row)
    taken.refuse()
    texts, conflicts = _label(dataset, taken.texts, accept_conflicts=accept_conflicts)
    in_conflict = [item.item_id for item in dataset.items if item.sha256 in conflicts]
    if not texts:
        raise Refusal(
            "nothing-labelled",
            f"no item of {dataset.dataset_id} gets a label",
            why=[f"{run.key}: {plural(len(rows), 'row')}, {plural(taken.failed, 'item')} failed"]
            + [f"{plural(len(in_conflict), 'item')} of equal bytes with different answers"] * bool(conflicts),
            next="--conflicts accept" if conflicts else f"evh run --config {run.config_id}",
        )
    made = LabelSet(
        dataset_id=dataset.dataset_id,
        set=name,
        source=_source(run),
        items={item.item_id: LabelItem(item.sha256) for item in dataset.items if item.item_id in texts},
        labels_sha256="",
        task=dataset.task if task is None else task,
        created_at=project.stamp(),
        n_items=len(texts),
        conflicts={} if accept_conflicts else conflicts,
    )
    return Plan(
        label_set=made,
        texts={key: text.encode() for key, text in texts.items()},
        guideline=guideline,
        n_of=len(dataset.items),
        n_failed=taken.failed,
        n_not_run=len(dataset.items) - len(rows),
        n_in_conflict=0 if accept_conflicts else len(in_conflict),
        n_cut_off=len(taken.cut_off),
        warnings=_warnings(dataset, taken, texts, conflicts, accept_conflicts=accept_conflicts),
    )


def commit(project: Project, plan: Plan) -> LabelSet:
    """Write the set, whole; return it as written."""
    guideline = (plan.guideline.suffix, plan.guideline.data) if plan.guideline else None
    return labels.write_new(project, plan.label_set, plan.texts, guideline=guideline)


def cut_off(row: Prediction, params: Mapping[str, Any]) -> str | None:
    """Return what tells that the limit of tokens ended an answer, or None.

    A finish reason says so, the mark ``_cut_off``, or as many tokens out as ``max_tokens`` allows.

    Args:
        row: the prediction.
        params: the run's settings.
    """
    meta = row.hidden.get("_meta")
    told = {**row.extra, **(meta if isinstance(meta, dict) else {}), **row.hidden}
    for key in FINISH:
        if told.get(key) in CUT_OFF:
            return f"{key} is {told[key]!r}"
    if told.get("_cut_off") is True or told.get("cut_off") is True:
        return "it is marked as cut off"
    most = params.get("max_tokens")
    if row.tokens_out is not None and most is not None and is_number(most) and 0 < most <= row.tokens_out:
        return f"{row.tokens_out:g} tokens out of max_tokens {most:g}"
    return None


class _Taken:
    """The labels taken from a run's rows, and what is wrong with them by the code of its refusal."""

    def __init__(self, run: Run, outputs: Mapping[str, str], *, allow_cut_off: bool) -> None:
        self.texts: dict[str, str] = {}
        self.cut_off: list[str] = []
        self.undecided = 0
        self.failed = 0
        self._run = run
        self._outputs = outputs
        self._allow_cut_off = allow_cut_off
        self._reasons: list[tuple[str, str]] = []

    def take(self, row: Prediction) -> None:
        """Take one row's answer, or note why it is none."""
        if row.error is not None:
            self.failed += 1
            return
        output = self._outputs.get(row.item_id)
        text = row.decision if row.decision is not None else None if output is None else comparable(output)
        if text is None:
            self._refuse("no-output", row, "its output is not here")
            return
        cut = cut_off(row, self._run.params)
        if cut is not None:
            self.cut_off.append(row.item_id)
            if not self._allow_cut_off:
                self._refuse("cut-off", row, f"its output was cut off: {cut}")
        if not text.strip() or (output is not None and not output.strip()):
            self._refuse("empty-output", row, "its output is empty")
            return
        fault = malformed(text)
        if fault is not None:
            self._refuse("bad-label", row, f"the accept-list is malformed: {fault}")
            return
        self.undecided += row.decision is None
        several = listed(text)
        # Readers drop one line end of a label: an answer that ends in one keeps it.
        plain = f"{text}\n" if text.endswith("\n") else text
        self.texts[row.item_id] = plain if several is None else canonical(several)

    def refuse(self) -> None:
        """Raise one Refusal with every reason, if there is one."""
        codes = [code for code, _ in self._reasons]
        if not codes:
            return
        ways = {
            "cut-off": "run it again with a larger max_tokens, or take them as they are: --allow-cut-off",
            "no-output": "restore the run's outputs (git checkout)",
        }
        again = f"mend the arm and run it again: evh run --config {self._run.config_id}"
        raise Refusal(
            codes[0] if len(set(codes)) == 1 else "bad-outputs",
            f"not every answer of {self._run.run_id} is a label, so none is taken",
            why=[reason for _, reason in self._reasons],
            next="; ".join(dict.fromkeys(ways.get(code, again) for code in codes)),
        )

    def _refuse(self, code: str, row: Prediction, reason: str) -> None:
        self._reasons.append((code, f"{self._run.key}: {row.item_id}: {reason}"))


def _refuse_run(run: Run) -> None:
    """Refuse a run that is not a model's own answers, or that an unknown evh made."""
    kind, origin = (run.derived or {}).get("kind"), (run.derived or {}).get("from")
    build = run.build or {}
    again = f"run it again by a committed or an installed evh: evh run --config {run.config_id}"
    found: list[tuple[str, str, str]] = []
    if run.judged:
        found.append(("judged-run", "it holds judgements of another run's outputs", "name the run itself"))
    elif run.recorded or kind == "recorded":
        said = "it was derived: its answers are production's own"
        found.append(("derived-run", said, "evh label-from-capture, with label: $output in a rule"))
    elif run.derived:
        said = f"it was derived ({kind}) from {origin}, which holds the outputs"
        found.append(("derived-run", said, f"--run {shlex.quote(str(origin))}"))
    if not build.get("ref"):
        found.append(("unknown-build", "which build of evh made it is not on record", again))
    elif build.get("dirty") is not False:
        said = f"it was made by a checkout with changes that no commit holds ({str(build['ref'])[:12]})"
        found.append(("dirty-build", said, again))
    if found:
        raise Refusal(
            found[0][0],
            f"{run.run_id} cannot become a label set",
            why=[f"{run.key}: {said}" for _, said, _ in found],
            next="; ".join(way for _, _, way in found),
        )


def _refuse_dataset(run: Run, dataset: Dataset, rows: Sequence[Prediction]) -> None:
    """Refuse a run whose items are not those of the dataset any more: a label is of an item's bytes."""
    known = dataset.by_id
    reasons = [
        f"{run.key}: {row.item_id}: {dataset.dataset_id} has no such item"
        for row in rows
        if row.item_id not in known
    ]
    data = run.fingerprint.get("data")
    ran_on = data.get("items_sha256") if isinstance(data, dict) else None
    if is_sha256(ran_on) and ran_on != datasets.digest(dataset):
        reasons.append(f"{run.key}: {dataset.dataset_id} held other items when it ran")
    if reasons:
        raise Refusal(
            "changed-dataset",
            f"{run.run_id} ran on other items than {dataset.dataset_id} has now",
            why=reasons,
            next=f"restore the dataset, or run it again: evh run --config {run.config_id} "
            f"--dataset-id {dataset.dataset_id}",
        )


def _source(run: Run) -> dict[str, Any]:
    made = {
        "kind": "model",
        "run_id": run.run_id,
        "config_id": run.config_id,
        "fingerprint": run.fingerprint.get("hash"),
        "model": run.params.get("model"),
    }
    return {key: value for key, value in made.items() if isinstance(value, str) and value}


def _label(
    dataset: Dataset, given: Mapping[str, str], *, accept_conflicts: bool
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return item id → label, and the conflicts: sha256 of bytes → the different answers that they got."""
    by_sha: dict[str, set[str]] = {}
    for item in dataset.items:
        if item.item_id in given:
            by_sha.setdefault(item.sha256, set()).add(given[item.item_id])
    conflicts = {sha: sorted(texts) for sha, texts in by_sha.items() if len(texts) > 1}
    made: dict[str, str] = {}
    for item in dataset.items:
        if item.item_id not in given:
            continue
        if item.sha256 not in conflicts:
            made[item.item_id] = given[item.item_id]
        elif accept_conflicts:
            made[item.item_id] = canonical(one for text in conflicts[item.sha256] for one in answers(text))
    return made, conflicts


def _warnings(
    dataset: Dataset,
    taken: _Taken,
    texts: Mapping[str, str],
    conflicts: Mapping[str, Sequence[str]],
    *,
    accept_conflicts: bool,
) -> tuple[str, ...]:
    made = []
    if taken.failed:
        made.append(f"{plural(taken.failed, 'item')} failed in the run and got no label")
    if taken.cut_off:
        made.append(
            f"{plural(len(taken.cut_off), 'label')} of answers that were cut off: {taken.cut_off[0]} …"
        )
    if taken.undecided:
        made.append(
            f"{plural(taken.undecided, 'answer')} without a stored decision: the output's text is taken"
        )
    if conflicts:
        done = "labelled with every answer" if accept_conflicts else "left unlabelled (--conflicts accept)"
        made.append(f"{plural(len(conflicts), 'text')} of equal bytes got different answers: {done}")
    if len(set(texts.values())) == 1 and len(dataset.items) > 1:
        made.append("every label is the same answer: such a set measures the recall of that answer only")
    return tuple(made)
