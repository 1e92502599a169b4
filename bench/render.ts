/** Rendering and hashing against the minimum: `JSON.stringify` and SHA-256 of the same bytes. */
import { hash } from 'node:crypto';
import { historyPageBody, marketBody, type Rendered, rendered } from '../publisher/core/bodies/render.ts';
import {
  type MarketRecordValue,
  marketKey,
  marketPartition,
  OBSERVATION_PREFIX,
  type ObservationValue,
} from '../storage/records/markets.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import { cpuMs, interleave, ratios } from './rounds.ts';
import { ingest } from './synthetic-ledger.ts';
import { readSample, syntheticMarket } from './synthetic-markets.ts';
import { bytes, number, withSpread } from './table.ts';

interface Source {
  readonly slug: string;
  readonly revision: number;
  readonly record: MarketRecordValue;
  readonly observations: readonly ObservationValue[];
}

const PAGE_CURSOR = `7-${'0123456789abcdef'.repeat(2)}`;
const UNMEASURED_ROUNDS = 2;
/** Enough that a round takes longer than one collection of garbage. */
const BYTES_PER_ROUND = 25_000_000;

export async function benchRender({ quick, rounds, section }: BenchOptions): Promise<void> {
  const markets = quick ? 50 : 1_000;
  const sources = await readSources(markets);
  const cases: readonly [string, (source: Source) => Rendered][] = [
    ['market bodies', ({ slug, revision, record }) => rendered(marketBody(slug, revision, record))],
    [
      'history pages',
      ({ observations, record }) => rendered(historyPageBody(observations, PAGE_CURSOR, record.unit.quantity)),
    ],
  ];
  section.say(
    'Rendering and hashing from ledger records, against JSON.stringify and SHA-256 of the same objects, ready built.',
    'Promise: at most 2 times the floor.',
  );
  const rows: string[][] = [];
  for (const [name, render] of cases) {
    const expected = sources.map(render);
    const built = expected.map(({ body }) => JSON.parse(body) as unknown);
    const size = expected.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
    const repeats = quick ? 1 : Math.ceil(BYTES_PER_ROUND / size);
    const contestants = {
      tidemark: () => cpuMs(() => repeat(repeats, () => check(sources.map(render), expected))),
      least: () => cpuMs(() => repeat(repeats, () => check(built.map(floor), expected))),
    };
    await interleave(UNMEASURED_ROUNDS, contestants);
    const { tidemark, least } = await interleave(rounds, contestants);
    rows.push([
      name,
      number(sources.length * repeats),
      bytes(size * repeats),
      withSpread(tidemark, 1),
      withSpread(least, 1),
      withSpread(ratios(tidemark, least), 2),
    ]);
  }
  section.table(['', 'count', 'bytes', 'Tidemark, CPU ms', 'floor, CPU ms', 'ratio'], rows);
}

function repeat(times: number, work: () => void): void {
  for (let time = 0; time < times; time++) work();
}

function floor(built: unknown): Rendered {
  const body = JSON.stringify(built);
  return { body, digest: hash('sha256', body, 'hex') };
}

/** Holds every result to the end, as the publisher does with a page, and sees that both do the same work. */
function check(results: readonly Rendered[], expected: readonly Rendered[]): void {
  const wrong = results.findIndex(({ digest }, index) => digest !== expected[index]?.digest);
  if (wrong >= 0) throw new Error(`body ${wrong} came out with other bytes`);
}

/** A market as the publisher reads it from a ledger: parsed from its text, not the object of the ingest. */
async function readSources(markets: number): Promise<readonly Source[]> {
  const sample = await readSample();
  const ledger = openSqliteLedger(':memory:');
  const sources: Source[] = [];
  for (let index = 0; index < markets; index++) {
    const { market, observations } = syntheticMarket(sample, index);
    await ingest(ledger, [market, ...observations]);
    const record = await ledger.get(marketKey(market.slug));
    const { items } = await ledger.query(marketPartition(market.slug), { prefix: OBSERVATION_PREFIX, limit: 1_000 });
    if (record === null) throw new Error(`market ${market.slug} is not in the ledger`);
    sources.push({
      slug: market.slug,
      revision: record.revision,
      record: record.value,
      observations: items.map((item) => item.value as ObservationValue),
    });
  }
  ledger.close();
  return sources;
}
