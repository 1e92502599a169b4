"""Reads a Tidemark service, and writes to it. ``Client`` is the beginning."""

from .client import Answer, Client
from .errors import TidemarkError
from .log_changes import Change
from .rows import Row

__all__ = ["Answer", "Change", "Client", "Row", "TidemarkError"]
