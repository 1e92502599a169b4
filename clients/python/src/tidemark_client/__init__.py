"""Reads a Tidemark service, and writes to it. ``Client`` is the beginning."""

from .client import Answer, Client
from .errors import TidemarkError
from .log_changes import Change
from .rows import Row
from .signed_log import LogVerificationError, Proven, open_receipt

__all__ = ["Answer", "Change", "Client", "LogVerificationError", "Proven", "Row", "TidemarkError", "open_receipt"]
