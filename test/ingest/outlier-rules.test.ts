/** The own rule of a market for outliers, and the one for prices that cross zero. */
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { OutlierRule } from '../../contract/values/market.ts';
import { market, price } from '../publisher/world.ts';
import { openDesk } from './desk.ts';
import type { IngestOptions } from './ingest.ts';

const NOW_MS = Date.parse('2036-01-01T00:00:00Z');
const at = (day: number, amountMinor: number) =>
  ({ ...price('a', day, amountMinor), outlierConfirmed: false }) as IngestRecordInput;
const series = (...amounts: number[]) => amounts.map((amount, index) => at(2 * index, amount));
const calm = (days: number) => series(...Array.from({ length: days }, (_, day) => 8000 + 10 * (day % 7)));
const ruled = (outliers: OutlierRule | null, outliersReason?: string) =>
  ({ ...market('a'), outliers, ...(outliersReason && { outliersReason }) }) as IngestRecordInput;

const RULE = { factor: 20, neighbours: 5 };
/** A daily file of power prices: 80, 95, -5, 60, 310, 2.10, 70. */
const POWER = [8000, 9500, -500, 6000, 31_000, 210, 7000];

/** Sends batches in part, and gives their refused rows as `index code`. */
function sender() {
  const desk = openDesk(NOW_MS);
  return async (records: readonly unknown[], options: IngestOptions = {}) => {
    const { faults } = await desk.send(records, { partial: true, ...options });
    return faults.map(({ index, code }) => `${index} ${code}`);
  };
}

/** An operator has confirmed them. */
const NEGATIVE = [price('a', 1, -500), price('a', 3, -900), price('a', 5, -700)];

describe('prices that cross zero', () => {
  test.each([
    ['with the rule of the documents', { factor: 20, neighbours: 50 }],
    ['with the guard off', 'off'],
  ] as const)('are taken in whole by a market %s, in one file and day by day', async (_, rule) => {
    expect(await sender()([ruled(rule), ...series(...POWER)])).toEqual([]);
    const send = sender();
    await send([ruled(rule)]);
    for (const row of series(...POWER)) expect(await send([row])).toEqual([]);
    // Known neighbours on both sides.
    expect(await send([at(5, 150), at(7, -900)])).toEqual([]);
  });

  test('need a person in a market without a rule, until three of the neighbours are negative', async () => {
    const send = sender();
    expect(await send([market('a'), ...series(...POWER)])).toEqual(['3 outlier', '6 outlier']);
    expect(await send([...NEGATIVE.slice(1), ...series(...POWER)])).toEqual(['4 outlier', '7 outlier']);
    expect(await send([...NEGATIVE.slice(0, 1), ...series(...POWER)])).toEqual([]);
  });

  test.each([
    ['minor units for major ones', 800_000],
    ['the same with a wrong sign', -800_000],
  ])('and %s are still set aside', async (_, amount) => {
    const later = POWER.map((value, index) => at(10 + 2 * index, value));
    for (const known of [
      [market('a'), ...NEGATIVE, ...later],
      [ruled(RULE), ...later],
    ]) {
      expect(await sender()([...known, at(24, amount)])).toEqual([`${known.length} outlier`]);
      const send = sender();
      await send(known);
      expect(await send([at(24, amount)])).toEqual(['0 outlier']);
      expect(await send([at(17, amount)])).toEqual(['0 outlier']);
    }
  });

  test.each([
    ['one value with a wrong sign', [-8000]],
    ['two', [-8000, -8010]],
  ])('%s does not widen the guard: a slipped decimal point is found', async (_, wrong) => {
    const send = sender();
    expect(await send([market('a'), ...calm(30), ...wrong.map((amount, index) => at(60 + index, amount))])).toEqual([]);
    expect(await send([at(70, 8050), at(72, 82_000), at(74, 795)])).toEqual(['1 outlier', '2 outlier']);
  });

  test('negative values of long ago make no difference to a market that is calm since', async () => {
    const send = sender();
    expect(await send([market('a'), ...NEGATIVE, ...calm(150).slice(3)])).toEqual([]);
    expect(await send([at(300, 210)])).toEqual(['0 outlier']);
  });
});

describe('a calm series', () => {
  test.each([
    ['without a rule', undefined, ['0 outlier', '1 outlier']],
    ['with a factor of 20', RULE, ['0 outlier']],
    ['with a factor of 5', { factor: 5, neighbours: 5 }, ['0 outlier', '1 outlier']],
    ['with the guard off', 'off', []],
  ] as const)('%s: what becomes of 8,000 and of 820 in the place of 80', async (_, rule, expected) => {
    const send = sender();
    await send([rule === undefined ? market('a') : ruled(rule), ...calm(30)]);
    expect(await send([at(60, 800_000), at(61, 82_000)])).toEqual(expected);
  });

  test.each([
    ['without a rule', undefined, 30],
    ['with a factor of 20', RULE, 30],
    ['with the guard off', 'off', 0],
  ] as const)(
    '%s: how many rows are refused of a file that corrects all values to 100 times',
    async (_, rule, refused) => {
      const send = sender();
      await send([rule === undefined ? market('a') : ruled(rule), ...calm(30)]);
      const wrong = calm(30).map((_row, index) => at(2 * index, 800_000 + index));
      for (const part of [wrong.slice(0, 11), wrong.slice(11)]) {
        expect(await send(part, { mode: 'correct', dryRun: true })).toHaveLength(refused && part.length);
      }
      expect(await send(wrong, { mode: 'correct' })).toHaveLength(refused);
    },
  );

  test('between two neighbours lies their middle', async () => {
    const send = sender();
    await send([ruled({ factor: 5, neighbours: 2 }), at(0, 1000), at(2, 3000)]);
    // More than five times 20 away from 20.
    expect(await send([at(4, 12_100)])).toEqual(['0 outlier']);
    expect(await send([at(4, 11_900)])).toEqual([]);
  });

  test('one wrong neighbour is no reference', async () => {
    const send = sender();
    await send([ruled(RULE), ...calm(30), price('a', 60, 800_000)]);
    // The rule counts several neighbours, also where the nearest one would let the value pass.
    expect(await send([at(61, 790_000)])).toEqual(['0 outlier']);
    expect(await send([at(61, 8100)])).toEqual([]);
    expect(await send([at(62, 790_000)])).toEqual(['0 outlier']);
  });

  test('a rule is used by the batch that defines it, and kept by a definition that does not name it', async () => {
    const send = sender();
    expect(await send([market('a'), ...calm(30), at(60, 800_000)])).toEqual(['31 outlier']);
    expect(await send([ruled('off'), at(60, 800_000)])).toEqual([]);
    expect(await send([{ ...market('a'), name: 'Another' } as IngestRecordInput, at(61, 8000)])).toEqual([]);
    expect(await send([ruled(null), at(62, 800_000)])).toEqual(['1 outlier']);
  });
});

test.each([
  ['a factor below 1', { outliers: { factor: 0.5, neighbours: 5 } }],
  ['no neighbour', { outliers: { factor: 5, neighbours: 0 } }],
  ['too many neighbours', { outliers: { factor: 5, neighbours: 101 } }],
  ['another word', { outliers: 'on' }],
  ['a reason without a rule', { outliersReason: 'Because.' }],
  ['a reason with the rule of the service', { outliers: null, outliersReason: 'Because.' }],
])('a rule with %s is refused', async (_, fields) => {
  expect(await sender()([{ ...market('a'), ...fields } as IngestRecordInput])).toEqual(['0 record.invalid']);
});

test('rows are decided in the order of time, the definition first, however they are sent', async () => {
  const rows = [market('a'), ...calm(30), at(60, 800_000)];
  expect(await sender()(rows.toReversed())).toEqual(['0 outlier']);
});

test('faults are in the order of their rows, whenever they were found', async () => {
  const send = sender();
  await send([market('a'), ...calm(30)]);
  const unreadable = { ...at(61, 8100), observedAt: 'yesterday' };
  expect(await send([at(60, 800_000), unreadable])).toEqual(['0 outlier', '1 record.invalid']);
});

test('a feed that may not confirm outliers may not set a rule', async () => {
  const authority = { scopes: ['ingest:write' as const, 'markets:write' as const], markets: null };
  const send = sender();
  expect(await send([ruled('off')], { authority })).toEqual(['0 scope.missing']);
  expect(await send([market('a')], { authority })).toEqual([]);
});
