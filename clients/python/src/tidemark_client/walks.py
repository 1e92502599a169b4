"""Walks over pages. A cursor works for at least 24 hours after a newer generation. If a cursor has expired, the walk starts
again, and continues after the last item that it returned. So memory does not grow, and:

- No item is returned twice.
- Each item that existed when the walk began is returned, except a market that was removed meanwhile.
- An item that was added meanwhile may be missing.

The promise holds because both orders are fixed: markets by slug; histories newest first, and no row ever leaves a history. A walk
whose pages bring nothing new ends with an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from .errors import TidemarkError, unexpected
from .moments import parsed
from .public_files import Page, PublicFiles
from .rows import Row, row_of

Item = dict[str, Any]
Found = TypeVar("Found")

#: Restarts one after the other, without any new item in between.
_FRUITLESS_RESTARTS_MAX = 3
#: Pages without a new item, beyond as many as had one: a restart reads those again.
_FRUITLESS_PAGES_MAX = 100


def walk_markets(files: PublicFiles, path: str) -> Iterator[Item]:
    last = ""

    def is_new(item: Item) -> bool:
        return bool(item["slug"] > last)

    for item in _restarted(files, path, lambda: files.page(path), is_new):
        last = item["slug"]
        yield item


def read_latest(files: PublicFiles, path: str) -> list[Item]:
    """The rows of all parts of the newest prices, by slug. Parts may be of different generations."""
    parts = files.resource(path).get("data")
    if not isinstance(parts, list):
        raise unexpected(path, "is not an index of parts")
    try:
        links = [str(part["ndjson"]["path"]) for part in parts]
    except (KeyError, TypeError) as cause:
        raise unexpected(path, "is not an index of parts") from cause
    return sorted((row for link in links for row in files.lines(link, path)), key=lambda row: str(row["slug"]))


def walk_history(files: PublicFiles, path: str, start: datetime | None, end: datetime | None) -> Iterator[Row]:
    """Rows, newest first; both limits are about ``observedAt``, and inclusive."""
    last: Item | None = None
    sought: str | None = None

    def first_page() -> Page:
        nonlocal sought
        sought = None if last is None else last["id"]
        return _history_page_at(files, path, end if last is None else parsed(last["observedAt"]))

    #: The rows of the last moment that were given.
    given: set[str] = set()

    def is_behind(item: Item) -> bool:
        nonlocal sought
        if sought is None:
            if last is not None and parsed(item["observedAt"]) > parsed(last["observedAt"]):
                raise unexpected(path, "has rows that are not newest first")
            return item["id"] not in given
        if sought == item["id"]:
            sought = None
        return False

    for item in _restarted(files, path, first_page, is_behind):
        if last is None or item["observedAt"] != last["observedAt"]:
            given.clear()
        given.add(item["id"])
        last = item
        try:
            row = row_of(item)
        except (ArithmeticError, KeyError, TypeError, ValueError) as cause:
            raise unexpected(path, "has a row that is no observation") from cause
        if start is not None and row["observedAt"] < start:
            return
        if end is None or row["observedAt"] <= end:
            yield row
    if sought is not None:
        raise _expired(path, f"{sought} is no longer in it")


def _restarted(
    files: PublicFiles, path: str, start: Callable[[], Page], is_new: Callable[[Item], bool]
) -> Iterator[Item]:
    """New items, page by page. After an expired cursor, it continues with the page that ``start`` returns."""
    fruitless = fruitful_pages = fruitless_pages = 0
    while fruitless <= _FRUITLESS_RESTARTS_MAX:
        page: Page | None = start()
        while page is not None:
            is_fruitful = False
            for item in page.data:
                if is_new(item):
                    fruitless, is_fruitful = 0, True
                    yield item
            fruitful_pages += is_fruitful
            fruitless_pages = 0 if is_fruitful else fruitless_pages + 1
            if fruitless_pages > fruitful_pages + _FRUITLESS_PAGES_MAX:
                raise unexpected(path, "leads back, or has nothing new")
            if page.next is None:
                return
            page = _unless_gone(partial(files.next_page, page))
        fruitless += 1
    raise _expired(path, "its cursors expire before the next page is read")


def _history_page_at(files: PublicFiles, path: str, moment: datetime | None) -> Page:
    """A page from which a walk reaches every row that is not newer than the moment, with few newer rows before."""
    head = files.page(path)
    if moment is None or head.next is None:
        return head
    if any(parsed(item["observedAt"]) <= moment for item in head.data):
        return head
    # Without an index, which not every service publishes, the walk starts at the newest page.
    index = _unless_gone(lambda: files.resource(f"{path}/index")) or {}
    for closed in index.get("closedPages", []):
        # Every newer page has only rows that are newer than the moment.
        if parsed(closed["lastObservedAt"]) > moment:
            return _unless_gone(lambda: files.page(path, closed["cursor"])) or head  # noqa: B023
    return head


def _unless_gone(read: Callable[[], Found]) -> Found | None:
    try:
        return read()
    except TidemarkError as error:
        if error.status == 404:
            return None
        raise


def _expired(path: str, reason: str) -> TidemarkError:
    return TidemarkError("cursor-expired", f"the walk over {path} cannot continue: {reason}")
