"""What the search box looks through: an entry for each record, item and section of the guide.

Up to `MOST_PLAIN` entries are one file that the page scans. Above it the words of the entries are an
index: shards of it by the words' order, and the entries themselves in parts, so that a query reads a
few small files.
Every file is a script that calls ``evhSearch(name, data)``. Their names are fixed: a page that named them by
their hash would change with every record.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files as files_of
from typing import TYPE_CHECKING
from urllib.parse import quote

from evh.project.memory import Same
from evh.store.hashing import sha256_lines
from evh_build import urls
from evh_build.guide import topics
from evh_build.navigation import NAVIGATION
from evh_build.page import File
from evh_build.text import script_json, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.records.dataset import Dataset
    from evh_build.source import Source

MOST_PLAIN = 50_000
"""How many entries are one file."""
PART = 1_000
"""How many entries are a part of a larger index."""
SHARD = 60_000
"""About how many characters of words and numbers are a shard."""
MOST_OF_A_WORD = 5_000
"""A word in more entries than this tells the first ones only."""
TEXT = 90
"""How many characters of an item's text an entry shows."""

_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"(?<![\w-])[^\W\d_]{3,}(?![\w-])")
_COMMAND = re.compile(r"\bevh ([a-z][a-z-]+[a-z])\b")


@dataclass(frozen=True, slots=True)
class Group:
    """Entries of one kind that lie together: ``before`` and ``after`` are what their links share."""

    kind: str
    of: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to find: its group's number, what its link has of its own, its name, and a text about it.

    ``leaf`` is empty where it is the name as a link has it. ``words`` are found and not shown.
    """

    group: int
    leaf: str
    name: str
    text: str
    words: str = ""

    @property
    def line(self) -> str:
        """The entry as a line of the file."""
        told = (str(self.group), self.leaf, self.name, self.text)
        return "\t".join((*told, self.words) if self.words else told)


class Index:
    """The entries, in the order in which they were added; each group once."""

    def __init__(self) -> None:
        self.groups: dict[Group, int] = {}
        self.entries: list[Entry] = []

    def add(
        self, kind: str, name: str, path: str | None, text: str = "", of: str = "", *, words: str = ""
    ) -> None:
        """Add an entry; one without a page is left out."""
        if path is not None:
            self.put(_find(kind, name, path, text, of, words=words))

    def put(self, found: Find) -> None:
        """Add an entry that is made already."""
        number = self.groups.setdefault(found.group, len(self.groups))
        self.entries.append(Entry(number, found.leaf, found.name, found.text, found.words))


@dataclass(frozen=True, slots=True)
class Find:
    """An entry before its group has a number; see `Entry`."""

    group: Group
    leaf: str
    name: str
    text: str
    words: str = ""


def _find(kind: str, name: str, path: str, text: str, of: str, *, words: str = "") -> Find:
    page, mark, fragment = path.partition("#")
    if mark.startswith("#") and fragment.startswith("row="):
        group, leaf = Group(kind, of, f"{urls.href(page)}#row=", ""), quote(fragment[4:], safe="")
    elif mark:
        group, leaf = Group(kind, of, f"{urls.href(page)}#", ""), quote(fragment)
    else:
        after = "/index.html" if page.endswith("/index.html") else ".html"
        folder, _, own = page.removesuffix(after).rpartition("/")
        group, leaf = Group(kind, of, urls.href(f"{folder}/" if folder else ""), after), quote(own)
    told = _one_line(name)
    return Find(group, "" if leaf == told and _PLAIN.fullmatch(told) else leaf, told, text, words)


def index(source: Source) -> Index:
    """Return everything that can be found: pages, the guide, records, then items."""
    made = Index()
    for group in NAVIGATION:
        for entry in group.entries:
            made.add("page", entry.name, entry.path)
    for topic in topics():
        path = source.urls.guide(topic.name)
        page = topic.page
        made.add("guide", page.title, path, page.lead[:TEXT], words=_words(page.opening))
        for section in page.sections:
            place = f"{path}#{section.anchor}"
            made.add("guide", section.title, place, of=page.title, words=_words(section.words))
    for name, (shown, title) in _commands(source).items():
        made.add("command", f"evh {name}", shown, f"in the guide: {title}")
    _records(made, source)
    for name, dataset in source.gathered.datasets.items():
        for found in _items(source, name, dataset):
            made.put(found)
    return made


def site_files(source: Source) -> tuple[File, ...]:
    """Return the files of the site's index; a process that builds again keeps them while it says the same."""
    records = Index()  # the guide is evh's own, and no build of a process has another
    _records(records, source)
    items = [Same(_items(source, name, dataset)) for name, dataset in source.gathered.datasets.items()]
    return source.gathered.kept(
        ("search",), (), lambda: tuple(files(index(source))), list(records.groups), records.entries, items
    )


def _items(source: Source, name: str, dataset: Dataset) -> tuple[Find, ...]:
    """Return a dataset's items: each its page, or its row in the sheet of a large dataset."""
    texts = source.gathered.texts(dataset)

    def make() -> tuple[Find, ...]:
        made = []
        for item in dataset.items:
            start = texts.get(item.item_id, b"")[: TEXT * 8].decode("utf-8", "replace")
            path = source.urls.full(name, item.item_id)
            if path is not None:
                made.append(_find("item", item.item_id, path, _one_line(start)[:TEXT], name))
        return tuple(made)

    pages, sheet = source.urls.items(name), source.urls.sheet(name)
    ids = tuple(item.item_id for item in dataset.items)
    return source.gathered.kept(("found", name), (), make, ids, Same(pages), sheet, texts)


def files(made: Index) -> Iterator[File]:
    """Give the files of an index: one, or where to look, the shards and the parts."""
    lines = [entry.line for entry in made.entries]
    groups = [
        {"kind": one.kind, "of": _one_line(one.of), "before": one.before, "after": one.after}
        for one in made.groups
    ]
    if len(lines) <= MOST_PLAIN:
        yield _file("data", {"groups": groups, "lines": "\n".join(lines)})
        return
    starts, shards = _shards(made.entries)
    yield _file("data", {"groups": groups, "shards": starts, "part": PART})
    for at, shard in enumerate(shards):
        yield _file(f"s{at}", {"lines": "\n".join(shard)})
    for at in range(0, len(lines), PART):
        yield _file(f"e{at // PART}", {"lines": "\n".join(lines[at : at + PART])})


def _records(made: Index, source: Source) -> None:
    held, paths = source.gathered, source.urls
    for name, dataset in held.datasets.items():
        made.add("dataset", name, paths.dataset(name), _one_line(dataset.description)[:TEXT] or dataset.task)
    for ref, reference in held.references.items():
        made.add("reference set", reference.name, paths.reference(ref), of=reference.tier)
    for ref, one in held.label_sets.items():
        made.add(
            "label set", one.set, paths.label_set(ref), f"{one.kind} {_one_line(one.by)}", of=one.dataset_id
        )
    arms = dict.fromkeys([*held.configs, *(run.config_id for run in held.runs.values())])
    for name in arms:
        config = held.configs.get(name)
        made.add("arm", name, paths.arm(name), _one_line(config.model or config.provider) if config else "")
    for name in held.captures:
        made.add("capture", name, paths.capture(name))
    for key, run in held.runs.items():
        made.add("run", run.run_id, paths.run(key), of=run.dataset_id)
    for name in held.evidence.logs:
        made.add("log", name, paths.log(name))
        for report in held.evidence.reports(name):
            told = _one_line(report.query.question)[:TEXT]
            made.add("evidence", report.at.stem, paths.journal(name, report.at.stem), told, of=name)
    for name, goal in held.deciding.goals.items():
        made.add("goal", name, paths.goal(name), _one_line(goal.question)[:TEXT])
    for name, judge in held.deciding.judges.items():
        made.add("judge", name, paths.judge(name), judge.kind)
    for line in held.deciding.models.lines:
        name = line.model.model_id
        made.add("model", name, paths.model(name), _one_line(line.model.name))


def _words(text: str) -> str:
    """Return the different words of a text in order: of letters alone, so that none is a record's id."""
    return " ".join(sorted(set(_LETTERS.findall(text.lower()))))


def _commands(source: Source) -> dict[str, tuple[str | None, str]]:
    """Return each command of evh that the guide names, with a place there and that place's title.

    The place is the section of the guide that names it most often; of equals the one that is read first.
    """
    known = {path.name.removesuffix(".json") for path in files_of("evh").joinpath("schemas").iterdir()}
    found: dict[str, list[tuple[int, int, str | None, str]]] = {}
    for topic in topics():
        path = source.urls.guide(topic.name)
        parts = [
            (path, topic.page.title, topic.page.opening),
            *((path and f"{path}#{one.anchor}", one.title, one.words) for one in topic.page.sections),
        ]
        for place, title, text in parts:
            for name, n in Counter(one for one in _COMMAND.findall(text) if one in known).items():
                held = found.setdefault(name, [])
                held.append((-n, len(held), place, title))
    return {name: min(held)[2:] for name, held in sorted(found.items())}


def _shards(entries: list[Entry]) -> tuple[list[str], list[list[str]]]:
    """Return the first word of each shard, and each shard's lines: a word, the entries' numbers, a mark.

    The numbers are told as steps from one to the next. The order of the words is JavaScript's.
    """
    where: dict[str, list[int]] = {}
    for number, entry in enumerate(entries):
        for word in dict.fromkeys(_WORD.findall(f"{entry.name} {entry.text} {entry.words}".lower())):
            where.setdefault(word, []).append(number)
    starts: list[str] = []
    shards: list[list[str]] = []
    size = SHARD
    for word in sorted(where, key=lambda word: word.encode("utf-16-be")):
        numbers = where[word][:MOST_OF_A_WORD]
        steps = [b - a for a, b in zip([0, *numbers], numbers, strict=False)]
        line = f"{word}\t{' '.join(map(str, steps))}\t{'+' if len(where[word]) > MOST_OF_A_WORD else ''}"
        if size >= SHARD:
            starts.append(word)
            shards.append([])
            size = 0
        shards[-1].append(line)
        size += len(line)
    return starts, shards


def _file(name: str, data: dict[str, object]) -> File:
    text = f'evhSearch("{name}", {script_json(data)});\n'
    return File(f"search/{name}.js", sha256_lines([text]), lambda: text.encode("utf-8"))


def _one_line(text: str) -> str:
    """Return a text on one line, hidden characters named, without what would end a column or a line."""
    return visible(" ".join(text.split()))
