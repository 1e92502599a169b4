"""Sends one request until its outcome is known: with retries while they are safe, and with the entity tag of a stored body."""

from __future__ import annotations

import json
import random
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from .errors import TidemarkError, error_of_answer, unexpected

#: 408, 429 and 5xx of moments. 501 and 505 do not go away.
_PASSING_STATUSES = {408, 425, 429, 500, 502, 503, 504}
#: With one of these codes, the same request gets the same answer for hours.
_LASTING_CODES = {"daily-quota-exceeded"}
_FIRST_PAUSE, _LONGEST_PAUSE = 0.3, 20.0
#: Of one body, as it comes and unpacked: no file of a service that this client reads is longer.
_BODY_BYTES_MAX = 32 * 1024 * 1024


class KeptBodies:
    """The most recently used bodies with their entity tags, by URL, in memory."""

    def __init__(self, bytes_max: int = 16 * 1024 * 1024) -> None:
        self._bodies: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._bytes_max = bytes_max
        self._bytes = 0

    def get(self, url: str) -> tuple[str, bytes] | None:
        if url in self._bodies:
            self._bodies.move_to_end(url)
        return self._bodies.get(url)

    def set(self, url: str, etag: str, body: bytes) -> None:
        _, old = self._bodies.pop(url, ("", b""))
        self._bytes -= len(old)
        if len(body) > self._bytes_max:
            return
        self._bodies[url] = (etag, body)
        self._bytes += len(body)
        while self._bytes > self._bytes_max:
            _, (_, oldest) = self._bodies.popitem(last=False)
            self._bytes -= len(oldest)


@dataclass(frozen=True)
class System:
    """Clock and randomness, which tests replace."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = random.random


class Requests:
    def __init__(self, http: httpx.Client, patience: float, system: System, answer_timeout: float) -> None:
        self._http = http
        self._answer_timeout = answer_timeout
        self._patience = patience
        self._system = system
        self._bodies = KeptBodies()

    @property
    def system(self) -> System:
        return self._system

    def body(self, url: str) -> bytes:
        """GETs a public body. If it has not changed, the stored body is returned."""
        kept = self._bodies.get(url)
        response = self.send("GET", url, headers={} if kept is None else {"if-none-match": kept[0]})
        if response.status_code == 304 and kept is not None:
            return kept[1]
        if "etag" in response.headers:
            self._bodies.set(url, response.headers["etag"], response.content)
        return response.content

    def unkept(self, url: str) -> bytes:
        """GETs bytes without storing them: immutable ones, and large ones."""
        return self.send("GET", url).content

    def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        idempotency_key: str | None = None,
    ) -> httpx.Response:
        """Returns an answer with 2xx or 304. Raises TidemarkError for any other answer."""
        fields = dict(headers or {})
        if idempotency_key is not None:
            fields["idempotency-key"] = idempotency_key
        is_repeatable = method == "GET" or idempotency_key is not None
        waited, tries = 0.0, 0
        while True:
            outcome = self._try(method, url, fields, content, idempotency_key)
            if isinstance(outcome, httpx.Response):
                return outcome
            pause = back_off(tries, self._system.random()) if outcome.retry_after is None else outcome.retry_after
            is_over = waited + pause > self._patience or self._patience == 0
            if not is_repeatable or is_over or (outcome.status is not None and not is_passing(outcome.status, outcome.code)):
                raise outcome
            waited += pause
            tries += 1
            self._system.sleep(pause)

    def _whole(
        self, method: str, url: str, fields: dict[str, str], content: bytes | None, follow: bool
    ) -> httpx.Response:
        begun = time.monotonic()
        request = self._http.build_request(method, url, headers=fields, content=content)
        response = self._http.send(request, follow_redirects=follow, stream=True)
        try:

            def pieces() -> Iterator[bytes]:
                for piece in response.iter_raw():
                    if time.monotonic() - begun > self._answer_timeout:
                        raise httpx.ReadTimeout(f"it took more than {self._answer_timeout} s", request=request)
                    yield piece

            # A transport other than the network may return a whole answer.
            body = response.content if response.is_stream_consumed else _unpacked(response, pieces(), url)
        finally:
            response.close()
        fields_left = [(name, value) for name, value in response.headers.multi_items() if name != "content-encoding"]
        return httpx.Response(response.status_code, headers=fields_left, content=body, request=request)

    def _try(
        self, method: str, url: str, fields: dict[str, str], content: bytes | None, key: str | None
    ) -> httpx.Response | TidemarkError:
        # A credential must not follow a redirect to another host.
        follow = "authorization" not in fields
        # Only one coding is accepted, and decoded here piece by piece: httpx would decode a piece to any size.
        fields = {"accept-encoding": "gzip", **fields}
        try:
            response = self._whole(method, url, fields, content, follow)
        except TidemarkError as error:
            return error
        except httpx.RequestError as cause:
            reason = str(cause) or type(cause).__name__
            lost = TidemarkError("no-answer", f"{method} {url} got no answer: {reason}", idempotency_key=key)
            lost.__cause__ = cause
            return lost
        if response.is_success or response.status_code == 304:
            return response
        wait = retry_after(response.headers.get("retry-after"), self._system.now())
        request = f"{method} {httpx.URL(url).path}"
        return error_of_answer(
            response.status_code, response.text, request=request, retry_after=wait, idempotency_key=key
        )


def _unpacked(response: httpx.Response, pieces: Iterator[bytes], url: str) -> bytes:
    """The body. Raises TidemarkError if it is too long, or has another coding than requested."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "gzip", ""):
        raise unexpected(url, "has a coding that was not asked for")
    unzip = zlib.decompressobj(wbits=31) if coding == "gzip" else None
    body, came = bytearray(), 0
    try:
        for piece in pieces:
            came += len(piece)
            # One byte above the limit shows that there is more.
            body += piece if unzip is None else unzip.decompress(piece, _BODY_BYTES_MAX + 1 - len(body))
            if max(came, len(body)) > _BODY_BYTES_MAX:
                raise unexpected(url, f"has more than {_BODY_BYTES_MAX} bytes")
    except zlib.error as cause:
        raise unexpected(url, "is not packed as it says") from cause
    if unzip is not None and came > 0 and not unzip.eof:
        raise unexpected(url, "is not whole")
    return bytes(body)


def is_passing(status: int, code: str) -> bool:
    """Whether the same request may soon get another answer."""
    return code == "contention" or (status in _PASSING_STATUSES and code not in _LASTING_CODES)


def retry_after(text: str | None, now: float) -> float | None:
    """The seconds that ``Retry-After`` requests, as a number or a date (RFC 9110, section 10.2.3)."""
    trimmed = (text or "").strip()
    if trimmed.isascii() and trimmed.isdigit() and len(trimmed) < 10:
        return float(trimmed)
    try:
        return max(0.0, parsedate_to_datetime(trimmed).timestamp() - now)
    except ValueError:
        return None


def back_off(tries: int, chance: float) -> float:
    """Half of the wait is random, so that clients that failed together are not retried together."""
    most = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**tries)
    return most / 2 + chance * most / 2


def json_of(body: bytes, url: str) -> Any:
    try:
        return json.loads(body)
    except ValueError as cause:
        raise unexpected(url, "is not JSON") from cause
