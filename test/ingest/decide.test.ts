/** The effect of batches on one market, decision by decision. */
import { describe, expect, test } from 'vitest';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { MarketDecision } from '../../lambdas/markets/market-decision.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { FRESH_MARKS } from '../../storage/records/publication.ts';
import { market, price } from '../publisher/world.ts';
import { createMarketModel } from './market-model.ts';

const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString();

const scalar = (value: string | null, extra: object = {}): IngestRecordInput => ({
  type: 'observation',
  market: 'a',
  metric: 'volume',
  value,
  unit: 'tonne',
  sourceLabel: 'a test',
  sourceUrl: 'https://example.com/a',
  observedAt: day(0),
  confidence: 'low',
  status: 'estimated',
  unknownReason: value === null ? 'withheld' : null,
  ...extra,
});

function but(record: IngestRecordInput, fields: object): IngestRecordInput {
  return { ...record, ...fields } as IngestRecordInput;
}

function outcomesOf({ outcomes }: MarketDecision): string[] {
  return [...outcomes].map(([, outcome]) =>
    outcome.kind === 'refused' ? `${outcome.error.code} ${outcome.error.pointer}` : outcome.kind,
  );
}

type Batch = readonly [records: readonly IngestRecordInput[], mode?: IngestMode];

const DEFINED: Batch = [[market('a')]];
const KNOWN: Batch = [[market('a'), price('a', 0, 1)]];
const CORRECTED: Batch = [[price('a', 0, 2)], 'correct'];

/** The batches are decided in order. The outcomes are those of the last batch. */
describe('the outcome of each row of the last batch', () => {
  const rows: readonly [title: string, batches: readonly Batch[], expected: readonly string[]][] = [
    ['a new market is accepted', [DEFINED], ['accepted']],
    ['the same definition again is unchanged', [DEFINED, DEFINED], ['unchanged']],
    ['a definition and its prices in one batch', [KNOWN], ['accepted', 'accepted']],
    ['a price of an undefined market', [[[price('a', 0, 1)]]], ['market.unknown /market']],
    ['the same price again is unchanged', [KNOWN, [[price('a', 0, 1)]]], ['unchanged']],
    [
      'the same instant in another spelling is the same observation',
      [KNOWN, [[but(price('a', 0, 1), { observedAt: '2026-01-01T00:00:00Z' })]]],
      ['unchanged'],
    ],
    [
      'another price of the same day from the same source is a conflict',
      [KNOWN, [[price('a', 0, 2)]]],
      ['conflict.existing '],
    ],
    [
      'the same price with another confidence is a conflict too',
      [KNOWN, [[but(price('a', 0, 1), { confidence: 'low' })]]],
      ['conflict.existing '],
    ],
    ['an unknown value where a price is known is a conflict', [KNOWN, [[price('a', 0, null)]]], ['conflict.existing ']],
    [
      'another price of the same day from another source is a second observation',
      [KNOWN, [[but(price('a', 0, 2), { sourceUrl: 'https://example.com/other' })]]],
      ['accepted'],
    ],
    ['another metric of the same day is a second observation', [KNOWN, [[scalar('5')]]], ['accepted']],
    ['a correction supersedes', [KNOWN, CORRECTED], ['accepted']],
    ['a correction without an earlier version is a first observation', [DEFINED, CORRECTED], ['accepted']],
    ['a correction to the known value is unchanged', [KNOWN, [[price('a', 0, 1)], 'correct']], ['unchanged']],
    [
      'a correction back to an earlier value is a new version',
      [KNOWN, CORRECTED, [[price('a', 0, 1)], 'correct']],
      ['accepted'],
    ],
    [
      'the appended row again, after a correction, is unchanged',
      [KNOWN, CORRECTED, [[price('a', 0, 1)]]],
      ['unchanged'],
    ],
    ['the corrected value, appended, is unchanged', [KNOWN, CORRECTED, [[price('a', 0, 2)]]], ['unchanged']],
    [
      'a value that is neither the first nor the newest is a conflict',
      [KNOWN, CORRECTED, [[price('a', 0, 3)], 'correct'], [[price('a', 0, 2)]]],
      ['conflict.existing '],
    ],
    ['a new name is accepted', [DEFINED, [[but(market('a'), { name: 'Other' })]]], ['accepted']],
    [
      'a new name of a market with observations is accepted',
      [KNOWN, [[but(market('a'), { name: 'Other' })]]],
      ['accepted'],
    ],
    [
      'another currency, while there are no observations',
      [DEFINED, [[market('a', 'EUR'), price('a', 0, 1, 'EUR')]]],
      ['accepted', 'accepted'],
    ],
    [
      'another currency, once there are observations',
      [KNOWN, [[market('a', 'EUR')]]],
      ['conflict.existing /nativeCurrency'],
    ],
    [
      'another unit, once there are observations',
      [KNOWN, [[but(market('a'), { unit: { quantity: 100, of: 'unit' } })]]],
      ['conflict.existing /unit'],
    ],
    [
      'a price in the currency of a refused definition',
      [KNOWN, [[market('a', 'EUR'), price('a', 1, 2, 'EUR'), price('a', 2, 3)]]],
      ['conflict.existing /nativeCurrency', 'currency.not-native /currency', 'accepted'],
    ],
    [
      'another metric may be in another currency',
      [[[market('a'), but(price('a', 0, 1, 'EUR'), { metric: 'marketCap' })]]],
      ['accepted', 'accepted'],
    ],
    [
      'more metrics than a record holds',
      [[[market('a'), ...Array.from({ length: 41 }, (_, index) => scalar('5', { metric: `m${index}` }))]]],
      ['accepted', ...Array.from({ length: 40 }, () => 'accepted'), 'record.invalid /metric'],
    ],
  ];

  test.each(rows)('%s', (_, batches, expected) => {
    const model = createMarketModel('a');
    const decisions = batches.map(([records, mode]) => model.decide(records, mode));
    expect(outcomesOf(decisions.at(-1) as MarketDecision)).toEqual(expected);
  });
});

describe('an unchanged or refused row changes nothing', () => {
  const rows: readonly [title: string, record: IngestRecordInput, mode: IngestMode, checked: readonly string[]][] = [
    ['the same definition: it must still be so', market('a'), 'append', ['record']],
    ['the same price', price('a', 0, 1), 'append', []],
    ['the same price in a correcting batch: it must be the newest', price('a', 0, 1), 'correct', ['the next version']],
    ['a conflict', price('a', 0, 2), 'append', []],
    ['a refused definition', market('a', 'EUR'), 'append', []],
  ];

  test.each(rows)('%s', (_, record, mode, checked) => {
    const model = createMarketModel('a');
    model.decide([market('a'), price('a', 0, 1)]);
    const { record: written, changes } = model.decide([record], mode);
    expect(written).toBeNull();
    expect(changes.every(({ kind }) => kind === 'check')).toBe(true);
    expect(changes.map(({ key }) => (key.sort.endsWith('/0001') ? 'the next version' : key.sort))).toEqual(checked);
  });
});

describe('closed pages are marked exactly if a row is not appended', () => {
  const before: readonly Batch[] = [[[market('a'), price('a', 3, 3), price('a', 5, 5)]]];
  const rows: readonly [title: string, batch: Batch, fromDay: number | null][] = [
    ['an append', [[price('a', 6, 6)]], null],
    ['two appends, the newer one first', [[price('a', 8, 8), price('a', 7, 7)]], null],
    ['a redefinition', [[but(market('a'), { name: 'Other' })]], null],
    ['an unchanged row', [[price('a', 3, 3)]], null],
    ['an older observation', [[price('a', 4, 4)]], 4],
    [
      'an append and two older observations: from the oldest on',
      [[price('a', 6, 6), price('a', 4, 4), price('a', 1, 1)]],
      1,
    ],
    ['a correction of the newest', [[price('a', 5, 55)], 'correct'], 5],
    ['a correction of an older one', [[price('a', 3, 33), price('a', 6, 6)], 'correct'], 3],
  ];

  test.each(rows)('%s', (_, [records, mode], fromDay) => {
    const model = createMarketModel('a');
    for (const batch of before) model.decide(...batch);
    const { changes } = model.decide(records, mode);
    const marks = changes.map(({ key }) => key).filter(({ partition }) => FRESH_MARKS.shards.includes(partition));
    const histories = marks.map(({ sort }) => sort).filter((sort) => sort.startsWith('history/'));
    expect(histories.map((sort) => sort.split('/')[2])).toEqual(fromDay === null ? [] : [day(fromDay)]);
    expect(marks.some(({ sort }) => sort === 'market/a')).toBe(changes.length > 0);
  });

  test('the first batch of a market marks no page, in any order of rows', () => {
    const { changes } = createMarketModel('a').decide([market('a'), price('a', 3, 3), price('a', 1, 1)]);
    expect(changes.map(({ key }) => key).filter(({ sort }) => sort.startsWith('history/'))).toEqual([]);
  });
});

test('a row may correct an earlier row of the same decision', () => {
  const model = createMarketModel('a');
  const { changes } = model.decide([market('a'), price('a', 0, 1), price('a', 0, 2)], 'correct');
  expect(model.observations()).toMatchObject([{ amountMinor: 1 }, { amountMinor: 2 }]);
  const keys = changes.map(({ key }) => `${key.partition} ${key.sort}`);
  expect(new Set(keys).size).toBe(keys.length);
});

describe('the sources of a market', () => {
  const bank = { label: 'A bank', url: 'https://bank.example', publisher: null, licence: null, attribution: null };
  const sources = (...definitions: readonly object[]) => {
    const model = createMarketModel('a');
    for (const fields of definitions) model.decide([but(market('a'), fields)]);
    return model.record().sources;
  };

  test('stay if a later definition leaves them out', () => {
    expect(sources({ sources: [bank] }, { name: 'Other' })).toEqual([bank]);
  });

  test('go if it gives an empty list', () => {
    expect(sources({ sources: [bank] }, { sources: [] })).toEqual([]);
  });

  test('bring their cadence, which stays with them and goes with them', () => {
    const cadence = { graceSeconds: 0, holidays: [], minutes: 5, period: 'minutes', weekdays: ['mon'] };
    const timed = { ...bank, cadence };
    expect(sources({ sources: [timed] }, { name: 'Other' })).toEqual([timed]);
    expect(sources({ sources: [timed] }, { sources: [bank] })).toEqual([bank]);
    expect(sources({ sources: [bank] }, { sources: [timed] })).toEqual([timed]);
    expect(sources({ sources: [{ ...bank, cadence: null }] })).toEqual([bank]);
  });

  test('without a cadence are the same as with null for it', () => {
    const model = createMarketModel('a');
    model.decide([but(market('a'), { sources: [bank] })]);
    const { outcomes } = model.decide([but(market('a'), { sources: [{ ...bank, cadence: null }] })]);
    expect([...outcomes.values()]).toEqual([{ kind: 'unchanged' }]);
  });

  test('are none at first', () => {
    expect(sources({})).toEqual([]);
  });
});

test('of several sources at one moment, the one with the greatest digest of its URL is shown, in any order of arrival', () => {
  const urls = ['one', 'two', 'three', 'four'].map((name) => `https://example.com/${name}`);
  const greatest = urls.toSorted((left, right) => (sha256Hex(left) < sha256Hex(right) ? 1 : -1))[0];
  for (const arrival of [urls, urls.toReversed()]) {
    const model = createMarketModel('a');
    model.decide([market('a')]);
    for (const sourceUrl of arrival) model.decide([but(price('a', 0, 5000), { sourceUrl })]);
    expect(model.record().latest.price?.metric.sourceUrl).toBe(greatest);
  }
});
