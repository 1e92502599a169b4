"""The calls of the client. It is synchronous: a walk is a generator, and two concurrent walks need two threads."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlencode

import httpx

from .errors import TidemarkError, query_ignored, unexpected
from .log_changes import Change, LogLines
from .moments import Moment, begin_of, end_of, past
from .public_files import PublicFiles, below, service_url
from .requests import Requests, System, json_of
from .rows import Row, frame_of, visible
from .signed_log import LogVerificationError, Proven, SignedLog, assert_same
from .walks import read_latest, walk_history, walk_markets

_MARKETS = "/api/v1/markets"
_LOG = "/api/v1/log/"
#: How long caches keep a checkpoint.
_FRESH_SECONDS = 15.0
#: A service publishes a value some seconds before its entry.
_NEWER_THAN_LOG_SECONDS = 600.0
_FIRST_LOOK, _LONGEST_LOOK = 0.1, 5.0


@dataclass(frozen=True)
class Answer:
    """The answer of an operation."""

    status: int
    #: None: the answer has no body.
    body: Any
    #: For ``if_match``. None: the answer has none.
    etag: str | None
    #: The path of what was made. None: the answer names none.
    location: str | None


class Client:
    """A service. Every call raises ``TidemarkError``, or ``ValueError`` for an invalid argument.

    :param base_url: e.g. ``https://data.example``, or a folder of a static host: ``https://user.github.io/data/``
    :param token: an API key or a JWT; only ``call``, ``ingest`` and ``wait_for_batch`` send it
    :param vkeys: the verifier keys of the log, from its operator; without one, nothing can be proven
    :param write_url: the URL of the write API, if it differs from that of the public reads
    :param timeout: the time limit, in seconds, of the connection and of each piece of an answer
    :param answer_timeout: the time limit, in seconds, of one whole answer
    :param patience: the longest total wait, in seconds, between the tries of one request; 0: no retries
    :param transport: a transport of httpx, e.g. for a proxy
    """

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        vkeys: Sequence[str] = (),
        write_url: str | None = None,
        timeout: float = 10.0,
        answer_timeout: float = 60.0,
        patience: float = 30.0,
        transport: httpx.BaseTransport | None = None,
        system: System | None = None,
    ) -> None:
        self._base_url = service_url(base_url, "base_url")
        self._write_url = service_url(write_url or base_url, "write_url")
        self._token = token
        self._vkeys = vkeys
        self._http = httpx.Client(timeout=timeout, transport=transport)
        self._system = system or System()
        self._requests = Requests(self._http, patience, self._system, answer_timeout)
        self._files = PublicFiles(self._base_url, self._read, self._read_lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections."""
        self._http.close()

    def markets(self) -> Iterator[dict[str, Any]]:
        """All markets, by slug, with the members of the API."""
        return walk_markets(self._files, _MARKETS)

    def market(self, slug: str) -> dict[str, Any]:
        """One market, with the newest value of each metric."""
        return self._files.resource(f"{_MARKETS}/{quote(slug, safe='')}")

    def latest(self) -> list[dict[str, Any]]:
        """The newest price of every market, by slug. Not every service publishes it: then ``not-found``."""
        return read_latest(self._files, "/api/v1/latest")

    def recent(self) -> list[dict[str, Any]]:
        """The last 31 prices of every market. Not every service publishes it: then ``not-found``."""
        return self._list("/api/v1/recent")

    def sources(self) -> list[dict[str, Any]]:
        """The sources of all markets, and when each was fetched. Not every service publishes it: then ``not-found``."""
        return self._list("/api/v1/sources")

    def incidents(self) -> dict[str, Any]:
        """The times when publication or a source was late: newest first in ``data``; ``since`` is the beginning of these records.
        Not every service publishes it: then ``not-found``."""
        return self._files.resource("/api/v1/incidents")

    def snapshot(self) -> dict[str, Any]:
        """The newest generation, and its time of publication."""
        return self._files.resource("/api/v1/snapshot")

    def history(
        self,
        slug: str,
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        as_of: Moment | None = None,
        by_release: bool = False,
    ) -> Iterator[Row]:
        """The rows of a history, newest first: every version of every observation, or those of one moment.

        :param start: the first ``observedAt``; a date alone means the beginning of the day in UTC
        :param end: the last ``observedAt``, inclusive; a date alone means the end of the day in UTC
        :param as_of: only the rows that the service showed at this moment, which needs a time and must not be in the future
        :param by_release: with ``as_of``: a version counts from its ``releasedAt``, if that is known
        """
        if by_release and as_of is None:
            raise ValueError("by_release needs as_of, the moment")
        first = None if start is None else begin_of(start, "start")
        last = None if end is None else end_of(end, "end")
        if first is not None and last is not None and first > last:
            raise ValueError(f"start is later than end: {start}, {end}")
        now = datetime.fromtimestamp(self._system.now(), UTC)
        at = None if as_of is None else past(as_of, "as_of", now)
        rows = walk_history(self._files, f"{_MARKETS}/{quote(slug, safe='')}/history", first, last)
        return rows if at is None else visible(rows, at, by_release)

    def history_frame(self, slug: str, *, versions: bool = False, **range_: Any) -> Any:
        """The standing rows, newest first, as a DataFrame of pandas: exact decimals, times in UTC, the columns of the CSV files.
        Announced values are left out, because no column would distinguish them from prices: ``history`` has them.

        :param versions: every version of every observation, including superseded ones
        :param range_: as for ``history``; with ``as_of``, the rows that stood at that moment
        """
        rows = self.history(slug, **range_)
        # At an earlier moment, rows stood that were superseded later.
        keeps_all = versions or range_.get("as_of") is not None
        return frame_of(
            row for row in rows if not row.get("announced") and (keeps_all or row["supersededBy"] is None)
        )

    def log_size(self) -> int:
        """The current number of entries in the log."""
        return self._log().size()

    def changes(self, *, since: int = 0, follow: bool = False) -> Iterator[Change]:
        """The entries of the log from ``since`` on, in order. Nothing is verified.

        :param follow: whether to wait for further entries without end, with a request every 15 seconds
        """
        if since < 0:
            raise ValueError(f"since is not an index of the log: {since}")
        return self._changes(since, follow)

    def log_keys(self) -> list[str]:
        """The keys that the host names for its log. Trusting them means trusting the host: take them from the operator instead."""
        text = self._requests.body(below(self._base_url, f"{_LOG}vkey")).decode("utf-8", "replace")
        return [line for line in text.split("\n") if line]

    def prove(self, slug: str, row: Row) -> Proven:
        """Proves that the signed log has this row of a history, with the same values. A later entry may still replace it.

        Raises LogVerificationError if the log has other content, and TidemarkError ``not-in-log-yet`` for a row of the last
        minutes. Needs ``tidemark-client[verify]``.
        """
        return self._proven(slug, row)[1]

    def receipt(self, slug: str, row: Row) -> str:
        """Proves a row as ``prove`` does. Returns a receipt: a text that proves it without a network (``open_receipt``)."""
        log, proven = self._proven(slug, row)
        return log.receipt(proven)

    def call(
        self,
        route: str,
        *,
        params: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Calls any operation of the API, e.g. ``call("POST /api/v1/claims", body={…})``.

        A write gets an idempotency key, which is the same for all its tries.
        """
        method, path = route.split(" ", 1)
        filled = re.sub(r"\{(\w+)\}", lambda found: _param(path, found[1], params or {}), path)
        url = below(self._write_url, filled + (f"?{urlencode(query)}" if query else ""))
        fields = {
            "authorization": None if self._token is None else f"Bearer {self._token}",
            "content-type": None if body is None else "application/json",
            "if-match": if_match,
            "if-none-match": if_none_match,
        }
        response = self._requests.send(
            method,
            url,
            headers={name: value for name, value in fields.items() if value is not None},
            content=None if body is None else json.dumps(body, allow_nan=False).encode(),
            idempotency_key=None if method == "GET" else idempotency_key or str(uuid.uuid4()),
        )
        cursor = (query or {}).get("cursor")
        # A public cursor contains the digest of its page.
        if cursor and filled.startswith(_MARKETS) and cursor[-32:] != sha256(response.content).hexdigest()[:32]:
            raise query_ignored(url)
        answer = None if response.content == b"" else json_of(response.content, url)
        return Answer(response.status_code, answer, response.headers.get("etag"), response.headers.get("location"))

    def ingest(
        self, records: Iterable[Mapping[str, Any]], *, idempotency_key: str | None = None, **options: Any
    ) -> dict[str, Any]:
        """Sends at most 1,000 records. Returns the report of an accepted batch without any decisions yet: see ``wait_for_batch``.

        :param options: ``mode``, ``partial`` and ``dryRun`` of the body
        """
        body = {**options, "records": [dict(record) for record in records]}
        report: dict[str, Any] = self.call("POST /api/v1/ingest/batches", body=body, idempotency_key=idempotency_key).body
        return report

    def wait_for_batch(self, batch_id: str) -> dict[str, Any]:
        """Reads the report of a batch until all its records are decided."""
        pause = _FIRST_LOOK
        while True:
            report: dict[str, Any] = self.call("GET /api/v1/ingest/batches/{id}", params={"id": batch_id}).body
            if report["finishedAt"] is not None:
                return report
            self._requests.system.sleep(pause)
            pause = min(_LONGEST_LOOK, pause * 2)

    def _proven(self, slug: str, row: Row) -> tuple[SignedLog, Proven]:
        if not self._vkeys:
            raise ValueError("a proof needs vkeys, the keys of the log")
        root = below(self._base_url, _LOG)
        log = SignedLog(lambda path: self._requests.unkept(root + path), self._vkeys)
        proven = log.prove(row)
        if proven is not None:
            assert_same(slug, row, proven)
            return log, proven
        if self._requests.system.now() - row["recordedAt"].timestamp() < _NEWER_THAN_LOG_SECONDS:
            detail = f"{row['id']} is newer than the checkpoint of the log: ask again in a minute"
            raise TidemarkError("not-in-log-yet", detail)
        raise LogVerificationError(f"{row['id']} is not in the log")

    def _changes(self, since: int, follow: bool) -> Iterator[Change]:
        log = self._log()
        size = log.size()
        if since > size:
            # Another cache on the way may be older than the one with the last entry.
            self._requests.system.sleep(_FRESH_SECONDS)
            size = log.size()
        if since > size:
            detail = f"the log has {size} entries, and {since} were read: a cache is minutes old, or it is another log"
            raise TidemarkError("log-shorter", detail, status=200)
        while True:
            for change in log.changes(since, size):
                since = change.index + 1
                yield change
            if not follow:
                return
            self._requests.system.sleep(_FRESH_SECONDS)
            size = log.size()

    def _log(self) -> LogLines:
        root = below(self._base_url, _LOG)
        return LogLines(lambda: self._requests.body(f"{root}checkpoint"), lambda path: self._requests.unkept(root + path))

    def _read(self, url: str, is_later_page: bool) -> dict[str, Any]:
        # Later pages are many and never change, so storing them would only fill the memory.
        value = json_of(self._requests.unkept(url) if is_later_page else self._requests.body(url), url)
        if isinstance(value, dict):
            return value
        raise unexpected(url, "is not a JSON object")

    def _read_lines(self, url: str) -> list[dict[str, Any]]:
        *lines, rest = self._requests.body(url).split(b"\n")
        if rest:
            raise unexpected(url, "is cut off")
        return [json_of(line, url) for line in lines]

    def _list(self, path: str) -> list[dict[str, Any]]:
        data = self._files.resource(path).get("data")
        if isinstance(data, list):
            return data
        raise unexpected(below(self._base_url, path), "is not a list")


def _param(path: str, name: str, params: Mapping[str, str]) -> str:
    if name not in params:
        raise ValueError(f"{path} needs the parameter {name}")
    return quote(params[name], safe="")
