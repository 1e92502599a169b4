/** Each code of a refused row, with an example. */
import { expect, test } from 'vitest';
import { ROW_ERROR_CODES, type RowErrorCode } from '../../contract/ingest/ingest-records.ts';
import { changedMarket } from '../../lambdas/markets/market-changes.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { type MarketRecordValue, marketKey } from '../../storage/records/markets.ts';
import { market, price, START_MS } from '../publisher/world.ts';
import { type IngestOptions, ingest } from './ingest.ts';
import { openRecordedLedger } from './recorded-ledger.ts';

const known = [market('a'), price('a', 0, 6117), market('gone')];
const but = (fields: object): unknown => ({ ...price('a', 1, 6117), outlierConfirmed: false, ...fields });
const retraction = {
  type: 'retraction',
  market: 'a',
  metric: 'price',
  observedAt: '2026-01-02T00:00:00Z',
  sourceUrl: 'https://example.com/a',
  reason: 'a misprint',
};

/** Sent after {@link known}. The last row is refused with this code. */
const ROWS: { readonly [Code in RowErrorCode]: readonly unknown[] } = {
  'record.invalid': [but({ amout: 1 })],
  'currency.unknown': [but({ metric: 'margin', currency: 'XAU' })],
  'currency.retired': [but({ metric: 'margin', currency: 'HRK' })],
  'currency.minor-unit-alias': [but({ metric: 'margin', currency: 'GBX' })],
  'currency.not-native': [but({ currency: 'EUR' })],
  'amount.not-integral': [but({ amountMinor: 61.17 })],
  'amount.disagrees-with-source': [but({ sourceValue: '6.117' })],
  'amount.zero-unasserted': [but({ amountMinor: 0 })],
  'amount.out-of-range': [but({ amountMinor: 2 ** 53 })],
  'date.future': [but({ observedAt: '2062-09-30T00:00:00Z' })],
  'date.implausible': [but({ observedAt: '1899-12-30T00:00:00Z' })],
  'date.past': [but({ announced: true })],
  'source.url-missing': [but({ sourceUrl: '' })],
  'source.url-not-absolute': [but({ sourceUrl: '/prices.csv' })],
  'source.url-not-public': [but({ sourceUrl: 'https://example.com/a?api_key=1234' })],
  'provenance.incomplete': [but({ sourceLabel: '' })],
  'duplicate.in-batch': [but({}), but({ amountMinor: 6118 })],
  'conflict.existing': [{ ...price('a', 0, 6118) }],
  'market.unknown': [but({ market: 'nowhere' })],
  'market.removed': [{ ...price('gone', 1, 6117) }],
  'observation.unknown': [retraction],
  outlier: [but({ amountMinor: 611_700 })],
  'scope.missing': [retraction],
  'market.not-allowed': [but({})],
};

const AUTHORITIES: { readonly [Code in RowErrorCode]?: IngestOptions } = {
  'scope.missing': { authority: { scopes: ['ingest:write'], markets: null } },
  'market.not-allowed': { authority: { scopes: ['ingest:write'], markets: ['b-*'] } },
};

test.each(ROW_ERROR_CODES)('%s', async (code) => {
  const dependencies = { ledger: openRecordedLedger(), nowMs: () => START_MS, newAttemptId: () => crypto.randomUUID() };
  expect((await ingest(dependencies, known)).taken).toBe(true);
  const gone = (await dependencies.ledger.get(marketKey('gone'))) as Item<MarketRecordValue>;
  const removal = { reason: 'ended', replacedBy: 'a', removedAt: new Date(START_MS).toISOString() };
  await dependencies.ledger.transact(changedMarket('gone', gone, { removal }, removal.removedAt), {
    attemptId: 'removal',
  });
  const { taken, faults } = await ingest(dependencies, ROWS[code], AUTHORITIES[code]);
  expect(taken).toBe(false);
  expect(faults.map((fault) => [fault.index, fault.code])).toEqual([[ROWS[code].length - 1, code]]);
});

test('a market without observations takes another currency together with its first price', async () => {
  const dependencies = { ledger: openRecordedLedger(), nowMs: () => START_MS, newAttemptId: () => crypto.randomUUID() };
  await ingest(dependencies, [market('a')]);
  const { taken, faults } = await ingest(dependencies, [market('a', 'EUR'), price('a', 0, 6117, 'EUR')]);
  expect([taken, faults]).toEqual([true, []]);
});
