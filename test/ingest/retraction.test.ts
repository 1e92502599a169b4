/** The effect of retractions and corrections on an observation and on disputes about it. */
import { describe, expect, test } from 'vitest';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { MarketStanding } from '../../storage/records/markets.ts';
import { market, price } from '../publisher/world.ts';
import { type Desk, openDesk } from './desk.ts';

type Identity = { market: string; metric: string; observedAt: string; sourceUrl: string };

function retractionOf(record: IngestRecordInput, fields: object = {}): unknown {
  const { market, metric, observedAt, sourceUrl } = record as Identity;
  return { type: 'retraction', market, metric, observedAt, sourceUrl, reason: 'a misprint', ...fields };
}

const sourced = { ...price('a', 0, 6117), sourceValue: '61.1749', rounded: true } as IngestRecordInput;
const released = { ...price('a', 1, 7000), releasedAt: '2026-01-02T14:30:00Z' } as IngestRecordInput;
const reinstated = (record: IngestRecordInput): unknown => ({ ...record, reinstated: true });

async function deskWith(...records: readonly unknown[]): Promise<Desk> {
  const desk = openDesk();
  expect((await desk.send([market('a'), ...records])).faults).toEqual([]);
  return desk;
}

const shownOn = async (desk: Desk) => (await desk.record()).latest.price?.metric;

describe('a retraction', () => {
  test.each<IngestMode>(['append', 'correct'])(
    'supersedes with a withheld value in a batch of mode %s',
    async (mode) => {
      const desk = await deskWith(sourced);
      await desk.outcome(retractionOf(sourced), mode);
      const [first, second] = await desk.observations();
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
      expect(await desk.record()).toMatchObject({ revision: 2, unknownValues: 1 });
      expect(await shownOn(desk)).toMatchObject({ amountMinor: null });
    },
  );

  test('of the kind withdrawn shows as unknown: nothing is known of its release', async () => {
    const desk = await deskWith(sourced, released);
    await desk.outcome(retractionOf(released, { kind: 'withdrawn' }));
    const unknown = { amountMinor: null, sourceValue: null, releasedAt: null, unknownReason: 'withheld' };
    const [, before, last] = await desk.observations();
    expect(last).toMatchObject({ ...unknown, retraction: 'withdrawn' });
    expect(before).toMatchObject({ amountMinor: 7000, releasedAt: '2026-01-02T14:30:00Z' });
    expect(await shownOn(desk)).toMatchObject({ ...unknown, observedAt: '2026-01-02T00:00:00Z' });
  });

  test('of the kind mistake is skipped, and the value before it shows again', async () => {
    const desk = await deskWith(sourced, released);
    await desk.outcome(retractionOf(released, { kind: 'mistake' }));
    const last = (await desk.observations()).at(-1);
    expect(last).toMatchObject({ amountMinor: null, unknownReason: 'not-applicable', retraction: 'mistake' });
    expect(await shownOn(desk)).toMatchObject({ amountMinor: 6117, observedAt: '2026-01-01T00:00:00Z' });
    expect(await desk.record()).toMatchObject({ observations: 3, lastObservedAt: '2026-01-02T00:00:00Z' });
  });

  const scalar = { ...price('a', 0, 1), ...{ amountMinor: undefined, currency: undefined } } as object;
  const volume = { ...scalar, metric: 'volume', value: '12.5', unit: 'tonne' } as IngestRecordInput;

  test('of a scalar keeps its unit', async () => {
    const desk = await deskWith(volume);
    await desk.outcome(retractionOf(volume));
    const [, last] = await desk.observations();
    expect(last).toMatchObject({ value: null, unit: 'tonne', unknownReason: 'withheld' });
  });
});

/** Rows one by one, after two values; the outcome of the last one, and the amount that the market shows then. */
describe('after a retraction, a row', () => {
  const wrong = price('a', 1, 999);
  const retract = (kind?: string) => retractionOf(wrong, kind === undefined ? {} : { kind });
  const notApplicable = { ...price('a', 1, null), unknownReason: 'not-applicable' };

  test.each<[string, readonly unknown[], outcome: string, shown: number | null]>([
    ['that retracts a mistake again', [retract('mistake'), retract('mistake')], 'unchanged', 6117],
    ['that withdraws it again', [retract('withdrawn'), retract('withdrawn')], 'unchanged', null],
    ['that says the kind', [retract(), retract('mistake')], 'accepted', 6117],
    ['that changes the kind', [retract('withdrawn'), retract('mistake')], 'accepted', 6117],
    ['that changes it the other way', [retract('mistake'), retract('withdrawn')], 'accepted', null],
    ['without a kind says nothing new of a mistake', [retract('mistake'), retract()], 'unchanged', 6117],
    ['that its source goes on giving stays a mistake', [retract('mistake'), wrong, wrong], 'unchanged', 6117],
    ['that its source goes on giving stays withdrawn', [retract('withdrawn'), wrong, wrong], 'unchanged', null],
    ['that is reinstated shows again', [retract('mistake'), reinstated(wrong)], 'accepted', 999],
    ['with another value needs no such word', [retract('mistake'), price('a', 1, 6210)], 'accepted', 6210],
    ['that is unknown for the same reason shows it', [retract('mistake'), notApplicable], 'accepted', null],
  ])('%s', async (_, rows, outcome, shown) => {
    const desk = await deskWith(price('a', 0, 6117), price('a', 1, 6200));
    await desk.outcome(wrong, 'correct');
    const outcomes: string[] = [];
    for (const row of rows) outcomes.push(await desk.outcome(row, 'correct'));
    expect([outcomes.at(-1), await shownOn(desk)]).toEqual([outcome, expect.objectContaining({ amountMinor: shown })]);
    const accepted = outcomes.filter((each) => each === 'accepted').length;
    expect(await desk.observations()).toHaveLength(3 + accepted);
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

  async function standingAfter(given: MarketStanding, record: unknown, mode: IngestMode = 'append') {
    const desk = await deskWith(price('a', 0, 100), price('a', 1, 101));
    await desk.give(given);
    await desk.outcome(record, mode);
    return (await desk.record()).standing;
  }

  test.each<[string, unknown]>([
    ['a correction', price('a', 1, 102)],
    ['a retraction', retractionOf(price('a', 1, 101))],
  ])('ends with %s of its latest observation', async (_, record) => {
    const both = standing({ disputes: { price: disputed, volume: disputed } });
    expect(await standingAfter(both, record, 'correct')).toEqual(standing({ disputes: { volume: disputed } }));
  });

  test('leaves no standing if it becomes empty', async () => {
    expect(await standingAfter(standing(), price('a', 1, 102), 'correct')).toBeUndefined();
  });

  const shown = { outcome: 'mismatch', verifiedAt: '2026-01-03T00:00:00Z', subject: 'source' } as const;
  test.each<[string, Partial<MarketStanding>]>([
    ['representation', { representedBy: { name: 'Example Ltd', claim: 'claim_2' } }],
    ['verifications', { verifications: { 'https://example.com/a': shown } }],
  ])('%s stays', async (_, fields) => {
    const given = standing(fields);
    expect(await standingAfter(given, price('a', 1, 102), 'correct')).toEqual({ ...given, disputes: {} });
  });

  test.each<[string, unknown, IngestMode]>([
    ['a newer observation', price('a', 2, 102), 'append'],
    ['a correction of an older one', price('a', 0, 99), 'correct'],
    ['an unchanged row', price('a', 1, 101), 'correct'],
  ])('is not changed by %s', async (_, record, mode) => {
    expect(await standingAfter(standing(), record, mode)).toEqual(standing());
  });
});
