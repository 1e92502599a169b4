/**
 * What must hold of feeds: each entry is an event of a history or a removal, with these words, and no newer event of a market is
 * missing. A feed may be newer than what was read before it, so an entry that is not there yet must be in the market by now.
 */

import { ANY_MARKET_PAGE } from '../../../contract/files/object-paths.ts';
import { FEED_NAMES, type FeedName } from '../../../contract/files/public-object-names.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { type Removal, removedMarketDocument, removedMarketSchema } from '../../../contract/files/removed-market.ts';
import { CHANGES_FEED_URL, CORRECTIONS_FEED_URL, marketFeedUrl, marketUrl } from '../../../contract/files/routes.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import { type Market, marketSchema } from '../../../contract/values/market.ts';
import type { FoldedMarket } from '../../core/log/folded-market.ts';
import { checkAnswer, checkHeaders, Findings } from '../../verify/check-body.ts';
import type {
  CheckContext,
  LoggedCheck,
  LoggedContext,
  LoggedMarket,
  ProjectionCheck,
} from '../../verify/projection-check.ts';
import type { PublicReader, PublicResponse } from '../../verify/reader.ts';
import type { VerifyRule } from '../../verify/report.ts';
import {
  eventOf,
  FEED_ENTRIES_MAX,
  type FeedRow,
  keyOfEvent,
  MarketEvents,
  type NewestEvents,
  noEvents,
} from './feed-events.ts';
import { entriesOf, entryOf, type FeedEntry, type FeedOf, feedText, type ReadFeed, readFeed } from './feed-file.ts';

const URLS: { readonly [Name in FeedName]: string } = {
  changes: CHANGES_FEED_URL,
  corrections: CORRECTIONS_FEED_URL,
};
const { contentType } = PUBLIC_OBJECTS.feed;

interface NamedFeed {
  readonly url: string;
  /** Which events it shows. */
  readonly name: FeedName;
  readonly feed: ReadFeed;
}

export async function checkFeeds({ reader, findings, kinds, share, snapshot }: CheckContext): Promise<ProjectionCheck> {
  const walk = new FeedWalk(reader, findings, 'file', share.of === 1);
  const areMarkets = snapshot?.projections?.includes('market-feeds') === true;
  return {
    async market({ market: { value }, history: { observations } }) {
      // Of two generations: the next walk looks again.
      if (observations.length !== value.history.count) return;
      const events = walk.market(value, observations.toReversed());
      if (areMarkets && observations.length > 0)
        await walk.marketFeed(value.slug, await reader(marketFeedUrl(value.slug)), events);
    },
    async end() {
      const feeds: NamedFeed[] = [];
      for (const name of FEED_NAMES) {
        if (!(await kinds.has('feeds', URLS[name]))) continue;
        const feed = walk.take({ all: name }, URLS[name], await reader(URLS[name]));
        if (feed !== null) feeds.push({ url: URLS[name], name, feed });
      }
      await checkPage(reader, findings, feeds);
      walk.opened(feeds);
      for (const feed of feeds) {
        await walk.compare(feed, walk.events, walk.isRead);
        await walk.compareRest(feed);
      }
    },
  };
}

/** All entries lead to the same file. A service without pages has none. */
async function checkPage(reader: PublicReader, findings: Findings, feeds: readonly NamedFeed[]): Promise<void> {
  const first = feeds.find(({ feed }) => feed.entries.length > 0);
  if (first === undefined || (await reader(ANY_MARKET_PAGE)).status === 200 || (await reader('/')).status !== 200)
    return;
  findings.add(first.url, 'link', `has entries that lead to ${ANY_MARKET_PAGE}, which is not there`);
}

export async function checkLoggedFeeds(context: LoggedContext): Promise<LoggedCheck> {
  const { reader, findings, isAskedFor, lateness, miss } = context;
  if (!isAskedFor('feeds')) return {};
  const walk = new FeedWalk(reader, findings, 'not-in-log', true);
  const feeds: NamedFeed[] = [];
  const missing: FeedName[] = [];
  for (const name of FEED_NAMES) {
    const answer = await reader(URLS[name]);
    const feed = answer.status === 200 ? walk.take({ all: name }, URLS[name], answer) : null;
    if (answer.status !== 200) missing.push(name);
    if (feed !== null) feeds.push({ url: URLS[name], name, feed });
  }
  walk.opened(feeds);
  let isLate = false;
  return {
    shown: (slug) =>
      feeds
        .flatMap(({ feed }) => feed.entries.flatMap((entry) => (entry.slug === slug ? [entry.line] : [])))
        .join('\n'),
    async market(past, folded) {
      if (past.isLateIfMissing(lateness)) isLate = true;
      const { slug } = past;
      const events =
        folded.kind === 'removed' ? walk.removed(slug, folded.removal) : walk.market(...rowsOf(slug, folded));
      // Market by market: a market with a finding is looked at again.
      for (const feed of feeds) await walk.compare(feed, events, (other) => other === slug);
    },
    skip: (slug) => walk.skip(slug),
    async end() {
      for (const feed of feeds) await walk.compareRest(feed);
      if (isLate) for (const name of missing) miss('feeds', URLS[name]);
    },
  };
}

/** The feed of one market, or the document in its place, must be what the log gives. */
export async function checkLoggedMarketFeed({ reader, findings, slug, folded, isStated }: LoggedMarket): Promise<void> {
  const isPublished = isStated('market-feeds');
  if (isPublished === false) return;
  const url = marketFeedUrl(slug);
  const { status, body } = await reader(url);
  const text = Buffer.from(body).toString('utf8');
  if (folded.kind === 'removed') {
    const isRight = status === 404 || (status === 410 && text === canonicalJson(removedMarketDocument(folded.removal)));
    if (!isRight) findings.add(url, 'not-in-log', 'is not the document of the removed market');
    return;
  }
  const [market, rows] = rowsOf(slug, folded);
  if (rows.length === 0 || (status === 404 && isPublished === null)) return;
  const events = new MarketEvents(slug, market.unit);
  for (const row of rows) events.add(row);
  const origin = status === 200 ? readFeed({ slug }, text)?.origin : undefined;
  const isRight = origin !== undefined && feedText({ slug }, origin, entriesOf(events.changes, origin)) === text;
  if (!isRight) findings.add(url, 'not-in-log', 'has other entries than the log gives');
}

function rowsOf(slug: string, { observations, record }: FoldedMarket) {
  const { unit, updatedAt } = record(null);
  return [{ slug, unit, updatedAt }, observations.map(({ observation }) => observation)] as const;
}

/** The events of the markets that were read. */
class FeedWalk {
  readonly #reader: PublicReader;
  readonly #findings: Findings;
  readonly #rule: VerifyRule;
  readonly #events: NewestEvents = noEvents();
  /** When the market changed last, as it was read. */
  readonly #updatedAt = new Map<string, string>();
  readonly #isAll: boolean;
  readonly #unread = new Set<string>();
  #hasRemovals = false;

  /** @param isAll whether every listed market is read */
  constructor(reader: PublicReader, findings: Findings, rule: VerifyRule, isAll: boolean) {
    this.#reader = reader;
    this.#findings = findings;
    this.#rule = rule;
    this.#isAll = isAll;
  }

  /** @param rows oldest first */
  market(
    { slug, unit, updatedAt }: Pick<Market, 'slug' | 'unit' | 'updatedAt'>,
    rows: readonly FeedRow[],
  ): MarketEvents {
    const events = new MarketEvents(slug, unit);
    for (const row of rows) events.add(row);
    this.#events.changes.addAll(events.changes);
    this.#events.corrections.addAll(events.corrections);
    this.#updatedAt.set(slug, millisecondInstant(updatedAt ?? '1970-01-01T00:00:00Z'));
    return events;
  }

  removed(slug: string, removal: Removal): MarketEvents {
    const events = new MarketEvents(slug, { quantity: 1, of: '' });
    events.remove(removal);
    this.#updatedAt.set(slug, millisecondInstant(removal.removedAt));
    return events;
  }

  /** Reads a feed. Null: it has not the form of one, which is a finding. */
  take(of: FeedOf, url: string, answer: PublicResponse): ReadFeed | null {
    if (answer.status !== 200) {
      this.#findings.add(url, 'status', `answered ${answer.status}, expected 200`);
      return null;
    }
    checkHeaders(this.#findings, url, answer, contentType);
    const feed = readFeed(of, Buffer.from(answer.body).toString('utf8'));
    if (feed === null) this.#findings.add(url, this.#rule, 'has another form than a feed of entries, newest first');
    return feed;
  }

  /** The feed of one market, which has these events. */
  async marketFeed(slug: string, answer: PublicResponse, events: NewestEvents): Promise<void> {
    const url = marketFeedUrl(slug);
    const feed = this.take({ slug }, url, answer);
    if (feed !== null) await this.compare({ url, name: 'changes', feed }, events, () => true, true);
  }

  /** Of a market whose history was not read again. */
  skip(slug: string): void {
    this.#unread.add(slug);
  }

  /** To be called before anything is compared: whether entries of a removed market may have left. */
  opened(feeds: readonly NamedFeed[]): void {
    this.#hasRemovals = feeds.some(({ feed }) => feed.entries.some(({ kind }) => kind === 'removal'));
  }

  /** Compares the entries of these markets with these events of theirs. */
  async compare(
    { url, name, feed }: NamedFeed,
    events: NewestEvents,
    isOwn: (slug: string) => boolean,
    isFromFirst = !this.#hasRemovals,
  ): Promise<void> {
    const { origin, entries } = feed;
    const own = new Map(entries.filter(({ slug }) => isOwn(slug)).map((entry) => [keyOfEvent(entry), entry]));
    // The entries of a removed market leave, and older ones do not come back.
    const last = entries.at(-1);
    const oldest =
      isFromFirst && entries.length < FEED_ENTRIES_MAX ? '' : last === undefined ? '\uffff' : keyOfEvent(last);
    if (own.size === 0 && events[name].newestKey <= oldest) return;
    const expected = new Map(entriesOf(events[name], origin).map((entry) => [keyOfEvent(entry), entry]));
    for (const [key, entry] of own) {
      const known = expected.get(key);
      const isRight = known === undefined ? await this.#isOfMarket(entry, origin) : known.line === entry.line;
      if (!isRight) this.#add(url, `shows an event (${entry.kind}) of ${entry.slug} that its history does not give`);
    }
    for (const [key, { slug, kind }] of expected) {
      // Removals of the time before the feed are in no feed.
      if (kind !== 'removal' && key > oldest && !own.has(key)) this.#add(url, `lacks an event (${kind}) of ${slug}`);
    }
  }

  /** The entries of markets that were not read. */
  async compareRest({ url, feed: { origin, entries } }: NamedFeed): Promise<void> {
    // Without histories, only the form of the feed is known.
    if (this.#updatedAt.size === 0 && this.#unread.size === 0) return;
    for (const entry of entries) {
      if (this.#updatedAt.has(entry.slug) || (await this.#isOfMarket(entry, origin))) continue;
      this.#add(url, `shows an event (${entry.kind}) of ${entry.slug}, which has none`);
    }
  }

  readonly isRead = (slug: string): boolean => this.#updatedAt.has(slug);

  get events(): NewestEvents {
    return this.#events;
  }

  #add(url: string, detail: string): void {
    this.#findings.add(url, this.#rule, detail);
  }

  /** Whether an event that was not among those of the histories may be right. */
  async #isOfMarket(entry: FeedEntry, origin: string): Promise<boolean> {
    const { slug, kind, recordedAt, line } = entry;
    const updatedAt = this.#updatedAt.get(slug);
    if (updatedAt === undefined && (!this.#isAll || this.#unread.has(slug))) return true;
    if (updatedAt !== undefined && millisecondInstant(recordedAt) <= updatedAt) return false;
    const url = marketUrl(slug);
    const answer = await this.#reader(url);
    if (answer.status === 200) {
      const now = checkAnswer(new Findings(), url, answer, marketSchema)?.value.updatedAt ?? null;
      return kind !== 'removal' && now !== null && millisecondInstant(recordedAt) <= millisecondInstant(now);
    }
    const removal = checkAnswer(new Findings(), url, answer, removedMarketSchema, { status: 410 })?.value;
    if (removal === undefined) return false;
    return kind !== 'removal' || entryOf(eventOf({ slug, removal }), origin).line === line;
  }
}
