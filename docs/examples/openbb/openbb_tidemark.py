"""A provider of OpenBB. A symbol is the slug of a market, in capitals or not."""

import csv
import os
from datetime import datetime

import requests
from openbb_core.provider.abstract.fetcher import Fetcher
from openbb_core.provider.abstract.provider import Provider
from openbb_core.provider.standard_models.index_historical import IndexHistoricalData, IndexHistoricalQueryParams
from openbb_core.provider.utils.errors import EmptyDataError


class Price(IndexHistoricalData):
    currency: str
    source: str


class Prices(Fetcher[IndexHistoricalQueryParams, list[Price]]):
    require_credentials = False

    @staticmethod
    def transform_query(params):
        return IndexHistoricalQueryParams(**params)

    @staticmethod
    def extract_data(query, credentials, **kwargs):
        service = os.environ.get("TIDEMARK_URL", "http://127.0.0.1:8787")
        answer = requests.get(f"{service}/api/v1/markets/{query.symbol.lower()}/history.csv", timeout=60)
        if answer.status_code in (404, 410):
            raise EmptyDataError(f"There is no market {query.symbol.lower()}.")
        answer.raise_for_status()
        return [row for row in csv.DictReader(answer.text.splitlines(keepends=True)) if row["metric"] == "price"]

    @staticmethod
    def transform_data(query, data, **kwargs):
        first, last = query.start_date, query.end_date
        prices = []
        for row in data:
            observed = datetime.fromisoformat(row["observedAt"])
            if (first and observed.date() < first) or (last and observed.date() > last):
                continue
            # For one unit. An unknown price has no close: it is never zero.
            close = float(row["decimalPerUnit"]) if row["decimalPerUnit"] else None
            facts = {"symbol": query.symbol, "currency": row["currency"], "source": row["sourceLabel"]}
            prices.append(Price(date=row["observedAt"], close=close, **facts))
        return prices


provider = Provider(
    name="tidemark",
    description="Prices of a Tidemark service, each with its source.",
    fetcher_dict={"IndexHistorical": Prices},
)
