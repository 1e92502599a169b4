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

// contract/routes.ts
var MARKETS_URL = "/api/v1/markets";
var SNAPSHOT_URL = "/api/v1/snapshot";
var LATEST_URL = "/api/v1/latest";
var LATEST_CSV_URL = `${LATEST_URL}.csv`;
var RECENT_URL = "/api/v1/recent";
var EXPORT_ROOT = "/api/v1/exports/";
var EXPORTS_URL = `${EXPORT_ROOT}latest`;

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

// contract/limits.ts
var FRESH_SECONDS = 15;
var IMMUTABLE_SECONDS = 365 * 24 * 60 * 60;
var CURSOR_LIFETIME_SECONDS = 24 * 60 * 60;

// contract/recent-prices.ts
var RECENT_MARKETS_MAX = 5e3;

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
  for (let part2 = await reader?.read(); part2 !== void 0 && !part2.done; part2 = await reader?.read()) {
    const lines = (rest + decoder.decode(part2.value, { stream: true })).split("\n");
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

// contract/expected-next.ts
function latenessSeconds(expectedAt, graceSeconds, nowMs) {
  const seconds = Math.floor((nowMs - Date.parse(expectedAt)) / 1e3);
  return seconds > graceSeconds ? seconds : 0;
}

// site/browser/market/words.ts
var MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
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
function lateSince({ expectedNextAt, graceSeconds }, nowMs) {
  if (expectedNextAt === null || graceSeconds === null) return null;
  return latenessSeconds(expectedNextAt, graceSeconds, nowMs) > 0 ? expectedNextAt : null;
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

// site/browser/market/elements.ts
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(attribute, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
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
function refreshAges(root) {
  const nowMs = Date.now();
  for (const age of root.querySelectorAll("[data-age-of]")) {
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

// site/browser/poll.ts
var POLL_SECONDS = 30;
var TICK_MS = 1e4;
function pollWhileVisible(refresh2, draw2) {
  let askedMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    askedMs = performance.now();
    await refresh2();
    isAsking = false;
    draw2();
  };
  const tick = () => {
    if (document.visibilityState === "hidden") return;
    if (performance.now() - askedMs >= POLL_SECONDS * 1e3) void ask();
    else draw2();
  };
  addEventListener("online", () => void ask());
  document.addEventListener("visibilitychange", tick);
  setInterval(tick, TICK_MS);
  void ask();
  return () => void ask();
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
async function findEntry(files, size, sought) {
  const bundles = Math.ceil(size / TILE_WIDTH);
  const read = (n) => files.entries(n, Math.min(TILE_WIDTH, size - n * TILE_WIDTH));
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
function newestIn(entries2) {
  return entries2.reduce((newest, { text }) => {
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
  for (const part2 of parts) {
    bytes.set(part2, at);
    at += part2.length;
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
function toBase64(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
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
  const first = start / TILE_WIDTH ** level;
  const tile = await tileOf(level, Math.floor(first / TILE_WIDTH));
  const from = first % TILE_WIDTH * HASH_LENGTH;
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
  const root = fromBase64(encoded);
  if (split < 0 || !/^(0|[1-9]\d{0,14})$/.test(size) || root?.length !== HASH_LENGTH) {
    throw new LogVerificationError("not a signed checkpoint");
  }
  for (const { name, id, key } of keys) {
    for (const line of lines) {
      const [, signer, signature = ""] = /^— (\S+) (\S+)$/.exec(line) ?? [];
      const bytes = fromBase64(signature);
      if (signer !== name || name !== origin || bytes === null || hexOf(bytes.subarray(0, 4)) !== id) continue;
      if (await crypto.subtle.verify("Ed25519", key, bytes.slice(4), encodedText(text))) {
        return { origin, size: Number(size), root };
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
    const root = await rootOf(checkpoint.size, async (level, n, width) => {
      const tile = await readTile(read, level, n, width);
      edge.set(level, tile);
      return tile;
    });
    if (!isSameHash(root, checkpoint.root)) {
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
    const files = { entries: async (n, width) => await this.#lines(n, width) };
    const found = await findEntry(files, size, sought).catch((cause) => {
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
  let root = null;
  for (const { level, n, width } of partialTilesOf(size)) {
    const tile = await tileOf(level, n, width);
    for (let [bit, end] = [1, width]; bit <= width; bit *= 2) {
      if ((width & bit) === 0) continue;
      const subtree = await perfectRootOf(tile.subarray((end - bit) * HASH_LENGTH, end * HASH_LENGTH));
      root = root === null ? subtree : await nodeHashOf(subtree, root);
      end -= bit;
    }
  }
  return root ?? await sha256Of();
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
    for (let part2 = await reader.read(); !part2.done; part2 = await reader.read()) {
      bytes += part2.value.length;
      if (bytes > LINES_BYTES_MAX) throw new RangeError("too large");
      chunks.push(part2.value);
    }
    return decode(joinedBytes(chunks));
  } catch (cause) {
    throw new LogVerificationError("a file of entries cannot be read", { cause });
  }
}

// site/browser/status/log-check.ts
async function checkLog(read, before) {
  const vkeys = new TextDecoder().decode(await read("vkey")).split("\n").filter(Boolean);
  const log2 = await SignedLog.open(read, await Promise.all(vkeys.map(importLogKey)));
  const { origin, size, root } = log2.checkpoint;
  const newest = size === 0 ? null : await log2.entryAt(size - 1);
  const signers = [...log2.note.matchAll(/^— (\S+) \S+$/gm)].map(([, name]) => name);
  return { origin, size, root: toBase64(root), vkeys, signers, newest, past: await pastOf(log2, vkeys, before) };
}
async function pastOf(log2, vkeys, before) {
  if (before === null) return { kind: "first" };
  const isKnownKey = before.origin === log2.checkpoint.origin && vkeys.some((vkey) => before.vkeys.includes(vkey));
  if (!isKnownKey) return { kind: "other-key", before };
  if (before.size > log2.checkpoint.size) return { kind: "shorter", before };
  const root = fromBase64(before.root);
  const isSame = root !== null && isSameHash(await log2.rootAt(before.size), root);
  return { kind: isSame ? "same" : "forked", before };
}
function isToRemember({ past }) {
  return past.kind === "first" || past.kind === "same";
}
function parseSeen(text) {
  try {
    const seen = JSON.parse(text ?? "null");
    const isSeen = Number.isSafeInteger(seen?.size) && Array.isArray(seen?.vkeys) && [seen?.origin, seen?.root, seen?.seenAt].every((member) => typeof member === "string") && !Number.isNaN(Date.parse(seen?.seenAt));
    return isSeen ? seen : null;
  } catch {
    return null;
  }
}
function seenText({ origin, size, root, vkeys }, seenAt) {
  return JSON.stringify({ origin, size, root, vkeys, seenAt });
}
function logFault(error) {
  if (error instanceof LogVerificationError) return { isFound: true, text: error.message };
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (name === "NotSupportedError") return { isFound: false, text: "this browser cannot check signatures of Ed25519" };
  return { isFound: false, text: message };
}

// site/browser/status/log-watch.ts
var SEEN = "tidemark.log-seen";
var LOG = "/api/v1/log";
var LogWatch = class {
  checked = null;
  /** By this computer's clock. */
  checkedMs = 0;
  /** Why the last check did not end well. Null: it did, or there was none yet. */
  fault = null;
  #root = null;
  /** @param root that the snapshot names. Never rejects */
  async refresh(root) {
    if (root === this.#root && this.fault === null) return;
    if (globalThis.crypto?.subtle === void 0) {
      this.fault = { isFound: false, text: "browsers can check signatures only on https, or on this machine" };
      return;
    }
    try {
      this.checked = await this.#check();
      this.checkedMs = Date.now();
      this.#root = root;
      this.fault = null;
      if (isToRemember(this.checked)) localStorage.setItem(SEEN, seenText(this.checked, (/* @__PURE__ */ new Date()).toISOString()));
    } catch (error) {
      this.fault = logFault(error);
    }
  }
  async #check() {
    const before = parseSeen(localStorage.getItem(SEEN));
    const from = (cache) => {
      const answers = new PublicAnswers((path, init) => fetch(path, { ...init, cache }));
      return async (path) => await answers.readBytes(`${LOG}/${path}`);
    };
    try {
      return await checkLog(from("default"), before);
    } catch (error) {
      if (!(error instanceof LogVerificationError)) throw error;
      return await checkLog(from("reload"), before);
    }
  }
};

// site/browser/status/source-freshness.ts
function sourceFreshness(entries2, nowMs) {
  const sources = /* @__PURE__ */ new Map();
  for (const entry of entries2) {
    const { source, observedAt, decimal, expectedNextAt } = entry;
    if (source === null || observedAt === null) continue;
    const since = lateSince(entry, nowMs);
    const known = sources.get(source);
    sources.set(source, {
      label: source,
      markets: (known?.markets ?? 0) + 1,
      newestAt: laterInstant(observedAt, known?.newestAt ?? null),
      oldestAt: earlier(observedAt, known?.oldestAt ?? null),
      late: (known?.late ?? 0) + (since === null ? 0 : 1),
      lateSince: since === null ? known?.lateSince ?? null : earlier(since, known?.lateSince ?? null),
      unknown: (known?.unknown ?? 0) + (decimal === null ? 1 : 0),
      hasCadence: (known?.hasCadence ?? false) || expectedNextAt !== null
    });
  }
  const lateness = ({ lateSince: since }) => since === null ? Infinity : Date.parse(since);
  return [...sources.values()].sort(
    (left, right) => compareNumbers(lateness(left), lateness(right)) || compareNumbers(Date.parse(left.newestAt), Date.parse(right.newestAt)) || (left.label < right.label ? -1 : 1)
  );
}
var compareNumbers = (left, right) => left === right ? 0 : left < right ? -1 : 1;
function earlier(one, other) {
  return other === null || Date.parse(one) <= Date.parse(other) ? one : other;
}
var LAG_SECONDS_MAX = 300;
function publicationLagSeconds(entries2, publishedAt) {
  const recorded = entries2.flatMap(({ recordedAt }) => recordedAt === null ? [] : [Date.parse(recordedAt)]);
  const newest = recorded.reduce((latest, ms) => Math.max(latest, ms), Number.NEGATIVE_INFINITY);
  const seconds = Math.ceil((Date.parse(publishedAt) - newest) / 1e3);
  return seconds >= 0 && seconds <= LAG_SECONDS_MAX ? seconds : null;
}

// contract/projections.ts
var PROJECTIONS = ["log", "history-files", "latest", "recent", "exports", "faces"];
var ALL_PROJECTIONS = new Set(PROJECTIONS);
var PROJECTIONS_EXPECTED = `all, none, or some of ${PROJECTIONS.join(", ")}, separated by commas`;

// site/browser/status/status-parts.ts
var many = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
var entries = (number) => number === 1 ? "1 entry" : `${number.toLocaleString("en")} entries`;
var code = (text) => element("code", { class: "status-code" }, text);
function badge(text, look) {
  return element("span", { class: look === "plain" ? "badge" : `badge badge-${look}` }, text);
}
function figure(title, value, below) {
  return element(
    "div",
    { class: "panel figure" },
    element("dt", {}, title),
    element(
      "dd",
      {},
      element("span", { class: "figure-value" }, value),
      element("span", { class: "figure-below" }, below)
    )
  );
}
function snapshotFacts(snapshot, feed2) {
  const { counts, generation, listGeneration, publishedAt, projections = [] } = snapshot;
  const lag = publicationLagSeconds(feed2.entries, publishedAt);
  const behind = generation - listGeneration;
  return facts([
    ["Generation", generation.toLocaleString("en")],
    ["Published", agedTime(publishedAt)],
    [
      "The list",
      behind === 0 ? "shows this generation" : `shows generation ${listGeneration.toLocaleString("en")}, ${behind} before it`
    ],
    lag === null ? null : ["Lag", `at most ${many(lag, "second")}, from the newest price to its publication`],
    ["Markets", counts.markets.toLocaleString("en")],
    [
      "Observations",
      `${counts.observations.toLocaleString("en")}, of which ${many(counts.unknownValues, "value")} unknown`
    ],
    ["Files", filesText(projections)]
  ]);
}
function filesText(projections) {
  const off = PROJECTIONS.filter((name) => !projections.includes(name));
  const on = PROJECTIONS.filter((name) => projections.includes(name));
  if (on.length === 0) return "JSON bodies only: this deployment publishes no further files";
  return off.length === 0 ? on.join(", ") : `${on.join(", ")}; switched off: ${off.join(", ")}`;
}
function sourcesTable(sources, nowMs) {
  const heads = ["Source", "Markets", "Newest price", "Oldest of the newest", "State"];
  const rows = sources.map(
    (source) => element(
      "tr",
      {},
      element("th", { scope: "row" }, source.label),
      element("td", { class: "number" }, source.markets.toLocaleString("en")),
      element("td", {}, agedTime(source.newestAt)),
      element("td", {}, source.oldestAt === source.newestAt ? "the same" : agedTime(source.oldestAt)),
      element("td", {}, stateOf(source, nowMs))
    )
  );
  const table = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, ...rows)
  );
  return element("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": "Table of sources" }, table);
}
function stateOf({ late, lateSince: lateSince2, hasCadence, unknown }, nowMs) {
  const badges = [];
  if (lateSince2 !== null) {
    const isToday = nowMs - Date.parse(lateSince2) < 864e5;
    const since = isToday ? `${lateSince2.slice(11, 16)} UTC` : dayText(lateSince2);
    badges.push(badge(`${many(late, "market")} late since ${since}`, "notice"));
  } else badges.push(hasCadence ? badge("on time", "good") : "no stated cadence");
  if (unknown > 0) badges.push(" ", badge(`${unknown.toLocaleString("en")} unknown`, "notice"));
  return element("span", {}, ...badges);
}
function logFacts(log2, snapshotRoot) {
  const { size, root, origin, vkeys, signers, newest, past } = log2;
  return facts([
    ["Size", entries(size)],
    ["Root", code(root)],
    ["Name", code(origin)],
    ["Key", element("span", {}, ...vkeys.flatMap((vkey, index) => [index === 0 ? "" : " ", code(vkey)]))],
    ["Signatures", element("span", {}, ...signers.flatMap((name, index) => [index === 0 ? "" : ", ", code(name)]))],
    ["Newest entry", newestText(newest, size)],
    [
      "Checked here",
      element(
        "ul",
        { class: "checks" },
        check("good", "The signature is of the key that the service shows."),
        check("good", "The tiles of the log give the root that is signed."),
        newest === null ? null : check("good", "The newest entry is below that root."),
        snapshotRoot === null ? null : snapshotRoot === root ? check("good", "The snapshot names the same root.") : check("plain", "The snapshot names another root: it is older or newer by a moment."),
        pastCheck(past)
      )
    ]
  ]);
}
function newestText(newest, size) {
  if (newest === null) return size === 0 ? "the log is empty" : "its text was taken down";
  const { entry, index } = newest;
  const market = typeof entry.market === "string" ? entry.market : null;
  return element(
    "span",
    {},
    `${index.toLocaleString("en")}: ${String(entry.type)}`,
    ...market === null ? [] : [" of ", element("a", { href: `/markets/${encodeURIComponent(market)}` }, market)]
  );
}
function pastCheck(past) {
  if (past.kind === "first") {
    return check(
      "plain",
      "This browser sees the log for the first time. Next time it checks that nothing before was changed."
    );
  }
  const { size, seenAt } = past.before;
  const seen = `${entries(size)}, seen here on ${momentText(seenAt)}`;
  switch (past.kind) {
    case "same":
      return check("good", `The log begins with the same ${seen}.`);
    case "shorter":
      return check(
        "notice",
        `The log is shorter than the ${seen}. A copy that is behind looks like that. Look again in a minute.`
      );
    case "other-key":
      return check("alarm", `The log has another key than the ${seen}. Ask the operator whether the key was replaced.`);
    case "forked":
      return check(
        "alarm",
        `The log does not begin with the ${seen}. Its past was changed. Both checkpoints are signed: tell the operator, and others who follow the log.`
      );
  }
}
var LOOKS = { good: "right", plain: "note", notice: "look", alarm: "wrong" };
function check(look, text) {
  return element("li", {}, badge(LOOKS[look], look), " ", text);
}
function exportFacts(body) {
  const { date, created, generation, log: log2, resources } = body;
  const formats = [...new Set(resources.map(({ format }) => format))];
  const bytesOf = (format) => resources.reduce((sum, each) => sum + (each.format === format ? each.bytes : 0), 0);
  return facts([
    ["Day", element("a", { href: `/api/v1/exports/${encodeURIComponent(date)}` }, dayText(date))],
    ["State of", element("span", {}, `generation ${generation.toLocaleString("en")}, `, agedTime(created))],
    ["Log", log2 === void 0 ? "no log" : `the first ${entries(log2.size)}`],
    [
      "Files",
      `${many(resources.length, "file")}: ${formats.map((format) => `${format} ${megabytes(bytesOf(format))}`).join(", ")}`
    ]
  ]);
}
var megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
function mirrorFacts(body) {
  const { of, state, ageSeconds, generation } = body;
  const isGood = state === "current";
  return facts([
    ["Copy of", code(String(of))],
    ["State", badge(String(state), isGood ? "good" : state === "forked" ? "alarm" : "notice")],
    ["Confirmed", typeof ageSeconds === "number" ? `${many(ageSeconds, "second")} ago` : "never"],
    ["Generation", generation === null ? "no copy yet" : String(generation)]
  ]);
}

// site/browser/status/main.ts
var MISSING_MS = 10 * 6e4;
var OptionalFile = class {
  body = null;
  isMissing = false;
  problem = null;
  #askAgainMs = 0;
  #path;
  #answers = new PublicAnswers((...request) => fetch(...request));
  constructor(path) {
    this.#path = path;
  }
  async refresh() {
    if (Date.now() < this.#askAgainMs) return;
    try {
      const answer = await this.#answers.readAgain(this.#path);
      if (answer.kind === "found") this.body = answer.body;
      this.isMissing = answer.kind === "missing" || answer.kind === "gone";
      if (this.isMissing) this.#askAgainMs = Date.now() + MISSING_MS;
      this.problem = null;
    } catch (error) {
      this.problem = error.message;
    }
  }
};
var feed = new MarketFeed();
var log = new LogWatch();
var exported = new OptionalFile(EXPORTS_URL);
var mirror = new OptionalFile("/api/v1/mirror");
var problem = null;
var answeredMs = 0;
async function refresh() {
  try {
    await feed.refresh(false);
    answeredMs = Date.now();
    problem = null;
  } catch (error) {
    problem = error.message;
  }
  draw();
  const { snapshot } = feed;
  const publishes = (name) => snapshot?.projections?.includes(name) === true;
  await Promise.all([
    snapshot?.log === void 0 ? null : log.refresh(snapshot.log.root),
    publishes("exports") ? exported.refresh() : null,
    mirror.refresh()
  ]);
  document.getElementById("status").dataset.ready = "true";
}
function draw() {
  const { snapshot, nowMs } = feed;
  const problemNow = problemText();
  put("notices", problemNow === null ? null : element("p", { class: "notice" }, problemNow));
  put("mirror", mirror.body === null ? null : part(mirror.problem, mirrorFacts(mirror.body)));
  document.getElementById("mirror-section").hidden = mirror.body === null;
  if (snapshot === null) return;
  const sources = sourceFreshness(feed.entries, nowMs);
  put("figures", figures(snapshot, sources));
  put("snapshot", snapshotFacts(snapshot, feed));
  put("sources", sourcesPart(sources));
  put("log", logPart(snapshot));
  put("export", exportPart(snapshot));
}
function problemText() {
  if (problem !== null) {
    const rest = answeredMs === 0 ? "" : ` Everything below is as it was ${agoText(Date.now() - answeredMs)}.`;
    return `No connection: ${problem}.${rest} The page asks again every ${POLL_SECONDS} seconds.`;
  }
  const copy = `The edge shows a copy, ${feed.ageSeconds} seconds old: the service behind it does not answer.`;
  return feed.isStale ? copy : null;
}
function figures(snapshot, sources) {
  const { counts, generation, publishedAt } = snapshot;
  const late = sources.filter(({ lateSince: lateSince2 }) => lateSince2 !== null).length;
  const stated = sources.filter(({ hasCadence }) => hasCadence).length;
  const newest = sources.reduce((last, { newestAt }) => laterInstant(newestAt, last), null);
  return element(
    "dl",
    { class: "figures" },
    figure("Generation", generation.toLocaleString("en"), `published ${agoText(feed.nowMs - Date.parse(publishedAt))}`),
    figure("Markets", counts.markets.toLocaleString("en"), `${counts.observations.toLocaleString("en")} observations`),
    figure(
      "Late sources",
      stated === 0 ? "unknown" : `${late} of ${stated}`,
      stated === 0 ? "no source states its cadence" : newest === null ? "no price yet" : `newest price of ${dayText(newest)}`
    ),
    figure("Entries in the log", snapshot.log?.size.toLocaleString("en") ?? "no log", logWords())
  );
}
function logWords() {
  if (feed.snapshot?.log === void 0) return "switched off";
  if (log.fault?.isFound) return "a check failed";
  if (log.fault !== null) return "not checked";
  return log.checked === null ? "being checked …" : "root checked here";
}
function sourcesPart(sources) {
  const { entries: entries2, nextCursor, nowMs } = feed;
  if (sources.length === 0) return softText("No price is published yet.");
  const never = entries2.filter(({ observedAt }) => observedAt === null).length;
  const read = entries2.length.toLocaleString("en");
  return element(
    "div",
    {},
    sourcesTable(sources, nowMs),
    never === 0 ? null : softText(`Markets without any price: ${never.toLocaleString("en")}.`),
    nextCursor === null ? null : softText(`Only the first ${read} markets are counted.`)
  );
}
function logPart({ log: named }) {
  if (named === void 0) return softText("This deployment publishes no log. No signature proves its values.");
  const { fault, checked } = log;
  if (fault === null && checked === null) return softText("The log is being checked …");
  const begin = fault?.isFound ? "A check failed" : "The log was not checked";
  const look = fault?.isFound ? "notice notice-alarm" : "notice";
  return element(
    "div",
    {},
    fault === null ? null : element("p", { class: look }, `${begin}: ${fault.text}.`),
    checked === null ? null : logFacts(checked, named.root),
    checked === null ? null : keyText(`Checked ${agoText(Date.now() - log.checkedMs)}. `)
  );
}
function keyText(begin) {
  return element(
    "p",
    { class: "soft small" },
    begin,
    "The key comes from this host, too. Compare it with what the operator says elsewhere: only then does the signature prove who has signed. ",
    element("a", { href: "/docs/guides/log" }, "How to follow the log")
  );
}
function exportPart({ projections }) {
  if (!projections?.includes("exports")) return softText("This deployment publishes no exports.");
  if (exported.isMissing) return softText("No export is published yet. The first one comes within a day.");
  return part(exported.problem, exported.body === null ? null : exportFacts(exported.body));
}
var softText = (text) => element("p", { class: "soft small" }, text);
function part(failure, body) {
  const notice = failure === null ? null : element("p", { class: "notice" }, `This could not be read again: ${failure}.`);
  return element("div", {}, notice, body);
}
function put(id, content) {
  const place = document.getElementById(`status-${id}`);
  const shown = place.firstElementChild;
  if (content === null) place.replaceChildren();
  else if (!content.isEqualNode(shown)) place.replaceChildren(content);
}
document.getElementById("status").hidden = false;
pollWhileVisible(refresh, draw);
