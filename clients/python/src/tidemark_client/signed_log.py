"""Verifies entries of a signed log and receipts of them (C2SP tlog-tiles, tlog-checkpoint, tlog-proof; RFC 6962)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from .log_changes import TILE_WIDTH, index_path, ndjson_path, unzipped_lines
from .moments import parsed
from .rows import DECIMALS, TIMES, Row

_HASH_BYTES = 32
_ED25519 = 1
_FIRST_LINE = "c2sp.org/tlog-proof@v1"
#: A tree of 2^53 entries has no longer path.
_PATH_MAX = 53
#: Members of an entry that are no members of a row.
_OF_THE_ENTRY = {"format", "type", "market", "revision"}


class LogVerificationError(Exception):
    """The host's files differ from what the key has signed, or none of the known keys has signed them."""


@dataclass(frozen=True)
class Proven:
    """An entry that is proven to be in the signed log."""

    #: Its place in the log, from 0.
    index: int
    entry: dict[str, Any]
    #: The bytes that are signed, as text.
    text: str
    #: The name of the log, and its size at the time.
    origin: str
    size: int


def leaf_hash(entry: bytes) -> bytes:
    return hashlib.sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def perfect_root(hashes: bytes) -> bytes:
    """The root over a power of two of hashes, from 1 to 256."""
    if len(hashes) == _HASH_BYTES:
        return hashes
    half = len(hashes) // 2
    return node_hash(perfect_root(hashes[:half]), perfect_root(hashes[half:]))


@dataclass(frozen=True)
class _Checkpoint:
    origin: str
    size: int
    root: bytes


class SignedLog:
    """The entries under one checkpoint. ``read`` GETs a file below the root of the log."""

    def __init__(self, read: Callable[[str], bytes], vkeys: Iterable[str]) -> None:
        self._read = read
        # Bytes that are not UTF-8 decode to another text, whose signature is wrong.
        self.note = read("checkpoint").decode("utf-8", "replace")
        self._checkpoint = _signed_checkpoint(self.note, vkeys)
        self._tiles: dict[tuple[int, int], bytes] = {}
        self._lines: dict[int, list[str]] = {}
        self._check_root()

    def prove(self, row: Row) -> Proven | None:
        """Finds the entry of a row, and proves that it is in the log. None: the log has no entry with this id."""
        try:
            found = self._find(row["id"], row["recordedAt"])
        except (AttributeError, TypeError, ValueError) as cause:
            raise LogVerificationError("the entries cannot be read") from cause
        if found is None:
            return None
        index, text = found
        tile = self._tile(0, index // TILE_WIDTH)
        at = index % TILE_WIDTH * _HASH_BYTES
        if leaf_hash(text.encode()) != tile[at : at + _HASH_BYTES]:
            raise LogVerificationError(f"entry {index} is not the one that is signed")
        return Proven(index, json.loads(text), text, self._checkpoint.origin, self._checkpoint.size)

    def receipt(self, proven: Proven) -> str:
        """A text that proves the entry without a network."""
        lines = [_FIRST_LINE, f"extra {_base64(proven.text.encode())}", f"index {proven.index}"]
        return "\n".join([*lines, *map(_base64, self.path_of(proven.index))]) + f"\n\n{self.note}"

    def path_of(self, index: int) -> list[bytes]:
        """The hashes from an entry to the root, starting with its neighbour (RFC 6962, section 2.1.1)."""
        path: list[bytes] = []
        start, end = 0, self._checkpoint.size
        while end - start > 1:
            middle = start + _left_width(end - start)
            if index < middle:
                path.append(self._range_root(middle, end))
                end = middle
            else:
                path.append(self._range_root(start, middle))
                start = middle
        return path[::-1]

    def _range_root(self, start: int, end: int) -> bytes:
        width = end - start
        left = 1 if width == 1 else _left_width(width)
        if width == 1 or left * 2 == width:
            return self._perfect_subtree(start, width)
        return node_hash(self._perfect_subtree(start, left), self._range_root(start + left, end))

    def _perfect_subtree(self, start: int, width: int) -> bytes:
        level = 0
        while TILE_WIDTH ** (level + 1) <= width:
            level += 1
        first = start // TILE_WIDTH**level
        at = first % TILE_WIDTH * _HASH_BYTES
        tile = self._tile(level, first // TILE_WIDTH)
        return perfect_root(tile[at : at + width // TILE_WIDTH**level * _HASH_BYTES])

    def _check_root(self) -> None:
        root: bytes | None = None
        level = 0
        # From the smallest subtree, on the right, to the largest.
        while (hashes := self._checkpoint.size // TILE_WIDTH**level) > 0:
            end = hashes % TILE_WIDTH
            if end > 0:
                tile = self._read_tile(level, hashes // TILE_WIDTH, end)
                self._tiles[level, hashes // TILE_WIDTH] = tile
                bit = 1
                while end > 0:
                    if end & bit:
                        subtree = perfect_root(tile[(end - bit) * _HASH_BYTES : end * _HASH_BYTES])
                        root = subtree if root is None else node_hash(subtree, root)
                        end -= bit
                    bit *= 2
            level += 1
        if (root or hashlib.sha256().digest()) != self._checkpoint.root:
            raise LogVerificationError("the tiles do not give the root that is signed")

    def _tile(self, level: int, n: int) -> bytes:
        """The hashes of a tile, after they were compared with the root."""
        known = self._tiles.get((level, n))
        if known is not None:
            return known
        tile = self._read_tile(level, n, TILE_WIDTH)
        at = n % TILE_WIDTH * _HASH_BYTES
        if perfect_root(tile) != self._tile(level + 1, n // TILE_WIDTH)[at : at + _HASH_BYTES]:
            raise LogVerificationError(f"tile {n} of level {level} is not the one that is signed")
        self._tiles[level, n] = tile
        return tile

    def _read_tile(self, level: int, n: int, width: int) -> bytes:
        tile = self._read(f"tile/{level}/{index_path(n, width)}")
        if len(tile) != width * _HASH_BYTES:
            raise LogVerificationError(f"tile {n} of level {level} has {len(tile)} bytes")
        return tile

    def _find(self, row_id: str, recorded_at: datetime) -> tuple[int, str] | None:
        """Searches by time: entries are in the order of generations, so the times of files grow, with few exceptions."""
        files = -(-self._checkpoint.size // TILE_WIDTH)
        low, high = 0, files - 1
        while low < high:
            middle = (low + high) // 2
            newest = max((at for at in map(_recorded_at, self._entries(middle)) if at is not None), default=None)
            if newest is not None and newest < recorded_at:
                low = middle + 1
            else:
                high = middle
        for n in (*range(low, files), *range(low - 1, -1, -1)):
            for i, text in enumerate(self._entries(n)):
                if row_id in text and json.loads(text).get("id") == row_id:
                    return n * TILE_WIDTH + i, text
        return None

    def _entries(self, n: int) -> list[str]:
        if n not in self._lines:
            width = min(TILE_WIDTH, self._checkpoint.size - n * TILE_WIDTH)
            lines = unzipped_lines(self._read(ndjson_path(n, width)))
            if len(lines) != width + 1:
                raise LogVerificationError(f"file {n} of entries has {len(lines) - 1} lines")
            self._lines[n] = lines[:-1]
        return self._lines[n]


def open_receipt(receipt: str, vkeys: Iterable[str]) -> Proven:
    """Opens a receipt. It proves that the log had the entry, not that no later entry replaces it.

    :param vkeys: the keys of the log, from its operator
    """
    head, _, note = receipt.partition("\n\n")
    first, extra, place, *hashes = [*head.split("\n"), "", "", ""] if head.count("\n") < 2 else head.split("\n")
    text = _from_base64(extra.removeprefix("extra ")) if extra.startswith("extra ") else None
    index = re.fullmatch(r"index (0|[1-9][0-9]{0,14})", place)
    path = [_from_base64(line) for line in hashes]
    is_path = len(path) <= _PATH_MAX and all(one is not None and len(one) == _HASH_BYTES for one in path)
    if first != _FIRST_LINE or text is None or index is None or not is_path:
        raise LogVerificationError("not a receipt of an entry")
    checkpoint = _signed_checkpoint(note, vkeys)
    if not is_included(checkpoint.size, checkpoint.root, int(index[1]), leaf_hash(text), path):  # type: ignore[arg-type]
        raise LogVerificationError("the entry is not the one that the checkpoint has at this place")
    return Proven(int(index[1]), json.loads(text), text.decode(), checkpoint.origin, checkpoint.size)


def is_included(size: int, root: bytes, index: int, leaf: bytes, path: Sequence[bytes]) -> bool:
    """Whether the tree has this leaf at this index (RFC 9162, section 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    node, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if node % 2 == 1 or node == last:
            found = node_hash(sibling, found)
            # The last node of a level without a right neighbour moves up unchanged.
            while node % 2 == 0 and node != 0:
                node, last = node // 2, last // 2
        else:
            found = node_hash(found, sibling)
        node, last = node // 2, last // 2
    return last == 0 and found == root


def assert_same(slug: str, row: Row, proven: Proven) -> None:
    """Raises LogVerificationError for a row whose content differs from its entry."""
    wrong = next(_differences(slug, row, proven.entry), None)
    if wrong is not None:
        raise LogVerificationError(f"{wrong} of {row['id']} differs from entry {proven.index} of the log")


def _differences(slug: str, row: Row, entry: dict[str, Any]) -> Iterator[str]:
    if entry.get("market") != slug:
        yield "market"
    shown: dict[str, Any] = dict(row)
    for name in entry.keys() - _OF_THE_ENTRY:
        said = entry[name]
        if said is not None and name in TIMES:
            said = parsed(said)
        if said is not None and name in DECIMALS:
            said = Decimal(said)
        if name not in shown or not _is_same(shown[name], said):
            yield name
    # An added `announced` would hide a price; an added `publicReason` would show a reason that is not signed.
    for name in ("announced", "publicReason"):
        if name in shown and name not in entry:
            yield name
    if entry.get("kind") == "money":
        minor, digits = entry["amountMinor"], entry["minorDigits"]
        if not _is_same(shown.get("decimal"), None if minor is None else Decimal(minor).scaleb(-digits)):
            yield "decimal"


def _is_same(shown: Any, said: Any) -> bool:
    if isinstance(shown, Decimal) and isinstance(said, Decimal):
        return shown.as_tuple() == said.as_tuple()
    return type(shown) is type(said) and shown == said


def _signed_checkpoint(note: str, vkeys: Iterable[str]) -> _Checkpoint:
    """Raises LogVerificationError unless one of the keys has signed it."""
    split = note.rfind("\n\n")
    text, lines = note[: split + 1], note[split + 2 :].split("\n")
    origin, size, encoded, *_ = [*text.split("\n"), "", "", ""]
    root = _from_base64(encoded)
    if split < 0 or not re.fullmatch(r"0|[1-9][0-9]{0,14}", size) or root is None or len(root) != _HASH_BYTES:
        raise LogVerificationError("not a signed checkpoint")
    for name, key_id, key in map(_key_of, vkeys):
        for line in lines:
            found = re.fullmatch(r"— (\S+) (\S+)", line)
            signature = _from_base64(found[2]) if found else None
            if found is None or signature is None or found[1] != name or name != origin or signature[:4] != key_id:
                continue
            if _is_signed(key, signature[4:], text.encode()):
                return _Checkpoint(origin, int(size), root)
    raise LogVerificationError(f"no known key has signed the checkpoint of {origin}")


def _key_of(vkey: str) -> tuple[str, bytes, bytes]:
    """Reads ``<name>+<id>+<base64>`` of type Ed25519 (C2SP signed-note)."""
    found = re.fullmatch(r"([^+\s]+)\+([0-9a-f]{8})\+(\S+)", vkey)
    material = _from_base64(found[3]) if found else None
    if found is None or material is None or len(material) != 1 + _HASH_BYTES or material[0] != _ED25519:
        raise LogVerificationError(f"not a verifier key of Ed25519: {vkey}")
    key_id = hashlib.sha256(f"{found[1]}\n".encode() + material).digest()[:4]
    if key_id.hex() != found[2]:
        raise LogVerificationError(f"the id of the verifier key is {found[2]}, and its key has {key_id.hex()}")
    return found[1], key_id, material[1:]


def _is_signed(key: bytes, signature: bytes, text: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as cause:
        raise ImportError("a proof needs cryptography: pip install cryptography") from cause
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


def _recorded_at(text: str) -> datetime | None:
    """None for an entry that was taken down, or has no time."""
    entry = json.loads(text)
    return parsed(entry["recordedAt"]) if "recordedAt" in entry else None


def _left_width(width: int) -> int:
    """The largest power of two below ``width``."""
    return 1 << (width - 1).bit_length() - 1


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
