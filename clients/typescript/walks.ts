/**
 * Walks over the pages of the markets and of a history. A cursor works for at least 24 hours after a newer generation. If a
 * cursor has expired, the walk starts again, and continues after the last item that it returned. So memory does not grow,
 * and:
 *
 * - No item is returned twice.
 * - Each item that existed when the walk began is returned, except a market that was removed meanwhile.
 * - An item that was added meanwhile may be missing. Items after the place of the restart have their state at that time.
 *
 * The promise holds because both orders are fixed: markets by slug; histories newest first, and no row ever leaves a
 * history. A walk whose pages bring nothing new ends with an error.
 */
import type { HistoryIndex } from '../../contract/bodies/history-files.ts';
import type { LatestPart } from '../../contract/bodies/latest.ts';
import { type LatestEntry, latestEntry } from '../../contract/bodies/latest-entries.ts';
import { historyUrl, LATEST_URL, MARKETS_URL } from '../../contract/files/routes.ts';
import type { Market } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { isMissing, type PublicFiles, type ReadPage } from './public-files.ts';
import { TidemarkError } from './tidemark-error.ts';

/** The limit of consecutive restarts without a new item. */
const FRUITLESS_RESTARTS_MAX = 3;
/** The limit of pages without a new item, in addition to the number of pages with one: a restart reads those again. */
const FRUITLESS_PAGES_MAX = 100;

export async function* walkMarkets(files: PublicFiles): AsyncGenerator<Market> {
  let last = '';
  const start = () => files.page<Market>(MARKETS_URL);
  for await (const market of restarted(files, MARKETS_URL, start, ({ slug }) => slug > last)) {
    last = market.slug;
    yield market;
  }
}

/**
 * All markets: from the files of newest prices, which are a few answers; or from the pages of the list if there are no such
 * files, or if their rows are too many for the memory.
 */
export async function* walkEntries(
  files: PublicFiles,
  listMax = Number.POSITIVE_INFINITY,
): AsyncGenerator<LatestEntry> {
  const latest = await readParts(files, MARKETS_AT_ONCE).catch(nullIfGone);
  if (latest !== null) return yield* latest;
  let count = 0;
  for await (const market of walkMarkets(files)) {
    if (count++ === listMax) return;
    yield latestEntry(market, null);
  }
}

/** Parts that are read at once. */
const PARTS_AT_ONCE = 8;
/** Rows of so many markets are in memory at once; a page in a browser has no more. */
const MARKETS_AT_ONCE = 200_000;

/** The rows of all parts of the newest prices, by slug. Parts may be of different generations. */
export async function readLatest(files: PublicFiles): Promise<readonly LatestEntry[]> {
  const rows = await readParts(files, Number.POSITIVE_INFINITY);
  if (rows !== null) return rows;
  throw new TidemarkError('unexpected-answer', {
    status: 200,
    detail: `GET ${LATEST_URL}: it is not an index of parts`,
  });
}

/** Null: the answer is no index, such as that of an earlier version; or its parts have more markets than that. */
async function readParts(files: PublicFiles, marketsMax: number): Promise<readonly LatestEntry[] | null> {
  const { data: parts } = (await files.resource(LATEST_URL)) as { readonly data?: readonly LatestPart[] };
  const isPart = ({ ndjson }: Partial<LatestPart>) => typeof ndjson?.path === 'string';
  if (!Array.isArray(parts) || !parts.every(isPart)) return null;
  if (parts.reduce((sum, { markets }) => sum + markets, 0) > marketsMax) return null;
  const rows: LatestEntry[] = [];
  for (let start = 0; start < parts.length; start += PARTS_AT_ONCE) {
    // A link that is refused must reject like an answer that fails, not end the loop over the parts.
    const read = async ({ ndjson }: LatestPart) => await files.lines<LatestEntry>(ndjson.path, LATEST_URL);
    for (const some of await Promise.all(parts.slice(start, start + PARTS_AT_ONCE).map(read))) rows.push(...some);
  }
  return rows.sort((one, other) => (one.slug < other.slug ? -1 : 1));
}

/** Rows, newest first. @param fromMs,toMs the limits of `observedAt`, inclusive */
export async function* walkHistory(
  files: PublicFiles,
  slug: string,
  fromMs: number,
  toMs: number,
): AsyncGenerator<PublicObservation> {
  const path = historyUrl(encodeURIComponent(slug));
  let last: PublicObservation | null = null;
  /** After a restart: the last row that was returned, until the walk finds it again. */
  let sought: string | null = null;
  const start = async () => {
    sought = last?.id ?? null;
    return await historyPageAt(files, path, last === null ? toMs : Date.parse(last.observedAt));
  };
  /** The returned rows of the last moment. */
  const given = new Set<string>();
  const isBehind = ({ id, observedAt }: PublicObservation) => {
    if (sought === null) {
      if (last !== null && Date.parse(observedAt) > Date.parse(last.observedAt)) throw noEnd(path);
      return !given.has(id);
    }
    if (sought === id) sought = null;
    return false;
  };
  for await (const row of restarted(files, path, start, isBehind)) {
    if (row.observedAt !== last?.observedAt) given.clear();
    given.add(row.id);
    last = row;
    const atMs = Date.parse(row.observedAt);
    if (atMs < fromMs) return;
    if (atMs <= toMs) yield row;
  }
  if (sought !== null) throw expired(path, `${sought} is no longer in it`);
}

/** New items, page by page. After an expired cursor, it continues with the page that `start` returns. */
async function* restarted<Item>(
  files: PublicFiles,
  path: string,
  start: () => Promise<ReadPage<Item>>,
  isNew: (item: Item) => boolean,
): AsyncGenerator<Item> {
  let [fruitfulPages, fruitlessPages] = [0, 0];
  for (let fruitless = 0; fruitless <= FRUITLESS_RESTARTS_MAX; fruitless++) {
    let page: ReadPage<Item> | null = await start();
    while (page !== null) {
      let isFruitful = false;
      for (const item of page.data) {
        if (!isNew(item)) continue;
        fruitless = 0;
        isFruitful = true;
        yield item;
      }
      fruitlessPages = isFruitful ? 0 : fruitlessPages + 1;
      if (isFruitful) fruitfulPages++;
      else if (fruitlessPages > fruitfulPages + FRUITLESS_PAGES_MAX) throw noEnd(path);
      if (page.page.next === null) return;
      page = await files.nextPage<Item>(page).catch(nullIfGone);
    }
  }
  throw expired(path, 'its cursors expire before the next page is read');
}

/** A page from which a walk reaches every row that is not newer than the moment, with few newer rows before. */
async function historyPageAt(files: PublicFiles, path: string, momentMs: number): Promise<ReadPage<PublicObservation>> {
  const head = await files.page<PublicObservation>(path);
  const isOnHead = head.data.some(({ observedAt }) => Date.parse(observedAt) <= momentMs);
  if (isOnHead || head.page.next === null) return head;
  // Without an index, which not every service publishes, the walk starts at the newest page.
  const index = (await files.resource(`${path}/index`).catch(nullIfGone)) as HistoryIndex | null;
  // Every newer page has only rows that are newer than the moment.
  const start = index?.closedPages?.find(({ lastObservedAt }) => Date.parse(lastObservedAt) > momentMs);
  const page = start && (await files.page<PublicObservation>(path, start.cursor).catch(nullIfGone));
  return page ?? head;
}

/** Pages are immutable, so only a host that invents pages causes this. */
function noEnd(path: string): TidemarkError {
  const detail = `the pages of ${path} repeat, or bring nothing new: is it a Tidemark service?`;
  return new TidemarkError('unexpected-answer', { status: 200, detail });
}

function nullIfGone(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

function expired(path: string, reason: string): TidemarkError {
  return new TidemarkError('cursor-expired', { detail: `the walk over ${path} cannot continue: ${reason}` });
}
