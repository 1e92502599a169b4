/** A small Tidemark without a server: a ledger, a strict object store, a clock that tests move, and a reader. */

import { PAGE_CONTENT_TYPE, pageHeaders } from '../../contract/files/page-headers.ts';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { NOT_FOUND_PROBLEM, statusOfObject } from '../../contract/problems/edge-problems.ts';
import { waitlistBody } from '../../contract/values/waitlist.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import type { PageSizes, PublisherDependencies } from '../../publisher/dependencies.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { NO_CACHES } from '../../publisher/notify/purge.ts';
import { type PublishOutcome, publish } from '../../publisher/publish.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import { staticBodies } from '../../publisher/static-bodies.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { routeRead } from '../../server/edge/route.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { type IngestReport, ingest as takeIn } from '../ingest/ingest.ts';
import { type MemoryObjects, openMemoryObjects } from '../storage/memory-objects.ts';

/** Small pages, so that a handful of markets has several. */
export const SMALL_PAGES: PageSizes = { markets: 3, observations: 4 };

interface Stored {
  readonly ledger: Ledger;
  readonly objects: MemoryObjects;
  readonly clock: { nowMs: number };
}

export interface World extends Stored {
  readonly dependencies: PublisherDependencies;
  /** The same storage and clock with other dependencies. */
  with(changes: Partial<PublisherDependencies>): World;
  ingest(records: readonly IngestRecordInput[], mode?: IngestMode): Promise<IngestReport>;
  publish(): Promise<PublishOutcome>;
  /** Publishes until nothing is due. */
  publishAll(): Promise<void>;
  /** Publishes, and gives the keys of the public objects that this puts, in their order. */
  publishedKeys(): Promise<readonly string[]>;
  /** Renders everything again, and publishes until nothing is due. */
  rebuildAll(): Promise<void>;
  /** Sweeps, after a time in which every superseded page expires. Gives the removed keys. */
  sweepLater(): Promise<readonly string[]>;
  /** Reads as {@link readerOf} does. */
  readonly read: PublicReader;
  /** The text at a URL. Throws if the status is not 200. */
  text(url: string): Promise<string>;
  json<Value>(url: string): Promise<Value>;
  /** Deletes an object by its key, as a fault of the store. */
  lose(key: string): Promise<void>;
  /** Deletes the redo bundles, so that a committed generation cannot be applied. */
  loseBundles(): Promise<void>;
  /** Puts other bytes in the place of an object, with its metadata. */
  forge(key: string, edit: (body: Buffer) => Uint8Array | string): Promise<void>;
  /** Flips a byte near the end of an object. */
  damage(key: string): Promise<void>;
  /** `verify` says this, once all is applied. */
  findings(removed?: readonly string[]): Promise<readonly Finding[]>;
}

export const START_MS = Date.parse('2026-10-01T12:00:00Z');

export function createWorld(
  pageSizes: PageSizes = SMALL_PAGES,
  ledger: Ledger = openSqliteLedger(':memory:'),
  objects: MemoryObjects = openMemoryObjects(),
  startMs = START_MS,
): World {
  const clock = { nowMs: startMs };
  return worldOn({ ledger, objects, clock }, dependenciesOn(ledger, objects, clock, pageSizes));
}

/** A world on this storage, which may differ from the storage that its publisher sees. */
export function worldOn(stored: Stored, dependencies: PublisherDependencies): World {
  const { objects, clock } = stored;
  const read = readerOf(objects);
  const found = async (key: string) => {
    const object = await objects.get(key);
    if (object.kind !== 'found') throw new Error(`${key} is missing`);
    return object;
  };
  const world: World = {
    ...stored,
    dependencies,
    read,
    with: (changes) => worldOn(stored, { ...dependencies, ...changes }),
    async ingest(records, mode = 'append') {
      const report = await takeIn(dependencies, records, { mode });
      if (!report.taken) throw new Error(`the test's own records were refused: ${JSON.stringify(report.faults)}`);
      return report;
    },
    publish: () => publish(dependencies),
    async publishAll() {
      while ((await publish(dependencies)).isMoreDue);
    },
    async publishedKeys() {
      objects.resetCounts();
      await publish(dependencies);
      return objects.puts.map(({ key }) => key).filter((key) => key.startsWith(PUBLIC_PREFIX));
    },
    async rebuildAll() {
      await rebuild(dependencies);
      await world.publishAll();
    },
    async sweepLater() {
      clock.nowMs += 2 * PAGE_RETENTION_SECONDS * 1000;
      return (await collectGarbage(dependencies, { dryRun: false })).removed;
    },
    async text(url) {
      const { status, body } = await read(url);
      if (status !== 200) throw new Error(`${url}: ${status}`);
      return Buffer.from(body).toString();
    },
    json: async (url) => JSON.parse(await world.text(url)),
    async lose(key) {
      await objects.delete(key, (await found(key)).etag);
    },
    async loseBundles() {
      for (const key of (await objects.list('redo/')).keys) await world.lose(key);
    },
    async forge(key, edit) {
      const { body, metadata, etag } = await found(key);
      await objects.put(key, Buffer.from(edit(Buffer.from(body))), metadata, { kind: 'matches', etag });
    },
    damage: (key) =>
      world.forge(key, (body) => {
        body.writeUInt8(body.readUInt8(body.length - 2) ^ 1, body.length - 2);
        return body;
      }),
    async findings(removed = []) {
      return (await verify(read, { pageSizes: dependencies.pageSizes, settled: true, removed })).findings;
    },
  };
  return world;
}

export const WAITLIST_EMAIL = 'keys@tidemark.test';

/** The static bodies of a small deployment. */
export const STATIC_BODIES = staticBodies({
  waitlist: waitlistBody({ email: WAITLIST_EMAIL }),
  openapi: { openapi: '3.1.0', info: { title: 'Tidemark', version: '1' }, paths: { '/api/v1/markets': {} } },
});

let attempts = 0;

export function dependenciesOn(
  ledger: Ledger,
  objects: ObjectStore,
  clock: { readonly nowMs: number },
  pageSizes: PageSizes = SMALL_PAGES,
): PublisherDependencies {
  return {
    ledger,
    objects,
    nowMs: () => clock.nowMs,
    newAttemptId: () => `attempt-${++attempts}`,
    pageSizes,
    staticBodies: STATIC_BODIES,
    caches: NO_CACHES,
  };
}

/** As every edge sends them. */
export const BROWSER_FIELDS = [
  ['access-control-allow-origin', '*'],
  ['x-content-type-options', 'nosniff'],
] as const;

/** Reads an object store as the CDN does: through the router, without a cache. */
export function readerOf(objects: ObjectStore): PublicReader {
  return async (url, headers = {}) => {
    const routed = routeRead('GET', url);
    if (routed.kind !== 'object') return { status: 400, headers: new Map(), body: new Uint8Array() };
    const found = await objects.get(routed.key);
    if (found.kind !== 'found') {
      return { status: 404, headers: new Map(), body: Buffer.from(JSON.stringify(NOT_FOUND_PROBLEM)) };
    }
    const { contentType, cacheControl } = found.metadata;
    const fields = new Map([
      ['content-type', contentType],
      ['cache-control', cacheControl],
      ...BROWSER_FIELDS,
      ...(contentType === PAGE_CONTENT_TYPE ? Object.entries(pageHeaders(routed.key.slice(PUBLIC_PREFIX.length))) : []),
      ['etag', found.etag as string],
    ]);
    if (headers['if-none-match'] === found.etag) return { status: 304, headers: fields, body: new Uint8Array() };
    return { status: statusOfObject(contentType), headers: fields, body: found.body };
  };
}

/** The items of a collection, over all its pages. */
export async function itemsAt<Item>(read: PublicReader, url: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let next: string | null = url; next !== null; ) {
    const { data, page } = JSON.parse(Buffer.from((await read(next)).body).toString('utf8'));
    items.push(...data);
    next = page.nextCursor === null ? null : `${url}?cursor=${page.nextCursor}`;
  }
  return items;
}

/** A price a day, from day 0 on. */
export function days(slug: string, count: number): readonly IngestRecordInput[] {
  return Array.from({ length: count }, (_, day) => price(slug, day, 100 * day + 1));
}

/** A market record in the given currency. */
export function market(slug: string, currency = 'USD'): IngestRecordInput {
  const unit = { quantity: 1, of: 'unit' };
  return {
    type: 'market',
    slug,
    name: `Market ${slug}`,
    kind: 'test',
    nativeCurrency: currency,
    unit,
    status: 'active',
  };
}

/** A price of a market on day `day` (0 is 2026-01-01). */
export function price(slug: string, day: number, amountMinor: number | null, currency = 'USD'): IngestRecordInput {
  return {
    type: 'observation',
    market: slug,
    metric: 'price',
    amountMinor,
    currency,
    sourceLabel: 'a test',
    sourceUrl: `https://example.com/${slug}`,
    observedAt: new Date(Date.UTC(2026, 0, 1 + day)).toISOString(),
    confidence: 'high',
    status: 'final',
    sourceValue: null,
    unknownReason: amountMinor === null ? 'not-published' : null,
    zeroAsserted: amountMinor === 0,
    outlierConfirmed: true,
  };
}

/** A number of a market in lots, on a day as of {@link price}. */
export function scalar(slug: string, day: number, value: string, fields: object = {}): IngestRecordInput {
  const { amountMinor, currency, zeroAsserted, ...record } = price(slug, day, 1) as unknown as Record<string, unknown>;
  return { ...record, metric: 'volume', value, unit: 'lots', ...fields } as unknown as IngestRecordInput;
}

/** The retraction of an observation. Its reason is not for the public. */
export function retraction(of: IngestRecordInput, fields: object = {}): IngestRecordInput {
  const { market, metric, observedAt, sourceUrl } = of as Extract<IngestRecordInput, { type: 'observation' }>;
  const record = { type: 'retraction', market, metric, observedAt, sourceUrl, reason: 'PRIVATE', ...fields };
  return record as IngestRecordInput;
}

/** The public objects of a store, without bundles. Two runs must agree on them. */
export function publicObjects(objects: MemoryObjects): Map<string, string> {
  const bodies = [...objects.snapshot()].map(([key, { body }]) => [key, Buffer.from(body).toString('utf8')] as const);
  return new Map(bodies.filter(([key]) => key.startsWith(PUBLIC_PREFIX)));
}
