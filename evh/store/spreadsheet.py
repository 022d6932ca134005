"""CSV for spreadsheets: cells that no program runs, read back byte for byte; any delimiter, any BOM."""

from __future__ import annotations

import codecs
import csv
import io
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

GUIDELINE_ROW = "#guideline"
"""What stands in the column ``item_id`` of a sheet's row that holds what to label by."""

CELL = 32_767
"""The most characters that a spreadsheet keeps of one cell."""

SHORTENED = " … [shortened]"
"""What a cell that did not fit ends in: such a cell is never read as an edit."""

_STARTS = frozenset("'=+-@\t\r")
_RUNS = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CHARSETS = re.compile(
    r"utf-8(?:-sig)?|utf-(?:16|32)(?:-[bl]e)?|ascii|cp\d+|iso8859-\d+|latin-?\d+|mac-[a-z0-9]+|koi8-[a-z]"
    r"|shift-jisx?\d*|shift-jis-2004|gbk|gb2312|gb18030|hz|big5(?:hkscs)?|johab|tis-620|kz1048|ptcp154"
    r"|euc-(?:jp|kr|jis-2004|jisx0213)|iso2022-[a-z0-9-]+"
)
"""The encodings that a sheet can be in; Python also calls punycode, idna and unicode_escape encodings."""
_DELIMITERS = (",", ";", "\t", "|")
_REPEATS = 16
_SHORT = 200
"""What is made of a cell of so many characters is kept: short answers repeat."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a sheet: where it starts, for messages, and its cells by the header's names.

    ``number`` counts rows as a spreadsheet does: the header is row 1. ``cells`` are as they lie in the file
    (`unguard` those that `write_rows` wrote), "" for a cell that the row lacks, which makes it ``short``; a
    header that stands twice keeps its first column. ``typed`` says of a workbook's cells which are not text,
    and what they are: ``number``, ``date``, ``time``, ``true or false``, ``error``, ``formula``.
    """

    number: int
    cells: dict[str, str]
    short: bool = False
    typed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Merged:
    """Cells of one column that a workbook shows as one cell: its head, the first and the last row."""

    head: str
    first: int
    last: int

    @property
    def told(self) -> str:
        """What it is, in words."""
        rows = f"rows {self.first} to {self.last}" if self.last > self.first else f"row {self.first}"
        return f"{rows}: merged cells in the column {self.head}"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet as it was read: its header, unguarded, and its rows; empty rows are passed over.

    ``guarded``: whether its own cells were written with `guard`, as a CSV file's are and a workbook's not.
    ``warnings``: what a person should know, a sentence each. ``merged``: the columns' parts of merged cells.
    """

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    guarded: bool = True
    warnings: tuple[str, ...] = ()
    merged: tuple[Merged, ...] = ()


def guard(text: str) -> str:
    """Return a cell's text so that no spreadsheet runs it; `unguard` gives back exactly ``text``.

    A cell that starts with ``= + - @``, a tab or CR, after any number of ``'``, gets one more ``'``.
    """
    return f"'{text}" if text[:1] in _STARTS and _RUNS.match(text) else text


def unguard(cell: str) -> str:
    """Return what a cell held before `guard`; a cell that nobody guarded is returned as it is."""
    return cell[1:] if cell[:1] == "'" and _GUARDED.match(cell) else cell


def shorten(text: str, most: int = CELL) -> str:
    """Return ``text`` so that it fits a cell when guarded; one that does not is cut and marked.

    Spreadsheets count UTF-16 units: a character outside the basic plane is two.
    """
    if 2 * len(text) < most or _units(text) < most:
        return text
    room = most - 1 - len(SHORTENED)
    cut = text[:room]
    while _units(cut) > room:
        cut = cut[: room - _units(cut)]
    return cut + SHORTENED


def _units(text: str) -> int:
    return len(text) + sum(char > "\uffff" for char in text)


def write_rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return the bytes of a CSV file that spreadsheets open: UTF-8 with BOM, CRLF, every text guarded.

    Args:
        header: one name a column.
        rows: one value a column; None is an empty cell, numbers are written plainly, true and false as words.
    """
    held = io.BytesIO(b"\xef\xbb\xbf")
    held.seek(0, io.SEEK_END)
    out = io.TextIOWrapper(held, "utf-8", "replace", newline="", write_through=False)
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([guard(name) for name in header])
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    out.flush()
    return held.getvalue()


def read(data: bytes, place: object, *, encoding: str | None = None, needs: Sequence[str] = ()) -> Sheet:
    """Return the sheet that CSV ``data`` holds, whatever a spreadsheet did to its form.

    Commas, semicolons, tabs and bars separate; the one that finds most of ``needs`` in the header is taken.
    A byte-order mark tells UTF-8 and UTF-16; without one it is UTF-8 or what ``encoding`` says.

    Args:
        data: the file's bytes.
        place: names the file in a Refusal.
        encoding: the name of a character set, as Python spells it; one of its other codecs is refused.
        needs: columns that the header should have (compared by their start, ignoring case).

    Raises:
        Refusal: bytes that are not text in that encoding, no header, or a row longer than the header.
    """
    text = _decode(data, place, encoding)
    named_in = re.match(r"sep=(.)\r?(?:\n|\Z)", text)  # what a spreadsheet writes to tell its delimiter
    if named_in:
        delimiter, text, skipped = named_in[1], text[named_in.end() :], 1
    else:
        delimiter, skipped = _delimiter(text, needs), 0
    made: list[Row] = []
    header: tuple[str, ...] | None = None
    reasons: list[str] = []
    known: dict[str, str] = {}  # short answers repeat: one text each
    for number, cells in enumerate(_rows_of(text, delimiter, place), start=1 + skipped):
        if not any(cell.strip() for cell in cells):
            continue
        if header is None:
            header = tuple(unguard(cell).strip() for cell in cells)
            continue
        if any(cell.strip() for cell in cells[len(header) :]):
            reasons.append(f"{place}: row {number}: it has more cells than the header")
        named: dict[str, str] = {}
        for name, cell in zip(header, cells, strict=False):
            named.setdefault(name, known.setdefault(cell, cell) if len(cell) <= _REPEATS else cell)
        for name in header[len(cells) :]:
            named.setdefault(name, "")
        made.append(Row(number, named, short=len(cells) < len(header)))
    if header is None:
        reasons.append(f"{place}: it is empty: the first row names the columns")
    if reasons:
        raise Refusal("bad-sheet", f"{place} cannot be read as a sheet", why=reasons)
    return Sheet(header or (), tuple(made))


def merged_answers(
    sheet: Sheet, item_id: str, heads: Collection[str], place: object
) -> list[tuple[str, str]]:
    """Return why merged cells hold no answers, as (code, reason): nobody can tell whose the one answer is.

    Args:
        sheet: the sheet.
        item_id: the head of the items' ids: rows that are no items may be merged.
        heads: the heads of the columns that people fill in.
        place: names the sheet in a reason.
    """
    if not sheet.merged:
        return []
    items = [row.number for row in sheet.rows if not row.cells[item_id].startswith("#")]
    return [
        ("merged-cells", f"{place}: {one.told}: unmerge them and fill in each row by itself")
        for one in sheet.merged
        if one.head in heads and bisect_left(items, one.first) < bisect_right(items, one.last)
    ]


def named_kind(kind: str) -> str:
    """Return a kind of `Row.typed` as a sentence names it: ``a number``, ``an error``, ``true or false``."""
    if kind == "true or false":
        return kind
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def split_bars(cell: str) -> tuple[str, ...]:
    r"""Return the parts of a cell that ``|`` separates, trimmed and not empty; ``\|`` is a literal bar."""
    parts = re.split(r"(?<!\\)\|", cell)
    return tuple(part.replace("\\|", "|").strip() for part in parts if part.strip())


def join_bars(parts: Iterable[str]) -> str:
    """Return the one cell that `split_bars` takes apart again."""
    return "|".join(part.replace("|", "\\|") for part in parts)


def same_text(one: str, other: str) -> bool:
    """Tell whether two cells hold one text: spreadsheets rewrite line ends inside cells."""
    return level(one) == level(other)


def level(text: str) -> str:
    """Return a text with each line end as LF: the form in which cells are compared and hashed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def cell_digest(cell: str) -> str:
    """Return the sha256 by which a sheet's key knows a cell: of its text, each line end as LF."""
    return _short_digest(cell) if len(cell) <= _SHORT else sha256_text(level(cell))


@lru_cache(maxsize=4096)
def _short_digest(cell: str) -> str:
    return sha256_text(level(cell))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return guard(str(value))


def _decode(data: bytes, place: object, encoding: str | None) -> str:
    if encoding is not None and not _is_charset(encoding):
        raise Refusal(
            "bad-encoding",
            f"{encoding!r} is no encoding of a sheet",
            why=[f"{place}: --encoding {encoding}"],
            next="name one that spreadsheets save in, such as cp1252, utf-16, shift_jis or gb18030",
        )
    named = next((codec for mark, codec in _MARKS if data.startswith(mark)), None) or encoding or "utf-8"
    try:
        text = data.decode(named)
        if "\0" in text.partition("\n")[0]:
            raise Refusal(
                "bad-encoding", f"{place} is not {named.upper()}",
                why=[f"{place}: its header is full of zero bytes, as UTF-16 without a mark is"],
                next="save it as CSV UTF-8, or name its encoding: --encoding utf-16-le",
            )  # fmt: skip
        return text
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise Refusal(
            "bad-encoding",
            f"{place} is not {named.upper()}",
            why=[f"{place}: line {row}, byte {error.start}: {error.reason}"],
            next="save it as CSV UTF-8, or name its encoding: --encoding cp1252",
        ) from error


def _is_charset(encoding: str) -> bool:
    """Tell whether a name is that of a character set, not of one of Python's other codecs."""
    try:
        return _CHARSETS.fullmatch(codecs.lookup(encoding).name.replace("_", "-")) is not None
    except (LookupError, ValueError):  # no such codec; a zero byte in the name
        return False


def _parsed(text: str, delimiter: str) -> Iterable[list[str]]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    # Not StringIO, which takes four bytes for each character.
    lines = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogatepass")), "utf-8", "surrogatepass", "")
    return csv.reader(lines, delimiter=delimiter, strict=True)


def _rows_of(text: str, delimiter: str, place: object) -> Iterable[list[str]]:
    """Yield the rows of a CSV text one by one."""
    try:
        yield from _parsed(text, delimiter)
    except csv.Error as error:
        raise Refusal("bad-sheet", f"{place} is not CSV", why=[f"{place}: {error}"]) from error


def _delimiter(text: str, needs: Sequence[str]) -> str:
    def found(delimiter: str) -> tuple[int, int]:
        try:
            header = next(iter(_parsed(text, delimiter)), [])
        except csv.Error:
            return -1, 0
        names = [name.strip().casefold() for name in header]
        known = sum(any(name.startswith(need.casefold()) for name in names) for need in needs)
        return known, len(names)

    return max(_DELIMITERS, key=found)
