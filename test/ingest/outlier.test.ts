import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput, ObservationRecord } from '../../contract/ingest/ingest-records.ts';
import { metricOfRecord } from '../../lambdas/markets/observation-value.ts';
import { LOOK_AROUND } from '../../lambdas/markets/rules/neighbours.ts';
import { isOutlier } from '../../lambdas/markets/rules/outlier.ts';
import { parseRecord } from '../../lambdas/markets/rules/row-rules.ts';
import { OBSERVATION_PREFIX } from '../../storage/records/markets.ts';
import { market, price } from '../publisher/world.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';
import { ingest } from './ingest.ts';
import { openRecordedLedger } from './recorded-ledger.ts';

const unconfirmed = (slug: string, day: number, amountMinor: number | null) =>
  ({ ...price(slug, day, amountMinor), outlierConfirmed: false }) as IngestRecordInput;

function metric(fields: object) {
  const parsed = parseRecord(JSON.parse(JSON.stringify({ ...price('a', 0, 1), ...fields })));
  if (!('record' in parsed) || parsed.record.type !== 'observation')
    throw new Error('the test’s own record is refused');
  const made = metricOfRecord(parsed.record, 1);
  if ('error' in made) throw new Error('the test’s own amount is refused');
  return made;
}

const amount = (amountMinor: number | null, fields: object = {}) =>
  metric({ amountMinor, unknownReason: amountMinor === null ? 'withheld' : null, ...fields });
const scalar = (value: string | null, unit = 'tonne') =>
  metric({
    amountMinor: undefined,
    currency: undefined,
    metric: 'volume',
    value,
    unit,
    unknownReason: value === null ? 'withheld' : null,
  });

describe('two values of a metric', () => {
  test.each<[string, ReturnType<typeof metric>, ReturnType<typeof metric>, boolean]>([
    ['nearly ten times', amount(5000), amount(49_990), false],
    ['ten times', amount(5000), amount(50_000), true],
    ['the same digits for a tenth, rounded', amount(16_379), amount(1638), true],
    ['minor units for major ones', amount(6117), amount(611_700), true],
    ['few minor units, where one unit is a large step', amount(3), amount(45), false],
    ['WTI on 2020-04-17 and on 2020-04-20', amount(1827), amount(-3698), false],
    ['a wrong sign, with a slipped point', amount(1827), amount(-18_270), true],
    ['an asserted zero', amount(412_910), amount(0, { zeroAsserted: true }), false],
    ['two currencies', amount(100), amount(500_000, { currency: 'EUR' }), false],
    ['amounts whose product is not exact', amount(9e15), amount(9e14 - 1e13), true],
    ['400 days apart', amount(1000), amount(90_000, { observedAt: '2027-02-05T00:00:00Z' }), true],
    ['more than that', amount(1000), amount(90_000, { observedAt: '2027-02-06T00:00:00Z' }), false],
    ['scalars further apart', scalar('0.5'), scalar('50.5'), true],
    ['scalars of two units', scalar('12.5'), scalar('12500', 'kg'), false],
    ['scalars across zero', scalar('-0.01'), scalar('5'), false],
    ['money and a scalar', amount(5), scalar('5000'), false],
  ])('%s', (_, one, other, expected) => {
    expect(isOutlier(one, other)).toBe(expected);
    expect(isOutlier(other, one)).toBe(expected);
  });
});

/** The indexes of the last batch's rows that are refused as outliers, and how many queries the batch took. */
async function send(batches: readonly (readonly IngestRecordInput[])[], mode: 'append' | 'correct' = 'append') {
  const ledger = openRecordedLedger();
  let queries = 0;
  const counting = wrappedLedger(ledger, {
    query: (partition, options) => {
      if (options.prefix === OBSERVATION_PREFIX) queries++;
      return ledger.query(partition, options);
    },
  });
  const dependencies = { ledger: counting, nowMs: () => NOW_MS, newAttemptId: () => crypto.randomUUID() };
  await ingest(dependencies, [{ ...market('a') }]);
  let outliers: number[] = [];
  for (const batch of batches) {
    queries = 0;
    const { faults } = await ingest(dependencies, batch, { partial: true, mode });
    expect(faults.filter(({ code }) => code !== 'outlier')).toEqual([]);
    outliers = faults.map(({ index }) => index);
  }
  return { outliers, queries };
}

const NOW_MS = Date.parse('2036-01-01T00:00:00Z');
const at = unconfirmed.bind(null, 'a');
const sure = price.bind(null, 'a');
const retraction = (day: number): IngestRecordInput => {
  const { market, metric, observedAt, sourceUrl } = price('a', day, 1) as ObservationRecord;
  return { type: 'retraction', market, metric, observedAt, sourceUrl, reason: 'a slip' };
};

/**
 * Batches, separated by `;`, of rows: `2=50` is the amount of day 2, and `2!50` with the operator's word; `2=?` is unknown, and `2-`
 * takes it back.
 */
function batchesOf(text: string): readonly (readonly IngestRecordInput[])[] {
  const rowOf = (row: string) => {
    const [, day, sign, amount] = /^(\d+)([=!-])(.*)$/.exec(row) ?? [];
    if (sign === '-') return retraction(Number(day));
    return (sign === '!' ? sure : at)(Number(day), amount === '?' ? null : Number(amount));
  };
  return text.split('; ').map((batch) => batch.split(' ').map(rowOf));
}

const FILE = '0=5000 1=5100 2=5200';
const FILE_BY_100 = '0=500000 1=510000 2=520000';

describe('a row is compared with its nearest neighbour on each side', () => {
  test.each<[string, string, number[]]>([
    ['the first value of a market has none', '0=9000000', []],
    ['a later row has the latest value', '0=5000; 1=500000', [0]],
    ['the operator’s word takes a row in', '0=5000; 1!500000', []],
    ['rows of one batch are compared from the oldest on', '3=729000 2=81000 1=9000 0=1000', []],
    ['a row that is set aside is nobody’s neighbour', '0=5000 1=500000 2=5100', [1]],
    ['rows that are known already count', '0=5000 9=40000; 0=5000 1=400', [1]],
    ['an unknown value is passed over', '0=5000; 1=?; 2=500000', [0]],
    ['a known row is unchanged, however far the latest moved', '0=5000; 1!500000; 0=5000', []],
    ['a backfill far from both sides', '0=100000 9=101000; 5=100500000', [0]],
    ['a backfill beside one that is set aside', '0=5000 9=5100; 4=5000000 5=5050', [0]],
    ['an asserted zero is passed over', '0=5000 1!0; 2=5000000', [0]],
    ['a retracted value is passed over', '0=5000 1!5000000; 1-; 2=5000000', [0]],
    ['one that is retracted in the same batch', '0=5000 1!5000000; 1- 2=5100', []],
  ])('%s', async (_, batches, expected) => {
    expect((await send(batchesOf(batches))).outliers).toEqual(expected);
  });

  test.each<[string, string, number[]]>([
    ['with the value that it replaces', '0=500000; 0=5000', [0]],
    [
      'with it in each row of a file, and a new row with the values that stand',
      `${FILE}; ${FILE_BY_100} 3=530000`,
      [0, 1, 2, 3],
    ],
    ['with it, unless the operator confirms it', '0=5000; 0!500000', []],
    ['not with an unknown value or a zero that it replaces', '0=? 1!0; 0=500000 1=510000', []],
    ['not with a value that was retracted', '0=5000; 0-; 0=500000', []],
    ['and so the next ordinary value is not refused', '0=5000 1=5100; 1=5100000 2=5200', [0]],
    ['with both sides', '0=5000 1=5100 2=5200; 1=5100000', [0]],
    ['not with another wrong value that the batch corrects', '0=5000 1=? 2!5000000; 1=5100 2!5200', []],
    ['with the standing version, not with a superseded one', '0!5000000 1=?; 0!5000; 1=5100', []],
  ])('a correction is compared %s', async (_, batches, expected) => {
    expect((await send(batchesOf(batches), 'correct')).outliers).toEqual(expected);
  });
});

describe('reads of neighbours', () => {
  const history = Array.from({ length: 900 }, (_, day) => at(day * 2, 5000 + day));
  test('a daily feed, and a file that is sent again, take none', async () => {
    expect((await send([history, [at(2000, 5900), at(2001, 5901)]])).queries).toBe(0);
    expect((await send([history, history])).queries).toBe(0);
    expect((await send([history, history], 'correct')).queries).toBe(0);
  });

  test.each([
    ['at most twice', null, 2],
    ['and once more, at most twice, if a row is too far', 700, 4],
  ] as const)('a dense backfill reads the history in pages, %s', async (_, far, times) => {
    const between = Array.from({ length: 800 }, (_, day) => at(day * 2 + 1, day === far ? 5_000_000 : 5000));
    const { outliers, queries } = await send([history, between]);
    expect(outliers).toEqual(far === null ? [] : [far]);
    expect(queries).toBeLessThanOrEqual(times * Math.ceil(history.length / LOOK_AROUND));
  });

  test('they find what a search of the whole history finds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.constantFrom(0, null, 100, 2000, 40_000)), {
          maxLength: 60,
        }),
        fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 12 }),
        async (known, days) => {
          const stored = new Map(known);
          const rows = days.filter((day) => !stored.has(day)).sort((left, right) => left - right);
          const values = [...stored].filter(([, amount]) => amount !== null && amount !== 0);
          const expected = rows.flatMap((day, index) => {
            const [before] = values.filter(([other]) => other < day).sort(([left], [right]) => right - left);
            const [after] = values.filter(([other]) => other > day).sort(([left], [right]) => left - right);
            const isFar = [before, after].some(
              (other) => other !== undefined && isOutlier(amount(2000), amount(other[1])),
            );
            if (!isFar) values.push([day, 2000]);
            return isFar ? [index] : [];
          });
          const { outliers } = await send(
            [[...stored].map(([day, value]) => sure(day, value)), rows.map((day) => at(day, 2000))].filter(
              (batch) => batch.length > 0,
            ),
          );
          expect(rows.length === 0 ? [] : outliers).toEqual(expected);
        },
      ),
      { numRuns: 25 },
    );
  });
});
