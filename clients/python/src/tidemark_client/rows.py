"""Rows of a history: with the names of the API, exact decimals, and aware times in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, NotRequired, TypedDict

from .moments import parsed


class Row(TypedDict):
    """One version of one observation. A newer service may have more members."""

    id: str
    metric: str
    kind: Literal["money", "scalar"]
    observedAt: datetime
    releasedAt: datetime | None
    recordedAt: datetime
    supersededAt: datetime | None
    supersedes: str | None
    supersededBy: str | None
    retraction: Literal["mistake", "withdrawn"] | None
    #: Why this version corrects or takes back the one before it.
    publicReason: NotRequired[str]
    #: The moment of the value had not come when this version was recorded.
    announced: NotRequired[Literal[True]]
    confidence: Literal["high", "medium", "low"]
    status: Literal["final", "provisional", "estimated", "aggregate"]
    sourceLabel: str
    sourceUrl: str
    #: The digits of the source. None: it gave none.
    sourceValue: Decimal | None
    rounded: bool
    #: Why the value is None.
    unknownReason: str | None
    #: Of money: the amount in major units for the quantity of the market. None: unknown, never zero.
    decimal: NotRequired[Decimal | None]
    decimalPerUnit: NotRequired[Decimal | None]
    amountMinor: NotRequired[int | None]
    minorDigits: NotRequired[int]
    currency: NotRequired[str]
    #: Of a scalar. None: unknown, never zero.
    value: NotRequired[Decimal | None]
    unit: NotRequired[str]


TIMES = ("observedAt", "releasedAt", "recordedAt", "supersededAt")
DECIMALS = ("decimal", "decimalPerUnit", "value", "sourceValue")
#: The columns of the service's CSV files.
COLUMNS = (
    *("observedAt", "metric", "decimal", "currency", "decimalPerUnit", "amountMinor", "value", "unit"),
    *("unknownReason", "rounded", "sourceValue", "confidence", "status", "sourceLabel", "sourceUrl", "recordedAt"),
    *("supersededAt", "retraction", "supersedes", "supersededBy", "id", "releasedAt", "minorDigits"),
)
INTEGERS = ("amountMinor", "minorDigits")


def row_of(item: dict[str, Any]) -> Row:
    """Raises KeyError, TypeError or ValueError for an item that is not an observation."""
    row = dict(item)
    for name in TIMES:
        row[name] = None if item[name] is None else parsed(item[name])
    for name in DECIMALS:
        if item.get(name) is not None:
            row[name] = Decimal(item[name])
    return row  # type: ignore[return-value]


def visible(rows: Iterator[Row], at: datetime, by_release: bool) -> Iterator[Row]:
    """The rows that were visible at the moment. Takes rows newest first, and keeps few of them in memory."""
    #: Older versions of rows that were known. Versions of one observation are neighbours, newest first.
    replaced: set[str] = set()
    for row in rows:
        if not by_release:
            superseded = row["supersededAt"]
            if row["recordedAt"] <= at and (superseded is None or superseded > at):
                yield row
            continue
        is_replaced = row["id"] in replaced
        replaced.discard(row["id"])
        is_known = (row["releasedAt"] or row["recordedAt"]) <= at
        if row["supersedes"] is not None and (is_known or is_replaced):
            replaced.add(row["supersedes"])
        if is_known and not is_replaced:
            yield row


def frame_of(rows: Iterator[Row]) -> Any:
    """A DataFrame with the columns of the CSV files: decimals are ``Decimal``, times are UTC, integers may be missing."""
    try:
        import pandas as pd
    except ImportError as cause:
        raise ImportError("history_frame needs pandas: pip install pandas") from cause

    listed = list(rows)

    def column(name: str) -> Any:
        values = [row.get(name) for row in listed]
        if name in TIMES:
            return pd.Series(values, dtype="datetime64[ms, UTC]")
        if name in INTEGERS:
            return pd.Series(values, dtype="Int64")
        return pd.Series(values, dtype="bool" if name == "rounded" else "object")

    return pd.DataFrame({name: column(name) for name in COLUMNS})
