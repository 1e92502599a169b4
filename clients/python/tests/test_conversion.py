"""Conversion on reading, by the table that the client for TypeScript has, too."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from tidemark_client.conversion import (
    CURRENCIES,
    DayRates,
    RateMarket,
    convert,
    currencies_from,
    rate_market,
    rate_ways,
    read_rates,
)

TABLE = json.loads((Path(__file__).parents[3] / "test/clients/conversion.json").read_text("utf-8"))
MARKETS = [found for market in TABLE["markets"] if (found := rate_market(market))]


def row(fields):
    decimal, at = fields["decimal"], datetime.fromisoformat(fields["observedAt"])
    defaults = {"kind": "money", "metric": "price", "status": "final"}
    return {**defaults, **fields, "observedAt": at, "decimal": decimal and Decimal(decimal)}


RATES = {
    market.slug: DayRates(market, [row({"currency": market.end, **fields}) for fields in TABLE["rows"][market.slug]])
    for market in MARKETS
}


def test_the_currencies_are_those_of_the_service():
    assert " ".join(sorted(CURRENCIES)) == TABLE["iso4217"]


def test_a_rate_is_the_price_of_a_currency_and_no_other_price():
    assert sorted(market.slug for market in MARKETS) == TABLE["rateMarkets"]


@pytest.mark.parametrize(("begin", "ends"), TABLE["currencies"].items())
def test_a_currency_is_converted_to(begin, ends):
    assert currencies_from(MARKETS, begin) == ends


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case[0])
def test_a_value_is_converted(case):
    _, value, end, decimal, rate_or_reason, used = case
    digits, currency, day = value.split(" ")
    one = row({"decimal": None if digits == "null" else digits, "currency": currency, "observedAt": f"{day}T12:00:00Z"})
    found = convert(one, end, rate_ways(MARKETS, currency, end), RATES)
    assert found.currency == end
    assert (found.decimal if found.decimal is None else f"{found.decimal:f}") == decimal
    assert (found.reason or f"{found.rate:f}") == rate_or_reason
    words = [
        f"{'/' if step.is_inverse else ''}{step.market.slug} {rate['observedAt']:%Y-%m-%d}" for step, rate in found.used
    ]
    assert " ".join(words) == used


def test_a_number_without_a_currency_and_an_announced_value_are_not_converted():
    at = datetime(2026, 11, 20, tzinfo=UTC)
    scalar = {"kind": "scalar", "value": Decimal("4.5"), "unit": "percent", "observedAt": at}
    assert convert(scalar, "EUR", [], RATES).reason == "not-money"
    announced = {"kind": "money", "decimal": Decimal(1), "currency": "EUR", "observedAt": at, "announced": True}
    assert convert(announced, "USD", rate_ways(MARKETS, "EUR", "USD"), RATES).reason == "no-rate-of-day"


@pytest.mark.parametrize("case", TABLE["standing"], ids=lambda case: case[0])
def test_a_value_that_does_not_stand_is_not_converted(case):
    _, fields, reason, reason_as_of = case
    one = row({"decimal": "1.00", "currency": "EUR", "observedAt": "2026-11-20T12:00:00Z", **fields})
    ways = rate_ways(MARKETS, "EUR", "USD")
    assert convert(one, "USD", ways, RATES).reason == reason
    assert convert(one, "USD", [], RATES).reason == (reason or "no-rate")
    assert convert(one, "USD", ways, RATES, as_of="2026-11-21T00:00:00Z").reason == reason_as_of


def test_a_market_without_a_rate_is_no_way_and_hides_none_by_a_third_currency():
    asked = []

    def read(market):
        asked.append(market.slug)
        return RATES.get(market.slug) or DayRates(market, [])

    ways, _ = read_rates([*MARKETS, RateMarket("usd-sek", "USD", "SEK", 1)], "USD", "SEK", read)
    assert ways == rate_ways(MARKETS, "USD", "SEK")
    assert asked == ["usd-sek", "usd-chf", "chf-sek"]
