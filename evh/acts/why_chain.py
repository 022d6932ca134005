"""What a number rests on: runs, sets, captures and files, each held against what was recorded of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evh.acts import why_judged
from evh.acts.remade import Remaking
from evh.acts.why_model import Answer, Evidence, compared
from evh.project import captures, configs, datasets, fingerprint, labels, references, runs
from evh.project.shelf import read_each
from evh.records.labelset import labels_digest
from evh.store.hashing import sha256, sha256_file
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.acts.sources import Sources
    from evh.errors import Refusal
    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item
    from evh.records.labelset import LabelSet
    from evh.records.reference import Reference
    from evh.records.run import Run


class Chain:
    """Collects evidence, nearest first; what was told once is not told again.

    Args:
        project: the project.
        sources: its records.
        item_id: tell of this item alone where a record speaks of many; None tells of whole records.
    """

    def __init__(self, project: Project, sources: Sources, item_id: str | None = None) -> None:
        self.links: list[Evidence] = []
        self._project = project
        self._sources = sources
        self._item_id = item_id
        self._told: set[tuple[str, str]] = set()
        self._remaking = Remaking(sources)

    def run(self, run: Run, depth: int = 0) -> None:
        """Tell of a run: its figures and rows, what it asked, what it was scored against, what it is of."""
        if not self._first("run", run.key):
            return
        place = runs.path_of(self._project, run)
        manifest = self._project.show(place / runs.METRICS)
        self._file(Evidence(depth, "run", run.key, _told_of(run)), place / runs.METRICS)
        named = run.predictions or {}
        rows = place / str(named.get("file") or runs.ROWS)
        row = Evidence(
            depth + 1, "rows", run.key, plural(int(named.get("rows") or run.n_items), "row"),
            recorded=_text(named.get("sha256")), by=manifest,
        )  # fmt: skip
        self._file(row, rows)
        self._outputs(run, depth + 1)
        made = run.fingerprint
        if made.get("hash"):
            found = fingerprint.digest(made)
            print_ = Evidence(
                depth + 1, "fingerprint", run.key, "of the settings", recorded=str(made["hash"])
            )
            self._add(replace(print_, by=manifest, file=manifest, found=found))
        self._code(run, depth + 1, manifest)
        if run.judged and self._first("judge", run.folder):
            self.links += why_judged.links(self._project, self._sources, run, depth + 1, manifest)
        data = _mapping(made.get("data"))
        self.dataset(run.dataset_id, depth + 1, _text(data.get("items_sha256")), manifest)
        if run.labels:
            self.labels(run.labels, depth + 1, _text(data.get("labels_sha256")), manifest)
        elif run.reference:
            self.reference(run.reference, depth + 1, _text(data.get("reference_sha256")), manifest)
        asked = _mapping(made.get("system_under_test"))
        if run.params.get("capture"):
            self.capture(str(run.params["capture"]), depth + 1, _text(asked.get("capture_sha256")), manifest)
        origin = runs.source_of(self._project, run)
        if origin is not None:
            self.run(origin, depth + 1)

    def figure(self, run: Run, metric: str) -> str:
        """Tell, right after a run that was told, whether its figure is still what its rows give.

        Returns:
            That in words.
        """
        remade = self._remaking.figure(run, metric)
        told = remade.how
        if remade.made is not None:
            told += ", and is that again" if remade.holds else f", but they now give {remade.made!r}"
        after = next(at for at, one in enumerate(self.links, 1) if (one.kind, one.ref) == ("run", run.key))
        link = Evidence(1, "figure", metric, told, by=f"{runs.METRICS} of {run.key}", matches=remade.holds)
        self.links.insert(after, link)
        return told

    def dataset(self, dataset_id: str, depth: int, recorded: str | None, by: str | None) -> None:
        """Tell of a dataset: its list of items, and their texts (or the one item's)."""
        if not self._first("dataset", dataset_id):
            return
        dataset = self._sources.datasets.get(dataset_id)
        if dataset is None:
            self._add(Evidence(depth, "dataset", dataset_id, "not here", recorded=recorded, by=by))
            return
        file = self._project.show(datasets.path_of(self._project, dataset_id))
        told = f"{plural(len(dataset.items), 'item')}{f', after {dataset.parent}' if dataset.parent else ''}"
        found = datasets.digest(dataset)
        self._add(
            Evidence(depth, "dataset", dataset_id, f"its list of {told}", file, recorded, by, found)
        )  # fmt: skip
        if self._item_id is None:
            self._texts(dataset, depth + 1, file)
        elif self._item_id in dataset.by_id:
            self._one_text(dataset, dataset.by_id[self._item_id], depth + 1, file)

    def labels(self, ref: str, depth: int, recorded: str | None, by: str | None) -> None:
        """Tell of a label set: its labels, guideline, sheet, rules or run, and the sets it was made from."""
        ref = ref.removeprefix("labels/")
        if not self._first("labels", ref):
            return
        held = self._sources.sets.get(ref)
        if held is None:
            self._add(Evidence(depth, "labels", ref, "not here", recorded=recorded, by=by))
            return
        place = labels.path_of(self._project, held.dataset_id, held.set)
        manifest = self._project.show(place / labels.MANIFEST)
        raw = self._raw(lambda: labels.raw_texts(self._project, held))
        found = labels_digest(
            {key: (held.items[key].sha256, text) for key, text in (raw or {}).items() if key in held.items}
        )
        stated = recorded or held.labels_sha256 or None
        link = Evidence(depth, "labels", ref, _told_of_set(held), self._project.show(place))
        self._add(
            replace(link, recorded=stated, by=by if recorded else manifest, found=found if raw else None)
        )
        if recorded and held.labels_sha256 not in ("", recorded):
            own = Evidence(
                depth + 1, "labels", ref, "its own manifest", manifest, held.labels_sha256, manifest
            )
            self._add(replace(own, found=found if raw else None))
        self._one_label(held.items, raw, depth + 1, ref)
        if held.guideline:
            kind = "the rules" if held.kind == "rule" else "the guideline"
            guide = labels.guideline(self._project, held)
            where = self._project.show(place / str(held.guideline.get("file")))
            link = Evidence(depth + 1, "guideline", ref, kind, where, _text(held.guideline.get("sha256")))
            self._add(replace(link, by=manifest, found=sha256(guide) if guide is not None else None))
        if held.sheet_sha256:
            sheet = "the filled sheet; it stays where it was filled"
            link = Evidence(depth + 1, "source", ref, sheet, None, held.sheet_sha256, manifest)
            self._add(link, compare=False)
        self._source(held, depth + 1)
        for parent in held.parents:
            digest = _text(parent.get("labels_sha256"))
            self.labels(str(parent.get("set")), depth + 1, digest, manifest)

    def reference(self, ref: str, depth: int, recorded: str | None, by: str | None) -> None:
        """Tell of a reference set: its texts, who promoted it and why, and the sets it was promoted from."""
        if not self._first("reference", ref):
            return
        held = self._sources.references.get(ref)
        if held is None:
            self._add(Evidence(depth, "reference", ref, "not here", recorded=recorded, by=by))
            return
        place = references.path_of(self._project, held.tier, held.name)
        manifest = self._project.show(place / references.MANIFEST)
        raw = self._raw(lambda: references.raw_texts(self._project, held))
        link = Evidence(depth, "reference", ref, _told_of_reference(held), self._project.show(place))
        if recorded:
            found = references.digest(raw) if raw else None
            self._add(replace(link, recorded=recorded, by=by, found=found))
        else:
            found = labels_digest({key: (held.items.get(key, ""), text) for key, text in (raw or {}).items()})
            stated = held.labels_sha256 or None
            self._add(replace(link, recorded=stated, by=manifest, found=found if raw else None))
        self._one_label(held.items, raw, depth + 1, ref)
        digests = (held.promoted_from or {}).get("labels_sha256") or []
        for at, one in enumerate(held.label_refs):
            self.labels(one, depth + 1, digests[at] if at < len(digests) else None, manifest)

    def capture(self, capture_id: str, depth: int, recorded: str | None, by: str | None) -> None:
        """Tell of a capture: its records, and where they came from."""
        if not self._first("capture", capture_id):
            return
        found = read_each([capture_id], lambda name: captures.read(self._project, name), [])
        if not found:
            self._add(Evidence(depth, "capture", capture_id, "not here", recorded=recorded, by=by))
            return
        place = captures.path_of(self._project, capture_id)
        manifest = self._project.show(place / captures.MANIFEST)
        large = place / captures.RECORDS_LARGE
        file = large if large.exists() else place / captures.RECORDS
        form = captures.file_sha256(found[0], file.name) or None
        packed = form not in (None, found[0].records_sha256)
        stated = form if packed or not recorded else recorded
        link = Evidence(depth, "capture", capture_id, plural(found[0].n_records, "record"), recorded=stated)
        self._file(replace(link, by=manifest if packed or not recorded else by), file)
        if packed and recorded:
            # The bytes that the number was made of have another form now; their hash stays in the manifest.
            told = "the form in which it was captured"
            link = Evidence(depth + 1, "capture", capture_id, told, manifest, recorded, by)
            self._add(replace(link, found=found[0].records_sha256))
        source = found[0].source
        kind, origin, digest = source.get("kind"), str(source.get("path") or ""), _text(source.get("sha256"))
        if kind == "split" and origin.startswith("captures/"):
            self.capture(origin.removeprefix("captures/"), depth + 1, digest, manifest)
        elif digest:
            told = f"taken from {origin or 'a file'} ({kind or 'file'})"
            path = self._project.root / origin
            here = bool(origin) and path.is_file() and self._project.inside(path)
            link = Evidence(depth + 1, "source", capture_id, told, None, digest, manifest)
            if here:
                self._file(link, path)
            else:
                self._add(replace(link, told=f"{told}; it is not here now"), compare=False)

    def answer(self, ref: str, value: float | str | None, how: str, notes: Sequence[str] = ()) -> Answer:
        """Return the number with all that was told, ``notes``, and each record that could not be read."""
        return Answer(ref, value, how, tuple(self.links), (*notes, *self._sources.notes()))

    def _source(self, held: LabelSet, depth: int) -> None:
        source = held.source
        manifest = f"labels/{held.ref}/{labels.MANIFEST}"
        if held.kind == "rule":
            rules = self._project.root / str(source.get("rules_file") or "")
            if source.get("rules_file") and rules.is_file() and self._project.inside(rules):
                told = "the rules as they are now"
                link = Evidence(depth, "source", held.ref, told, None, _text(source.get("rules_sha256")))
                self._file(replace(link, by=manifest), rules)
            if source.get("capture"):
                self.capture(str(source["capture"]), depth, None, None)
        elif held.kind == "model" and source.get("run_id"):
            found = [one for one in self._sources.runs if one.run_id == source["run_id"]]
            if found:
                self.run(min(found, key=lambda one: (one.folder != runs.MEASURED, one.folder)), depth)

    def _code(self, run: Run, depth: int, manifest: str) -> None:
        """Tell of the config as it is now, and of the adapter's files as the run recorded them."""
        if configs.exists(self._project, run.config_id) and self._first("config", run.config_id):
            told = "the arm as it is now; the run has its settings in its fingerprint"
            link = Evidence(depth, "config", run.config_id, told)
            self._file(link, configs.path_of(self._project, run.config_id))
        files = _mapping(_mapping(run.fingerprint.get("instrument")).get("files"))
        for name, digest in sorted(files.items()):
            path = self._project.root / name
            if self._first("code", name):
                link = Evidence(depth, "code", name, "read by the adapter", name, _text(digest), manifest)
                if path.is_file() and self._project.inside(path):
                    self._file(link, path)
                else:
                    self._add(replace(link, told="not here"))

    def _outputs(self, run: Run, depth: int) -> None:
        """Tell whether a measured run's outputs are the bytes that its rows recorded."""
        if run.folder != runs.MEASURED or not (runs.path_of(self._project, run) / "outputs").is_dir():
            return
        found = read_each([run], lambda one: runs.predictions(self._project, one), [])
        if not found:
            return  # the rows' own line tells
        chosen = [one for one in found[0] if self._item_id in (None, one.item_id)]
        wrong = [
            one.item_id
            for one in chosen
            if (expected := one.hidden.get(runs.OUTPUT_SHA)) is not None
            and expected != _sha(runs.kept_output(self._project, run, one.item_id))
        ]
        stated = sum(runs.OUTPUT_SHA in one.hidden for one in chosen)
        where = self._project.show(runs.path_of(self._project, run) / "outputs")
        told = _count_of("output", stated, wrong) if stated else f"{plural(len(chosen), 'output')}, no hashes"
        self.links.append(
            Evidence(depth, "text", run.key, told, where, matches=not wrong if stated else None)
        )  # fmt: skip

    def _texts(self, dataset: Dataset, depth: int, file: str) -> None:
        wrong: list[str] = []
        for item in dataset.items if dataset.items_file is None else ():
            path = datasets.source_path(self._project, dataset, item)
            if path is None or sha256_file(path) != item.sha256:
                wrong.append(item.item_id)
        if dataset.items_file is not None:
            problems: list[Refusal] = []
            read_each([dataset], lambda one: datasets.texts(self._project, one), problems)
            wrong = [reason for one in problems for reason in one.why]
        told = _count_of("text", len(dataset.items), wrong)
        where = dataset.items_file or dataset.source_dir or None
        self.links.append(
            Evidence(depth, "text", dataset.dataset_id, told, where, by=file, matches=not wrong)
        )  # fmt: skip

    def _one_text(self, dataset: Dataset, item: Item, depth: int, file: str) -> None:
        path = None if dataset.items_file else datasets.source_path(self._project, dataset, item)
        ref = f"{dataset.dataset_id}/{item.item_id}"
        link = Evidence(depth, "text", ref, "the item's bytes", recorded=item.sha256, by=file)
        if path is not None:
            self._file(link, path)
            return
        data = self._raw(lambda: datasets.texts(self._project, dataset, [item]))
        self._add(replace(link, file=dataset.items_file, found=_sha((data or {}).get(item.item_id))))

    def _one_label(
        self, items: Mapping[str, Any], raw: Mapping[str, bytes] | None, depth: int, ref: str
    ) -> None:
        item_id = self._item_id
        if item_id is not None and item_id in items and raw and item_id in raw:
            text = raw[item_id].decode("utf-8", "replace")
            self.links.append(Evidence(depth, "label", f"{ref}: {item_id}", text, found=sha256(raw[item_id])))

    def _raw(self, read: Any) -> Mapping[str, bytes] | None:  # noqa: ANN401 - a thunk of one mapping
        found = read_each([None], lambda _: read(), self._sources.problems)
        return found[0] if found else None

    def _file(self, link: Evidence, path: Path) -> None:
        found = sha256_file(path) if path.is_file() else None
        self._add(replace(link, file=self._project.show(path), found=found))

    def _add(self, link: Evidence, *, compare: bool = True) -> None:
        self.links.append(compared(link) if compare else replace(link, matches=None))

    def _first(self, kind: str, ref: str) -> bool:
        new = (kind, ref) not in self._told
        self._told.add((kind, ref))
        return new


def _told_of(run: Run) -> str:
    parts = [f"{run.config_id} on {run.dataset_id}"]
    if run.created_at:
        parts.append(run.created_at)
    if run.recorded:
        parts.append("production's own decisions, recorded")
    kind = (run.derived or {}).get("kind")
    if kind == "rescored":
        parts.append(f"stored outputs of {(run.derived or {}).get('from')} scored again")
    if run.judged:
        parts.append(f"judged by {run.judged.get('by') or run.judged.get('scorer')}")
    build = run.build or {}
    if build.get("ref"):
        dirty = ", with uncommitted changes" if build.get("dirty") else ""
        parts.append(f"evh {str(build['ref'])[:12]} ({build.get('source')}{dirty})")
    return "; ".join(parts)


def _told_of_set(held: LabelSet) -> str:
    who = f"{held.kind}{f' {held.by}' if held.by else ''}"
    when = f", {held.created_at}" if held.created_at else ""
    return f"labels by {who}{when}; {plural(len(held.items), 'item')}"


def _told_of_reference(held: Reference) -> str:
    if held.promoted_from is None:
        return "no promotion on record"
    by = f" by {held.promoted_by}" if held.promoted_by else ""
    return f"promoted{by}, {held.created_at}: {held.reason or 'no reason on record'}"


def _count_of(what: str, of: int, wrong: list[str]) -> str:
    if not wrong:
        return f"{plural(of, what)}, all as recorded"
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    return f"{len(wrong)} of {plural(of, what)} changed or missing: {', '.join(wrong[:3])}{more}"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _sha(data: bytes | None) -> str | None:
    return None if data is None else sha256(data)
