/**
 * Checks feeds: each entry must be an event of a history, or a removal, with exactly this text, and no newer event of a
 * market may be missing. A feed may be newer than the histories that were read before it. So an unknown entry must be in
 * the market by now.
 */
import { ANY_MARKET_PAGE } from '../../../contract/files/object-paths.ts';
import { FEED_NAMES, type FeedName } from '../../../contract/files/public-object-names.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { removedMarketSchema } from '../../../contract/files/removed-market.ts';
import { CHANGES_FEED_URL, CORRECTIONS_FEED_URL, marketFeedUrl, marketUrl } from '../../../contract/files/routes.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import { marketSchema } from '../../../contract/values/market.ts';
import { checkAnswer, Findings } from '../../verify/check-body.ts';
import { bodyText, checkFile, checkGone } from '../../verify/check-file.ts';
import type { CheckContext, MarketBodies, ProjectionCheck } from '../../verify/projection-check.ts';
import type { ShownMarket } from '../../verify/shown-market.ts';
import { eventOf, FEED_ENTRIES_MAX, keyOfEvent, MarketEvents, type NewestEvents, noEvents } from './feed-events.ts';
import { entriesOf, entryOf, type FeedEntry, feedText, type ReadFeed, readFeed } from './feed-file.ts';

const URLS: { readonly [Name in FeedName]: string } = {
  changes: CHANGES_FEED_URL,
  corrections: CORRECTIONS_FEED_URL,
};
const { contentType } = PUBLIC_OBJECTS.feed;

function eventsOf({ slug, market, observations }: ShownMarket): MarketEvents {
  const events = new MarketEvents(slug, market.unit);
  for (const row of observations.toReversed()) events.add(row);
  return events;
}

/** Checks the feed of one market, or the problem document that replaces it. */
export async function checkMarketFeed(bodies: MarketBodies): Promise<void> {
  const { reader, slug, shown, removal, isStated } = bodies;
  const isPublished = isStated('market-feeds');
  if (isPublished === false) return;
  const url = marketFeedUrl(slug);
  const answer = await reader(url);
  if (removal !== null) checkGone(bodies, url, answer, removal);
  if (shown === null || shown.observations.length === 0 || (answer.status === 404 && isPublished === null)) return;
  const origin = readFeed({ slug }, bodyText(answer))?.origin;
  const expected = origin && feedText({ slug }, origin, entriesOf(eventsOf(shown).changes, origin));
  checkFile(bodies, url, answer, contentType, expected ?? null);
}

interface NamedFeed extends ReadFeed {
  readonly url: string;
  /** The name of the feed: it decides which events the feed shows. */
  readonly name: FeedName;
}

async function readFeeds({ read, findings, rule }: CheckContext): Promise<readonly NamedFeed[]> {
  const feeds: NamedFeed[] = [];
  for (const name of FEED_NAMES) {
    const url = URLS[name];
    const answer = await read('feeds', url, contentType);
    const feed = answer && readFeed({ all: name }, bodyText(answer));
    if (feed !== null) feeds.push({ ...feed, url, name });
    else if (answer !== null) findings.add(url, rule, 'has another form than a feed of entries, newest first');
  }
  return feeds;
}

export async function checkFeeds(context: CheckContext): Promise<ProjectionCheck> {
  const { reader, findings, rule, log, share } = context;
  /** The events of the markets that were read. */
  const known: NewestEvents = noEvents();
  /** When each market changed last, as far as it was read. */
  const updatedAt = new Map<string, string>();
  /** Markets whose histories were not read again. */
  const unread = new Set<string>();
  // The log was read before the feeds. Without a log, histories are read before their feeds.
  let feeds = log === null ? [] : await readFeeds(context);
  const add = (url: string, detail: string) => findings.add(url, rule, detail);

  /** Whether an unknown event may be newer than the market's history as it was read. */
  const isOfMarket = async ({ slug, kind, recordedAt, line }: FeedEntry, origin: string): Promise<boolean> => {
    const readAt = updatedAt.get(slug);
    if (readAt === undefined && (share.of > 1 || unread.has(slug))) return true;
    if (readAt !== undefined && millisecondInstant(recordedAt) <= readAt) return false;
    const url = marketUrl(slug);
    const answer = await reader(url);
    if (answer.status === 200) {
      const now = checkAnswer(new Findings(), url, answer, marketSchema)?.value.updatedAt ?? null;
      return kind !== 'removal' && now !== null && millisecondInstant(recordedAt) <= millisecondInstant(now);
    }
    const removal = checkAnswer(new Findings(), url, answer, removedMarketSchema, { status: 410 })?.value;
    if (removal === undefined) return false;
    return kind !== 'removal' || entryOf(eventOf({ slug, removal }), origin).line === line;
  };

  /** Compares the entries of some markets with the events of these markets. */
  const compare = async (
    { url, name, origin, entries }: NamedFeed,
    events: NewestEvents,
    isOwn: (slug: string) => boolean,
  ): Promise<void> => {
    const own = new Map(entries.filter(({ slug }) => isOwn(slug)).map((entry) => [keyOfEvent(entry), entry]));
    const last = entries.at(-1);
    const oldest = isFromFirst(entries) ? '' : last === undefined ? '\uffff' : keyOfEvent(last);
    if (own.size === 0 && events[name].newestKey <= oldest) return;
    const expected = new Map(entriesOf(events[name], origin).map((entry) => [keyOfEvent(entry), entry]));
    for (const [key, entry] of own) {
      const right = expected.get(key);
      const isRight = right === undefined ? await isOfMarket(entry, origin) : right.line === entry.line;
      if (!isRight) add(url, `shows an event (${entry.kind}) of ${entry.slug} that its history does not give`);
    }
    for (const [key, { slug, kind }] of expected) {
      // Removals before the feed's beginning are in no feed.
      if (kind !== 'removal' && key > oldest && !own.has(key)) add(url, `lacks an event (${kind}) of ${slug}`);
    }
  };

  /** Whether a feed has all events. A removal takes a market's entries out, and older entries do not come back. */
  const isFromFirst = (entries: readonly FeedEntry[]): boolean =>
    entries.length < FEED_ENTRIES_MAX && !feeds.some((feed) => feed.entries.some(({ kind }) => kind === 'removal'));

  /** Checks the entries of markets that were not read. */
  const compareRest = async ({ url, origin, entries }: NamedFeed): Promise<void> => {
    // Without histories, only the form of the feed can be checked.
    if (updatedAt.size === 0 && unread.size === 0) return;
    for (const entry of entries) {
      if (updatedAt.has(entry.slug) || (await isOfMarket(entry, origin))) continue;
      add(url, `shows an event (${entry.kind}) of ${entry.slug}, which has none`);
    }
  };

  /** All entries link to the same page. A service without pages has no such page. */
  const checkPage = async (): Promise<void> => {
    const first = feeds.find(({ entries }) => entries.length > 0);
    if (first === undefined || (await reader(ANY_MARKET_PAGE)).status === 200 || (await reader('/')).status !== 200)
      return;
    findings.add(first.url, 'link', `has entries that lead to ${ANY_MARKET_PAGE}, which is not there`);
  };

  return {
    shown: (slug) =>
      feeds.flatMap(({ entries }) => entries.flatMap((entry) => (entry.slug === slug ? [entry.line] : []))).join('\n'),

    async market({ slug, shown, removal }) {
      const events = shown === null ? new MarketEvents(slug, { quantity: 1, of: '' }) : eventsOf(shown);
      if (removal !== null) events.remove(removal);
      const changedAt = removal?.removedAt ?? shown?.market.updatedAt ?? '1970-01-01T00:00:00Z';
      updatedAt.set(slug, millisecondInstant(changedAt));
      if (shown !== null) {
        known.changes.addAll(events.changes);
        known.corrections.addAll(events.corrections);
      }
      // With the log, the feeds are read already. Comparing market by market lets a second pass check only markets with
      // findings.
      for (const feed of feeds) await compare(feed, events, (other) => other === slug);
    },

    skip: (slug) => unread.add(slug),

    async end() {
      if (log === null) {
        feeds = await readFeeds(context);
        await checkPage();
        for (const feed of feeds) await compare(feed, known, (slug) => updatedAt.has(slug));
      }
      for (const feed of feeds) await compareRest(feed);
    },
  };
}
