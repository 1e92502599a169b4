"""Uses the client that openapi-python-client generates beside this file."""

import json
import os
import time

from tidemark_client import AuthenticatedClient
from tidemark_client.api.ingest import create_ingest_batch, get_ingest_batch
from tidemark_client.api.public_reads import get_market_history, list_markets
from tidemark_client.models import HistoryPage, IngestBatch, MarketPage, Problem
from tidemark_client.types import UNSET

client = AuthenticatedClient(base_url=os.environ["TIDEMARK_URL"], token=os.environ["TIDEMARK_KEY"])


def count_markets():
    count, cursor = 0, UNSET
    while cursor is not None:
        page = list_markets.sync(client=client, cursor=cursor)
        assert isinstance(page, MarketPage), page
        count += len(page.data)
        cursor = page.page.next_cursor
    return count


def read_report(batch):
    while True:
        report = get_ingest_batch.sync(batch, client=client)
        if report.state in ("applied", "refused"):
            return report
        time.sleep(0.1)


RECORD = {
    "type": "observation",
    "market": "gold-usd",
    "metric": "price",
    "value": "4150.25",
    "currency": "USD",
    "sourceValue": "4150.25",
    "sourceLabel": "An exchange",
    "sourceUrl": "https://exchange.example/python",
    "observedAt": "2026-09-01T00:00:00Z",
    "confidence": "high",
    "status": "final",
}

markets = count_markets()
history = get_market_history.sync("gold-usd", client=client)
assert isinstance(history, HistoryPage), history
accepted = create_ingest_batch.sync(
    client=client,
    body=IngestBatch.from_dict({"records": [RECORD]}),
    idempotency_key="python-batch-1-x",
)
report = read_report(accepted.id)
missing = get_ingest_batch.sync("bat_01JD8N5W5XQ6M4T0VZ8R2K7C3A", client=client)
print(
    json.dumps(
        {
            "markets": markets,
            "newest": history.data[0].decimal,
            "state": report.state,
            "accepted": report.counts.accepted,
            "problem": missing.code,
        }
    )
)
