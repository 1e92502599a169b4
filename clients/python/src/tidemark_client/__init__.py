"""Reads a Tidemark service, and writes to it. Begin with ``Client``."""

from .client import Answer, Client
from .conversion import Conversion, DayRates, convert, currencies_from, rate_market, rate_ways, read_rates
from .errors import TidemarkError
from .log_changes import Change
from .rows import Row
from .signed_log import LogVerificationError, Proven, open_receipt

__all__ = [
    "Answer",
    "Change",
    "Client",
    "Conversion",
    "DayRates",
    "LogVerificationError",
    "Proven",
    "Row",
    "TidemarkError",
    "convert",
    "currencies_from",
    "open_receipt",
    "rate_market",
    "rate_ways",
    "read_rates",
]
