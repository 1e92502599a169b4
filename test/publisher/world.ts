/** A small Tidemark without a server: a ledger, a strict object store, a clock that tests move, and a reader. */

import { PAGE_CONTENT_TYPE, pageHeaders } from '../../contract/files/page-headers.ts';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { NOT_FOUND_PROBLEM, statusOfObject } from '../../contract/problems/edge-problems.ts';
import { waitlistBody } from '../../contract/values/waitlist.ts';
import type { PageSizes, PublisherDependencies } from '../../publisher/dependencies.ts';
import { NO_CACHES } from '../../publisher/notify/purge.ts';
import { staticBodies } from '../../publisher/static-bodies.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { routeRead } from '../../server/edge/route.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { type IngestReport, ingest as takeIn } from '../ingest/ingest.ts';
import { type MemoryObjects, openMemoryObjects } from '../storage/memory-objects.ts';

/** Small pages, so that a handful of markets has several. */
export const SMALL_PAGES: PageSizes = { markets: 3, observations: 4 };

export interface World {
  readonly ledger: Ledger;
  readonly objects: MemoryObjects;
  readonly dependencies: PublisherDependencies;
  readonly clock: { nowMs: number };
  ingest(records: readonly IngestRecordInput[], mode?: IngestMode): Promise<IngestReport>;
}

export const START_MS = Date.parse('2026-10-01T12:00:00Z');

export function createWorld(
  pageSizes: PageSizes = SMALL_PAGES,
  ledger: Ledger = openSqliteLedger(':memory:'),
  objects: MemoryObjects = openMemoryObjects(),
  startMs = START_MS,
): World {
  const clock = { nowMs: startMs };
  const dependencies = dependenciesOn(ledger, objects, clock, pageSizes);
  const ingest: World['ingest'] = async (records, mode = 'append') => {
    const report = await takeIn(dependencies, records, { mode });
    if (!report.taken) throw new Error(`the test's own records were refused: ${JSON.stringify(report.faults)}`);
    return report;
  };
  return { ledger, objects, dependencies, clock, ingest };
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

/** The public objects of a store, without bundles. Two runs must agree on them. */
export function publicObjects(objects: MemoryObjects): Map<string, string> {
  const bodies = [...objects.snapshot()].map(([key, { body }]) => [key, Buffer.from(body).toString('utf8')] as const);
  return new Map(bodies.filter(([key]) => key.startsWith(PUBLIC_PREFIX)));
}
