/** A market says when it expects the next value of each of its sources, by the records alone. */
import { describe, expect, test } from 'vitest';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { createWorld, market, price, retraction, SMALL_PAGES } from './world.ts';

const DAILY = { period: 'day', releaseTime: '15:00', graceSeconds: 3600 } as const;
const HOURLY = { period: 'minutes', minutes: 60, graceSeconds: 0 } as const;

function source(label: string, cadence?: object | null) {
  const url = `https://example.com/${encodeURIComponent(label)}`;
  const fields = { label, url, publisher: null, licence: null, attribution: null };
  return cadence === undefined ? fields : { ...fields, cadence };
}

const defined = (sources: readonly object[], fields: object = {}) =>
  ({ ...(market('a') as object), sources, ...fields }) as IngestRecordInput;

/** A price on day `day` of 2026, beginning with 0. */
function value(day: number, fields: object = {}): IngestRecordInput {
  return { ...(price('a', day, 100 + day) as object), ...fields } as IngestRecordInput;
}

const VOLUME = { metric: 'volume', value: '1', unit: 'lots', amountMinor: undefined, currency: undefined } as const;

const taking = (day: number, kind: 'mistake' | 'withdrawn') => retraction(value(day), { kind });

type Batch = readonly [IngestMode, ...(readonly IngestRecordInput[])];

/** The moments of all sources, after `verify` has found nothing. */
async function expectedAfter(...batches: readonly Batch[]): Promise<readonly (string | null)[]> {
  const world = createWorld();
  for (const [mode, ...records] of batches) await world.ingest(records.map(withoutUndefined), mode);
  await world.publish();
  const read = world.read;
  const { findings } = await verify(read, { pageSizes: SMALL_PAGES, settled: true });
  expect(findings).toEqual([]);
  const { sources } = JSON.parse(Buffer.from((await read('/api/v1/markets/a')).body).toString());
  return sources.map(({ expectedNextAt }: { expectedNextAt: string | null }) => expectedNextAt);
}

const withoutUndefined = (record: IngestRecordInput) => JSON.parse(JSON.stringify(record)) as IngestRecordInput;

describe('the next value is expected', () => {
  test.each<[string, string | null, readonly Batch[]]>([
    [
      'after the newest one',
      '2026-01-06T15:00:00Z',
      [['append', defined([source('a test', DAILY)]), value(1), value(4)]],
    ],
    [
      'after the newest value of all its metrics',
      '2026-01-09T15:00:00Z',
      [['append', defined([source('a test', DAILY)]), value(1), value(7, VOLUME)]],
    ],
    ['never, without a value of this source', null, [['append', defined([source('another', DAILY)]), value(1)]]],
    ['never, without a cadence', null, [['append', defined([source('a test')]), value(1)]]],
    [
      'never, in a retired market',
      null,
      [['append', defined([source('a test', DAILY)], { status: 'retired' }), value(1)]],
    ],
    [
      'by a later cadence',
      '2026-01-02T01:00:00Z',
      [
        ['append', defined([source('a test', DAILY)]), value(1)],
        ['append', defined([source('a test', HOURLY)])],
      ],
    ],
    [
      'after the value before a mistake',
      '2026-01-03T15:00:00Z',
      [
        ['append', defined([source('a test', DAILY)]), value(1), value(2)],
        ['correct', taking(2, 'mistake')],
      ],
    ],
    [
      'after a value that was withdrawn',
      '2026-01-04T15:00:00Z',
      [
        ['append', defined([source('a test', DAILY)]), value(1), value(2)],
        ['correct', taking(2, 'withdrawn')],
      ],
    ],
  ])('%s', async (_, expected, batches) => {
    expect(await expectedAfter(...batches)).toEqual([expected]);
  });

  test('by each source for itself', async () => {
    const sources = [source('a test', DAILY), source('other', HOURLY), source('third')];
    const other = value(1, { sourceLabel: 'other', sourceUrl: 'https://example.com/other' });
    expect(await expectedAfter(['append', defined(sources), value(3), other])).toEqual([
      '2026-01-05T15:00:00Z',
      '2026-01-02T01:00:00Z',
      null,
    ]);
  });
});

describe('verify counts the values that are missing between two others:', () => {
  const WORKDAYS = { ...DAILY, weekdays: ['mon', 'tue', 'wed', 'thu', 'fri'] };
  // Thursday, Friday, Monday, Wednesday.
  const values = [0, 1, 4, 6].map((day) => value(day));

  test.each<[string, object | undefined, readonly IngestRecordInput[], number]>([
    ['each day', DAILY, [], 3],
    ['each working day', WORKDAYS, [], 1],
    ['not what has two metrics', WORKDAYS, [value(4, VOLUME)], 1],
    ['also what was a mistake', WORKDAYS, [taking(4, 'mistake')], 2],
    ['not what was withdrawn', WORKDAYS, [taking(4, 'withdrawn')], 1],
    ['nothing without a cadence', undefined, [], 0],
  ])('%s', async (_, cadence, more, missingValues) => {
    const world = createWorld();
    await world.ingest([defined([source('a test', cadence)]), ...values], 'append');
    await world.ingest(more.map(withoutUndefined), 'append');
    await world.publish();
    const report = await verify(world.read, { pageSizes: SMALL_PAGES, settled: true });
    expect(report).toMatchObject({ findings: [], missingValues });
  });
});
