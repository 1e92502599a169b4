/**
 * A feed as a file: Atom (RFC 4287), one entry a line, newest first. Links are relative, because a file does not know its
 * host. They lead to the page of any market, which each host has and which also shows removed markets. The same event has
 * the same entry in every feed.
 */
import { ANY_MARKET_PAGE } from '../../../contract/files/object-paths.ts';
import { FEED_TITLES, type FeedName } from '../../../contract/files/public-object-names.ts';
import type { PublicObjectName } from '../../../contract/files/public-objects.ts';
import { atomFeed, originIn, uuidOf } from '../../kernel/text/atom.ts';
import { xmlText } from '../../kernel/text/xml-text.ts';
import {
  type Candidate,
  type EventKind,
  eventOf,
  FEED_ENTRIES_MAX,
  type FeedEvent,
  keyOfEvent,
} from './feed-events.ts';
import { Newest } from './newest.ts';

/** A feed of all markets, or the feed of one. */
export type FeedOf = { readonly all: FeedName } | { readonly slug: string };

export interface FeedEntry extends Pick<FeedEvent, 'slug' | 'kind' | 'id' | 'recordedAt' | 'at'> {
  readonly line: string;
}

const ENTRY =
  /^<entry><id>[^<]*<\/id><title>[^<]* \(([^ ()<]*)\)<\/title><updated>([^<]*)<\/updated><author><name>[^<]*<\/name><\/author><category term="([a-z-]+)"\/><link rel="alternate" type="text\/html" href="\.\.\/market\/index\.html\?slug=([a-z0-9-]+)"\/><link rel="related" type="application\/json" href="[^"#]*#([a-z0-9_]+)"\/>/;

export function feedObject(of: FeedOf): PublicObjectName {
  return 'all' in of ? { kind: 'feed', file: of.all } : { kind: 'market-feed', slug: of.slug };
}

export function entryOf(event: FeedEvent, origin: string): FeedEntry {
  const { slug, kind, id, recordedAt, at, title, summary, source } = event;
  const via = source === null ? '' : `<link rel="via" href="${xmlText(source.url)}"/>`;
  const line =
    `<entry><id>${uuidOf(origin, `${slug} ${id}`)}</id><title>${xmlText(title)}</title><updated>${recordedAt}</updated>` +
    `<author><name>${xmlText(source?.label ?? origin)}</name></author><category term="${kind}"/>` +
    `<link rel="alternate" type="text/html" href="..${ANY_MARKET_PAGE}?slug=${slug}"/>` +
    `<link rel="related" type="application/json" href="../api/v1/markets/${slug}/history.json#${id}"/>` +
    `${via}<summary>${xmlText(summary)}</summary></entry>`;
  return { slug, kind, id, recordedAt, at, line };
}

/** @param entries newest first */
export function feedText(of: FeedOf, origin: string, entries: readonly FeedEntry[]): string {
  const isOfAll = 'all' in of;
  const title = isOfAll ? FEED_TITLES[of.all] : `${of.slug}: new values and corrections`;
  const path = isOfAll ? of.all : `markets/${of.slug}`;
  // Links are relative to the folder of all feeds.
  const base = isOfAll ? null : '../';
  const lines = entries.map(({ line }) => line);
  return atomFeed({ origin, title, path, base, updated: entries[0]?.recordedAt ?? null }, lines);
}

export interface ReadFeed {
  readonly origin: string;
  readonly entries: readonly FeedEntry[];
}

/** Null: the text is not one that {@link feedText} writes for ordered entries. */
export function readFeed(of: FeedOf, text: string): ReadFeed | null {
  const entries = text.split('\n').flatMap((line) => readEntry(line) ?? []);
  const origin = originIn(text);
  if (origin === undefined || entries.length > FEED_ENTRIES_MAX || feedText(of, origin, entries) !== text) return null;
  const keys = entries.map(keyOfEvent);
  const isOrdered = keys.every((key, index) => index === 0 || key < (keys[index - 1] as string));
  const areOwn = entries.every(({ line, slug, id }) =>
    line.startsWith(`<entry><id>${uuidOf(origin, `${slug} ${id}`)}<`),
  );
  return isOrdered && areOwn ? { origin, entries } : null;
}

/** The newest of the known and the added entries, as many as a feed may have. */
export function merged(known: readonly FeedEntry[], added: readonly FeedEntry[]): readonly FeedEntry[] {
  const newest = new Newest<FeedEntry>(FEED_ENTRIES_MAX);
  for (const entry of [...known, ...added]) newest.add(keyOfEvent(entry), entry);
  return newest.items;
}

/** Newest first. */
export function entriesOf(events: Newest<Candidate>, origin: string): readonly FeedEntry[] {
  return events.items.map((candidate) => entryOf(eventOf(candidate), origin));
}

function readEntry(line: string): FeedEntry | null {
  const [, at, recordedAt, kind, slug, id] = ENTRY.exec(line) ?? [];
  if (at === undefined || recordedAt === undefined || slug === undefined || id === undefined) return null;
  return { slug, kind: kind as EventKind, id, recordedAt, at, line };
}
