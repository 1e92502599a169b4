/** Amounts against the digits of their source: each row is one observation of a market, as a feed sends it. */
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { market, price, START_MS } from '../publisher/world.ts';
import { type IngestOptions, ingest } from './ingest.ts';
import { openRecordedLedger } from './recorded-ledger.ts';

/** Of a market of one unit in US dollars, unless it says another currency and quantity. */
type Case = [title: string, fields: object, outcome: object | string, currency?: string, quantity?: number];

async function expectOutcome([_, fields, outcome, currency = 'USD', quantity = 1]: Case): Promise<void> {
  const result = await outcomeOf(currency, quantity, fields);
  if (typeof outcome === 'string') expect(result).toBe(outcome);
  else expect(result).toMatchObject(outcome);
}

/** The stored price, or `code pointer` of the refusal. */
async function outcomeOf(currency: string, quantity: number, fields: object) {
  const ledger = openRecordedLedger();
  const dependencies = { ledger, nowMs: () => START_MS, newAttemptId: () => crypto.randomUUID() };
  const send = (records: readonly unknown[], options?: IngestOptions) => ingest(dependencies, records, options);
  const definition = { ...market('a', currency), unit: { quantity, of: 'unit' } } as IngestRecordInput;
  const { amountMinor, sourceValue, ...record } = price('a', 0, 1, currency) as never as Record<string, unknown>;
  const { taken, faults } = await send([definition, { ...record, ...fields }]);
  expect(faults.every(({ detail }) => detail.length > 20)).toBe(true);
  if (!taken) return faults.map(({ code, pointer }) => `${code} ${pointer}`).join(', ');
  const stored = (await ledger.get(marketKey('a')))?.value.latest.price?.metric;
  expect((await send([{ ...record, ...fields }])).unchanged).toBe(1);
  return stored;
}

const DISAGREES = 'amount.disagrees-with-source /amountMinor';

describe('an amount in minor units', () => {
  test.each<Case>([
    ['agrees with its source', { amountMinor: 150, sourceValue: '1.5' }, { amountMinor: 150, rounded: false }],
    ['has a decimal too few', { amountMinor: 15, sourceValue: '1.5' }, DISAGREES],
    ['has a decimal too few in dinar', { amountMinor: 31, sourceValue: '0.307' }, DISAGREES, 'KWD'],
    ['has decimals that yen have not', { amountMinor: 1_234_500, sourceValue: '12345' }, DISAGREES, 'JPY'],
    ['has another sign', { amountMinor: 3698, sourceValue: '-36.98' }, DISAGREES],
    [
      'is rounded and does not say so',
      { amountMinor: 4130, sourceValue: '41.29999', rounded: false },
      'amount.disagrees-with-source /rounded',
    ],
    [
      'is not rounded and says so',
      { amountMinor: 4130, sourceValue: '41.300', rounded: true },
      'amount.disagrees-with-source /rounded',
    ],
    [
      'is rounded and says so',
      { amountMinor: 4130, sourceValue: '41.29999', rounded: true },
      { amountMinor: 4130, rounded: true },
    ],
    ['is truncated', { amountMinor: 4129, sourceValue: '41.29999', rounded: true }, DISAGREES],
    [
      'is half rounded up, as some sources do',
      { amountMinor: 3, sourceValue: '0.025', rounded: true },
      { amountMinor: 3 },
    ],
    ['is half rounded to even', { amountMinor: 2, sourceValue: '0.025', rounded: true }, { amountMinor: 2 }],
    ['without digits of the source is taken', { amountMinor: 15, sourceValue: null }, { amountMinor: 15 }],
    [
      'that is unknown keeps the digits',
      { amountMinor: null, unknownReason: 'withheld', sourceValue: '1.5' },
      { amountMinor: null, sourceValue: '1.5' },
    ],
    [
      'may have digits for one',
      { amountMinor: 3_669_000, sourceValue: '366.9' },
      { amountMinor: 3_669_000, sourceValue: '366.9' },
      'HUF',
      100,
    ],
    [
      "may have digits for the market's quantity",
      { amountMinor: 3_669_000, sourceValue: '36690' },
      { amountMinor: 3_669_000 },
      'HUF',
      100,
    ],
    ['may not have digits for anything else', { amountMinor: 366_900, sourceValue: '366.9' }, DISAGREES, 'HUF', 100],
    [
      'is held to the quantity that it names',
      { amountMinor: 36_690, sourceValue: '366.9', quotedQuantity: 1 },
      DISAGREES,
      'HUF',
      100,
    ],
    [
      'may name a quantity larger than the market’s',
      { amountMinor: 3_669_000, sourceValue: '366900', quotedQuantity: 1000 },
      { amountMinor: 3_669_000 },
      'HUF',
      100,
    ],
    [
      'keeps the exponent of its source',
      { amountMinor: 1600, sourceValue: '1.6e-05', quotedQuantity: 1 },
      { amountMinor: 1600, sourceValue: '1.6e-05', rounded: false },
      'USD',
      1_000_000,
    ],
    [
      'has an exponent that says another number',
      { amountMinor: 1600, sourceValue: '1.6e-06', quotedQuantity: 1 },
      DISAGREES,
      'USD',
      1_000_000,
    ],
    ['has an exponent that nothing can hold', { amountMinor: 1, sourceValue: '1e999' }, DISAGREES],
    [
      'may be for as many as 10^15',
      { amountMinor: 123, sourceValue: '0.00000000000000123', quotedQuantity: 1 },
      { amountMinor: 123, rounded: false },
      'USD',
      10 ** 15,
    ],
    [
      'may not name more than 10^15',
      { amountMinor: 1, sourceValue: '1', quotedQuantity: 10 ** 15 + 1 },
      'record.invalid /quotedQuantity',
    ],
    ['of a source that is out of range', { amountMinor: 1, sourceValue: '9'.repeat(20) }, DISAGREES],
  ])('that %s', async (...row) => await expectOutcome(row));
});

describe('a decimal instead of minor units', () => {
  test.each<Case>([
    ['exactly', { value: '36.69' }, { kind: 'money', amountMinor: 3669, rounded: false, sourceValue: '36.69' }, 'HUF'],
    [
      'with an exponent, which is kept',
      { value: '1.6e-05', quotedQuantity: 1 },
      { amountMinor: 1600, rounded: false, sourceValue: '1.6e-05' },
      'USD',
      1_000_000,
    ],
    ['of an exponent and of plain digits', { value: '1.5', sourceValue: '15e-1' }, { sourceValue: '15e-1' }],
    ['as a zero with an exponent', { value: '0e5' }, 'amount.zero-unasserted /value'],
    ['in yen, rounded', { value: '162.675' }, { amountMinor: 163, rounded: true, sourceValue: '162.675' }, 'JPY'],
    ['in dinar', { value: '0.307' }, { amountMinor: 307, rounded: false }, 'KWD'],
    [
      'for one, in a market for 1,000',
      { value: '162.67516375', quotedQuantity: 1 },
      { amountMinor: 162_675, rounded: true },
      'JPY',
      1000,
    ],
    [
      'for 100, in a market for one',
      { value: '36690', quotedQuantity: 100 },
      { amountMinor: 36_690, rounded: false },
      'HUF',
    ],
    ['with the same digits as source', { value: '1.50', sourceValue: '1.5' }, { amountMinor: 150, sourceValue: '1.5' }],
    [
      'as unknown',
      { value: null, unknownReason: 'not-published' },
      { amountMinor: null, rounded: false, sourceValue: null },
    ],
    ['as an asserted zero', { value: '0.00', zeroAsserted: true }, { amountMinor: 0, rounded: false }],
    ['of an unnamed quantity', { value: '162.7' }, 'provenance.incomplete /quotedQuantity', 'JPY', 1000],
    ['with other digits as source', { value: '1.5', sourceValue: '-1.5' }, 'amount.disagrees-with-source /value'],
    ['as a zero', { value: '0.00' }, 'amount.zero-unasserted /value'],
    ['that rounds to zero', { value: '0.001' }, 'amount.zero-unasserted /value'],
    ['beyond what amounts can hold', { value: '90071992547409.92' }, 'amount.out-of-range /value'],
    ['as a number of JSON', { value: 36.69 }, 'record.invalid /value'],
    ['with an amount as well', { value: '1.5', amountMinor: 150 }, 'record.invalid /value'],
    ['with a claim to be exact', { value: '1.5', rounded: false }, 'record.invalid /rounded'],
  ])('%s', async (...row) => await expectOutcome(row));
});

test('a file that is sent again keeps an exponent that an earlier version wrote out', async () => {
  const ledger = openRecordedLedger();
  const dependencies = { ledger, nowMs: () => START_MS, newAttemptId: () => crypto.randomUUID() };
  const { amountMinor, sourceValue, ...record } = price('a', 0, 1, 'USD') as never as Record<string, unknown>;
  const of = (digits: string) => ({ ...record, amountMinor: 1600, sourceValue: digits, rounded: false });
  await ingest(dependencies, [market('a', 'USD'), of('16.00')]);
  expect(await ingest(dependencies, [of('1600e-2')])).toMatchObject({ unchanged: 1 });
  expect(await ingest(dependencies, [of('16.0')])).toMatchObject({ taken: false });
});

describe('a market that keeps its unit', () => {
  const decimal = (value: string, day: number, fields: object = {}) => {
    const { amountMinor, sourceValue, ...record } = price('a', day, 1, 'USD') as never as Record<string, unknown>;
    return { ...record, value, quotedQuantity: 1, exact: true, ...fields };
  };
  const defined = (quantity: number) => ({ ...market('a', 'USD'), unit: { quantity, of: 'token' }, keepUnit: true });

  test('refuses the value that does not fit before it rounds it', async () => {
    const ledger = openRecordedLedger();
    const dependencies = { ledger, nowMs: () => START_MS, newAttemptId: () => crypto.randomUUID() };
    const send = (...records: readonly unknown[]) => ingest(dependencies, records);
    const stored = async () => {
      const { unit, latest } = (await ledger.get(marketKey('a')))?.value ?? {};
      return [unit?.quantity, latest?.price?.metric];
    };
    expect((await send(defined(10), decimal('0.001', 0))).faults).toEqual([]);
    // The next file has a smaller price, so its own quantity is larger.
    const { faults } = await send(defined(1000), decimal('0.00001', 1));
    expect(faults.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual(['amount.not-integral /value']);
    expect((await send(defined(1000), decimal('0.002', 1))).faults).toEqual([]);
    expect(await stored()).toEqual([10, expect.objectContaining({ amountMinor: 2, rounded: false })]);
    expect((await send(defined(1000), decimal('0.0024', 2, { exact: false }))).faults).toEqual([]);
    expect(await stored()).toEqual([
      10,
      expect.objectContaining({ amountMinor: 2, rounded: true, sourceValue: '0.0024' }),
    ]);
  });

  test('may be defined anew before its first observation, and not after it without saying so', async () => {
    const ledger = openRecordedLedger();
    const dependencies = { ledger, nowMs: () => START_MS, newAttemptId: () => crypto.randomUUID() };
    const send = async (...records: readonly unknown[]) =>
      (await ingest(dependencies, records)).faults.map(({ code }) => code);
    expect(await send(defined(10))).toEqual([]);
    expect(await send(defined(1000), decimal('0.00001', 0))).toEqual([]);
    const { keepUnit, ...fixed } = defined(10);
    expect(await send(fixed)).toEqual(['conflict.existing']);
  });
});
