/** The fixed input of the golden files, and its publication: in this process, or as a child process that prints it. */

import { fileURLToPath } from 'node:url';
import { zstdDecompressSync } from 'node:zlib';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { packedGeneration } from '../../publisher/kernel/files/packed-object.ts';
import { publish } from '../../publisher/publish.ts';
import { changedStore } from '../../storage/ports/changed-store.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectMetadata, ObjectStore } from '../../storage/ports/object-store.ts';
import type { MarketStanding } from '../../storage/records/markets.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { ingest as takeIn } from '../ingest/ingest.ts';
import { openMemoryObjects } from '../storage/memory-objects.ts';
import { setStanding } from './standing.ts';
import { dependenciesOn, market, price, START_MS } from './world.ts';

const SOURCES = [
  {
    label: 'Central bank',
    url: 'https://bank.example/rates?series=usd&format=csv',
    publisher: 'Bank of Exämple',
    licence: 'CC-BY-4.0',
    attribution: '© Bank of Exämple “daily rates”',
  },
  {
    label: 'Exchange',
    url: 'http://exchange.example/%E2%82%AC',
    publisher: null,
    licence: null,
    attribution: null,
    // Its members are not in canonical order.
    cadence: { weekdays: ['tue', 'mon'], period: 'day', releaseTime: '15:00', holidays: ['01-12'], graceSeconds: 3600 },
  },
];

function scalar(slug: string, day: number, value: string | null): IngestRecordInput {
  return {
    type: 'observation',
    market: slug,
    metric: 'tradingVolume',
    value,
    unit: 'barrels',
    sourceLabel: 'Exchange',
    sourceUrl: 'http://exchange.example/volume',
    observedAt: new Date(Date.UTC(2026, 0, 1 + day)).toISOString(),
    confidence: 'low',
    status: 'estimated',
    sourceValue: value,
    unknownReason: value === null ? 'withheld' : null,
  };
}

const DEFINITIONS: readonly IngestRecordInput[] = [
  { ...(market('usd-kwd', 'KWD') as object), unit: { quantity: 1000, of: 'USD' } } as IngestRecordInput,
  { ...(market('eur-jpy', 'JPY') as object), unit: { quantity: 1000, of: 'EUR' } } as IngestRecordInput,
  {
    ...(market('wti') as object),
    name: 'Crude oil, “West Texas”',
    kind: 'energy',
    unit: { quantity: 1, of: 'barrel' },
    sources: SOURCES,
  } as IngestRecordInput,
  { ...(market('hrk-eur', 'EUR') as object), status: 'retired' } as IngestRecordInput,
  market('nobody-looked'),
];

/** The history of `wti` fills two pages of 4 and goes on: a zero, a negative price, gaps, and another metric. */
const ORIGINALS: readonly IngestRecordInput[] = [
  price('wti', 0, 1827),
  price('wti', 1, 0),
  price('wti', 2, -3698),
  price('wti', 3, null),
  price('wti', 4, 1001),
  {
    ...(price('wti', 4, 1002) as object),
    sourceLabel: 'Exchange',
    sourceUrl: 'http://exchange.example/%E2%82%AC',
  } as never,
  scalar('wti', 4, '247947.50'),
  scalar('wti', 5, null),
  {
    ...(price('wti', 6, 1694) as object),
    sourceValue: '16.9375',
    rounded: true,
    confidence: 'medium',
    status: 'provisional',
  } as never,
  { ...(price('eur-jpy', 0, 162675, 'JPY') as object), sourceValue: '162.67516375', rounded: true } as never,
  { ...(price('usd-kwd', 0, 306921, 'KWD') as object), sourceValue: '0.306921' } as never,
  price('hrk-eur', 0, null, 'EUR'),
];

const CORRECTIONS: readonly IngestRecordInput[] = [price('wti', 2, -3763)];

/** The records of the second generation, whose redo bundle is a golden file. */
const LATER: readonly IngestRecordInput[] = [price('eur-jpy', 1, 163000, 'JPY')];

/** The standing of `wti` by claims and verifications. Its members are not in canonical order. */
const STANDING: MarketStanding = {
  representedBy: { name: 'Bank of Exämple', claim: 'claim_01JD0000000000000000000000', salt: 'a1'.repeat(32) },
  disputes: { price: 'claim_01JD0000000000000000000001' },
  comparisons: {
    tradingVolume: {
      outcome: 'mismatch',
      verifiedAt: '2026-01-06T09:30:00Z',
      verification: 'verification_01JD0000000000000000000000',
    },
  },
  verifications: {
    'http://exchange.example/%E2%82%AC': {
      verifiedAt: '2026-01-06T09:30:00Z',
      outcome: 'mismatch',
      subject: 'observation',
    },
  },
};

const PAGE_SIZES = { markets: 3, observations: 4 };

/** One stored object as text. A bundle as it is before compression. */
export interface Golden {
  readonly metadata: ObjectMetadata;
  readonly body: string;
}

/** Ledger and objects. Those in files are opened again for each step. */
export interface Stores {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  close(): void;
}

export function memoryStores(): () => Promise<Stores> {
  const ledger = openSqliteLedger(':memory:');
  const objects = openMemoryObjects();
  return async () => ({ ledger, objects, close: () => undefined });
}

/** A store that keeps bundles, which publishers delete once they are applied. */
function withoutDeletes(objects: ObjectStore): ObjectStore {
  // The golden bundle is that of a store which does not tell ETags before a put.
  const { etagOf, ...store } = changedStore(objects, { delete: async () => 'deleted' });
  return store;
}

/**
 * Ingests and publishes the input in two generations, and returns everything that was stored. `seed` shuffles
 * the order of arrival and the cutting into batches; 0 leaves the input in its order, in one batch.
 */
export async function publishGoldenInput(open: () => Promise<Stores>, seed = 0): Promise<Map<string, Golden>> {
  const clock = { nowMs: START_MS };
  const shuffle = shuffler(seed);
  const ingest = async (records: readonly IngestRecordInput[], mode: IngestMode = 'append'): Promise<void> => {
    for (const batch of shuffle(records)) {
      const stores = await open();
      const dependencies = dependenciesOn(stores.ledger, stores.objects, clock, PAGE_SIZES);
      const report = await takeIn(dependencies, batch, { mode });
      stores.close();
      if (!report.taken) throw new Error(`the golden input was refused: ${JSON.stringify(report.faults)}`);
    }
  };
  const publishOnce = async (): Promise<void> => {
    const stores = await open();
    await publish(dependenciesOn(stores.ledger, withoutDeletes(stores.objects), clock, PAGE_SIZES));
    stores.close();
  };
  await ingest(DEFINITIONS);
  await ingest(ORIGINALS);
  await ingest(CORRECTIONS, 'correct');
  await settle(open);
  await publishOnce();
  clock.nowMs += 60_000;
  await ingest(LATER);
  await publishOnce();

  const stores = await open();
  const all = await readAllObjects(stores.objects);
  stores.close();
  return all;
}

/** Sets the standing of `wti`, as the handlers of claims and verifications do. */
async function settle(open: () => Promise<Stores>): Promise<void> {
  const { ledger, close } = await open();
  await setStanding(ledger, 'wti', STANDING, 'settle');
  close();
}

async function readAllObjects(objects: ObjectStore): Promise<Map<string, Golden>> {
  const all = new Map<string, Golden>();
  for (let after: string | null | undefined; after !== null; ) {
    const page = await objects.list('', after === undefined ? {} : { after });
    for (const key of page.keys) {
      const found = await objects.get(key);
      if (found.kind !== 'found') throw new Error(`${key} is listed, but not there`);
      const bytes = packedGeneration(key) === null ? found.body : zstdDecompressSync(found.body);
      all.set(key, { metadata: found.metadata, body: new TextDecoder('utf-8', { fatal: true }).decode(bytes) });
    }
    after = page.next;
  }
  return all;
}

/** Shuffles records and cuts them into batches, the same way for the same seed. */
function shuffler(seed: number): <Value>(values: readonly Value[]) => readonly (readonly Value[])[] {
  let state = seed;
  // A linear congruential generator (Numerical Recipes). Any order is good, if it can be repeated.
  const below = (limit: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return (values) => {
    if (seed === 0) return [values];
    const rest = [...values];
    const batches: (typeof rest)[] = [];
    while (rest.length > 0) {
      const batch: typeof rest = [];
      for (let size = 1 + below(4); size > 0 && rest.length > 0; size--) {
        batch.push(...rest.splice(below(rest.length), 1));
      }
      batches.push(batch);
    }
    return batches;
  };
}

/** As a program, `node golden-input.ts <seed>` prints all stored objects as JSON. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const objects = await publishGoldenInput(memoryStores(), Number(process.argv[2]));
  process.stdout.write(JSON.stringify([...objects]));
}
