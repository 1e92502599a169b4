/** A market's record fits the ledger, with any rows and any standing. */
import { describe, expect, test } from 'vitest';
import { MARKET_METRICS_MAX } from '../../contract/files/limits.ts';
import type { IngestRecordInput, ObservationRecord } from '../../contract/ingest/ingest-records.ts';
import type { Source } from '../../contract/values/market.ts';
import { readReport } from '../../lambdas/ingest/read-report.ts';
import { runBatch } from '../../lambdas/ingest/run-batch.ts';
import { standingOf, verified } from '../../lambdas/markets/rules/standing.ts';
import { MAX_ITEM_BYTES } from '../../storage/ports/ledger-rules.ts';
import { type MarketRecordValue, type MarketStanding, marketKey } from '../../storage/records/markets.ts';
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
  standing = { ...standing, disputes: Object.fromEntries(metricNames.map((metric) => [metric, id])) };
  expect(Buffer.byteLength(JSON.stringify({ ...value, standing }))).toBeLessThan(MAX_ITEM_BYTES - 50_000);
});

describe('a row that would make the record too large is refused and changes nothing,', () => {
  const later = { observedAt: '2027-01-01T00:00:00Z', announced: true };
  const newest = metricNames.map((name) => longObservation(name));
  const announced = metricNames.map((name) => longObservation(name, later));

  test.each<[string, (readonly unknown[])[], unknown]>([
    ['a definition', [[longMarket([]), ...newest, ...announced]], longMarket(twenty)],
    ['a newest value', [[longMarket(twenty), ...announced], newest], newest.at(-1)],
    ['an announced value', [[longMarket(twenty), ...newest, ...announced]], announced.at(-1)],
  ])('%s', async (_, batches, row) => {
    const desk = openDesk();
    for (const records of batches) await desk.send(records, { partial: true });
    const before = await desk.record();
    expect(await desk.outcome(row)).toBe('record.invalid');
    expect(await desk.record()).toEqual(before);
    expect(await desk.outcome(longMarket([], { name: 'Short' }))).toBe('accepted');
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
});
