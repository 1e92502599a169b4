"""The whole history of a market as a DataFrame, as the service showed it at a moment: for a back-test without look-ahead.

pip install './clients/python[pandas]' in a clone, then: python history_as_of.py gold-usd 2026-10-01T00:00:00Z
"""

import sys

from tidemark_client import Client

slug, as_of, url = (*sys.argv[1:], *("gold-usd", None, "http://127.0.0.1:8787")[len(sys.argv) - 1 :])

with Client(url) as tidemark:
    frame = tidemark.history_frame(slug, as_of=as_of)

if frame.empty:
    sys.exit(f"{slug}: the service had no data at {as_of}")
prices = frame[frame["metric"] == "price"].sort_values("observedAt").set_index("observedAt")
# The prices are decimal.Decimal, so nothing is rounded. An unknown price is None, and the reason stands beside it.
print(prices[["decimal", "currency", "recordedAt", "unknownReason"]].tail(10).to_string())
print(f"{len(prices)} prices, {prices['decimal'].isna().sum()} of them unknown")
