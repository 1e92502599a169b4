import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextRunAt, type Schedule, scheduleSchema } from '../../../mapping/recipe/schedule.ts';

const MINUTE_MS = 60_000;
const BERLIN = 'Europe/Berlin';

/** The runs of a schedule after a moment. */
function runsAfter(schedule: unknown, after: string, count: number): string[] {
  const parsed = scheduleSchema.parse(schedule);
  const runs: string[] = [];
  let at = Date.parse(after);
  for (let run = 0; run < count; run++) {
    at = nextRunAt(parsed, at);
    runs.push(new Date(at).toISOString().replace(':00.000Z', 'Z'));
  }
  return runs;
}

describe('a schedule', () => {
  test.each<[string, unknown, string, string]>([
    [
      'keeps to the clocks when summer time ends',
      { at: ['16:30', '15:10'], days: ['fri', 'mon'], timeZone: BERLIN },
      '2026-10-23T12:00:00Z',
      '2026-10-23T13:10Z 2026-10-23T14:30Z 2026-10-26T14:10Z 2026-10-26T15:30Z 2026-10-30T14:10Z',
    ],
    [
      'runs later at a time that the clocks skip',
      { at: ['02:30'], timeZone: BERLIN },
      '2026-03-28T00:00:00Z',
      '2026-03-28T01:30Z 2026-03-29T01:30Z 2026-03-30T00:30Z',
    ],
    [
      'runs once at a time that the clocks show twice',
      { at: ['02:30'], timeZone: BERLIN },
      '2026-10-24T12:00:00Z',
      '2026-10-25T00:30Z 2026-10-26T01:30Z',
    ],
    ['is about each day of UTC, unless it says more', { at: ['00:00'] }, '2026-12-31T00:00:00Z', '2027-01-01T00:00Z'],
    [
      'passes over a day that a zone has skipped',
      { at: ['12:00'], days: ['fri'], timeZone: 'Pacific/Apia' },
      '2011-12-23T23:00:00Z',
      // Friday, 30 December 2011 has no noon there: it counts as a day later.
      '2011-12-30T22:00Z 2012-01-05T22:00Z',
    ],
    ['runs at full multiples', { everyMinutes: 60 }, '2026-11-22T10:00:00Z', '2026-11-22T11:00Z 2026-11-22T12:00Z'],
  ])('%s', (_, schedule, after, expected) => {
    const runs = expected.split(' ');
    expect(runsAfter(schedule, after, runs.length)).toEqual(runs);
  });

  test('has the same next run from every moment before it, and shows its own clocks at each run', () => {
    const times = fc.array(
      fc
        .tuple(fc.integer({ max: 23, min: 0 }), fc.integer({ max: 59, min: 0 }))
        .map(([hour, minute]) => `${two(hour)}:${two(minute)}`),
      { minLength: 1, maxLength: 3 },
    );
    const days = fc.uniqueArray(fc.constantFrom('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'), { minLength: 1 });
    const timeZone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'America/St_Johns');
    const moment = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2028-01-01') });
    fc.assert(
      fc.property(
        times,
        days,
        timeZone,
        moment,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (at, on, zone, after, share) => {
          const schedule = scheduleSchema.parse({ at, days: on, timeZone: zone }) as Extract<
            Schedule,
            { at: string[] }
          >;
          const run = nextRunAt(schedule, after);
          expect(run).toBeGreaterThan(after);
          expect(run % MINUTE_MS).toBe(0);
          expect(nextRunAt(schedule, after + Math.floor((run - 1 - after) * share))).toBe(run);
          const [weekday, time] = wallClock(run, zone);
          // Clocks skip an hour; nothing else may differ.
          const anHourBefore = wallClock(run - 60 * MINUTE_MS, zone)[1];
          const isSkipping = Number(time.slice(0, 2)) - Number(anHourBefore.slice(0, 2)) === 2;
          if (!isSkipping) expect(schedule.at).toContain(time);
          expect(schedule.days).toContain(weekday);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('misses no minute that the clocks show', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata'),
        fc.integer({ min: Date.parse('2026-01-01') / MINUTE_MS, max: Date.parse('2027-01-01') / MINUTE_MS }),
        fc.integer({ min: 1, max: 3000 }),
        (zone, minute, before) => {
          const instant = minute * MINUTE_MS;
          const [weekday, time] = wallClock(instant, zone);
          const next = nextRunAt(
            scheduleSchema.parse({ at: [time], days: [weekday], timeZone: zone }),
            instant - before * MINUTE_MS,
          );
          // Only the second showing of a time is passed over.
          const isSecond = wallClock(instant - 60 * MINUTE_MS, zone)[1] === time;
          if (!isSecond) expect(next).toBeLessThanOrEqual(instant);
        },
      ),
      { numRuns: 100 },
    );
  });

  test.each<[string, unknown]>([
    ['a time that no clock shows', { at: ['24:00'] }],
    ['no time', { at: [] }],
    ['a day in full', { at: ['09:30'], days: ['monday'] }],
    ['a place that is no zone', { at: ['09:30'], timeZone: 'Europe/Atlantis' }],
    ['an offset for a zone', { at: ['09:30'], timeZone: '+01:00' }],
    ['every minute', { everyMinutes: 1 }],
    ['two kinds at once', { at: ['09:30'], everyMinutes: 60 }],
  ])('does not take %s', (_, schedule) => {
    expect(scheduleSchema.safeParse(schedule).success).toBe(false);
  });
});

function two(number: number): string {
  return String(number).padStart(2, '0');
}

/** By a formatter of its own, with words instead of numbers. */
function wallClock(instant: number, timeZone: string): [weekday: string, time: string] {
  const at = new Date(instant);
  const weekday = at.toLocaleDateString('en-US', { timeZone, weekday: 'short' }).toLowerCase();
  return [weekday, at.toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' })];
}
