/** The files that the explorer reads: the snapshot, the newest prices of all markets, and their last prices. */

import type { LatestPart } from '../../../../contract/bodies/latest.ts';
import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import type { RecentEntry } from '../../../../contract/bodies/recent-prices.ts';
import { FRESH_SECONDS, RECENT_MARKETS_MAX } from '../../../../contract/files/limits.ts';
import { LATEST_URL, latestPartUrl, MARKETS_URL, RECENT_URL, SNAPSHOT_URL } from '../../../../contract/files/routes.ts';
import type { Market, Snapshot } from '../../../../contract/values/market.ts';
import { below, pageOf, type ReadPage } from '../../../typescript/public-files.ts';
import { BASE_URL, knowProjections } from '../base-url.ts';
import { PublicAnswers, UnreachableError } from '../history/public-answers.ts';
import { clockOffsetMs } from '../service-clock.ts';
import { dataOf, entriesOfList, keepEqual } from './latest-rows.ts';

/** The limit of list pages that are read if the newest prices are not published, or are too many: 1,000 markets. */
const PAGES_MAX = 10;
/** More markets are too many for a browser. */
const MARKETS_MAX = 200_000;
/** An answer may be this old: fresh first in a shared cache, and then in this browser's cache. */
const STALE_AGE_SECONDS = 2 * FRESH_SECONDS + 5;

/** A part of the newest prices. */
interface ReadPart {
  /** The digest that the index names. Null: a cache gave a part that is older than the index, so it must be read again. */
  readonly digest: string | null;
  readonly entries: readonly LatestEntry[];
}

export class MarketFeed {
  snapshot: Snapshot | null = null;
  /** By slug. */
  entries: readonly LatestEntry[] = [];
  recent: ReadonlyMap<string, RecentEntry> = new Map();
  /** How far this computer's clock is ahead, by the newest answer. */
  #offsetMs = 0;
  /** Seconds. More than {@link FRESH_SECONDS}: the edge shows a copy, because the service behind it fails. */
  ageSeconds = 0;
  /** Whether a Tidemark server answers, and not a plain host of its files. */
  hasServer = false;
  /** Whether the list has unread pages. */
  hasMore = false;
  /** By name. */
  readonly #parts = new Map<string, ReadPart>();
  /** The parts of an index of which some must still be read. */
  #dueParts: readonly LatestPart[] | null = null;
  /** The first page of a list that must still be read. */
  #dueHead: ReadPage<Market> | null = null;
  readonly answers = new PublicAnswers(async (...request) => {
    const response = await fetch(...request);
    const { headers, status } = response;
    this.#offsetMs = clockOffsetMs(headers.get('Date'), headers.get('Age'), Date.now());
    // The name of our server in the header of RFC 9211.
    this.hasServer = headers.get('Cache-Status')?.startsWith('Tidemark') === true;
    if (status < 400) this.ageSeconds = Math.max(this.ageSeconds, Number(headers.get('Age') ?? 0));
    return response;
  }, BASE_URL);

  /** The service's time, in milliseconds since the epoch. */
  get nowMs(): number {
    return Date.now() - this.#offsetMs;
  }

  /** Whether there are too many markets for one file of last prices. */
  get isTooLong(): boolean {
    return (this.snapshot?.counts.markets ?? 0) > RECENT_MARKETS_MAX;
  }

  /** Whether the changes of all markets are published anyway: see daily-changes.ts. */
  get hasDailyFiles(): boolean {
    return this.snapshot?.projections?.includes('compat') === true;
  }

  get isStale(): boolean {
    return this.ageSeconds > STALE_AGE_SECONDS;
  }

  /** Reads what has changed. After a failure, everything stays unchanged. @throws UnreachableError */
  async refresh(hasCharts: boolean): Promise<void> {
    this.ageSeconds = 0;
    try {
      const snapshot = await this.answers.readAgain(`${SNAPSHOT_URL}.json`);
      if (snapshot.kind === 'found') this.snapshot = snapshot.body as Snapshot;
      knowProjections(this.snapshot?.projections);
      await Promise.all([this.#refreshEntries(), hasCharts && this.#publishes('recent') && this.#refreshRecent()]);
    } catch (cause) {
      if (cause instanceof UnreachableError) throw cause;
      throw new UnreachableError('the service gave an answer that cannot be read', { cause });
    }
  }

  /** Whether to request the file: a missing file causes an error in the browser's log. */
  #publishes(projection: 'latest' | 'recent'): boolean {
    const { projections = [], counts } = this.snapshot ?? {};
    const marketsMax = projection === 'latest' ? MARKETS_MAX : RECENT_MARKETS_MAX;
    return projections.includes(projection) && (counts?.markets ?? 0) <= marketsMax;
  }

  async #refreshEntries(): Promise<void> {
    if (this.#publishes('latest')) {
      const index = await this.answers.readAgain(`${LATEST_URL}.json`);
      if (index.kind === 'found') this.#dueParts = dataOf<LatestPart>(index.body);
      if (index.kind !== 'missing') return await this.#readParts();
    }
    const path = `${MARKETS_URL}.json`;
    const first = await this.answers.readAgain(path);
    if (first.kind === 'found') this.#dueHead = pageOf<Market>({ value: first.body, url: below(BASE_URL, path) });
    if (this.#dueHead === null) return;
    let last = this.#dueHead;
    const read = entriesOfList(last.data);
    for (let page = 1; last.page.next !== null && page < PAGES_MAX; page++) {
      const before = last;
      const next = await this.answers.found((files) => files.nextPage(before));
      if (next === null) throw new UnreachableError('the list of markets has changed while it was read');
      read.push(...entriesOfList(next.data));
      last = next;
    }
    this.entries = keepEqual(this.entries, read);
    this.hasMore = last.page.next !== null;
    this.#dueHead = null;
  }

  /** Reads the parts that have changed. After a failure, the next refresh reads only the other parts. */
  async #readParts(): Promise<void> {
    const due = this.#dueParts;
    if (due === null) return;
    const isRead = ({ part, ndjson }: LatestPart) => this.#parts.get(part)?.digest === ndjson.digest;
    for (const part of due) if (!isRead(part)) this.#parts.set(part.part, await this.#readPart(part));
    const named = new Set(due.map(({ part }) => part));
    for (const part of this.#parts.keys()) if (!named.has(part)) this.#parts.delete(part);
    const entries = [...this.#parts.values()].flatMap((part) => part.entries);
    this.entries = keepEqual(
      this.entries,
      entries.sort((one, other) => (one.slug < other.slug ? -1 : 1)),
    );
    this.hasMore = false;
    if (due.every(isRead)) this.#dueParts = null;
  }

  async #readPart({ part, ndjson }: LatestPart): Promise<ReadPart> {
    const lines = await this.answers.readLines(latestPartUrl(part, 'ndjson'), 'no-cache');
    if (lines === null) throw new UnreachableError('the newest prices have changed while they were read');
    const rows = lines as LatestEntry[];
    const isOlder = (rows[0]?.generation ?? 0) < ndjson.generation;
    // The generation of its file says nothing of a row.
    const entries = rows.map(({ generation, ...entry }) => entry);
    return { digest: isOlder ? null : ndjson.digest, entries };
  }

  async #refreshRecent(): Promise<void> {
    const recent = await this.answers.readAgain(`${RECENT_URL}.json`);
    if (recent.kind !== 'found') return;
    this.recent = new Map(dataOf<RecentEntry>(recent.body).map((entry) => [entry.slug, entry]));
  }
}
