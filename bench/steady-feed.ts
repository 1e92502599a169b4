/**
 * A feed that never pauses, into the publisher as the embedded server runs it: what lies on disk beside the ledger, against a
 * fresh publication of the same ledger, at every generation; and what is written for each observation. The clock is simulated:
 * each second a batch is taken in and, in the pace of the publish loop, a generation follows.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IngestRecordInput } from '../contract/ingest-records.ts';
import { publicKey } from '../contract/public-objects.ts';
import type { PublisherDependencies } from '../publisher/dependencies.ts';
import { readLayout } from '../publisher/plan/list-layout.ts';
import { publish } from '../publisher/publish.ts';
import { rebuild } from '../publisher/repair/rebuild.ts';
import type { Ledger } from '../storage/ledger.ts';
import { HEAD_KEY } from '../storage/records/publication.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import { DEPLOYMENT } from './deployment.ts';
import { MeasuredObjects, type ObjectKind } from './measured-objects.ts';
import { openMemoryObjects } from './memory-objects.ts';
import { publishDue, SettableClock } from './publish-due.ts';
import { dependenciesOn, ingest, NOW_MS } from './synthetic-ledger.ts';
import { readSample, syntheticMarket } from './synthetic-markets.ts';
import { bytes, number, printHeading, printTable } from './table.ts';
import type { Workspace } from './workspace.ts';

const SECONDS = 600;
const PER_SECOND = 150;
const SAMPLE_MARKETS = 175;
const MORE_MARKETS = 1_000;
const PROMISE = 2;

interface Run {
  readonly markets: number;
  readonly seconds: number;
  readonly generations: number;
  readonly lists: number;
  /** At most, over all moments: what is on disk to what a fresh publication would take, and when. */
  readonly worst: { readonly ratio: number; readonly second: number };
  /** At the end. */
  readonly onDisk: number;
  readonly superseded: number;
  readonly fresh: number;
  readonly freshMeasured: number;
  readonly ledgerBytes: number;
  readonly written: ReadonlyMap<ObjectKind, number>;
  readonly msPerGeneration: number;
}

/** See the head of this file. */
export async function benchSteadyFeed({ quick, workspace }: BenchOptions): Promise<void> {
  const seconds = quick ? 10 : SECONDS;
  printHeading(
    'steady-feed',
    `${number(PER_SECOND)} observations a second for ${number(seconds)} simulated seconds, one generation a second, into a directory store.`,
    `Promise: at every moment at most ${number(PROMISE, 1)} times what a fresh publication of the same ledger takes on disk.`,
  );
  const runs: Run[] = [];
  for (const markets of [SAMPLE_MARKETS, MORE_MARKETS]) runs.push(await feed(workspace, markets, seconds));
  printTable(
    [
      'disk',
      'generations',
      'lists',
      'most, to a fresh one',
      'at second',
      'at the end',
      'superseded',
      'fresh',
      'fresh, measured',
      'ledger',
      'ms a generation',
    ],
    runs.map((run) => [
      `${number(run.markets)} markets`,
      number(run.generations),
      number(run.lists),
      number(run.worst.ratio, 2),
      number(run.worst.second),
      bytes(run.onDisk),
      bytes(run.superseded),
      bytes(run.fresh),
      bytes(run.freshMeasured),
      bytes(run.ledgerBytes),
      number(run.msPerGeneration),
    ]),
  );
  const kinds = [...new Set(runs.flatMap(({ written }) => [...written.keys()]))];
  printTable(
    ['bytes written for each observation', 'all', ...kinds],
    runs.map(({ markets, written, seconds }) => {
      const perObservation = (value: number) => number(value / (seconds * PER_SECOND));
      const all = [...written.values()].reduce((sum, value) => sum + value, 0);
      return [
        `${number(markets)} markets`,
        perObservation(all),
        ...kinds.map((kind) => perObservation(written.get(kind) ?? 0)),
      ];
    }),
  );
}

async function feed(workspace: Workspace, markets: number, seconds: number): Promise<Run> {
  const sample = await readSample();
  const folder = workspace.folder(`feed-${markets}`);
  const path = join(folder, 'ledger.sqlite');
  const ledger = openSqliteLedger(path, { exclusive: true });
  const objects = new MeasuredObjects(openMemoryObjects());
  const clock = new SettableClock(() => NOW_MS);
  const dependencies: PublisherDependencies = { ...dependenciesOn(ledger), ...DEPLOYMENT, objects, nowMs: clock.nowMs };
  for (let index = 0; index < markets; index++) {
    const { market, observations } = syntheticMarket(sample, index);
    await ingest(ledger, [market, ...observations]);
  }
  await publishDue(dependencies, clock);
  objects.written as Map<ObjectKind, number>;
  const before = new Map(objects.written);
  let worst = { ratio: 1, second: 0 };
  let generations = 0;
  let lists = 0;
  let freshList = await listOf(ledger, objects);
  const startMs = clock.nowMs();
  const startedAtMs = performance.now();
  let publishedMs = 0;
  let next = 0;
  for (let second = 1; second <= seconds; second++) {
    const rows = Array.from({ length: PER_SECOND }, () => syntheticMarket(sample, next++ % markets));
    await ingest(
      ledger,
      rows.map(({ observations }) => observationAt(observations[0] as IngestRecordInput, second, seconds)),
    );
    clock.forwardTo(startMs + second * 1_000);
    objects.takeMost();
    const beganAtMs = performance.now();
    const { kind } = await publish(dependencies);
    publishedMs += performance.now() - beganAtMs;
    if (kind === 'published') generations++;
    const list = await listOf(ledger, objects);
    if (list.generation !== freshList.generation) lists++;
    freshList = list;
    const fresh = freshSize(objects, freshList.bytes);
    const ratio = objects.takeMost() / fresh;
    if (ratio > worst.ratio) worst = { ratio, second };
  }
  void startedAtMs;
  const fresh = freshSize(objects, freshList.bytes);
  const written = new Map(
    [...objects.written].map(([kind, value]) => [kind, value - (before.get(kind) ?? 0)] as const),
  );
  ledger.close();
  const freshMeasured = await publishAnew(workspace, path);
  const run = {
    markets,
    seconds,
    generations,
    lists,
    worst,
    onDisk: objects.total,
    superseded: objects.total - fresh,
    fresh,
    freshMeasured,
    ledgerBytes: (await import('node:fs')).statSync(path).size,
    written,
    msPerGeneration: publishedMs / seconds,
  };
  workspace.remove(folder);
  return run;
}

/** Of the last seconds before now, so that no observation is of the future. */
function observationAt(observation: IngestRecordInput, second: number, seconds: number): IngestRecordInput {
  return {
    ...observation,
    observedAt: new Date(NOW_MS - (seconds - second) * 1_000).toISOString(),
  } as IngestRecordInput;
}

/** What the list that readers are given takes, with its layout. */
async function listOf(ledger: Ledger, objects: MeasuredObjects) {
  const list = (await ledger.get(HEAD_KEY))?.value.list ?? null;
  const layout = await readLayout(objects, list);
  const pages = layout?.pages.map(({ cursor }) => publicKey({ kind: 'market-list-page', cursor })) ?? [];
  const keys = [...pages, ...(list?.layout ? [list.layout.key] : [])];
  return { generation: list?.generation, bytes: keys.reduce((sum, key) => sum + objects.sizeOf(key), 0) };
}

/** Of the files in place those that a fresh publication would put too: a feed that only appends supersedes no page of a history. */
function freshSize(objects: MeasuredObjects, listBytes: number): number {
  return objects.total - objects.of('market-list-page') - objects.of('layout') - objects.of('bundle') + listBytes;
}

/** What everything takes when it is put into an empty store. */
async function publishAnew(workspace: Workspace, path: string): Promise<number> {
  const folder = workspace.folder('fresh');
  const copy = join(folder, 'ledger.sqlite');
  copyFileSync(path, copy);
  const ledger = openSqliteLedger(copy, { exclusive: true });
  const objects = new MeasuredObjects(openMemoryObjects());
  await rebuild({ ...dependenciesOn(ledger), ...DEPLOYMENT, objects });
  ledger.close();
  workspace.remove(folder);
  return objects.total;
}
