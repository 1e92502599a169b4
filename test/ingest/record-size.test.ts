/** A market's record fits the ledger, with any rows and any standing. */
import { describe, expect, test } from 'vitest';
import { MARKET_METRICS_MAX } from '../../contract/files/limits.ts';
import type { IngestRecord, IngestRecordInput, ObservationRecord } from '../../contract/ingest/ingest-records.ts';
import type { Source } from '../../contract/values/market.ts';
import type { Observation } from '../../contract/values/metric.ts';
import { readReport } from '../../lambdas/ingest/read-report.ts';
import { runBatch } from '../../lambdas/ingest/run-batch.ts';
import { decideMarket } from '../../lambdas/markets/decide.ts';
import type { KnownObservation } from '../../lambdas/markets/market-decision.ts';
import { rowOf } from '../../lambdas/markets/rows.ts';
import { disputedByClaim, standingOf, verified } from '../../lambdas/markets/rules/standing.ts';
import type { PutChange } from '../../storage/ports/ledger.ts';
import { MAX_ITEM_BYTES } from '../../storage/ports/ledger-rules.ts';
import {
  type MarketRecordValue,
  type MarketStanding,
  marketKey,
  OBSERVATION_PREFIX,
} from '../../storage/records/markets.ts';
import { market, price, START_MS } from '../publisher/world.ts';
import { openDesk } from './desk.ts';
import { queueBatch, queuedWork } from './queued-batch.ts';
import { openRecordedLedger } from './recorded-ledger.ts';

/** Three bytes in UTF-8, the most for one UTF-16 unit that JSON does not escape. */
const wide = (length: number) => '金'.repeat(length);
const longUrl = (name: string) => `https://example.com/${name}/`.padEnd(2048, 'x');

function longSource(number: number, text = wide): Source {
  const [label, publisher, licence, attribution] = [text(200), text(200), text(100), text(500)];
  return { label, publisher, licence, attribution, url: longUrl(`source-${number}`) };
}

function longMarket(sources: readonly Source[], fields: object = {}): IngestRecordInput {
  return { ...market('a'), name: wide(200), sources, ...fields } as IngestRecordInput;
}

const twenty = Array.from({ length: 20 }, (_, number) => longSource(number));
const metricNames = Array.from({ length: MARKET_METRICS_MAX }, (_, number) => `m${number}`.padEnd(40, 'x'));

function longObservation(metric: string, fields: object = {}): IngestRecordInput {
  const { currency, amountMinor, ...record } = price('a', 0, 1) as ObservationRecord & Record<string, unknown>;
  const texts = { sourceLabel: wide(200), sourceUrl: longUrl(metric), unit: wide(60) };
  const digits = '1'.repeat(64);
  return { ...record, metric, value: digits, sourceValue: digits, ...texts, ...fields } as unknown as IngestRecordInput;
}

test('a market with the most of everything that rows may bring is accepted, and leaves room for its standing', async () => {
  const ledger = openRecordedLedger();
  const records = [longMarket(twenty), ...metricNames.map((name) => longObservation(name))];
  await queueBatch(ledger, 'b', records);
  await runBatch({ ledger, nowMs: () => START_MS, newAttemptId: () => crypto.randomUUID() }, 'b');
  expect(await readReport(ledger, 'b')).toMatchObject({ state: 'applied', counts: { accepted: 41 }, errors: [] });
  expect(await queuedWork(ledger)).toEqual([]);

  const value = (await ledger.get(marketKey('a')))?.value as MarketRecordValue;
  const id = 'verification_01JD0000000000000000000000';
  let standing: MarketStanding = { ...standingOf(value), representedBy: { name: wide(200), claim: id } };
  for (const source of twenty) {
    const shown = { outcome: 'mismatch', verifiedAt: '2026-01-01T00:00:00.001Z', subject: 'observation' } as const;
    standing = verified(standing, { id, source, metrics: metricNames, shown });
  }
  for (const metric of metricNames) standing = disputedByClaim(standing, metric, id);
  expect(Buffer.byteLength(JSON.stringify({ ...value, standing }))).toBeLessThan(MAX_ITEM_BYTES - 50_000);
});

/** The ledger's limit holds for the sum of all rows, not only for each row. */
describe('a record that would be too large', () => {
  const sources = (count: number, characters: number) =>
    Array.from({ length: count }, (_, number) => longSource(number, () => wide(characters)));
  /** 16 sources of more than 18 KB each: 295 KB, with a standing within its limit. */
  const nearlyFull = longMarket(sources(16, 1_350));
  const tooMuch = longMarket(sources(16, 1_600));
  const observation = longObservation('volume', { sourceLabel: wide(4_000), observedAt: '2026-01-02T00:00:00Z' });

  interface Given {
    readonly before?: readonly IngestRecordInput[];
    readonly standing?: MarketStanding;
  }

  function decide(record: IngestRecordInput, { before = [], standing }: Given = {}) {
    const input = { slug: 'a', mode: 'correct', recordedAt: '2026-10-01T12:00:00.000Z' } as const;
    const rowsOf = (records: readonly IngestRecordInput[]) =>
      records.map((each, index) => rowOf(index, each as IngestRecord));
    const first = decideMarket({ ...input, market: null, known: new Map(), rows: rowsOf(before) });
    const { record: put } = first;
    const value = put && { ...put.value, ...(standing && { standing }) };
    const market = put && value && { ...put.key, revision: 0, attemptId: 'x', expiresAtMs: null, value };
    const known = new Map<string, KnownObservation>();
    for (const { key, revision, value } of first.changes as readonly PutChange[]) {
      if (!key.sort.startsWith(OBSERVATION_PREFIX)) continue;
      const observation = value as Observation;
      known.set(key.sort.slice(OBSERVATION_PREFIX.length), {
        first: observation,
        newest: observation,
        stated: observation,
        ordinal: 0,
        revision,
      });
    }
    const { changes, outcomes } = decideMarket({ ...input, market, known, rows: rowsOf([record]) });
    const [outcome] = outcomes.values();
    return { changes, outcome: outcome?.kind === 'refused' ? outcome.error.code : outcome?.kind };
  }

  test.each<[string, IngestRecordInput, Given]>([
    ['a definition', tooMuch, {}],
    ['another definition', tooMuch, { before: [longMarket([])] }],
    ['an observation of a new metric', observation, { before: [nearlyFull] }],
    [
      'a newer observation of a metric',
      observation,
      { before: [nearlyFull, longObservation('volume', { sourceLabel: 'short' })] },
    ],
    [
      'an older observation of another source',
      observation,
      {
        before: [nearlyFull, longObservation('volume', { sourceLabel: 'short', observedAt: '2026-01-03T00:00:00Z' })],
      },
    ],
    [
      'a correction of the latest observation',
      observation,
      { before: [nearlyFull, { ...observation, sourceLabel: 'short' } as IngestRecordInput] },
    ],
  ])('%s that causes it is refused and changes nothing', (_, record, given) => {
    expect(decide(record, given)).toEqual({ outcome: 'record.invalid', changes: [] });
  });

  const later = { ...observation, sourceLabel: 'short', observedAt: '2026-01-03T00:00:00Z' } as IngestRecordInput;
  const older = { ...observation, sourceLabel: 'short', unit: wide(4_000) } as IngestRecordInput;

  test.each<[string, IngestRecordInput, Given]>([
    ['an older observation, which is not in the record', older, { before: [nearlyFull, later] }],
    ['a shorter text', { ...observation, sourceLabel: wide(100) } as IngestRecordInput, { before: [nearlyFull] }],
    ['a shorter definition', longMarket(sources(16, 1_000)), { before: [nearlyFull] }],
  ])('is not caused by %s', (_, record, given) => {
    expect(decide(record, given).outcome).toBe('accepted');
  });

  test('is not caused by the standing of the market', () => {
    const name = wide(20_000);
    const standing = { ...standingOf({}), representedBy: { name, claim: 'claim_1' } };
    const record = { ...observation, sourceLabel: wide(100) } as IngestRecordInput;
    expect(decide(record, { before: [nearlyFull], standing }).outcome).toBe('accepted');
  });
});

describe('the verifications of sources, when the market is defined again', () => {
  const shown = { outcome: 'gone', verifiedAt: '2026-01-03T00:00:00Z', subject: 'source' } as const;
  const [kept, dropped] = [longSource(1), longSource(2)];
  const standing = (fields: Partial<MarketStanding> = {}): MarketStanding => ({
    ...standingOf({}),
    representedBy: { name: 'Example Ltd', claim: 'claim_1' },
    verifications: { [kept.url]: shown, [dropped.url]: shown },
    ...fields,
  });

  async function standingAfter(given: MarketStanding, definition: IngestRecordInput) {
    const desk = openDesk();
    await desk.send([longMarket([kept, dropped])]);
    await desk.give(given);
    await desk.send([definition]);
    return (await desk.record()).standing;
  }

  test.each<[string, readonly Source[], readonly Source[]]>([
    ['for a source that is still listed', [longSource(3), { ...kept, label: 'other' }], [kept]],
    ['for no source if all are gone', [], []],
  ])('stay %s', async (_, sources, left) => {
    const verifications = Object.fromEntries(left.map(({ url }) => [url, shown]));
    expect(await standingAfter(standing(), longMarket(sources))).toEqual(standing({ verifications }));
  });

  test('leave no standing if it becomes empty', async () => {
    expect(await standingAfter(standing({ representedBy: null }), longMarket([]))).toBeUndefined();
  });

  test('do not accumulate, however often sources change', async () => {
    const desk = openDesk();
    for (let round = 0; round < 50; round++) {
      const source = longSource(round);
      await desk.send([longMarket([source])]);
      await desk.give(verified(standingOf(await desk.record()), { id: 'v', source, metrics: [], shown }));
    }
    expect(Object.keys((await desk.record()).standing?.verifications ?? {})).toHaveLength(1);
  });
});
