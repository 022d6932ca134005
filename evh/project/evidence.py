"""The shelf of the evidence labeler's journals: ``data/label/<project>/<query>.jsonl`` and its companions.

A journal holds labels only, at most one a ``chunk_sha``. All of its files only grow.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from evh.errors import SHOWN, Refusal
from evh.project.shelf import files, folders, read_each
from evh.records import evidence as record
from evh.store import atomic, journal, strict
from evh.store.hashing import sha256_file
from evh.store.names import bad_id, check_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.evidence import EvidenceFailure, EvidenceLabel, JournalSettings, Probe, Reading

T = TypeVar("T")
RESERVED = ("failed", "probes", "readings", "settings")


@dataclass(frozen=True, slots=True)
class Place:
    """A journal and its companions.

    Attributes:
        log: the project's log.
        query_id: the question.
        name: the journal's own name; empty for the first one.
        folder: where it lies.
    """

    log: str
    query_id: str
    name: str
    folder: Path

    @property
    def stem(self) -> str:
        """What all its files begin with: ``<query>`` or ``<query>~<name>``."""
        return f"{self.query_id}~{self.name}" if self.name else self.query_id

    @property
    def journal(self) -> Path:
        """The labels."""
        return self.folder / f"{self.stem}.jsonl"

    @property
    def failed(self) -> Path:
        """What could not be labelled, a row a try."""
        return self.folder / f"{self.stem}~failed.jsonl"

    @property
    def readings(self) -> Path:
        """Every reply."""
        return self.folder / f"{self.stem}~readings.jsonl"

    @property
    def probes(self) -> Path:
        """The questions with known answers."""
        return self.folder / f"{self.stem}~probes.jsonl"

    @property
    def settings(self) -> Path:
        """What was asked and how."""
        return self.folder / f"{self.stem}~settings.json"

    @property
    def ref(self) -> str:
        """``label/<log>/<stem>.jsonl``: how records name the journal."""
        return f"label/{self.log}/{self.stem}.jsonl"


def place(project: Project, log: str, query_id: str, name: str = "") -> Place:
    """Return where a journal lies.

    Raises:
        Refusal: a name that cannot be one.
    """
    check_id(query_id, "query")
    if name:
        check_id(name, "journal")
    if name.lower() in RESERVED:
        raise Refusal(
            "bad-id",
            "that cannot be the name of a journal",
            why=[f"{name!r} names a companion of every journal ({', '.join(RESERVED)})"],
            next="choose another --journal",
        )
    return Place(log, query_id, name, project.data / "label" / check_id(log, "log"))


def places(project: Project, log: str | None = None) -> list[Place]:
    """Return every journal that was begun, of one log or of all, in the order of their names."""
    made: dict[str, Place] = {}
    for folder in folders(project.data / "label"):
        if log is not None and folder.name != log:
            continue
        stems = [path.name.removesuffix("~settings.json") for path in files(folder, "~settings.json")]
        stems += [
            path.name.removesuffix(".jsonl")
            for path in files(folder, ".jsonl")
            if path.name.removesuffix(".jsonl").rpartition("~")[2] not in RESERVED or "~" not in path.name
        ]
        for stem in sorted(set(stems)):
            query_id, _, name = stem.partition("~")
            if not bad_id(query_id) and not (name and bad_id(name)):
                made[f"{folder.name}/{stem}"] = Place(folder.name, query_id, name, folder)
    return list(made.values())


def settings(project: Project, at: Place) -> JournalSettings | None:
    """Return how a journal was asked, or None: it was not begun.

    Raises:
        Refusal: it cannot be read, or its hashes are not those of what it says was asked.
    """
    if not at.settings.exists():
        return None
    _inside(project, at.settings)
    place = project.show(at.settings)
    found = record.parse_settings(strict.read_object(at.settings), place)
    reasons = record.edited(found)
    if reasons:
        raise Refusal(
            "edited-settings",
            f"{place} was edited: its hashes are not those of what it says",
            why=[f"{place}: {reason}" for reason in reasons],
            next="restore it (git checkout); to ask otherwise, begin another journal: --journal NAME",
        )
    return found


def begin(project: Project, at: Place, made: JournalSettings) -> None:
    """Write a journal's settings, once; the caller holds the journal's lock."""
    path = project.writable(at.settings)
    atomic.write_file(path, strict.dump_manifest(record.dump_settings(made)))


def labels(project: Project, at: Place) -> Iterator[EvidenceLabel]:
    """Yield the labels of a journal in their order.

    Raises:
        Refusal: rows that are no labels, two of one ``chunk_sha``, or one that another model, prompt or
            question gave than the journal's settings name; the first reasons, as they are met.
    """
    place = project.show(at.journal)
    began = settings(project, at)
    asked = (
        tuple(str(began.asked.get(key, "")) for key in ("model", "prompt_sha", "question_sha"))
        if began
        else ()
    )
    seen: set[bytes] = set()
    reasons: list[str] = []
    for number, raw in _rows(project, at.journal):
        one = _quick(raw) or record.parse_label(raw, f"{place}: line {number}", reasons)
        key = bytes.fromhex(one.chunk_sha) if not reasons else b""
        if key and key in seen:
            reasons.append(f"{place}: line {number}: a second label of {one.chunk_sha[:12]}…")
        seen.add(key)
        if asked and (one.model, one.prompt_sha, one.question_sha) != asked:
            reasons += _of_others(one, asked, f"{place}: line {number}")
        if len(reasons) >= SHOWN:
            break
        if not reasons:
            yield one
    if reasons:
        raise Refusal(
            "bad-journal",
            f"{place} is not a journal that evh reads",
            why=reasons,
            next="restore it (git checkout)",
        )


def _of_others(one: EvidenceLabel, asked: tuple[str, ...], place: str) -> list[str]:
    """Return in what a label contradicts the settings of its journal; what a row leaves out says nothing."""
    given = {"model": one.model, "prompt_sha": one.prompt_sha, "question_sha": one.question_sha}
    return [
        f"{place}: {key} {said[:80]!r}, and the journal's settings say {there[:80]!r}"
        for (key, said), there in zip(given.items(), asked, strict=True)
        if said not in ("", there)
    ]


def standing_failures(
    project: Project, at: Place, labelled: Collection[str] = ()
) -> dict[str, EvidenceFailure]:
    """Return chunk_sha → its latest failure, of the chunks that have no label."""
    found: dict[str, EvidenceFailure] = {}
    for one in _parsed(project, at.failed, record.parse_failure, "failures"):
        if one.chunk_sha not in labelled:
            found[one.chunk_sha] = one
    return found


def readings(project: Project, at: Place, skip: Collection[str] = ()) -> Iterator[Reading]:
    """Yield the readings of a journal in their order, but those of the chunks in ``skip``."""
    yield from _parsed(project, at.readings, record.parse_reading, "readings", skip)


def probes(project: Project, at: Place) -> dict[str, Probe]:
    """Return probe_id → its latest row."""
    return {one.probe_id: one for one in _parsed(project, at.probes, record.parse_probe, "probes")}


def torn(project: Project, at: Place) -> list[str]:
    """Return which files of a journal have a last line that a crash cut, a sentence each.

    Readers leave such a line out, and `mend` drops it.
    """
    told = {
        at.journal: "its chunk is asked again",
        at.readings: "its chunk is asked again, where it has no label",
        at.probes: "its probe is asked again",
        at.failed: "its chunk is told of again when it is asked",
    }
    return [
        f"{project.show(path)}: a torn last line is left out: {then}"
        for path, then in told.items()
        if journal.torn(path)
    ]


def mend(project: Project, at: Place) -> None:
    """Drop the last lines that a crash cut; the caller holds the journal's lock."""
    for path in (at.journal, at.readings, at.probes, at.failed):
        journal.mend_held(project.writable(path))


def journal_sha(at: Place) -> str:
    """Return the sha256 of a journal's bytes."""
    return sha256_file(at.journal)


def signature(path: Path) -> list[int] | None:
    """Return what changes when a file does (size, times, inode), or None: there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - of the file that a link leads to
    except FileNotFoundError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def kept(project: Project, at: Place, key: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what `keep` kept of a journal when its files were as ``key`` says, or None."""
    path = _cache(project, at)
    found = read_each([path] if path.is_file() else [], strict.read_object, [])  # a broken one is none
    value = found[0].get("value") if found and found[0].get("key") == dict(key) else None
    return value if isinstance(value, dict) else None


def keep(project: Project, at: Place, key: Mapping[str, Any], value: Mapping[str, Any]) -> None:
    """Keep what was found out of a journal under ``.cache/``, for as long as its files stay as they are."""
    atomic.write_unflushed(
        _made(_cache(project, at)), strict.dump_manifest({"key": dict(key), "value": value})
    )


def _cache(project: Project, at: Place) -> Path:
    return project.cache / "evidence" / at.log / f"{at.stem}.json"


def _made(path: Path) -> Path:
    atomic.make_folder(path.parent)
    return path


def _quick(raw: dict[str, Any]) -> record.EvidenceLabel | None:
    """Return a row that is as evh writes it, or None: `parse_label` says what is wrong."""
    sha, why = raw.get("chunk_sha"), raw.get("why")
    if (
        type(sha) is str
        and len(sha) == 64
        and sha.isalnum()
        and sha.isascii()
        and not sha.strip("0123456789abcdef")
        and type(raw.get("label")) is bool
        and type(why) is str
        and why.strip()
        and type(raw.get("t")) is int
        and type(raw.get("suspect")) is bool
        and all(type(raw.get(key)) is str for key in ("model", "ts", "question_sha", "prompt_sha"))
    ):
        return record.EvidenceLabel(
            sha,
            raw["t"],
            raw["label"],
            why,
            raw["model"],
            raw["ts"],
            raw["question_sha"],
            raw["prompt_sha"],
            raw["suspect"],
        )
    return None


def _parsed(
    project: Project,
    path: Path,
    parse: Callable[[Mapping[str, Any], str, list[str]], T],
    what: str,
    skip: Collection[str] = (),
) -> Iterator[T]:
    place = project.show(path)
    reasons: list[str] = []
    for number, raw in _rows(project, path, skip):
        one = parse(raw, f"{place}: line {number}", reasons)
        if len(reasons) >= SHOWN:
            break
        if not reasons:
            yield one
    if reasons:
        raise Refusal(
            "bad-journal",
            f"{place} holds rows that are no {what}",
            why=reasons,
            next="restore it (git checkout)",
        )


def _rows(project: Project, path: Path, skip: Collection[str] = ()) -> Iterator[tuple[int, dict[str, Any]]]:
    _inside(project, path)
    place = project.show(path)
    mark = b'"chunk_sha":"'
    for number, line in enumerate(journal.stream(path), start=1):
        if not line.strip():
            continue
        if skip:
            start = line.find(mark) + len(mark)
            if start >= len(mark) and line[start : start + 64].decode("ascii", "replace") in skip:
                continue  # told without reading the row whole
        yield number, strict.parse_object(line, f"{place}: line {number}")


def _inside(project: Project, path: Path) -> None:
    if path.exists() and not project.inside(path):
        raise Refusal(
            "outside",
            f"{project.show(path)} leads out of the project",
            why=[f"{project.show(path)}: not read"],
        )
