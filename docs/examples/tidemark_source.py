"""Prices for beanprice. A ticker is the slug of a market: PYTHONPATH=. bean-price -e USD:tidemark_source/gold-usd"""

import csv
import os
from datetime import datetime
from decimal import Decimal

import requests
from beanprice.source import Source as Base, SourcePrice


class Source(Base):
    def get_latest_price(self, ticker):
        return newest(row for row in rows("latest/all.csv") if row["slug"] == ticker and row["observedAt"])

    def get_historical_price(self, ticker, time):
        history = [row for row in rows(f"markets/{ticker}/history.csv") if row["metric"] == "price"]
        return newest(row for row in history if datetime.fromisoformat(row["observedAt"]) <= time)


def rows(file):
    answer = requests.get(f"{os.environ.get('TIDEMARK_URL', 'http://127.0.0.1:8787')}/api/v1/{file}", timeout=60)
    return csv.DictReader(answer.text.splitlines(keepends=True)) if answer.ok else []


def newest(found):  # The rows are oldest first. A price is exact, and for one unit. No older one stands in for an unknown one.
    row = next(iter([*found][-1:]), {})
    if decimal := row.get("decimalPerUnit"):
        return SourcePrice(Decimal(decimal), datetime.fromisoformat(row["observedAt"]), row["currency"])
