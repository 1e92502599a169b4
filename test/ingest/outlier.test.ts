import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest-records.ts';
import { metricOfRecord } from '../../lambdas/markets/observation-value.ts';
import { isOutlier } from '../../lambdas/markets/outlier.ts';
import { parseRecord } from '../../lambdas/markets/row-rules.ts';
import { market, price } from '../publisher/world.ts';
import { createMarketModel } from './market-model.ts';

const unconfirmed = (slug: string, day: number, amountMinor: number | null) =>
  ({ ...price(slug, day, amountMinor), outlierConfirmed: false }) as IngestRecordInput;

function metric(fields: object) {
  const parsed = parseRecord(JSON.parse(JSON.stringify({ ...price('a', 0, 1), ...fields })));
  if (!('record' in parsed) || parsed.record.type !== 'observation')
    throw new Error('the test’s own record is refused');
  return metricOfRecord(parsed.record);
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
    ['the same', amount(5000), amount(5000), false],
    ['ten times', amount(5000), amount(50_000), false],
    ['more than ten times', amount(5000), amount(50_001), true],
    ['a slipped point and a little', amount(612), amount(6130), true],
    ['minor units for major ones', amount(6117), amount(611_700), true],
    ['few minor units, where one unit is a large step', amount(3), amount(45), false],
    ['few minor units, and many', amount(3), amount(4500), true],
    ['WTI on 2020-04-17 and on 2020-04-20', amount(1827), amount(-3698), false],
    ['a wrong sign, with a slipped point', amount(1827), amount(-18_270), true],
    ['negative amounts, one more than ten times the other', amount(-500), amount(-5001), true],
    ['an asserted zero', amount(412_910), amount(0, { zeroAsserted: true }), false],
    ['an unknown value', amount(5000), amount(null), false],
    ['two currencies', amount(100), amount(500_000, { currency: 'EUR' }), false],
    ['amounts whose product is not exact', amount(9e15), amount(9e14 - 1e13), true],
    ['400 days apart', amount(1000), amount(90_000, { observedAt: '2027-02-05T00:00:00Z' }), true],
    ['more than that', amount(1000), amount(90_000, { observedAt: '2027-02-06T00:00:00Z' }), false],
    ['scalars a hundred times apart', scalar('0.5'), scalar('50'), false],
    ['scalars further apart', scalar('0.5'), scalar('50.5'), true],
    ['kilograms for tonnes', scalar('12.5'), scalar('12600'), true],
    ['scalars of two units', scalar('12.5'), scalar('12500', 'kg'), false],
    ['scalars across zero', scalar('-0.01'), scalar('5'), false],
    ['a scalar that is unknown', scalar('5'), scalar(null), false],
    ['money and a scalar', amount(5), scalar('5000'), false],
  ])('%s', (_, one, other, expected) => {
    expect(isOutlier(one, other)).toBe(expected);
    expect(isOutlier(other, one)).toBe(expected);
  });
});

describe('a row is compared with its neighbours in time', () => {
  const outcomes = (batches: readonly (readonly IngestRecordInput[])[], mode: 'append' | 'correct' = 'append') => {
    const model = createMarketModel('a');
    model.decide([{ ...market('a') }]);
    const decisions = batches.map((batch) => model.decide(batch, mode));
    const last = decisions.at(-1)?.outcomes ?? new Map();
    return [...last]
      .sort(([left], [right]) => left - right)
      .map(([, outcome]) => (outcome.kind === 'refused' ? outcome.error.code : outcome.kind));
  };

  test('but the first value of a market is not', () => {
    expect(outcomes([[unconfirmed('a', 0, 9_000_000)]])).toEqual(['accepted']);
  });

  test('a later row: with the market’s latest value', () => {
    expect(outcomes([[unconfirmed('a', 0, 5000)], [unconfirmed('a', 1, 500_000)]])).toEqual(['outlier']);
  });

  test('an outlier is accepted if the operator confirms it', () => {
    expect(outcomes([[unconfirmed('a', 0, 5000)], [price('a', 1, 500_000)]])).toEqual(['accepted']);
  });

  test('after a confirmed outlier, the new level is the latest', () => {
    expect(outcomes([[unconfirmed('a', 0, 5000)], [price('a', 1, 500_000)], [unconfirmed('a', 2, 510_000)]])).toEqual([
      'accepted',
    ]);
  });

  test('rows of one batch: with each other from the oldest on, in any order of rows', () => {
    const climb = [0, 1, 2, 3].map((day) => unconfirmed('a', day, 1000 * 9 ** day));
    expect(outcomes([climb.toReversed()])).toEqual(['accepted', 'accepted', 'accepted', 'accepted']);
  });

  test('but not with a refused row', () => {
    const rows = [unconfirmed('a', 0, 5000), unconfirmed('a', 1, 500_000), unconfirmed('a', 2, 5100)];
    expect(outcomes([rows])).toEqual(['accepted', 'outlier', 'accepted']);
  });

  test('also with a row that is unchanged', () => {
    const known = unconfirmed('a', 0, 5000);
    expect(
      outcomes([
        [known, unconfirmed('a', 9, 40_000)],
        [known, unconfirmed('a', 1, 400)],
      ]),
    ).toEqual(['unchanged', 'outlier']);
  });

  test('but not with an unknown value in between', () => {
    expect(
      outcomes([[unconfirmed('a', 0, 5000)], [unconfirmed('a', 1, null)], [unconfirmed('a', 2, 500_000)]]),
    ).toEqual(['outlier']);
  });

  test('a known row that is sent again is unchanged, however far the latest has moved', () => {
    const first = unconfirmed('a', 0, 5000);
    expect(outcomes([[first], [price('a', 1, 500_000)], [first]])).toEqual(['unchanged']);
  });

  test('a correction: not with the version that it corrects', () => {
    const batches = [[unconfirmed('a', 0, 500_000)], [unconfirmed('a', 0, 5000)]];
    expect(outcomes(batches, 'correct')).toEqual(['accepted']);
  });
});
