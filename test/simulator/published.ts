/** The public state of a store at one moment, read without simulated operations. */

import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import { parsePublicKey, publicKey } from '../../contract/files/public-objects.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';
import type { ObjectEntries, StoredEntry } from './simulated-objects.ts';

export interface ListedMarket {
  readonly slug: string;
  readonly revision: number;
  readonly history: { readonly count: number };
}

export interface ShownObservation {
  readonly id: string;
  readonly observedAt: string;
  readonly sourceUrl: string;
  readonly amountMinor: number | null;
  readonly announced?: true;
  readonly supersededBy: string | null;
}

export const LIST_KEY = publicKey({ kind: 'market-list' });
export const SNAPSHOT_KEY = publicKey({ kind: 'snapshot' });

const parsed = new WeakMap<StoredEntry, unknown>();

/** The body as JSON, parsed once. */
export function bodyOf<Body>(entry: StoredEntry): Body {
  let body = parsed.get(entry);
  if (body === undefined) {
    body = JSON.parse(Buffer.from(entry.body).toString('utf8'));
    parsed.set(entry, body);
  }
  return body as Body;
}

export function pageItems<Item>(entry: StoredEntry): readonly Item[] {
  return bodyOf<{ data: readonly Item[] }>(entry).data;
}

/** The key of the page of this cursor. */
export function pageKeyOf(head: PublicObjectName, cursor: string): string {
  return head.kind === 'history'
    ? publicKey({ kind: 'history-page', slug: head.slug, cursor })
    : publicKey({ kind: 'market-list-page', cursor });
}

/** The keys of the pages after a first page, in order; `null` for a missing page. */
export function chainOf(
  entries: ObjectEntries,
  key: string,
  first: StoredEntry,
): readonly { readonly key: string; readonly entry: StoredEntry | null }[] {
  const head = parsePublicKey(key) as PublicObjectName;
  const pages: { key: string; entry: StoredEntry | null }[] = [];
  for (let cursor = first.metadata.nextCursor; cursor !== null; ) {
    const next = pageKeyOf(head, cursor);
    const entry = entries.get(next) ?? null;
    pages.push({ key: next, entry });
    cursor = entry?.metadata.nextCursor ?? null;
  }
  return pages;
}

/** The items of a first page and its pages, in order; null if a page is missing. */
export function itemsBehind<Item>(entries: ObjectEntries, key: string, first: StoredEntry): readonly Item[] | null {
  const items = [...pageItems<Item>(first)];
  for (const { entry } of chainOf(entries, key, first)) {
    if (entry === null) return null;
    items.push(...pageItems<Item>(entry));
  }
  return items;
}

/** Whether this is the problem document of a removed market. */
export function isGone({ metadata }: StoredEntry): boolean {
  return statusOfObject(metadata.contentType) === 410;
}

/** The published history of a market, newest first; empty if nothing is published, or the market is removed. */
export function shownHistory(entries: ObjectEntries, slug: string): readonly ShownObservation[] {
  const key = publicKey({ kind: 'history', slug });
  const first = entries.get(key);
  return (first && !isGone(first) && itemsBehind<ShownObservation>(entries, key, first)) || [];
}
