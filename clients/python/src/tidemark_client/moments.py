"""Moments in the forms that callers may use."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

#: A ``date``, or a text such as ``2026-06-30``, is the whole day in UTC. A ``datetime`` must be aware.
Moment = str | date | datetime

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)")


def parsed(text: str) -> datetime:
    """An instant of the service. Python reads at most six digits of a fraction of a second."""
    return datetime.fromisoformat(text).astimezone(UTC)


def begin_of(moment: Moment, name: str) -> datetime:
    """The first microsecond of a moment. Raises ValueError."""
    if isinstance(moment, datetime):
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
        raise ValueError(f"{name} needs a time zone: datetime(…, tzinfo=UTC)")
    if isinstance(moment, date):
        return datetime.combine(moment, time.min, UTC)
    try:
        if _DAY.fullmatch(moment):
            return begin_of(date.fromisoformat(moment), name)
        if _INSTANT.fullmatch(moment):
            return parsed(moment)
    except ValueError:
        pass
    raise ValueError(f"{name} is not a moment: {moment}. Write it as in 2026-11-01 or 2026-11-01T00:00:00Z")


def end_of(moment: Moment, name: str) -> datetime:
    """The last microsecond of a moment: of a date, the end of its day. Raises ValueError."""
    return begin_of(moment, name) + (timedelta(days=1, microseconds=-1) if _is_day(moment) else timedelta())


def exactly(moment: Moment, name: str) -> datetime:
    """A moment with a time. A date alone would leave open whether the values of that day are known. Raises ValueError."""
    if _is_day(moment):
        raise ValueError(f"{name} needs a time: {moment}T00:00:00Z is the beginning of that day")
    return begin_of(moment, name)


def past(moment: Moment, name: str, now: datetime) -> datetime:
    """A moment in the past, with a time. Clocks may differ by a minute."""
    at = exactly(moment, name)
    if at <= now + timedelta(minutes=1):
        return at
    raise ValueError(f"{name} is in the future, of which nothing is known: {moment}. It is {now:%Y-%m-%dT%H:%M:%SZ} now")


def _is_day(moment: Moment) -> bool:
    if isinstance(moment, str):
        return _DAY.fullmatch(moment) is not None
    return not isinstance(moment, datetime)
