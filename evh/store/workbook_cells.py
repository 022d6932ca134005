"""What the cells of a workbook hold, however hostile the file is.

Its parts are unpacked under a limit, its cells are measured one by one, and only what was measured is handed
on, written anew. The reader that knows Excel's dates allocates by the places of cells and by counts that a
file states, so it must not find one that was not counted here.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.store.zipped import unzip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from xml.etree.ElementTree import Element

MOST_CELLS = 5_000_000
MOST_TEXT = 500_000_000
OLD = b"\xd0\xcf\x11\xe0"
_BOOK, _RELATIONS, _STRINGS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/sharedStrings.xml"
_STYLES = "xl/styles.xml"
_CHUNK = 1 << 20
_MOST_MERGED = 1_000
"""So many merged cells are told of: one is enough to refuse a sheet."""
_DIGITS = 10
_PLACE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384
_TYPES = ("str", "inlineStr", "b", "e", "n", "d")
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


@dataclass(frozen=True, slots=True)
class Worksheet:
    """A worksheet: its name, its rows from A1 on as Python values, and what is known of its cells.

    ``kinds`` are ``formula`` and ``error`` by (row, column), from (1, 1); ``errors`` what such a cell shows.
    ``merged`` are the ranges of cells that were made one.
    """

    name: str
    rows: list[list[Any]]
    kinds: Mapping[tuple[int, int], str]
    errors: Mapping[tuple[int, int], str]
    merged: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Range:
    """A block of cells: its first and last row and column, each counted from 1."""

    top: int
    left: int
    bottom: int
    right: int


def worksheets(data: bytes, place: object) -> list[Worksheet]:
    """Return a workbook's worksheets, in its order.

    Args:
        data: the file's bytes.
        place: names the file in a Refusal.

    Raises:
        Refusal: another kind of file, one that unpacks to more than is sane, cells beyond `MOST_CELLS`, a
            part that is no XML.
    """
    parts = _parts(data, place)
    names = _sheets(parts, place)
    strings = [_inline(one) for one in _elements(parts.get(_STRINGS, b""), "si", place)]
    cells = {name: _scan(parts[path], strings, f"{place}: sheet {name}") for name, path in names.items()}
    rows = _values(parts, cells, place)
    return [
        Worksheet(name, rows[name], one.kinds, one.errors, tuple(one.merged)) for name, one in cells.items()
    ]


@dataclass(slots=True)
class _Cells:
    """What is known of a worksheet's cells before anything is made of them: positions count from (1, 1).

    ``part`` is the worksheet again, of nothing but its cells' places, formats and values.
    """

    rows: int = 0
    columns: int = 0
    last: str = ""
    text: int = 0
    kinds: dict[tuple[int, int], str] = field(default_factory=dict)
    errors: dict[tuple[int, int], str] = field(default_factory=dict)
    merged: list[Range] = field(default_factory=list)
    part: io.StringIO = field(default_factory=io.StringIO)


def _parts(data: bytes, place: object) -> dict[str, bytes]:
    """Return the parts of a workbook that say what its cells hold."""
    if data.startswith(OLD):
        raise _not_a_workbook(place, "it is an old .xls file, or one with a password")
    parts = unzip(data, place)
    if any(name.lower().endswith("workbook.bin") for name in parts):
        raise _not_a_workbook(place, "it is a binary workbook (.xlsb)")
    if _BOOK in parts:
        return parts
    if b"opendocument" in parts.get("mimetype", b"")[:200]:
        raise _not_a_workbook(place, "it is an OpenDocument file (.ods)")
    if any(name.startswith("Index/") or name.endswith(".iwa") or name == "Index.zip" for name in parts):
        raise _not_a_workbook(place, "it is a Numbers document")
    raise _not_a_workbook(place, "it is an archive, and no workbook lies in it")


def _not_a_workbook(place: object, why: str) -> Refusal:
    return Refusal(
        "bad-format",
        f"{place} is no workbook that evh reads",
        why=[f"{place}: {why}"],
        next="save it from the spreadsheet as .xlsx, or as CSV UTF-8, under the sheet's own name",
    )


def _broken(place: object, why: object) -> Refusal:
    return Refusal(
        "bad-sheet",
        f"{place} cannot be read as a workbook",
        why=[f"{place}: {why}"],
        next="open it in a spreadsheet and save it again as .xlsx, or as CSV UTF-8",
    )


def _elements(part: bytes, tag: str, place: object, *more: str) -> Iterator[Element]:
    """Yield each element of a name, or of ``more`` ones, whatever its namespace; it is emptied afterwards."""
    from xml.etree.ElementTree import ParseError, XMLPullParser

    if not part:
        return
    if part[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in part[:4]:
        raise _broken(place, "a part of it is not UTF-8")
    if b"<!DOCTYPE" in part or b"<!ENTITY" in part:
        raise _broken(place, "a part of it declares entities, which no spreadsheet writes")
    tags = {tag, *more}
    parser: Any = XMLPullParser(["end"])  # its events are typed as more than this one
    try:
        for start in range(0, len(part) + 1, _CHUNK):
            parser.feed(part[start : start + _CHUNK])
            for _, element in parser.read_events():
                if element.tag.rpartition("}")[2] in tags:
                    yield element
                    element.clear()
        parser.close()
    except (ParseError, LookupError, ValueError) as error:  # the last two: an encoding of no such name
        raise _broken(place, error) from error


def _sheets(parts: Mapping[str, bytes], place: object) -> dict[str, str]:
    """Return the worksheets: name → part."""
    targets = {}
    for one in _elements(parts.get(_RELATIONS, b""), "Relationship", place):
        target = one.get("Target", "")
        targets[one.get("Id", "")] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    made = {}
    for one in _elements(parts[_BOOK], "sheet", place):
        relation = next((v for k, v in one.attrib.items() if k.endswith("}id")), "")
        path = targets.get(relation, "")
        if path in parts and "/worksheets/" in path:
            made[one.get("name", "")] = path
    if not made:
        raise _broken(place, "it has no worksheet")
    return made


def _scan(part: bytes, strings: Sequence[str], place: str) -> _Cells:
    """Return what a worksheet's cells are, and refuse it before it fills the memory."""
    found = _Cells()
    row = 0
    for element in _elements(part, "row", place, "mergeCell"):
        if element.tag.rpartition("}")[2] == "mergeCell":
            found.merged += _merged(element.get("ref") or "") if len(found.merged) < _MOST_MERGED else []
            continue
        told = element.get("r")
        row = row + 1 if told is None else int(told) if told.isdecimal() and len(told) < _DIGITS else 0
        column = 0
        for cell in element:
            if cell.tag.rpartition("}")[2] != "c":
                continue
            column = _place(cell.get("r"), row, column + 1, place)
            value = {one.tag.rpartition("}")[2]: one for one in cell}
            if value:
                _note(found, cell, value, (row, column), strings)
                _refuse_large(found, place)
    return found


def _merged(ref: str) -> list[Range]:
    """Return the cells that a reference such as ``B3:B7`` makes one; one cell alone is no merged one."""
    ends = [_PLACE.fullmatch(one) for one in ref.split(":")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        return []
    (left, top), (right, bottom) = ((_column(one[1]), int(one[2])) for one in ends if one)
    made = Range(min(top, bottom), min(left, right), max(top, bottom), max(left, right))
    return [made] if (made.top, made.left) != (made.bottom, made.right) else []


def _place(told: str | None, row: int, following: int, place: str) -> int:
    """Return a cell's column; a place that no sheet has is refused: others would read it elsewhere."""
    where = _PLACE.fullmatch(told or "")
    column = _column(where[1]) if where else following
    if (told is not None and not where) or (where and int(where[2]) != row):
        raise _broken(place, f"a cell of row {row} says that it is {told!r}")
    if not 1 <= row <= _MOST_ROWS or column > _MOST_COLUMNS:
        raise _broken(place, f"a cell lies in row {row:,}, column {column:,}, which no sheet has")
    return column


def _note(
    found: _Cells, cell: Element, value: Mapping[str, Element], at: tuple[int, int], strings: Sequence[str]
) -> None:
    """Note one cell, and write it again: its place, its format, its type and its value."""
    found.rows, found.columns = max(found.rows, at[0]), max(found.columns, at[1])
    found.last = f"{_letters(at[1])}{at[0]}"
    kind = cell.get("t") or "n"
    text = (value["v"].text or "") if "v" in value else ""
    if "f" in value:
        found.kinds[at] = "formula"
    if kind == "e":
        found.kinds[at] = "error"
        found.errors[at] = text
    if kind == "s":
        known = text.isdecimal() and len(text) < _DIGITS and int(text) < len(strings)
        kind, text = "inlineStr", strings[int(text)] if known else ""
    elif "is" in value:
        kind, text = "inlineStr", _inline(value["is"])
    found.text += len(text)
    inner = f"<v>{_escaped(text)}</v>"
    if kind == "inlineStr":
        inner = f'<is><t xml:space="preserve">{_escaped(text)}</t></is>'
    style = cell.get("s") or ""
    styled = f' s="{style}"' if style.isdecimal() and len(style) < _DIGITS else ""
    kind = kind if kind in _TYPES else "n"
    found.part.write(f'<row r="{at[0]}"><c r="{found.last}"{styled} t="{kind}">{inner}</c></row>')


def _inline(element: Element) -> str:
    """Return the text of a cell that holds its own, without how it is pronounced."""
    made = []
    for one in element:
        name = one.tag.rpartition("}")[2]
        if name == "t":
            made.append(one.text or "")
        elif name == "r":
            made += [part.text or "" for part in one if part.tag.rpartition("}")[2] == "t"]
    return "".join(made)


def _escaped(text: str) -> str:
    from xml.sax.saxutils import escape

    return escape(text, {"\r": "&#13;"})


def _refuse_large(found: _Cells, place: str) -> None:
    reason = None
    if found.rows * found.columns > MOST_CELLS:
        reason = f"its cells reach {found.last}: {found.rows:,} rows × {found.columns:,} columns"
    elif found.text > MOST_TEXT:
        reason = f"its cells hold more than {MOST_TEXT:,} characters"
    if reason:
        raise Refusal(
            "too-large",
            "the workbook is larger than a sheet to label",
            why=[f"{place}: {reason}"],
            next="delete the rows and columns that lie far out, or save it as CSV UTF-8",
        )


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _letters(column: int) -> str:
    made = ""
    while column:
        column, rest = divmod(column - 1, 26)
        made = chr(ord("A") + rest) + made
    return made


def _values(
    parts: Mapping[str, bytes], cells: Mapping[str, _Cells], place: object
) -> dict[str, list[list[Any]]]:
    """Return each worksheet's cells from A1 on, as Python values.

    What is handed on is a workbook made anew of what was measured: nothing else of the file is parsed again.
    """
    import zipfile

    from python_calamine import CalamineWorkbook

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, part in _made_anew(parts, cells, place).items():
            archive.writestr(name, part)
    packed.seek(0)
    try:
        with CalamineWorkbook.from_filelike(packed) as book:
            sheets = [book.get_sheet_by_name(f"s{at}") for at in range(len(cells))]
            made = [sheet.to_python(skip_empty_area=False) for sheet in sheets]
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # what its Rust side panics with is no Exception
        raise _broken(place, error) from error
    return dict(zip(cells, made, strict=True))


def _made_anew(parts: Mapping[str, bytes], cells: Mapping[str, _Cells], place: object) -> dict[str, bytes]:
    asked = [one.get("date1904") for one in _elements(parts[_BOOK], "workbookPr", place)]
    since_1904 = any(one in ("1", "true") for one in asked)
    sheets = "".join(f'<sheet name="s{at}" sheetId="{at + 1}" r:id="r{at}"/>' for at in range(len(cells)))
    relations = "".join(
        f'<Relationship Id="r{at}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at in range(len(cells))
    )
    made = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r" '
        f'Type="{_OFFICE}/officeDocument" Target="{_BOOK}"/></Relationships>',
        _BOOK: f'<workbook {_MAIN} xmlns:r="{_OFFICE}"><workbookPr date1904="{int(since_1904)}"/>'
        f"<sheets>{sheets}</sheets></workbook>",
        _RELATIONS: f'<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>',
    }
    for at, one in enumerate(cells.values()):
        rows = one.part.getvalue()
        made[f"xl/worksheets/sheet{at}.xml"] = f"<worksheet {_MAIN}><sheetData>{rows}</sheetData></worksheet>"
    made[_STYLES] = _formats(parts.get(_STYLES, b""), place)
    return {name: part.encode() for name, part in made.items()}


def _formats(part: bytes, place: object) -> str:
    """Return the styles again, of nothing but which cells are dates: the formats of numbers."""
    from xml.sax.saxutils import quoteattr

    custom: list[str] = []
    used: list[str] = []
    for one in _elements(part, "numFmts", place):
        for form in one:
            number, code = quoteattr(form.get("numFmtId", "")), quoteattr(form.get("formatCode", ""))
            custom.append(f"<numFmt numFmtId={number} formatCode={code}/>")
    for one in _elements(part, "cellXfs", place):
        used += [f"<xf numFmtId={quoteattr(form.get('numFmtId', '0'))}/>" for form in one]
    numbers = f"<numFmts>{''.join(custom)}</numFmts>" if custom else ""
    return f"<styleSheet {_MAIN}>{numbers}<cellXfs>{''.join(used)}</cellXfs></styleSheet>"
