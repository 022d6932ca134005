"""A zip archive that is broken is refused, whatever its compression."""

from __future__ import annotations

import io
import zipfile

import pytest

from evh.errors import Refusal
from evh.store.zipped import unzip


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_broken_stream_is_refused(method: int) -> None:
    """Each byte of the packed data changed in turn: the text comes back, or a Refusal."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("a.txt", b"some text, some text, some text" * 9)
    data = out.getvalue()
    refused = 0
    codes = set()
    for at in range(len(data)):
        broken = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        try:
            unzip(broken, "f.zip")
        except Refusal as refusal:
            refused += 1
            codes.add(refusal.code)
    assert refused > 20
    assert codes <= {"bad-format", "too-large"}
