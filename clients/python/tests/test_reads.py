"""The client with a network of the test: walks, tries, kept bodies, moments and rows."""

import gzip
import itertools
import json
import zlib
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import httpx
import pytest

from tidemark_client import Client, TidemarkError
from tidemark_client.log_changes import ndjson_path
from tidemark_client.moments import begin_of, end_of, exactly
from tidemark_client.requests import KeptBodies, System, back_off, retry_after
from tidemark_client.rows import COLUMNS

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def client(handler, waits=None, **options):
    system = System(now=NOW.timestamp, sleep=(waits if waits is not None else []).append, random=lambda: 0.0)
    return Client("https://data.example", transport=httpx.MockTransport(handler), system=system, **options)


def row(day, **more):
    at = f"{datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"
    fields = {"id": f"obs_{day}", "metric": "price", "kind": "money", "observedAt": at, "recordedAt": at, "releasedAt": None}
    fields |= {"supersededAt": None, "supersedes": None, "supersededBy": None, "retraction": None, "confidence": "high"}
    fields |= {"status": "final", "sourceLabel": "s", "sourceUrl": "https://s.example/", "sourceValue": None, "rounded": False}
    fields |= {"unknownReason": None, "decimal": f"{day}.10", "decimalPerUnit": None, "amountMinor": day * 100 + 10}
    return fields | {"minorDigits": 2, "currency": "USD"} | more


class Service:
    """A history in pages of four rows, which can expire."""

    def __init__(self, rows):
        self.rows = rows
        self.generation = 1
        self.asked = []
        self.expire_at = None

    def pages(self):
        return [self.rows[at : at + 4] for at in range(0, len(self.rows), 4)]

    def __call__(self, request):
        path = request.url.path.removesuffix(".json")
        cursor = path.rsplit("/", 1)[-1] if "/pages/" in path else None
        self.asked.append("page" if cursor else path.rsplit("/", 1)[-1])
        pages = self.pages()
        if self.expire_at == len(self.asked):
            self.generation += 1
            self.rows = self.rows + [row(day) for day in range(40, 45)]
        if path.endswith("/index"):
            closed = [
                {"cursor": f"{self.generation}-{n}", "lastObservedAt": page[-1]["observedAt"]}
                for n, page in enumerate(pages[:-1])
            ]
            return httpx.Response(200, json={"closedPages": closed})
        n = len(pages) - 1
        if cursor:
            generation, n = map(int, cursor.split("-"))
            if generation != self.generation:
                return httpx.Response(404, json={"code": "not-found"})
        following = f"{self.generation}-{n - 1}" if n > 0 else None
        page = {"nextCursor": following, "next": following and f"{'' if cursor else 'history/pages/'}{following}.json"}
        return httpx.Response(200, json={"data": pages[n][::-1], "page": page})


def test_a_history_has_every_row_with_exact_numbers_and_aware_times():
    service = Service([row(day) for day in range(10)])
    rows = list(client(service).history("gold-usd"))
    assert [one["id"] for one in rows] == [f"obs_{day}" for day in range(9, -1, -1)]
    assert rows[0]["decimal"] == Decimal("9.10") and str(rows[0]["decimal"]) == "9.10"
    assert rows[0]["observedAt"] == datetime(2026, 1, 10, tzinfo=UTC)
    assert rows[0]["decimalPerUnit"] is None


@pytest.mark.parametrize(
    ("start", "end", "days", "asked"),
    [
        ("2026-01-09", None, [9, 8], ["history", "page"]),
        (None, date(2026, 1, 2), [1, 0], ["history", "index", "page"]),
        (datetime(2026, 1, 3, 12, tzinfo=UTC), "2026-01-05T00:00:00Z", [4, 3], ["history", "index", "page", "page"]),
        ("2027-01-01", None, [], ["history"]),
    ],
)
def test_a_range_begins_at_the_right_page(start, end, days, asked):
    service = Service([row(day) for day in range(10)])
    rows = client(service).history("gold-usd", start=start, end=end)
    assert [one["id"] for one in rows] == [f"obs_{day}" for day in days]
    assert service.asked == asked


@pytest.mark.parametrize("expire_at", [2, 5, 7])
def test_no_row_comes_twice_and_none_is_missing_after_a_cursor_has_expired(expire_at):
    service = Service([row(day) for day in range(30)])
    service.expire_at = expire_at
    ids = [one["id"] for one in client(service).history("gold-usd")]
    assert ids == [f"obs_{day}" for day in range(29, -1, -1)]


def test_a_walk_that_gets_no_further_ends_with_an_error():
    def handler(request):
        if "/pages/" in request.url.path:
            return httpx.Response(404, json={"code": "not-found"})
        return httpx.Response(200, json={"data": [row(1)], "page": {"next": "history/pages/1-1.json"}})

    with pytest.raises(TidemarkError) as caught:
        list(client(handler).history("gold-usd"))
    assert caught.value.code == "cursor-expired"


def test_markets_come_once_each_after_a_restart():
    answers = iter(
        [
            {"data": [{"slug": "a"}, {"slug": "b"}], "page": {"next": "markets/pages/1-1.json"}},
            None,
            {"data": [{"slug": "a"}, {"slug": "a0"}, {"slug": "b"}, {"slug": "c"}], "page": {"next": None}},
        ]
    )

    def handler(_):
        answer = next(answers)
        return httpx.Response(404, json={"code": "not-found"}) if answer is None else httpx.Response(200, json=answer)

    assert [market["slug"] for market in client(handler).markets()] == ["a", "b", "c"]


def static_host(pages):
    """A folder below /data/ of a host that knows no query, and answers what is missing with a page of its own."""

    def handler(request):
        assert not request.url.query
        body = pages.get(request.url.path)
        return httpx.Response(404, html="<h1>Not here</h1>") if body is None else httpx.Response(200, json=body)

    return handler


def below_data(handler):
    transport = httpx.MockTransport(handler)
    return Client("https://user.example/data", transport=transport, system=System(NOW.timestamp, lambda _: None), patience=0)


@pytest.mark.parametrize("slug", ["../snapshot", "a/../../snapshot", "%2e"])
def test_a_host_which_may_decode_it_is_not_asked_for_a_slug_that_is_none(slug):
    asked = []
    tidemark = client(lambda request: asked.append(request) or httpx.Response(200, json={}))
    for read in (tidemark.market, lambda slug: list(tidemark.history(slug))):
        with pytest.raises(TidemarkError, match="not-found"):
            read(slug)
    assert asked == []


def test_a_walk_below_a_prefix_of_a_static_host_follows_the_files():
    pages = {
        "/data/api/v1/markets.json": {"data": [{"slug": "a"}], "page": {"nextCursor": "1-1", "next": "markets/pages/1-1.json"}},
        "/data/api/v1/markets/pages/1-1.json": {"data": [{"slug": "b"}], "page": {"nextCursor": "1-2", "next": "1-2.json"}},
        "/data/api/v1/markets/pages/1-2.json": {"data": [{"slug": "c"}], "page": {"nextCursor": None, "next": None}},
        "/data/api/v1/markets/a.json": {"slug": "a"},
    }
    with below_data(static_host(pages)) as tidemark:
        assert [market["slug"] for market in tidemark.markets()] == ["a", "b", "c"]
        assert tidemark.market("a") == {"slug": "a"}
        for read in (tidemark.latest, lambda: tidemark.market("none"), lambda: list(tidemark.history("none"))):
            with pytest.raises(TidemarkError) as caught:
                read()
            assert (caught.value.code, caught.value.status) == ("not-found", 404)


def test_a_host_that_ignores_the_query_is_noticed():
    def handler(_):
        return httpx.Response(200, json={"data": [{"slug": "a"}], "page": {"nextCursor": "1-1", "next": None}})

    with below_data(handler) as tidemark, pytest.raises(TidemarkError) as caught:
        tidemark.call("GET /api/v1/markets", query={"cursor": "1-" + "0" * 32})
    assert caught.value.code == "query-ignored"


@pytest.mark.parametrize(
    "link",
    ["../../../other/x.json", "//evil.example/x.json", "https://evil.example/x.json", "/x.json", "\\\\evil.example/x", "%2e%2e/x"]
    + ["..%2f..%2f..%2fx.json", "x.json?a", "", 5, "markets.json"],
)
def test_a_link_that_leads_out_of_the_base_url_or_back_is_refused(link):
    asked = []

    def handler(request):
        asked.append(request.url)
        return httpx.Response(200, json={"data": [{"slug": "a"}], "page": {"nextCursor": "1-1", "next": link}})

    with below_data(handler) as tidemark, pytest.raises(TidemarkError) as caught:
        list(tidemark.markets())
    assert caught.value.code == "unexpected-answer"
    assert {(url.host, url.path) for url in asked} == {("user.example", "/data/api/v1/markets.json")}


def test_as_of_a_moment_has_what_was_known_then():
    corrected = row(1, id="obs_1b", recordedAt="2026-02-01T00:00:00Z", releasedAt="2026-01-03T00:00:00Z", supersedes="obs_1")
    first = row(1, supersededAt="2026-02-01T00:00:00Z", supersededBy="obs_1b")
    service = Service([row(0), first, corrected])
    seen = lambda at, **more: [one["id"] for one in client(service).history("gold-usd", as_of=at, **more)]  # noqa: E731
    assert seen("2026-01-31T23:59:59.999Z") == ["obs_1", "obs_0"]
    assert seen("2026-02-01T00:00:00Z") == ["obs_1b", "obs_0"]
    assert seen("2026-01-02T12:00:00Z", by_release=True) == ["obs_1", "obs_0"]
    assert seen("2026-01-03T00:00:00Z", by_release=True) == ["obs_1b", "obs_0"]


def test_a_frame_is_exact_and_in_utc():
    unknown = row(3, decimal=None, amountMinor=None, unknownReason="not-published")
    scalar = {k: v for k, v in row(4, kind="scalar", metric="volume", value="0.1").items() if k not in ("decimal", "amountMinor")}
    frame = client(Service([row(2), unknown, scalar])).history_frame("gold-usd")
    assert tuple(frame.columns) == COLUMNS
    assert list(frame["decimal"]) == [None, None, Decimal("2.10")]
    assert frame["value"][0] == Decimal("0.1")
    assert str(frame["observedAt"].dtype) == str(frame["supersededAt"].dtype) == "datetime64[ms, UTC]"
    assert frame["amountMinor"].isna().tolist() == [True, True, False] and frame["amountMinor"][2] == 210
    assert frame["unknownReason"].tolist() == [None, "not-published", None]
    empty = client(Service([row(2)])).history_frame("gold-usd", end="2020-01-01")
    assert len(empty) == 0 and list(empty.dtypes) == list(frame.dtypes)


@pytest.mark.parametrize(
    "range_",
    [
        {"start": "2026-02-30"},
        {"start": "yesterday"},
        {"end": "2026-01-01T00:00:00"},
        {"end": datetime(2026, 1, 1)},
        {"as_of": "2026-01-01"},
        {"as_of": "2026-02-30T00:00:00Z"},
        {"as_of": "2026-02-28T24:00:00Z"},
        {"as_of": date(2026, 1, 1)},
        {"as_of": "2100-01-01T00:00:00Z"},
        {"start": "2026-02-02", "end": "2026-02-01"},
        {"by_release": True},
    ],
)
def test_a_moment_that_cannot_be_is_refused(range_):
    with pytest.raises(ValueError):
        client(Service([row(1)])).history("gold-usd", **range_)


@pytest.mark.parametrize(
    "url", ["gold", "ftp://data.example", "https://data.example/#a", "https://a:secret@data.example", "https://x/?a", ""]
)
def test_an_address_that_is_no_host_is_refused(url):
    with pytest.raises(ValueError, match="^(base|write)_url ") as refused:
        Client(url)
    assert "secret" not in str(refused.value)


def test_an_error_names_the_request():
    gone = httpx.MockTransport(lambda _: httpx.Response(404, json={"code": "not-found"}))
    with pytest.raises(TidemarkError, match=r"\(GET /api/v1/markets/none\.json\)"):
        Client("https://data.example", transport=gone).market("none")


def test_moments():
    assert begin_of("2026-01-02", "x") == datetime(2026, 1, 2, tzinfo=UTC)
    assert end_of(date(2026, 1, 2), "x") == datetime(2026, 1, 2, 23, 59, 59, 999999, UTC)
    assert exactly("2026-01-02T03:00:00+02:00", "x") == datetime(2026, 1, 2, 1, tzinfo=UTC)


def test_a_body_that_has_not_changed_costs_a_304():
    statuses = []

    def handler(request):
        known = request.headers.get("if-none-match") == '"a"'
        statuses.append(304 if known else 200)
        headers = {"etag": '"a"'}
        return httpx.Response(304, headers=headers) if known else httpx.Response(200, json={"data": [1]}, headers=headers)

    tidemark = client(handler)
    assert (tidemark.recent(), tidemark.recent()) == ([1], [1])
    assert statuses == [200, 304]


def test_the_newest_prices_are_the_lines_of_all_parts_by_slug():
    files = {
        "/data/api/v1/latest.json": {"data": [{"ndjson": {"path": f"latest/{part}.ndjson"}} for part in "0f"]},
        "/data/api/v1/latest/0.ndjson": '{"slug":"b","name":"\u2028"}\n',
        "/data/api/v1/latest/f.ndjson": '{"slug":"a"}\n{"slug":"c"}\n',
    }

    def handler(request):
        file = files[request.url.path]
        return httpx.Response(200, text=file) if isinstance(file, str) else httpx.Response(200, json=file)

    with below_data(handler) as tidemark:
        assert tidemark.latest() == [{"slug": "a"}, {"slug": "b", "name": "\u2028"}, {"slug": "c"}]
        files["/data/api/v1/latest/f.ndjson"] = '{"slug":"a"}'
        with pytest.raises(TidemarkError) as caught:
            tidemark.latest()
        assert caught.value.code == "unexpected-answer"


def test_sources_are_read_from_their_file():
    asked = []

    def handler(request):
        asked.append(request.url.path)
        return httpx.Response(200, json={"data": [{"label": "LiteLLM"}]})

    assert client(handler).sources() == [{"label": "LiteLLM"}]
    assert asked == ["/api/v1/sources.json"]


def test_incidents_are_read_with_the_moment_since_when_they_are_recorded():
    body = {"since": "2026-10-01T00:00:00Z", "data": []}

    def handler(request):
        return httpx.Response(200 if request.url.path == "/api/v1/incidents.json" else 404, json=body)

    assert client(handler).incidents() == body


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([httpx.ConnectError("refused")], [0.15]),
        ([httpx.ReadTimeout("slow"), httpx.RemoteProtocolError("cut")], [0.15, 0.3]),
        ([httpx.Response(status) for status in (408, 425, 429, 500, 504)], [0.15, 0.3, 0.6, 1.2, 2.4]),
        ([httpx.Response(503, headers={"retry-after": "7"})], [7]),
        ([httpx.Response(429, headers={"retry-after": "Fri, 20 Nov 2026 12:00:09 GMT"})], [9]),
        ([httpx.Response(429, headers={"retry-after": "soon"})], [0.15]),
        ([httpx.Response(409, json={"code": "contention"})], [0.15]),
    ],
)
def test_a_passing_fault_is_waited_out(answers, expected):
    steps, waits = iter([*answers, httpx.Response(200, json={"data": []})]), []

    def handler(_):
        step = next(steps)
        if isinstance(step, Exception):
            raise step
        return step

    assert client(handler, waits).latest() == []
    assert waits == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "code", "status"),
    [
        (httpx.Response(404, json={"code": "not-found", "instance": "/requests/r1"}), "not-found", 404),
        (httpx.Response(429, json={"code": "daily-quota-exceeded"}), "daily-quota-exceeded", 429),
        (httpx.Response(503, headers={"retry-after": "31"}), "unexpected-answer", 503),
        (httpx.Response(403, text="<html>"), "unexpected-answer", 403),
        (httpx.Response(400, json=None), "unexpected-answer", 400),
        (httpx.Response(200, text="<html>"), "unexpected-answer", 200),
        (httpx.Response(200, json=[]), "unexpected-answer", 200),
        (httpx.Response(200, json={"data": 7}), "unexpected-answer", 200),
        (httpx.Response(200, json={"data": [{}]}), "unexpected-answer", 200),
        (httpx.Response(200, json={"data": [{"ndjson": {"path": "../../../x"}}]}), "unexpected-answer", 200),
    ],
)
def test_a_fault_that_stays_is_told_at_once(answer, code, status):
    waits = []
    with pytest.raises(TidemarkError) as caught:
        client(lambda _: answer, waits).latest()
    assert (caught.value.code, caught.value.status, waits) == (code, status, [])
    assert caught.value.request_id == ("r1" if status == 404 else None)


def test_a_write_keeps_its_key_over_its_tries_and_never_follows_a_redirection():
    keys = []

    def handler(request):
        keys.append(request.headers["idempotency-key"])
        assert request.headers["authorization"] == "Bearer t"
        return httpx.Response(503) if len(keys) < 3 else httpx.Response(302, headers={"location": "https://evil.example/"})

    tidemark = client(handler, token="t")
    with pytest.raises(TidemarkError) as caught:
        tidemark.call("POST /api/v1/watchlists", body={"name": "x"})
    assert (len(keys), len(set(keys)), caught.value.idempotency_key) == (3, 1, keys[0])
    with pytest.raises(TidemarkError):
        tidemark.call("POST /api/v1/watchlists", body={"name": "x"})
    assert len(set(keys)) == 2
    with pytest.raises(ValueError):
        tidemark.call("GET /api/v1/ingest/batches/{id}")


def test_changes_are_read_by_index_and_a_line_that_was_taken_down_is_none():
    lines = [json.dumps({"format": 1, "i": i}) for i in range(300)]
    lines[7] = '{"takenDown":"x"}'
    asked = []

    def handler(request):
        asked.append(request.url.path.removeprefix("/api/v1/log/"))
        if asked[-1] == "checkpoint":
            return httpx.Response(200, text="origin\n300\nroot=\n")
        part = lines[:256] if asked[-1] == "ndjson/000.gz" else lines[256:]
        return httpx.Response(200, content=gzip.compress("".join(f"{line}\n" for line in part).encode()))

    found = list(client(handler).changes(since=5))
    assert [change.index for change in found] == list(range(5, 300))
    assert found[2].entry is None and found[3].entry == {"format": 1, "i": 8}
    assert asked == ["checkpoint", "ndjson/000.gz", "ndjson/001.p/44.gz"]
    assert list(client(handler).changes(since=300)) == []
    with pytest.raises(TidemarkError) as caught:
        list(client(handler).changes(since=301))
    assert caught.value.code == "log-shorter"
    lines[299] = '{"format":3}'
    with pytest.raises(TidemarkError) as caught:
        list(client(handler).changes(since=299))
    assert caught.value.code == "newer-format"


def test_a_cache_with_an_earlier_checkpoint_repeats_and_loses_nothing():
    sizes, waits = [], []

    def handler(request):
        if request.url.path.endswith("/checkpoint"):
            return httpx.Response(200, text=f"origin\n{sizes.pop(0)}\nroot=\n")
        width = int(request.url.path.removeprefix("/api/v1/log/ndjson/000.p/").removesuffix(".gz"))
        lines = "".join(json.dumps({"format": 1, "i": i}) + "\n" for i in range(width))
        return httpx.Response(200, content=gzip.compress(lines.encode()))

    sizes[:] = [3, 5]
    assert list(client(handler, waits).changes(since=5)) == []
    assert waits == [15.0]
    sizes[:] = [3, 3]
    with pytest.raises(TidemarkError) as caught:
        list(client(handler).changes(since=5))
    assert caught.value.code == "log-shorter"
    sizes[:] = [5, 3, 5, 6]
    following = client(handler).changes(follow=True)
    assert [next(following).index for _ in range(6)] == list(range(6))


def test_small_parts():
    assert [ndjson_path(n, 256) for n in (0, 999, 1_234_067)] == ["ndjson/000.gz", "ndjson/999.gz", "ndjson/x001/x234/067.gz"]
    assert ndjson_path(1, 5) == "ndjson/001.p/5.gz"
    texts = {None: None, "": None, " 12 ": 12, "1.5": None, "-1": None, "Fri, 20 Nov 2026 11:00:00 GMT": 0, "²": None}
    assert {text: retry_after(text, NOW.timestamp()) for text in texts} == texts
    assert [back_off(tries, 0) for tries in (0, 1, 9)] == [0.15, 0.3, 10]
    bodies = KeptBodies(10)
    for url in "abc":
        bodies.set(url, url, b"1234")
    assert [bodies.get(url) for url in "abc"] == [None, ("b", b"1234"), ("c", b"1234")]
    bodies.set("b", "b2", b"12345678901")
    assert bodies.get("b") is None


@pytest.mark.parametrize("coding", ["identity", "gzip", "gzip, gzip", "br"])
def test_a_body_without_an_end_is_not_taken(coding):
    def pieces():
        pack = zlib.compressobj(9, wbits=31)
        while True:
            piece = bytes(1024 * 1024)
            yield piece if coding == "identity" else pack.compress(piece) + pack.flush(zlib.Z_FULL_FLUSH)

    def handler(_):
        return httpx.Response(200, headers={"content-encoding": coding}, content=pieces())

    with pytest.raises(TidemarkError) as caught:
        client(handler).market("gold-usd")
    assert caught.value.code == "unexpected-answer"


def test_an_answer_that_drips_ends_when_its_time_is_over():
    def handler(_):
        return httpx.Response(200, content=itertools.repeat(b" "))

    with pytest.raises(TidemarkError) as caught:
        client(handler, answer_timeout=0.1, patience=0).market("gold-usd")
    assert caught.value.code == "no-answer"


@pytest.mark.parametrize(
    ("walk", "data"),
    [
        ("markets", [{"slug": "a"}, {"slug": "b"}]),
        ("markets", []),
        ("history", [row(2), row(1)]),
        ("history", [row(1), row(1, id="obs_other")]),
        ("history", []),
    ],
)
def test_no_walk_goes_in_a_circle_or_on_for_ever(walk, data):
    asked = itertools.count()

    def handler(_):
        return httpx.Response(200, json={"data": data, "page": {"next": f"1-{next(asked) % 500}.json"}})

    service = client(handler)
    with pytest.raises(TidemarkError) as caught:
        list(service.markets() if walk == "markets" else service.history("gold-usd"))
    assert caught.value.code == "unexpected-answer"
    assert next(asked) < 500


def test_announced_rows_are_marked_and_in_no_frame():
    service = client(Service([row(0), row(1, announced=True)]))
    assert [each.get("announced") for each in service.history("gold-usd")] == [True, None]
    assert service.history_frame("gold-usd")["id"].tolist() == ["obs_0"]
    assert service.history_frame("gold-usd", versions=True)["id"].tolist() == ["obs_0"]


def test_a_frame_has_the_rows_that_stand_unless_all_are_asked_for():
    corrected = row(1, id="obs_1b", recordedAt="2026-02-01T00:00:00Z", supersedes="obs_1")
    first = row(1, supersededAt="2026-02-01T00:00:00Z", supersededBy="obs_1b")
    service = client(Service([row(0), first, corrected]))
    assert service.history_frame("gold-usd")["id"].tolist() == ["obs_1b", "obs_0"]
    assert service.history_frame("gold-usd", versions=True)["id"].tolist() == ["obs_1b", "obs_1", "obs_0"]
    assert service.history_frame("gold-usd", as_of="2026-01-15T00:00:00Z")["id"].tolist() == ["obs_1", "obs_0"]
