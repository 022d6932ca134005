"""The last look at a public build: nothing in it may be a secret, name this machine, or tell what is hidden.

What is hidden is taken away before a page is made; this finds what a page told all the same. Four things are
looked for in every file, compressed data in scripts included:

- a secret, by the rules that a capture is held against; this machine's home folder and host name, and where
  the project lies;
- the id of a hidden record. Ids of at least six characters that hold a digit, ``_``, ``-`` or ``.`` are
  looked for as whole words. An id of letters alone is a word that any text may use: it counts only in the
  path of a link. The id of a hidden item does not count where a text that may be shown has it too;
- eight words in a row of a hidden text (four to seven, where it has no more); equal words of a text that may
  be shown do not count;
- eight words in a row of a text that may not be redistributed.

Chinese, Japanese, Thai and the other scripts without spaces have no words to count: of their texts twelve
letters in a row are looked for (eight to eleven, where a text has no more).
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import socket
import zlib
from typing import TYPE_CHECKING
from urllib.parse import unquote

from evh.store import secrets
from evh.store.hashing import sha256_lines
from evh_build.shown import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evh.project.find import Project
    from evh_build.shown import Shown

LONG, SHORT = 8, 4
LEAST_CHARACTERS = 20
LONG_UNSPACED, SHORT_UNSPACED = 12, 8
LEAST_WHOLE = 8
"""A whole text shorter than this is a word that any field may hold."""
MOST_DECODINGS = 8
MOST_PROBES = 400_000
"""How many runs of eight words are looked for: of each of very many hidden texts only some, evenly spread."""
MOST_UNPACKED = 1 << 28
GUIDE = "guide/"
"""Pages that are evh's own text, with names of its own making: no id is looked for in them."""
_LEAST = 6
_STRUCTURE = frozenset(
    ["about", "arms", "assets", "captures", "chunks", "compare", "css", "csv", "data", "datasets",
     "downloads", "evidence", "guide", "html", "index", "items", "journals", "js", "json", "labels",
     "parquet", "picks", "references", "runs", "search", "sheets"]
)  # fmt: skip
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
"""Letters of Thai, Lao, Tibetan, Burmese, Khmer, Tai, Japanese and Chinese."""
_TAG = re.compile(r"<[^>]*>")
_LINK = re.compile(r'(?:href|src)="([^"]*)"')
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_SLASHED = re.compile(r'\\[nrt"\\/]')
_PACKED = re.compile(rb"H4sI[A-Za-z0-9+/]{20,}={0,2}")

Gram = tuple[str, ...]


class Probes:
    """Runs of words, or of letters of scripts without spaces, of texts that must not be found."""

    def __init__(self) -> None:
        self._words = _Runs(tokens, LONG, SHORT, LEAST_CHARACTERS)
        self._letters = _Runs(unspaced, LONG_UNSPACED, SHORT_UNSPACED, SHORT_UNSPACED)
        self._every = (self._words, self._letters)

    def add(self, texts: Iterable[tuple[str, str]], *, but: Iterable[str] = ()) -> None:
        """Take in texts, each with what it is of, which a finding names; not what ``but`` says too."""
        told, excused = list(texts), list(but)
        for runs in self._every:
            runs.add(told, excused)

    def excuse(self, texts: Iterable[str]) -> None:
        """Take back what a text that may be shown says too."""
        for text in texts:
            for runs in self._every:
                runs.excuse(text)

    def find(self, text: str) -> str | None:
        """Return what the first hidden text is of that ``text`` has a run of, or None."""
        return next((told for runs in self._every if (told := runs.find(text)) is not None), None)

    def lines(self) -> Iterator[str]:
        """Give all that is looked for, to tell whether it changed."""
        for runs in self._every:
            yield from runs.lines()


class _Runs:
    """Runs of what ``split`` makes of a text: ``long`` of them, or all where it has ``short`` to ``long``."""

    def __init__(self, split: Callable[[str], list[str]], long: int, short: int, least: int) -> None:
        self._split, self._long, self._short, self._least = split, long, short, least
        self._by_length: dict[int, dict[Gram, str]] = {}
        self._firsts: dict[int, frozenset[str]] = {}

    def add(self, texts: list[tuple[str, str]], but: list[str]) -> None:
        held = [
            (told, found)
            for told, text in texts
            if len(text) >= self._least and len(found := self._split(text)) >= self._short
        ]
        said = [self._split(text) for text in but]
        most = max(4, MOST_PROBES // max(len(held), 1))
        excused: dict[int, set[Gram]] = {}
        for told, found in held:
            length = min(len(found), self._long)
            if length not in excused:
                excused[length] = {gram for one in said for gram in _grams(one, length)}
            grams = [gram for gram in _grams(found, length) if gram not in excused[length]]
            step = max(1, -(-len(grams) // most))
            place = self._by_length.setdefault(length, {})
            for gram in grams[::step]:
                place.setdefault(gram, told)

    def excuse(self, text: str) -> None:
        if not self._by_length:
            return
        found = self._split(text)
        for length, place in self._by_length.items():
            for gram in _grams(found, length):
                place.pop(gram, None)

    def find(self, text: str) -> str | None:
        if not self._by_length:
            return None
        found = self._split(text)
        vocabulary = set(found)
        for length, place in self._by_length.items():
            if length not in self._firsts:
                self._firsts[length] = frozenset(gram[0] for gram in place)
            if vocabulary.isdisjoint(self._firsts[length]) or place.keys().isdisjoint(_grams(found, length)):
                continue
            return next(place[gram] for gram in _grams(found, length) if gram in place)
        return None

    def lines(self) -> Iterator[str]:
        for place in self._by_length.values():
            yield from (" ".join(gram) for gram in place)


class Watch:
    """What a public build's files are held against."""

    def __init__(self, project: Project, shown: Shown, probes: Probes, items: frozenset[str]) -> None:
        """Look for the names of what is hidden, for ``probes``, and for the ids of hidden ``items``."""
        self._probes = probes
        self._rules = (*secrets.BUNDLED, *secrets.this_machine(), *_this_project(project))
        self._names = frozenset(name for name in shown.names | items if _distinct(name))
        self._words = frozenset(
            name for name in shown.names if not _distinct(name) and name not in _STRUCTURE
        )
        self.digest = sha256_lines(
            [*(f"{rule.name} {rule.pattern.pattern}" for rule in self._rules), *self._names, *self._words,
             *probes.lines()]
        )  # fmt: skip

    def check(self, path: str, data: bytes) -> list[str]:
        """Return a line for each thing in a file that must not be published; no line repeats a secret."""
        found = [f"{path}: its name: {told}" for told in self._in(path, path)]
        for text in (data.decode("utf-8", "replace"), *unpacked(data)):
            found += [f"{path}: {told}" for told in self._in(path, text)]
        return list(dict.fromkeys(found))

    def _in(self, path: str, text: str) -> Iterator[str]:
        forms = [readable(text)]
        if "<" in text:
            forms.append(readable(_TAG.sub(" ", text.replace("<wbr>", ""))))
        for form in forms:
            for hit in secrets.find(form, self._rules):
                yield f"{hit.rule} ({hit.shown})"
        if not path.startswith(GUIDE):
            yield from self._named(text, forms)
        for form in forms:
            told = self._probes.find(form)
            if told is not None:
                yield f"it quotes {told}"
                return

    def _named(self, text: str, forms: list[str]) -> Iterator[str]:
        if self._names:
            spelt = [*forms, unquoted(forms[0])] if "%" in text else forms
            for name in sorted({name for form in spelt for name in self._names & words(form)}):
                yield f"it names {name}, which is hidden"
        if self._words:
            parts = {part for link in _LINK.findall(text) for part in re.split(r"[/.#?]", unquoted(link))}
            for name in sorted(self._words & parts):
                yield f"a link leads to {name}, which is hidden"


def readable(text: str) -> str:
    r"""Return a file's text as a reader finds it: HTML entities and the escapes of scripts undone."""
    if "\\" in text:
        text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
        text = _SLASHED.sub(" ", text)
    return html.unescape(text) if "&" in text else text


def unpacked(data: bytes) -> Iterator[str]:
    """Give the texts that a script holds as gzip in base64."""
    for found in _PACKED.finditer(data):
        try:
            packed = base64.b64decode(found[0], validate=True)
            yield zlib.decompressobj(31).decompress(packed, MOST_UNPACKED).decode("utf-8", "replace")
        except (binascii.Error, zlib.error):
            continue


def unquoted(text: str) -> str:
    """Return a text with percent-encoding undone, also where it was encoded more than once."""
    for _ in range(MOST_DECODINGS):
        before, text = text, unquote(text)
        if text == before:
            break
    return text


def folded(text: str) -> str:
    """Return a whole text as it is compared with another: white space and case make no difference."""
    return " ".join(text.split()).casefold()


def unspaced(text: str) -> list[str]:
    """Return the letters of a text that are of scripts without spaces."""
    return [] if text.isascii() else _UNSPACED.findall(text)


def tokens(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return _WORD.findall(text.lower())


def _grams(found: list[str], length: int) -> Iterator[Gram]:
    return zip(*(found[at:] for at in range(length)), strict=False)


def _distinct(name: str) -> bool:
    return len(name) >= _LEAST and not name.isalpha()


def _this_project(project: Project) -> tuple[secrets.Rule, ...]:
    """Return the rules that find where the project lies and the name of the machine."""
    made = []
    for place in sorted({str(project.root), str(project.root.resolve()), str(project.data)}):
        if place.count("/") >= 2:
            pattern = re.compile(re.escape(place) + r"(?![\w.-])")
            made.append(secrets.Rule("project-folder", (place.lower(),), pattern))
    host = socket.gethostname()
    if len(host) >= _LEAST and not host.isalpha():
        made.append(
            secrets.Rule(
                "host-name", (host.lower(),), re.compile(rf"(?i)(?<![\w.-]){re.escape(host)}(?![\w-])")
            )
        )
    return tuple(made)
