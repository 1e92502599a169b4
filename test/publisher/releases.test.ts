/** The calendar of expected releases: its moments are those of the cadences. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CALENDAR_PERIODS, WEEKDAYS } from '../../contract/freshness/cadence.ts';
import { type CalendarCadence, expectedNextAt, releasesBetween } from '../../contract/freshness/expected-next.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { createWorld, market, price, type World } from './world.ts';

const URL = '/feeds/releases.ics';
const DAILY = { graceSeconds: 3600, period: 'day', releaseAfterDays: 0, releaseTime: '15:00' } as const;
const WORKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri'] as const;
const cadence = (fields: Partial<CalendarCadence>): CalendarCadence => ({
  ...DAILY,
  holidays: [],
  weekdays: [...WEEKDAYS],
  ...fields,
});

function withCadence(slug: string, fields: object, label = 'a test'): IngestRecordInput {
  const source = { label, url: 'https://example.com/', publisher: null, licence: null, attribution: null };
  return {
    ...(market(slug) as object),
    sources: [{ ...source, cadence: cadence(fields as never) }],
  } as IngestRecordInput;
}

const textOf = async (world: World) => (await world.text(URL)).replaceAll('\r\n ', '');

async function calendarWorld(fields: object = {}): Promise<World> {
  const world = createWorld().with({ projections: new Set(['feeds']) });
  await world.ingest([
    withCadence('a', fields),
    withCadence('b', fields),
    market('c'),
    price('a', 0, 1),
    price('b', 0, 1),
  ]);
  await world.publish();
  return world;
}

test('the releases of a cadence are the moments at which its next values are expected', () => {
  const cadences = fc.record({
    graceSeconds: fc.constant(0),
    holidays: fc.subarray(['12-25', '01-01', 'easter-2', 'easter+1', '2026-05-04']),
    period: fc.constantFrom(...CALENDAR_PERIODS),
    releaseAfterDays: fc.nat({ max: 100 }),
    releaseTime: fc.constantFrom('00:00', '15:30'),
    weekdays: fc.subarray([...WEEKDAYS], { minLength: 1 }),
  });
  fc.assert(
    fc.property(cadences, fc.integer({ min: 0, max: 700 }), (each, day) => {
      const newest = new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
      const expected = Date.parse(expectedNextAt(each, newest));
      expect(releasesBetween(each, expected, expected + 1)).toEqual([expected]);
    }),
    { numRuns: 300 },
  );
});

test('sources of many markets are one event for each cadence, and its moments follow from records', async () => {
  const world = await calendarWorld({ weekdays: [...WORKDAYS], holidays: ['01-01'] });
  const text = await textOf(world);
  expect(text.match(/BEGIN:VEVENT/g)).toHaveLength(1);
  expect(text).toContain(
    'DTSTART:20260101T150000Z\r\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\r\nEXDATE:20260101T150000Z,2027',
  );
  expect(text).toContain('SUMMARY:a test\r\n');
  expect(await world.findings()).toEqual([]);
});

test('a new value does not change it; a source more does', async () => {
  const world = await calendarWorld();
  const isPut = async () => (await world.publishedKeys()).includes(`public${URL}`);
  await world.ingest([price('a', 1, 2)]);
  expect(await isPut()).toBe(false);
  await world.ingest([
    withCadence('d', {}, 'other, and; more'),
    { ...price('d', 0, 1), sourceLabel: 'other, and; more' } as IngestRecordInput,
  ]);
  expect(await isPut()).toBe(true);
  expect(await textOf(world)).toContain('SUMMARY:other\\, and\\; more\r\n');
  expect(await world.findings()).toEqual([]);
});

test('lines have at most 75 bytes', async () => {
  const world = await calendarWorld({ holidays: ['12-25', '01-01', 'easter-2', 'easter+1'] });
  const lines = (await world.text(URL)).split('\r\n');
  expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBe(75);
});

test('without a cadence there is no calendar', async () => {
  const world = createWorld().with({ projections: new Set(['feeds']) });
  await world.ingest([market('a'), price('a', 0, 1)]);
  await world.publish();
  expect((await world.read(URL)).status).toBe(404);
  expect((await world.publish()).kind).toBe('unchanged');
  expect(await world.findings()).toEqual([]);
});
