"""References that were made before labels existed get the label set and the promotion that they lack.

Each becomes a label set ``<tier>_<name>`` with its texts byte for byte, its source read from the manifest,
and gets a promotion record that names it. Nothing changes but the reference's ``manifest.json``; the digest
of its texts, which fingerprints name, stays. Where the texts are not here, the source alone is recorded: a
label set is never made of text that is not here. The commit point of a reference is its manifest: after a
crash between the two writes the next try finds the set and goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project import datasets, labels, references, runs
from evh.project.shelf import read_each
from evh.records.answers import answers
from evh.records.labelset import LabelItem, LabelSet, labels_digest
from evh.records.shape import is_character_text
from evh.store.clock import is_time
from evh.store.hashing import sha256_text
from evh.store.names import ID_LENGTH, bad_new_id, possible_stems
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evh.project.find import Project
    from evh.records.dataset import Dataset
    from evh.records.reference import Reference

REASON = "promoted before labels existed (0.6.0)"
ORIGIN = "migrated_from"
"""The key of a set that says which reference it was made from."""
LEFT_OUT = "left_out"
"""The key of a set that names the reference's texts that are of no item."""
SHOWN = 5
OWN_LABELS = "the dataset's own labels"
PEOPLE = (
    "verdicts_by",
    "labelled_by",
    "labeled_by",
    "annotated_by",
    "annotator",
    "reviewed_by",
    "by",
    "author",
)
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Migration:
    """What becomes of one reference.

    Attributes:
        ref: ``<tier>/<name>``, its folder.
        source: the source of its labels, as a label set has it.
        label_set: the set that is made, or that an earlier try made; None where none is.
        raw: item id → the label's bytes.
        new: the set is not there yet.
        digest: of the reference's texts: what fingerprints name.
        reason: why no set is made; empty where one is.
        left_out: the texts that name no item, by their files' stems: the set is of the others.
    """

    ref: str
    source: Mapping[str, Any]
    label_set: LabelSet | None
    raw: Mapping[str, bytes]
    new: bool
    digest: str
    reason: str = ""
    left_out: tuple[str, ...] = ()

    def promoted_from(self) -> dict[str, Any]:
        """Return the promotion record; without a set it names the source alone."""
        if self.label_set is None:
            return {"labels": [], "source": [dict(self.source)], "labels_sha256": []}
        return {
            "labels": [self.label_set.ref],
            "source": [dict(self.source)],
            "labels_sha256": [self.label_set.labels_sha256],
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of each reference without a label set on record.

    Attributes:
        migrations: those that get a promotion record, or in place of one that names no set one that does.
        n_done: references with a promotion on record, of sets or not.
        still: those whose record names no set, and of which none can be made yet.
        strays: a sentence for each folder or link that is passed over, for it is no reference set.
    """

    migrations: tuple[Migration, ...]
    n_done: int
    still: tuple[Migration, ...] = ()
    strays: tuple[str, ...] = ()


def plan(project: Project) -> Plan:
    """Return what migrating would write: a set and a promotion record for each reference that has none.

    One that was migrated while no set could be made of it is tried again. Links are not followed.

    Raises:
        Refusal: with every reference that cannot be read; every dataset that cannot, where a reference's is
            not among those that can; every set of the name that a reference needs which holds other labels.
    """
    problems: list[Refusal] = []
    todo: list[tuple[str, Reference]] = []
    done = 0
    again: list[tuple[str, Reference]] = []
    strays = references.strays(project)
    links = {one.path for one in strays if one.path.is_symlink()}
    for ref in references.refs(project, problems):
        place = project.data / "references" / ref
        if not links.isdisjoint({place, place.parent}):
            continue
        for reference in read_each([ref], lambda one: references.read(project, one), problems):
            if reference.promoted_from is None:
                todo.append((ref, reference))
            else:
                done += 1
                again += [] if reference.label_refs else [(ref, reference)]
    unread: list[Refusal] = []
    known = {one.dataset_id: one for one in datasets.read_all(project, unread)}
    if any(reference.dataset_id not in known for _, reference in (*todo, *again)):
        problems += unread  # that it is not here is on record for good; that it cannot be read is not
    found = read_each(
        [*todo, *again],
        lambda pair: _migration(project, pair[0], pair[1], known.get(pair[1].dataset_id)),
        problems,
    )
    if problems:
        raise _refusal(project, problems)
    second = {ref for ref, _ in again}
    now = [one for one in found if one.ref not in second or one.label_set is not None]
    return Plan(
        migrations=tuple(now),
        n_done=done - sum(one.ref in second for one in now),
        still=tuple(one for one in found if one not in now),
        strays=tuple(f"{project.show(one.path)}: {one.what}" for one in strays),
    )


def _refusal(project: Project, problems: Sequence[Refusal]) -> Refusal:
    """Return one Refusal of all that stands in the way: each line once, with the project's own paths."""
    lines: dict[str, None] = {}
    following: dict[str, None] = {}
    for one in problems:
        for reason in one.why or (one.what,):
            named = reason.partition(": ")[0] in one.what or one.what in reason
            lines[_shown(project, reason if named or len(problems) == 1 else f"{one.what}: {reason}")] = None
        told = "rename the folder in data/references" if one.code == "bad-id" else one.next
        if told:
            following[_shown(project, told)] = None
    if len(problems) == 1:
        what = _shown(project, problems[0].what)
        return Refusal(problems[0].code, what, why=list(lines), next="; ".join(following) or None)
    return Refusal(
        "cannot-migrate",
        "not every reference can be migrated, so none was",
        why=list(lines),
        next="; ".join(following) or None,
    )


def _shown(project: Project, text: str) -> str:
    return text.replace(f"{project.root}/", "")


def commit(project: Project, plan: Plan) -> Plan:
    """Write each set, then the reference's manifest; return the plan with the sets as written.

    Raises:
        Refusal: the texts of a reference are not what they were when it was planned.
    """
    made = []
    for one in plan.migrations:
        if one.label_set is not None and one.new:
            labels.write_new(project, one.label_set, one.raw)
        references.record_promotion(project, one.ref, one.promoted_from(), REASON)
        after = references.digest(references.raw_texts(project, references.read(project, one.ref)))
        if after != one.digest:
            raise Refusal(
                "changed-bytes",
                f"the texts of the reference set {one.ref!r} changed while it was migrated",
                why=[f"references/{one.ref}: its digest was {one.digest} and is {after}"],
                next="git diff; restore its texts",
            )
        made.append(one)
    return replace(plan, migrations=tuple(made))


def source_of(project: Project, reference: Reference) -> dict[str, Any]:
    """Return the source of an old reference's labels, by what its manifest says.

    ``from_run``, ``from_config`` or ``authored_by``: a model. ``from_outcomes``: a rule over a capture.
    Anything else is a person's verdicts, by whom the manifest names, or the dataset's own labels.
    """
    told = reference.extra
    outcomes = told.get("from_outcomes")
    if outcomes not in (None, False, ""):
        return _rule(told, outcomes)
    run_id = told.get("from_run")
    author = told.get("authored_by") or told.get("from_config")
    if run_id or author:
        return _model(project, run_id, author)
    by = next((told[key] for key in PEOPLE if isinstance(told.get(key), str) and told[key].strip()), None)
    return {"kind": "person", "by": by or reference.promoted_by or OWN_LABELS}


def set_name(reference_ref: str) -> str:
    """Return the name of the set that a reference becomes: ``<tier>_<name>``, cut and marked if too long."""
    name = reference_ref.replace("/", "_", 1)
    if len(name) <= ID_LENGTH:
        return name
    return f"{name[: ID_LENGTH - _DIGITS - 1]}_{sha256_text(name)[:_DIGITS]}"


def _rule(told: Mapping[str, Any], outcomes: object) -> dict[str, Any]:
    detail = outcomes if isinstance(outcomes, dict) else {}
    capture = detail.get("capture") or told.get("capture")
    if capture is None and isinstance(outcomes, str):
        capture = outcomes
    rules = detail.get("map") or detail.get("rules_file") or told.get("rules_file") or told.get("map")
    made = {
        "kind": "rule",
        "capture": capture,
        "rules_file": rules,
        "rules_sha256": detail.get("rules_sha256") or told.get("rules_sha256"),
    }
    return {key: value for key, value in made.items() if isinstance(value, str) and value}


def _model(project: Project, run_id: object, author: object) -> dict[str, Any]:
    if not isinstance(run_id, str) or not run_id:
        return {"kind": "model", "by": str(author or "a run that is not named")}
    made: dict[str, Any] = {"kind": "model", "run_id": run_id.rpartition("/")[2]}
    for run in read_each([run_id], lambda one: runs.read(project, one), []):
        found = {
            "config_id": run.config_id,
            "fingerprint": run.fingerprint.get("hash"),
            "model": run.params.get("model"),
        }
        made |= {key: value for key, value in found.items() if isinstance(value, str) and value}
    if author and "model" not in made:
        made["by"] = str(author)
    return made


def _migration(project: Project, ref: str, reference: Reference, dataset: Dataset | None) -> Migration:
    source = source_of(project, reference)
    raw = references.raw_texts(project, reference) if _has_texts(project, ref) else {}
    digest = references.digest(raw)
    shas, by_item = _joined(reference, dataset, raw)
    left_out = () if reference.items else tuple(sorted(set(raw) - _stems_of(by_item)))
    why = _no_set(reference, dataset, raw, shas, by_item)
    if why:
        return Migration(ref, source, None, {}, new=False, digest=digest, reason=why)
    made = LabelSet(
        dataset_id=reference.dataset_id,
        set=set_name(ref),
        source=source,
        items={item_id: LabelItem(shas[item_id]) for item_id in by_item},
        labels_sha256=labels_digest({key: (shas[key], text) for key, text in by_item.items()}),
        task=dataset.task if dataset else "",
        created_at=reference.created_at if is_time(reference.created_at) else project.stamp(),
        n_items=len(by_item),
        extra={ORIGIN: ref, **({LEFT_OUT: list(left_out)} if left_out else {})},
    )
    new = _is_new(project, ref, made)
    return Migration(ref, source, made, by_item, new=new, digest=digest, left_out=left_out)


def _stems_of(by_item: Iterable[str]) -> set[str]:
    return {stem for item_id in by_item for stem in possible_stems(item_id)}


def _has_texts(project: Project, ref: str) -> bool:
    place = project.data / "references" / ref
    return (place / references.LARGE).exists() or any(one.name.endswith(".txt") for one in place.iterdir())


def _joined(
    reference: Reference, dataset: Dataset | None, raw: Mapping[str, bytes]
) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return item id → sha256 and item id → text: a foreign reference's files are named by their items."""
    if reference.items:
        return dict(reference.items), {key: raw[key] for key in reference.items if key in raw}
    shas: dict[str, str] = {}
    made: dict[str, bytes] = {}
    for item in dataset.items if dataset else ():
        stem = next((one for one in possible_stems(item.item_id) if one in raw), None)
        if stem is not None:
            shas[item.item_id], made[item.item_id] = item.sha256, raw[stem]
    return shas, made


def _no_set(
    reference: Reference,
    dataset: Dataset | None,
    raw: Mapping[str, bytes],
    shas: Mapping[str, str],
    by_item: Mapping[str, bytes],
) -> str:
    """Return why no set can be made of a reference, or nothing."""
    if not raw:
        return "its texts are not here"
    if dataset is None and not reference.items:
        return f"its dataset {reference.dataset_id!r} is not here, so which bytes it labels is unknown"
    if reference.n_items > len(raw):
        return f"only {len(raw):,} of its {reference.n_items:,} texts are here"
    if not by_item:
        return f"none of its {plural(len(raw), 'text')} names an item of {reference.dataset_id}"
    empty = [item_id for item_id, data in by_item.items() if not data.strip()]
    if empty:
        are = "is" if len(empty) == 1 else "are"
        return f"{plural(len(empty), 'text')} of it {are} empty, which is no label: {', '.join(empty[:5])}"
    given: dict[str, tuple[str, ...]] = {}
    for item_id, data in by_item.items():
        text = data.decode("utf-8", "surrogateescape")
        if not is_character_text(text):
            return f"a text of it is not UTF-8, which every label is: {item_id}"
        said = answers(text)
        if given.setdefault(shas[item_id], said) != said:
            return f"it gives equal bytes different answers ({item_id}), which no label set does"
    return ""


def _is_new(project: Project, ref: str, made: LabelSet) -> bool:
    """Tell whether the set is to be written; False where an earlier try left this very set."""
    place = labels.path_of(project, made.dataset_id, made.set)
    if not place.exists():
        beside = [one.name for one in place.parent.iterdir()] if place.parent.is_dir() else []
        reason = bad_new_id(made.set, beside)
        if reason:
            raise _taken(ref, made, reason)
        return True
    there = labels.read(project, made.dataset_id, made.set)
    if there.labels_sha256 != made.labels_sha256:
        raise _taken(ref, made, f"labels/{made.ref}: a set of that name is there and holds other labels")
    return False


def _taken(ref: str, made: LabelSet, reason: str) -> Refusal:
    return Refusal(
        "existing-set",
        f"the reference set {ref!r} cannot become the label set {made.ref!r}",
        why=[reason],
        next=f"move data/labels/{made.ref} away, or rename that set's folder and its key 'set'",
    )


def told(plan: Plan) -> list[str]:
    """Return a sentence for each reference that gets no set or not of all its texts, and for what is none."""
    made = []
    for one in plan.migrations:
        if one.reason:
            made.append(
                f"{one.ref}: {one.reason}: its source is recorded, no set is made; "
                "once that is mended, migrate again"
            )
        if one.left_out and one.label_set is not None:
            name = "names" if len(one.left_out) == 1 else "name"
            more = f" and {len(one.left_out) - SHOWN:,} more" if len(one.left_out) > SHOWN else ""
            made.append(
                f"{one.ref}: {plural(len(one.left_out), 'text')} of it {name} no item of "
                f"{one.label_set.dataset_id}, left out of the set: {', '.join(one.left_out[:SHOWN])}{more}"
            )
    made += [
        f"{one.ref}: {one.reason}: its source is on record, and still no set is made" for one in plan.still
    ]
    return [*made, *plan.strays]
