"""Labels by rule: what recorded outcomes say is right becomes a ``rule`` set."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.adapters import loader
from evh.errors import Refusal
from evh.project import captures, datasets, labels
from evh.records import rules as record
from evh.records.answers import answers, canonical
from evh.records.labelset import LabelItem, LabelSet
from evh.records.rules import Facts
from evh.store import strict
from evh.store.clock import is_time
from evh.store.hashing import sha256, sha256_text
from evh.store.names import check_id
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.adapters.hooks import Adapter
    from evh.project.find import Project
    from evh.records.capture import Capture, Record
    from evh.records.dataset import Dataset, Item
    from evh.records.rules import Match, Rule, Rules

KINDS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class RuleCount:
    """What one rule did to the items of the dataset.

    Attributes:
        name: the rule's name.
        because: its reason.
        n_matched: items whose record it matched.
        n_labelled: items that got their label from it.
        n_timed: of those, the ones whose outcome and decision both have a time.
        n_preceding: of those, the ones whose outcome came no later than the decision.
        n_overlap: items that another rule matched too.
        n_conflict: of those, the ones where another rule answers differently.
        reads_output: whether it takes its answer from the recorded decision.
    """

    name: str
    because: str
    n_matched: int
    n_labelled: int
    n_timed: int
    n_preceding: int
    n_overlap: int
    n_conflict: int
    reads_output: bool

    def as_json(self) -> dict[str, Any]:
        """Return the rule's entry in ``labels.json``."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Guideline:
    """A guideline to copy into a set: its file's ending, with the dot, and its bytes."""

    suffix: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Plan:
    """A rule set that would be written, and what was left out of it.

    Attributes:
        label_set: the manifest.
        texts: item id → the label's bytes.
        guideline: what is copied into the set.
        rules: what each rule did, in the file's order.
        n_of: items of the dataset.
        n_no_record: items whose record the capture lacks.
        n_no_rule: items whose record no rule answers.
        n_in_conflict: items left unlabelled because equal bytes got different answers.
        warnings: what a person should know, a sentence each.
    """

    label_set: LabelSet
    texts: Mapping[str, bytes]
    guideline: Guideline
    rules: tuple[RuleCount, ...]
    n_of: int
    n_no_record: int
    n_no_rule: int
    n_in_conflict: int
    warnings: tuple[str, ...]


def plan(
    project: Project,
    *,
    dataset_id: str,
    capture_id: str,
    rules_path: Path,
    name: str,
    task: str | None = None,
    accept_conflicts: bool = False,
    adapter: str | None = None,
    guideline_path: Path | None = None,
) -> Plan:
    """Return the set that rules make of a capture's records, for the items of a dataset.

    An item's record is that of its lineage where the capture holds it with the same bytes, else the records
    of equal bytes. Equal bytes that get different answers stay unlabelled and are listed as conflicts.

    Args:
        project: the project.
        dataset_id: the dataset whose items are labelled.
        capture_id: the capture that holds the outcomes.
        rules_path: the file of label rules.
        name: the set's name.
        task: the set's task; the dataset's by default.
        accept_conflicts: make one label that accepts every answer of equal bytes, instead of none.
        adapter: the adapter that reads the records; the capture's by default, else the project's.
        guideline_path: the guideline; the rule file by default.

    Raises:
        Refusal: a rule file, dataset, capture, record or time that cannot be read; conflicting rules on a
            record; nothing labelled; an existing set.
    """
    check_id(name, "label set")
    dataset = datasets.read(project, dataset_id)
    capture = captures.read(project, capture_id)
    if labels.exists(project, dataset_id, name):
        raise labels.already(f"{dataset_id}/{name}")
    rules_bytes = strict.read_bytes(rules_path)
    rules = record.parse(strict.parse_yaml(rules_bytes, project.show(rules_path)), project.show(rules_path))
    guideline = Guideline(".yaml", rules_bytes)
    if guideline_path is not None:
        guideline = Guideline(guideline_path.suffix or ".txt", strict.read_bytes(guideline_path))
    reader = _Reader(project, capture, adapter)
    found = reader.matches(dataset, rules)
    _refuse_conflicts(found, rules, project.show(rules_path), capture_id)
    texts, conflicts = _label(dataset, found, accept_conflicts=accept_conflicts)
    counts = tuple(_count(rule, found, texts) for rule in rules.rules)
    n_in_conflict = sum(item.item_id not in texts for item in dataset.items if item.sha256 in conflicts)
    if not texts:
        raise _nothing(dataset, capture_id, found, [*_told(counts), reader.outcomes_seen()], n_in_conflict)
    made = LabelSet(
        dataset_id=dataset_id,
        set=name,
        source={
            "kind": "rule",
            "capture": capture_id,
            "rules_file": project.show(rules_path) if project.inside(rules_path) else rules_path.name,
            "rules_sha256": sha256(rules_bytes),
        },
        items={item.item_id: LabelItem(item.sha256) for item in dataset.items if item.item_id in texts},
        labels_sha256="",
        task=dataset.task if task is None else task,
        created_at=project.stamp(),
        rules=tuple(count.as_json() for count in counts),
        conflicts={} if accept_conflicts else conflicts,
        n_items=len(texts),
    )
    return Plan(
        label_set=made,
        texts=texts,
        guideline=guideline,
        rules=counts,
        n_of=len(dataset.items),
        n_no_record=sum(item.item_id not in found for item in dataset.items),
        n_no_rule=sum(not _answered(found[key]) for key in found),
        n_in_conflict=n_in_conflict,
        warnings=_warnings(counts, conflicts, reader.outcomes_seen(), accept_conflicts=accept_conflicts),
    )


def commit(project: Project, plan: Plan) -> LabelSet:
    """Write the set, whole; return it as written."""
    return labels.write_new(
        project,
        plan.label_set,
        plan.texts,
        guideline=(plan.guideline.suffix, plan.guideline.data),
    )


class _Reader:
    """Reads a capture's records through an adapter: which is an item's, and what the rules say of it."""

    def __init__(self, project: Project, capture: Capture, adapter: str | None) -> None:
        named = adapter or str((capture.adapter or {}).get("path") or "")
        self._adapter: Adapter = loader.load(project, named)
        self._capture_id = capture.capture_id
        self._by_id: dict[str, Record] = {}
        self._by_sha: dict[str, list[Record]] = {}
        self._shas: dict[str, str] = {}
        self._kinds: Counter[str] = Counter()
        for row in captures.records(project, capture):
            text = self._adapter.item(row, self._place(row))
            if text is None:
                continue
            record_id = str(row["record_id"])
            self._by_id[record_id] = row
            self._shas[record_id] = sha256_text(text)
            self._by_sha.setdefault(self._shas[record_id], []).append(row)

    def matches(self, dataset: Dataset, rules: Rules) -> dict[str, list[tuple[str, tuple[Match, ...]]]]:
        """Return item id → its records' ids, each with the rules that match; no record, no entry.

        Raises:
            Refusal: every time that is not one.
        """
        facts: dict[str, Facts] = {}
        reasons: list[str] = []
        records = {item.item_id: self._of(item) for item in dataset.items}
        for row in (row for rows in records.values() for row in rows):
            record_id = str(row["record_id"])
            if record_id not in facts:
                facts[record_id] = self._facts(row)
                reasons += _bad_times(facts[record_id], self._place(row))
        if reasons:
            raise Refusal(
                "bad-time",
                "a rule cannot compare times that are not times",
                why=reasons,
                next="mend ts() or outcomes() in the adapter: a time is 2026-11-01T08:02:32Z, or a day",
            )
        self._kinds.update(one["kind"] for fact in facts.values() for one in fact.outcomes)
        applied = {record_id: record.apply(rules, one) for record_id, one in facts.items()}
        return {
            item_id: [(str(row["record_id"]), applied[str(row["record_id"])]) for row in rows]
            for item_id, rows in records.items()
            if rows
        }

    def outcomes_seen(self) -> str:
        """Return which kinds of outcomes the items' records have, once `matches` has read them."""
        kinds = ", ".join(f"{kind} ({n:,})" for kind, n in self._kinds.most_common(KINDS_SHOWN))
        more = f" and {len(self._kinds) - KINDS_SHOWN} more" if len(self._kinds) > KINDS_SHOWN else ""
        return (
            f"the records' outcomes are of the kinds {kinds}{more}" if kinds else "no record has an outcome"
        )

    def _of(self, item: Item) -> Sequence[Record]:
        record_id = str(item.lineage.get("record_id") or "")
        if self._shas.get(record_id) == item.sha256:
            return (self._by_id[record_id],)
        return self._by_sha.get(item.sha256, ())

    def _facts(self, row: Record) -> Facts:
        place = self._place(row)
        return Facts(
            output=self._adapter.recorded_output(row, place),
            ts=self._adapter.ts(row, place),
            fields=self._adapter.fields(row, place),
            outcomes=self._adapter.outcomes(row, place),
        )

    def _place(self, row: Record) -> str:
        return f"captures/{self._capture_id}: record {row.get('record_id')}"


def _bad_times(facts: Facts, place: str) -> list[str]:
    made = [] if facts.ts is None or is_time(facts.ts) else [f"{place}: ts: {facts.ts!r} is not a time"]
    made += [
        f"{place}: outcome {one['kind']}: ts: {one['ts']!r} is not a time"
        for one in facts.outcomes
        if one.get("ts") is not None and not is_time(one["ts"])
    ]
    return made


_Found = dict[str, list[tuple[str, tuple["Match", ...]]]]


def _refuse_conflicts(found: _Found, rules: Rules, rules_file: str, capture_id: str) -> None:
    if rules.first_wins:
        return
    reasons: dict[str, str] = {}
    for record_id, matches in (one for rows in found.values() for one in rows):
        answering = [match for match in matches if match.answers]
        if len({match.answers for match in answering}) > 1:
            said = "; ".join(f"{match.rule.name} says {match.text!r}" for match in answering)
            reasons[record_id] = f"captures/{capture_id}: record {record_id}: {said}"
    if reasons:
        raise Refusal(
            "rule-conflict",
            f"the rules of {rules_file} contradict each other on {plural(len(reasons), 'record')}",
            why=reasons.values(),
            next="narrow a rule's 'when', or let the first rule win: on_conflict: first",
        )


def _answered(rows: Sequence[tuple[str, tuple[Match, ...]]]) -> list[Match]:
    """Return, per record that gets an answer, the first rule that gives it."""
    firsts = (next((match for match in matches if match.answers), None) for _, matches in rows)
    return [match for match in firsts if match is not None]


def _label(
    dataset: Dataset, found: _Found, *, accept_conflicts: bool
) -> tuple[dict[str, bytes], dict[str, list[str]]]:
    """Return item id → label, and the conflicts: sha256 of bytes → the different answers that they got."""
    given: dict[str, set[str]] = {}
    for item in dataset.items:
        for match in _answered(found.get(item.item_id, ())):
            given.setdefault(item.sha256, set()).add(match.text)
    conflicts = {sha: sorted(texts) for sha, texts in given.items() if len(texts) > 1}
    made: dict[str, bytes] = {}
    for item in dataset.items:
        matches = _answered(found.get(item.item_id, ()))
        if not matches:
            continue
        if item.sha256 not in conflicts:
            made[item.item_id] = matches[0].text.encode("utf-8", "surrogatepass")
        elif accept_conflicts:
            both = canonical(answer for text in conflicts[item.sha256] for answer in answers(text))
            made[item.item_id] = both.encode("utf-8", "surrogatepass")
    return made, conflicts


def _count(rule: Rule, found: _Found, texts: Mapping[str, bytes]) -> RuleCount:
    matched = labelled = timed = preceding = overlap = conflict = 0
    for item_id, rows in found.items():
        own = [match for _, matches in rows for match in matches if match.rule is rule]
        if not own:
            continue
        matched += 1
        others = [match for _, matches in rows for match in matches if match.rule is not rule]
        overlap += bool(others)
        conflict += any(other.answers != own[0].answers for other in others if other.answers)
        firsts = [match for match in _answered(rows) if match.rule is rule]
        if item_id in texts and firsts:
            labelled += 1
            told = [match.precedes for match in firsts if match.precedes is not None]
            timed += bool(told)
            preceding += any(told)
    return RuleCount(
        name=rule.name,
        because=rule.because,
        n_matched=matched,
        n_labelled=labelled,
        n_timed=timed,
        n_preceding=preceding,
        n_overlap=overlap,
        n_conflict=conflict,
        reads_output=rule.reads_output,
    )


def _nothing(
    dataset: Dataset, capture_id: str, found: _Found, told: Sequence[str], n_in_conflict: int
) -> Refusal:
    missing = plural(len(dataset.items) - len(found), "item")
    why = [f"{missing} of {len(dataset.items)} without a record in captures/{capture_id}"]
    why += told
    if n_in_conflict:
        why.append(
            f"{plural(n_in_conflict, 'item')} of equal bytes with different answers: --conflicts accept"
        )
    return Refusal(
        "nothing-labelled",
        f"no item of {dataset.dataset_id} gets a label",
        why=why,
        next="mend the rules, or name the capture that the items came from",
    )


def _told(counts: Sequence[RuleCount]) -> list[str]:
    return [f"rule {one.name}: matches {plural(one.n_matched, 'record')}" for one in counts]


def _warnings(
    counts: Sequence[RuleCount], conflicts: Mapping[str, Sequence[str]], seen: str, *, accept_conflicts: bool
) -> tuple[str, ...]:
    made = [f"rule {one.name} matched no record; {seen}" for one in counts if not one.n_matched]
    preceding = sum(one.n_preceding for one in counts)
    if preceding:
        timed = sum(one.n_timed for one in counts)
        made.append(
            f"for {preceding:,} of {timed:,} labels the outcome came before the decision, or on the same "
            "day: production may have known it"
        )
    made += [
        f"rule {one.name} takes its answer from the recorded decision: by it production is right"
        for one in counts
        if one.reads_output
    ]
    if conflicts:
        done = "labelled with every answer" if accept_conflicts else "left unlabelled (--conflicts accept)"
        made.append(f"{plural(len(conflicts), 'text')} of equal bytes got different answers: {done}")
    return tuple(made)
