"""The public files below a base URL, each at its own path, as any static host serves them: ``/api/v1/markets`` is
``api/v1/markets.json``, and ``page.next`` leads from a page to the file of the next one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin

import httpx

from .errors import TidemarkError, unexpected

#: GETs a JSON object. Whether it is a later page: its bytes never change, and it is read once.
Reader = Callable[[str, bool], dict[str, Any]]
#: GETs a file of lines, each of them a JSON object.
LineReader = Callable[[str], list[dict[str, Any]]]


class Page(NamedTuple):
    """A page, and the URL at which it was read."""

    url: str
    data: list[dict[str, Any]]
    #: Relative to the file of this page. None: it is the last one.
    next: str | None


class PublicFiles:
    def __init__(self, base: str, read: Reader, read_lines: LineReader) -> None:
        self._base = base
        self._read = read
        self._read_lines = read_lines

    def resource(self, path: str) -> dict[str, Any]:
        """GETs a JSON object by its URL path in the contract, such as ``/api/v1/snapshot``."""
        return self._get(below(self._base, f"{path}.json"), False)

    def page(self, path: str, cursor: str | None = None) -> Page:
        """A page of a collection; without a cursor, the first one."""
        url = below(self._base, f"{path}.json" if cursor is None else f"{path}/pages/{quote(cursor, safe='')}.json")
        return _page_of(url, self._get(url, cursor is not None))

    def next_page(self, page: Page) -> Page | None:
        """None: the page was the last one."""
        if page.next is None:
            return None
        url = self._linked(page.next, page.url)
        return _page_of(url, self._read(url, True))

    def lines(self, link: str, path: str) -> list[dict[str, Any]]:
        """GETs the lines of an NDJSON file. ``link``: relative to the resource with this path."""
        url = self._linked(link, below(self._base, f"{path}.json"))
        with _no_page_of_the_host(url):
            return self._read_lines(url)

    def _get(self, url: str, is_later_page: bool) -> dict[str, Any]:
        # No name of a file has "%". Hosts that decode it would give another file.
        if "%" in url[len(self._base) :]:
            raise _no_file(url)
        with _no_page_of_the_host(url):
            return self._read(url, is_later_page)

    def _linked(self, link: str, page_url: str) -> str:
        """The target of a link. Raises TidemarkError for a link to another host, or outside the base URL."""
        # The link of a file never has ":", "\", "%" or "?", and hosts interpret these differently.
        url = urljoin(page_url, link) if re.fullmatch(r"[A-Za-z0-9_./-]+", link) else ""
        if url.startswith(self._base):
            return url
        raise unexpected(page_url, f"leads to {link!r}, which is not a file below {self._base}")


@contextmanager
def _no_page_of_the_host(url: str) -> Iterator[None]:
    try:
        yield
    except TidemarkError as error:
        if error.status != 404 or error.code != "unexpected-answer":
            raise
        # A static host answers with a page of its own.
        raise _no_file(url) from error


def _no_file(url: str) -> TidemarkError:
    return TidemarkError("not-found", f"there is no file {url}", status=404)


def _page_of(url: str, value: dict[str, Any]) -> Page:
    """Raises TidemarkError for an answer that is not a page of a collection."""
    data, page = value.get("data"), value.get("page")
    if isinstance(data, list) and isinstance(page, dict):
        link = page.get("next", 0)
        if isinstance(link, str | None):
            return Page(url, data, link)
    raise unexpected(url, "is not a page of a collection")


def below(base: str, path: str) -> str:
    """The URL of a path of the contract, such as ``/api/v1/snapshot``."""
    return base + path.removeprefix("/")


def service_url(text: str, name: str) -> str:
    """The address below which the files are: a host, or a folder on one. It ends with a slash.

    Raises ValueError if the text is not a URL, or has other parts than scheme, host, port and path.
    """
    try:
        url = httpx.URL(text)
        if url.scheme in ("http", "https") and url.host and not (url.userinfo or url.query or url.fragment):
            return str(url).rstrip("/") + "/"
    except (httpx.InvalidURL, TypeError):
        pass
    shown = re.sub("//.*@", "//…@", str(text))
    raise ValueError(f"{name} must be the address of a service, such as https://data.example, not {shown}")
