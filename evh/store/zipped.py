"""Reading a zip archive that somebody else made: in memory, and never more than is sane."""

from __future__ import annotations

import io

from evh.errors import Refusal

MOST_BYTES = 200_000_000
MOST_PARTS = 5_000


def unzip(data: bytes, place: object) -> dict[str, bytes]:
    """Return each file of an archive, by its name there; names are never paths that anything is written to.

    Args:
        data: the archive's bytes.
        place: names the archive in a Refusal.

    Raises:
        Refusal: no zip archive, a broken or encrypted one, two files of one name, more than `MOST_PARTS`
            files, or more than `MOST_BYTES` once unpacked: known before anything is unpacked, and held to.
    """
    import lzma
    import struct
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [one for one in archive.infolist() if not one.is_dir()]
            _refuse_large(sum(one.file_size for one in entries), len(entries), place)
            names = [one.filename for one in entries]
            if len(set(names)) != len(names):
                raise _broken(place, "two files in it have one name")
            if any(one.flag_bits & 1 for one in entries):
                raise _broken(place, "it is encrypted")
            # A file that unpacks to more than the directory says fails its checksum where it should end.
            return {one.filename: archive.read(one) for one in entries}
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error) as error:
        raise _broken(place, error) from error
    except (NotImplementedError, RuntimeError, EOFError, ValueError, OSError) as error:
        raise _broken(place, error) from error


def _refuse_large(size: int, parts: int, place: object) -> None:
    if size > MOST_BYTES or parts > MOST_PARTS:
        raise Refusal(
            "too-large",
            f"{place} unpacks to more than evh reads",
            why=[f"{place}: {parts:,} files, {size:,} bytes; the most are {MOST_PARTS:,} and {MOST_BYTES:,}"],
            next="save the sheet as CSV UTF-8, which is not packed",
        )


def _broken(place: object, why: object) -> Refusal:
    return Refusal("bad-format", f"{place} cannot be unpacked", why=[f"{place}: {why}"])
