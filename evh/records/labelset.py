"""A label set: one labelling pass over one dataset by one source, never edited."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, without_empty
from evh.store.hashing import is_sha256, sha256, sha256_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCES = ("person", "model", "rule")
RULE_COUNTS = ("n_matched", "n_labelled", "n_preceding", "n_timed")
"""What each rule of a rule set counts."""


@dataclass(frozen=True, slots=True)
class LabelItem:
    """What a set records of one labelled item beside the label's text."""

    sha256: str
    note: str | None = None
    slice: str | None = None
    proposal: Mapping[str, Any] | None = None
    settled: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """A set's ``labels.json``. Its name across datasets is `ref`, ``<dataset>/<set>``.

    ``source`` is ``{kind: person|model|rule, …}`` as the data layout gives it. ``rules`` (rule sets only)
    is what each rule did: ``{name, because, n_matched, n_labelled, n_preceding, reads_output}``, where
    ``n_preceding`` counts records whose outcome came before the decision it is compared with.
    ``choices`` are the only answers that its sheet allowed, or none for any.
    ``conflicts`` maps the sha256 of bytes that got different answers to those answers; they stay unlabelled.
    """

    dataset_id: str
    set: str
    source: Mapping[str, Any]
    items: Mapping[str, LabelItem]
    labels_sha256: str
    task: str = ""
    created_at: str = ""
    version: int = 1
    n_items: int = 0
    guideline: Mapping[str, Any] | None = None
    sheet_sha256: str | None = None
    choices: tuple[str, ...] = ()
    selection: Mapping[str, Any] | None = None
    parents: tuple[Mapping[str, Any], ...] = ()
    relabel_of: str | None = None
    imported_by: str | None = None
    tool: Mapping[str, Any] | None = None
    rules: tuple[Mapping[str, Any], ...] = ()
    conflicts: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """``<dataset>/<set>``, the set's name across the project."""
        return f"{self.dataset_id}/{self.set}"

    @property
    def kind(self) -> str:
        """``person``, ``model`` or ``rule``."""
        return str(self.source.get("kind", ""))

    @property
    def by(self) -> str:
        """Who or what labelled, in a word or two: a person, a model or config, a rule file."""
        for key in ("by", "config_id", "model"):
            if self.source.get(key):
                return str(self.source[key])
        for key in ("rules_file", "journal"):
            if self.source.get(key):
                return str(self.source[key]).rsplit("/", 1)[-1]
        return ""

    @property
    def from_arm(self) -> bool:
        """Whether its labels are the outputs of an arm's run."""
        return self.kind == "model" and bool(self.source.get("run_id") or self.source.get("config_id"))

    @property
    def reads_output(self) -> bool:
        """Whether a rule took its answer from the recorded decision: such labels are production's own."""
        return any(rule.get("reads_output") for rule in self.rules)

    @property
    def n_preceding(self) -> int:
        """How many records had their outcome before the decision that the label judges."""
        return sum(int(rule.get("n_preceding") or 0) for rule in self.rules)


def labels_digest(rows: Mapping[str, tuple[str, bytes]]) -> str:
    """Return ``labels_sha256``: what a fingerprint names.

    Args:
        rows: item id → (the item's sha256, the label's bytes as they lie in the file).
    """
    return sha256_lines(
        f"{item_id}\t{item_sha}\t{sha256(text)}" for item_id, (item_sha, text) in rows.items()
    )


def parse(raw: Mapping[str, Any], place: object) -> LabelSet:
    """Return the set in a ``labels.json``, or raise a Refusal with every key that is wrong."""
    shape = Shape(raw, place)
    items: dict[str, LabelItem] = {}
    for item_id, entry in shape.mapping("items").items():
        if type(entry) is dict and len(entry) == 1 and is_sha256(entry.get("sha256")):
            items[item_id] = LabelItem(sha256=entry["sha256"])  # nearly all of a rule set's
            continue
        if not isinstance(entry, dict):
            shape.problem(f"items[{item_id!r}]", "is not a mapping")
            continue
        one = Shape(entry, f"{place}: items[{item_id!r}]")
        items[item_id] = LabelItem(
            sha256=_sha256(one),
            note=one.maybe_text("note"),
            slice=one.maybe_text("slice"),
            proposal=one.maybe_mapping("proposal"),
            settled=one.maybe_text("settled"),
            extra=one.rest(),
        )
        shape.reasons.extend(one.reasons)
    source = shape.mapping("source")
    if source.get("kind") not in SOURCES:
        shape.problem("source.kind", f"is {source.get('kind')!r}; it can be {', '.join(SOURCES)}")
    made = LabelSet(
        dataset_id=shape.identifier("dataset_id"),
        set=shape.identifier("set"),
        source=source,
        items=items,
        labels_sha256=shape.text("labels_sha256", required=True),
        task=shape.text("task"),
        created_at=shape.text("created_at"),
        version=shape.whole("version", 1),
        n_items=shape.count("n_items", len(items)),
        guideline=shape.maybe_mapping("guideline"),
        sheet_sha256=shape.maybe_text("sheet_sha256"),
        choices=shape.texts("choices"),
        selection=shape.maybe_mapping("selection"),
        parents=_mappings(shape, "parents"),
        relabel_of=shape.maybe_text("relabel_of"),
        imported_by=shape.maybe_text("imported_by"),
        tool=shape.maybe_mapping("tool"),
        rules=_mappings(shape, "rules", counts=RULE_COUNTS),
        conflicts=shape.mapping("conflicts"),
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a label set that evh can read")
    return made


def _sha256(shape: Shape) -> str:
    value = shape.text("sha256", required=True)
    if value and not is_sha256(value):
        shape.problem("sha256", f"{value[:80]!r} is not 64 lower-case hex digits")
    return value


def _mappings(shape: Shape, key: str, *, counts: Sequence[str] = ()) -> tuple[Mapping[str, Any], ...]:
    """Return a list of mappings, each with a count or nothing under each of ``counts``."""
    made = shape.listing(key)
    for at, entry in enumerate(made):
        if not isinstance(entry, dict):
            shape.problem(f"{key}[{at}]", "is not a mapping")
            continue
        one = Shape(entry, f"{shape.place}: {key}[{at}]")
        for name in counts:
            one.count(name)
        shape.reasons.extend(one.reasons)
    return tuple(made)


def dump(label_set: LabelSet) -> dict[str, Any]:
    """Return the ``labels.json`` of a set; absent keys mean "none"."""
    return {
        **label_set.extra,
        "dataset_id": label_set.dataset_id,
        "set": label_set.set,
        "source": dict(label_set.source),
        "task": label_set.task,
        "created_at": label_set.created_at,
        "version": label_set.version,
        "n_items": label_set.n_items,
        "labels_sha256": label_set.labels_sha256,
        **without_empty(
            {
                "guideline": label_set.guideline,
                "sheet_sha256": label_set.sheet_sha256,
                "choices": list(label_set.choices) or None,
                "selection": label_set.selection,
                "parents": list(label_set.parents) or None,
                "relabel_of": label_set.relabel_of,
                "imported_by": label_set.imported_by,
                "tool": label_set.tool,
                "rules": list(label_set.rules) or None,
                "conflicts": dict(label_set.conflicts) or None,
            }
        ),
        "items": {
            item_id: {
                **item.extra,
                "sha256": item.sha256,
                **without_empty(
                    {
                        "note": item.note,
                        "slice": item.slice,
                        "proposal": item.proposal,
                        "settled": item.settled,
                    }
                ),
            }
            for item_id, item in label_set.items.items()
        },
    }
