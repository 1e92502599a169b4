/**
 * One feed into the publisher as the embedded server runs it. The clock is simulated: each second a batch is taken in, and in
 * the pace of the publish loop a generation follows. Ledger and objects are in memory; sizes are those of the files that a
 * directory store would have.
 */
import type { IngestRecordInput } from '../contract/ingest-records.ts';
import { publicKey } from '../contract/public-objects.ts';
import { listEverySeconds, PUBLISH_PACE_MS } from '../embedded/pace.ts';
import type { PublisherDependencies } from '../publisher/dependencies.ts';
import { readLayout } from '../publisher/kernel/list-layout.ts';
import { publish } from '../publisher/publish.ts';
import { rebuild } from '../publisher/repair/rebuild.ts';
import type { Ledger } from '../storage/ledger.ts';
import { inBatches } from '../storage/paging.ts';
import { HEAD_KEY } from '../storage/records/publication.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import { DEPLOYMENT } from './deployment.ts';
import { MeasuredObjects, type ObjectKind } from './measured-objects.ts';
import { openMemoryObjects } from './memory-objects.ts';
import { publishDue, SettableClock } from './publish-due.ts';
import { cpuMs } from './rounds.ts';
import { dependenciesOn, ingest, NOW_MS } from './synthetic-ledger.ts';
import { readSample, type SampleMarket, syntheticMarket } from './synthetic-markets.ts';

/** Each with its definition and all its observations: within what one batch may hold. */
const MARKETS_AT_ONCE = 15;

export interface FeedOptions {
  readonly markets: number;
  readonly seconds: number;
  readonly perSecond: number;
}

export interface FeedReport extends FeedOptions {
  readonly generations: number;
  readonly lists: number;
  /** The highest ratio of files on the disk to a fresh publication of the same moment, and its second. */
  readonly worst: { readonly ratio: number; readonly second: number };
  /** Before the feed, and at its end: everything on the disk, and the part that a fresh publication would take. */
  readonly before: Disk;
  readonly after: Disk;
  /** The size of a fresh publication at the end, measured. */
  readonly freshMeasured: number;
  /** Bytes of files, by kind. */
  readonly written: ReadonlyMap<ObjectKind, number>;
  readonly cpuMsPerGeneration: number;
}

export interface Disk {
  readonly total: number;
  readonly fresh: number;
}

export async function runFeed(options: FeedOptions): Promise<FeedReport> {
  const { markets, seconds, perSecond } = options;
  const sample = await readSample();
  const ledger = openSqliteLedger(':memory:');
  const objects = new MeasuredObjects(openMemoryObjects());
  const clock = new SettableClock(() => NOW_MS);
  const dependencies: PublisherDependencies = {
    ...dependenciesOn(ledger),
    ...DEPLOYMENT,
    objects,
    nowMs: clock.nowMs,
    listEverySeconds,
  };
  const known = Array.from({ length: markets }, (_, index) => syntheticMarket(sample, index));
  for (const some of inBatches(known, MARKETS_AT_ONCE)) {
    await ingest(
      ledger,
      some.flatMap(({ market, observations }) => [market, ...observations]),
    );
  }
  await publishDue(dependencies, clock);

  const before = await diskOf(ledger, objects);
  const writtenBefore = new Map(objects.written);
  const startMs = clock.nowMs();
  let worst = { ratio: 1, second: 0 };
  let generations = 0;
  let spentMs = 0;
  const lists = new Set<number>();
  for (let second = 1, taken = 0; second <= seconds; second++, taken += perSecond) {
    const rows = Array.from({ length: perSecond }, (_, row) => syntheticMarket(sample, (taken + row) % markets));
    await ingest(
      ledger,
      rows.map((market) => observationAt(market, NOW_MS - (seconds - second) * 1_000)),
    );
    clock.forwardTo(startMs + second * PUBLISH_PACE_MS);
    objects.takeMost();
    spentMs += await cpuMs(async () => {
      if ((await publish(dependencies)).kind === 'published') generations++;
    });
    const { fresh, listGeneration } = await diskOf(ledger, objects);
    lists.add(listGeneration);
    const ratio = objects.takeMost() / fresh;
    if (ratio > worst.ratio) worst = { ratio, second };
  }
  const after = await diskOf(ledger, objects);
  const freshMeasured = await publishAnew(ledger);
  ledger.close();
  return {
    ...options,
    generations,
    lists: lists.size,
    worst,
    before,
    after,
    freshMeasured,
    written: new Map([...objects.written].map(([kind, all]) => [kind, all - (writtenBefore.get(kind) ?? 0)])),
    cpuMsPerGeneration: spentMs / seconds,
  };
}

function observationAt({ observations }: SampleMarket, atMs: number): IngestRecordInput {
  return { ...(observations[0] as SampleMarket['observations'][number]), observedAt: new Date(atMs).toISOString() };
}

/**
 * A fresh publication would put only the current files. A feed that only appends supersedes no history page, so all
 * other files are pages and layouts of earlier lists, and bundles.
 */
async function diskOf(ledger: Ledger, objects: MeasuredObjects): Promise<Disk & { readonly listGeneration: number }> {
  const list = (await ledger.get(HEAD_KEY))?.value.list ?? null;
  const layout = await readLayout(objects, list);
  const pages = layout?.pages.map(({ cursor }) => publicKey({ kind: 'market-list-page', cursor })) ?? [];
  const listKeys = [...pages, ...(list?.layout ? [list.layout.key] : [])];
  const { total } = objects;
  const others = total - objects.of('market-list-page') - objects.of('layout') - objects.of('bundle');
  const fresh = listKeys.reduce((sum, key) => sum + objects.sizeOf(key), others);
  return { total, fresh, listGeneration: list?.generation ?? 0 };
}

/** The size of all objects when they are put into an empty store. The ledger is of no use after that. */
async function publishAnew(ledger: Ledger): Promise<number> {
  const objects = new MeasuredObjects(openMemoryObjects());
  await rebuild({ ...dependenciesOn(ledger), ...DEPLOYMENT, objects });
  return objects.total;
}
