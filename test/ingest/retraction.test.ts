/** The effect of retractions and corrections on an observation and on disputes about it. */
import { describe, expect, test } from 'vitest';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { parseRecord } from '../../lambdas/markets/rules/row-rules.ts';
import type { MarketStanding } from '../../storage/records/markets.ts';
import { market, price } from '../publisher/world.ts';
import { createMarketModel } from './market-model.ts';

type Identity = { market: string; metric: string; observedAt: string; sourceUrl: string };

function retractionOf(record: IngestRecordInput, fields: object = {}): IngestRecordInput {
  const { market, metric, observedAt, sourceUrl } = record as Identity;
  return {
    type: 'retraction',
    market,
    metric,
    observedAt,
    sourceUrl,
    reason: 'a misprint',
    ...fields,
  } as IngestRecordInput;
}

const sourced = { ...price('a', 0, 6117), sourceValue: '61.1749', rounded: true } as IngestRecordInput;

describe('a retraction', () => {
  test.each<IngestMode>(['append', 'correct'])('supersedes with a withheld value in a batch of mode %s', (mode) => {
    const model = createMarketModel('a');
    model.decide([market('a'), sourced]);
    model.decide([retractionOf(sourced)], mode);
    const [first, second] = model.observations();
    expect(first).toMatchObject({
      amountMinor: 6117,
      sourceValue: '61.1749',
      supersededAt: second?.recordedAt,
      supersededBy: second?.id,
    });
    expect(second).toEqual({
      amountMinor: null,
      confidence: 'high',
      currency: 'USD',
      id: second?.id,
      kind: 'money',
      metric: 'price',
      observedAt: '2026-01-01T00:00:00Z',
      recordedAt: '2026-10-01T12:00:00.000Z',
      releasedAt: null,
      retraction: null,
      rounded: false,
      sourceLabel: 'a test',
      sourceUrl: 'https://example.com/a',
      sourceValue: null,
      status: 'final',
      supersededAt: null,
      supersededBy: null,
      supersedes: first?.id,
      unknownReason: 'withheld',
    });
    expect(model.record()).toMatchObject({
      revision: 2,
      unknownValues: 1,
      latest: { price: { metric: { amountMinor: null } } },
    });
  });

  test('of another kind is refused', () => {
    const parsed = parseRecord(retractionOf(sourced, { kind: 'typo' }));
    expect('errors' in parsed && parsed.errors.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      'record.invalid /kind',
    ]);
  });

  describe('of the kind', () => {
    const released = { ...price('a', 1, 7000), releasedAt: '2026-01-02T14:30:00Z' } as IngestRecordInput;
    const retractedAs = (...kinds: readonly (string | undefined)[]) => {
      const model = createMarketModel('a');
      model.decide([market('a'), sourced, released]);
      const outcomes = kinds.map((kind) => {
        const { outcomes } = model.decide([retractionOf(released, kind === undefined ? {} : { kind })]);
        return outcomes.get(0)?.kind;
      });
      return { model, outcomes, shown: model.record().latest.price?.metric, last: model.observations().at(-1) };
    };

    test('withdrawn shows as unknown: nothing is known of its release', () => {
      const { model, shown, last } = retractedAs('withdrawn');
      const unknown = { amountMinor: null, sourceValue: null, releasedAt: null, unknownReason: 'withheld' };
      expect(last).toMatchObject({ ...unknown, retraction: 'withdrawn' });
      expect(shown).toMatchObject({ ...unknown, observedAt: '2026-01-02T00:00:00Z' });
      expect(model.observations()[1]).toMatchObject({ amountMinor: 7000, releasedAt: '2026-01-02T14:30:00Z' });
    });

    test('mistake is skipped, and the value before it shows again', () => {
      const { model, shown, last } = retractedAs('mistake');
      expect(last).toMatchObject({ amountMinor: null, unknownReason: 'not-applicable', retraction: 'mistake' });
      expect(shown).toMatchObject({ amountMinor: 6117, observedAt: '2026-01-01T00:00:00Z' });
      expect(model.record()).toMatchObject({ observations: 3, lastObservedAt: '2026-01-02T00:00:00Z' });
    });

    test('mistake of the only value: nobody looked', () => {
      const model = createMarketModel('a');
      model.decide([market('a'), sourced]);
      model.decide([retractionOf(sourced, { kind: 'mistake' })]);
      expect(model.record().latest).toEqual({});
    });

    test.each([
      ['mistake mistake', 'unchanged'],
      ['withdrawn withdrawn', 'unchanged'],
      ['unsaid mistake', 'accepted'],
      ['unsaid withdrawn', 'accepted'],
      ['withdrawn mistake', 'accepted'],
      ['mistake withdrawn', 'accepted'],
      ['mistake unsaid', 'unchanged'],
      ['withdrawn unsaid', 'unchanged'],
    ])('%s: the second one is %s, because one without a kind says nothing new', (kinds, second) => {
      const { outcomes } = retractedAs(...kinds.split(' ').map((kind) => (kind === 'unsaid' ? undefined : kind)));
      expect(outcomes).toEqual(['accepted', second]);
    });

    test('mistake is undone by a correction, also by one to an unknown value of the same reason', () => {
      for (const row of [
        { ...released, reinstated: true } as IngestRecordInput,
        { ...price('a', 1, null), unknownReason: 'not-applicable' } as IngestRecordInput,
      ]) {
        const { model } = retractedAs('mistake');
        expect(model.decide([row], 'correct').outcomes.get(0)?.kind).toBe('accepted');
        expect(model.record().latest.price?.metric.observedAt).toBe('2026-01-02T00:00:00Z');
      }
    });
  });

  describe('whose value its source goes on giving', () => {
    const wrong = price('a', 1, 999);
    const kinds = ['mistake', 'withdrawn'] as const;

    function retractedOnce(...more: readonly IngestRecordInput[]) {
      const model = createMarketModel('a');
      model.decide([market('a'), price('a', 0, 6117), price('a', 1, 6200)]);
      model.decide([wrong], 'correct');
      model.decide(more);
      return model;
    }

    test.each(kinds)('stays retracted, of the kind %s', (kind) => {
      const model = retractedOnce(retractionOf(wrong, { kind }));
      for (let day = 0; day < 2; day++) {
        expect(model.decide([wrong], 'correct').outcomes.get(0)?.kind).toBe('unchanged');
      }
      expect(model.observations()).toHaveLength(4);
    });

    test('stays retracted after two retractions of several kinds', () => {
      const model = retractedOnce(retractionOf(wrong, { kind: 'withdrawn' }));
      model.decide([retractionOf(wrong, { kind: 'mistake' })]);
      expect(model.decide([wrong], 'correct').outcomes.get(0)?.kind).toBe('unchanged');
    });

    test('is shown again when the sender says that it is reinstated', () => {
      const model = retractedOnce(retractionOf(wrong, { kind: 'mistake' }));
      const row = { ...wrong, reinstated: true } as IngestRecordInput;
      expect(model.decide([row], 'correct').outcomes.get(0)?.kind).toBe('accepted');
      expect(model.record().latest.price?.metric).toMatchObject({ amountMinor: 999 });
    });

    test('is corrected by another value, without a word', () => {
      const model = retractedOnce(retractionOf(wrong, { kind: 'mistake' }));
      expect(model.decide([price('a', 1, 6210)], 'correct').outcomes.get(0)?.kind).toBe('accepted');
      expect(model.record().latest.price?.metric).toMatchObject({ amountMinor: 6210 });
    });
  });

  const scalar = {
    type: 'observation',
    market: 'a',
    metric: 'volume',
    value: '12.5',
    unit: 'tonne',
    sourceLabel: 'a test',
    sourceUrl: 'https://example.com/a',
    observedAt: '2026-01-01T00:00:00Z',
    confidence: 'low',
    status: 'estimated',
  } as const;

  test('of a scalar keeps its unit', () => {
    const model = createMarketModel('a');
    model.decide([market('a'), scalar]);
    model.decide([retractionOf(scalar)]);
    expect(model.observations()[1]).toMatchObject({ value: null, unit: 'tonne', unknownReason: 'withheld' });
  });

  test.each<[string, readonly (readonly IngestRecordInput[])[], readonly string[]]>([
    ['of an unknown observation', [[retractionOf(price('a', 7, 1))]], ['observation.unknown']],
    ['of another source', [[retractionOf(sourced, { sourceUrl: 'https://example.com/b' })]], ['observation.unknown']],
    ['once more', [[retractionOf(sourced)], [retractionOf(sourced)]], ['unchanged']],
    ['of an unknown value', [[price('a', 1, null)], [retractionOf(price('a', 1, null))]], ['accepted']],
    ['and then the retracted row again', [[retractionOf(sourced)], [sourced]], ['unchanged']],
    ['and then another value', [[retractionOf(sourced)], [price('a', 0, 1)]], ['conflict.existing']],
  ])('%s', (_, batches, expected) => {
    const model = createMarketModel('a');
    model.decide([market('a'), sourced]);
    const outcomes = batches.map((batch) => model.decide(batch).outcomes).at(-1) ?? new Map();
    expect(
      [...outcomes.values()].map((outcome) => (outcome.kind === 'refused' ? outcome.error.code : outcome.kind)),
    ).toEqual(expected);
  });

  test.each<[string, object, string[]]>([
    ['no reason', { reason: undefined }, ['record.invalid /reason']],
    ['a blank reason', { reason: '  ' }, ['record.invalid /reason']],
    ['a reason of 501 characters', { reason: 'x'.repeat(501) }, ['record.invalid /reason']],
    ['a value', { amountMinor: 1 }, ['record.invalid /amountMinor']],
    ['no metric', { metric: undefined }, ['record.invalid /metric']],
  ])('with %s is refused', (_, fields, expected) => {
    const parsed = parseRecord(retractionOf(sourced, fields));
    expect('errors' in parsed && parsed.errors.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual(expected);
  });
});

describe('a dispute about a metric', () => {
  const disputed = 'claim_1';
  const standing = (fields: Partial<MarketStanding> = {}): MarketStanding => ({
    representedBy: null,
    disputes: { price: disputed },
    comparisons: {},
    verifications: {},
    ...fields,
  });
  const before = [market('a'), price('a', 0, 100), price('a', 1, 101)];

  function standingAfter(given: MarketStanding, record: IngestRecordInput, mode: IngestMode = 'append') {
    const model = createMarketModel('a');
    model.decide(before);
    model.give(given);
    model.decide([record], mode);
    return model.record().standing;
  }

  test.each<[string, IngestRecordInput]>([
    ['a correction', price('a', 1, 102)],
    ['a retraction', retractionOf(price('a', 1, 101))],
  ])('ends with %s of its latest observation', (_, record) => {
    expect(standingAfter(standing({ disputes: { price: disputed, volume: disputed } }), record, 'correct')).toEqual(
      standing({ disputes: { volume: disputed } }),
    );
  });

  test('leaves no standing if it becomes empty', () => {
    expect(standingAfter(standing(), price('a', 1, 102), 'correct')).toBeUndefined();
  });

  test.each<[string, Partial<MarketStanding>]>([
    ['representation', { representedBy: { name: 'Example Ltd', claim: 'claim_2' } }],
    [
      'verifications',
      {
        verifications: {
          'https://example.com/a': { outcome: 'mismatch', verifiedAt: '2026-01-03T00:00:00Z', subject: 'source' },
        },
      },
    ],
  ])('%s stays', (_, fields) => {
    const given = standing(fields);
    expect(standingAfter(given, price('a', 1, 102), 'correct')).toEqual({ ...given, disputes: {} });
  });

  test.each<[string, IngestRecordInput, IngestMode]>([
    ['a newer observation', price('a', 2, 102), 'append'],
    ['a correction of an older one', price('a', 0, 99), 'correct'],
    ['an unchanged row', price('a', 1, 101), 'correct'],
    ['a new name', { ...market('a'), name: 'Other' } as IngestRecordInput, 'append'],
  ])('is not changed by %s', (_, record, mode) => {
    expect(standingAfter(standing(), record, mode)).toEqual(standing());
  });

  test('is not changed in the item that was read', () => {
    const given = standing({ disputes: { price: disputed, volume: disputed } });
    const copy = structuredClone(given);
    standingAfter(given, price('a', 1, 102), 'correct');
    expect(given).toEqual(copy);
  });
});
