"""A price in another currency, from rates that the same service publishes. The reader computes it, and it is never stored.

Pure: exact fractions, and one rounding at the end. The TypeScript client does the same; both are tested with the same table.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from .moments import Moment
from .rows import Row

#: A rate may be this many days older than its value. Central banks publish no rate on weekends and holidays, at Easter for
#: four days. A rate that is older than a week is no longer the rate of that day, such as one of a monthly list.
RATE_AGE_DAYS_MAX = 7

#: The codes of ISO 4217 with a minor unit, withdrawn ones included.
CURRENCIES = frozenset(
    """
    ADP AED AFA AFN ALL AMD ANG AOA AOK AON AOR ARA ARS ATS AUD AWG AZM AZN BAD BAM BBD BDT BEF BGL BGN BHD BIF BMD BND
    BOB BOV BRE BRL BRN BRR BSD BTN BWP BYB BYN BYR BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CSD CSK CUC CUP CVE
    CYP CZK DDM DEM DJF DKK DOP DZD ECS EEK EGP ERN ESP ETB EUR FIM FJD FKP FRF GBP GEK GEL GHC GHS GIP GMD GNF GRD GTQ
    GWP GYD HKD HNL HRD HRK HTG HUF IDR IEP ILS INR IQD IRR ISK ITL JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK
    LBP LKR LRD LSL LTL LTT LUF LVL LVR LYD MAD MDL MGA MGF MKD MMK MNT MOP MRO MRU MTL MUR MVR MWK MXN MXP MXV MYR MZM
    MZN NAD NGN NIC NIO NLG NOK NPR NZD OMR PAB PEI PEN PGK PHP PKR PLN PLZ PTE PYG QAR ROL RON RSD RUB RUR RWF SAR SBD
    SCR SDD SDG SEK SGD SHP SIT SKK SLE SLL SOS SRD SRG SSP STD STN SVC SYP SZL THB TJR TJS TMM TMT TND TOP TPE TRL TRY
    TTD TWD TZS UAH UAK UGX USD USN UYI UYP UYU UYW UZS VEB VED VEF VES VND VUV WST XAD XAF XCD XCG XOF XPF YER YUM ZAR
    ZMK ZMW ZRN ZRZ ZWD ZWG ZWL ZWN ZWR
    """.split()
)

#: Why there is no converted value. ``value-unknown``: the value itself is unknown, or its source withdrew it. ``not-money``: it is a
#: number without a currency. ``not-standing``: it was replaced, or retracted as a mistake. ``no-rate``: no market is a way to that
#: currency. ``no-rate-of-day``: no rate is of its day, or of the days before it that count. ``rate-unknown``: the newest rate that
#: counts is unknown, withdrawn or not above zero. An older one does not take its place.
NotConverted = Literal["value-unknown", "not-money", "not-standing", "no-rate", "no-rate-of-day", "rate-unknown"]

#: The kinds of markets whose prices are rates, as the recipes and the sample write them.
_RATE_KINDS = frozenset({"fx", "currency"})

_DIGITS_MIN = 6
_RATE_DIGITS = 10
#: So few histories are read.
_WAYS_MAX = 3


@dataclass(frozen=True)
class RateMarket:
    """A market whose price is a rate: ``quantity`` of the currency ``begin`` cost its price in the currency ``end``."""

    slug: str
    begin: str
    end: str
    quantity: int


@dataclass(frozen=True)
class RateStep:
    """One rate of a conversion. If it is inverse, the value is divided by it."""

    market: RateMarket
    is_inverse: bool

    @property
    def begin(self) -> str:
        return self.market.end if self.is_inverse else self.market.begin

    @property
    def end(self) -> str:
        return self.market.begin if self.is_inverse else self.market.end


@dataclass(frozen=True)
class Conversion:
    """A converted value, or the reason why it cannot be converted."""

    currency: str
    #: For the same quantity as the value, rounded half to even: to as many significant digits as the value has, at least six,
    #: and never before the point. None: see ``reason``.
    decimal: Decimal | None
    reason: NotConverted | None = None
    #: Of one unit of the value's currency, rounded half to even to ten significant digits. The value is made with the exact one.
    rate: Decimal | None = None
    #: The rates, and the rows that gave them: none if the value is in that currency already, two if it went by a third one.
    used: tuple[tuple[RateStep, Row], ...] = ()


def rate_market(market: Mapping[str, Any]) -> RateMarket | None:
    """The rate that a currency market stands for.

    None: its kind is neither ``fx`` nor ``currency``, or its unit is not an ISO 4217 currency with a minor unit.
    """
    unit, currency = market["unit"], market["nativeCurrency"]
    if market["kind"] not in _RATE_KINDS or unit["of"] not in CURRENCIES or unit["of"] == currency:
        return None
    return RateMarket(market["slug"], unit["of"], currency, unit["quantity"])


def rate_ways(markets: Iterable[RateMarket], begin: str, end: str) -> list[list[RateStep]]:
    """The ways from one currency to another, at most three, in a fixed order.

    First those with one rate or its inverse; if there is none, those with two rates and a third currency. Direct rates come before
    inverse ones, then by slug. ``convert`` chooses among them for each value, because a monthly rate must not hide a daily one.
    One way without a step if both currencies are the same.
    """
    if begin == end:
        return [[]]
    ordered = sorted(markets, key=lambda market: market.slug)
    steps = [RateStep(market, is_inverse) for is_inverse in (False, True) for market in ordered]
    firsts = [step for step in steps if step.begin == begin]
    direct = [[first] for first in firsts if first.end == end]
    crossed = [
        [first, second] for first in firsts for second in steps if second.begin == first.end and second.end == end
    ]
    return (direct or crossed)[:_WAYS_MAX]


def read_rates(
    markets: Iterable[RateMarket], begin: str, end: str, read: Callable[[RateMarket], DayRates]
) -> tuple[list[list[RateStep]], dict[str, DayRates]]:
    """The ways between two currencies, and the rates of their markets, by slug.

    A market without any rate is skipped. So a market that began after the requested moment changes nothing.

    :param read: reads the rates of a market, as of the requested moment
    """
    listed = list(markets)
    rates: dict[str, DayRates] = {}
    while True:
        ways = rate_ways([each for each in listed if each.slug not in rates or rates[each.slug]], begin, end)
        unread = {step.market.slug: step.market for way in ways for step in way if step.market.slug not in rates}
        if not unread:
            return ways, rates
        rates |= {slug: read(market) for slug, market in unread.items()}


def currencies_from(markets: Iterable[RateMarket], begin: str) -> list[str]:
    """The codes of the currencies that ``rate_ways`` can reach, without the first one."""
    listed = list(markets)
    ends = {end for market in listed for end in (market.begin, market.end)}
    return sorted(end for end in ends if end != begin and rate_ways(listed, begin, end))


class DayRates:
    """The rates of one market, by day."""

    def __init__(self, market: RateMarket, rows: Iterable[Row]) -> None:
        """:param rows: the standing rows of its history, newest first, now or at an earlier moment.

        Rows other than prices in its currency, and mistakes, are ignored. An unknown price is an unknown rate.
        """
        rates = [row for row in rows if _is_rate(row, market.end)]
        rates.reverse()
        #: Oldest first; of one day, the newest one last.
        self._rows = rates
        self._days = [_day_of(row) for row in rates]

    def __len__(self) -> int:
        return len(self._rows)

    def on(self, day: date) -> Row | None:
        """The newest rate of the day (UTC), or of the ``RATE_AGE_DAYS_MAX`` days before it. It may be unknown."""
        at = bisect_left(self._days, day + timedelta(days=1)) - 1
        if at < 0 or day - self._days[at] > timedelta(days=RATE_AGE_DAYS_MAX):
            return None
        return self._rows[at]


def convert(
    value: Row,
    currency: str,
    ways: Sequence[Sequence[RateStep]],
    rates: Mapping[str, DayRates],
    *,
    as_of: Moment | None = None,
) -> Conversion:
    """Converts one value with the rates of its day (UTC).

    The first way that has rates of the day decides, even if they are unknown. If its rates are not final, another way with final
    rates is preferred.

    :param value: a standing value; a replaced one gives ``not-standing``
    :param ways: the ways from the value's currency, from ``rate_ways``
    :param rates: the rates of the markets of the ways, by slug
    :param as_of: the moment as of which the history was read: later replacements of a value are ignored
    """
    is_replaced = as_of is None and value.get("supersededBy") is not None
    if is_replaced or value.get("retraction") == "mistake":
        return Conversion(currency, None, "not-standing")
    if value["kind"] != "money":
        return Conversion(currency, None, "not-money")
    decimal = value["decimal"]
    if decimal is None:
        return Conversion(currency, None, "value-unknown")
    if not ways:
        return Conversion(currency, None, "no-rate")
    # The rate of a future day is unknown.
    found = [] if value.get("announced") else [_used(way, _day_of(value), rates) for way in ways]
    of_day = [each for each in found if each is not None]
    if not of_day:
        return Conversion(currency, None, "no-rate-of-day")
    if not all(_is_known(row) for _, row in of_day[0]):
        return Conversion(currency, None, "rate-unknown")
    final = (each for each in of_day if all(_is_known(row) and row["status"] == "final" for _, row in each))
    used = next(final, of_day[0])
    rate = Fraction(1)
    for step, row in used:
        known = row["decimal"]
        assert known is not None  # As of all that are in use: see above.
        one = Fraction(known) / step.market.quantity
        rate *= 1 / one if step.is_inverse else one
    if not used:
        return Conversion(currency, decimal, None, Decimal(1))
    digits = max(_DIGITS_MIN, len(decimal.as_tuple().digits))
    plain = f"{_rounded(rate, _RATE_DIGITS):f}"
    shown = Decimal(plain.rstrip("0").rstrip(".") if "." in plain else plain)
    return Conversion(currency, _rounded(Fraction(decimal) * rate, digits), None, shown, tuple(used))


def _used(
    way: Sequence[RateStep], day: date, rates: Mapping[str, DayRates]
) -> list[tuple[RateStep, Row]] | None:
    """None: one of the rates is missing."""
    used = []
    for step in way:
        row = rates[step.market.slug].on(day) if step.market.slug in rates else None
        if row is None:
            return None
        used.append((step, row))
    return used


def _is_rate(row: Row, currency: str) -> bool:
    if row["metric"] != "price" or row["kind"] != "money" or row["currency"] != currency:
        return False
    return not row.get("announced") and row.get("retraction") != "mistake"


def _is_known(row: Row) -> bool:
    return row["decimal"] is not None and row["decimal"] > 0


def _day_of(row: Row) -> date:
    return row["observedAt"].astimezone(UTC).date()


def _rounded(number: Fraction, significant: int) -> Decimal:
    """Rounded half to even, to this many significant digits. All digits before the point stay."""
    if number == 0:
        return Decimal(0)
    size = abs(number)
    power = len(str(size.numerator)) - len(str(size.denominator))
    if size < Fraction(10) ** power:
        power -= 1
    places = max(0, significant - 1 - power)
    # round() of a Fraction rounds half to even.
    whole = round(number * 10**places)
    digits = tuple(int(digit) for digit in str(abs(whole)))
    return Decimal((int(whole < 0), digits, -places))
