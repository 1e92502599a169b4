/** The public state of a store at one moment, read without simulated operations. */

import type { LatestPart } from '../../contract/bodies/latest.ts';
import { HISTORY_FILE_KINDS } from '../../contract/files/public-object-names.ts';
import {
  PUBLIC_PREFIX,
  type PublicObjectKind,
  type PublicObjectName,
  parsePublicKey,
  publicKey,
} from '../../contract/files/public-objects.ts';
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

/** The projections of these files. */
export const FILE_PROJECTIONS = ['history-files', 'latest', 'recent'] as const;

type FileProjection = (typeof FILE_PROJECTIONS)[number];

const PROJECTION_OF: ReadonlyMap<PublicObjectKind, FileProjection> = new Map<PublicObjectKind, FileProjection>([
  ...HISTORY_FILE_KINDS.map((kind) => [kind, 'history-files'] as const),
  ['latest', 'latest'],
  ['latest-csv', 'latest'],
  ['latest-ndjson', 'latest'],
  ['recent', 'recent'],
]);

interface ShownIndex {
  readonly closedPages: readonly { readonly cursor: string }[];
  readonly years: readonly { readonly csv: string; readonly ndjson: string }[];
  readonly csv: string | null;
  readonly ndjson: string | null;
}

/** The key of a file is its URL path. */
const keyOfUrl = (url: string): string => `${PUBLIC_PREFIX}${url}`;

/** The projection of the file with this URL, which may be without its extension; undefined for everything else. */
export function fileProjectionOf(url: string): FileProjection | undefined {
  const name = parsePublicKey(keyOfUrl(url)) ?? parsePublicKey(keyOfUrl(`${url}.json`));
  return name === null ? undefined : PROJECTION_OF.get(name.kind);
}

/** The index of a market's history; undefined if there is none, or if the market is removed. */
export function indexIn(entries: ObjectEntries, slug: string): StoredEntry | undefined {
  const entry = entries.get(publicKey({ kind: 'history-index', slug }));
  return entry !== undefined && isGone(entry) ? undefined : entry;
}

/** Whether the history has more than one page. */
export function hasPages(entries: ObjectEntries, slug: string): boolean {
  const head = entries.get(publicKey({ kind: 'history', slug }));
  return head !== undefined && !isGone(head) && head.metadata.nextCursor !== null;
}

/** The keys of the closed pages that this index names. */
export function indexedPages(slug: string, index: StoredEntry): readonly string[] {
  if (isGone(index)) return [];
  const { closedPages } = bodyOf<ShownIndex>(index);
  return closedPages.map(({ cursor }) => publicKey({ kind: 'history-page', slug, cursor }));
}

/** The keys of the NDJSON files of the years that this index names. */
export function indexedTexts(index: StoredEntry): readonly string[] {
  return bodyOf<ShownIndex>(index).years.map((year) => keyOfUrl(year.ndjson));
}

/** The keys of all files that this index names. */
export function indexedFiles(index: StoredEntry): readonly string[] {
  const { csv, ndjson, years } = bodyOf<ShownIndex>(index);
  const whole = csv === null || ndjson === null ? [] : [csv, ndjson];
  return [...whole, ...years.flatMap((year) => [year.csv, year.ndjson])].map(keyOfUrl);
}

export function isFile(kind: PublicObjectKind): boolean {
  return PROJECTION_OF.has(kind);
}

/** Whether a deployment with these projections publishes objects of this kind. */
export function isProjected(kind: PublicObjectKind, projections: readonly string[]): boolean {
  const projection = PROJECTION_OF.get(kind);
  return projection === undefined || projections.includes(projection);
}

/**
 * Whether a deployment with these projections has the object. A removed market has no file, a market with one observation
 * neither; only a history of more than one page has an index and years.
 */
export function isFileInUse(entries: ObjectEntries, name: PublicObjectName, projections: readonly string[]): boolean {
  if (!isProjected(name.kind, projections)) return false;
  if ('part' in name) return partKeys(entries).includes(publicKey(name));
  if (!isFile(name.kind) || !('slug' in name)) return true;
  if (name.kind === 'history-csv' || name.kind === 'history-ndjson') return shownHistory(entries, name.slug).length > 1;
  if (!hasPages(entries, name.slug)) return false;
  const index = indexIn(entries, name.slug);
  return name.kind === 'history-index' || (index !== undefined && indexedFiles(index).includes(publicKey(name)));
}

/** The keys of the files that the index of the newest prices names. */
function partKeys(entries: ObjectEntries): readonly string[] {
  const index = entries.get(publicKey({ kind: 'latest' }));
  const parts = index === undefined ? [] : bodyOf<{ readonly data: readonly Partial<LatestPart>[] }>(index).data;
  return parts.flatMap(({ csv, ndjson }) => [csv, ndjson]).flatMap((file) => (file ? [keyOfPart(file.path)] : []));
}

const keyOfPart = (path: string): string => keyOfUrl(`/api/v1/${path}`);

/** The markets in a file of all of them, or in the parts of which it is the index. Null: such a part is missing. */
export function slugsIn(entries: ObjectEntries, entry: StoredEntry): readonly string[] | null {
  const { data } = bodyOf<{ readonly data: readonly (Partial<LatestPart> & { readonly slug?: string })[] }>(entry);
  const slugs = data.map(({ slug, ndjson }) => {
    const part = ndjson && entries.get(keyOfPart(ndjson.path));
    return part === undefined ? [slug] : linesIn<{ readonly slug: string }>(part).map((row) => row.slug);
  });
  const all = slugs.flat();
  return all.every((slug) => slug !== undefined) ? all.sort() : null;
}

/** The ids of the observations in an NDJSON file, in order. */
export function idsIn(file: StoredEntry): readonly string[] {
  return linesIn<{ readonly id: string }>(file).map(({ id }) => id);
}

function linesIn<Line>({ body }: StoredEntry): readonly Line[] {
  const lines = Buffer.from(body).toString('utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}
