// contract/instants.ts
var TO_THE_SECOND = "2026-01-01T00:00:00Z".length;
var TO_THE_MILLISECOND = "2026-01-01T00:00:00.000Z".length;

// contract/expected-next.ts
function latenessSeconds(expectedAt, graceSeconds, nowMs) {
  const seconds = Math.floor((nowMs - Date.parse(expectedAt)) / 1e3);
  return seconds > graceSeconds ? seconds : 0;
}

// site/browser/exact-decimal.ts
function groupedDigits(decimal) {
  const [whole = "", ...fraction] = decimal.split(".");
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ","), ...fraction].join(".");
}
function compareDecimals(left, right) {
  const digits = Math.max(fractionDigits(left), fractionDigits(right));
  const difference = scaled(left, digits) - scaled(right, digits);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
function fractionDigits(decimal) {
  return decimal.split(".")[1]?.length ?? 0;
}
function scaled(decimal, digits) {
  return BigInt(decimal.replace(".", "") + "0".repeat(digits - fractionDigits(decimal)));
}

// site/browser/market/words.ts
var MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
var UNKNOWN_WORDS = {
  "not-published": "the source published no value",
  withheld: "withheld, by its source or by this service",
  "not-applicable": "there is no such value",
  "not-yet-published": "not published yet",
  "source-unreachable": "the source could not be reached"
};
function dayText(instant2) {
  const [year = "", month, day] = instant2.slice(0, "YYYY-MM-DD".length).split("-");
  return `${Number(day)} ${MONTHS[Number(month) - 1] ?? month} ${year}`;
}
function momentText(instant2) {
  const time = instant2.slice("YYYY-MM-DDT".length, -1).replace(/\.0+$/, "").replace(/:00$/, "");
  return `${dayText(instant2)}, ${time.includes(":") ? time : `${time}:00`} UTC`;
}
var AGES = [
  { name: "year", seconds: 365.25 * 86400 },
  { name: "month", seconds: 365.25 * 86400 / 12 },
  { name: "day", seconds: 86400 },
  { name: "hour", seconds: 3600 },
  { name: "minute", seconds: 60 }
];
function agoText(ms) {
  const seconds = Math.abs(ms) / 1e3;
  const age = AGES.find((each) => seconds >= 2 * each.seconds);
  if (age === void 0) return seconds < 60 ? "just now" : ms < 0 ? "in a minute" : "a minute ago";
  const text = `${Math.floor(seconds / age.seconds)} ${age.name}s`;
  return ms < 0 ? `in ${text}` : `${text} ago`;
}
function unitText({ quantity, of }) {
  return quantity === 1 ? `per ${of}` : `per ${quantity.toLocaleString("en")} ${of}`;
}
function sourceWords(sourceValue) {
  return `source: ${sourceValue ?? "digits not given"}`;
}

// site/browser/market/elements.ts
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(attribute, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}
function button(text, onClick, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", onClick);
  return made;
}

// site/browser/poll.ts
var POLL_SECONDS = 30;
var TICK_MS = 1e4;
function pollWhileVisible(refresh2, draw) {
  let askedMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    askedMs = performance.now();
    await refresh2();
    isAsking = false;
    draw();
  };
  const tick = () => {
    if (document.visibilityState === "hidden") return;
    if (performance.now() - askedMs >= POLL_SECONDS * 1e3) void ask();
    else draw();
  };
  addEventListener("online", () => void ask());
  document.addEventListener("visibilitychange", tick);
  setInterval(tick, TICK_MS);
  void ask();
  return () => void ask();
}

// contract/latest-entries.ts
var LATEST_MARKETS_MAX = 2e5;
function latestEntry({ slug, name, kind, status, nativeCurrency, unit, metrics, sources, disputedMetrics, updatedAt }, recordedAt) {
  const price = metrics.price ?? null;
  const money = price?.kind === "money" ? price : null;
  const source = sources.find(({ label }) => label === price?.sourceLabel);
  const expectedNextAt = source?.expectedNextAt ?? null;
  return {
    slug,
    name,
    decimal: money?.decimal ?? null,
    quantity: unit.quantity,
    unit: unit.of,
    currency: nativeCurrency,
    observedAt: price?.observedAt ?? null,
    releasedAt: price?.releasedAt ?? null,
    updatedAt,
    source: price?.sourceLabel ?? null,
    status: price?.status ?? null,
    unknownReason: price?.unknownReason ?? null,
    recordedAt,
    kind,
    decimalPerUnit: money?.decimalPerUnit ?? null,
    confidence: price?.confidence ?? null,
    disputed: disputedMetrics.includes("price"),
    retired: status === "retired",
    expectedNextAt,
    graceSeconds: expectedNextAt === null ? null : source?.cadence?.graceSeconds ?? null,
    rounded: price?.rounded ?? null,
    sourceValue: price?.sourceValue ?? null
  };
}

// site/browser/explorer/latest-rows.ts
var ADDED = {
  kind: "",
  decimalPerUnit: null,
  confidence: null,
  disputed: false,
  retired: false,
  expectedNextAt: null,
  graceSeconds: null,
  rounded: null,
  sourceValue: null
};
function entriesOfLatest(body) {
  return dataOf(body).map((entry) => ({ ...ADDED, ...entry }));
}
function entriesOfList(body) {
  return dataOf(body).map((market) => latestEntry(market, null));
}
function dataOf(body) {
  const { data } = body;
  if (Array.isArray(data)) return data;
  throw new TypeError("the answer has no list of data");
}
function keepEqual(before, after) {
  const known = new Map(before.map((entry) => [entry.slug, entry]));
  return after.map((entry) => {
    const same = known.get(entry.slug);
    return same !== void 0 && JSON.stringify(same) === JSON.stringify(entry) ? same : entry;
  });
}
function priceWords(entry) {
  const { decimal, decimalPerUnit, quantity, unit, observedAt, unknownReason } = entry;
  if (decimal === null) {
    if (observedAt === null) return { digits: null, below: ["never observed"] };
    return { digits: null, below: [unknownReason === null ? "no reason is given" : UNKNOWN_WORDS[unknownReason]] };
  }
  const perUnit = quantity === 1 || decimalPerUnit === null ? [] : [`${groupedDigits(decimalPerUnit)} per ${unit}`];
  return { digits: groupedDigits(decimal), below: [unitText({ quantity, of: unit }), ...perUnit] };
}
function lateSince({ expectedNextAt, graceSeconds }, nowMs) {
  if (expectedNextAt === null || graceSeconds === null) return null;
  return latenessSeconds(expectedNextAt, graceSeconds, nowMs) > 0 ? expectedNextAt : null;
}
function lateWords(since, nowMs) {
  if (nowMs - Date.parse(since) < 864e5) return `late since ${since.slice(11, 16)} UTC`;
  const day = dayText(since);
  const isThisYear = day.endsWith(` ${new Date(nowMs).getUTCFullYear()}`);
  return `late since ${isThisYear ? day.slice(0, -" 2026".length) : day}`;
}
function rowBadges(entry, nowMs) {
  const { disputed, retired, status, confidence, rounded, sourceValue } = entry;
  const late = lateSince(entry, nowMs);
  const badges = [
    disputed && { text: "disputed", look: "alarm" },
    late !== null && { text: lateWords(late, nowMs), look: "notice" },
    status !== null && status !== "final" && { text: status, look: "notice" },
    confidence === "low" && { text: "low confidence", look: "notice" },
    rounded === true && { text: "rounded", look: "plain", detail: sourceWords(sourceValue) },
    retired && { text: "retired", look: "plain" }
  ];
  return badges.filter((badge) => badge !== false);
}

// site/browser/explorer/list-view.ts
var SORTS = ["name", "kind", "age", "notes"];
var WHOLE_VIEW = {
  text: "",
  kind: "",
  currency: "",
  sort: "name",
  isDescending: false,
  hasCharts: true
};
function parseView(fragment) {
  const text = fragment.replace(/^#/, "");
  if (text !== "" && !text.includes("=")) return null;
  const fields = new URLSearchParams(text);
  const [sort = "", order] = (fields.get("sort") ?? "").split("-");
  return {
    text: fields.get("q") ?? "",
    kind: fields.get("kind") ?? "",
    currency: fields.get("currency") ?? "",
    sort: SORTS.find((name) => name === sort) ?? WHOLE_VIEW.sort,
    isDescending: order === "descending",
    hasCharts: fields.get("charts") !== "off"
  };
}
function viewFragment({ text, kind, currency, sort, isDescending, hasCharts }) {
  const fields = new URLSearchParams();
  if (text.trim() !== "") fields.set("q", text.trim());
  if (kind !== "") fields.set("kind", kind);
  if (currency !== "") fields.set("currency", currency);
  if (sort !== WHOLE_VIEW.sort || isDescending) fields.set("sort", isDescending ? `${sort}-descending` : sort);
  if (!hasCharts) fields.set("charts", "off");
  return fields.toString();
}
function selectEntries(entries, view2, nowMs) {
  const words = searchable(view2.text).split(/\s+/).filter(Boolean);
  const selected = entries.filter(
    ({ name, slug, kind, currency }) => (view2.kind === "" || kind === view2.kind) && (view2.currency === "" || currency === view2.currency) && (words.length === 0 || hasAll(searchable(`${name} ${slug}`), words))
  );
  return selected.sort(comparison(view2.sort, nowMs, view2.isDescending ? -1 : 1));
}
function countsBy(entries, member) {
  const counts = /* @__PURE__ */ new Map();
  for (const entry of entries) counts.set(entry[member], (counts.get(entry[member]) ?? 0) + 1);
  return new Map([...counts].filter(([value]) => value !== "").sort(([left], [right]) => left < right ? -1 : 1));
}
function searchable(text) {
  return text.normalize("NFD").replaceAll(new RegExp("\\p{Mn}", "gu"), "").toLowerCase();
}
var hasAll = (text, words) => words.every((word) => text.includes(word));
var NAMES = new Intl.Collator("en", { numeric: true });
function comparison(sort, nowMs, sign) {
  const byName = (left, right) => NAMES.compare(left.name, right.name) || (left.slug < right.slug ? -1 : 1);
  const keys = {
    name: () => 0,
    kind: ({ kind }) => kind,
    age: ({ observedAt }) => observedAt === null ? null : -Date.parse(observedAt),
    notes: (entry) => weight(entry, nowMs)
  };
  const keyOf = keys[sort];
  return (left, right) => {
    const [one, other] = [keyOf(left), keyOf(right)];
    if (one === other) return byName(left, right) * (sort === "name" ? sign : 1);
    if (one === null) return 1;
    if (other === null) return -1;
    return one < other ? -sign : sign;
  };
}
var WEIGHTS = { alarm: 100, notice: 10, plain: 1 };
function weight(entry, nowMs) {
  const unknown = entry.decimal === null ? WEIGHTS.notice : 0;
  return rowBadges(entry, nowMs).reduce((sum, { look }) => sum + WEIGHTS[look], unknown);
}

// contract/limits.ts
var FRESH_SECONDS = 15;
var IMMUTABLE_SECONDS = 365 * 24 * 60 * 60;
var CURSOR_LIFETIME_SECONDS = 24 * 60 * 60;

// contract/recent-prices.ts
var RECENT_MARKETS_MAX = 5e3;

// contract/routes.ts
var MARKETS_URL = "/api/v1/markets";
var SNAPSHOT_URL = "/api/v1/snapshot";
var LATEST_URL = "/api/v1/latest";
var LATEST_CSV_URL = `${LATEST_URL}.csv`;
var RECENT_URL = "/api/v1/recent";
var EXPORT_ROOT = "/api/v1/exports/";
var EXPORTS_URL = `${EXPORT_ROOT}latest`;

// site/browser/market/public-answers.ts
var UnreachableError = class extends Error {
  name = "UnreachableError";
};
var TIMEOUT_MS = 2e4;
var FILE_TIMEOUT_MS = 3e5;
var NOT_FAILED = [304, 404, 410];
var PublicAnswers = class {
  #fetch;
  #etags = /* @__PURE__ */ new Map();
  constructor(ask) {
    this.#fetch = ask;
  }
  /**
   * GETs a JSON body.
   *
   * @param cache `no-cache`: the browser asks whether its copy is still right
   * @throws UnreachableError
   */
  async read(path, cache = "default") {
    const response = await this.#ask(path, { cache });
    if (response.status === 404) return { kind: "missing" };
    const body = await jsonOf(response);
    return response.status === 410 ? { kind: "gone", problem: body } : { kind: "found", body };
  }
  /** The same; but asks whether the body has changed since the last time. @throws UnreachableError */
  async readAgain(path) {
    const etag = this.#etags.get(path);
    const response = await this.#ask(path, etag === void 0 ? {} : { headers: { "If-None-Match": etag } });
    if (response.status === 304) return { kind: "unchanged" };
    if (response.status === 404) return { kind: "missing" };
    const body = await jsonOf(response);
    if (response.status === 410) return { kind: "gone", problem: body };
    const found = response.headers.get("ETag");
    if (found !== null) this.#etags.set(path, found);
    return { kind: "found", body };
  }
  /** Reads a file of JSON lines. Null: it is not there, or too long to be one file. @throws UnreachableError */
  async readLines(path) {
    const response = await this.#ask(path, {}, FILE_TIMEOUT_MS);
    if (response.status === 404 || response.status === 410) return null;
    try {
      return await linesOf(response);
    } catch (cause) {
      throw new UnreachableError(`${path} broke off, or is not what it should be`, { cause });
    }
  }
  /** Bytes of a file of the log. Rejects if it is not there. */
  async readBytes(path) {
    const response = await this.#ask(path, {});
    if (response.status !== 200) throw new UnreachableError(`${path} answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }
  async #ask(path, init, timeoutMs = TIMEOUT_MS) {
    let status;
    try {
      const response = await this.#fetch(path, { ...init, signal: AbortSignal.timeout(timeoutMs) });
      ({ status } = response);
      if (response.ok || NOT_FAILED.includes(status)) return response;
    } catch (cause) {
      throw new UnreachableError("the service gave no answer", { cause });
    }
    throw new UnreachableError(`the service answered ${status}`);
  }
};
async function jsonOf(response) {
  try {
    const body = await response.json();
    if (typeof body === "object" && body !== null) return body;
  } catch (cause) {
    throw new UnreachableError("the service gave an answer that is no JSON", { cause });
  }
  throw new UnreachableError("the service gave an answer that is no JSON object");
}
async function linesOf(response) {
  const values = [];
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part !== void 0 && !part.done; part = await reader?.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) values.push(JSON.parse(line));
  }
  if (rest !== "") throw new SyntaxError("the last line is cut off");
  return values;
}

// site/browser/service-clock.ts
var TOLERANCE_MS = 6e4;
function clockOffsetMs(date, age, receivedMs) {
  const difference = receivedMs - (date === null ? Number.NaN : Date.parse(date));
  const ageMs = /^\d{1,9}$/.test(age ?? "") ? Number(age) * 1e3 : 0;
  if (Number.isNaN(difference)) return 0;
  return [difference, difference - ageMs].some((each) => Math.abs(each) <= TOLERANCE_MS) ? 0 : difference;
}

// site/browser/explorer/market-feed.ts
var PAGES_AT_ONCE = 10;
var STALE_AGE_SECONDS = 2 * FRESH_SECONDS + 5;
var MarketFeed = class {
  snapshot = null;
  /** By slug. */
  entries = [];
  recent = /* @__PURE__ */ new Map();
  /** The rest of a list that is not read yet. Null: nothing is left. */
  nextCursor = null;
  /** How far this computer's clock is ahead, by the newest answer. */
  offsetMs = 0;
  /** Seconds. More than {@link FRESH_SECONDS}: the edge shows a copy, because the service behind it fails. */
  ageSeconds = 0;
  #pages = PAGES_AT_ONCE;
  /** The list has changed, and its pages could not all be read. */
  #isWalkDue = false;
  #answers = new PublicAnswers(async (...request) => {
    const response = await fetch(...request);
    const { headers, status } = response;
    this.offsetMs = clockOffsetMs(headers.get("Date"), headers.get("Age"), Date.now());
    if (status < 400) this.ageSeconds = Math.max(this.ageSeconds, Number(headers.get("Age") ?? 0));
    return response;
  });
  /** The service's time, in milliseconds since the epoch. */
  get nowMs() {
    return Date.now() - this.offsetMs;
  }
  get isStale() {
    return this.ageSeconds > STALE_AGE_SECONDS;
  }
  /** Asks what has changed. If it fails, everything stays as it was. @throws UnreachableError */
  async refresh(hasCharts) {
    this.ageSeconds = 0;
    try {
      const snapshot = await this.#answers.readAgain(SNAPSHOT_URL);
      if (snapshot.kind === "found") this.snapshot = snapshot.body;
      await Promise.all([this.#refreshEntries(), hasCharts && this.#publishes("recent") && this.#refreshRecent()]);
    } catch (cause) {
      if (cause instanceof UnreachableError) throw cause;
      throw new UnreachableError("the service gave an answer that cannot be read", { cause });
    }
  }
  /** Reads the next pages of a list that has no file of all markets. */
  async readMore() {
    await this.#walk(this.entries, this.nextCursor, PAGES_AT_ONCE);
    this.#pages += PAGES_AT_ONCE;
  }
  /** Whether it is worth asking: a request for a file that is not published is an error in the browser's log. */
  #publishes(projection) {
    const { projections = [], counts } = this.snapshot ?? {};
    const marketsMax = projection === "latest" ? LATEST_MARKETS_MAX : RECENT_MARKETS_MAX;
    return projections.includes(projection) && (counts?.markets ?? 0) <= marketsMax;
  }
  async #refreshEntries() {
    if (this.#publishes("latest")) {
      const latest = await this.#answers.readAgain(LATEST_URL);
      if (latest.kind === "found") {
        this.entries = keepEqual(this.entries, entriesOfLatest(latest.body));
        this.nextCursor = null;
      }
      if (latest.kind !== "missing") return;
    }
    const first = this.#isWalkDue ? await this.#answers.read(MARKETS_URL) : await this.#answers.readAgain(MARKETS_URL);
    if (first.kind !== "found") return;
    this.#isWalkDue = true;
    await this.#walk(entriesOfList(first.body), cursorOf(first.body), this.#pages - 1);
    this.#isWalkDue = false;
  }
  async #walk(begun, cursor, pages) {
    const read = [...begun];
    let next = cursor;
    for (let page = 0; next !== null && page < pages; page++) {
      const answer = await this.#answers.read(`${MARKETS_URL}?cursor=${next}`);
      if (answer.kind !== "found") throw new UnreachableError("the list of markets has changed while it was read");
      read.push(...entriesOfList(answer.body));
      next = cursorOf(answer.body);
    }
    this.entries = keepEqual(this.entries, read);
    this.nextCursor = next;
  }
  async #refreshRecent() {
    const recent = await this.#answers.readAgain(RECENT_URL);
    if (recent.kind !== "found") return;
    this.recent = new Map(dataOf(recent.body).map((entry) => [entry.slug, entry]));
  }
};
function cursorOf(body) {
  return body.page?.nextCursor ?? null;
}

// site/browser/explorer/spark-line.ts
var SPARK_WIDTH = 120;
var SPARK_HEIGHT = 28;
var MARGIN = 3;
function sparkLine({ decimal, observedAt }, currency) {
  const known = decimal.filter((text) => text !== null);
  const [first] = known;
  const [oldest, newest] = [observedAt[0], observedAt.at(-1)];
  if (first === void 0 || known.length < 2 || oldest === void 0 || newest === void 0) return null;
  const lowest = known.reduce((least, text) => compareDecimals(text, least) < 0 ? text : least, first);
  const highest = known.reduce((most, text) => compareDecimals(text, most) > 0 ? text : most, first);
  const [from, to] = [Date.parse(oldest), Date.parse(newest)];
  const [bottom, top] = [Number(lowest), Number(highest)];
  const place = (share, size) => round(MARGIN + share * (size - 2 * MARGIN));
  const points = decimal.map((text, index) => {
    if (text === null) return null;
    const x = place(to === from ? 1 : (Date.parse(observedAt[index]) - from) / (to - from), SPARK_WIDTH);
    const share = top === bottom ? 0.5 : (top - Number(text)) / (top - bottom);
    return { x, y: place(share, SPARK_HEIGHT) };
  });
  const steps = points.map((point, index) => {
    if (point === null) return "";
    const isStart = (points[index - 1] ?? null) === null;
    const isAlone = isStart && (points[index + 1] ?? null) === null;
    return `${isStart ? "M" : "L"}${point.x} ${point.y}${isAlone ? "h0" : ""}`;
  });
  const unknown = decimal.length - known.length;
  const last = decimal.at(-1) ?? null;
  const words = [
    `${decimal.length} prices since ${dayText(oldest)}: last ${last === null ? "unknown" : groupedDigits(last)}`,
    `lowest ${groupedDigits(lowest)}`,
    `highest ${groupedDigits(highest)} ${currency}`,
    ...unknown === 0 ? [] : [`${unknown} unknown`]
  ];
  return { path: steps.join(""), end: points.at(-1) ?? null, words: words.join(", ") };
}
var round = (value) => Math.round(value * 10) / 10;

// site/browser/explorer/market-row.ts
var CELL = { role: "cell" };
var LONG_NAME = 40;
var MarketRow = class {
  element;
  #entry;
  #chart = element("td", { ...CELL, class: "of-chart" });
  #age = element("td", { ...CELL, class: "of-age" });
  #notes = element("td", { ...CELL, class: "of-notes" });
  #recent = null;
  /** The words that depend on the clock, as they are shown. */
  #shown = null;
  constructor(entry) {
    this.#entry = entry;
    this.element = element(
      "tr",
      { role: "row", "data-slug": entry.slug, class: entry.name.length > LONG_NAME ? "has-long-name" : null },
      element(
        "th",
        { role: "rowheader", scope: "row", class: "of-name" },
        element("a", { href: `/markets/${entry.slug}`, class: "lines", title: entry.name }, entry.name),
        element("span", { class: "below lines" }, entry.slug)
      ),
      element("td", { ...CELL, class: "of-kind" }, entry.kind),
      priceCell(entry),
      this.#chart,
      this.#age,
      element("td", { ...CELL, class: "of-source" }, element("span", { class: "lines" }, entry.source)),
      this.#notes
    );
  }
  /** @param nowMs the service's time. @param recent null: no chart */
  show(nowMs, recent) {
    if (recent !== this.#recent) {
      this.#recent = recent;
      this.#chart.replaceChildren(...recent === null ? [] : chartOf(recent, this.#entry.currency));
    }
    const { observedAt } = this.#entry;
    const age = observedAt === null ? null : agoText(nowMs - Date.parse(observedAt)).replace(/ ago$/, "");
    const badges = rowBadges(this.#entry, nowMs);
    const words = [age, ...badges.map(({ text }) => text)].join("\n");
    if (words === this.#shown) return;
    this.#shown = words;
    this.#age.replaceChildren(...observedAt === null ? ["never"] : ageOf(age, observedAt));
    this.#notes.replaceChildren(...badgesOfRow(badges));
  }
};
function priceCell(entry) {
  const { digits, below } = priceWords(entry);
  const value = digits === null ? element("span", { class: "unknown" }, "unknown") : element(
    "span",
    {},
    element("data", { value: entry.decimal, class: "number" }, digits),
    " ",
    element("span", { class: "currency" }, entry.currency)
  );
  return element(
    "td",
    { ...CELL, class: "of-price" },
    value,
    element("span", { class: "below parts" }, ...partsOf(below))
  );
}
function partsOf(texts) {
  return texts.flatMap((text, index) => [index === 0 ? "" : " ", element("span", {}, text)]);
}
function badgesOfRow(badges) {
  if (badges.length === 0) return [];
  const shown = badges.map(
    ({ text, look, detail = null }) => element(
      "span",
      { class: look === "plain" ? "badge" : `badge badge-${look}`, title: detail },
      text,
      detail === null ? null : element("span", { class: "visually-hidden" }, `, ${detail}`)
    )
  );
  return [element("span", { class: "badges" }, ...shown.flatMap((badge) => [badge, " "]))];
}
function ageOf(age, observedAt) {
  return [
    element("time", { datetime: observedAt, title: momentText(observedAt) }, age),
    element("span", { class: "below" }, dayText(observedAt))
  ];
}
function chartOf(recent, currency) {
  const line = sparkLine(recent, currency);
  if (line === null) return [element("span", { class: "below" }, "too few prices")];
  const chart = svg("svg", { class: "spark", viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, "aria-hidden": "true" });
  chart.append(svg("path", { d: line.path }));
  if (line.end !== null) chart.append(svg("circle", { cx: `${line.end.x}`, cy: `${line.end.y}`, r: "2" }));
  return [chart, element("span", { class: "visually-hidden" }, line.words)];
}
function svg(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

// site/browser/explorer/market-table.ts
var ROWS_AT_ONCE = 200;
var MarketTable = class {
  #table;
  #body;
  /** By entry, so an entry that is the same keeps its row, and its row keeps the focus. */
  #rows = /* @__PURE__ */ new WeakMap();
  constructor(table2) {
    this.#table = table2;
    this.#body = table2.tBodies[0];
  }
  /** @param recent by slug; null: without charts */
  show(entries, nowMs, recent) {
    this.#table.classList.toggle("has-charts", recent !== null);
    const focused = this.#body.contains(document.activeElement) ? slugOf(document.activeElement) : null;
    let at = this.#body.firstElementChild;
    for (const entry of entries) {
      const row = this.#rowOf(entry);
      row.show(nowMs, recent?.get(entry.slug) ?? null);
      if (row.element === at) at = at.nextElementSibling;
      else this.#body.insertBefore(row.element, at);
    }
    while (at !== null) {
      const next = at.nextElementSibling;
      at.remove();
      at = next;
    }
    if (focused !== null && !this.#body.contains(document.activeElement)) this.#linkOf(focused)?.focus();
  }
  showSort(sort, isDescending) {
    for (const button2 of this.#table.querySelectorAll("button[data-sort]")) {
      const isSorted = button2.dataset.sort === sort;
      const cell = button2.closest("th");
      if (isSorted) cell?.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
      else cell?.removeAttribute("aria-sort");
    }
  }
  /** Moves the focus to the first row that was added. */
  focusRow(index) {
    this.#body.rows[index]?.querySelector("a")?.focus();
  }
  #rowOf(entry) {
    const known = this.#rows.get(entry);
    if (known !== void 0) return known;
    const row = new MarketRow(entry);
    this.#rows.set(entry, row);
    return row;
  }
  #linkOf(slug) {
    return this.#body.querySelector(`tr[data-slug="${CSS.escape(slug)}"] a`);
  }
};
function slugOf(inside) {
  return inside?.closest("tr")?.dataset.slug ?? null;
}

// site/browser/explorer/view-controls.ts
var SHORTCUT_OFF = "tidemark.shortcut-off";
var byId = (id) => document.getElementById(id);
var ViewControls = class {
  #text = byId("view-text");
  #kind = byId("view-kind");
  #currency = byId("view-currency");
  #charts = byId("view-charts");
  #shortcut = byId("view-shortcut");
  #clear = byId("view-clear");
  #entries = null;
  constructor(change) {
    byId("view").addEventListener("submit", (event) => event.preventDefault());
    this.#text.addEventListener("input", () => change({ text: this.#text.value }));
    this.#kind.addEventListener("change", () => change({ kind: this.#kind.value }));
    this.#currency.addEventListener("change", () => change({ currency: this.#currency.value }));
    this.#charts.addEventListener("change", () => change({ hasCharts: this.#charts.checked }));
    this.#clear.addEventListener("click", () => {
      change({ text: "", kind: "", currency: "" });
      this.#text.focus();
    });
    this.#useShortcut();
  }
  show(view2, entries) {
    if (entries !== this.#entries) {
      this.#entries = entries;
      offer(this.#kind, "All kinds", countsBy(entries, "kind"), view2.kind);
      offer(this.#currency, "All currencies", countsBy(entries, "currency"), view2.currency);
    }
    if (this.#text.value.trim() !== view2.text.trim()) this.#text.value = view2.text;
    this.#kind.value = view2.kind;
    this.#currency.value = view2.currency;
    this.#charts.checked = view2.hasCharts;
    this.#clear.hidden = ["text", "kind", "currency"].every(
      (name) => view2[name] === WHOLE_VIEW[name]
    );
  }
  /** A key without a modifier can be switched off, because speech control may press it (WCAG 2.2, 2.1.4). */
  #useShortcut() {
    this.#shortcut.checked = localStorage.getItem(SHORTCUT_OFF) === null;
    this.#shortcut.addEventListener("change", () => {
      if (this.#shortcut.checked) localStorage.removeItem(SHORTCUT_OFF);
      else localStorage.setItem(SHORTCUT_OFF, "true");
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target instanceof Element && event.target.matches("input, select, textarea");
      const isModified = event.ctrlKey || event.metaKey || event.altKey;
      if (event.key !== "/" || isTyping || isModified || !this.#shortcut.checked) return;
      event.preventDefault();
      this.#text.focus();
      this.#text.select();
    });
  }
};
function offer(select, all, counts, chosen) {
  const offered = new Map(counts);
  if (chosen !== "" && !offered.has(chosen)) offered.set(chosen, 0);
  const options = [...offered].map(
    ([value, count]) => element("option", { value }, `${value} (${count.toLocaleString("en")})`)
  );
  select.replaceChildren(element("option", { value: "" }, all), ...options);
}

// site/browser/explorer/main.ts
var SPOKEN_AFTER_MS = 600;
var byId2 = (id) => document.getElementById(id);
var tableElement = byId2("markets");
var table = new MarketTable(tableElement);
var controls = new ViewControls(changeView);
var feed = new MarketFeed();
var view = parseView(location.hash) ?? WHOLE_VIEW;
var rows = ROWS_AT_ONCE;
var problem = null;
var answeredMs = 0;
var speaking;
function changeView(change) {
  view = { ...view, ...change };
  rows = ROWS_AT_ONCE;
  const fragment = viewFragment(view);
  history.replaceState(null, "", fragment === "" ? location.pathname : `#${fragment}`);
  show();
  if (change.hasCharts && feed.recent.size === 0) askNow();
}
async function refresh() {
  try {
    await feed.refresh(view.hasCharts);
    answeredMs = Date.now();
    problem = null;
  } catch (error) {
    problem = error.message;
  }
}
function show() {
  const { entries, nowMs } = feed;
  const selected = selectEntries(entries, view, nowMs);
  table.show(selected.slice(0, rows), nowMs, view.hasCharts && feed.recent.size > 0 ? feed.recent : null);
  table.showSort(view.sort, view.isDescending);
  controls.show(view, entries);
  showNotices();
  showFacts();
  showCount(selected.length);
  byId2("explorer").dataset.ready = String(answeredMs > 0);
}
function showNotices() {
  const { nowMs, offsetMs, ageSeconds, isStale } = feed;
  const texts = [];
  if (problem !== null) {
    const rest = answeredMs === 0 ? "No price can be shown yet." : `The prices are those of ${momentText(instant(answeredMs))}.`;
    texts.push(`No connection: ${problem}. ${rest} The page asks again every ${POLL_SECONDS} seconds.`);
  } else if (isStale) {
    texts.push(
      `This is a copy, ${agoText(ageSeconds * 1e3).replace(/ ago$/, "")} old: the service behind it does not answer.`
    );
  }
  if (offsetMs !== 0) {
    const by = agoText(Math.abs(offsetMs)).replace(/ ago$/, "");
    const side = offsetMs > 0 ? "ahead of" : "behind";
    texts.push(
      `The clock of this computer is ${by} ${side} that of the service. Ages follow the service: it is ${momentText(instant(nowMs))} there.`
    );
  }
  const notices = byId2("notices");
  if (notices.dataset.shown === texts.join("\n")) return;
  notices.dataset.shown = texts.join("\n");
  notices.replaceChildren(
    ...texts.map(
      (text, index) => element(
        "p",
        { class: "notice" },
        text,
        ...problem !== null && index === 0 ? [" ", button("Ask now", () => askNow())] : []
      )
    )
  );
}
function showFacts() {
  const { snapshot, entries, nowMs } = feed;
  if (snapshot === null) return;
  const { counts, generation, publishedAt } = snapshot;
  const many = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
  const currencies = countsBy(entries, "currency").size;
  byId2("facts").replaceChildren(
    `${many(counts.markets, "market")} of ${many(countsBy(entries, "kind").size, "kind")} in `,
    `${currencies === 1 ? "1 currency" : `${currencies} currencies`}. `,
    `Generation ${generation.toLocaleString("en")}, published `,
    element(
      "time",
      { datetime: publishedAt, title: momentText(publishedAt) },
      agoText(nowMs - Date.parse(publishedAt))
    ),
    problem === null ? `. Checked ${agoText(Date.now() - answeredMs)}.` : `. Last read at ${momentText(instant(answeredMs))}.`
  );
}
function showCount(selected) {
  const { entries, nextCursor, snapshot } = feed;
  const text = countText(selected);
  byId2("count").textContent = text;
  window.clearTimeout(speaking);
  speaking = window.setTimeout(() => {
    const spoken = byId2("spoken");
    if (spoken.textContent !== text) spoken.textContent = text;
  }, SPOKEN_AFTER_MS);
  const left = selected - rows;
  const parts = [];
  if (answeredMs === 0) parts.push(problem === null ? "Reading the prices …" : "");
  else if (entries.length === 0) parts.push("No market is published yet.");
  else if (selected === 0) parts.push("No market matches. Try fewer letters, or another kind or currency.");
  if (left > 0) {
    parts.push(
      `Rows 1–${rows.toLocaleString("en")} of ${selected.toLocaleString("en")}. `,
      button(`Show ${Math.min(left, ROWS_AT_ONCE)} more`, () => {
        const first = rows;
        rows += ROWS_AT_ONCE;
        show();
        table.focusRow(first);
      })
    );
  }
  if (nextCursor !== null) {
    parts.push(
      ` Of ${(snapshot?.counts.markets ?? 0).toLocaleString("en")} markets, the first ${entries.length.toLocaleString("en")} are read: filters look among them. `,
      button("Read more markets", () => void readMore())
    );
  }
  const more = byId2("more");
  const words = parts.map((part) => typeof part === "string" ? part : part.textContent).join("");
  if (more.textContent !== words) more.replaceChildren(...parts);
}
function countText(selected) {
  const all = feed.entries.length;
  if (answeredMs === 0) return "";
  const word = all === 1 ? "market" : "markets";
  return selected === all ? `${all.toLocaleString("en")} ${word}` : `${selected.toLocaleString("en")} of ${all.toLocaleString("en")} ${word}`;
}
async function readMore() {
  try {
    await feed.readMore();
  } catch (error) {
    problem = error.message;
  }
  show();
}
var instant = (ms) => new Date(ms).toISOString().replace(/\.\d+/, "");
for (const sortButton of tableElement.querySelectorAll("button[data-sort]")) {
  sortButton.addEventListener("click", () => {
    const sort = sortButton.dataset.sort;
    changeView({ sort, isDescending: sort === view.sort ? !view.isDescending : sort === "notes" });
  });
}
byId2("poll-command").textContent = byId2("poll-command").textContent?.replace("$ORIGIN", location.origin) ?? "";
byId2("explorer").hidden = false;
addEventListener("hashchange", () => {
  view = parseView(location.hash) ?? view;
  rows = ROWS_AT_ONCE;
  show();
});
show();
var askNow = pollWhileVisible(refresh, show);
