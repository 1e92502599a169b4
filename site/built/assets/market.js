/*! uPlot is in this file:

The MIT License (MIT)

Copyright (c) 2022 Leon Sorokin

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
*/
// contract/limits.ts
var IMMUTABLE_SECONDS = 365 * 24 * 60 * 60;
var CURSOR_LIFETIME_SECONDS = 24 * 60 * 60;
var BY_SOURCE_MAX = 10;
var SLUG_MAX_LENGTH = 80;
var SLUG_PATTERN = "[a-z0-9]+(-[a-z0-9]+)*";

// contract/routes.ts
var MARKETS_URL = "/api/v1/markets";
var SNAPSHOT_URL = "/api/v1/snapshot";
var LATEST_URL = "/api/v1/latest";
var LATEST_CSV_URL = `${LATEST_URL}.csv`;
var EXPORT_ROOT = "/api/v1/exports/";
var EXPORTS_URL = `${EXPORT_ROOT}latest`;
var FACES_URL = "/api/v1/faces";
function marketUrl(slug2) {
  return `${MARKETS_URL}/${slug2}`;
}
function historyUrl(slug2) {
  return `${MARKETS_URL}/${slug2}/history`;
}
function historyIndexUrl(slug2) {
  return `${historyUrl(slug2)}/index`;
}

// client/as-of.ts
var AsOfReading = class {
  #asOf;
  /** Older versions of rows that were known at the moment. Versions of one observation are neighbours, newest first. */
  #replaced = /* @__PURE__ */ new Set();
  #shown = /* @__PURE__ */ new Map();
  constructor(asOf) {
    this.#asOf = asOf;
  }
  /** Takes the next row. Returns whether it was visible at the moment. A visible row may say that a value never was. */
  add(row) {
    const isVisible = this.#asOf.clock === "recorded" ? this.#stood(row) : this.#wasNewestRelease(row);
    if (isVisible && row.retraction !== "mistake") this.#show(row);
    return isVisible;
  }
  /** The values that the market showed, by metric: its newest one. A metric without any is left out. */
  get metrics() {
    return Object.fromEntries([...this.#shown].map(([metric, rows]) => [metric, first(rows)]));
  }
  /** Each metric of several sources, as on the market: the newest value of each source, newest first. */
  get bySource() {
    const several = [...this.#shown].filter(([, rows]) => rows.size > 1);
    return Object.fromEntries(several.map(([metric, rows]) => [metric, [...rows.values()].slice(0, BY_SOURCE_MAX)]));
  }
  #stood({ recordedAt, supersededAt }) {
    const { atMs } = this.#asOf;
    return Date.parse(recordedAt) <= atMs && (supersededAt === null || Date.parse(supersededAt) > atMs);
  }
  #wasNewestRelease({ id, recordedAt, releasedAt, supersedes }) {
    const isReplaced = this.#replaced.delete(id);
    const isKnown = Date.parse(releasedAt ?? recordedAt) <= this.#asOf.atMs;
    if (supersedes !== null && (isKnown || isReplaced)) this.#replaced.add(supersedes);
    return isKnown && !isReplaced;
  }
  /** Rows come newest first, and at one moment in the order of the tie rule: the first one of a source is its newest. */
  #show(row) {
    const rows = this.#shown.get(row.metric) ?? /* @__PURE__ */ new Map();
    if (!rows.has(row.sourceLabel)) rows.set(row.sourceLabel, row);
    this.#shown.set(row.metric, rows);
  }
};
function first(rows) {
  return rows.values().next().value;
}

// client/moments.ts
var DAY_MS = 24 * 60 * 60 * 1e3;
var CLOCKS_DIFFER_MS = 6e4;
function isAhead(atMs, nowMs) {
  return atMs > nowMs + CLOCKS_DIFFER_MS;
}

// site/browser/market/as-of-view.ts
function historyView(market, rows, asOf) {
  if (asOf === null) {
    const visible2 = [...rows].filter(({ supersededBy }) => supersededBy === null);
    return { visible: visible2, metrics: market.metrics, bySource: market.bySource };
  }
  const reading = new AsOfReading(asOf);
  const visible = [...rows].filter((row) => reading.add(row)).map(asKnownThen);
  return { visible, metrics: { price: null, ...reading.metrics }, bySource: reading.bySource };
}
function asKnownThen(row) {
  return row.supersededBy === null ? row : { ...row, supersededAt: null, supersededBy: null };
}
function knownMoments(rows, clock, max2 = 2e3) {
  const moments = /* @__PURE__ */ new Set();
  for (const { recordedAt, releasedAt, supersededAt } of rows) {
    moments.add(Date.parse(clock === "recorded" ? recordedAt : releasedAt ?? recordedAt));
    if (clock === "recorded" && supersededAt !== null) moments.add(Date.parse(supersededAt));
  }
  const all = [...moments].sort((left, right) => left - right);
  if (all.length <= max2) return all;
  return Array.from({ length: max2 }, (_2, index) => all[Math.round(index * (all.length - 1) / (max2 - 1))]);
}
function refusalOf(text, nowMs) {
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) return `“${text.slice(0, 40)}” is no moment that this page can read.`;
  return isAhead(atMs, nowMs) ? `${text} is in the future: nothing is known of it.` : null;
}
function readFragment(fragment, nowMs) {
  const words = new URLSearchParams(fragment.replace(/^#/, ""));
  const text = words.get("as-of");
  const refused = text === null ? null : refusalOf(text, nowMs);
  const atMs = text === null || refused !== null ? Number.NaN : Date.parse(text);
  const clock = words.get("clock") === "released" ? "released" : "recorded";
  const metric = words.get("metric") ?? "";
  return {
    asOf: Number.isNaN(atMs) ? null : { atMs, clock },
    metric: /^[a-z][a-zA-Z0-9]{0,39}$/.test(metric) && metric !== "price" ? metric : null,
    refused
  };
}
function fragmentOf({ asOf, metric }) {
  const words = new URLSearchParams();
  if (metric !== null) words.set("metric", metric);
  if (asOf !== null) {
    words.set("as-of", instantOfMs(asOf.atMs));
    words.set("clock", asOf.clock);
  }
  const text = words.toString().replaceAll("%3A", ":");
  return text === "" ? "" : `#${text}`;
}
function instantOfMs(ms) {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

// contract/instants.ts
var TO_THE_SECOND = "2026-01-01T00:00:00Z".length;
var TO_THE_MILLISECOND = "2026-01-01T00:00:00.000Z".length;
function laterInstant(one, other) {
  return other === null || millisecondInstant(one) >= millisecondInstant(other) ? one : other;
}
function millisecondInstant(instant) {
  if (instant.length === TO_THE_SECOND) return `${instant.slice(0, -1)}.000Z`;
  return instant.length === TO_THE_MILLISECOND ? instant : new Date(instant).toISOString();
}

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

// site/browser/market/words.ts
var MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
var UNKNOWN_WORDS = {
  "not-published": "the source published no value",
  withheld: "withheld, by its source or by this service",
  "not-applicable": "there is no such value",
  "not-yet-published": "not published yet",
  "source-unreachable": "the source could not be reached"
};
var RETRACTION_WORDS = {
  mistake: "it was recorded by mistake",
  withdrawn: "the source took it back"
};
function dayText(instant) {
  const [year = "", month, day] = instant.slice(0, "YYYY-MM-DD".length).split("-");
  return `${Number(day)} ${MONTHS[Number(month) - 1] ?? month} ${year}`;
}
function momentText(instant) {
  const time = instant.slice("YYYY-MM-DDT".length, -1).replace(/\.0+$/, "").replace(/:00$/, "");
  return `${dayText(instant)}, ${time.includes(":") ? time : `${time}:00`} UTC`;
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
function digitsOf(metric) {
  return metric.kind === "money" ? metric.decimal : metric.value;
}
function unitOf(metric) {
  return metric.kind === "money" ? metric.currency : metric.unit;
}
function valueText(metric) {
  const digits = digitsOf(metric);
  if (digits !== null) return `${groupedDigits(digits)} ${unitOf(metric)}`;
  if (metric.retraction != null) return `unknown: ${RETRACTION_WORDS[metric.retraction]}`;
  return `unknown: ${metric.unknownReason === null ? "no reason is given" : UNKNOWN_WORDS[metric.unknownReason]}`;
}
function sourceWords(sourceValue) {
  return `source: ${sourceValue ?? "digits not given"}`;
}
function markOf(row) {
  if (row.retraction !== null) return "retracted";
  if (row.unknownReason !== null) return "unknown";
  return row.supersedes === null ? null : "corrected";
}
function notesOf(row) {
  return [
    ...row.retraction === null ? [] : ["retracted"],
    ...row.retraction === null && row.supersedes !== null ? ["corrected"] : [],
    ...row.supersededBy === null ? [] : ["replaced since"],
    ...row.status === "final" ? [] : [row.status],
    ...row.confidence === "low" ? ["low confidence"] : [],
    ...row.rounded ? ["rounded"] : []
  ];
}
function pointSpeech(row) {
  const notes = notesOf(row).filter((note) => note !== "rounded");
  return [`${momentText(row.observedAt)}: ${valueText(row)}`, row.sourceLabel, ...notes].join(", ");
}
function badgesOf(market, nowMs) {
  const { price } = market.metrics;
  const lateSeconds = Math.max(0, ...market.sources.map((source) => lateSecondsOf(source, nowMs)));
  const others = market.disputedMetrics.filter((name) => name !== "price");
  const badges = [
    market.disputedMetrics.includes("price") && { text: "disputed", look: "alarm" },
    others.length > 0 && { text: `disputed: ${others.join(", ")}`, look: "alarm" },
    market.status === "retired" && { text: "retired", look: "notice" },
    lateSeconds > 0 && { text: "late", look: "notice" },
    price != null && price.status !== "final" && { text: price.status, look: "notice" },
    price?.confidence === "low" && { text: "low confidence", look: "notice" },
    market.representedBy !== null && { text: `represented by ${market.representedBy}`, look: "plain" }
  ];
  return badges.filter((badge) => badge !== false);
}
function lateSecondsOf({ cadence, expectedNextAt }, nowMs) {
  if (!expectedNextAt || !cadence) return 0;
  return latenessSeconds(expectedNextAt, cadence.graceSeconds, nowMs);
}
function safeUrl(text) {
  if (!URL.canParse(text)) return null;
  const { href, protocol } = new URL(text);
  return /^https?:$/.test(protocol) ? href : null;
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
function outsideLink(text, url) {
  const href = safeUrl(url);
  return href === null ? element("span", {}, text) : element("a", { href, rel: "noreferrer nofollow" }, text);
}
function timeElement(instant) {
  return element("time", { datetime: instant, class: "number" }, momentText(instant));
}
function agedTime(instant) {
  const age = element("span", { class: "soft", "data-age-of": instant });
  const made = element("span", {}, timeElement(instant), " ", age);
  refreshAges(made);
  return made;
}
function refreshAges(root2) {
  const nowMs = Date.now();
  for (const age of root2.querySelectorAll("[data-age-of]")) {
    const text = `(${agoText(nowMs - Date.parse(age.getAttribute("data-age-of")))})`;
    if (age.textContent !== text) age.textContent = text;
  }
}
function facts(rows) {
  return element(
    "dl",
    { class: "facts" },
    ...rows.flatMap((row) => row === null ? [] : [element("dt", {}, row[0]), element("dd", {}, row[1])])
  );
}

// site/browser/market/as-of-panel.ts
var CLOCKS = [
  ["recorded", "what this service showed"],
  ["released", "what the sources had published"]
];
var AsOfPanel = class {
  root;
  #slider = element("input", { type: "range", id: "as-of-slider", min: "0", step: "1" });
  #field = element("input", { type: "datetime-local", id: "as-of-field", step: "1" });
  #said = element("p", { class: "small soft" });
  #radios = /* @__PURE__ */ new Map();
  #onChange;
  #moments = [];
  /** The clock and the version of the store that the moments are of. */
  #momentsOf = "";
  #asOf = null;
  constructor(onChange) {
    this.#onChange = onChange;
    const clocks = CLOCKS.map(([clock, words]) => {
      const radio = element("input", { type: "radio", name: "clock", value: clock, id: `clock-${clock}` });
      radio.checked = clock === "recorded";
      radio.addEventListener("change", () => this.#set(this.#asOf?.atMs ?? null));
      this.#radios.set(clock, radio);
      return element("label", { class: "choice" }, radio, ` ${clock}: ${words}`);
    });
    this.#slider.addEventListener("input", () => this.#set(this.#moments[Number(this.#slider.value)] ?? null));
    this.#field.addEventListener("change", () => {
      const ms = Date.parse(`${this.#field.value}Z`);
      this.#set(Number.isNaN(ms) ? null : ms);
    });
    this.root = element(
      "section",
      { class: "panel as-of", "aria-labelledby": "as-of-heading" },
      element("h2", { id: "as-of-heading" }, "As of an earlier moment"),
      element(
        "div",
        { class: "as-of-controls" },
        element(
          "div",
          { class: "as-of-slide" },
          element("label", { for: "as-of-slider" }, "Slide through the moments at which something became known"),
          this.#slider
        ),
        element(
          "div",
          { class: "control-group" },
          element("label", { for: "as-of-field" }, "Moment (UTC)"),
          this.#field
        ),
        button("Now", () => this.#set(null))
      ),
      element("fieldset", { class: "as-of-clock" }, element("legend", {}, "Clock"), ...clocks),
      this.#said
    );
  }
  show(store, asOf, note) {
    this.#asOf = asOf;
    const clock = asOf?.clock ?? this.#clock();
    this.#radios.get(clock).checked = true;
    const momentsOf = `${clock} ${store.version}`;
    if (momentsOf !== this.#momentsOf) this.#moments = knownMoments(store.newestFirst(), clock);
    this.#momentsOf = momentsOf;
    this.#slider.max = String(this.#moments.length);
    const at = asOf === null ? -1 : this.#moments.findLastIndex((ms) => ms <= asOf.atMs);
    this.#slider.value = String(asOf === null ? this.#moments.length : Math.max(0, at));
    this.#field.max = instantOfMs(Math.floor(Date.now() / 1e3) * 1e3).slice(0, -1);
    this.#field.value = asOf === null ? "" : instantOfMs(asOf.atMs).slice(0, -1);
    const moment = asOf === null ? "now" : momentText(instantOfMs(asOf.atMs));
    this.#slider.setAttribute("aria-valuetext", moment);
    const stops = this.#moments.length.toLocaleString("en");
    const count = `${stops} ${this.#moments.length === 1 ? "moment" : "moments"} by this clock`;
    const limits = "Name, unit, sources and disputes stay those of now.";
    this.#said.textContent = asOf === null ? `Now. ${count}. ${note}` : `As of ${moment}. ${count}. ${limits} ${note}`;
  }
  #clock() {
    return this.#radios.get("released")?.checked === true ? "released" : "recorded";
  }
  #set(atMs) {
    this.#onChange(atMs === null ? null : { atMs, clock: this.#clock() });
  }
};

// contract/showable.ts
function isShowable({ retraction, supersededBy }) {
  return supersededBy === null && retraction !== "mistake";
}

// site/browser/market/chart-data.ts
function chartData(visible, metric, order2 = []) {
  const seconds = [];
  const series = /* @__PURE__ */ new Map();
  const units = /* @__PURE__ */ new Set();
  for (let index = visible.length - 1; index >= 0; index--) {
    const row = visible[index];
    if (row.metric !== metric) continue;
    const second = Date.parse(row.observedAt) / 1e3;
    if (seconds.at(-1) !== second) seconds.push(second);
    const at = seconds.length - 1;
    const unit = unitOf(row);
    units.add(unit);
    const key = `${row.sourceLabel}
${unit}`;
    const line = series.get(key) ?? { name: row.sourceLabel, unit, values: [], rows: [] };
    series.set(key, line);
    if (line.rows[at] !== void 0 && isTakenBack(row) && !isTakenBack(line.rows[at])) continue;
    line.rows[at] = row;
    line.values[at] = chartNumber(row);
  }
  const rankOf = (name) => order2.includes(name) ? order2.indexOf(name) : order2.length;
  const lines = [...series.values()].sort(
    (one, other) => rankOf(one.name) - rankOf(other.name) || (one.name < other.name ? -1 : 1)
  );
  for (const line of lines) {
    line.values.length = seconds.length;
    line.rows.length = seconds.length;
  }
  const named = units.size < 2 ? lines : lines.map((line) => ({ ...line, name: `${line.name} (${line.unit})` }));
  return { metric, seconds, series: named };
}
function metricNames(...lists) {
  const names = new Set(lists.flatMap((list) => [...list]));
  names.delete("price");
  return ["price", ...[...names].sort()];
}
function placeOf(data, row) {
  const at = indexOfSecond(data.seconds, Date.parse(row.observedAt) / 1e3);
  const series = at === null ? -1 : data.series.findIndex(({ rows }) => rows[at]?.id === row.id);
  return at === null || series === -1 ? null : { at, series };
}
function rowAt(data, { at, series }) {
  return data.series[series]?.rows[at];
}
function step(data, { at, series }, steps) {
  const rows = data.series[series]?.rows ?? [];
  const direction = Math.sign(steps) || 1;
  let [found, left] = [rows[at] === void 0 ? null : at, Math.abs(steps)];
  for (let index = at + direction; left > 0 && index >= 0 && index < rows.length; index += direction) {
    if (rows[index] === void 0) continue;
    found = index;
    left--;
  }
  return found === null ? null : { at: found, series };
}
function endOfSeries(data, series, end) {
  const at = end === "first" ? -1 : data.seconds.length;
  return step(data, { at, series }, end === "first" ? 1 : -1);
}
function beside(data, { at }, series) {
  const rows = data.series[series]?.rows ?? [];
  for (let distance = 0; distance < data.seconds.length; distance++) {
    for (const index of [at - distance, at + distance]) if (rows[index] !== void 0) return { at: index, series };
  }
  return null;
}
function chartNumber(row) {
  const digits = digitsOf(row);
  if (digits !== null) return Number(digits);
  return row.retraction === "mistake" ? void 0 : null;
}
function isTakenBack(row) {
  return !isShowable({ retraction: row.retraction, supersededBy: null });
}
function indexOfSecond(seconds, second) {
  let [low, high] = [0, seconds.length - 1];
  while (low <= high) {
    const middle = low + high >> 1;
    const found = seconds[middle];
    if (found === second) return middle;
    if (found < second) low = middle + 1;
    else high = middle - 1;
  }
  return null;
}

// site/browser/market/time-range.ts
var DAY = 86400;
var RANGE_SECONDS = { "1M": 31 * DAY, "1Y": 366 * DAY };
var NARROWEST = 60;
var PADDING = 0.02;
function wholeRange(seconds) {
  const [first2 = 0, last = 0] = [seconds[0], seconds.at(-1)];
  const space = Math.max((last - first2) * PADDING, first2 === last ? DAY : 1);
  return { min: first2 - space, max: last + space };
}
function newestRange(seconds, name) {
  const whole = wholeRange(seconds);
  const last = seconds.at(-1) ?? whole.max;
  const length = RANGE_SECONDS[name];
  return { min: last - length, max: last + length * PADDING };
}
function zoomed(range, factor, at, whole) {
  const length = Math.max((range.max - range.min) * factor, NARROWEST);
  const part = (at - range.min) / (range.max - range.min);
  const min2 = at - length * part;
  return held({ min: min2, max: min2 + length }, whole);
}
function panned(range, seconds, whole) {
  return held({ min: range.min + seconds, max: range.max + seconds }, whole);
}
function rangeWith(range, second, whole) {
  const margin = (range.max - range.min) * 0.05;
  if (second < range.min + margin) return panned(range, second - margin - range.min, whole);
  if (second > range.max - margin) return panned(range, second + margin - range.max, whole);
  return range;
}
function held(range, whole) {
  const length = range.max - range.min;
  if (length >= whole.max - whole.min) return whole;
  if (range.min < whole.min) return { min: whole.min, max: whole.min + length };
  return range.max > whole.max ? { min: whole.max - length, max: whole.max } : range;
}
var MONTHS_OF_TICKS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
function timeTicks(seconds, step2) {
  let context = "";
  return seconds.map((second) => {
    const [text, around] = tickOf(new Date(second * 1e3), step2);
    const isNew = around !== context;
    context = around;
    return isNew && around !== "" ? `${text}
${around}` : text;
  });
}
function tickOf(date, step2) {
  const [day, month, year] = [date.getUTCDate(), MONTHS_OF_TICKS[date.getUTCMonth()] ?? "", date.getUTCFullYear()];
  if (step2 >= 365 * DAY) return [String(year), ""];
  if (step2 >= 28 * DAY) return [month, String(year)];
  if (step2 >= DAY) return [`${day} ${month}`, String(year)];
  const time = date.toISOString().slice("YYYY-MM-DDT".length, step2 < 60 ? -".000Z".length : -":00.000Z".length);
  return [time, `${day} ${month} ${year}`];
}
function valueTicks(values, step2) {
  const decimals = decimalsOf(step2);
  return values.map(
    (value) => value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
  );
}
function decimalsOf(step2) {
  for (let decimals = 0; decimals < 12; decimals++) {
    const shifted = step2 * 10 ** decimals;
    if (Math.abs(shifted - Math.round(shifted)) < 1e-6 * shifted) return decimals;
  }
  return 12;
}

// site/browser/market/chart-gestures.ts
var TAP_PIXELS = 5;
var WHEEL_ZOOM = 1.0015;
function listenToGestures(host, chart, onTap) {
  const pointers = /* @__PURE__ */ new Map();
  let moved = 0;
  const secondAt = (clientX) => chart.plot?.posToVal(clientX - boxOf().left, "x") ?? 0;
  const boxOf = () => (chart.plot?.over ?? host).getBoundingClientRect();
  const secondsOf = (pixels) => pixels / boxOf().width * (chart.range.max - chart.range.min);
  host.addEventListener(
    "wheel",
    (event) => {
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!isSideways && !event.ctrlKey && !event.metaKey && !host.contains(document.activeElement)) return;
      event.preventDefault();
      if (isSideways) chart.setRange(panned(chart.range, secondsOf(event.deltaX), chart.whole));
      else {
        const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 20 : event.deltaY;
        const factor = WHEEL_ZOOM ** (event.ctrlKey ? pixels * 6 : pixels);
        chart.setRange(zoomed(chart.range, factor, secondAt(event.clientX), chart.whole));
      }
    },
    { passive: false }
  );
  host.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.target.closest(".u-over")) return;
    if (pointers.size === 0) moved = 0;
    pointers.set(event.pointerId, event);
    host.setPointerCapture(event.pointerId);
  });
  host.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === void 0) return;
    const [other] = [...pointers.values()].filter(({ pointerId }) => pointerId !== event.pointerId);
    const pixels = event.clientX - before.clientX;
    moved += Math.abs(pixels) + Math.abs(event.clientY - before.clientY);
    if (other !== void 0) {
      const [was, is] = [before, event].map(({ clientX }) => Math.max(20, Math.abs(clientX - other.clientX)));
      chart.setRange(zoomed(chart.range, was / is, secondAt(other.clientX), chart.whole));
    } else if (moved >= TAP_PIXELS) {
      chart.setRange(panned(chart.range, -secondsOf(pixels), chart.whole));
    }
    pointers.set(event.pointerId, event);
  });
  const end = (event) => {
    if (!pointers.delete(event.pointerId) || event.type === "pointercancel") return;
    const { left, top } = boxOf();
    if (moved < TAP_PIXELS && pointers.size === 0) onTap(event.clientX - left, event.clientY - top);
  };
  host.addEventListener("pointerup", end);
  host.addEventListener("pointercancel", end);
  host.addEventListener("dblclick", () => chart.setRange(null));
}

// site/browser/market/chart-colours.ts
var SERIES_DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
function chartColours(host) {
  const probe = document.createElement("span");
  host.append(probe);
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const series = [1, 2, 3, 4].map((number) => colour(`series-${number}`));
  const colours = {
    ...{ ink: colour("ink"), soft: colour("ink-soft"), rule: colour("rule"), surface: colour("surface") },
    ...{ accent: colour("accent"), notice: colour("notice"), alarm: colour("alarm"), series }
  };
  probe.remove();
  return colours;
}
function lookOfSeries(index) {
  return { colour: index % 4, dash: (index + Math.floor(index / 4)) % 4 };
}

// site/browser/market/chart-marks.ts
var FLOOR = 10;
var POINT_SPACE = 12;
var LABEL_HEIGHT = 17;
function pointOf(plot, row) {
  const digits = digitsOf(row);
  const x = plot.valToPos(Date.parse(row.observedAt) / 1e3, "x", true);
  const floor2 = plot.bbox.top + plot.bbox.height - FLOOR * devicePixelRatio;
  return { x, y: digits === null ? floor2 : plot.valToPos(Number(digits), "y", true) };
}
function drawMarks(plot, { data, colours, hidden, chosen, isDisputed }) {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.5 * scale;
  const [from, to] = plot.series[0]?.idxs ?? [0, -1];
  const arePointsDrawn = (to - from + 1) * POINT_SPACE * scale < bbox.width;
  for (const [index, { name, rows, values }] of data.series.entries()) {
    if (hidden.has(name)) continue;
    const colour = colours.series[lookOfSeries(index).colour];
    for (let at = from; at <= to; at++) {
      const row = rows[at];
      if (row === void 0) continue;
      const mark = markOf(row);
      const isLone = values[at] != null && isGap(values, at, -1) && isGap(values, at, 1);
      if (mark === null && !isLone && !arePointsDrawn) continue;
      const { x, y } = pointOf(plot, row);
      if (mark === null) dot(ctx, x, y, 2.5 * scale, colour);
      else drawMark(ctx, mark, { x, y, size: 5 * scale, ground: colours.surface, colours });
    }
    drawLast(plot, { data, colours, index, colour, isDisputed });
  }
  if (chosen !== null) drawChosen(plot, chosen, colours);
  ctx.restore();
  drawLabels(plot, { data, colours, hidden });
}
function drawLabels(plot, { data, colours, hidden }) {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const height = LABEL_HEIGHT * scale;
  const labels = data.series.flatMap(({ name }, index) => {
    const row = hidden.has(name) ? null : lastRow(data, index);
    const digits = row === null ? null : digitsOf(row);
    return row === null || digits === null ? [] : [{ digits: groupedDigits(digits), index, y: pointOf(plot, row).y }];
  });
  ctx.save();
  ctx.font = `600 ${11 * scale}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  let free = bbox.top;
  for (const { digits, index, y } of labels.sort((one, other) => one.y - other.y)) {
    if (y < bbox.top || y > bbox.top + bbox.height) continue;
    const top = Math.max(free, y - height / 2);
    free = top + height + scale;
    const left = bbox.left + bbox.width + 3 * scale;
    ctx.fillStyle = colours.series[lookOfSeries(index).colour];
    ctx.fillRect(left, top, ctx.measureText(digits).width + 8 * scale, height);
    ctx.fillStyle = colours.surface;
    ctx.fillText(digits, left + 4 * scale, top + height / 2);
  }
  ctx.restore();
}
function labelMargin(data) {
  const digits = data.series.map((_2, index) => {
    const row = lastRow(data, index);
    return row === null ? 0 : groupedDigits(digitsOf(row) ?? "").length;
  });
  return 14 + 7 * Math.max(0, ...digits);
}
function lastRow(data, series) {
  const place = endOfSeries(data, series, "last");
  return (place === null ? void 0 : rowAt(data, place)) ?? null;
}
function drawMark(ctx, mark, look) {
  const { x, y, size, ground, colours } = look;
  ctx.setLineDash([]);
  ctx.beginPath();
  if (mark === "retracted") {
    ctx.strokeStyle = colours.alarm;
    ctx.moveTo(x - size * 0.8, y - size * 0.8);
    ctx.lineTo(x + size * 0.8, y + size * 0.8);
    ctx.moveTo(x + size * 0.8, y - size * 0.8);
    ctx.lineTo(x - size * 0.8, y + size * 0.8);
  } else if (mark === "unknown") {
    ctx.strokeStyle = colours.notice;
    ctx.fillStyle = ground;
    ctx.arc(x, y, size * 0.8, 0, 2 * Math.PI);
    ctx.fill();
  } else if (mark === "disputed") {
    ctx.strokeStyle = colours.alarm;
    ctx.fillStyle = ground;
    ctx.moveTo(x, y - size);
    ctx.lineTo(x + size, y + size * 0.8);
    ctx.lineTo(x - size, y + size * 0.8);
    ctx.closePath();
    ctx.fill();
    ctx.moveTo(x, y - size * 0.35);
    ctx.lineTo(x, y + size * 0.45);
  } else {
    ctx.strokeStyle = colours.ink;
    ctx.fillStyle = ground;
    ctx.moveTo(x, y - size * 1.2);
    ctx.lineTo(x + size * 1.2, y);
    ctx.lineTo(x, y + size * 1.2);
    ctx.lineTo(x - size * 1.2, y);
    ctx.closePath();
    ctx.fill();
  }
  ctx.stroke();
}
function drawLast(plot, { data, colours, index, colour, isDisputed }) {
  const row = lastRow(data, index);
  if (row === null) return;
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const { x, y } = pointOf(plot, row);
  if (digitsOf(row) !== null) {
    ctx.save();
    ctx.globalAlpha = 0.55;
    ctx.lineWidth = scale;
    ctx.strokeStyle = colour;
    ctx.setLineDash([scale, 3 * scale]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, Math.round(y) + 0.5);
    ctx.lineTo(bbox.left + bbox.width, Math.round(y) + 0.5);
    ctx.stroke();
    ctx.restore();
    dot(ctx, x, y, 3.5 * scale, colour);
  }
  if (!isDisputed) return;
  const above = digitsOf(row) === null ? 0 : 12 * scale;
  drawMark(ctx, "disputed", { x, y: y - above, size: 6 * scale, ground: colours.surface, colours });
}
function drawChosen(plot, chosen, colours) {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const { x, y } = pointOf(plot, chosen);
  ctx.strokeStyle = colours.ink;
  ctx.lineWidth = scale;
  ctx.setLineDash([4 * scale, 3 * scale]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.lineWidth = 2 * scale;
  ctx.beginPath();
  ctx.arc(x, y, 7 * scale, 0, 2 * Math.PI);
  ctx.stroke();
}
function dot(ctx, x, y, radius, colour) {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fill();
}
function isGap(values, from, direction) {
  for (let at = from + direction; at >= 0 && at < values.length; at += direction) {
    if (values[at] !== void 0) return values[at] === null;
  }
  return true;
}

// site/browser/market/chart-legend.ts
var SVG = "http://www.w3.org/2000/svg";
function legendOf(names, hidden, onToggle) {
  return names.map((name, index) => {
    const made = button("", () => onToggle(name), {
      class: "legend-switch",
      "aria-pressed": String(!hidden.has(name))
    });
    made.append(sampleOfLine(index), element("span", {}, name));
    return made;
  });
}
function sampleOfLine(index) {
  const { colour, dash } = lookOfSeries(index);
  const svg = svgElement("svg", { viewBox: "0 0 28 8", class: "legend-line", "aria-hidden": "true" });
  const dashes = SERIES_DASHES[dash].join(" ");
  const line = svgElement("path", { d: "M0 4h28", "stroke-dasharray": dashes === "" ? "none" : dashes });
  line.style.stroke = `var(--series-${colour + 1})`;
  svg.append(line);
  return svg;
}
var KEY = [
  ["corrected", "corrected"],
  ["retracted", "retracted"],
  ["unknown", "unknown: a gap"],
  ["disputed", "disputed"]
];
function marksKey() {
  const list = element("ul", { class: "chart-key small soft", "aria-label": "Marks" });
  for (const [mark, words] of KEY) {
    const canvas = element("canvas", { width: "32", height: "32", class: "chart-key-mark", "aria-hidden": "true" });
    const draw = () => {
      const ctx = canvas.getContext("2d");
      const colours = chartColours(list);
      ctx.clearRect(0, 0, 32, 32);
      ctx.lineWidth = 3;
      drawMark(ctx, mark, { x: 16, y: 16, size: 10, ground: colours.surface, colours });
    };
    new ResizeObserver(draw).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    list.append(element("li", {}, canvas, words));
  }
  return list;
}
function svgElement(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

// node_modules/uplot/dist/uPlot.esm.js
var FEAT_TIME = true;
var pre = "u-";
var UPLOT = "uplot";
var ORI_HZ = pre + "hz";
var ORI_VT = pre + "vt";
var TITLE = pre + "title";
var WRAP = pre + "wrap";
var UNDER = pre + "under";
var OVER = pre + "over";
var AXIS = pre + "axis";
var OFF = pre + "off";
var SELECT = pre + "select";
var CURSOR_X = pre + "cursor-x";
var CURSOR_Y = pre + "cursor-y";
var CURSOR_PT = pre + "cursor-pt";
var LEGEND = pre + "legend";
var LEGEND_LIVE = pre + "live";
var LEGEND_INLINE = pre + "inline";
var LEGEND_SERIES = pre + "series";
var LEGEND_MARKER = pre + "marker";
var LEGEND_LABEL = pre + "label";
var LEGEND_VALUE = pre + "value";
var WIDTH = "width";
var HEIGHT = "height";
var TOP = "top";
var BOTTOM = "bottom";
var LEFT = "left";
var RIGHT = "right";
var hexBlack = "#000";
var transparent = hexBlack + "0";
var mousemove = "mousemove";
var mousedown = "mousedown";
var mouseup = "mouseup";
var mouseenter = "mouseenter";
var mouseleave = "mouseleave";
var dblclick = "dblclick";
var resize = "resize";
var scroll = "scroll";
var change = "change";
var dppxchange = "dppxchange";
var LEGEND_DISP = "--";
var domEnv = typeof window != "undefined";
var doc = domEnv ? document : null;
var win = domEnv ? window : null;
var nav = domEnv ? navigator : null;
var pxRatio;
var query;
function setPxRatio() {
  let _pxRatio = devicePixelRatio;
  if (pxRatio != _pxRatio) {
    pxRatio = _pxRatio;
    query && off(change, query, setPxRatio);
    query = matchMedia(`(min-resolution: ${pxRatio - 1e-3}dppx) and (max-resolution: ${pxRatio + 1e-3}dppx)`);
    on(change, query, setPxRatio);
    win.dispatchEvent(new CustomEvent(dppxchange));
  }
}
function addClass(el, c) {
  if (c != null) {
    let cl = el.classList;
    !cl.contains(c) && cl.add(c);
  }
}
function remClass(el, c) {
  let cl = el.classList;
  cl.contains(c) && cl.remove(c);
}
function setStylePx(el, name, value) {
  el.style[name] = value + "px";
}
function placeTag(tag, cls, targ, refEl) {
  let el = doc.createElement(tag);
  if (cls != null)
    addClass(el, cls);
  if (targ != null)
    targ.insertBefore(el, refEl);
  return el;
}
function placeDiv(cls, targ) {
  return placeTag("div", cls, targ);
}
var xformCache = /* @__PURE__ */ new WeakMap();
function elTrans(el, xPos, yPos, xMax, yMax) {
  let xform = "translate(" + xPos + "px," + yPos + "px)";
  let xformOld = xformCache.get(el);
  if (xform != xformOld) {
    el.style.transform = xform;
    xformCache.set(el, xform);
    if (xPos < 0 || yPos < 0 || xPos > xMax || yPos > yMax)
      addClass(el, OFF);
    else
      remClass(el, OFF);
  }
}
var colorCache = /* @__PURE__ */ new WeakMap();
function elColor(el, background, borderColor) {
  let newColor = background + borderColor;
  let oldColor = colorCache.get(el);
  if (newColor != oldColor) {
    colorCache.set(el, newColor);
    el.style.background = background;
    el.style.borderColor = borderColor;
  }
}
var sizeCache = /* @__PURE__ */ new WeakMap();
function elSize(el, newWid, newHgt, centered) {
  let newSize = newWid + "" + newHgt;
  let oldSize = sizeCache.get(el);
  if (newSize != oldSize) {
    sizeCache.set(el, newSize);
    el.style.height = newHgt + "px";
    el.style.width = newWid + "px";
    el.style.marginLeft = centered ? -newWid / 2 + "px" : 0;
    el.style.marginTop = centered ? -newHgt / 2 + "px" : 0;
  }
}
var evOpts = { passive: true };
var evOpts2 = { ...evOpts, capture: true };
function on(ev, el, cb, capt) {
  el.addEventListener(ev, cb, capt ? evOpts2 : evOpts);
}
function off(ev, el, cb, capt) {
  el.removeEventListener(ev, cb, evOpts);
}
domEnv && setPxRatio();
function closestIdx(num, arr, lo, hi) {
  let mid;
  lo = lo || 0;
  hi = hi || arr.length - 1;
  let bitwise = hi <= 2147483647;
  while (hi - lo > 1) {
    mid = bitwise ? lo + hi >> 1 : floor((lo + hi) / 2);
    if (arr[mid] < num)
      lo = mid;
    else
      hi = mid;
  }
  if (num - arr[lo] <= arr[hi] - num)
    return lo;
  return hi;
}
function makeIndexOfs(predicate) {
  let indexOfs = (data, _i0, _i1) => {
    let i0 = -1;
    let i1 = -1;
    for (let i = _i0; i <= _i1; i++) {
      if (predicate(data[i])) {
        i0 = i;
        break;
      }
    }
    for (let i = _i1; i >= _i0; i--) {
      if (predicate(data[i])) {
        i1 = i;
        break;
      }
    }
    return [i0, i1];
  };
  return indexOfs;
}
var notNullish = (v) => v != null;
var isPositive = (v) => v != null && v > 0;
var nonNullIdxs = makeIndexOfs(notNullish);
var positiveIdxs = makeIndexOfs(isPositive);
function getMinMax(data, _i0, _i1, sorted = 0, log = false) {
  let getEdgeIdxs = log ? positiveIdxs : nonNullIdxs;
  let predicate = log ? isPositive : notNullish;
  [_i0, _i1] = getEdgeIdxs(data, _i0, _i1);
  let _min = data[_i0];
  let _max = data[_i0];
  if (_i0 > -1) {
    if (sorted == 1) {
      _min = data[_i0];
      _max = data[_i1];
    } else if (sorted == -1) {
      _min = data[_i1];
      _max = data[_i0];
    } else {
      for (let i = _i0; i <= _i1; i++) {
        let v = data[i];
        if (predicate(v)) {
          if (v < _min)
            _min = v;
          else if (v > _max)
            _max = v;
        }
      }
    }
  }
  return [_min ?? inf, _max ?? -inf];
}
function rangeLog(min2, max2, base, fullMags) {
  let minSign = sign(min2);
  let maxSign = sign(max2);
  if (min2 == max2) {
    if (minSign == -1) {
      min2 *= base;
      max2 /= base;
    } else {
      min2 /= base;
      max2 *= base;
    }
  }
  let logFn = base == 10 ? log10 : log2;
  let growMinAbs = minSign == 1 ? floor : ceil;
  let growMaxAbs = maxSign == 1 ? ceil : floor;
  let minExp = growMinAbs(logFn(abs(min2)));
  let maxExp = growMaxAbs(logFn(abs(max2)));
  let minIncr = pow(base, minExp);
  let maxIncr = pow(base, maxExp);
  if (base == 10) {
    if (minExp < 0)
      minIncr = roundDec(minIncr, -minExp);
    if (maxExp < 0)
      maxIncr = roundDec(maxIncr, -maxExp);
  }
  if (fullMags || base == 2) {
    min2 = minIncr * minSign;
    max2 = maxIncr * maxSign;
  } else {
    min2 = incrRoundDn(min2, minIncr);
    max2 = incrRoundUp(max2, maxIncr);
  }
  return [min2, max2];
}
function rangeAsinh(min2, max2, base, fullMags) {
  let minMax = rangeLog(min2, max2, base, fullMags);
  if (min2 == 0)
    minMax[0] = 0;
  if (max2 == 0)
    minMax[1] = 0;
  return minMax;
}
var rangePad = 0.1;
var autoRangePart = {
  mode: 3,
  pad: rangePad
};
var _eqRangePart = {
  pad: 0,
  soft: null,
  mode: 0
};
var _eqRange = {
  min: _eqRangePart,
  max: _eqRangePart
};
function rangeNum(_min, _max, mult, extra) {
  if (isObj(mult))
    return _rangeNum(_min, _max, mult);
  _eqRangePart.pad = mult;
  _eqRangePart.soft = extra ? 0 : null;
  _eqRangePart.mode = extra ? 3 : 0;
  return _rangeNum(_min, _max, _eqRange);
}
function ifNull(lh, rh) {
  return lh == null ? rh : lh;
}
function hasData(data, idx0, idx1) {
  idx0 = ifNull(idx0, 0);
  idx1 = ifNull(idx1, data.length - 1);
  while (idx0 <= idx1) {
    if (data[idx0] != null)
      return true;
    idx0++;
  }
  return false;
}
function _rangeNum(_min, _max, cfg) {
  let cmin = cfg.min;
  let cmax = cfg.max;
  let padMin = ifNull(cmin.pad, 0);
  let padMax = ifNull(cmax.pad, 0);
  let hardMin = ifNull(cmin.hard, -inf);
  let hardMax = ifNull(cmax.hard, inf);
  let softMin = ifNull(cmin.soft, inf);
  let softMax = ifNull(cmax.soft, -inf);
  let softMinMode = ifNull(cmin.mode, 0);
  let softMaxMode = ifNull(cmax.mode, 0);
  let delta = _max - _min;
  let deltaMag = log10(delta);
  let scalarMax = max(abs(_min), abs(_max));
  let scalarMag = log10(scalarMax);
  let scalarMagDelta = abs(scalarMag - deltaMag);
  if (delta < 1e-24 || scalarMagDelta > 10) {
    delta = 0;
    if (_min == 0 || _max == 0) {
      delta = 1e-24;
      if (softMinMode == 2 && softMin != inf)
        padMin = 0;
      if (softMaxMode == 2 && softMax != -inf)
        padMax = 0;
    }
  }
  let nonZeroDelta = delta || scalarMax || 1e3;
  let mag = log10(nonZeroDelta);
  let base = pow(10, floor(mag));
  let _padMin = nonZeroDelta * (delta == 0 ? _min == 0 ? 0.1 : 1 : padMin);
  let _newMin = roundDec(incrRoundDn(_min - _padMin, base / 10), 24);
  let _softMin = _min >= softMin && (softMinMode == 1 || softMinMode == 3 && _newMin <= softMin || softMinMode == 2 && _newMin >= softMin) ? softMin : inf;
  let minLim = max(hardMin, _newMin < _softMin && _min >= _softMin ? _softMin : min(_softMin, _newMin));
  let _padMax = nonZeroDelta * (delta == 0 ? _max == 0 ? 0.1 : 1 : padMax);
  let _newMax = roundDec(incrRoundUp(_max + _padMax, base / 10), 24);
  let _softMax = _max <= softMax && (softMaxMode == 1 || softMaxMode == 3 && _newMax >= softMax || softMaxMode == 2 && _newMax <= softMax) ? softMax : -inf;
  let maxLim = min(hardMax, _newMax > _softMax && _max <= _softMax ? _softMax : max(_softMax, _newMax));
  if (minLim == maxLim && minLim == 0)
    maxLim = 100;
  return [minLim, maxLim];
}
var numFormatter = new Intl.NumberFormat(domEnv ? nav.language : "en-US");
var fmtNum = (val) => numFormatter.format(val);
var M = Math;
var PI = M.PI;
var abs = M.abs;
var floor = M.floor;
var round = M.round;
var ceil = M.ceil;
var min = M.min;
var max = M.max;
var pow = M.pow;
var sign = M.sign;
var log10 = M.log10;
var log2 = M.log2;
var sinh = (v, linthresh = 1) => M.sinh(v) * linthresh;
var asinh = (v, linthresh = 1) => M.asinh(v / linthresh);
var inf = Infinity;
function numIntDigits(x) {
  return (log10((x ^ x >> 31) - (x >> 31)) | 0) + 1;
}
function clamp(num, _min, _max) {
  return min(max(num, _min), _max);
}
function isFn(v) {
  return typeof v == "function";
}
function fnOrSelf(v) {
  return isFn(v) ? v : () => v;
}
var noop = () => {
};
var retArg0 = (_0) => _0;
var retArg1 = (_0, _1) => _1;
var retNull = (_2) => null;
var retTrue = (_2) => true;
var retEq = (a, b) => a == b;
var regex6 = /\.\d*?(?=9{6,}|0{6,})/gm;
var fixFloat = (val) => {
  if (isInt(val) || fixedDec.has(val))
    return val;
  const str = `${val}`;
  const match = str.match(regex6);
  if (match == null)
    return val;
  let len = match[0].length - 1;
  if (str.indexOf("e-") != -1) {
    let [num, exp] = str.split("e");
    return +`${fixFloat(num)}e${exp}`;
  }
  return roundDec(val, len);
};
function incrRound(num, incr) {
  return fixFloat(roundDec(fixFloat(num / incr)) * incr);
}
function incrRoundUp(num, incr) {
  return fixFloat(ceil(fixFloat(num / incr)) * incr);
}
function incrRoundDn(num, incr) {
  return fixFloat(floor(fixFloat(num / incr)) * incr);
}
function roundDec(val, dec = 0) {
  if (isInt(val))
    return val;
  let p = 10 ** dec;
  let n = val * p * (1 + Number.EPSILON);
  return round(n) / p;
}
var fixedDec = /* @__PURE__ */ new Map();
function guessDec(num) {
  return (("" + num).split(".")[1] || "").length;
}
function genIncrs(base, minExp, maxExp, mults) {
  let incrs = [];
  let multDec = mults.map(guessDec);
  for (let exp = minExp; exp < maxExp; exp++) {
    let expa = abs(exp);
    let mag = roundDec(pow(base, exp), expa);
    for (let i = 0; i < mults.length; i++) {
      let _incr = base == 10 ? +`${mults[i]}e${exp}` : mults[i] * mag;
      let dec = (exp >= 0 ? 0 : expa) + (exp >= multDec[i] ? 0 : multDec[i]);
      let incr = base == 10 ? _incr : roundDec(_incr, dec);
      incrs.push(incr);
      fixedDec.set(incr, dec);
    }
  }
  return incrs;
}
var EMPTY_OBJ = {};
var EMPTY_ARR = [];
var nullNullTuple = [null, null];
var isArr = Array.isArray;
var isInt = Number.isInteger;
var isUndef = (v) => v === void 0;
function isStr(v) {
  return typeof v == "string";
}
function isObj(v) {
  let is = false;
  if (v != null) {
    let c = v.constructor;
    is = c == null || c == Object;
  }
  return is;
}
function fastIsObj(v) {
  return v != null && typeof v == "object";
}
var TypedArray = Object.getPrototypeOf(Uint8Array);
var __proto__ = "__proto__";
function copy(o, _isObj = isObj) {
  let out;
  if (isArr(o)) {
    let val = o.find((v) => v != null);
    if (isArr(val) || _isObj(val)) {
      out = Array(o.length);
      for (let i = 0; i < o.length; i++)
        out[i] = copy(o[i], _isObj);
    } else
      out = o.slice();
  } else if (o instanceof TypedArray)
    out = o.slice();
  else if (_isObj(o)) {
    out = {};
    for (let k in o) {
      if (k != __proto__)
        out[k] = copy(o[k], _isObj);
    }
  } else
    out = o;
  return out;
}
function assign(targ) {
  let args = arguments;
  for (let i = 1; i < args.length; i++) {
    let src = args[i];
    for (let key in src) {
      if (key != __proto__) {
        if (isObj(targ[key]))
          assign(targ[key], copy(src[key]));
        else
          targ[key] = copy(src[key]);
      }
    }
  }
  return targ;
}
var NULL_REMOVE = 0;
var NULL_RETAIN = 1;
var NULL_EXPAND = 2;
function nullExpand(yVals, nullIdxs, alignedLen) {
  for (let i = 0, xi, lastNullIdx = -1; i < nullIdxs.length; i++) {
    let nullIdx = nullIdxs[i];
    if (nullIdx > lastNullIdx) {
      xi = nullIdx - 1;
      while (xi >= 0 && yVals[xi] == null)
        yVals[xi--] = null;
      xi = nullIdx + 1;
      while (xi < alignedLen && yVals[xi] == null)
        yVals[lastNullIdx = xi++] = null;
    }
  }
}
function join(tables, nullModes) {
  if (allHeadersSame(tables)) {
    let table = tables[0].slice();
    for (let i = 1; i < tables.length; i++)
      table.push(...tables[i].slice(1));
    if (!isAsc(table[0]))
      table = sortCols(table);
    return table;
  }
  let xVals = /* @__PURE__ */ new Set();
  for (let ti = 0; ti < tables.length; ti++) {
    let t = tables[ti];
    let xs = t[0];
    let len = xs.length;
    for (let i = 0; i < len; i++)
      xVals.add(xs[i]);
  }
  let data = [Array.from(xVals).sort((a, b) => a - b)];
  let alignedLen = data[0].length;
  let xIdxs = /* @__PURE__ */ new Map();
  for (let i = 0; i < alignedLen; i++)
    xIdxs.set(data[0][i], i);
  for (let ti = 0; ti < tables.length; ti++) {
    let t = tables[ti];
    let xs = t[0];
    for (let si = 1; si < t.length; si++) {
      let ys = t[si];
      let yVals = Array(alignedLen).fill(void 0);
      let nullMode = nullModes ? nullModes[ti][si] : NULL_RETAIN;
      let nullIdxs = [];
      for (let i = 0; i < ys.length; i++) {
        let yVal = ys[i];
        let alignedIdx = xIdxs.get(xs[i]);
        if (yVal === null) {
          if (nullMode != NULL_REMOVE) {
            yVals[alignedIdx] = yVal;
            if (nullMode == NULL_EXPAND)
              nullIdxs.push(alignedIdx);
          }
        } else
          yVals[alignedIdx] = yVal;
      }
      nullExpand(yVals, nullIdxs, alignedLen);
      data.push(yVals);
    }
  }
  return data;
}
var microTask = typeof queueMicrotask == "undefined" ? (fn) => Promise.resolve().then(fn) : queueMicrotask;
function sortCols(table) {
  let head = table[0];
  let rlen = head.length;
  let idxs = Array(rlen);
  for (let i = 0; i < idxs.length; i++)
    idxs[i] = i;
  idxs.sort((i0, i1) => head[i0] - head[i1]);
  let table2 = [];
  for (let i = 0; i < table.length; i++) {
    let row = table[i];
    let row2 = Array(rlen);
    for (let j = 0; j < rlen; j++)
      row2[j] = row[idxs[j]];
    table2.push(row2);
  }
  return table2;
}
function allHeadersSame(tables) {
  let vals0 = tables[0][0];
  let len0 = vals0.length;
  for (let i = 1; i < tables.length; i++) {
    let vals1 = tables[i][0];
    if (vals1.length != len0)
      return false;
    if (vals1 != vals0) {
      for (let j = 0; j < len0; j++) {
        if (vals1[j] != vals0[j])
          return false;
      }
    }
  }
  return true;
}
function isAsc(vals, samples = 100) {
  const len = vals.length;
  if (len <= 1)
    return true;
  let firstIdx = 0;
  let lastIdx = len - 1;
  while (firstIdx <= lastIdx && vals[firstIdx] == null)
    firstIdx++;
  while (lastIdx >= firstIdx && vals[lastIdx] == null)
    lastIdx--;
  if (lastIdx <= firstIdx)
    return true;
  const stride = max(1, floor((lastIdx - firstIdx + 1) / samples));
  for (let prevVal = vals[firstIdx], i = firstIdx + stride; i <= lastIdx; i += stride) {
    const v = vals[i];
    if (v != null) {
      if (v <= prevVal)
        return false;
      prevVal = v;
    }
  }
  return true;
}
var months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December"
];
var days = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday"
];
function slice3(str) {
  return str.slice(0, 3);
}
var days3 = days.map(slice3);
var months3 = months.map(slice3);
var engNames = {
  MMMM: months,
  MMM: months3,
  WWWW: days,
  WWW: days3
};
function zeroPad2(int) {
  return (int < 10 ? "0" : "") + int;
}
function zeroPad3(int) {
  return (int < 10 ? "00" : int < 100 ? "0" : "") + int;
}
var subs = {
  // 2019
  YYYY: (d) => d.getFullYear(),
  // 19
  YY: (d) => (d.getFullYear() + "").slice(2),
  // July
  MMMM: (d, names) => names.MMMM[d.getMonth()],
  // Jul
  MMM: (d, names) => names.MMM[d.getMonth()],
  // 07
  MM: (d) => zeroPad2(d.getMonth() + 1),
  // 7
  M: (d) => d.getMonth() + 1,
  // 09
  DD: (d) => zeroPad2(d.getDate()),
  // 9
  D: (d) => d.getDate(),
  // Monday
  WWWW: (d, names) => names.WWWW[d.getDay()],
  // Mon
  WWW: (d, names) => names.WWW[d.getDay()],
  // 03
  HH: (d) => zeroPad2(d.getHours()),
  // 3
  H: (d) => d.getHours(),
  // 9 (12hr, unpadded)
  h: (d) => {
    let h = d.getHours();
    return h == 0 ? 12 : h > 12 ? h - 12 : h;
  },
  // AM
  AA: (d) => d.getHours() >= 12 ? "PM" : "AM",
  // am
  aa: (d) => d.getHours() >= 12 ? "pm" : "am",
  // a
  a: (d) => d.getHours() >= 12 ? "p" : "a",
  // 09
  mm: (d) => zeroPad2(d.getMinutes()),
  // 9
  m: (d) => d.getMinutes(),
  // 09
  ss: (d) => zeroPad2(d.getSeconds()),
  // 9
  s: (d) => d.getSeconds(),
  // 374
  fff: (d) => zeroPad3(d.getMilliseconds())
};
function fmtDate(tpl, names) {
  names = names || engNames;
  let parts = [];
  let R = /\{([a-z]+)\}|[^{]+/gi, m;
  while (m = R.exec(tpl))
    parts.push(m[0][0] == "{" ? subs[m[1]] : m[0]);
  return (d) => {
    let out = "";
    for (let i = 0; i < parts.length; i++)
      out += typeof parts[i] == "string" ? parts[i] : parts[i](d, names);
    return out;
  };
}
var localTz = new Intl.DateTimeFormat().resolvedOptions().timeZone;
function tzDate(date, tz) {
  let date2;
  if (tz == "UTC" || tz == "Etc/UTC")
    date2 = new Date(+date + date.getTimezoneOffset() * 6e4);
  else if (tz == localTz)
    date2 = date;
  else {
    date2 = new Date(date.toLocaleString("en-US", { timeZone: tz }));
    date2.setMilliseconds(date.getMilliseconds());
  }
  return date2;
}
var onlyWhole = (v) => v % 1 == 0;
var allMults = [1, 2, 2.5, 5];
var decIncrs = genIncrs(10, -32, 0, allMults);
var oneIncrs = genIncrs(10, 0, 32, allMults);
var wholeIncrs = oneIncrs.filter(onlyWhole);
var numIncrs = decIncrs.concat(oneIncrs);
var NL = "\n";
var yyyy = "{YYYY}";
var NLyyyy = NL + yyyy;
var md = "{M}/{D}";
var NLmd = NL + md;
var NLmdyy = NLmd + "/{YY}";
var aa = "{aa}";
var hmm = "{h}:{mm}";
var hmmaa = hmm + aa;
var NLhmmaa = NL + hmmaa;
var ss = ":{ss}";
var _ = null;
function genTimeStuffs(ms) {
  let s = ms * 1e3, m = s * 60, h = m * 60, d = h * 24, mo = d * 30, y = d * 365;
  let subSecIncrs = ms == 1 ? genIncrs(10, 0, 3, allMults).filter(onlyWhole) : genIncrs(10, -3, 0, allMults);
  let timeIncrs = subSecIncrs.concat([
    // minute divisors (# of secs)
    s,
    s * 5,
    s * 10,
    s * 15,
    s * 30,
    // hour divisors (# of mins)
    m,
    m * 5,
    m * 10,
    m * 15,
    m * 30,
    // day divisors (# of hrs)
    h,
    h * 2,
    h * 3,
    h * 4,
    h * 6,
    h * 8,
    h * 12,
    // month divisors TODO: need more?
    d,
    d * 2,
    d * 3,
    d * 4,
    d * 5,
    d * 6,
    d * 7,
    d * 8,
    d * 9,
    d * 10,
    d * 15,
    // year divisors (# months, approx)
    mo,
    mo * 2,
    mo * 3,
    mo * 4,
    mo * 6,
    // century divisors
    y,
    y * 2,
    y * 5,
    y * 10,
    y * 25,
    y * 50,
    y * 100
  ]);
  const _timeAxisStamps = [
    //   tick incr    default          year                    month   day                   hour    min       sec   mode
    [y, yyyy, _, _, _, _, _, _, 1],
    [d * 28, "{MMM}", NLyyyy, _, _, _, _, _, 1],
    [d, md, NLyyyy, _, _, _, _, _, 1],
    [h, "{h}" + aa, NLmdyy, _, NLmd, _, _, _, 1],
    [m, hmmaa, NLmdyy, _, NLmd, _, _, _, 1],
    [s, ss, NLmdyy + " " + hmmaa, _, NLmd + " " + hmmaa, _, NLhmmaa, _, 1],
    [ms, ss + ".{fff}", NLmdyy + " " + hmmaa, _, NLmd + " " + hmmaa, _, NLhmmaa, _, 1]
  ];
  function timeAxisSplits(tzDate2) {
    return (self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace) => {
      let splits = [];
      let isYr = foundIncr >= y;
      let isMo = foundIncr >= mo && foundIncr < y;
      let minDate = tzDate2(scaleMin);
      let minDateTs = roundDec(minDate * ms, 3);
      let minMin = mkDate(minDate.getFullYear(), isYr ? 0 : minDate.getMonth(), isMo || isYr ? 1 : minDate.getDate());
      let minMinTs = roundDec(minMin * ms, 3);
      if (isMo || isYr) {
        let moIncr = isMo ? foundIncr / mo : 0;
        let yrIncr = isYr ? foundIncr / y : 0;
        let split = minDateTs == minMinTs ? minDateTs : roundDec(mkDate(minMin.getFullYear() + yrIncr, minMin.getMonth() + moIncr, 1) * ms, 3);
        let splitDate = new Date(round(split / ms));
        let baseYear = splitDate.getFullYear();
        let baseMonth = splitDate.getMonth();
        for (let i = 0; split <= scaleMax; i++) {
          let next = mkDate(baseYear + yrIncr * i, baseMonth + moIncr * i, 1);
          let offs = next - tzDate2(roundDec(next * ms, 3));
          split = roundDec((+next + offs) * ms, 3);
          if (split <= scaleMax)
            splits.push(split);
        }
      } else {
        let incr0 = foundIncr >= d ? d : foundIncr;
        let tzOffset = floor(scaleMin) - floor(minDateTs);
        let split = minMinTs + tzOffset + incrRoundUp(minDateTs - minMinTs, incr0);
        splits.push(split);
        let date0 = tzDate2(split);
        let prevHour = date0.getHours() + date0.getMinutes() / m + date0.getSeconds() / h;
        let incrHours = foundIncr / h;
        let minSpace = self.axes[axisIdx]._space;
        let pctSpace = foundSpace / minSpace;
        while (1) {
          split = roundDec(split + foundIncr, ms == 1 ? 0 : 3);
          if (split > scaleMax)
            break;
          if (incrHours > 1) {
            let expectedHour = floor(roundDec(prevHour + incrHours, 6)) % 24;
            let splitDate = tzDate2(split);
            let actualHour = splitDate.getHours();
            let dstShift = actualHour - expectedHour;
            if (dstShift > 1)
              dstShift = -1;
            split -= dstShift * h;
            prevHour = (prevHour + incrHours) % 24;
            let prevSplit = splits[splits.length - 1];
            let pctIncr = roundDec((split - prevSplit) / foundIncr, 3);
            if (pctIncr * pctSpace >= 0.7)
              splits.push(split);
          } else
            splits.push(split);
        }
      }
      return splits;
    };
  }
  return [
    timeIncrs,
    _timeAxisStamps,
    timeAxisSplits
  ];
}
var [timeIncrsMs, _timeAxisStampsMs, timeAxisSplitsMs] = genTimeStuffs(1);
var [timeIncrsS, _timeAxisStampsS, timeAxisSplitsS] = genTimeStuffs(1e-3);
genIncrs(2, -53, 53, [1]);
function timeAxisStamps(stampCfg, fmtDate2) {
  return stampCfg.map((s) => s.map(
    (v, i) => i == 0 || i == 8 || v == null ? v : fmtDate2(i == 1 || s[8] == 0 ? v : s[1] + v)
  ));
}
function timeAxisVals(tzDate2, stamps) {
  return (self, splits, axisIdx, foundSpace, foundIncr) => {
    let s = stamps.find((s2) => foundIncr >= s2[0]) || stamps[stamps.length - 1];
    let prevYear;
    let prevMnth;
    let prevDate;
    let prevHour;
    let prevMins;
    let prevSecs;
    return splits.map((split) => {
      let date = tzDate2(split);
      let newYear = date.getFullYear();
      let newMnth = date.getMonth();
      let newDate = date.getDate();
      let newHour = date.getHours();
      let newMins = date.getMinutes();
      let newSecs = date.getSeconds();
      let stamp = newYear != prevYear && s[2] || newMnth != prevMnth && s[3] || newDate != prevDate && s[4] || newHour != prevHour && s[5] || newMins != prevMins && s[6] || newSecs != prevSecs && s[7] || s[1];
      prevYear = newYear;
      prevMnth = newMnth;
      prevDate = newDate;
      prevHour = newHour;
      prevMins = newMins;
      prevSecs = newSecs;
      return stamp(date);
    });
  };
}
function timeAxisVal(tzDate2, dateTpl) {
  let stamp = fmtDate(dateTpl);
  return (self, splits, axisIdx, foundSpace, foundIncr) => splits.map((split) => stamp(tzDate2(split)));
}
function mkDate(y, m, d) {
  return new Date(y, m, d);
}
function timeSeriesStamp(stampCfg, fmtDate2) {
  return fmtDate2(stampCfg);
}
var _timeSeriesStamp = "{YYYY}-{MM}-{DD} {h}:{mm}{aa}";
function timeSeriesVal(tzDate2, stamp) {
  return (self, val, seriesIdx, dataIdx) => dataIdx == null ? LEGEND_DISP : stamp(tzDate2(val));
}
function legendStroke(self, seriesIdx) {
  let s = self.series[seriesIdx];
  return s.width ? s.stroke(self, seriesIdx) : s.points.width ? s.points.stroke(self, seriesIdx) : null;
}
function legendFill(self, seriesIdx) {
  return self.series[seriesIdx].fill(self, seriesIdx);
}
var legendOpts = {
  show: true,
  live: true,
  isolate: false,
  mount: noop,
  markers: {
    show: true,
    width: 2,
    stroke: legendStroke,
    fill: legendFill,
    dash: "solid"
  },
  idx: null,
  idxs: null,
  values: []
};
function cursorPointShow(self, si) {
  let o = self.cursor.points;
  let pt = placeDiv();
  let size = o.size(self, si);
  setStylePx(pt, WIDTH, size);
  setStylePx(pt, HEIGHT, size);
  let mar = size / -2;
  setStylePx(pt, "marginLeft", mar);
  setStylePx(pt, "marginTop", mar);
  let width = o.width(self, si, size);
  width && setStylePx(pt, "borderWidth", width);
  return pt;
}
function cursorPointFill(self, si) {
  let sp = self.series[si].points;
  return sp._fill || sp._stroke;
}
function cursorPointStroke(self, si) {
  let sp = self.series[si].points;
  return sp._stroke || sp._fill;
}
function cursorPointSize(self, si) {
  let sp = self.series[si].points;
  return sp.size;
}
var moveTuple = [0, 0];
function cursorMove(self, mouseLeft1, mouseTop1) {
  moveTuple[0] = mouseLeft1;
  moveTuple[1] = mouseTop1;
  return moveTuple;
}
function filtBtn0(self, targ, handle, onlyTarg = true) {
  return (e) => {
    e.button == 0 && (!onlyTarg || e.target == targ) && handle(e);
  };
}
function filtTarg(self, targ, handle, onlyTarg = true) {
  return (e) => {
    (!onlyTarg || e.target == targ) && handle(e);
  };
}
var cursorOpts = {
  show: true,
  x: true,
  y: true,
  lock: false,
  move: cursorMove,
  points: {
    one: false,
    show: cursorPointShow,
    size: cursorPointSize,
    width: 0,
    stroke: cursorPointStroke,
    fill: cursorPointFill
  },
  bind: {
    mousedown: filtBtn0,
    mouseup: filtBtn0,
    click: filtBtn0,
    // legend clicks, not .u-over clicks
    dblclick: filtBtn0,
    mousemove: filtTarg,
    mouseleave: filtTarg,
    mouseenter: filtTarg
  },
  drag: {
    setScale: true,
    x: true,
    y: false,
    dist: 0,
    uni: null,
    click: (self, e) => {
      e.stopPropagation();
      e.stopImmediatePropagation();
    },
    _x: false,
    _y: false
  },
  focus: {
    dist: (self, seriesIdx, dataIdx, valPos, curPos) => valPos - curPos,
    prox: -1,
    bias: 0
  },
  hover: {
    skip: [void 0],
    prox: null,
    bias: 0
  },
  left: -10,
  top: -10,
  idx: null,
  dataIdx: null,
  idxs: null,
  event: null
};
var axisLines = {
  show: true,
  stroke: "rgba(0,0,0,0.07)",
  width: 2
  //	dash: [],
};
var grid = assign({}, axisLines, {
  filter: retArg1
});
var ticks = assign({}, grid, {
  size: 10
});
var border = assign({}, axisLines, {
  show: false
});
var font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif, "Apple Color Emoji", "Segoe UI Emoji", "Segoe UI Symbol", "Noto Color Emoji"';
var labelFont = "bold " + font;
var lineGap = 1.5;
var xAxisOpts = {
  show: true,
  scale: "x",
  stroke: hexBlack,
  space: 50,
  gap: 5,
  alignTo: 1,
  size: 50,
  labelGap: 0,
  labelSize: 30,
  labelFont,
  side: 2,
  //	class: "x-vals",
  //	incrs: timeIncrs,
  //	values: timeVals,
  //	filter: retArg1,
  grid,
  ticks,
  border,
  font,
  lineGap,
  rotate: 0
};
var numSeriesLabel = "Value";
var timeSeriesLabel = "Time";
var xSeriesOpts = {
  show: true,
  scale: "x",
  auto: false,
  sorted: 1,
  //	label: "Time",
  //	value: v => stamp(new Date(v * 1e3)),
  // internal caches
  min: inf,
  max: -inf,
  idxs: []
};
function numAxisVals(self, splits, axisIdx, foundSpace, foundIncr) {
  return splits.map((v) => v == null ? "" : fmtNum(v));
}
function numAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
  let splits = [];
  let numDec = fixedDec.get(foundIncr) || 0;
  scaleMin = forceMin ? scaleMin : roundDec(incrRoundUp(scaleMin, foundIncr), numDec);
  for (let val = scaleMin; val <= scaleMax; val = roundDec(val + foundIncr, numDec))
    splits.push(Object.is(val, -0) ? 0 : val);
  return splits;
}
function logAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
  const splits = [];
  const logBase = self.scales[self.axes[axisIdx].scale].log;
  const logFn = logBase == 10 ? log10 : log2;
  const exp = floor(logFn(scaleMin));
  foundIncr = pow(logBase, exp);
  if (logBase == 10)
    foundIncr = numIncrs[closestIdx(foundIncr, numIncrs)];
  let split = scaleMin;
  let nextMagIncr = foundIncr * logBase;
  if (logBase == 10)
    nextMagIncr = numIncrs[closestIdx(nextMagIncr, numIncrs)];
  do {
    splits.push(split);
    split = split + foundIncr;
    if (logBase == 10 && !fixedDec.has(split))
      split = roundDec(split, fixedDec.get(foundIncr));
    if (split >= nextMagIncr) {
      foundIncr = split;
      nextMagIncr = foundIncr * logBase;
      if (logBase == 10)
        nextMagIncr = numIncrs[closestIdx(nextMagIncr, numIncrs)];
    }
  } while (split <= scaleMax);
  return splits;
}
function asinhAxisSplits(self, axisIdx, scaleMin, scaleMax, foundIncr, foundSpace, forceMin) {
  let sc = self.scales[self.axes[axisIdx].scale];
  let linthresh = sc.asinh;
  let posSplits = scaleMax > linthresh ? logAxisSplits(self, axisIdx, max(linthresh, scaleMin), scaleMax, foundIncr) : [linthresh];
  let zero = scaleMax >= 0 && scaleMin <= 0 ? [0] : [];
  let negSplits = scaleMin < -linthresh ? logAxisSplits(self, axisIdx, max(linthresh, -scaleMax), -scaleMin, foundIncr) : [linthresh];
  return negSplits.reverse().map((v) => -v).concat(zero, posSplits);
}
var RE_ALL = /./;
var RE_12357 = /[12357]/;
var RE_125 = /[125]/;
var RE_1 = /1/;
var _filt = (splits, distr, re, keepMod) => splits.map((v, i) => distr == 4 && v == 0 || i % keepMod == 0 && re.test(v.toExponential()[v < 0 ? 1 : 0]) ? v : null);
function log10AxisValsFilt(self, splits, axisIdx, foundSpace, foundIncr) {
  let axis = self.axes[axisIdx];
  let scaleKey = axis.scale;
  let sc = self.scales[scaleKey];
  let valToPos = self.valToPos;
  let minSpace = axis._space;
  let _10 = valToPos(10, scaleKey);
  let re = valToPos(9, scaleKey) - _10 >= minSpace ? RE_ALL : valToPos(7, scaleKey) - _10 >= minSpace ? RE_12357 : valToPos(5, scaleKey) - _10 >= minSpace ? RE_125 : RE_1;
  if (re == RE_1) {
    let magSpace = abs(valToPos(1, scaleKey) - _10);
    if (magSpace < minSpace)
      return _filt(splits.slice().reverse(), sc.distr, re, ceil(minSpace / magSpace)).reverse();
  }
  return _filt(splits, sc.distr, re, 1);
}
function log2AxisValsFilt(self, splits, axisIdx, foundSpace, foundIncr) {
  let axis = self.axes[axisIdx];
  let scaleKey = axis.scale;
  let minSpace = axis._space;
  let valToPos = self.valToPos;
  let magSpace = abs(valToPos(1, scaleKey) - valToPos(2, scaleKey));
  if (magSpace < minSpace)
    return _filt(splits.slice().reverse(), 3, RE_ALL, ceil(minSpace / magSpace)).reverse();
  return splits;
}
function numSeriesVal(self, val, seriesIdx, dataIdx) {
  return dataIdx == null ? LEGEND_DISP : val == null ? "" : fmtNum(val);
}
var yAxisOpts = {
  show: true,
  scale: "y",
  stroke: hexBlack,
  space: 30,
  gap: 5,
  alignTo: 1,
  size: 50,
  labelGap: 0,
  labelSize: 30,
  labelFont,
  side: 3,
  //	class: "y-vals",
  //	incrs: numIncrs,
  //	values: (vals, space) => vals,
  //	filter: retArg1,
  grid,
  ticks,
  border,
  font,
  lineGap,
  rotate: 0
};
function ptDia(width, mult) {
  let dia = 3 + (width || 1) * 2;
  return roundDec(dia * mult, 3);
}
function seriesPointsShow(self, si) {
  let { scale, idxs } = self.series[0];
  let xData = self._data[0];
  let p0 = self.valToPos(xData[idxs[0]], scale, true);
  let p1 = self.valToPos(xData[idxs[1]], scale, true);
  let dim = abs(p1 - p0);
  let s = self.series[si];
  let maxPts = dim / (s.points.space * pxRatio);
  return idxs[1] - idxs[0] <= maxPts;
}
var facet = {
  scale: null,
  auto: true,
  sorted: 0,
  // internal caches
  min: inf,
  max: -inf
};
var gaps = (self, seriesIdx, idx0, idx1, nullGaps) => nullGaps;
var xySeriesOpts = {
  show: true,
  auto: true,
  sorted: 0,
  gaps,
  alpha: 1,
  facets: [
    assign({}, facet, { scale: "x" }),
    assign({}, facet, { scale: "y" })
  ]
};
var ySeriesOpts = {
  scale: "y",
  auto: true,
  sorted: 0,
  show: true,
  spanGaps: false,
  gaps,
  alpha: 1,
  points: {
    show: seriesPointsShow,
    filter: null
    //  paths:
    //	stroke: "#000",
    //	fill: "#fff",
    //	width: 1,
    //	size: 10,
  },
  //	label: "Value",
  //	value: v => v,
  values: null,
  // internal caches
  min: inf,
  max: -inf,
  idxs: [],
  path: null,
  clip: null
};
function clampScale(self, val, scaleMin, scaleMax, scaleKey) {
  return scaleMin / 10;
}
var xScaleOpts = {
  time: FEAT_TIME,
  auto: true,
  distr: 1,
  log: 10,
  asinh: 1,
  min: null,
  max: null,
  dir: 1,
  ori: 0
};
var yScaleOpts = assign({}, xScaleOpts, {
  time: false,
  ori: 1
});
var syncs = {};
function _sync(key, opts) {
  let s = syncs[key];
  if (!s) {
    s = {
      key,
      plots: [],
      sub(plot) {
        s.plots.push(plot);
      },
      unsub(plot) {
        s.plots = s.plots.filter((c) => c != plot);
      },
      pub(type, self, x, y, w, h, i) {
        for (let j = 0; j < s.plots.length; j++)
          s.plots[j] != self && s.plots[j].pub(type, self, x, y, w, h, i);
      }
    };
    if (key != null)
      syncs[key] = s;
  }
  return s;
}
var BAND_CLIP_FILL = 1 << 0;
var BAND_CLIP_STROKE = 1 << 1;
function orient(u, seriesIdx, cb) {
  const mode = u.mode;
  const series = u.series[seriesIdx];
  const data = mode == 2 ? u._data[seriesIdx] : u._data;
  const scales = u.scales;
  const bbox = u.bbox;
  let dx = data[0], dy = mode == 2 ? data[1] : data[seriesIdx], sx = mode == 2 ? scales[series.facets[0].scale] : scales[u.series[0].scale], sy = mode == 2 ? scales[series.facets[1].scale] : scales[series.scale], l = bbox.left, t = bbox.top, w = bbox.width, h = bbox.height, H = u.valToPosH, V = u.valToPosV;
  return sx.ori == 0 ? cb(
    series,
    dx,
    dy,
    sx,
    sy,
    H,
    V,
    l,
    t,
    w,
    h,
    moveToH,
    lineToH,
    rectH,
    arcH,
    bezierCurveToH
  ) : cb(
    series,
    dx,
    dy,
    sx,
    sy,
    V,
    H,
    t,
    l,
    h,
    w,
    moveToV,
    lineToV,
    rectV,
    arcV,
    bezierCurveToV
  );
}
function bandFillClipDirs(self, seriesIdx) {
  let fillDir = 0;
  let clipDirs = 0;
  let bands = ifNull(self.bands, EMPTY_ARR);
  for (let i = 0; i < bands.length; i++) {
    let b = bands[i];
    if (b.series[0] == seriesIdx)
      fillDir = b.dir;
    else if (b.series[1] == seriesIdx) {
      if (b.dir == 1)
        clipDirs |= 1;
      else
        clipDirs |= 2;
    }
  }
  return [
    fillDir,
    clipDirs == 1 ? -1 : (
      // neg only
      clipDirs == 2 ? 1 : (
        // pos only
        clipDirs == 3 ? 2 : (
          // both
          0
        )
      )
    )
  ];
}
function seriesFillTo(self, seriesIdx, dataMin, dataMax, bandFillDir) {
  let mode = self.mode;
  let series = self.series[seriesIdx];
  let scaleKey = mode == 2 ? series.facets[1].scale : series.scale;
  let scale = self.scales[scaleKey];
  return bandFillDir == -1 ? scale.min : bandFillDir == 1 ? scale.max : scale.distr == 3 ? scale.dir == 1 ? scale.min : scale.max : 0;
}
function clipBandLine(self, seriesIdx, idx0, idx1, strokePath, clipDir) {
  return orient(self, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
    let pxRound = series.pxRound;
    const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
    const lineTo = scaleX.ori == 0 ? lineToH : lineToV;
    let frIdx, toIdx;
    if (dir == 1) {
      frIdx = idx0;
      toIdx = idx1;
    } else {
      frIdx = idx1;
      toIdx = idx0;
    }
    let x0 = pxRound(valToPosX(dataX[frIdx], scaleX, xDim, xOff));
    let y0 = pxRound(valToPosY(dataY[frIdx], scaleY, yDim, yOff));
    let x1 = pxRound(valToPosX(dataX[toIdx], scaleX, xDim, xOff));
    let yLimit = pxRound(valToPosY(clipDir == 1 ? scaleY.max : scaleY.min, scaleY, yDim, yOff));
    let clip = new Path2D(strokePath);
    lineTo(clip, x1, yLimit);
    lineTo(clip, x0, yLimit);
    lineTo(clip, x0, y0);
    return clip;
  });
}
function clipGaps(gaps2, ori, plotLft, plotTop, plotWid, plotHgt) {
  let clip = null;
  if (gaps2.length > 0) {
    clip = new Path2D();
    const rect2 = ori == 0 ? rectH : rectV;
    let prevGapEnd = plotLft;
    for (let i = 0; i < gaps2.length; i++) {
      let g = gaps2[i];
      if (g[1] > g[0]) {
        let w2 = g[0] - prevGapEnd;
        w2 > 0 && rect2(clip, prevGapEnd, plotTop, w2, plotTop + plotHgt);
        prevGapEnd = g[1];
      }
    }
    let w = plotLft + plotWid - prevGapEnd;
    let maxStrokeWidth = 10;
    w > 0 && rect2(clip, prevGapEnd, plotTop - maxStrokeWidth / 2, w, plotTop + plotHgt + maxStrokeWidth);
  }
  return clip;
}
function addGap(gaps2, fromX, toX) {
  let prevGap = gaps2[gaps2.length - 1];
  if (prevGap && prevGap[0] == fromX)
    prevGap[1] = toX;
  else
    gaps2.push([fromX, toX]);
}
function findGaps(xs, ys, idx0, idx1, dir, pixelForX, align) {
  let gaps2 = [];
  let len = xs.length;
  for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
    let yVal = ys[i];
    if (yVal === null) {
      let fr = i, to = i;
      if (dir == 1) {
        while (++i <= idx1 && ys[i] === null)
          to = i;
      } else {
        while (--i >= idx0 && ys[i] === null)
          to = i;
      }
      let frPx = pixelForX(xs[fr]);
      let toPx = to == fr ? frPx : pixelForX(xs[to]);
      let fri2 = fr - dir;
      let frPx2 = align <= 0 && fri2 >= 0 && fri2 < len ? pixelForX(xs[fri2]) : frPx;
      frPx = frPx2;
      let toi2 = to + dir;
      let toPx2 = align >= 0 && toi2 >= 0 && toi2 < len ? pixelForX(xs[toi2]) : toPx;
      toPx = toPx2;
      if (toPx >= frPx)
        gaps2.push([frPx, toPx]);
    }
  }
  return gaps2;
}
function pxRoundGen(pxAlign) {
  return pxAlign == 0 ? retArg0 : pxAlign == 1 ? round : (v) => incrRound(v, pxAlign);
}
function rect(ori) {
  let moveTo = ori == 0 ? moveToH : moveToV;
  let arcTo = ori == 0 ? (p, x1, y1, x2, y2, r) => {
    p.arcTo(x1, y1, x2, y2, r);
  } : (p, y1, x1, y2, x2, r) => {
    p.arcTo(x1, y1, x2, y2, r);
  };
  let rect2 = ori == 0 ? (p, x, y, w, h) => {
    p.rect(x, y, w, h);
  } : (p, y, x, h, w) => {
    p.rect(x, y, w, h);
  };
  return (p, x, y, w, h, endRad = 0, baseRad = 0) => {
    if (endRad == 0 && baseRad == 0)
      rect2(p, x, y, w, h);
    else {
      endRad = min(endRad, w / 2, h / 2);
      baseRad = min(baseRad, w / 2, h / 2);
      moveTo(p, x + endRad, y);
      arcTo(p, x + w, y, x + w, y + h, endRad);
      arcTo(p, x + w, y + h, x, y + h, baseRad);
      arcTo(p, x, y + h, x, y, baseRad);
      arcTo(p, x, y, x + w, y, endRad);
      p.closePath();
    }
  };
}
var moveToH = (p, x, y) => {
  p.moveTo(x, y);
};
var moveToV = (p, y, x) => {
  p.moveTo(x, y);
};
var lineToH = (p, x, y) => {
  p.lineTo(x, y);
};
var lineToV = (p, y, x) => {
  p.lineTo(x, y);
};
var rectH = rect(0);
var rectV = rect(1);
var arcH = (p, x, y, r, startAngle, endAngle) => {
  p.arc(x, y, r, startAngle, endAngle);
};
var arcV = (p, y, x, r, startAngle, endAngle) => {
  p.arc(x, y, r, startAngle, endAngle);
};
var bezierCurveToH = (p, bp1x, bp1y, bp2x, bp2y, p2x, p2y) => {
  p.bezierCurveTo(bp1x, bp1y, bp2x, bp2y, p2x, p2y);
};
var bezierCurveToV = (p, bp1y, bp1x, bp2y, bp2x, p2y, p2x) => {
  p.bezierCurveTo(bp1x, bp1y, bp2x, bp2y, p2x, p2y);
};
function points(opts) {
  return (u, seriesIdx, idx0, idx1, filtIdxs) => {
    return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      let { pxRound, points: points2 } = series;
      let moveTo, arc;
      if (scaleX.ori == 0) {
        moveTo = moveToH;
        arc = arcH;
      } else {
        moveTo = moveToV;
        arc = arcV;
      }
      const width = roundDec(points2.width * pxRatio, 3);
      let rad = (points2.size - points2.width) / 2 * pxRatio;
      let dia = roundDec(rad * 2, 3);
      let fill = new Path2D();
      let clip = new Path2D();
      let { left: lft, top, width: wid, height: hgt } = u.bbox;
      rectH(
        clip,
        lft - dia,
        top - dia,
        wid + dia * 2,
        hgt + dia * 2
      );
      const drawPoint = (pi) => {
        if (dataY[pi] != null) {
          let x = pxRound(valToPosX(dataX[pi], scaleX, xDim, xOff));
          let y = pxRound(valToPosY(dataY[pi], scaleY, yDim, yOff));
          moveTo(fill, x + rad, y);
          arc(fill, x, y, rad, 0, PI * 2);
        }
      };
      if (filtIdxs)
        filtIdxs.forEach(drawPoint);
      else {
        for (let pi = idx0; pi <= idx1; pi++)
          drawPoint(pi);
      }
      return {
        stroke: width > 0 ? fill : null,
        fill,
        clip,
        flags: BAND_CLIP_FILL | BAND_CLIP_STROKE
      };
    });
  };
}
function _drawAcc(lineTo) {
  return (stroke, accX, minY, maxY, inY, outY) => {
    if (minY != maxY) {
      if (inY != minY && outY != minY)
        lineTo(stroke, accX, minY);
      if (inY != maxY && outY != maxY)
        lineTo(stroke, accX, maxY);
      lineTo(stroke, accX, outY);
    }
  };
}
var drawAccH = _drawAcc(lineToH);
var drawAccV = _drawAcc(lineToV);
function linear(opts) {
  const alignGaps = ifNull(opts?.alignGaps, 0);
  return (u, seriesIdx, idx0, idx1) => {
    return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      [idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
      let pxRound = series.pxRound;
      let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
      let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
      let lineTo, drawAcc;
      if (scaleX.ori == 0) {
        lineTo = lineToH;
        drawAcc = drawAccH;
      } else {
        lineTo = lineToV;
        drawAcc = drawAccV;
      }
      const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      const _paths = { stroke: new Path2D(), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL };
      const stroke = _paths.stroke;
      let hasGap = false;
      const decimate = idx1 - idx0 >= xDim * 4;
      if (decimate) {
        let xForPixel = (pos) => u.posToVal(pos, scaleX.key, true);
        let minY = null, maxY = null, inY, outY, drawnAtX;
        let accX = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
        let idx0px = pixelForX(dataX[idx0]);
        let idx1px = pixelForX(dataX[idx1]);
        let nextAccXVal = xForPixel(dir == 1 ? idx0px + 1 : idx1px - 1);
        for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
          let xVal = dataX[i];
          let reuseAccX = dir == 1 ? xVal < nextAccXVal : xVal > nextAccXVal;
          let x = reuseAccX ? accX : pixelForX(xVal);
          let yVal = dataY[i];
          if (x == accX) {
            if (yVal != null) {
              outY = yVal;
              if (minY == null) {
                lineTo(stroke, x, pixelForY(outY));
                inY = minY = maxY = outY;
              } else {
                if (outY < minY)
                  minY = outY;
                else if (outY > maxY)
                  maxY = outY;
              }
            } else {
              if (yVal === null)
                hasGap = true;
            }
          } else {
            if (minY != null)
              drawAcc(stroke, accX, pixelForY(minY), pixelForY(maxY), pixelForY(inY), pixelForY(outY));
            if (yVal != null) {
              outY = yVal;
              lineTo(stroke, x, pixelForY(outY));
              minY = maxY = inY = outY;
            } else {
              minY = maxY = null;
              if (yVal === null)
                hasGap = true;
            }
            accX = x;
            nextAccXVal = xForPixel(accX + dir);
          }
        }
        if (minY != null && minY != maxY && drawnAtX != accX)
          drawAcc(stroke, accX, pixelForY(minY), pixelForY(maxY), pixelForY(inY), pixelForY(outY));
      } else {
        for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
          let yVal = dataY[i];
          if (yVal === null)
            hasGap = true;
          else if (yVal != null)
            lineTo(stroke, pixelForX(dataX[i]), pixelForY(yVal));
        }
      }
      let [bandFillDir, bandClipDir] = bandFillClipDirs(u, seriesIdx);
      if (series.fill != null || bandFillDir != 0) {
        let fill = _paths.fill = new Path2D(stroke);
        let fillToVal = series.fillTo(u, seriesIdx, series.min, series.max, bandFillDir);
        let fillToY = pixelForY(fillToVal);
        let frX = pixelForX(dataX[idx0]);
        let toX = pixelForX(dataX[idx1]);
        if (dir == -1)
          [toX, frX] = [frX, toX];
        lineTo(fill, toX, fillToY);
        lineTo(fill, frX, fillToY);
      }
      if (!series.spanGaps) {
        let gaps2 = [];
        hasGap && gaps2.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
        _paths.gaps = gaps2 = series.gaps(u, seriesIdx, idx0, idx1, gaps2);
        _paths.clip = clipGaps(gaps2, scaleX.ori, xOff, yOff, xDim, yDim);
      }
      if (bandClipDir != 0) {
        _paths.band = bandClipDir == 2 ? [
          clipBandLine(u, seriesIdx, idx0, idx1, stroke, -1),
          clipBandLine(u, seriesIdx, idx0, idx1, stroke, 1)
        ] : clipBandLine(u, seriesIdx, idx0, idx1, stroke, bandClipDir);
      }
      return _paths;
    });
  };
}
function stepped(opts) {
  const align = ifNull(opts.align, 1);
  const ascDesc = ifNull(opts.ascDesc, false);
  const alignGaps = ifNull(opts.alignGaps, 0);
  const extend = ifNull(opts.extend, false);
  return (u, seriesIdx, idx0, idx1) => {
    return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      [idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
      let pxRound = series.pxRound;
      let { left, width } = u.bbox;
      let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
      let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
      let lineTo = scaleX.ori == 0 ? lineToH : lineToV;
      const _paths = { stroke: new Path2D(), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL };
      const stroke = _paths.stroke;
      const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      let prevYPos = pixelForY(dataY[dir == 1 ? idx0 : idx1]);
      let firstXPos = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
      let prevXPos = firstXPos;
      let firstXPosExt = firstXPos;
      if (extend && align == -1) {
        firstXPosExt = left;
        lineTo(stroke, firstXPosExt, prevYPos);
      }
      lineTo(stroke, firstXPos, prevYPos);
      for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
        let yVal1 = dataY[i];
        if (yVal1 == null)
          continue;
        let x1 = pixelForX(dataX[i]);
        let y1 = pixelForY(yVal1);
        if (align == 1)
          lineTo(stroke, x1, prevYPos);
        else
          lineTo(stroke, prevXPos, y1);
        lineTo(stroke, x1, y1);
        prevYPos = y1;
        prevXPos = x1;
      }
      let prevXPosExt = prevXPos;
      if (extend && align == 1) {
        prevXPosExt = left + width;
        lineTo(stroke, prevXPosExt, prevYPos);
      }
      let [bandFillDir, bandClipDir] = bandFillClipDirs(u, seriesIdx);
      if (series.fill != null || bandFillDir != 0) {
        let fill = _paths.fill = new Path2D(stroke);
        let fillTo = series.fillTo(u, seriesIdx, series.min, series.max, bandFillDir);
        let fillToY = pixelForY(fillTo);
        lineTo(fill, prevXPosExt, fillToY);
        lineTo(fill, firstXPosExt, fillToY);
      }
      if (!series.spanGaps) {
        let gaps2 = [];
        gaps2.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
        let halfStroke = series.width * pxRatio / 2;
        let startsOffset = ascDesc || align == 1 ? halfStroke : -halfStroke;
        let endsOffset = ascDesc || align == -1 ? -halfStroke : halfStroke;
        gaps2.forEach((g) => {
          g[0] += startsOffset;
          g[1] += endsOffset;
        });
        _paths.gaps = gaps2 = series.gaps(u, seriesIdx, idx0, idx1, gaps2);
        _paths.clip = clipGaps(gaps2, scaleX.ori, xOff, yOff, xDim, yDim);
      }
      if (bandClipDir != 0) {
        _paths.band = bandClipDir == 2 ? [
          clipBandLine(u, seriesIdx, idx0, idx1, stroke, -1),
          clipBandLine(u, seriesIdx, idx0, idx1, stroke, 1)
        ] : clipBandLine(u, seriesIdx, idx0, idx1, stroke, bandClipDir);
      }
      return _paths;
    });
  };
}
function findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid = inf) {
  if (dataX.length > 1) {
    let prevIdx = null;
    for (let i = 0, minDelta = Infinity; i < dataX.length; i++) {
      if (dataY[i] !== void 0) {
        if (prevIdx != null) {
          let delta = abs(dataX[i] - dataX[prevIdx]);
          if (delta < minDelta) {
            minDelta = delta;
            colWid = abs(valToPosX(dataX[i], scaleX, xDim, xOff) - valToPosX(dataX[prevIdx], scaleX, xDim, xOff));
          }
        }
        prevIdx = i;
      }
    }
  }
  return colWid;
}
function bars(opts) {
  opts = opts || EMPTY_OBJ;
  const size = ifNull(opts.size, [0.6, inf, 1]);
  const align = opts.align || 0;
  const _extraGap = opts.gap || 0;
  let ro = opts.radius;
  ro = // [valueRadius, baselineRadius]
  ro == null ? [0, 0] : typeof ro == "number" ? [ro, 0] : ro;
  const radiusFn = fnOrSelf(ro);
  const gapFactor = 1 - size[0];
  const _maxWidth = ifNull(size[1], inf);
  const _minWidth = ifNull(size[2], 1);
  const disp = ifNull(opts.disp, EMPTY_OBJ);
  const _each = ifNull(opts.each, (_2) => {
  });
  const { fill: dispFills, stroke: dispStrokes } = disp;
  return (u, seriesIdx, idx0, idx1) => {
    return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      let pxRound = series.pxRound;
      let _align = align;
      let extraGap = _extraGap * pxRatio;
      let maxWidth = _maxWidth * pxRatio;
      let minWidth = _minWidth * pxRatio;
      let valRadius, baseRadius;
      if (scaleX.ori == 0)
        [valRadius, baseRadius] = radiusFn(u, seriesIdx);
      else
        [baseRadius, valRadius] = radiusFn(u, seriesIdx);
      const _dirX = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      let rect2 = scaleX.ori == 0 ? rectH : rectV;
      let each = scaleX.ori == 0 ? _each : (u2, seriesIdx2, i, top, lft, hgt, wid) => {
        _each(u2, seriesIdx2, i, lft, top, wid, hgt);
      };
      let band = ifNull(u.bands, EMPTY_ARR).find((b) => b.series[0] == seriesIdx);
      let fillDir = band != null ? band.dir : 0;
      let fillTo = series.fillTo(u, seriesIdx, series.min, series.max, fillDir);
      let fillToY = pxRound(valToPosY(fillTo, scaleY, yDim, yOff));
      let xShift, barWid, fullGap, colWid = xDim;
      let strokeWidth = pxRound(series.width * pxRatio);
      let multiPath = false;
      let fillColors = null;
      let fillPaths = null;
      let strokeColors = null;
      let strokePaths = null;
      if (dispFills != null && (strokeWidth == 0 || dispStrokes != null)) {
        multiPath = true;
        fillColors = dispFills.values(u, seriesIdx, idx0, idx1);
        fillPaths = /* @__PURE__ */ new Map();
        new Set(fillColors).forEach((color) => {
          if (color != null)
            fillPaths.set(color, new Path2D());
        });
        if (strokeWidth > 0) {
          strokeColors = dispStrokes.values(u, seriesIdx, idx0, idx1);
          strokePaths = /* @__PURE__ */ new Map();
          new Set(strokeColors).forEach((color) => {
            if (color != null)
              strokePaths.set(color, new Path2D());
          });
        }
      }
      let { x0, size: size2 } = disp;
      if (x0 != null && size2 != null) {
        _align = 1;
        dataX = x0.values(u, seriesIdx, idx0, idx1);
        if (x0.unit == 2)
          dataX = dataX.map((pct) => u.posToVal(xOff + pct * xDim, scaleX.key, true));
        let sizes = size2.values(u, seriesIdx, idx0, idx1);
        if (size2.unit == 2)
          barWid = sizes[0] * xDim;
        else
          barWid = valToPosX(sizes[0], scaleX, xDim, xOff) - valToPosX(0, scaleX, xDim, xOff);
        colWid = findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid);
        let gapWid = colWid - barWid;
        fullGap = gapWid + extraGap;
      } else {
        colWid = findColWidth(dataX, dataY, valToPosX, scaleX, xDim, xOff, colWid);
        let gapWid = colWid * gapFactor;
        fullGap = gapWid + extraGap;
        barWid = colWid - fullGap;
      }
      if (fullGap < 1)
        fullGap = 0;
      if (strokeWidth >= barWid / 2)
        strokeWidth = 0;
      if (fullGap < 5)
        pxRound = retArg0;
      let insetStroke = fullGap > 0;
      let rawBarWid = colWid - fullGap - (insetStroke ? strokeWidth : 0);
      barWid = pxRound(clamp(rawBarWid, minWidth, maxWidth));
      xShift = (_align == 0 ? barWid / 2 : _align == _dirX ? 0 : barWid) - _align * _dirX * ((_align == 0 ? extraGap / 2 : 0) + (insetStroke ? strokeWidth / 2 : 0));
      const _paths = { stroke: null, fill: null, clip: null, band: null, gaps: null, flags: 0 };
      const stroke = multiPath ? null : new Path2D();
      let dataY0 = null;
      if (band != null)
        dataY0 = u.data[band.series[1]];
      else {
        let { y0, y1 } = disp;
        if (y0 != null && y1 != null) {
          dataY = y1.values(u, seriesIdx, idx0, idx1);
          dataY0 = y0.values(u, seriesIdx, idx0, idx1);
        }
      }
      let radVal = valRadius * barWid;
      let radBase = baseRadius * barWid;
      for (let i = _dirX == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += _dirX) {
        let yVal = dataY[i];
        if (yVal == null)
          continue;
        if (dataY0 != null) {
          let yVal0 = dataY0[i] ?? 0;
          if (yVal - yVal0 == 0)
            continue;
          fillToY = valToPosY(yVal0, scaleY, yDim, yOff);
        }
        let xVal = scaleX.distr != 2 || disp != null ? dataX[i] : i;
        let xPos = valToPosX(xVal, scaleX, xDim, xOff);
        let yPos = valToPosY(ifNull(yVal, fillTo), scaleY, yDim, yOff);
        let lft = pxRound(xPos - xShift);
        let btm = pxRound(max(yPos, fillToY));
        let top = pxRound(min(yPos, fillToY));
        let barHgt = btm - top;
        if (yVal != null) {
          let rv = yVal < 0 ? radBase : radVal;
          let rb = yVal < 0 ? radVal : radBase;
          if (multiPath) {
            if (strokeWidth > 0 && strokeColors[i] != null)
              rect2(strokePaths.get(strokeColors[i]), lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
            if (fillColors[i] != null)
              rect2(fillPaths.get(fillColors[i]), lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
          } else
            rect2(stroke, lft, top + floor(strokeWidth / 2), barWid, max(0, barHgt - strokeWidth), rv, rb);
          each(
            u,
            seriesIdx,
            i,
            lft - strokeWidth / 2,
            top,
            barWid + strokeWidth,
            barHgt
          );
        }
      }
      if (strokeWidth > 0)
        _paths.stroke = multiPath ? strokePaths : stroke;
      else if (!multiPath) {
        _paths._fill = series.width == 0 ? series._fill : series._stroke ?? series._fill;
        _paths.width = 0;
      }
      _paths.fill = multiPath ? fillPaths : stroke;
      return _paths;
    });
  };
}
function splineInterp(interp, opts) {
  const alignGaps = ifNull(opts?.alignGaps, 0);
  return (u, seriesIdx, idx0, idx1) => {
    return orient(u, seriesIdx, (series, dataX, dataY, scaleX, scaleY, valToPosX, valToPosY, xOff, yOff, xDim, yDim) => {
      [idx0, idx1] = nonNullIdxs(dataY, idx0, idx1);
      let pxRound = series.pxRound;
      let pixelForX = (val) => pxRound(valToPosX(val, scaleX, xDim, xOff));
      let pixelForY = (val) => pxRound(valToPosY(val, scaleY, yDim, yOff));
      let moveTo, bezierCurveTo, lineTo;
      if (scaleX.ori == 0) {
        moveTo = moveToH;
        lineTo = lineToH;
        bezierCurveTo = bezierCurveToH;
      } else {
        moveTo = moveToV;
        lineTo = lineToV;
        bezierCurveTo = bezierCurveToV;
      }
      const dir = scaleX.dir * (scaleX.ori == 0 ? 1 : -1);
      let firstXPos = pixelForX(dataX[dir == 1 ? idx0 : idx1]);
      let prevXPos = firstXPos;
      let xCoords = [];
      let yCoords = [];
      for (let i = dir == 1 ? idx0 : idx1; i >= idx0 && i <= idx1; i += dir) {
        let yVal = dataY[i];
        if (yVal != null) {
          let xVal = dataX[i];
          let xPos = pixelForX(xVal);
          xCoords.push(prevXPos = xPos);
          yCoords.push(pixelForY(dataY[i]));
        }
      }
      const _paths = { stroke: interp(xCoords, yCoords, moveTo, lineTo, bezierCurveTo, pxRound), fill: null, clip: null, band: null, gaps: null, flags: BAND_CLIP_FILL };
      const stroke = _paths.stroke;
      let [bandFillDir, bandClipDir] = bandFillClipDirs(u, seriesIdx);
      if (series.fill != null || bandFillDir != 0) {
        let fill = _paths.fill = new Path2D(stroke);
        let fillTo = series.fillTo(u, seriesIdx, series.min, series.max, bandFillDir);
        let fillToY = pixelForY(fillTo);
        lineTo(fill, prevXPos, fillToY);
        lineTo(fill, firstXPos, fillToY);
      }
      if (!series.spanGaps) {
        let gaps2 = [];
        gaps2.push(...findGaps(dataX, dataY, idx0, idx1, dir, pixelForX, alignGaps));
        _paths.gaps = gaps2 = series.gaps(u, seriesIdx, idx0, idx1, gaps2);
        _paths.clip = clipGaps(gaps2, scaleX.ori, xOff, yOff, xDim, yDim);
      }
      if (bandClipDir != 0) {
        _paths.band = bandClipDir == 2 ? [
          clipBandLine(u, seriesIdx, idx0, idx1, stroke, -1),
          clipBandLine(u, seriesIdx, idx0, idx1, stroke, 1)
        ] : clipBandLine(u, seriesIdx, idx0, idx1, stroke, bandClipDir);
      }
      return _paths;
    });
  };
}
function monotoneCubic(opts) {
  return splineInterp(_monotoneCubic, opts);
}
function _monotoneCubic(xs, ys, moveTo, lineTo, bezierCurveTo, pxRound) {
  const n = xs.length;
  if (n < 2)
    return null;
  const path = new Path2D();
  moveTo(path, xs[0], ys[0]);
  if (n == 2)
    lineTo(path, xs[1], ys[1]);
  else {
    let ms = Array(n), ds = Array(n - 1), dys = Array(n - 1), dxs = Array(n - 1);
    for (let i = 0; i < n - 1; i++) {
      dys[i] = ys[i + 1] - ys[i];
      dxs[i] = xs[i + 1] - xs[i];
      ds[i] = dys[i] / dxs[i];
    }
    ms[0] = ds[0];
    for (let i = 1; i < n - 1; i++) {
      if (ds[i] === 0 || ds[i - 1] === 0 || ds[i - 1] > 0 !== ds[i] > 0)
        ms[i] = 0;
      else {
        ms[i] = 3 * (dxs[i - 1] + dxs[i]) / ((2 * dxs[i] + dxs[i - 1]) / ds[i - 1] + (dxs[i] + 2 * dxs[i - 1]) / ds[i]);
        if (!isFinite(ms[i]))
          ms[i] = 0;
      }
    }
    ms[n - 1] = ds[n - 2];
    for (let i = 0; i < n - 1; i++) {
      bezierCurveTo(
        path,
        xs[i] + dxs[i] / 3,
        ys[i] + ms[i] * dxs[i] / 3,
        xs[i + 1] - dxs[i] / 3,
        ys[i + 1] - ms[i + 1] * dxs[i] / 3,
        xs[i + 1],
        ys[i + 1]
      );
    }
  }
  return path;
}
var cursorPlots = /* @__PURE__ */ new Set();
function invalidateRects() {
  for (let u of cursorPlots)
    u.syncRect(true);
}
if (domEnv) {
  on(resize, win, invalidateRects);
  on(scroll, win, invalidateRects, true);
  on(dppxchange, win, () => {
    uPlot.pxRatio = pxRatio;
  });
}
var linearPath = linear();
var pointsPath = points();
function setDefaults(d, xo, yo, initY) {
  let d2 = initY ? [d[0], d[1]].concat(d.slice(2)) : [d[0]].concat(d.slice(1));
  return d2.map((o, i) => setDefault(o, i, xo, yo));
}
function setDefaults2(d, xyo) {
  return d.map((o, i) => i == 0 ? {} : assign({}, xyo, o));
}
function setDefault(o, i, xo, yo) {
  return assign({}, i == 0 ? xo : yo, o);
}
function snapNumX(self, dataMin, dataMax) {
  return dataMin == null ? nullNullTuple : [dataMin, dataMax];
}
var snapTimeX = snapNumX;
function snapNumY(self, dataMin, dataMax) {
  return dataMin == null ? nullNullTuple : rangeNum(dataMin, dataMax, rangePad, true);
}
function snapLogY(self, dataMin, dataMax, scale) {
  return dataMin == null ? nullNullTuple : rangeLog(dataMin, dataMax, self.scales[scale].log, false);
}
var snapLogX = snapLogY;
function snapAsinhY(self, dataMin, dataMax, scale) {
  return dataMin == null ? nullNullTuple : rangeAsinh(dataMin, dataMax, self.scales[scale].log, false);
}
var snapAsinhX = snapAsinhY;
function findIncr(minVal, maxVal, incrs, dim, minSpace) {
  let intDigits = max(numIntDigits(minVal), numIntDigits(maxVal));
  let delta = maxVal - minVal;
  let incrIdx = closestIdx(minSpace / dim * delta, incrs);
  do {
    let foundIncr = incrs[incrIdx];
    let foundSpace = dim * foundIncr / delta;
    if (foundSpace >= minSpace && intDigits + (foundIncr < 5 ? fixedDec.get(foundIncr) : 0) <= 17)
      return [foundIncr, foundSpace];
  } while (++incrIdx < incrs.length);
  return [0, 0];
}
function pxRatioFont(font2) {
  let fontSize, fontSizeCss;
  font2 = font2.replace(/(\d+)px/, (m, p1) => (fontSize = round((fontSizeCss = +p1) * pxRatio)) + "px");
  return [font2, fontSize, fontSizeCss];
}
function syncFontSize(axis) {
  if (axis.show) {
    [axis.font, axis.labelFont].forEach((f) => {
      let size = roundDec(f[2] * pxRatio, 1);
      f[0] = f[0].replace(/[0-9.]+px/, size + "px");
      f[1] = size;
    });
  }
}
function uPlot(opts, data, then) {
  const self = {
    mode: ifNull(opts.mode, 1)
  };
  const mode = self.mode;
  function getHPos(val, scale, dim, off2) {
    let pct = scale.valToPct(val);
    return off2 + dim * (scale.dir == -1 ? 1 - pct : pct);
  }
  function getVPos(val, scale, dim, off2) {
    let pct = scale.valToPct(val);
    return off2 + dim * (scale.dir == -1 ? pct : 1 - pct);
  }
  function getPos(val, scale, dim, off2) {
    return scale.ori == 0 ? getHPos(val, scale, dim, off2) : getVPos(val, scale, dim, off2);
  }
  self.valToPosH = getHPos;
  self.valToPosV = getVPos;
  let ready = false;
  self.status = 0;
  const root2 = self.root = placeDiv(UPLOT);
  if (opts.id != null)
    root2.id = opts.id;
  addClass(root2, opts.class);
  if (opts.title) {
    let title = placeDiv(TITLE, root2);
    title.textContent = opts.title;
  }
  const can = placeTag("canvas");
  const ctx = self.ctx = can.getContext("2d");
  const wrap = placeDiv(WRAP, root2);
  on("click", wrap, (e) => {
    if (e.target === over) {
      let didDrag = mouseLeft1 != mouseLeft0 || mouseTop1 != mouseTop0;
      didDrag && drag.click(self, e);
    }
  }, true);
  const under = self.under = placeDiv(UNDER, wrap);
  wrap.appendChild(can);
  const over = self.over = placeDiv(OVER, wrap);
  opts = copy(opts);
  const pxAlign = +ifNull(opts.pxAlign, 1);
  const pxRound = pxRoundGen(pxAlign);
  (opts.plugins || []).forEach((p) => {
    if (p.opts)
      opts = p.opts(self, opts) || opts;
  });
  const ms = opts.ms || 1e-3;
  const series = self.series = mode == 1 ? setDefaults(opts.series || [], xSeriesOpts, ySeriesOpts, false) : setDefaults2(opts.series || [null], xySeriesOpts);
  const axes = self.axes = setDefaults(opts.axes || [], xAxisOpts, yAxisOpts, true);
  const scales = self.scales = {};
  const bands = self.bands = opts.bands || [];
  bands.forEach((b) => {
    b.fill = fnOrSelf(b.fill || null);
    b.dir = ifNull(b.dir, -1);
  });
  const xScaleKey = mode == 2 ? series[1].facets[0].scale : series[0].scale;
  const drawOrderMap = {
    axes: drawAxesGrid,
    series: drawSeries
  };
  const drawOrder = (opts.drawOrder || ["axes", "series"]).map((key2) => drawOrderMap[key2]);
  function initValToPct(sc) {
    const getVal = sc.distr == 3 ? (val) => log10(val > 0 ? val : sc.clamp(self, val, sc.min, sc.max, sc.key)) : sc.distr == 4 ? (val) => asinh(val, sc.asinh) : sc.distr == 100 ? (val) => sc.fwd(val) : (val) => val;
    return (val) => {
      let _val = getVal(val);
      let { _min, _max } = sc;
      let delta = _max - _min;
      return (_val - _min) / delta;
    };
  }
  function initScale(scaleKey) {
    let sc = scales[scaleKey];
    if (sc == null) {
      let scaleOpts = (opts.scales || EMPTY_OBJ)[scaleKey] || EMPTY_OBJ;
      if (scaleOpts.from != null) {
        initScale(scaleOpts.from);
        let sc2 = assign({}, scales[scaleOpts.from], scaleOpts, { key: scaleKey });
        sc2.valToPct = initValToPct(sc2);
        scales[scaleKey] = sc2;
      } else {
        sc = scales[scaleKey] = assign({}, scaleKey == xScaleKey ? xScaleOpts : yScaleOpts, scaleOpts);
        sc.key = scaleKey;
        let isTime = sc.time;
        let rn = sc.range;
        let rangeIsArr = isArr(rn);
        if (scaleKey != xScaleKey || mode == 2 && !isTime) {
          if (rangeIsArr && (rn[0] == null || rn[1] == null)) {
            rn = {
              min: rn[0] == null ? autoRangePart : {
                mode: 1,
                hard: rn[0],
                soft: rn[0]
              },
              max: rn[1] == null ? autoRangePart : {
                mode: 1,
                hard: rn[1],
                soft: rn[1]
              }
            };
            rangeIsArr = false;
          }
          if (!rangeIsArr && isObj(rn)) {
            let cfg = rn;
            rn = (self2, dataMin, dataMax) => dataMin == null ? nullNullTuple : rangeNum(dataMin, dataMax, cfg);
          }
        }
        sc.range = fnOrSelf(rn || (isTime ? snapTimeX : scaleKey == xScaleKey ? sc.distr == 3 ? snapLogX : sc.distr == 4 ? snapAsinhX : snapNumX : sc.distr == 3 ? snapLogY : sc.distr == 4 ? snapAsinhY : snapNumY));
        sc.auto = fnOrSelf(rangeIsArr ? false : sc.auto);
        sc.clamp = fnOrSelf(sc.clamp || clampScale);
        sc._min = sc._max = null;
        sc.valToPct = initValToPct(sc);
      }
    }
  }
  initScale("x");
  initScale("y");
  if (mode == 1) {
    series.forEach((s) => {
      initScale(s.scale);
    });
  }
  axes.forEach((a) => {
    initScale(a.scale);
  });
  for (let k in opts.scales)
    initScale(k);
  const scaleX = scales[xScaleKey];
  const xScaleDistr = scaleX.distr;
  let valToPosX, valToPosY;
  if (scaleX.ori == 0) {
    addClass(root2, ORI_HZ);
    valToPosX = getHPos;
    valToPosY = getVPos;
  } else {
    addClass(root2, ORI_VT);
    valToPosX = getVPos;
    valToPosY = getHPos;
  }
  const pendScales = {};
  for (let k in scales) {
    let sc = scales[k];
    if (sc.min != null || sc.max != null) {
      pendScales[k] = { min: sc.min, max: sc.max };
      sc.min = sc.max = null;
    }
  }
  const _tzDate = opts.tzDate || ((ts) => new Date(round(ts / ms)));
  const _fmtDate = opts.fmtDate || fmtDate;
  const _timeAxisSplits = ms == 1 ? timeAxisSplitsMs(_tzDate) : timeAxisSplitsS(_tzDate);
  const _timeAxisVals = timeAxisVals(_tzDate, timeAxisStamps(ms == 1 ? _timeAxisStampsMs : _timeAxisStampsS, _fmtDate));
  const _timeSeriesVal = timeSeriesVal(_tzDate, timeSeriesStamp(_timeSeriesStamp, _fmtDate));
  const activeIdxs = [];
  const legend = self.legend = assign({}, legendOpts, opts.legend);
  const cursor = self.cursor = assign({}, cursorOpts, { drag: { y: mode == 2 } }, opts.cursor);
  const showLegend = legend.show;
  const showCursor = cursor.show;
  const markers = legend.markers;
  {
    legend.idxs = activeIdxs;
    markers.width = fnOrSelf(markers.width);
    markers.dash = fnOrSelf(markers.dash);
    markers.stroke = fnOrSelf(markers.stroke);
    markers.fill = fnOrSelf(markers.fill);
  }
  let legendTable;
  let legendHead;
  let legendBody;
  let legendRows = [];
  let legendCells = [];
  let legendCols;
  let multiValLegend = false;
  let NULL_LEGEND_VALUES = {};
  if (legend.live) {
    const getMultiVals = series[1] ? series[1].values : null;
    multiValLegend = getMultiVals != null;
    legendCols = multiValLegend ? getMultiVals(self, 1, 0) : { _: 0 };
    for (let k in legendCols)
      NULL_LEGEND_VALUES[k] = LEGEND_DISP;
  }
  if (showLegend) {
    legendTable = placeTag("table", LEGEND, root2);
    legendBody = placeTag("tbody", null, legendTable);
    legend.mount(self, legendTable);
    if (multiValLegend) {
      legendHead = placeTag("thead", null, legendTable, legendBody);
      let head = placeTag("tr", null, legendHead);
      placeTag("th", null, head);
      for (var key in legendCols)
        placeTag("th", LEGEND_LABEL, head).textContent = key;
    } else {
      addClass(legendTable, LEGEND_INLINE);
      legend.live && addClass(legendTable, LEGEND_LIVE);
    }
  }
  const son = { show: true };
  const soff = { show: false };
  function initLegendRow(s, i) {
    if (i == 0 && (multiValLegend || !legend.live || mode == 2))
      return nullNullTuple;
    let cells = [];
    let row = placeTag("tr", LEGEND_SERIES, legendBody, legendBody.childNodes[i]);
    addClass(row, s.class);
    if (!s.show)
      addClass(row, OFF);
    let label = placeTag("th", null, row);
    if (markers.show) {
      let indic = placeDiv(LEGEND_MARKER, label);
      if (i > 0) {
        let width = markers.width(self, i);
        if (width)
          indic.style.border = width + "px " + markers.dash(self, i) + " " + markers.stroke(self, i);
        indic.style.background = markers.fill(self, i);
      }
    }
    let text = placeDiv(LEGEND_LABEL, label);
    if (s.label instanceof HTMLElement)
      text.appendChild(s.label);
    else
      text.textContent = s.label;
    if (i > 0) {
      if (!markers.show)
        text.style.color = s.width > 0 ? markers.stroke(self, i) : markers.fill(self, i);
      onMouse("click", label, (e) => {
        if (cursor._lock)
          return;
        setCursorEvent(e);
        let seriesIdx = series.indexOf(s);
        if ((e.ctrlKey || e.metaKey) != legend.isolate) {
          let isolate = series.some((s2, i2) => i2 > 0 && i2 != seriesIdx && s2.show);
          series.forEach((s2, i2) => {
            i2 > 0 && setSeries(i2, isolate ? i2 == seriesIdx ? son : soff : son, true, syncOpts.setSeries);
          });
        } else
          setSeries(seriesIdx, { show: !s.show }, true, syncOpts.setSeries);
      }, false);
      if (cursorFocus) {
        onMouse(mouseenter, label, (e) => {
          if (cursor._lock)
            return;
          setCursorEvent(e);
          setSeries(series.indexOf(s), FOCUS_TRUE, true, syncOpts.setSeries);
        }, false);
      }
    }
    for (var key2 in legendCols) {
      let v = placeTag("td", LEGEND_VALUE, row);
      v.textContent = "--";
      cells.push(v);
    }
    return [row, cells];
  }
  const mouseListeners = /* @__PURE__ */ new Map();
  function onMouse(ev, targ, fn, onlyTarg = true) {
    const targListeners = mouseListeners.get(targ) || {};
    const listener = cursor.bind[ev](self, targ, fn, onlyTarg);
    if (listener) {
      on(ev, targ, targListeners[ev] = listener);
      mouseListeners.set(targ, targListeners);
    }
  }
  function offMouse(ev, targ, fn) {
    const targListeners = mouseListeners.get(targ) || {};
    for (let k in targListeners) {
      if (ev == null || k == ev) {
        off(k, targ, targListeners[k]);
        delete targListeners[k];
      }
    }
    if (ev == null)
      mouseListeners.delete(targ);
  }
  let fullWidCss = 0;
  let fullHgtCss = 0;
  let plotWidCss = 0;
  let plotHgtCss = 0;
  let plotLftCss = 0;
  let plotTopCss = 0;
  let _plotLftCss = plotLftCss;
  let _plotTopCss = plotTopCss;
  let _plotWidCss = plotWidCss;
  let _plotHgtCss = plotHgtCss;
  let plotLft = 0;
  let plotTop = 0;
  let plotWid = 0;
  let plotHgt = 0;
  self.bbox = {};
  let shouldSetScales = false;
  let shouldSetSize = false;
  let shouldConvergeSize = false;
  let shouldSetCursor = false;
  let shouldSetSelect = false;
  let shouldSetLegend = false;
  function _setSize(width, height, force) {
    if (force || (width != self.width || height != self.height))
      calcSize(width, height);
    resetYSeries(false);
    shouldConvergeSize = true;
    shouldSetSize = true;
    commit();
  }
  function calcSize(width, height) {
    self.width = fullWidCss = plotWidCss = width;
    self.height = fullHgtCss = plotHgtCss = height;
    plotLftCss = plotTopCss = 0;
    calcPlotRect();
    calcAxesRects();
    let bb = self.bbox;
    plotLft = bb.left = incrRound(plotLftCss * pxRatio, 0.5);
    plotTop = bb.top = incrRound(plotTopCss * pxRatio, 0.5);
    plotWid = bb.width = incrRound(plotWidCss * pxRatio, 0.5);
    plotHgt = bb.height = incrRound(plotHgtCss * pxRatio, 0.5);
  }
  const CYCLE_LIMIT = 3;
  function convergeSize() {
    let converged = false;
    let cycleNum = 0;
    while (!converged) {
      cycleNum++;
      let axesConverged = axesCalc(cycleNum);
      let paddingConverged = paddingCalc(cycleNum);
      converged = cycleNum == CYCLE_LIMIT || axesConverged && paddingConverged;
      if (!converged) {
        calcSize(self.width, self.height);
        shouldSetSize = true;
      }
    }
  }
  function setSize({ width, height }) {
    _setSize(width, height);
  }
  self.setSize = setSize;
  function calcPlotRect() {
    let hasTopAxis = false;
    let hasBtmAxis = false;
    let hasRgtAxis = false;
    let hasLftAxis = false;
    axes.forEach((axis, i) => {
      if (axis.show && axis._show) {
        let { side, _size } = axis;
        let isVt = side % 2;
        let labelSize = axis.label != null ? axis.labelSize : 0;
        let fullSize = _size + labelSize;
        if (fullSize > 0) {
          if (isVt) {
            plotWidCss -= fullSize;
            if (side == 3) {
              plotLftCss += fullSize;
              hasLftAxis = true;
            } else
              hasRgtAxis = true;
          } else {
            plotHgtCss -= fullSize;
            if (side == 0) {
              plotTopCss += fullSize;
              hasTopAxis = true;
            } else
              hasBtmAxis = true;
          }
        }
      }
    });
    sidesWithAxes[0] = hasTopAxis;
    sidesWithAxes[1] = hasRgtAxis;
    sidesWithAxes[2] = hasBtmAxis;
    sidesWithAxes[3] = hasLftAxis;
    plotWidCss -= _padding[1] + _padding[3];
    plotLftCss += _padding[3];
    plotHgtCss -= _padding[2] + _padding[0];
    plotTopCss += _padding[0];
  }
  function calcAxesRects() {
    let off1 = plotLftCss + plotWidCss;
    let off2 = plotTopCss + plotHgtCss;
    let off3 = plotLftCss;
    let off0 = plotTopCss;
    function incrOffset(side, size) {
      switch (side) {
        case 1:
          off1 += size;
          return off1 - size;
        case 2:
          off2 += size;
          return off2 - size;
        case 3:
          off3 -= size;
          return off3 + size;
        case 0:
          off0 -= size;
          return off0 + size;
      }
    }
    axes.forEach((axis, i) => {
      if (axis.show && axis._show) {
        let side = axis.side;
        axis._pos = incrOffset(side, axis._size);
        if (axis.label != null)
          axis._lpos = incrOffset(side, axis.labelSize);
      }
    });
  }
  if (cursor.dataIdx == null) {
    let hov = cursor.hover;
    let skip = hov.skip = new Set(hov.skip ?? []);
    skip.add(void 0);
    let prox = hov.prox = fnOrSelf(hov.prox);
    let bias = hov.bias ??= 0;
    cursor.dataIdx = (self2, seriesIdx, cursorIdx, valAtPosX) => {
      if (seriesIdx == 0)
        return cursorIdx;
      let idx2 = cursorIdx;
      let _prox = prox(self2, seriesIdx, cursorIdx, valAtPosX) ?? inf;
      let withProx = _prox >= 0 && _prox < inf;
      let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss;
      let cursorLft = cursor.left;
      let xValues = data[0];
      let yValues = data[seriesIdx];
      if (skip.has(yValues[cursorIdx])) {
        idx2 = null;
        let nonNullLft = null, nonNullRgt = null, j;
        if (bias == 0 || bias == -1) {
          j = cursorIdx;
          while (nonNullLft == null && j-- > 0) {
            if (!skip.has(yValues[j]))
              nonNullLft = j;
          }
        }
        if (bias == 0 || bias == 1) {
          j = cursorIdx;
          while (nonNullRgt == null && j++ < yValues.length) {
            if (!skip.has(yValues[j]))
              nonNullRgt = j;
          }
        }
        if (nonNullLft != null || nonNullRgt != null) {
          if (withProx) {
            let lftPos = nonNullLft == null ? -Infinity : valToPosX(xValues[nonNullLft], scaleX, xDim, 0);
            let rgtPos = nonNullRgt == null ? Infinity : valToPosX(xValues[nonNullRgt], scaleX, xDim, 0);
            let lftDelta = cursorLft - lftPos;
            let rgtDelta = rgtPos - cursorLft;
            if (lftDelta <= rgtDelta) {
              if (lftDelta <= _prox)
                idx2 = nonNullLft;
            } else {
              if (rgtDelta <= _prox)
                idx2 = nonNullRgt;
            }
          } else {
            idx2 = nonNullRgt == null ? nonNullLft : nonNullLft == null ? nonNullRgt : cursorIdx - nonNullLft <= nonNullRgt - cursorIdx ? nonNullLft : nonNullRgt;
          }
        }
      } else if (withProx) {
        let dist = abs(cursorLft - valToPosX(xValues[cursorIdx], scaleX, xDim, 0));
        if (dist > _prox)
          idx2 = null;
      }
      return idx2;
    };
  }
  const setCursorEvent = (e) => {
    cursor.event = e;
  };
  cursor.idxs = activeIdxs;
  cursor._lock = false;
  let points2 = cursor.points;
  points2.show = fnOrSelf(points2.show);
  points2.size = fnOrSelf(points2.size);
  points2.stroke = fnOrSelf(points2.stroke);
  points2.width = fnOrSelf(points2.width);
  points2.fill = fnOrSelf(points2.fill);
  const focus = self.focus = assign({}, opts.focus || { alpha: 0.3 }, cursor.focus);
  const cursorFocus = focus.prox >= 0;
  const cursorOnePt = cursorFocus && points2.one;
  let cursorPts = [];
  let cursorPtsLft = [];
  let cursorPtsTop = [];
  function initCursorPt(s, si) {
    let pt = points2.show(self, si);
    if (pt instanceof HTMLElement) {
      addClass(pt, CURSOR_PT);
      addClass(pt, s.class);
      elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
      over.insertBefore(pt, cursorPts[si]);
      return pt;
    }
  }
  function initSeries(s, i) {
    if (mode == 1 || i > 0) {
      let isTime = mode == 1 && scales[s.scale].time;
      let sv = s.value;
      s.value = isTime ? isStr(sv) ? timeSeriesVal(_tzDate, timeSeriesStamp(sv, _fmtDate)) : sv || _timeSeriesVal : sv || numSeriesVal;
      s.label = s.label || (isTime ? timeSeriesLabel : numSeriesLabel);
    }
    if (cursorOnePt || i > 0) {
      s.width = s.width == null ? 1 : s.width;
      s.paths = s.paths || linearPath || retNull;
      s.fillTo = fnOrSelf(s.fillTo || seriesFillTo);
      s.pxAlign = +ifNull(s.pxAlign, pxAlign);
      s.pxRound = pxRoundGen(s.pxAlign);
      s.stroke = fnOrSelf(s.stroke || null);
      s.fill = fnOrSelf(s.fill || null);
      s._stroke = s._fill = s._paths = s._focus = null;
      let _ptDia = ptDia(max(1, s.width), 1);
      let points3 = s.points = assign({}, {
        size: _ptDia,
        width: max(1, _ptDia * 0.2),
        stroke: s.stroke,
        space: _ptDia * 2,
        paths: pointsPath,
        _stroke: null,
        _fill: null
      }, s.points);
      points3.show = fnOrSelf(points3.show);
      points3.filter = fnOrSelf(points3.filter);
      points3.fill = fnOrSelf(points3.fill);
      points3.stroke = fnOrSelf(points3.stroke);
      points3.paths = fnOrSelf(points3.paths);
      points3.pxAlign = s.pxAlign;
    }
    if (showLegend) {
      let rowCells = initLegendRow(s, i);
      legendRows.splice(i, 0, rowCells[0]);
      legendCells.splice(i, 0, rowCells[1]);
      legend.values.push(null);
    }
    if (showCursor) {
      activeIdxs.splice(i, 0, null);
      let pt = null;
      if (cursorOnePt) {
        if (i == 0)
          pt = initCursorPt(s, i);
      } else if (i > 0)
        pt = initCursorPt(s, i);
      cursorPts.splice(i, 0, pt);
      cursorPtsLft.splice(i, 0, 0);
      cursorPtsTop.splice(i, 0, 0);
    }
    fire("addSeries", i);
  }
  function addSeries(opts2, si) {
    si = si == null ? series.length : si;
    opts2 = mode == 1 ? setDefault(opts2, si, xSeriesOpts, ySeriesOpts) : setDefault(opts2, si, {}, xySeriesOpts);
    series.splice(si, 0, opts2);
    initSeries(series[si], si);
  }
  self.addSeries = addSeries;
  function delSeries(i) {
    series.splice(i, 1);
    if (showLegend) {
      legend.values.splice(i, 1);
      legendCells.splice(i, 1);
      let tr = legendRows.splice(i, 1)[0];
      offMouse(null, tr.firstChild);
      tr.remove();
    }
    if (showCursor) {
      activeIdxs.splice(i, 1);
      cursorPts.splice(i, 1)[0].remove();
      cursorPtsLft.splice(i, 1);
      cursorPtsTop.splice(i, 1);
    }
    fire("delSeries", i);
  }
  self.delSeries = delSeries;
  const sidesWithAxes = [false, false, false, false];
  function initAxis(axis, i) {
    axis._show = axis.show;
    if (axis.show) {
      let isVt = axis.side % 2;
      let sc = scales[axis.scale];
      if (sc == null) {
        axis.scale = isVt ? series[1].scale : xScaleKey;
        sc = scales[axis.scale];
      }
      let isTime = sc.time;
      axis.size = fnOrSelf(axis.size);
      axis.space = fnOrSelf(axis.space);
      axis.rotate = fnOrSelf(axis.rotate);
      if (isArr(axis.incrs)) {
        axis.incrs.forEach((incr) => {
          !fixedDec.has(incr) && fixedDec.set(incr, guessDec(incr));
        });
      }
      axis.incrs = fnOrSelf(axis.incrs || (sc.distr == 2 ? wholeIncrs : isTime ? ms == 1 ? timeIncrsMs : timeIncrsS : numIncrs));
      axis.splits = fnOrSelf(axis.splits || (isTime && sc.distr == 1 ? _timeAxisSplits : sc.distr == 3 ? logAxisSplits : sc.distr == 4 ? asinhAxisSplits : numAxisSplits));
      axis.stroke = fnOrSelf(axis.stroke);
      axis.grid.stroke = fnOrSelf(axis.grid.stroke);
      axis.ticks.stroke = fnOrSelf(axis.ticks.stroke);
      axis.border.stroke = fnOrSelf(axis.border.stroke);
      let av = axis.values;
      axis.values = // static array of tick values
      isArr(av) && !isArr(av[0]) ? fnOrSelf(av) : (
        // temporal
        isTime ? (
          // config array of fmtDate string tpls
          isArr(av) ? timeAxisVals(_tzDate, timeAxisStamps(av, _fmtDate)) : (
            // fmtDate string tpl
            isStr(av) ? timeAxisVal(_tzDate, av) : av || _timeAxisVals
          )
        ) : av || numAxisVals
      );
      axis.filter = fnOrSelf(axis.filter || (sc.distr >= 3 && sc.log == 10 ? log10AxisValsFilt : sc.distr == 3 && sc.log == 2 ? log2AxisValsFilt : retArg1));
      axis.font = pxRatioFont(axis.font);
      axis.labelFont = pxRatioFont(axis.labelFont);
      axis._size = axis.size(self, null, i, 0);
      axis._space = axis._rotate = axis._incrs = axis._found = // foundIncrSpace
      axis._splits = axis._values = null;
      if (axis._size > 0) {
        sidesWithAxes[i] = true;
        axis._el = placeDiv(AXIS, wrap);
      }
    }
  }
  function autoPadSide(self2, side, sidesWithAxes2, cycleNum) {
    let [hasTopAxis, hasRgtAxis, hasBtmAxis, hasLftAxis] = sidesWithAxes2;
    let ori = side % 2;
    let size = 0;
    if (ori == 0 && (hasLftAxis || hasRgtAxis))
      size = side == 0 && !hasTopAxis || side == 2 && !hasBtmAxis ? round(xAxisOpts.size / 3) : 0;
    if (ori == 1 && (hasTopAxis || hasBtmAxis))
      size = side == 1 && !hasRgtAxis || side == 3 && !hasLftAxis ? round(yAxisOpts.size / 2) : 0;
    return size;
  }
  const padding = self.padding = (opts.padding || [autoPadSide, autoPadSide, autoPadSide, autoPadSide]).map((p) => fnOrSelf(ifNull(p, autoPadSide)));
  const _padding = self._padding = padding.map((p, i) => p(self, i, sidesWithAxes, 0));
  let dataLen;
  let i0 = null;
  let i1 = null;
  const idxs = mode == 1 ? series[0].idxs : null;
  let data0 = null;
  let viaAutoScaleX = false;
  function setData(_data, _resetScales) {
    data = _data == null ? [] : _data;
    self.data = self._data = data;
    if (mode == 2) {
      dataLen = 0;
      for (let i = 1; i < series.length; i++)
        dataLen += data[i][0].length;
    } else {
      if (data.length == 0)
        self.data = self._data = data = [[]];
      data0 = data[0];
      dataLen = data0.length;
      let scaleData = data;
      if (xScaleDistr == 2) {
        scaleData = data.slice();
        let _data0 = scaleData[0] = Array(dataLen);
        for (let i = 0; i < dataLen; i++)
          _data0[i] = i;
      }
      self._data = data = scaleData;
    }
    resetYSeries(true);
    fire("setData");
    if (xScaleDistr == 2) {
      shouldConvergeSize = true;
    }
    if (_resetScales !== false) {
      let xsc = scaleX;
      if (xsc.auto(self, viaAutoScaleX))
        autoScaleX();
      else
        _setScale(xScaleKey, xsc.min, xsc.max);
      shouldSetCursor = shouldSetCursor || cursor.left >= 0;
      shouldSetLegend = true;
      commit();
    }
  }
  self.setData = setData;
  function autoScaleX() {
    viaAutoScaleX = true;
    let _min, _max;
    if (mode == 1) {
      if (dataLen > 0) {
        i0 = idxs[0] = 0;
        i1 = idxs[1] = dataLen - 1;
        _min = data[0][i0];
        _max = data[0][i1];
        if (xScaleDistr == 2) {
          _min = i0;
          _max = i1;
        } else if (_min == _max) {
          if (xScaleDistr == 3)
            [_min, _max] = rangeLog(_min, _min, scaleX.log, false);
          else if (xScaleDistr == 4)
            [_min, _max] = rangeAsinh(_min, _min, scaleX.log, false);
          else if (scaleX.time)
            _max = _min + round(86400 / ms);
          else
            [_min, _max] = rangeNum(_min, _max, rangePad, true);
        }
      } else {
        i0 = idxs[0] = _min = null;
        i1 = idxs[1] = _max = null;
      }
    }
    _setScale(xScaleKey, _min, _max);
  }
  let ctxStroke, ctxFill, ctxWidth, ctxDash, ctxJoin, ctxCap, ctxFont, ctxAlign, ctxBaseline;
  let ctxAlpha;
  function setCtxStyle(stroke, width, dash, cap, fill, join2) {
    stroke ??= transparent;
    dash ??= EMPTY_ARR;
    cap ??= "butt";
    fill ??= transparent;
    join2 ??= "round";
    if (stroke != ctxStroke)
      ctx.strokeStyle = ctxStroke = stroke;
    if (fill != ctxFill)
      ctx.fillStyle = ctxFill = fill;
    if (width != ctxWidth)
      ctx.lineWidth = ctxWidth = width;
    if (join2 != ctxJoin)
      ctx.lineJoin = ctxJoin = join2;
    if (cap != ctxCap)
      ctx.lineCap = ctxCap = cap;
    if (dash != ctxDash)
      ctx.setLineDash(ctxDash = dash);
  }
  function setFontStyle(font2, fill, align, baseline) {
    if (fill != ctxFill)
      ctx.fillStyle = ctxFill = fill;
    if (font2 != ctxFont)
      ctx.font = ctxFont = font2;
    if (align != ctxAlign)
      ctx.textAlign = ctxAlign = align;
    if (baseline != ctxBaseline)
      ctx.textBaseline = ctxBaseline = baseline;
  }
  function accScale(wsc, psc, facet2, data2, sorted = 0) {
    if (data2.length > 0 && wsc.auto(self, viaAutoScaleX) && (psc == null || psc.min == null)) {
      let _i0 = ifNull(i0, 0);
      let _i1 = ifNull(i1, data2.length - 1);
      let minMax = facet2.min == null ? getMinMax(data2, _i0, _i1, sorted, wsc.distr == 3) : [facet2.min, facet2.max];
      wsc.min = min(wsc.min, facet2.min = minMax[0]);
      wsc.max = max(wsc.max, facet2.max = minMax[1]);
    }
  }
  const AUTOSCALE = { min: null, max: null };
  function setScales() {
    for (let k in scales) {
      let sc = scales[k];
      if (pendScales[k] == null && // scales that have never been set (on init)
      (sc.min == null || // or auto scales when the x scale was explicitly set
      pendScales[xScaleKey] != null && sc.auto(self, viaAutoScaleX))) {
        pendScales[k] = AUTOSCALE;
      }
    }
    for (let k in scales) {
      let sc = scales[k];
      if (pendScales[k] == null && sc.from != null && pendScales[sc.from] != null)
        pendScales[k] = AUTOSCALE;
    }
    if (pendScales[xScaleKey] != null)
      resetYSeries(true);
    let wipScales = {};
    for (let k in pendScales) {
      let psc = pendScales[k];
      if (psc != null) {
        let wsc = wipScales[k] = copy(scales[k], fastIsObj);
        if (psc.min != null)
          assign(wsc, psc);
        else if (k != xScaleKey || mode == 2) {
          if (dataLen == 0 && wsc.from == null) {
            let minMax = wsc.range(self, null, null, k);
            wsc.min = minMax[0];
            wsc.max = minMax[1];
          } else {
            wsc.min = inf;
            wsc.max = -inf;
          }
        }
      }
    }
    if (dataLen > 0) {
      series.forEach((s, i) => {
        if (mode == 1) {
          let k = s.scale;
          let psc = pendScales[k];
          if (psc == null)
            return;
          let wsc = wipScales[k];
          if (i == 0) {
            let minMax = wsc.range(self, wsc.min, wsc.max, k);
            wsc.min = minMax[0];
            wsc.max = minMax[1];
            i0 = closestIdx(wsc.min, data[0]);
            i1 = closestIdx(wsc.max, data[0]);
            if (i1 - i0 > 1) {
              if (data[0][i0] < wsc.min)
                i0++;
              if (data[0][i1] > wsc.max)
                i1--;
            }
            s.min = data0[i0];
            s.max = data0[i1];
          } else if (s.show && s.auto)
            accScale(wsc, psc, s, data[i], s.sorted);
          s.idxs[0] = i0;
          s.idxs[1] = i1;
        } else {
          if (i > 0) {
            if (s.show && s.auto) {
              let [xFacet, yFacet] = s.facets;
              let xScaleKey2 = xFacet.scale;
              let yScaleKey = yFacet.scale;
              let [xData, yData] = data[i];
              let wscx = wipScales[xScaleKey2];
              let wscy = wipScales[yScaleKey];
              wscx != null && accScale(wscx, pendScales[xScaleKey2], xFacet, xData, xFacet.sorted);
              wscy != null && accScale(wscy, pendScales[yScaleKey], yFacet, yData, yFacet.sorted);
              s.min = yFacet.min;
              s.max = yFacet.max;
            }
          }
        }
      });
      for (let k in wipScales) {
        let wsc = wipScales[k];
        let psc = pendScales[k];
        if (wsc.from == null && (psc == null || psc.min == null)) {
          let minMax = wsc.range(
            self,
            wsc.min == inf ? null : wsc.min,
            wsc.max == -inf ? null : wsc.max,
            k
          );
          wsc.min = minMax[0];
          wsc.max = minMax[1];
        }
      }
    }
    for (let k in wipScales) {
      let wsc = wipScales[k];
      if (wsc.from != null) {
        let base = wipScales[wsc.from];
        if (base.min == null)
          wsc.min = wsc.max = null;
        else {
          let minMax = wsc.range(self, base.min, base.max, k);
          wsc.min = minMax[0];
          wsc.max = minMax[1];
        }
      }
    }
    let changed = {};
    let anyChanged = false;
    for (let k in wipScales) {
      let wsc = wipScales[k];
      let sc = scales[k];
      if (sc.min != wsc.min || sc.max != wsc.max) {
        sc.min = wsc.min;
        sc.max = wsc.max;
        let distr = sc.distr;
        sc._min = distr == 3 ? log10(sc.min) : distr == 4 ? asinh(sc.min, sc.asinh) : distr == 100 ? sc.fwd(sc.min) : sc.min;
        sc._max = distr == 3 ? log10(sc.max) : distr == 4 ? asinh(sc.max, sc.asinh) : distr == 100 ? sc.fwd(sc.max) : sc.max;
        changed[k] = anyChanged = true;
      }
    }
    if (anyChanged) {
      series.forEach((s, i) => {
        if (mode == 2) {
          if (i > 0 && changed.y)
            s._paths = null;
        } else {
          if (changed[s.scale])
            s._paths = null;
        }
      });
      for (let k in changed) {
        shouldConvergeSize = true;
        fire("setScale", k);
      }
      if (showCursor && cursor.left >= 0)
        shouldSetCursor = shouldSetLegend = true;
    }
    for (let k in pendScales)
      pendScales[k] = null;
  }
  function getOuterIdxs(ydata) {
    let _i0 = clamp(i0 - 1, 0, dataLen - 1);
    let _i1 = clamp(i1 + 1, 0, dataLen - 1);
    while (ydata[_i0] == null && _i0 > 0)
      _i0--;
    while (ydata[_i1] == null && _i1 < dataLen - 1)
      _i1++;
    return [_i0, _i1];
  }
  function drawSeries() {
    if (dataLen > 0) {
      let shouldAlpha = series.some((s) => s._focus) && ctxAlpha != focus.alpha;
      if (shouldAlpha)
        ctx.globalAlpha = ctxAlpha = focus.alpha;
      series.forEach((s, i) => {
        if (i > 0 && s.show) {
          cacheStrokeFill(i, false);
          cacheStrokeFill(i, true);
          if (s._paths == null) {
            let _ctxAlpha = ctxAlpha;
            if (ctxAlpha != s.alpha)
              ctx.globalAlpha = ctxAlpha = s.alpha;
            let _idxs = mode == 2 ? [0, data[i][0].length - 1] : getOuterIdxs(data[i]);
            s._paths = s.paths(self, i, _idxs[0], _idxs[1]);
            if (ctxAlpha != _ctxAlpha)
              ctx.globalAlpha = ctxAlpha = _ctxAlpha;
          }
        }
      });
      series.forEach((s, i) => {
        if (i > 0 && s.show) {
          let _ctxAlpha = ctxAlpha;
          if (ctxAlpha != s.alpha)
            ctx.globalAlpha = ctxAlpha = s.alpha;
          s._paths != null && drawPath(i, false);
          {
            let _gaps = s._paths != null ? s._paths.gaps : null;
            let show = s.points.show(self, i, i0, i1, _gaps);
            let idxs2 = s.points.filter(self, i, show, _gaps);
            if (show || idxs2) {
              s.points._paths = s.points.paths(self, i, i0, i1, idxs2);
              drawPath(i, true);
            }
          }
          if (ctxAlpha != _ctxAlpha)
            ctx.globalAlpha = ctxAlpha = _ctxAlpha;
          fire("drawSeries", i);
        }
      });
      if (shouldAlpha)
        ctx.globalAlpha = ctxAlpha = 1;
    }
  }
  function cacheStrokeFill(si, _points) {
    let s = _points ? series[si].points : series[si];
    s._stroke = s.stroke(self, si);
    s._fill = s.fill(self, si);
  }
  function drawPath(si, _points) {
    let s = _points ? series[si].points : series[si];
    let {
      stroke,
      fill,
      clip: gapsClip,
      flags,
      _stroke: strokeStyle = s._stroke,
      _fill: fillStyle = s._fill,
      _width: width = s.width
    } = s._paths;
    width = roundDec(width * pxRatio, 3);
    let boundsClip = null;
    let offset = width % 2 / 2;
    if (_points && fillStyle == null)
      fillStyle = width > 0 ? "#fff" : strokeStyle;
    let _pxAlign = s.pxAlign == 1 && offset > 0;
    _pxAlign && ctx.translate(offset, offset);
    if (!_points) {
      let lft = plotLft - width / 2, top = plotTop - width / 2, wid = plotWid + width, hgt = plotHgt + width;
      boundsClip = new Path2D();
      boundsClip.rect(lft, top, wid, hgt);
    }
    if (_points)
      strokeFill(strokeStyle, width, s.dash, s.cap, fillStyle, stroke, fill, flags, gapsClip);
    else
      fillStroke(si, strokeStyle, width, s.dash, s.cap, fillStyle, stroke, fill, flags, boundsClip, gapsClip);
    _pxAlign && ctx.translate(-offset, -offset);
  }
  function fillStroke(si, strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip) {
    let didStrokeFill = false;
    flags != 0 && bands.forEach((b, bi) => {
      if (b.series[0] == si) {
        let lowerEdge = series[b.series[1]];
        let lowerData = data[b.series[1]];
        let bandClip = (lowerEdge._paths || EMPTY_OBJ).band;
        if (isArr(bandClip))
          bandClip = b.dir == 1 ? bandClip[0] : bandClip[1];
        let gapsClip2;
        let _fillStyle = null;
        if (lowerEdge.show && bandClip && hasData(lowerData, i0, i1)) {
          _fillStyle = b.fill(self, bi) || fillStyle;
          gapsClip2 = lowerEdge._paths.clip;
        } else
          bandClip = null;
        strokeFill(strokeStyle, lineWidth, lineDash, lineCap, _fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip, gapsClip2, bandClip);
        didStrokeFill = true;
      }
    });
    if (!didStrokeFill)
      strokeFill(strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip);
  }
  const CLIP_FILL_STROKE = BAND_CLIP_FILL | BAND_CLIP_STROKE;
  function strokeFill(strokeStyle, lineWidth, lineDash, lineCap, fillStyle, strokePath, fillPath, flags, boundsClip, gapsClip, gapsClip2, bandClip) {
    setCtxStyle(strokeStyle, lineWidth, lineDash, lineCap, fillStyle);
    if (boundsClip || gapsClip || bandClip) {
      ctx.save();
      boundsClip && ctx.clip(boundsClip);
      gapsClip && ctx.clip(gapsClip);
    }
    if (bandClip) {
      if ((flags & CLIP_FILL_STROKE) == CLIP_FILL_STROKE) {
        ctx.clip(bandClip);
        gapsClip2 && ctx.clip(gapsClip2);
        doFill(fillStyle, fillPath);
        doStroke(strokeStyle, strokePath, lineWidth);
      } else if (flags & BAND_CLIP_STROKE) {
        doFill(fillStyle, fillPath);
        ctx.clip(bandClip);
        doStroke(strokeStyle, strokePath, lineWidth);
      } else if (flags & BAND_CLIP_FILL) {
        ctx.save();
        ctx.clip(bandClip);
        gapsClip2 && ctx.clip(gapsClip2);
        doFill(fillStyle, fillPath);
        ctx.restore();
        doStroke(strokeStyle, strokePath, lineWidth);
      }
    } else {
      doFill(fillStyle, fillPath);
      doStroke(strokeStyle, strokePath, lineWidth);
    }
    if (boundsClip || gapsClip || bandClip)
      ctx.restore();
  }
  function doStroke(strokeStyle, strokePath, lineWidth) {
    if (lineWidth > 0) {
      if (strokePath instanceof Map) {
        strokePath.forEach((strokePath2, strokeStyle2) => {
          ctx.strokeStyle = ctxStroke = strokeStyle2;
          ctx.stroke(strokePath2);
        });
      } else
        strokePath != null && strokeStyle && ctx.stroke(strokePath);
    }
  }
  function doFill(fillStyle, fillPath) {
    if (fillPath instanceof Map) {
      fillPath.forEach((fillPath2, fillStyle2) => {
        ctx.fillStyle = ctxFill = fillStyle2;
        ctx.fill(fillPath2);
      });
    } else
      fillPath != null && fillStyle && ctx.fill(fillPath);
  }
  function getIncrSpace(axisIdx, min2, max2, fullDim) {
    let axis = axes[axisIdx];
    let incrSpace;
    if (fullDim <= 0)
      incrSpace = [0, 0];
    else {
      let minSpace = axis._space = axis.space(self, axisIdx, min2, max2, fullDim);
      let incrs = axis._incrs = axis.incrs(self, axisIdx, min2, max2, fullDim, minSpace);
      incrSpace = findIncr(min2, max2, incrs, fullDim, minSpace);
    }
    return axis._found = incrSpace;
  }
  function drawOrthoLines(offs, filts, ori, side, pos0, len, width, stroke, dash, cap) {
    let offset = width % 2 / 2;
    pxAlign == 1 && ctx.translate(offset, offset);
    setCtxStyle(stroke, width, dash, cap, stroke);
    ctx.beginPath();
    let x0, y0, x1, y1, pos1 = pos0 + (side == 0 || side == 3 ? -len : len);
    if (ori == 0) {
      y0 = pos0;
      y1 = pos1;
    } else {
      x0 = pos0;
      x1 = pos1;
    }
    for (let i = 0; i < offs.length; i++) {
      if (filts[i] != null) {
        if (ori == 0)
          x0 = x1 = offs[i];
        else
          y0 = y1 = offs[i];
        ctx.moveTo(x0, y0);
        ctx.lineTo(x1, y1);
      }
    }
    ctx.stroke();
    pxAlign == 1 && ctx.translate(-offset, -offset);
  }
  function axesCalc(cycleNum) {
    let converged = true;
    axes.forEach((axis, i) => {
      if (!axis.show)
        return;
      let scale = scales[axis.scale];
      if (scale.min == null) {
        if (axis._show) {
          converged = false;
          axis._show = false;
          resetYSeries(false);
        }
        return;
      } else {
        if (!axis._show) {
          converged = false;
          axis._show = true;
          resetYSeries(false);
        }
      }
      let side = axis.side;
      let ori = side % 2;
      let { min: min2, max: max2 } = scale;
      let [_incr, _space] = getIncrSpace(i, min2, max2, ori == 0 ? plotWidCss : plotHgtCss);
      if (_space == 0)
        return;
      let forceMin = scale.distr == 2;
      let _splits = axis._splits = axis.splits(self, i, min2, max2, _incr, _space, forceMin);
      let splits = scale.distr == 2 ? _splits.map((i2) => data0[i2]) : _splits;
      let incr = scale.distr == 2 ? data0[_splits[1]] - data0[_splits[0]] : _incr;
      let values = axis._values = axis.values(self, axis.filter(self, splits, i, _space, incr), i, _space, incr);
      axis._rotate = side == 2 ? axis.rotate(self, values, i, _space) : 0;
      let oldSize = axis._size;
      axis._size = ceil(axis.size(self, values, i, cycleNum));
      if (oldSize != null && axis._size != oldSize)
        converged = false;
    });
    return converged;
  }
  function paddingCalc(cycleNum) {
    let converged = true;
    padding.forEach((p, i) => {
      let _p = p(self, i, sidesWithAxes, cycleNum);
      if (_p != _padding[i])
        converged = false;
      _padding[i] = _p;
    });
    return converged;
  }
  function drawAxesGrid() {
    for (let i = 0; i < axes.length; i++) {
      let axis = axes[i];
      if (!axis.show || !axis._show)
        continue;
      let side = axis.side;
      let ori = side % 2;
      let x, y;
      let fillStyle = axis.stroke(self, i);
      let shiftDir = side == 0 || side == 3 ? -1 : 1;
      let [_incr, _space] = axis._found;
      if (axis.label != null) {
        let shiftAmt2 = axis.labelGap * shiftDir;
        let baseLpos = round((axis._lpos + shiftAmt2) * pxRatio);
        setFontStyle(axis.labelFont[0], fillStyle, "center", side == 2 ? TOP : BOTTOM);
        ctx.save();
        if (ori == 1) {
          x = y = 0;
          ctx.translate(
            baseLpos,
            round(plotTop + plotHgt / 2)
          );
          ctx.rotate((side == 3 ? -PI : PI) / 2);
        } else {
          x = round(plotLft + plotWid / 2);
          y = baseLpos;
        }
        let _label = isFn(axis.label) ? axis.label(self, i, _incr, _space) : axis.label;
        ctx.fillText(_label, x, y);
        ctx.restore();
      }
      if (_space == 0)
        continue;
      let scale = scales[axis.scale];
      let plotDim = ori == 0 ? plotWid : plotHgt;
      let plotOff = ori == 0 ? plotLft : plotTop;
      let _splits = axis._splits;
      let splits = scale.distr == 2 ? _splits.map((i2) => data0[i2]) : _splits;
      let incr = scale.distr == 2 ? data0[_splits[1]] - data0[_splits[0]] : _incr;
      let ticks2 = axis.ticks;
      let border2 = axis.border;
      let _tickSize = ticks2.show ? ticks2.size : 0;
      let tickSize = round(_tickSize * pxRatio);
      let axisGap = round((axis.alignTo == 2 ? axis._size - _tickSize - axis.gap : axis.gap) * pxRatio);
      let angle = axis._rotate * -PI / 180;
      let basePos = pxRound(axis._pos * pxRatio);
      let shiftAmt = (tickSize + axisGap) * shiftDir;
      let finalPos = basePos + shiftAmt;
      y = ori == 0 ? finalPos : 0;
      x = ori == 1 ? finalPos : 0;
      let font2 = axis.font[0];
      let textAlign = axis.align == 1 ? LEFT : axis.align == 2 ? RIGHT : angle > 0 ? LEFT : angle < 0 ? RIGHT : ori == 0 ? "center" : side == 3 ? RIGHT : LEFT;
      let textBaseline = angle || ori == 1 ? "middle" : side == 2 ? TOP : BOTTOM;
      setFontStyle(font2, fillStyle, textAlign, textBaseline);
      let lineHeight = axis.font[1] * axis.lineGap;
      let canOffs = _splits.map((val) => pxRound(getPos(val, scale, plotDim, plotOff)));
      let _values = axis._values;
      for (let i2 = 0; i2 < _values.length; i2++) {
        let val = _values[i2];
        if (val != null) {
          if (ori == 0)
            x = canOffs[i2];
          else
            y = canOffs[i2];
          val = "" + val;
          let _parts = val.indexOf("\n") == -1 ? [val] : val.split(/\n/gm);
          for (let j = 0; j < _parts.length; j++) {
            let text = _parts[j];
            if (angle) {
              ctx.save();
              ctx.translate(x, y + j * lineHeight);
              ctx.rotate(angle);
              ctx.fillText(text, 0, 0);
              ctx.restore();
            } else
              ctx.fillText(text, x, y + j * lineHeight);
          }
        }
      }
      if (ticks2.show) {
        drawOrthoLines(
          canOffs,
          ticks2.filter(self, splits, i, _space, incr),
          ori,
          side,
          basePos,
          tickSize,
          roundDec(ticks2.width * pxRatio, 3),
          ticks2.stroke(self, i),
          ticks2.dash,
          ticks2.cap
        );
      }
      let grid2 = axis.grid;
      if (grid2.show) {
        drawOrthoLines(
          canOffs,
          grid2.filter(self, splits, i, _space, incr),
          ori,
          ori == 0 ? 2 : 1,
          ori == 0 ? plotTop : plotLft,
          ori == 0 ? plotHgt : plotWid,
          roundDec(grid2.width * pxRatio, 3),
          grid2.stroke(self, i),
          grid2.dash,
          grid2.cap
        );
      }
      if (border2.show) {
        drawOrthoLines(
          [basePos],
          [1],
          ori == 0 ? 1 : 0,
          ori == 0 ? 1 : 2,
          ori == 1 ? plotTop : plotLft,
          ori == 1 ? plotHgt : plotWid,
          roundDec(border2.width * pxRatio, 3),
          border2.stroke(self, i),
          border2.dash,
          border2.cap
        );
      }
    }
    fire("drawAxes");
  }
  function resetYSeries(minMax) {
    series.forEach((s, i) => {
      if (i > 0) {
        s._paths = null;
        if (minMax) {
          if (mode == 1) {
            s.min = null;
            s.max = null;
          } else {
            s.facets.forEach((f) => {
              f.min = null;
              f.max = null;
            });
          }
        }
      }
    });
  }
  let queuedCommit = false;
  let deferHooks = false;
  let hooksQueue = [];
  function flushHooks() {
    deferHooks = false;
    for (let i = 0; i < hooksQueue.length; i++)
      fire(...hooksQueue[i]);
    hooksQueue.length = 0;
  }
  function commit() {
    if (!queuedCommit) {
      microTask(_commit);
      queuedCommit = true;
    }
  }
  function batch(fn, _deferHooks = false) {
    queuedCommit = true;
    deferHooks = _deferHooks;
    fn(self);
    _commit();
    if (_deferHooks && hooksQueue.length > 0)
      queueMicrotask(flushHooks);
  }
  self.batch = batch;
  function _commit() {
    if (shouldSetScales) {
      setScales();
      shouldSetScales = false;
    }
    if (shouldConvergeSize) {
      convergeSize();
      shouldConvergeSize = false;
    }
    if (shouldSetSize) {
      setStylePx(under, LEFT, plotLftCss);
      setStylePx(under, TOP, plotTopCss);
      setStylePx(under, WIDTH, plotWidCss);
      setStylePx(under, HEIGHT, plotHgtCss);
      setStylePx(over, LEFT, plotLftCss);
      setStylePx(over, TOP, plotTopCss);
      setStylePx(over, WIDTH, plotWidCss);
      setStylePx(over, HEIGHT, plotHgtCss);
      setStylePx(wrap, WIDTH, fullWidCss);
      setStylePx(wrap, HEIGHT, fullHgtCss);
      can.width = round(fullWidCss * pxRatio);
      can.height = round(fullHgtCss * pxRatio);
      axes.forEach(({ _el, _show, _size, _pos, side }) => {
        if (_el != null) {
          if (_show) {
            let posOffset = side === 3 || side === 0 ? _size : 0;
            let isVt = side % 2 == 1;
            setStylePx(_el, isVt ? "left" : "top", _pos - posOffset);
            setStylePx(_el, isVt ? "width" : "height", _size);
            setStylePx(_el, isVt ? "top" : "left", isVt ? plotTopCss : plotLftCss);
            setStylePx(_el, isVt ? "height" : "width", isVt ? plotHgtCss : plotWidCss);
            remClass(_el, OFF);
          } else
            addClass(_el, OFF);
        }
      });
      ctxStroke = ctxFill = ctxWidth = ctxJoin = ctxCap = ctxFont = ctxAlign = ctxBaseline = ctxDash = null;
      ctxAlpha = 1;
      syncRect(true);
      if (plotLftCss != _plotLftCss || plotTopCss != _plotTopCss || plotWidCss != _plotWidCss || plotHgtCss != _plotHgtCss) {
        resetYSeries(false);
        let pctWid = plotWidCss / _plotWidCss;
        let pctHgt = plotHgtCss / _plotHgtCss;
        if (showCursor && !shouldSetCursor && cursor.left >= 0) {
          cursor.left *= pctWid;
          cursor.top *= pctHgt;
          vCursor && elTrans(vCursor, round(cursor.left), 0, plotWidCss, plotHgtCss);
          hCursor && elTrans(hCursor, 0, round(cursor.top), plotWidCss, plotHgtCss);
          for (let i = 0; i < cursorPts.length; i++) {
            let pt = cursorPts[i];
            if (pt != null) {
              cursorPtsLft[i] *= pctWid;
              cursorPtsTop[i] *= pctHgt;
              elTrans(pt, ceil(cursorPtsLft[i]), ceil(cursorPtsTop[i]), plotWidCss, plotHgtCss);
            }
          }
        }
        if (select.show && !shouldSetSelect && select.left >= 0 && select.width > 0) {
          select.left *= pctWid;
          select.width *= pctWid;
          select.top *= pctHgt;
          select.height *= pctHgt;
          for (let prop in _hideProps)
            setStylePx(selectDiv, prop, select[prop]);
        }
        _plotLftCss = plotLftCss;
        _plotTopCss = plotTopCss;
        _plotWidCss = plotWidCss;
        _plotHgtCss = plotHgtCss;
      }
      fire("setSize");
      shouldSetSize = false;
    }
    if (fullWidCss > 0 && fullHgtCss > 0) {
      ctx.clearRect(0, 0, can.width, can.height);
      fire("drawClear");
      drawOrder.forEach((fn) => fn());
      fire("draw");
    }
    if (select.show && shouldSetSelect) {
      setSelect(select);
      shouldSetSelect = false;
    }
    if (showCursor && shouldSetCursor) {
      updateCursor(null, true, false);
      shouldSetCursor = false;
    }
    if (legend.show && legend.live && shouldSetLegend) {
      setLegend();
      shouldSetLegend = false;
    }
    if (!ready) {
      ready = true;
      self.status = 1;
      fire("ready");
    }
    viaAutoScaleX = false;
    queuedCommit = false;
  }
  self.redraw = (rebuildPaths, recalcAxes) => {
    shouldConvergeSize = recalcAxes || false;
    if (rebuildPaths !== false)
      _setScale(xScaleKey, scaleX.min, scaleX.max);
    else
      commit();
  };
  function setScale(key2, opts2) {
    let sc = scales[key2];
    if (sc.from == null) {
      if (dataLen == 0) {
        let minMax = sc.range(self, opts2.min, opts2.max, key2);
        opts2.min = minMax[0];
        opts2.max = minMax[1];
      }
      if (opts2.min > opts2.max) {
        let _min = opts2.min;
        opts2.min = opts2.max;
        opts2.max = _min;
      }
      if (dataLen > 1 && opts2.min != null && opts2.max != null && opts2.max - opts2.min < 1e-16)
        return;
      if (key2 == xScaleKey) {
        if (sc.distr == 2 && dataLen > 0) {
          opts2.min = closestIdx(opts2.min, data[0]);
          opts2.max = closestIdx(opts2.max, data[0]);
          if (opts2.min == opts2.max)
            opts2.max++;
        }
      }
      pendScales[key2] = opts2;
      shouldSetScales = true;
      commit();
    }
  }
  self.setScale = setScale;
  let xCursor;
  let yCursor;
  let vCursor;
  let hCursor;
  let rawMouseLeft0;
  let rawMouseTop0;
  let mouseLeft0;
  let mouseTop0;
  let rawMouseLeft1;
  let rawMouseTop1;
  let mouseLeft1;
  let mouseTop1;
  let dragging = false;
  const drag = cursor.drag;
  let dragX = drag.x;
  let dragY = drag.y;
  if (showCursor) {
    if (cursor.x)
      xCursor = placeDiv(CURSOR_X, over);
    if (cursor.y)
      yCursor = placeDiv(CURSOR_Y, over);
    if (scaleX.ori == 0) {
      vCursor = xCursor;
      hCursor = yCursor;
    } else {
      vCursor = yCursor;
      hCursor = xCursor;
    }
    mouseLeft1 = cursor.left;
    mouseTop1 = cursor.top;
  }
  const select = self.select = assign({
    show: true,
    over: true,
    left: 0,
    width: 0,
    top: 0,
    height: 0
  }, opts.select);
  const selectDiv = select.show ? placeDiv(SELECT, select.over ? over : under) : null;
  function setSelect(opts2, _fire) {
    if (select.show) {
      for (let prop in opts2) {
        select[prop] = opts2[prop];
        if (prop in _hideProps)
          setStylePx(selectDiv, prop, opts2[prop]);
      }
      _fire !== false && fire("setSelect");
    }
  }
  self.setSelect = setSelect;
  function toggleDOM(i) {
    let s = series[i];
    if (s.show)
      showLegend && remClass(legendRows[i], OFF);
    else {
      showLegend && addClass(legendRows[i], OFF);
      if (showCursor) {
        let pt = cursorOnePt ? cursorPts[0] : cursorPts[i];
        pt != null && elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
      }
    }
  }
  function _setScale(key2, min2, max2) {
    setScale(key2, { min: min2, max: max2 });
  }
  function setSeries(i, opts2, _fire, _pub) {
    if (opts2.focus != null)
      setFocus(i);
    if (opts2.show != null) {
      series.forEach((s, si) => {
        if (si > 0 && (i == si || i == null)) {
          s.show = opts2.show;
          toggleDOM(si);
          if (mode == 2) {
            _setScale(s.facets[0].scale, null, null);
            _setScale(s.facets[1].scale, null, null);
          } else
            _setScale(s.scale, null, null);
          commit();
        }
      });
    }
    _fire !== false && fire("setSeries", i, opts2);
    _pub && pubSync("setSeries", self, i, opts2);
  }
  self.setSeries = setSeries;
  function setBand(bi, opts2) {
    assign(bands[bi], opts2);
  }
  function addBand(opts2, bi) {
    opts2.fill = fnOrSelf(opts2.fill || null);
    opts2.dir = ifNull(opts2.dir, -1);
    bi = bi == null ? bands.length : bi;
    bands.splice(bi, 0, opts2);
  }
  function delBand(bi) {
    if (bi == null)
      bands.length = 0;
    else
      bands.splice(bi, 1);
  }
  self.addBand = addBand;
  self.setBand = setBand;
  self.delBand = delBand;
  function setAlpha(i, value) {
    series[i].alpha = value;
    if (showCursor && cursorPts[i] != null)
      cursorPts[i].style.opacity = value;
    if (showLegend && legendRows[i])
      legendRows[i].style.opacity = value;
  }
  let closestDist;
  let closestSeries;
  let focusedSeries;
  const FOCUS_TRUE = { focus: true };
  function setFocus(i) {
    if (i != focusedSeries) {
      let allFocused = i == null;
      let _setAlpha = focus.alpha != 1;
      series.forEach((s, i2) => {
        if (mode == 1 || i2 > 0) {
          let isFocused = allFocused || i2 == 0 || i2 == i;
          s._focus = allFocused ? null : isFocused;
          _setAlpha && setAlpha(i2, isFocused ? 1 : focus.alpha);
        }
      });
      focusedSeries = i;
      _setAlpha && commit();
    }
  }
  if (showLegend && cursorFocus) {
    onMouse(mouseleave, legendTable, (e) => {
      if (cursor._lock)
        return;
      setCursorEvent(e);
      if (focusedSeries != null)
        setSeries(null, FOCUS_TRUE, true, syncOpts.setSeries);
    });
  }
  function posToVal(pos, scale, can2) {
    let sc = scales[scale];
    if (can2)
      pos = pos / pxRatio - (sc.ori == 1 ? plotTopCss : plotLftCss);
    let dim = plotWidCss;
    if (sc.ori == 1) {
      dim = plotHgtCss;
      pos = dim - pos;
    }
    if (sc.dir == -1)
      pos = dim - pos;
    let _min = sc._min, _max = sc._max, pct = pos / dim;
    let sv = _min + (_max - _min) * pct;
    let distr = sc.distr;
    return distr == 3 ? pow(10, sv) : distr == 4 ? sinh(sv, sc.asinh) : distr == 100 ? sc.bwd(sv) : sv;
  }
  function closestIdxFromXpos(pos, can2) {
    let v = posToVal(pos, xScaleKey, can2);
    return closestIdx(v, data[0], i0, i1);
  }
  self.valToIdx = (val) => closestIdx(val, data[0]);
  self.posToIdx = closestIdxFromXpos;
  self.posToVal = posToVal;
  self.valToPos = (val, scale, can2) => scales[scale].ori == 0 ? getHPos(
    val,
    scales[scale],
    can2 ? plotWid : plotWidCss,
    can2 ? plotLft : 0
  ) : getVPos(
    val,
    scales[scale],
    can2 ? plotHgt : plotHgtCss,
    can2 ? plotTop : 0
  );
  self.setCursor = (opts2, _fire, _pub) => {
    mouseLeft1 = opts2.left;
    mouseTop1 = opts2.top;
    updateCursor(null, _fire, _pub);
  };
  function setSelH(off2, dim) {
    setStylePx(selectDiv, LEFT, select.left = off2);
    setStylePx(selectDiv, WIDTH, select.width = dim);
  }
  function setSelV(off2, dim) {
    setStylePx(selectDiv, TOP, select.top = off2);
    setStylePx(selectDiv, HEIGHT, select.height = dim);
  }
  let setSelX = scaleX.ori == 0 ? setSelH : setSelV;
  let setSelY = scaleX.ori == 1 ? setSelH : setSelV;
  function syncLegend() {
    if (showLegend && legend.live) {
      for (let i = mode == 2 ? 1 : 0; i < series.length; i++) {
        if (i == 0 && multiValLegend)
          continue;
        let vals = legend.values[i];
        let j = 0;
        for (let k in vals)
          legendCells[i][j++].firstChild.nodeValue = vals[k];
      }
    }
  }
  function setLegend(opts2, _fire) {
    if (opts2 != null) {
      if (opts2.idxs) {
        opts2.idxs.forEach((didx, sidx) => {
          activeIdxs[sidx] = didx;
        });
      } else if (!isUndef(opts2.idx))
        activeIdxs.fill(opts2.idx);
      legend.idx = activeIdxs[0];
    }
    if (showLegend && legend.live) {
      for (let sidx = 0; sidx < series.length; sidx++) {
        if (sidx > 0 || mode == 1 && !multiValLegend)
          setLegendValues(sidx, activeIdxs[sidx]);
      }
      syncLegend();
    }
    shouldSetLegend = false;
    _fire !== false && fire("setLegend");
  }
  self.setLegend = setLegend;
  function setLegendValues(sidx, idx) {
    let s = series[sidx];
    let src = sidx == 0 && xScaleDistr == 2 ? data0 : data[sidx];
    let val;
    if (multiValLegend)
      val = s.values(self, sidx, idx) ?? NULL_LEGEND_VALUES;
    else {
      val = s.value(self, idx == null ? null : src[idx], sidx, idx);
      val = val == null ? NULL_LEGEND_VALUES : { _: val };
    }
    legend.values[sidx] = val;
  }
  function updateCursor(src, _fire, _pub) {
    rawMouseLeft1 = mouseLeft1;
    rawMouseTop1 = mouseTop1;
    [mouseLeft1, mouseTop1] = cursor.move(self, mouseLeft1, mouseTop1);
    cursor.left = mouseLeft1;
    cursor.top = mouseTop1;
    if (showCursor) {
      vCursor && elTrans(vCursor, round(mouseLeft1), 0, plotWidCss, plotHgtCss);
      hCursor && elTrans(hCursor, 0, round(mouseTop1), plotWidCss, plotHgtCss);
    }
    let idx;
    let noDataInRange = i0 > i1;
    closestDist = inf;
    closestSeries = null;
    let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss;
    let yDim = scaleX.ori == 1 ? plotWidCss : plotHgtCss;
    if (mouseLeft1 < 0 || dataLen == 0 || noDataInRange) {
      idx = cursor.idx = null;
      for (let i = 0; i < series.length; i++) {
        let pt = cursorPts[i];
        pt != null && elTrans(pt, -10, -10, plotWidCss, plotHgtCss);
      }
      if (cursorFocus)
        setSeries(null, FOCUS_TRUE, true, src == null && syncOpts.setSeries);
      if (legend.live) {
        activeIdxs.fill(idx);
        shouldSetLegend = true;
      }
    } else {
      let mouseXPos, valAtPosX, xPos;
      if (mode == 1) {
        mouseXPos = scaleX.ori == 0 ? mouseLeft1 : mouseTop1;
        valAtPosX = posToVal(mouseXPos, xScaleKey);
        idx = cursor.idx = closestIdx(valAtPosX, data[0], i0, i1);
        xPos = valToPosX(data[0][idx], scaleX, xDim, 0);
      }
      let _ptLft = -10;
      let _ptTop = -10;
      let _ptWid = 0;
      let _ptHgt = 0;
      let _centered = true;
      let _ptFill = "";
      let _ptStroke = "";
      for (let i = mode == 2 ? 1 : 0; i < series.length; i++) {
        let s = series[i];
        let idx1 = activeIdxs[i];
        let yVal1 = idx1 == null ? null : mode == 1 ? data[i][idx1] : data[i][1][idx1];
        let idx2 = cursor.dataIdx(self, i, idx, valAtPosX);
        let yVal2 = idx2 == null ? null : mode == 1 ? data[i][idx2] : data[i][1][idx2];
        shouldSetLegend = shouldSetLegend || yVal2 != yVal1 || idx2 != idx1;
        activeIdxs[i] = idx2;
        if (i > 0 && s.show) {
          let xPos2 = idx2 == null ? -10 : idx2 == idx ? xPos : valToPosX(mode == 1 ? data[0][idx2] : data[i][0][idx2], scaleX, xDim, 0);
          let yPos = yVal2 == null ? -10 : valToPosY(yVal2, mode == 1 ? scales[s.scale] : scales[s.facets[1].scale], yDim, 0);
          if (cursorFocus && yVal2 != null) {
            let mouseYPos = scaleX.ori == 1 ? mouseLeft1 : mouseTop1;
            let dist = abs(focus.dist(self, i, idx2, yPos, mouseYPos));
            if (dist < closestDist) {
              let bias = focus.bias;
              if (bias != 0) {
                let mouseYVal = posToVal(mouseYPos, s.scale);
                let seriesYValSign = yVal2 >= 0 ? 1 : -1;
                let mouseYValSign = mouseYVal >= 0 ? 1 : -1;
                if (mouseYValSign == seriesYValSign && (mouseYValSign == 1 ? bias == 1 ? yVal2 >= mouseYVal : yVal2 <= mouseYVal : (
                  // >= 0
                  bias == 1 ? yVal2 <= mouseYVal : yVal2 >= mouseYVal
                ))) {
                  closestDist = dist;
                  closestSeries = i;
                }
              } else {
                closestDist = dist;
                closestSeries = i;
              }
            }
          }
          if (shouldSetLegend || cursorOnePt) {
            let hPos, vPos;
            if (scaleX.ori == 0) {
              hPos = xPos2;
              vPos = yPos;
            } else {
              hPos = yPos;
              vPos = xPos2;
            }
            let ptWid, ptHgt, ptLft, ptTop, ptStroke, ptFill, centered = true, getBBox = points2.bbox;
            if (getBBox != null) {
              centered = false;
              let bbox = getBBox(self, i);
              ptLft = bbox.left;
              ptTop = bbox.top;
              ptWid = bbox.width;
              ptHgt = bbox.height;
            } else {
              ptLft = hPos;
              ptTop = vPos;
              ptWid = ptHgt = points2.size(self, i);
            }
            ptFill = points2.fill(self, i);
            ptStroke = points2.stroke(self, i);
            if (cursorOnePt) {
              if (i == closestSeries && closestDist <= focus.prox) {
                _ptLft = ptLft;
                _ptTop = ptTop;
                _ptWid = ptWid;
                _ptHgt = ptHgt;
                _centered = centered;
                _ptFill = ptFill;
                _ptStroke = ptStroke;
              }
            } else {
              let pt = cursorPts[i];
              if (pt != null) {
                cursorPtsLft[i] = ptLft;
                cursorPtsTop[i] = ptTop;
                elSize(pt, ptWid, ptHgt, centered);
                elColor(pt, ptFill, ptStroke);
                elTrans(pt, ceil(ptLft), ceil(ptTop), plotWidCss, plotHgtCss);
              }
            }
          }
        }
      }
      if (cursorOnePt) {
        let p = focus.prox;
        let focusChanged = focusedSeries == null ? closestDist <= p : closestDist > p || closestSeries != focusedSeries;
        if (shouldSetLegend || focusChanged) {
          let pt = cursorPts[0];
          if (pt != null) {
            cursorPtsLft[0] = _ptLft;
            cursorPtsTop[0] = _ptTop;
            elSize(pt, _ptWid, _ptHgt, _centered);
            elColor(pt, _ptFill, _ptStroke);
            elTrans(pt, ceil(_ptLft), ceil(_ptTop), plotWidCss, plotHgtCss);
          }
        }
      }
    }
    if (select.show && dragging) {
      if (src != null) {
        let [xKey, yKey] = syncOpts.scales;
        let [matchXKeys, matchYKeys] = syncOpts.match;
        let [xKeySrc, yKeySrc] = src.cursor.sync.scales;
        let sdrag = src.cursor.drag;
        dragX = sdrag._x;
        dragY = sdrag._y;
        if (dragX || dragY) {
          let { left, top, width, height } = src.select;
          let sori = src.scales[xKeySrc].ori;
          let sPosToVal = src.posToVal;
          let sOff, sDim, sc, a, b;
          let matchingX = xKey != null && matchXKeys(xKey, xKeySrc);
          let matchingY = yKey != null && matchYKeys(yKey, yKeySrc);
          if (matchingX && dragX) {
            if (sori == 0) {
              sOff = left;
              sDim = width;
            } else {
              sOff = top;
              sDim = height;
            }
            sc = scales[xKey];
            a = valToPosX(sPosToVal(sOff, xKeySrc), sc, xDim, 0);
            b = valToPosX(sPosToVal(sOff + sDim, xKeySrc), sc, xDim, 0);
            setSelX(min(a, b), abs(b - a));
          } else
            setSelX(0, xDim);
          if (matchingY && dragY) {
            if (sori == 1) {
              sOff = left;
              sDim = width;
            } else {
              sOff = top;
              sDim = height;
            }
            sc = scales[yKey];
            a = valToPosY(sPosToVal(sOff, yKeySrc), sc, yDim, 0);
            b = valToPosY(sPosToVal(sOff + sDim, yKeySrc), sc, yDim, 0);
            setSelY(min(a, b), abs(b - a));
          } else
            setSelY(0, yDim);
        } else
          hideSelect();
      } else {
        let rawDX = abs(rawMouseLeft1 - rawMouseLeft0);
        let rawDY = abs(rawMouseTop1 - rawMouseTop0);
        if (scaleX.ori == 1) {
          let _rawDX = rawDX;
          rawDX = rawDY;
          rawDY = _rawDX;
        }
        dragX = drag.x && rawDX >= drag.dist;
        dragY = drag.y && rawDY >= drag.dist;
        let uni = drag.uni;
        if (uni != null) {
          if (dragX && dragY) {
            dragX = rawDX >= uni;
            dragY = rawDY >= uni;
            if (!dragX && !dragY) {
              if (rawDY > rawDX)
                dragY = true;
              else
                dragX = true;
            }
          }
        } else if (drag.x && drag.y && (dragX || dragY))
          dragX = dragY = true;
        let p0, p1;
        if (dragX) {
          if (scaleX.ori == 0) {
            p0 = mouseLeft0;
            p1 = mouseLeft1;
          } else {
            p0 = mouseTop0;
            p1 = mouseTop1;
          }
          setSelX(min(p0, p1), abs(p1 - p0));
          if (!dragY)
            setSelY(0, yDim);
        }
        if (dragY) {
          if (scaleX.ori == 1) {
            p0 = mouseLeft0;
            p1 = mouseLeft1;
          } else {
            p0 = mouseTop0;
            p1 = mouseTop1;
          }
          setSelY(min(p0, p1), abs(p1 - p0));
          if (!dragX)
            setSelX(0, xDim);
        }
        if (!dragX && !dragY) {
          setSelX(0, 0);
          setSelY(0, 0);
        }
      }
    }
    drag._x = dragX;
    drag._y = dragY;
    if (src == null) {
      if (_pub) {
        if (syncKey != null) {
          let [xSyncKey, ySyncKey] = syncOpts.scales;
          syncOpts.values[0] = xSyncKey != null ? posToVal(scaleX.ori == 0 ? mouseLeft1 : mouseTop1, xSyncKey) : null;
          syncOpts.values[1] = ySyncKey != null ? posToVal(scaleX.ori == 1 ? mouseLeft1 : mouseTop1, ySyncKey) : null;
        }
        pubSync(mousemove, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, idx);
      }
      if (cursorFocus) {
        let shouldPub = _pub && syncOpts.setSeries;
        let p = focus.prox;
        if (focusedSeries == null) {
          if (closestDist <= p)
            setSeries(closestSeries, FOCUS_TRUE, true, shouldPub);
        } else {
          if (closestDist > p)
            setSeries(null, FOCUS_TRUE, true, shouldPub);
          else if (closestSeries != focusedSeries)
            setSeries(closestSeries, FOCUS_TRUE, true, shouldPub);
        }
      }
    }
    if (shouldSetLegend) {
      legend.idx = idx;
      setLegend();
    }
    _fire !== false && fire("setCursor");
  }
  let rect2 = null;
  Object.defineProperty(self, "rect", {
    get() {
      if (rect2 == null)
        syncRect(false);
      return rect2;
    }
  });
  function syncRect(defer = false) {
    if (defer)
      rect2 = null;
    else {
      rect2 = over.getBoundingClientRect();
      fire("syncRect", rect2);
    }
  }
  function mouseMove(e, src, _l, _t, _w, _h, _i) {
    if (cursor._lock)
      return;
    if (dragging && e != null && e.movementX == 0 && e.movementY == 0)
      return;
    cacheMouse(e, src, _l, _t, _w, _h, _i, false, e != null);
    if (e != null)
      updateCursor(null, true, true);
    else
      updateCursor(src, true, false);
  }
  function cacheMouse(e, src, _l, _t, _w, _h, _i, initial, snap) {
    if (rect2 == null)
      syncRect(false);
    setCursorEvent(e);
    if (e != null) {
      _l = e.clientX - rect2.left;
      _t = e.clientY - rect2.top;
    } else {
      if (_l < 0 || _t < 0) {
        mouseLeft1 = -10;
        mouseTop1 = -10;
        return;
      }
      let [xKey, yKey] = syncOpts.scales;
      let syncOptsSrc = src.cursor.sync;
      let [xValSrc, yValSrc] = syncOptsSrc.values;
      let [xKeySrc, yKeySrc] = syncOptsSrc.scales;
      let [matchXKeys, matchYKeys] = syncOpts.match;
      let rotSrc = src.axes[0].side % 2 == 1;
      let xDim = scaleX.ori == 0 ? plotWidCss : plotHgtCss, yDim = scaleX.ori == 1 ? plotWidCss : plotHgtCss, _xDim = rotSrc ? _h : _w, _yDim = rotSrc ? _w : _h, _xPos = rotSrc ? _t : _l, _yPos = rotSrc ? _l : _t;
      if (xKeySrc != null)
        _l = matchXKeys(xKey, xKeySrc) ? getPos(xValSrc, scales[xKey], xDim, 0) : -10;
      else
        _l = xDim * (_xPos / _xDim);
      if (yKeySrc != null)
        _t = matchYKeys(yKey, yKeySrc) ? getPos(yValSrc, scales[yKey], yDim, 0) : -10;
      else
        _t = yDim * (_yPos / _yDim);
      if (scaleX.ori == 1) {
        let __l = _l;
        _l = _t;
        _t = __l;
      }
    }
    if (snap && (src == null || src.cursor.event.type == mousemove)) {
      if (_l <= 1 || _l >= plotWidCss - 1)
        _l = incrRound(_l, plotWidCss);
      if (_t <= 1 || _t >= plotHgtCss - 1)
        _t = incrRound(_t, plotHgtCss);
    }
    if (initial) {
      rawMouseLeft0 = _l;
      rawMouseTop0 = _t;
      [mouseLeft0, mouseTop0] = cursor.move(self, _l, _t);
    } else {
      mouseLeft1 = _l;
      mouseTop1 = _t;
    }
  }
  const _hideProps = {
    width: 0,
    height: 0,
    left: 0,
    top: 0
  };
  function hideSelect() {
    setSelect(_hideProps, false);
  }
  let downSelectLeft;
  let downSelectTop;
  let downSelectWidth;
  let downSelectHeight;
  function mouseDown(e, src, _l, _t, _w, _h, _i) {
    dragging = true;
    dragX = dragY = drag._x = drag._y = false;
    cacheMouse(e, src, _l, _t, _w, _h, _i, true, false);
    if (e != null) {
      onMouse(mouseup, doc, mouseUp, false);
      pubSync(mousedown, self, mouseLeft0, mouseTop0, plotWidCss, plotHgtCss, null);
    }
    let { left, top, width, height } = select;
    downSelectLeft = left;
    downSelectTop = top;
    downSelectWidth = width;
    downSelectHeight = height;
  }
  function mouseUp(e, src, _l, _t, _w, _h, _i) {
    dragging = drag._x = drag._y = false;
    cacheMouse(e, src, _l, _t, _w, _h, _i, false, true);
    let { left, top, width, height } = select;
    let hasSelect = width > 0 || height > 0;
    let chgSelect = downSelectLeft != left || downSelectTop != top || downSelectWidth != width || downSelectHeight != height;
    hasSelect && chgSelect && setSelect(select);
    if (drag.setScale && hasSelect && chgSelect) {
      let xOff = left, xDim = width, yOff = top, yDim = height;
      if (scaleX.ori == 1) {
        xOff = top, xDim = height, yOff = left, yDim = width;
      }
      if (dragX) {
        _setScale(
          xScaleKey,
          posToVal(xOff, xScaleKey),
          posToVal(xOff + xDim, xScaleKey)
        );
      }
      if (dragY) {
        for (let k in scales) {
          let sc = scales[k];
          if (k != xScaleKey && sc.from == null && sc.min != inf) {
            _setScale(
              k,
              posToVal(yOff + yDim, k),
              posToVal(yOff, k)
            );
          }
        }
      }
      hideSelect();
    } else if (cursor.lock) {
      cursor._lock = !cursor._lock;
      updateCursor(src, true, e != null);
    }
    if (e != null) {
      offMouse(mouseup, doc);
      pubSync(mouseup, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, null);
    }
  }
  function mouseLeave(e, src, _l, _t, _w, _h, _i) {
    if (cursor._lock)
      return;
    setCursorEvent(e);
    let _dragging = dragging;
    if (dragging) {
      let snapH = true;
      let snapV = true;
      let snapProx = 10;
      let dragH, dragV;
      if (scaleX.ori == 0) {
        dragH = dragX;
        dragV = dragY;
      } else {
        dragH = dragY;
        dragV = dragX;
      }
      if (dragH && dragV) {
        snapH = mouseLeft1 <= snapProx || mouseLeft1 >= plotWidCss - snapProx;
        snapV = mouseTop1 <= snapProx || mouseTop1 >= plotHgtCss - snapProx;
      }
      if (dragH && snapH)
        mouseLeft1 = mouseLeft1 < mouseLeft0 ? 0 : plotWidCss;
      if (dragV && snapV)
        mouseTop1 = mouseTop1 < mouseTop0 ? 0 : plotHgtCss;
      updateCursor(null, true, true);
      dragging = false;
    }
    mouseLeft1 = -10;
    mouseTop1 = -10;
    activeIdxs.fill(null);
    updateCursor(null, true, true);
    if (_dragging)
      dragging = _dragging;
  }
  function dblClick(e, src, _l, _t, _w, _h, _i) {
    if (cursor._lock)
      return;
    setCursorEvent(e);
    autoScaleX();
    hideSelect();
    if (e != null)
      pubSync(dblclick, self, mouseLeft1, mouseTop1, plotWidCss, plotHgtCss, null);
  }
  function syncPxRatio() {
    axes.forEach(syncFontSize);
    _setSize(self.width, self.height, true);
  }
  on(dppxchange, win, syncPxRatio);
  const events = {};
  events.mousedown = mouseDown;
  events.mousemove = mouseMove;
  events.mouseup = mouseUp;
  events.dblclick = dblClick;
  events["setSeries"] = (e, src, idx, opts2) => {
    let seriesIdxMatcher2 = syncOpts.match[2];
    idx = seriesIdxMatcher2(self, src, idx);
    idx != -1 && setSeries(idx, opts2, true, false);
  };
  if (showCursor) {
    onMouse(mousedown, over, mouseDown);
    onMouse(mousemove, over, mouseMove);
    onMouse(mouseenter, over, (e) => {
      setCursorEvent(e);
      syncRect(false);
    });
    onMouse(mouseleave, over, mouseLeave);
    onMouse(dblclick, over, dblClick);
    cursorPlots.add(self);
    self.syncRect = syncRect;
  }
  const hooks = self.hooks = opts.hooks || {};
  function fire(evName, a1, a2) {
    if (deferHooks)
      hooksQueue.push([evName, a1, a2]);
    else {
      if (evName in hooks) {
        hooks[evName].forEach((fn) => {
          fn.call(null, self, a1, a2);
        });
      }
    }
  }
  (opts.plugins || []).forEach((p) => {
    for (let evName in p.hooks)
      hooks[evName] = (hooks[evName] || []).concat(p.hooks[evName]);
  });
  const seriesIdxMatcher = (self2, src, srcSeriesIdx) => srcSeriesIdx;
  const syncOpts = assign({
    key: null,
    setSeries: false,
    filters: {
      pub: retTrue,
      sub: retTrue
    },
    scales: [xScaleKey, series[1] ? series[1].scale : null],
    match: [retEq, retEq, seriesIdxMatcher],
    values: [null, null]
  }, cursor.sync);
  if (syncOpts.match.length == 2)
    syncOpts.match.push(seriesIdxMatcher);
  cursor.sync = syncOpts;
  const syncKey = syncOpts.key;
  const sync = _sync(syncKey);
  function pubSync(type, src, x, y, w, h, i) {
    if (syncOpts.filters.pub(type, src, x, y, w, h, i))
      sync.pub(type, src, x, y, w, h, i);
  }
  sync.sub(self);
  function pub(type, src, x, y, w, h, i) {
    if (syncOpts.filters.sub(type, src, x, y, w, h, i))
      events[type](null, src, x, y, w, h, i);
  }
  self.pub = pub;
  function destroy() {
    sync.unsub(self);
    cursorPlots.delete(self);
    mouseListeners.clear();
    off(dppxchange, win, syncPxRatio);
    root2.remove();
    legendTable?.remove();
    fire("destroy");
  }
  self.destroy = destroy;
  function _init() {
    fire("init", opts, data);
    setData(data || opts.data, false);
    if (pendScales[xScaleKey])
      setScale(xScaleKey, pendScales[xScaleKey]);
    else
      autoScaleX();
    shouldSetSelect = select.show && (select.width > 0 || select.height > 0);
    shouldSetCursor = shouldSetLegend = true;
    _setSize(opts.width, opts.height);
  }
  series.forEach(initSeries);
  axes.forEach(initAxis);
  if (then) {
    if (then instanceof HTMLElement) {
      then.appendChild(root2);
      _init();
    } else
      then(self, _init);
  } else
    _init();
  return self;
}
uPlot.assign = assign;
uPlot.fmtNum = fmtNum;
uPlot.rangeNum = rangeNum;
uPlot.rangeLog = rangeLog;
uPlot.rangeAsinh = rangeAsinh;
uPlot.orient = orient;
uPlot.pxRatio = pxRatio;
{
  uPlot.join = join;
}
{
  uPlot.fmtDate = fmtDate;
  uPlot.tzDate = tzDate;
}
uPlot.sync = _sync;
{
  uPlot.addGap = addGap;
  uPlot.clipGaps = clipGaps;
  let paths = uPlot.paths = {
    points
  };
  paths.linear = linear;
  paths.stepped = stepped;
  paths.bars = bars;
  paths.spline = monotoneCubic;
}

// site/browser/market/market-chart.ts
var FONT = "12px system-ui, sans-serif";
var EMPTY = { metric: "", seconds: [], series: [] };
var MarketChart = class {
  #host;
  #onMove;
  #onRange;
  #plot = null;
  /** The lines that the plot was made for. */
  #lines = "";
  #shown = { data: EMPTY, hidden: /* @__PURE__ */ new Set(), isDisputed: false, axisText: "" };
  #chosen = null;
  /** Null: the whole history, also when it grows. */
  #range = null;
  /**
   * @param onMove after the crosshair has moved
   * @param onRange after another part of the history is shown
   */
  constructor(host, onMove, onRange) {
    this.#host = host;
    this.#onMove = onMove;
    this.#onRange = onRange;
    new ResizeObserver(() => this.#plot?.setSize(this.#size())).observe(host);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#make());
  }
  get data() {
    return this.#shown.data;
  }
  get plot() {
    return this.#plot;
  }
  get whole() {
    return wholeRange(this.#shown.data.seconds);
  }
  get range() {
    return this.#range === null ? this.whole : panned(this.#range, 0, this.whole);
  }
  /** Shows other data, and the same part of the time axis as before. */
  show(shown) {
    this.#shown = shown;
    const lines = JSON.stringify([shown.axisText, shown.data.metric, shown.data.series.map(({ name }) => name)]);
    if (this.#plot === null || lines !== this.#lines) {
      this.#lines = lines;
      this.#make();
      return;
    }
    this.#plot.setData(alignedOf(shown.data), false);
    for (const [index, { name }] of shown.data.series.entries()) {
      const show = !shown.hidden.has(name);
      if (this.#plot.series[index + 1]?.show !== show) this.#plot.setSeries(index + 1, { show });
    }
    this.#plot.setScale("x", { ...this.range });
  }
  /** @param range null: everything */
  setRange(range) {
    const { min: min2, max: max2 } = this.whole;
    this.#range = range !== null && range.min <= min2 && range.max >= max2 ? null : range;
    this.#plot?.setScale("x", { ...this.range });
    this.#onRange();
  }
  get isWhole() {
    return this.#range === null;
  }
  choose(row) {
    this.#chosen = row;
    this.#plot?.redraw(false);
  }
  #make() {
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#options(), alignedOf(this.#shown.data), this.#host);
    this.#plot.setScale("x", { ...this.range });
  }
  #size() {
    return { width: Math.max(200, this.#host.clientWidth), height: Math.max(200, this.#host.clientHeight) };
  }
  #options() {
    const colours = chartColours(this.#host);
    const { data, hidden, axisText } = this.#shown;
    const lines = {
      grid: { stroke: colours.rule, width: 1 },
      ticks: { stroke: colours.rule, width: 1, size: 5 },
      stroke: colours.soft,
      font: FONT
    };
    return {
      ...this.#size(),
      tzDate: (second) => uPlot.tzDate(new Date(second * 1e3), "Etc/UTC"),
      padding: [12, () => labelMargin(this.#shown.data), 0, 0],
      legend: { show: false },
      cursor: {
        drag: { x: false, y: false, setScale: false },
        points: { show: false },
        y: false,
        bind: { dblclick: () => null }
      },
      scales: {
        x: { time: true, auto: false },
        y: { range: (_plot, min2, max2) => rangeOfValues(min2, max2) }
      },
      axes: [
        { ...lines, space: 56, size: 44, values: (_plot, splits, _axis, _space, step2) => timeTicks(splits, step2) },
        {
          ...lines,
          size: (_plot, texts) => 14 + 7 * Math.max(4, ...(texts ?? []).map((text) => text.length)),
          values: (_plot, splits, _axis, _space, step2) => valueTicks(splits, step2),
          label: axisText,
          labelFont: FONT,
          labelSize: 20
        }
      ],
      series: [
        {},
        ...data.series.map(({ name }, index) => {
          const { colour, dash } = lookOfSeries(index);
          return {
            label: name,
            show: !hidden.has(name),
            stroke: colours.series[colour],
            width: 1.75,
            dash: [...SERIES_DASHES[dash]],
            points: { show: false }
          };
        })
      ],
      hooks: {
        draw: [(plot) => drawMarks(plot, { ...this.#shown, colours, chosen: this.#chosen })],
        setCursor: [(plot) => this.#onMove(plot)]
      }
    };
  }
};
function alignedOf({ seconds, series }) {
  return [seconds, ...series.map(({ values }) => values)];
}
function rangeOfValues(min2, max2) {
  if (min2 === null || max2 === null || !Number.isFinite(min2) || !Number.isFinite(max2)) return [0, 1];
  const space = max2 === min2 ? Math.abs(max2) * 0.02 || 1 : (max2 - min2) * 0.08;
  return [min2 - space, max2 + space];
}

// site/browser/market/chart-panel.ts
var LARGE_STEP = 10;
var AXIS_TEXT_MAX = 36;
var SPEECH_DELAY_MS = 200;
var ChartPanel = class {
  root;
  #events;
  #chart;
  #host;
  #readout = element("p", { class: "chart-readout number" });
  #legend = element("div", { class: "chart-legend", role: "group", "aria-label": "Sources in the chart" });
  #progress = element("p", { class: "chart-progress small soft" });
  #live = element("p", { class: "visually-hidden", role: "status" });
  #metric = element("select", { id: "chart-metric" });
  #ranges = /* @__PURE__ */ new Map();
  #hidden = /* @__PURE__ */ new Set();
  #place = null;
  #content = null;
  #speech;
  #legendOf = "";
  constructor(events) {
    this.#events = events;
    this.#host = element("div", {
      class: "chart-host",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "chart",
      "aria-describedby": "chart-keys"
    });
    this.root = this.#build();
    this.#chart = new MarketChart(
      this.#host,
      (plot) => this.#hover(plot),
      () => this.#showRange()
    );
    listenToGestures(this.#host, this.#chart, (left, top) => this.#tap(left, top));
    this.#host.addEventListener("keydown", (event) => this.#key(event));
    this.#host.addEventListener("pointerleave", () => this.#hoverRow(null));
    this.#metric.addEventListener("change", () => events.onMetric(this.#metric.value));
  }
  focus() {
    this.#host.focus({ preventScroll: true });
    this.root.scrollIntoView({ block: "nearest" });
  }
  show(content) {
    this.#content = content;
    const { data, marketName, metrics } = content;
    this.#showMetrics(metrics, data.metric);
    this.#showLegend();
    this.root.toggleAttribute("data-empty", data.seconds.length === 0);
    const { axisText } = content;
    const shortText = axisText.length > AXIS_TEXT_MAX ? `${axisText.slice(0, AXIS_TEXT_MAX)}…` : axisText;
    this.#chart.show({ ...content, axisText: shortText, hidden: this.#hidden });
    this.#showRange();
    const [first2, last] = [data.seconds[0], data.seconds.at(-1)];
    const span = first2 === void 0 || last === void 0 ? "" : `, ${dayOf(first2)} to ${dayOf(last)}`;
    const points2 = `${data.seconds.length.toLocaleString("en")} ${data.seconds.length === 1 ? "moment" : "moments"}`;
    this.#host.setAttribute("aria-label", `Chart of ${data.metric} of ${marketName}: ${points2}${span}`);
    this.#hoverRow(null);
  }
  showProgress(text) {
    if (this.#progress.textContent !== text) this.#progress.textContent = text;
  }
  /** Shows a point that was chosen here or elsewhere, and says it. */
  choose(row) {
    this.mark(row);
    if (row !== null) {
      const range = rangeWith(this.#chart.range, Date.parse(row.observedAt) / 1e3, this.#chart.whole);
      if (range !== this.#chart.range && !this.#chart.isWhole) this.#chart.setRange(range);
    }
    clearTimeout(this.#speech);
    const text = row === null ? "" : pointSpeech(row);
    this.#speech = setTimeout(() => {
      this.#live.textContent = text;
    }, SPEECH_DELAY_MS);
  }
  /** The same without words, and without moving the chart. Words of another point would be of a moment that is not shown. */
  mark(row) {
    if (row === null) {
      clearTimeout(this.#speech);
      this.#live.textContent = "";
    }
    this.#place = row === null ? null : placeOf(this.#chart.data, row);
    this.#chart.choose(row);
    this.#hoverRow(null);
  }
  #build() {
    const ranges = element("div", { class: "control-group", role: "group", "aria-label": "Range" });
    for (const name of [...Object.keys(RANGE_SECONDS), "All"]) {
      const made = button(
        name,
        () => this.#chart.setRange(name === "All" ? null : newestRange(this.#chart.data.seconds, name))
      );
      const label = { "1M": "Newest month", "1Y": "Newest year", All: "Whole history" }[name];
      made.setAttribute("aria-label", `${name}: ${label}`);
      this.#ranges.set(name, made);
      ranges.append(made);
    }
    const moves = element(
      "div",
      { class: "control-group", role: "group", "aria-label": "Zoom and pan" },
      button("←", () => this.#pan(-0.25), { "aria-label": "Earlier" }),
      button("→", () => this.#pan(0.25), { "aria-label": "Later" }),
      button("−", () => this.#zoom(1.6), { "aria-label": "Zoom out" }),
      button("+", () => this.#zoom(1 / 1.6), { "aria-label": "Zoom in" })
    );
    const metric = element(
      "div",
      { class: "control-group" },
      element("label", { for: "chart-metric" }, "Metric"),
      this.#metric
    );
    const keys = element(
      "p",
      { id: "chart-keys", class: "small soft" },
      "Keys: arrows walk along the points and from source to source; Home, End, Page Up and Page Down go further; plus, minus and 0 zoom; Escape leaves. Drag or pinch to move; after a click, the wheel zooms. Times are in UTC."
    );
    return element(
      "section",
      { class: "panel chart-panel", "aria-labelledby": "chart-heading" },
      element("h2", { id: "chart-heading", class: "visually-hidden" }, "Chart"),
      element("div", { class: "chart-controls" }, metric, ranges, moves),
      this.#readout,
      this.#host,
      this.#legend,
      marksKey(),
      this.#progress,
      keys,
      this.#live
    );
  }
  #showMetrics(metrics, metric) {
    const now = [...this.#metric.options].map(({ value }) => value);
    if (now.join() !== metrics.join()) {
      this.#metric.replaceChildren(...metrics.map((name) => element("option", { value: name }, name)));
    }
    this.#metric.value = metric;
    this.#metric.disabled = metrics.length < 2;
  }
  #showLegend() {
    const { data } = this.#content;
    const shown = JSON.stringify([data.series.map(({ name }) => name), [...this.#hidden]]);
    if (shown === this.#legendOf) return;
    this.#legendOf = shown;
    const names = data.series.map(({ name }) => name);
    const focused = [...this.#legend.children].indexOf(document.activeElement);
    this.#legend.replaceChildren(
      ...legendOf(names, this.#hidden, (name) => {
        if (!this.#hidden.delete(name)) this.#hidden.add(name);
        this.show(this.#content);
      })
    );
    this.#legend.children[focused]?.focus();
  }
  #showRange() {
    const { range, isWhole, data } = this.#chart;
    const length = range.max - range.min;
    for (const [name, made] of this.#ranges) {
      const named = name === "All" ? null : newestRange(data.seconds, name);
      const isPressed = named === null ? isWhole : !isWhole && Math.abs(named.max - named.min - length) < 1;
      made.setAttribute("aria-pressed", String(isPressed));
    }
  }
  #zoom(factor) {
    const { range, whole } = this.#chart;
    const row = this.#place === null ? void 0 : rowAt(this.#chart.data, this.#place);
    const chosen = row === void 0 ? null : Date.parse(row.observedAt) / 1e3;
    const isInside = chosen !== null && chosen > range.min && chosen < range.max;
    this.#chart.setRange(zoomed(range, factor, isInside ? chosen : (range.min + range.max) / 2, whole));
  }
  #pan(part) {
    const { range, whole } = this.#chart;
    this.#chart.setRange(panned(range, (range.max - range.min) * part, whole));
  }
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { data } = this.#chart;
    const from = this.#place ?? endOfSeries(data, this.#firstShown(), "last");
    const isFirst = this.#place === null;
    const keys = {
      ArrowLeft: () => from && (isFirst ? from : step(data, from, -1)),
      ArrowRight: () => from && (isFirst ? from : step(data, from, 1)),
      PageUp: () => from && step(data, from, -this.#largeStep()),
      PageDown: () => from && step(data, from, this.#largeStep()),
      Home: () => from && endOfSeries(data, from.series, "first"),
      End: () => from && endOfSeries(data, from.series, "last"),
      ArrowUp: () => from && this.#nextSource(from, -1),
      ArrowDown: () => from && this.#nextSource(from, 1),
      "+": () => this.#zoom(1 / 1.6),
      "=": () => this.#zoom(1 / 1.6),
      "-": () => this.#zoom(1.6),
      "0": () => this.#chart.setRange(null),
      Escape: () => this.#leave()
    };
    const act = keys[event.key];
    if (act === void 0) return;
    event.preventDefault();
    const place = act();
    const row = place == null ? void 0 : rowAt(data, place);
    if (row !== void 0) this.#events.onChoose(row);
  }
  /** The point is no longer chosen; a second time, the focus goes to the controls. */
  #leave() {
    if (this.#place !== null) this.#events.onChoose(null);
    this.#ranges.get("All")?.focus();
  }
  #firstShown() {
    const shown = this.#chart.data.series.findIndex(({ name }) => !this.#hidden.has(name));
    return Math.max(0, shown);
  }
  #nextSource(from, direction) {
    const { data } = this.#chart;
    for (let series = from.series + direction; series >= 0 && series < data.series.length; series += direction) {
      if (!this.#hidden.has(data.series[series]?.name ?? "")) return beside(data, from, series);
    }
    return from;
  }
  #largeStep() {
    const [first2, last] = this.#chart.plot?.series[0]?.idxs ?? [0, 0];
    return Math.max(LARGE_STEP, Math.round((last - first2) / 10));
  }
  #tap(left, top) {
    this.#host.focus({ preventScroll: true });
    const row = this.#nearest(left, top);
    if (row !== null) this.#events.onChoose(row);
  }
  #hover(plot) {
    const { left = -1, top = -1 } = plot.cursor;
    this.#hoverRow(left < 0 ? null : this.#nearest(left, top));
  }
  /** The crosshair's own line shows the chosen point while no point is hovered. */
  #hoverRow(row) {
    this.#events.onHover(row);
    const chosen = this.#place === null ? void 0 : rowAt(this.#chart.data, this.#place);
    const shown = row ?? chosen ?? null;
    const text = shown === null ? "Point at the chart, or focus it and use the arrow keys." : `${momentText(shown.observedAt)}  ${valueText(shown)}  ${shown.sourceLabel}`;
    if (this.#readout.textContent !== text) this.#readout.textContent = text;
  }
  /** The point that is nearest to a place in the plot, in CSS pixels: first by time, then by value. */
  #nearest(left, top) {
    const { plot, data } = this.#chart;
    if (plot === null || data.seconds.length === 0) return null;
    const at = plot.posToIdx(left);
    const shown = data.series.filter(({ name }) => !this.#hidden.has(name));
    if (shown.length === 0) return null;
    for (let distance = 0; distance < data.seconds.length; distance++) {
      const rows = shown.flatMap(({ rows: rows2 }) => [rows2[at - distance], rows2[at + distance]]).filter((row) => row != null);
      if (rows.length === 0) continue;
      const places = rows.map((row) => ({ row, ...this.#pixelsFrom(plot, row, left, top) }));
      return places.sort((one, other) => one.across - other.across || one.down - other.down)[0]?.row ?? null;
    }
    return null;
  }
  #pixelsFrom(plot, row, left, top) {
    const { x, y } = pointOf(plot, row);
    const [plotLeft, plotTop] = [plot.bbox.left, plot.bbox.top];
    return {
      across: Math.round(Math.abs((x - plotLeft) / devicePixelRatio - left)),
      down: Math.abs((y - plotTop) / devicePixelRatio - top)
    };
  }
};
function dayOf(second) {
  return dayText(new Date(second * 1e3).toISOString());
}

// contract/canonical-json.ts
function canonicalJson(value) {
  const text = isInOrder(value) ? JSON.stringify(value) : write(value);
  if (text.includes("\\ud") && LONE_SURROGATE.test(text)) assertWellFormed(value);
  return text;
}
var LONE_SURROGATE = /\\ud[89a-f]/;
function assertWellFormed(value) {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new TypeError("a string holds a lone surrogate, which JSON cannot carry");
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      assertWellFormed(name);
      assertWellFormed(member);
    }
  }
}
function isInOrder(value) {
  switch (typeof value) {
    case "string":
      return true;
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`);
      return true;
    case "boolean":
      return true;
    case "object":
      if (value === null) return true;
      if (hasToJson(value)) throw new TypeError("a value with a toJSON method is not plain JSON");
      return Array.isArray(value) ? isArrayInOrder(value) : isObjectInOrder(value);
    default:
      throw new TypeError(`a value of type ${typeof value} is not JSON`);
  }
}
function hasToJson(value) {
  return "toJSON" in value && typeof value.toJSON === "function";
}
function isArrayInOrder(array) {
  let inOrder = true;
  for (let index = 0; index < array.length; index++) inOrder = isInOrder(array[index]) && inOrder;
  return inOrder;
}
function isObjectInOrder(object) {
  let inOrder = true;
  let previous = "";
  for (const name of Object.keys(object)) {
    if (name < previous) inOrder = false;
    previous = name;
    inOrder = isInOrder(object[name]) && inOrder;
  }
  return inOrder;
}
function write(value) {
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const object = value;
  const names = Object.keys(object).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${write(object[name])}`).join(",")}}`;
}

// contract/csv.ts
function csvRecord(cells) {
  return cells.map(csvField).join(",");
}
var FORMULA = /(^|[;\t\r\n]"*)([=+\-@\uff1d\uff0b\uff0d\uff20])/g;
var SKIPPED = /^[\t\r]/;
var DECIMAL = /^-?\d+(\.\d+)?$/;
function csvField(cell) {
  if (typeof cell !== "string") return String(cell ?? "");
  const text = DECIMAL.test(cell) ? cell : cell.replaceAll(FORMULA, "$1'$2").replace(SKIPPED, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// contract/history-rows.ts
var FILE_ROWS_MAX = 2e4;
var FILE_BYTES_MAX = 24 * 1024 * 1024;
var HISTORY_COLUMNS = [
  ...["observedAt", "metric", "decimal", "currency", "decimalPerUnit", "amountMinor", "value", "unit"],
  ...["unknownReason", "rounded", "sourceValue", "confidence", "status", "sourceLabel", "sourceUrl", "recordedAt"],
  ...["supersededAt", "retraction", "supersedes", "supersededBy", "id", "releasedAt", "minorDigits"]
];
function historyCsvRecord(observation) {
  const fields = observation;
  return csvRecord(HISTORY_COLUMNS.map((column) => fields[column]));
}
var HISTORY_FILE_FORMS = {
  csv: { header: `${HISTORY_COLUMNS.join(",")}\r
`, line: (observation) => `${historyCsvRecord(observation)}\r
` },
  ndjson: { header: "", line: (observation) => `${canonicalJson(observation)}
` }
};

// site/browser/market/downloads-section.ts
function downloadsSection(content) {
  const said = element("p", { class: "small", role: "status" });
  const requests = requestsOf(content);
  return element(
    "section",
    { class: "market-section", "aria-labelledby": "downloads-heading" },
    element("h2", { id: "downloads-heading" }, "Downloads"),
    files(content),
    element("h2", {}, "The same by request"),
    element(
      "p",
      { class: "soft" },
      "Every answer is a static file with an ETag, fresh for 15 seconds. No key is needed."
    ),
    element("dl", { class: "requests" }, ...requests.flatMap(([words, command]) => requestRow(words, command, said))),
    said
  );
}
function files({ slug: slug2, count, index, hasFaces }) {
  const list = element("ul", { class: "files" });
  const link = (href, text) => element("a", { href, download: true }, text);
  if (index?.csv != null && index.ndjson !== null) {
    const whole = count > FILE_ROWS_MAX ? ["The whole history: too long for one file, so take the years."] : ["The whole history: ", link(index.csv, "CSV"), " · ", link(index.ndjson, "NDJSON")];
    list.append(element("li", {}, ...whole));
    const years = index.years.toReversed().flatMap(({ year, csv, ndjson }) => [
      element("span", { class: "file-year" }, `${year}: `, link(csv, "CSV"), " · ", link(ndjson, "NDJSON")),
      " "
    ]);
    list.append(element("li", {}, "By year of observation (UTC): ", ...years));
  } else {
    list.append(
      element(
        "li",
        {},
        count === 0 ? "No files before the first observation." : "This service publishes no files of histories."
      )
    );
  }
  if (hasFaces) {
    const faces = [
      ["beancount", `${FACES_URL}/prices/${slug2}.beancount`],
      ["hledger", `${FACES_URL}/prices/${slug2}.journal`],
      ["quotes as JSON", `${FACES_URL}/quotes/${slug2}.json`]
    ];
    const links = faces.flatMap(([text, href], at) => [at === 0 ? "" : " · ", link(href, text)]);
    list.append(element("li", {}, "Daily prices for other programs: ", ...links));
  }
  return list;
}
function requestsOf({ slug: slug2, origin, index, hasLog }) {
  const get = (path) => `curl -s '${origin}${path}'`;
  const csv = index?.csv ?? null;
  return [
    ["This market", get(marketUrl(slug2))],
    ["The newest page of its history", get(historyUrl(slug2))],
    ["Its pages and files", get(historyIndexUrl(slug2))],
    ...csv === null ? [] : [["The history as CSV", `curl -sO '${origin}${csv}'`]],
    ...hasLog ? [["The signed checkpoint of the log", get("/api/v1/log/checkpoint")]] : []
  ];
}
function requestRow(words, command, said) {
  const code = element("code", {}, command);
  const copy2 = button("Copy", () => void copied(), { "aria-label": `Copy the request: ${words}` });
  const copied = async () => {
    try {
      await navigator.clipboard.writeText(command);
      said.textContent = `Copied: ${words}.`;
    } catch {
      getSelection()?.selectAllChildren(code);
      said.textContent = "The browser does not let this page copy. The request is selected: copy it by keyboard.";
    }
  };
  return [
    element("dt", {}, words),
    element("dd", { class: "request" }, element("pre", { tabindex: "0", "aria-label": words }, code), copy2)
  ];
}

// site/browser/market/observation-store.ts
var KEPT_ROWS_MAX = 2e5;
var ObservationStore = class {
  /** By the moment in milliseconds. Versions of one observation are neighbours, newest first. */
  #moments = /* @__PURE__ */ new Map();
  #byId = /* @__PURE__ */ new Map();
  #metrics = /* @__PURE__ */ new Set();
  #sorted = null;
  /** Another number after each change. */
  version = 0;
  get size() {
    return this.#byId.size;
  }
  /** The metrics of all rows. */
  get metrics() {
    return this.#metrics;
  }
  byId(id) {
    return this.#byId.get(id);
  }
  /**
   * Takes rows that are neighbours in the history, newest first: a page, or a file turned round. A row that is known is
   * replaced. Rows of one moment keep the order in which the service has them, because it decides which one a market
   * shows (by a digest of `sourceUrl`).
   */
  add(rows) {
    this.version++;
    let [lastMs, at] = [Number.NaN, 0];
    for (const row of rows) {
      const ms = Date.parse(row.observedAt);
      let known = this.#moments.get(ms);
      if (known === void 0) {
        known = [];
        this.#moments.set(ms, known);
        this.#sorted = null;
      }
      if (ms !== lastMs) at = this.#byId.has(row.id) ? -1 : placeOfFirst(known, row, rows);
      const index = this.#byId.has(row.id) ? known.findIndex(({ id }) => id === row.id) : -1;
      if (index === -1) known.splice(at, 0, row);
      else known[index] = row;
      at = (index === -1 ? at : index) + 1;
      lastMs = ms;
      this.#byId.set(row.id, row);
      this.#metrics.add(row.metric);
    }
  }
  *newestFirst() {
    this.#sorted ??= [...this.#moments.keys()].sort((left, right) => right - left);
    for (const ms of this.#sorted) yield* this.#moments.get(ms);
  }
};
function placeOfFirst(known, row, rows) {
  if (known.length === 0) return 0;
  const newer = known.findIndex(({ supersedes }) => supersedes === row.id);
  if (newer !== -1) return newer + 1;
  const older = known.findIndex(({ id }) => id === row.supersedes);
  if (older !== -1) return older;
  const ids = new Set(known.map(({ id }) => id));
  const next = rows.slice(rows.indexOf(row)).find(({ id }) => ids.has(id));
  return next === void 0 ? known.length : known.findIndex(({ id }) => id === next.id);
}

// site/browser/market/history-reader.ts
var PAGES_READ_MAX = 24;
var CORRECTED_PAGES_MAX = 200;
var AT_ONCE = 6;
var HistoryReader = class {
  #answers;
  #slug;
  #store;
  /** Whether the deployment publishes files and the index. */
  #hasFiles;
  /** The closed pages that an index has named. Those with another cursor have changed since. */
  #cursors = null;
  index = null;
  constructor(options) {
    this.#answers = options.answers;
    this.#slug = options.slug;
    this.#store = options.store;
    this.#hasFiles = options.hasFiles;
  }
  /** Reads everything. @throws UnreachableError; the store then keeps what was read */
  async readAll(reading) {
    const cursor = await this.#readNewest(reading);
    const index = this.#hasFiles ? await this.#readIndex() : null;
    if (cursor === null) return "whole";
    if (index === null) return await this.#walk(cursor, reading);
    if (index.closedPages.length <= PAGES_READ_MAX) {
      await this.#readPages(index.closedPages.toReversed(), reading);
      return "whole";
    }
    for (const { year, ndjson } of index.years.toReversed()) {
      if (this.#store.size >= KEPT_ROWS_MAX) return "full";
      if (reading.signal.aborted) return "whole";
      const rows = await this.#answers.readLines(ndjson);
      if (rows === null)
        await this.#readPages(pagesBetween(index, `${year}-01-01T00:00:00Z`, `${year}-12-31T23:59:59.999Z`), reading);
      else this.#take(rows.reverse(), reading);
    }
    return await this.#readCorrected(index, reading);
  }
  /**
   * Reads what has changed since the last reading: the newest page, and the closed pages with new cursors.
   *
   * @param count of the market's history, replaced versions included
   */
  async readChanges(count, reading) {
    const cursor = await this.#readNewest(reading);
    if (this.#store.size >= count || cursor === null) return;
    const known = this.#cursors;
    const index = this.#hasFiles ? await this.#readIndex() : null;
    if (index === null) {
      await this.#walk(cursor, reading, count);
      return;
    }
    const changed = index.closedPages.filter(({ cursor: name }) => known?.has(name) !== true);
    await this.#readPages(changed.toReversed().slice(0, CORRECTED_PAGES_MAX), reading);
  }
  /** @returns the cursor of the page after the newest one */
  async #readNewest(reading) {
    const answer = await this.#answers.read(historyUrl(this.#slug), "no-cache");
    if (answer.kind !== "found") return null;
    const { data, page } = answer.body;
    this.#take(data, reading);
    return page.nextCursor;
  }
  async #readIndex() {
    const answer = await this.#answers.read(historyIndexUrl(this.#slug), "no-cache");
    if (answer.kind !== "found") return null;
    this.index = answer.body;
    this.#cursors = new Set(this.index.closedPages.map(({ cursor }) => cursor));
    return this.index;
  }
  async #walk(from, reading, count = Number.POSITIVE_INFINITY) {
    for (let cursor = from; cursor !== null && !reading.signal.aborted; ) {
      if (this.#store.size >= KEPT_ROWS_MAX) return "full";
      if (this.#store.size >= count) return "whole";
      const page = await this.#readPage(cursor);
      if (page === null) return "newest-versions";
      this.#take(page.data, reading);
      cursor = page.page.nextCursor;
    }
    return "whole";
  }
  /** Several at once, and taken in their order, because neighbours on two pages must stay neighbours. */
  async #readPages(pages, reading) {
    for (let from = 0; from < pages.length && !reading.signal.aborted; from += AT_ONCE) {
      if (this.#store.size >= KEPT_ROWS_MAX) return;
      const some = pages.slice(from, from + AT_ONCE).map(({ cursor }) => this.#readPage(cursor));
      for (const page of await Promise.all(some)) if (page !== null) this.#take(page.data, reading);
    }
  }
  /** Null: the cursor has expired, because the history has changed. The next revalidation reads it again. */
  async #readPage(cursor) {
    const answer = await this.#answers.read(`${historyUrl(this.#slug)}?cursor=${cursor}`);
    return answer.kind === "found" ? answer.body : null;
  }
  async #readCorrected(index, reading) {
    const pages = /* @__PURE__ */ new Set();
    for (const { observedAt, supersedes } of this.#store.newestFirst()) {
      if (supersedes === null || this.#store.byId(supersedes) !== void 0) continue;
      for (const page of pagesBetween(index, observedAt, observedAt)) pages.add(page);
    }
    await this.#readPages([...pages].slice(0, CORRECTED_PAGES_MAX), reading);
    return pages.size > CORRECTED_PAGES_MAX ? "newest-versions" : "whole";
  }
  #take(rows, reading) {
    this.#store.add(rows);
    reading.onPart();
  }
};
function pagesBetween({ closedPages }, first2, last) {
  const [firstMs, lastMs] = [Date.parse(first2), Date.parse(last)];
  const overlaps = ({ firstObservedAt, lastObservedAt }) => Date.parse(lastObservedAt) >= firstMs && Date.parse(firstObservedAt) <= lastMs;
  return closedPages.filter(overlaps).toReversed();
}

// contract/log/tiles.ts
var TILE_WIDTH = 256;
function hashesOnLevel(level, size) {
  return Math.floor(size / TILE_WIDTH ** level);
}
function widthOfTile(level, n, size) {
  return Math.max(0, Math.min(TILE_WIDTH, hashesOnLevel(level, size) - n * TILE_WIDTH));
}
function partialTilesOf(size) {
  const tiles = [];
  for (let level = 0; hashesOnLevel(level, size) > 0; level++) {
    const hashes = hashesOnLevel(level, size);
    if (hashes % TILE_WIDTH > 0) tiles.push({ level, n: Math.floor(hashes / TILE_WIDTH), width: hashes % TILE_WIDTH });
  }
  return tiles;
}
function indexPath(n, width) {
  const digits = String(n);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, "0");
  const groups = padded.match(/.../g);
  const path = groups.map((group, index) => index < groups.length - 1 ? `x${group}` : group).join("/");
  return width === TILE_WIDTH ? path : `${path}.p/${width}`;
}
function tilePath(level, n, width) {
  return `tile/${level}/${indexPath(n, width)}`;
}
function ndjsonPath(n, width) {
  return `ndjson/${indexPath(n, width)}.gz`;
}

// contract/log/find-entry.ts
async function findEntry(files2, size, sought) {
  const bundles = Math.ceil(size / TILE_WIDTH);
  const read = (n) => files2.entries(n, Math.min(TILE_WIDTH, size - n * TILE_WIDTH));
  const recordedAt = millisecondInstant(sought.recordedAt);
  let [low, high] = [0, bundles - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const newest = newestIn(await read(middle));
    if (newest !== null && millisecondInstant(newest) < recordedAt) low = middle + 1;
    else high = middle;
  }
  for (const n of order(low, bundles)) {
    for (const [index, { text }] of (await read(n)).entries()) {
      if (text !== null && idIn(text) === sought.id) return { index: n * TILE_WIDTH + index, text };
    }
  }
  return null;
}
function* order(from, end) {
  for (let n = from; n < end; n++) yield n;
  for (let n = from - 1; n >= 0; n--) yield n;
}
function newestIn(entries) {
  return entries.reduce((newest, { text }) => {
    const instant = text === null ? void 0 : JSON.parse(text).recordedAt;
    return instant === void 0 ? newest : laterInstant(instant, newest);
  }, null);
}
function idIn(text) {
  return JSON.parse(text).id;
}

// client/hashes.ts
var HASH_LENGTH = 32;
var encodedText = (text) => new TextEncoder().encode(text);
var sha256Of = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", joinedBytes(parts)));
var leafHashOf = async (entry) => await sha256Of(new Uint8Array([0]), entry);
var nodeHashOf = async (left, right) => await sha256Of(new Uint8Array([1]), left, right);
async function perfectRootOf(hashes) {
  if (hashes.length === HASH_LENGTH) return hashes;
  const half = hashes.length / 2;
  return await nodeHashOf(await perfectRootOf(hashes.subarray(0, half)), await perfectRootOf(hashes.subarray(half)));
}
var hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
var isSameHash = (one, other) => hexOf(one) === hexOf(other);
function joinedBytes(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
function fromBase64(text) {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

// client/inclusion.ts
async function inclusionPath(size, index, tileOf) {
  const path = [];
  for (let [start, end] = [0, size]; end - start > 1; ) {
    const middle = start + leftWidth(end - start);
    if (index < middle) {
      path.push(await rangeRoot(middle, end, tileOf));
      end = middle;
    } else {
      path.push(await rangeRoot(start, middle, tileOf));
      start = middle;
    }
  }
  return path.reverse();
}
function leftWidth(width) {
  let left = 1;
  while (left * 2 < width) left *= 2;
  return left;
}
async function rangeRoot(start, end, tileOf) {
  const width = end - start;
  const left = width === 1 ? 1 : leftWidth(width);
  if (width === 1 || left * 2 === width) return await perfectSubtree(start, width, tileOf);
  return await nodeHashOf(await perfectSubtree(start, left, tileOf), await rangeRoot(start + left, end, tileOf));
}
async function perfectSubtree(start, width, tileOf) {
  let level = 0;
  while (TILE_WIDTH ** (level + 1) <= width) level++;
  const first2 = start / TILE_WIDTH ** level;
  const tile = await tileOf(level, Math.floor(first2 / TILE_WIDTH));
  const from = first2 % TILE_WIDTH * HASH_LENGTH;
  return await perfectRootOf(tile.subarray(from, from + width / TILE_WIDTH ** level * HASH_LENGTH));
}

// client/signed-log.ts
var LogVerificationError = class extends Error {
  name = "LogVerificationError";
};
var ED25519 = 1;
var LINES_BYTES_MAX = TILE_WIDTH * 65536;
var decode = (bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
async function importLogKey(vkey) {
  const [, name = "", id = "", material = ""] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(vkey) ?? [];
  const bytes = fromBase64(material);
  if (bytes?.[0] !== ED25519 || bytes.length !== 1 + HASH_LENGTH) {
    throw new LogVerificationError(`not a verifier key of Ed25519: ${vkey}`);
  }
  const found = hexOf((await sha256Of(encodedText(`${name}
`), bytes)).subarray(0, 4));
  if (found !== id) throw new LogVerificationError(`the id of the verifier key is ${id}, and its key has ${found}`);
  return { name, id, key: await crypto.subtle.importKey("raw", bytes.slice(1), "Ed25519", false, ["verify"]) };
}
async function readSignedCheckpoint(note, keys) {
  const split = note.lastIndexOf("\n\n");
  const [text, lines] = [note.slice(0, split + 1), note.slice(split + 2).split("\n")];
  const [origin = "", size = "", encoded = ""] = text.split("\n");
  const root2 = fromBase64(encoded);
  if (split < 0 || !/^(0|[1-9]\d{0,14})$/.test(size) || root2?.length !== HASH_LENGTH) {
    throw new LogVerificationError("not a signed checkpoint");
  }
  for (const { name, id, key } of keys) {
    for (const line of lines) {
      const [, signer, signature = ""] = /^— (\S+) (\S+)$/.exec(line) ?? [];
      const bytes = fromBase64(signature);
      if (signer !== name || name !== origin || bytes === null || hexOf(bytes.subarray(0, 4)) !== id) continue;
      if (await crypto.subtle.verify("Ed25519", key, bytes.slice(4), encodedText(text))) {
        return { origin, size: Number(size), root: root2 };
      }
    }
  }
  throw new LogVerificationError(`no known key has signed the checkpoint of ${origin}`);
}
var SignedLog = class _SignedLog {
  checkpoint;
  /** The signed text. */
  note;
  #read;
  /** The partial tiles, by level: together they give the root. */
  #edge;
  constructor(note, checkpoint, read, edge) {
    this.note = note;
    this.checkpoint = checkpoint;
    this.#read = read;
    this.#edge = edge;
  }
  /** Reads and checks the checkpoint, and the tiles whose hashes give its root. */
  static async open(read, keys) {
    const note = new TextDecoder().decode(await read("checkpoint"));
    const checkpoint = await readSignedCheckpoint(note, keys);
    const edge = /* @__PURE__ */ new Map();
    const root2 = await rootOf(checkpoint.size, async (level, n, width) => {
      const tile = await readTile(read, level, n, width);
      edge.set(level, tile);
      return tile;
    });
    if (!isSameHash(root2, checkpoint.root)) {
      throw new LogVerificationError("the tiles do not give the root that is signed");
    }
    return new _SignedLog(note, checkpoint, read, edge);
  }
  /**
   * Finds the entry of an observation, and proves that it is in the log. Null: the log has none with this id.
   *
   * @param sought a row of a history
   */
  async prove(sought) {
    const { size } = this.checkpoint;
    if (size === 0) return null;
    const files2 = { entries: async (n, width) => await this.#lines(n, width) };
    const found = await findEntry(files2, size, sought).catch((cause) => {
      if (cause instanceof SyntaxError || cause instanceof TypeError || cause instanceof RangeError) {
        throw new LogVerificationError("the entries cannot be read", { cause });
      }
      throw cause;
    });
    if (found === null) return null;
    return await this.#proven(found.index, found.text);
  }
  /** Reads one entry, and proves it. Null: its text was taken down. @param index below the size */
  async entryAt(index) {
    const n = Math.floor(index / TILE_WIDTH);
    const lines = await this.#lines(n, widthOfTile(0, n, this.checkpoint.size));
    const { text } = lines[index % TILE_WIDTH];
    return text === null ? null : await this.#proven(index, text);
  }
  /**
   * The root that the log had when it was shorter. If an earlier checkpoint has another one, the log has another past
   * than it had then.
   *
   * @param size at most that of the checkpoint
   */
  async rootAt(size) {
    return await rootOf(size, async (level, n, width) => (await this.#tile(level, n)).subarray(0, width * HASH_LENGTH));
  }
  async #proven(index, text) {
    const tile = await this.#tile(0, Math.floor(index / TILE_WIDTH));
    const at = index % TILE_WIDTH * HASH_LENGTH;
    if (!isSameHash(await leafHashOf(encodedText(text)), tile.subarray(at, at + HASH_LENGTH))) {
      throw new LogVerificationError(`entry ${index} is not the one that is signed`);
    }
    return { entry: JSON.parse(text), index, text };
  }
  /** The hashes that lead from an entry to the root, from its neighbour up (RFC 6962, section 2.1.1). */
  async pathOf(index) {
    return await inclusionPath(this.checkpoint.size, index, (level, n) => this.#tile(level, n));
  }
  /** The hashes of a tile, each of which the root covers. */
  async #tile(level, n) {
    const width = widthOfTile(level, n, this.checkpoint.size);
    const edge = width < TILE_WIDTH ? this.#edge.get(level) : void 0;
    if (edge !== void 0) return edge;
    const tile = await readTile(this.#read, level, n, width);
    const parent = await this.#tile(level + 1, Math.floor(n / TILE_WIDTH));
    const at = n % TILE_WIDTH * HASH_LENGTH;
    if (isSameHash(await perfectRootOf(tile), parent.subarray(at, at + HASH_LENGTH))) return tile;
    throw new LogVerificationError(`tile ${n} of level ${level} is not the one that is signed`);
  }
  async #lines(n, width) {
    const lines = (await unzipped(await this.#read(ndjsonPath(n, width)))).split("\n").slice(0, -1);
    if (lines.length !== width) throw new LogVerificationError(`file ${n} of entries has ${lines.length} lines`);
    return lines.map((line) => ({ text: line.startsWith('{"takenDown":') ? null : line }));
  }
};
async function rootOf(size, tileOf) {
  let root2 = null;
  for (const { level, n, width } of partialTilesOf(size)) {
    const tile = await tileOf(level, n, width);
    for (let [bit, end] = [1, width]; bit <= width; bit *= 2) {
      if ((width & bit) === 0) continue;
      const subtree = await perfectRootOf(tile.subarray((end - bit) * HASH_LENGTH, end * HASH_LENGTH));
      root2 = root2 === null ? subtree : await nodeHashOf(subtree, root2);
      end -= bit;
    }
  }
  return root2 ?? await sha256Of();
}
async function readTile(read, level, n, width) {
  const tile = await read(tilePath(level, n, width));
  if (tile.length === width * HASH_LENGTH) return tile;
  throw new LogVerificationError(`tile ${n} of level ${level} has ${tile.length} bytes`);
}
async function unzipped(gzipped) {
  const chunks = [];
  let bytes = 0;
  try {
    const stream = new Blob([gzipped]).stream().pipeThrough(new DecompressionStream("gzip"));
    const reader = stream.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.length;
      if (bytes > LINES_BYTES_MAX) throw new RangeError("too large");
      chunks.push(part.value);
    }
    return decode(joinedBytes(chunks));
  } catch (cause) {
    throw new LogVerificationError("a file of entries cannot be read", { cause });
  }
}

// site/browser/market/log-receipt.ts
var NotInLogError = class extends Error {
  name = "NotInLogError";
};
var HASH_BYTES = 32;
var FILES_KEPT = 300;
var ENTRY_ALONE = /* @__PURE__ */ new Set(["format", "type", "market", "revision"]);
var LogChecker = class {
  #read;
  #opened = null;
  constructor(read) {
    this.#read = read;
  }
  /**
   * @throws NotInLogError
   * @throws LogVerificationError if the log contradicts the row, or itself
   */
  async check(slug2, row) {
    this.#opened ??= openLog(this.#read);
    try {
      return await checkIn(await this.#opened, slug2, row);
    } catch (error) {
      this.#opened = null;
      if (error instanceof LogVerificationError) throw error;
      this.#opened = openLog(this.#read);
      return await checkIn(await this.#opened, slug2, row);
    }
  }
};
async function openLog(readFile) {
  const read = remembered(readFile);
  const vkeys = textOf(await read("vkey")).split("\n").filter(Boolean);
  const keys = /* @__PURE__ */ new Map();
  for (const vkey2 of vkeys) keys.set(await importLogKey(vkey2), vkey2);
  const log = await SignedLog.open(read, [...keys.keys()]);
  const note = textOf(await read("checkpoint"));
  const [, vkey = ""] = [...keys].find(([{ name }]) => name === log.checkpoint.origin) ?? [];
  return { log, note, vkey, read };
}
async function checkIn({ log, note, vkey, read }, slug2, row) {
  const proven = await log.prove(row);
  if (proven === null) throw new NotInLogError(`${row.id} is not in the log`);
  const { entry, index } = proven;
  const fault = faultOfRow(slug2, row, entry);
  if (fault !== null) throw new LogVerificationError(`${fault} of this row differs from entry ${index} of the log`);
  const { size, root: root2, origin } = log.checkpoint;
  const text = new TextEncoder().encode(canonicalJson(entry));
  const way = await wayToRoot(index, size, await sha256(new Uint8Array([0]), text), read);
  if (base64Of(way.root) !== base64Of(root2)) {
    throw new LogVerificationError(`entry ${index} does not lead to the root that is signed`);
  }
  const lines = ["c2sp.org/tlog-proof@v1", `extra ${base64Of(text)}`, `index ${index}`, ...way.hashes.map(base64Of)];
  return { index, size, origin, vkey, receipt: `${lines.join("\n")}

${note}` };
}
function faultOfRow(slug2, row, entry) {
  const shown = row;
  if (entry.market !== slug2) return "market";
  const differing = Object.keys(entry).find((name) => !ENTRY_ALONE.has(name) && shown[name] !== entry[name]);
  if (differing !== void 0) return differing;
  return row.kind !== "money" || isExactDecimal(row.decimal, row.amountMinor, row.minorDigits) ? null : "decimal";
}
function isExactDecimal(decimal, amountMinor, minorDigits) {
  if (decimal === null || amountMinor === null) return decimal === null && amountMinor === null;
  const [whole = "", decimals = ""] = decimal.split(".");
  return decimals.length === minorDigits && Number(whole + decimals) === amountMinor;
}
async function wayToRoot(index, size, leaf, read) {
  const hashes = [];
  let root2 = leaf;
  for (let width = 1; width < size; width *= 2) {
    const node = Math.floor(index / width);
    const start = (node % 2 === 1 ? node - 1 : node + 1) * width;
    if (start >= size) continue;
    const neighbour = await rootOfRange(start, Math.min(start + width, size), size, read);
    hashes.push(neighbour);
    root2 = await (node % 2 === 1 ? hashOfNode(neighbour, root2) : hashOfNode(root2, neighbour));
  }
  return { hashes, root: root2 };
}
async function rootOfRange(start, end, size, read) {
  let root2 = null;
  let last = end;
  for (let width = 1; width <= end - start; width *= 2) {
    if (Math.floor((end - start) / width) % 2 === 0) continue;
    last -= width;
    const part = await rootOfPart(last, width, size, read);
    root2 = root2 === null ? part : await hashOfNode(part, root2);
  }
  return root2;
}
async function rootOfPart(start, width, size, read) {
  let [level, first2, count] = [0, start, width];
  for (; count >= TILE_WIDTH; level++) [first2, count] = [first2 / TILE_WIDTH, count / TILE_WIDTH];
  const n = Math.floor(first2 / TILE_WIDTH);
  const tile = await read(tilePath(level, n, widthOfTile(level, n, size)));
  let hashes = [];
  for (let at = first2 % TILE_WIDTH; hashes.length < count; at++) {
    hashes.push(tile.slice(at * HASH_BYTES, (at + 1) * HASH_BYTES));
  }
  while (hashes.length > 1) {
    const pairs = hashes.flatMap((left, at) => at % 2 === 0 ? [[left, hashes[at + 1]]] : []);
    hashes = await Promise.all(pairs.map(([left, right]) => hashOfNode(left, right)));
  }
  return hashes[0];
}
async function sha256(...parts) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", await new Blob([...parts]).arrayBuffer()));
}
async function hashOfNode(left, right) {
  return await sha256(new Uint8Array([1]), left, right);
}
function base64Of(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
function textOf(bytes) {
  return new TextDecoder().decode(bytes);
}
function remembered(read) {
  const files2 = /* @__PURE__ */ new Map();
  return (path) => {
    const known = files2.get(path) ?? read(path);
    if (files2.size < FILES_KEPT) files2.set(path, known);
    return known;
  };
}

// site/browser/market/market-top.ts
function marketTop({ market, price, row, asOf, refused, onNow }) {
  const badges = asOf === null ? badgesOf(market, Date.now()) : [];
  return element(
    "header",
    { class: "market-top" },
    element(
      "div",
      { class: "market-name" },
      element("h1", {}, market.name),
      element(
        "p",
        { class: "soft" },
        element("span", { class: "code" }, market.slug),
        ` · ${market.kind} · priced ${unitText(market.unit)}`
      )
    ),
    badges.length === 0 ? null : element(
      "ul",
      { class: "badges", "aria-label": "Notes on this market" },
      ...badges.map(
        ({ text, look }) => element("li", { class: look === "plain" ? "badge" : `badge badge-${look}` }, text)
      )
    ),
    asOf === null ? null : asOfNotice(asOf, onNow),
    refused === null ? null : element("p", { class: "notice notice-alarm", role: "alert" }, `${refused} Below is what is known now.`),
    priceLine(price, market),
    price === null ? null : priceFacts(price, row, asOf)
  );
}
function asOfNotice(asOf, onNow) {
  const moment = momentText(instantOfMs(asOf.atMs));
  const words = asOf.clock === "recorded" ? `This is what the service showed at ${moment}.` : `This is what the sources had published at ${moment}, as far as is known today.`;
  const back = button("Back to now", onNow);
  return element("p", { class: "notice as-of-notice" }, element("span", {}, words), back);
}
function priceLine(price, { unit }) {
  if (price === null) return element("p", { class: "market-price unknown" }, "unknown: never observed");
  const digits = digitsOf(price);
  if (digits === null) return element("p", { class: "market-price unknown" }, valueText(price));
  const perUnit = price.kind === "money" && unit.quantity > 1 ? price.decimalPerUnit : null;
  return element(
    "p",
    { class: "market-price" },
    element("span", { class: "number figure" }, valueText(price)),
    " ",
    element("span", { class: "soft" }, unitText(unit)),
    perUnit === null ? null : element(
      "span",
      { class: "soft number" },
      ` = ${groupedDigits(perUnit)} ${unitOf(price)} per ${unit.of}${price.rounded ? ", rounded" : ""}`
    ),
    ...price.rounded ? roundedWords(price.sourceValue) : []
  );
}
function roundedWords(sourceValue) {
  const source = element("span", { class: "small soft source-digits" }, sourceWords(sourceValue));
  return [" ", element("span", { class: "badge" }, "rounded"), " ", source];
}
function priceFacts(price, row, asOf) {
  const all = [
    ["Observed", agedTime(price.observedAt)],
    ["Released", price.releasedAt === null ? "not known" : agedTime(price.releasedAt)],
    ["Recorded", row === void 0 ? "…" : agedTime(row.recordedAt)],
    ["Source", outsideLink(price.sourceLabel, price.sourceUrl)],
    ["Confidence", `${price.confidence}${asOf === null ? "" : `, ${price.status}`}`]
  ];
  const pairs = all.map(([name, fact]) => element("div", {}, element("dt", {}, name), element("dd", {}, fact)));
  return element("dl", { class: "market-facts" }, ...pairs);
}

// site/browser/market/observations-table.ts
var ROWS_PER_PAGE = 50;
var ObservationsTable = class {
  root;
  #caption = element("caption", {});
  #body = element("tbody", {});
  #pager = element("nav", { class: "pager", "aria-label": "Pages of the table" });
  #said = element("p", { class: "small soft" });
  #live = element("p", { class: "visually-hidden", role: "status" });
  #newer = button("Newer", () => this.#turn(-1));
  #older = button("Older", () => this.#turn(1));
  #onChoose;
  #content = { rows: [], metric: "", moment: "" };
  #page = 0;
  /** @param onChoose shows a row in the chart */
  constructor(onChoose, replaced) {
    this.#onChoose = onChoose;
    const heads = ["Observed", "Value", "Source", "Recorded", "Notes", "Chart"];
    this.#pager.append(this.#newer, this.#older, this.#said, this.#live);
    this.root = element(
      "section",
      { class: "market-section", "aria-labelledby": "table-heading" },
      element("div", { class: "section-head" }, element("h2", { id: "table-heading" }, "Observations"), replaced),
      element(
        "div",
        { class: "table-box", role: "region", tabindex: "0", "aria-label": "Table of observations" },
        element(
          "table",
          { class: "observations" },
          this.#caption,
          element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
          this.#body
        )
      ),
      this.#pager
    );
  }
  show(content) {
    if (content.metric !== this.#content.metric || content.moment !== this.#content.moment) this.#page = 0;
    this.#content = content;
    this.#page = Math.min(this.#page, this.#pages - 1);
    this.#render();
  }
  get #pages() {
    return Math.max(1, Math.ceil(this.#content.rows.length / ROWS_PER_PAGE));
  }
  #turn(by) {
    this.#page = Math.max(0, Math.min(this.#pages - 1, this.#page + by));
    this.#render();
    this.#live.textContent = this.#said.textContent;
  }
  #render() {
    const { rows, metric, moment } = this.#content;
    const from = this.#page * ROWS_PER_PAGE;
    const shown = rows.slice(from, from + ROWS_PER_PAGE);
    this.#body.replaceChildren(...shown.map((row) => this.#row(row)));
    this.#caption.textContent = `Observations of ${metric}${moment}, newest first`;
    const count = rows.length.toLocaleString("en");
    const last = (from + shown.length).toLocaleString("en");
    this.#said.textContent = rows.length === 0 ? "No observation." : `Rows ${(from + 1).toLocaleString("en")} to ${last} of ${count}`;
    this.#newer.disabled = this.#page === 0;
    this.#older.disabled = this.#page >= this.#pages - 1;
  }
  #row(row) {
    const notes = notesOf(row);
    const isUnknown = row.unknownReason !== null;
    return element(
      "tr",
      { class: row.supersededBy === null ? null : "replaced" },
      element("td", {}, timeElement(row.observedAt)),
      element("td", { class: isUnknown ? "unknown" : "number value" }, valueText(row)),
      element("td", { class: "source" }, outsideLink(row.sourceLabel, row.sourceUrl)),
      element("td", {}, timeElement(row.recordedAt)),
      element("td", { class: "notes" }, notes.join(", ")),
      element(
        "td",
        {},
        button("Show", () => this.#onChoose(row), { "aria-label": `Show ${momentText(row.observedAt)} in the chart` })
      )
    );
  }
};

// site/browser/market/page-states.ts
function removedState(slug2, problem) {
  const { reason, replacedBy, removedAt, code } = problem;
  const isRemoval = code === "market-removed";
  return state(
    isRemoval ? "This market was removed" : "This market is gone",
    element("p", { class: "code" }, slug2),
    typeof removedAt === "string" && !Number.isNaN(Date.parse(removedAt)) ? element("p", {}, "Removed: ", timeElement(removedAt)) : null,
    element("p", {}, typeof reason === "string" ? `Reason: ${reason}` : "The service gives no reason."),
    typeof replacedBy === "string" ? element(
      "p",
      {},
      "Read instead: ",
      element("a", { href: `/markets/${encodeURIComponent(replacedBy)}` }, replacedBy)
    ) : element("p", {}, "Nothing replaces it."),
    code === "taken-down" ? element("p", {}, "Its texts were taken down for a legal reason.") : null,
    allMarkets()
  );
}
function unknownState(slug2) {
  return state(
    "There is no such market",
    element("p", {}, "No market has the name ", element("span", { class: "code" }, slug2), "."),
    allMarkets()
  );
}
function unreachableState(reason, onRetry) {
  return state(
    "The service cannot be reached",
    element(
      "p",
      { class: "notice", role: "alert" },
      `Nothing can be shown: ${reason}. The page tries again by itself.`
    ),
    button("Try again", onRetry)
  );
}
function allMarkets() {
  return element("p", {}, element("a", { href: "/" }, "All markets"));
}
function state(title, ...children) {
  return element("div", { class: "page-state" }, element("h1", {}, title), ...children);
}

// site/browser/market/provenance-panel.ts
var CHECK_DELAY_MS = 400;
var ProvenancePanel = class {
  root;
  #body = element("div", { class: "provenance-body" });
  #log = element("div", { class: "provenance-log", role: "status" });
  #options = null;
  #chosen = null;
  #shown;
  #timer;
  constructor() {
    this.root = element(
      "section",
      { class: "panel provenance", "aria-labelledby": "provenance-heading" },
      element("h2", { id: "provenance-heading" }, "Provenance"),
      this.#body,
      this.#log
    );
    this.#show(null);
  }
  set options(options) {
    this.#options = options;
  }
  /** The pointer is over a point, for a moment; null: back to the chosen one. */
  hover(row) {
    this.#show(row ?? this.#chosen);
  }
  choose(row) {
    const isSame = row?.id === this.#chosen?.id && row?.supersededBy === this.#chosen?.supersededBy;
    this.#chosen = row;
    this.#show(row);
    if (isSame) return;
    clearTimeout(this.#timer);
    this.#log.replaceChildren();
    if (row === null) return;
    if (this.#options?.check === null) {
      this.#say("plain", "This service writes no log, so nothing can be checked.");
    } else {
      this.#say("plain", "Checking it in the signed log …");
      this.#timer = setTimeout(() => void this.#check(row), CHECK_DELAY_MS);
    }
  }
  #show(row) {
    if (row === this.#shown) return;
    this.#shown = row;
    this.#log.hidden = row === null || row.id !== this.#chosen?.id;
    if (row === null || this.#options === null) {
      const hint = "Choose a point of the chart, or a row of the table, to see where its number comes from.";
      this.#body.replaceChildren(element("p", { class: "soft" }, hint));
      return;
    }
    const unit = row.metric === "price" ? ` ${unitText(this.#options.unit)}` : "";
    const value = valueText(row);
    const isUnknown = row.unknownReason !== null;
    const notes = notesOf(row).map((note) => element("span", { class: "badge badge-notice" }, note));
    this.#body.replaceChildren(
      element("p", { class: "provenance-value number" }, isUnknown ? value : value + unit),
      notes.length === 0 ? "" : element("p", { class: "badges" }, ...notes.flatMap((note) => [note, " "])),
      facts([
        ["Metric", row.metric],
        ["Source", outsideLink(row.sourceLabel, row.sourceUrl)],
        ["Observed", agedTime(row.observedAt)],
        ["Released", row.releasedAt === null ? "not known" : timeElement(row.releasedAt)],
        ["Recorded", timeElement(row.recordedAt)],
        ["Replaced", row.supersededAt === null ? "no, it stands" : timeElement(row.supersededAt)],
        ["Confidence", row.confidence],
        ["Status", row.status],
        ["Source digits", row.sourceValue ?? "none given"],
        ["Rounding", row.rounded ? "rounded: minor units cannot hold these digits" : "exact"],
        perUnitRow(row, this.#options.unit),
        ["Versions", this.#versions(row)],
        ["Id", element("span", { class: "code" }, row.id)]
      ])
    );
  }
  #versions(row) {
    const list = element("span", {});
    const add = (id, words) => {
      const version = this.#options?.versionOf(id);
      if (list.childNodes.length > 0) list.append(", ");
      list.append(`${words} `);
      if (version === void 0) list.append(element("span", { class: "code" }, id));
      else list.append(button(valueText(version), () => this.#options?.onChoose(version), { class: "link-button" }));
    };
    if (row.supersedes !== null) add(row.supersedes, "replaces");
    if (row.supersededBy !== null) add(row.supersededBy, "replaced by");
    return list.childNodes.length === 0 ? document.createTextNode("the only one") : list;
  }
  async #check(row) {
    const isCurrent = () => this.#chosen === row;
    try {
      const checked = await this.#options?.check?.(row);
      if (checked !== void 0 && isCurrent()) this.#showChecked(row, checked);
    } catch (error) {
      if (!isCurrent()) return;
      if (error instanceof LogVerificationError) {
        this.#say("alarm", `The signed log does not agree: ${error.message}. Do not rely on this value.`);
      } else if (error instanceof NotInLogError) {
        this.#say("notice", "Not in the log yet. Entries follow some seconds after a value. Choose it again soon.");
      } else if (!("crypto" in globalThis) || crypto.subtle === void 0) {
        this.#say("notice", "Not checked: browsers check signatures on HTTPS pages only.");
      } else if (error instanceof DOMException && error.name === "NotSupportedError") {
        this.#say("notice", "Not checked: this browser cannot check Ed25519 signatures.");
      } else {
        this.#say("notice", "Not checked: a file of the log could not be read. Choose the point again to retry.");
      }
    }
  }
  #showChecked(row, { index, size, origin, vkey, receipt }) {
    const href = URL.createObjectURL(new Blob([receipt], { type: "text/plain" }));
    const day = row.observedAt.slice(0, "YYYY-MM-DD".length);
    const download = `${this.#options?.slug}-${row.metric}-${day}.tlog-proof`;
    const details = element(
      "details",
      { class: "small" },
      element("summary", {}, "What was checked"),
      element(
        "p",
        {},
        `The entry has the same members as this row. It is in the tree of ${size.toLocaleString("en")} entries whose root the log ${origin} has signed. The key comes from this host: compare it with the one that its operator names elsewhere.`
      ),
      element("p", { class: "code vkey" }, vkey)
    );
    this.#log.replaceChildren(
      element(
        "p",
        {},
        element("span", { class: "badge badge-good" }, "checked in your browser"),
        ` in the signed log at index ${index.toLocaleString("en")}`
      ),
      element("p", {}, element("a", { href, download }, "Download the receipt")),
      details
    );
  }
  #say(look, text) {
    const classes = { plain: "soft", notice: "notice", alarm: "notice notice-alarm" }[look];
    this.#log.replaceChildren(element("p", { class: classes }, text));
  }
};
function perUnitRow(row, unit) {
  if (row.kind !== "money" || unit.quantity === 1 || row.decimal === null) return null;
  const digits = row.decimalPerUnit;
  return [
    "Per unit",
    digits === null ? "its decimals do not end" : `${groupedDigits(digits)} ${row.currency} per ${unit.of}${row.rounded ? ", rounded" : ""}`
  ];
}

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

// site/browser/market/sources-section.ts
var OUTCOME_WORDS = {
  confirmed: "confirmed: the source says the same",
  mismatch: "mismatch: the source says something else",
  moved: "moved: the data is at another URL",
  unreachable: "unreachable: the source did not answer",
  gone: "gone: the data is no longer there",
  inconclusive: "inconclusive: no result"
};
function sourcesSection(content) {
  const { market } = content;
  const cards = market.sources.map((source) => sourceCard(content, source));
  return element(
    "section",
    { class: "market-section", "aria-labelledby": "sources-heading" },
    element("h2", { id: "sources-heading" }, "Sources side by side"),
    element("p", { class: "soft" }, "The newest value of each source. Values are never blended."),
    comparison(content),
    element("div", { class: "cards" }, ...cards),
    element("h2", {}, "Claims and checks"),
    claims(market)
  );
}
function comparison({ metrics, bySource }) {
  const rows = Object.keys(metrics).sort((one, other) => Number(other === "price") - Number(one === "price") || (one < other ? -1 : 1)).flatMap((name) => {
    const shown = metrics[name];
    const values = bySource[name] ?? (shown == null ? [] : [shown]);
    return values.map((value) => ({ name, value }));
  });
  if (rows.length === 0) return element("p", {}, "No value was ever observed.");
  return element(
    "div",
    { class: "table-box", role: "region", tabindex: "0", "aria-label": "Newest values by source" },
    element(
      "table",
      { class: "comparison" },
      element("caption", { class: "visually-hidden" }, "Newest values by metric and source"),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          ...["Metric", "Source", "Value", "Observed", "Confidence"].map(
            (head) => element("th", { scope: "col" }, head)
          )
        )
      ),
      element("tbody", {}, ...rows.map(({ name, value }) => comparisonRow(name, value)))
    )
  );
}
function comparisonRow(name, value) {
  const isUnknown = value.unknownReason !== null;
  return element(
    "tr",
    {},
    element("td", {}, name),
    element("td", { class: "source" }, outsideLink(value.sourceLabel, value.sourceUrl)),
    element("td", { class: isUnknown ? "unknown" : "number value" }, valueText(value)),
    element("td", {}, timeElement(value.observedAt)),
    element("td", {}, value.confidence)
  );
}
function sourceCard({ market }, source) {
  const { label, url, publisher, licence, attribution, cadence, expectedNextAt, verification } = source;
  const isLate = lateSecondsOf(source, Date.now()) > 0;
  const every = cadence === null ? "not stated" : cadenceText(cadence);
  return element(
    "article",
    { class: "panel" },
    element("h3", {}, outsideLink(label, url)),
    facts([
      ["Publisher", publisher ?? "not stated"],
      ["Licence", licence ?? "not stated"],
      attribution === null ? null : ["Attribution", attribution],
      ["Publishes", every],
      expectedNextAt === null || market.status === "retired" ? null : [
        "Next value",
        element(
          "span",
          {},
          isLate ? element("span", { class: "badge badge-notice" }, "late") : "",
          " expected ",
          agedTime(expectedNextAt)
        )
      ],
      [
        "Last check",
        verification === null ? "never checked against the source" : element(
          "span",
          {},
          `${OUTCOME_WORDS[verification.outcome] ?? verification.outcome}, `,
          verification.subject === "source" ? "the whole source, " : "one observation, ",
          agedTime(verification.verifiedAt)
        )
      ]
    ])
  );
}
function cadenceText(cadence) {
  if (cadence.period !== "minutes") return `every ${cadence.period}`;
  return cadence.minutes === 1 ? "every minute" : `every ${cadence.minutes} minutes`;
}
function claims({ disputed, disputedMetrics, representedBy }) {
  const list = element("ul", {});
  if (disputed) {
    const names = disputedMetrics.join(", ");
    list.append(
      element("li", {}, `Disputed: ${names}. A claim was accepted, or a check of the source found another value.`)
    );
  } else list.append(element("li", {}, "No metric is disputed."));
  list.append(
    element(
      "li",
      {},
      representedBy === null ? "No organisation represents this market." : `${representedBy} represents this market, by an accepted claim.`
    ),
    element("li", {}, "Corrections never overwrite: the replaced versions stay readable.")
  );
  return list;
}

// site/browser/market/market-page.ts
var ASK_AGAIN_MS = 15e3;
var DRAW_MS = 250;
var DRAW_SHARE = 4;
var END_WORDS = {
  whole: "",
  full: `Only the newest ${KEPT_ROWS_MAX.toLocaleString("en")} are kept here; the files have all.`,
  "newest-versions": "Some replaced versions are not read, so earlier moments may miss values that were replaced."
};
var MarketPage = class {
  #root;
  #slug;
  #answers;
  #store = new ObservationStore();
  #stopped = new AbortController();
  #notice = element("div", { role: "status" });
  #top = element("div", {});
  #sources = element("div", {});
  #downloads = element("div", {});
  #checked = element("p", { class: "small soft checked-at" });
  #chart;
  #provenance = new ProvenancePanel();
  #asOfPanel;
  #table;
  #replaced = element("input", { type: "checkbox", id: "replaced" });
  #market = null;
  #projections = /* @__PURE__ */ new Set();
  #reader = null;
  #chosen = null;
  #state = readFragment(location.hash, Date.now());
  #end = null;
  #readAtMs = 0;
  #isAsking = false;
  /** Those that the head shows: a source becomes late while the page is open. */
  #badges = "";
  #drawMs = 0;
  #drawTimer;
  constructor(root2, slug2) {
    this.#root = root2;
    this.#slug = slug2;
    this.#answers = new PublicAnswers((input, init) => fetch(input, init));
    this.#chart = new ChartPanel({
      onChoose: (row) => this.#choose(row),
      onHover: (row) => this.#provenance.hover(row),
      onMetric: (metric) => this.#go({ ...this.#state, metric: metric === "price" ? null : metric })
    });
    this.#asOfPanel = new AsOfPanel((asOf) => this.#go({ ...this.#state, asOf }));
    const replaced = element("label", { class: "choice" }, this.#replaced, " Show replaced versions");
    this.#replaced.addEventListener("change", () => this.#show());
    this.#table = new ObservationsTable((row) => {
      this.#choose(row);
      this.#chart.focus();
    }, replaced);
  }
  start() {
    addEventListener("hashchange", () => {
      this.#state = readFragment(location.hash, Date.now());
      if (this.#market !== null) this.#show();
    });
    document.addEventListener("visibilitychange", () => void this.#askAgain());
    setInterval(() => void this.#askAgain(), ASK_AGAIN_MS);
    void this.#ask();
  }
  async #askAgain() {
    refreshAges(this.#root);
    if (document.visibilityState === "visible" && !this.#stopped.signal.aborted) await this.#ask();
  }
  async #ask() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const answer = await this.#answers.readAgain(marketUrl(this.#slug));
      this.#readAtMs = Date.now();
      if (answer.kind === "missing") this.#showState(unknownState(this.#slug));
      else if (answer.kind === "gone") this.#showState(removedState(this.#slug, answer.problem));
      else await this.#take(answer.kind === "found" ? answer.body : null);
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      this.#showStale(error.message);
    } finally {
      this.#isAsking = false;
    }
  }
  /** @param market null: it is the same as before */
  async #take(market) {
    this.#market = market ?? this.#market;
    if (this.#reader === null) await this.#begin();
    this.#notice.replaceChildren();
    this.#checked.textContent = `Read at ${timeOf(this.#readAtMs)}. The page asks again every 15 seconds.`;
    if (market !== null) {
      document.title = `${market.name} · Tidemark`;
      this.#show();
    }
    await this.#readHistory(market !== null);
    if (this.#badges !== badgesText(this.#market)) this.#showTop(this.#view());
  }
  async #begin() {
    const snapshot = await this.#answers.read(SNAPSHOT_URL);
    if (snapshot.kind === "found") {
      this.#projections = new Set(snapshot.body.projections);
    }
    this.#reader = new HistoryReader({
      answers: this.#answers,
      slug: this.#slug,
      store: this.#store,
      hasFiles: this.#projections.has("history-files")
    });
    const checker = new LogChecker((path) => this.#answers.readBytes(`/api/v1/log/${path}`));
    this.#provenance.options = {
      check: this.#projections.has("log") ? (row) => checker.check(this.#slug, row) : null,
      slug: this.#slug,
      unit: this.#market.unit,
      versionOf: (id) => this.#store.byId(id),
      onChoose: (row) => this.#choose(row)
    };
    this.#provenance.choose(null);
    const charts = element("div", { class: "chart-and-provenance" }, this.#chart.root, this.#provenance.root);
    this.#root.replaceChildren(
      ...[this.#notice, this.#top, charts, this.#asOfPanel.root, this.#table.root, this.#sources, this.#downloads],
      this.#checked
    );
    this.#root.setAttribute("data-ready", "true");
  }
  async #readHistory(hasChanged) {
    const { count } = this.#market.history;
    const reading = { onPart: () => this.#drawSoon(), signal: this.#stopped.signal };
    if (this.#end === null) this.#end = await this.#reader?.readAll(reading) ?? "whole";
    else if (hasChanged || this.#isBehind(count)) await this.#reader?.readChanges(count, reading);
    else return;
    clearTimeout(this.#drawTimer);
    this.#drawTimer = void 0;
    this.#show();
    this.#showDownloads();
  }
  /** A shared cache may have a newer body of the market than of its history, for some seconds. */
  #isBehind(count) {
    return this.#end === "whole" && this.#store.size < count;
  }
  #drawSoon() {
    this.#drawTimer ??= setTimeout(
      () => {
        const begunMs = performance.now();
        this.#show();
        this.#drawMs = performance.now() - begunMs;
        this.#drawTimer = void 0;
      },
      DRAW_MS + DRAW_SHARE * this.#drawMs
    );
  }
  #go({ asOf, metric }) {
    const wasInTop = this.#top.contains(document.activeElement);
    const refused = asOf === null ? null : refusalOf(instantOfMs(asOf.atMs), Date.now());
    const state2 = { asOf: refused === null ? asOf : null, metric, refused };
    this.#state = state2;
    history.replaceState(null, "", `${location.pathname}${location.search}${fragmentOf(state2)}`);
    this.#show();
    if (wasInTop) document.getElementById("as-of-slider")?.focus();
  }
  #choose(row) {
    this.#chosen = row;
    this.#chart.choose(row);
    this.#provenance.choose(row);
  }
  #view() {
    return historyView(this.#market, this.#store.newestFirst(), this.#state.asOf);
  }
  #show() {
    const market = this.#market;
    const { asOf } = this.#state;
    const view = this.#view();
    const metrics = metricNames(Object.keys(market.metrics), this.#store.metrics);
    const metric = metrics.find((name) => name === this.#state.metric) ?? "price";
    const order2 = market.sources.map(({ label }) => label);
    const data = chartData(view.visible, metric, order2);
    const shown = view.visible.find((row) => row.metric === metric);
    const unit = metric === "price" ? market.nativeCurrency : shown === void 0 ? "" : unitOf(shown);
    this.#chart.show({
      data,
      marketName: market.name,
      metrics,
      isDisputed: asOf === null && market.disputedMetrics.includes(metric),
      axisText: metric === "price" ? `${unit} ${unitText(market.unit)}` : unit
    });
    this.#chart.showProgress(this.#progressText());
    const rows = this.#replaced.checked && asOf === null ? [...this.#store.newestFirst()] : view.visible;
    const moment = asOf === null ? "" : ` as of ${momentText(instantOfMs(asOf.atMs))}`;
    this.#table.show({ rows: rows.filter((row) => row.metric === metric), metric, moment });
    this.#replaced.disabled = asOf !== null;
    this.#asOfPanel.show(this.#store, asOf, END_WORDS[this.#end ?? "whole"]);
    this.#showTop(view);
    this.#sources.replaceChildren(sourcesSection({ market, metrics: view.metrics, bySource: view.bySource }));
    if (this.#downloads.childElementCount === 0) this.#showDownloads();
    this.#chosen = this.#stillKnown(this.#chosen, view);
    this.#chart.mark(this.#chosen);
    this.#provenance.choose(this.#chosen);
  }
  /** The newest form of a chosen row. As of an earlier moment, a row that was not visible then is not shown. */
  #stillKnown(row, { visible }) {
    if (row === null) return null;
    const known = this.#state.asOf === null ? this.#store.byId(row.id) : visible.find(({ id }) => id === row.id);
    return known ?? null;
  }
  #showTop(view) {
    const market = this.#market;
    this.#badges = badgesText(market);
    const price = view.metrics.price ?? null;
    const row = view.visible.find(
      ({ metric, observedAt, sourceUrl }) => metric === "price" && observedAt === price?.observedAt && sourceUrl === price.sourceUrl
    );
    const { asOf } = this.#state;
    this.#top.replaceChildren(
      marketTop({
        market,
        price,
        row,
        asOf,
        refused: this.#state.refused,
        onNow: () => this.#go({ ...this.#state, asOf: null })
      })
    );
  }
  #showDownloads() {
    const {
      history: { count }
    } = this.#market;
    this.#downloads.replaceChildren(
      downloadsSection({
        slug: this.#slug,
        origin: location.origin,
        count,
        index: this.#reader?.index ?? null,
        hasLog: this.#projections.has("log"),
        hasFaces: this.#projections.has("faces") && count > 0
      })
    );
  }
  #progressText() {
    const { count } = this.#market.history;
    const [read, all] = [this.#store.size.toLocaleString("en"), count.toLocaleString("en")];
    if (count === 0) return "There is no observation yet.";
    if (this.#end === null) return `Reading the history: ${read} of ${all} observations, newest first …`;
    return `${read} of ${all} observations are read, replaced versions included. ${END_WORDS[this.#end]}`;
  }
  #showStale(reason) {
    if (this.#market === null || this.#reader === null) {
      this.#root.replaceChildren(unreachableState(reason, () => void this.#ask()));
      return;
    }
    const words = `The service cannot be reached: ${reason}. This page shows what it read at ${timeOf(this.#readAtMs)}, and tries again by itself.`;
    const [shown] = this.#notice.children;
    if (shown?.firstChild?.textContent === words) return;
    this.#notice.replaceChildren(
      element(
        "div",
        { class: "notice stale" },
        element("p", {}, words),
        button("Try again", () => void this.#ask())
      )
    );
  }
  #showState(state2) {
    this.#stopped.abort();
    document.title = `${state2.querySelector("h1")?.textContent} · Tidemark`;
    this.#root.replaceChildren(state2);
    this.#root.setAttribute("data-ready", "true");
  }
};
function badgesText(market) {
  return JSON.stringify(badgesOf(market, Date.now()));
}
function timeOf(ms) {
  return `${new Date(ms).toISOString().slice("YYYY-MM-DDT".length, -".000Z".length)} UTC`;
}

// site/browser/market/main.ts
var root = document.getElementById("market");
var slug = location.pathname.replace(/^\/markets\/|\/$/g, "");
if (slug.length <= SLUG_MAX_LENGTH && new RegExp(`^${SLUG_PATTERN}$`).test(slug)) new MarketPage(root, slug).start();
else root.replaceChildren(unknownState(slug));
