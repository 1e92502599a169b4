"""Follows the log: every change of a service, in one order, by the number of entries that were read."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .errors import TidemarkError

TILE_WIDTH = 256
#: 256 entries of 64 KB, with their line breaks.
_LINES_BYTES_MAX = TILE_WIDTH * 0x10000
#: The formats of entries that this version knows.
_FORMATS = (1, 2)
#: How often a file may be missing because the log has grown, with nothing read in between.
_MISSING_MAX = 3


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the log."""

    #: Its place in the log, from 0. Go on with ``since=index + 1``.
    index: int
    #: docs/log.md says what it means. None: it was taken down; a later ``takedown`` entry says so.
    entry: dict[str, Any] | None


class LogLines:
    """Reads the files below the root of the log."""

    def __init__(self, checkpoint: Callable[[], bytes], read: Callable[[str], bytes]) -> None:
        self._checkpoint = checkpoint
        self._read = read

    def size(self) -> int:
        """The number of entries."""
        lines = self._checkpoint().decode("utf-8", "replace").split("\n")
        if len(lines) > 1 and re.fullmatch(r"0|[1-9][0-9]{0,14}", lines[1], re.ASCII):
            return int(lines[1])
        raise TidemarkError("unexpected-answer", "the checkpoint of the log names no size", status=200)

    def changes(self, since: int, size: int) -> Iterator[Change]:
        """The entries from ``since`` up to the end of the log."""
        following, missing = since, 0
        while following < size:
            n = following // TILE_WIDTH
            width = min(TILE_WIDTH, size - n * TILE_WIDTH)
            lines = self._lines(n, width)
            if lines is None:
                # A partial file is removed a day after a later checkpoint: a cache returned an old one, or the reader was slow.
                missing += 1
                if missing > _MISSING_MAX:
                    detail = f"file {n} of the log is not there, although the checkpoint names it. Ask again in a minute"
                    raise TidemarkError("unexpected-answer", detail, status=404)
                size = self.size()
                continue
            missing = 0
            while following < n * TILE_WIDTH + width:
                yield Change(following, _entry_of(lines[following % TILE_WIDTH], following))
                following += 1

    def _lines(self, n: int, width: int) -> list[str] | None:
        try:
            gzipped = self._read(ndjson_path(n, width))
        except TidemarkError as error:
            if error.status == 404:
                return None
            raise
        try:
            lines = unzipped_lines(gzipped)
        except ValueError as cause:
            raise TidemarkError("unexpected-answer", f"file {n} of the log cannot be read", status=200) from cause
        if len(lines) <= width:
            raise TidemarkError("unexpected-answer", f"file {n} of the log is too short", status=200)
        return lines


def unzipped_lines(gzipped: bytes) -> list[str]:
    """The last line is empty. Raises ValueError for bytes that are not gzipped UTF-8, or are too many."""
    unzip = zlib.decompressobj(wbits=31)
    try:
        text = unzip.decompress(gzipped, _LINES_BYTES_MAX + 1)
    except zlib.error as cause:
        raise ValueError("not gzip") from cause
    if not unzip.eof:
        raise ValueError("not whole, or too large")
    return text.decode("utf-8").split("\n")


def ndjson_path(n: int, width: int) -> str:
    """The path of 256 entries, or of the last ones, relative to the root of the log."""
    return f"ndjson/{index_path(n, width)}.gz"


def index_path(n: int, width: int) -> str:
    """Groups of three digits, all but the last after an ``x``; then the width, if the file is partial."""
    digits = str(n).zfill(-(-len(str(n)) // 3) * 3)
    groups = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    path = "/".join([*("x" + group for group in groups[:-1]), groups[-1]])
    return path if width == TILE_WIDTH else f"{path}.p/{width}"


def _entry_of(line: str, index: int) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError as cause:
        raise TidemarkError("unexpected-answer", f"entry {index} of the log is not JSON", status=200) from cause
    if isinstance(entry, dict) and isinstance(entry.get("takenDown"), str):
        return None
    found = entry.get("format") if isinstance(entry, dict) else None
    if isinstance(entry, dict) and type(found) is int and found in _FORMATS:
        return entry
    detail = f"entry {index} of the log has the format {found}, and this version knows {' and '.join(map(str, _FORMATS))}: get a newer one"
    raise TidemarkError("newer-format", detail)
