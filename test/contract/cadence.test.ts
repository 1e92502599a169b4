/** The cadence of a source: texts that it takes, and when the next value is expected. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CALENDAR_PERIODS,
  type Cadence,
  cadenceSchema,
  HOLIDAYS_MAX,
  WEEKDAYS,
} from '../../contract/freshness/cadence.ts';
import { expectedNextAt, latenessSeconds, missingBetween } from '../../contract/freshness/expected-next.ts';
import { Expectations } from '../../contract/freshness/late-sources.ts';
import { instantSchema } from '../../contract/values/metric.ts';

const DAY_MS = 86_400_000;
const WORKING_DAYS = ['mon', 'tue', 'wed', 'thu', 'fri'];
/** The ECB's reference rates: every TARGET working day, at 16:00 in Frankfurt. */
const ECB = {
  period: 'day',
  weekdays: WORKING_DAYS,
  releaseTime: '15:00',
  holidays: ['01-01', 'easter-2', 'easter+1', '05-01', '12-25', '12-26'],
  graceSeconds: 7200,
};
const DAILY = { period: 'day', releaseTime: '00:00', graceSeconds: 0 };
const MINUTES = { period: 'minutes', minutes: 5, graceSeconds: 0 };

describe('when the next value is expected', () => {
  test.each<[string, object, string, string]>([
    ['the next day', DAILY, '2026-10-01T00:00:00Z', '2026-10-02T00:00:00Z'],
    ['the next day, for a moment late in the day', DAILY, '2026-10-01T23:59:59.999Z', '2026-10-02T00:00:00Z'],
    ['at the time of release', ECB, '2026-10-01T00:00:00Z', '2026-10-02T15:00:00Z'],
    ['after the weekend', ECB, '2026-10-02T00:00:00Z', '2026-10-05T15:00:00Z'],
    ['after Easter, from Thursday to Tuesday', ECB, '2027-03-25T00:00:00Z', '2027-03-30T15:00:00Z'],
    ['after a day of every year that is a Friday', ECB, '2026-12-31T00:00:00Z', '2027-01-04T15:00:00Z'],
    ['after Christmas and a weekend', ECB, '2026-12-24T00:00:00Z', '2026-12-28T15:00:00Z'],
    ['after a single date', { ...DAILY, holidays: ['2026-10-02'] }, '2026-10-01T00:00:00Z', '2026-10-03T00:00:00Z'],
    [
      'not after that date in another year',
      { ...DAILY, holidays: ['2026-10-02'] },
      '2027-10-01T00:00:00Z',
      '2027-10-02T00:00:00Z',
    ],
    [
      'on the next working day for a value of the day before',
      { ...ECB, releaseAfterDays: 1 },
      '2026-10-01T00:00:00Z',
      '2026-10-05T15:00:00Z',
    ],
    ['in the week that begins on Monday', { ...DAILY, period: 'week' }, '2026-10-04T23:00:00Z', '2026-10-05T00:00:00Z'],
    ['a week after a Monday', { ...DAILY, period: 'week' }, '2026-10-05T00:00:00Z', '2026-10-12T00:00:00Z'],
    [
      'days after the beginning of a week',
      { ...DAILY, period: 'week', releaseAfterDays: 9 },
      '2026-10-02T00:00:00Z',
      '2026-10-14T00:00:00Z',
    ],
    [
      'in the next month, from its first day',
      { ...DAILY, period: 'month' },
      '2026-10-01T00:00:00Z',
      '2026-11-01T00:00:00Z',
    ],
    [
      'in the next month, from its last day',
      { ...DAILY, period: 'month' },
      '2026-10-31T00:00:00Z',
      '2026-11-01T00:00:00Z',
    ],
    ['in the next year', { ...DAILY, period: 'month' }, '2026-12-15T00:00:00Z', '2027-01-01T00:00:00Z'],
    [
      'the middle of the month after the next',
      { ...DAILY, period: 'month', releaseAfterDays: 44 },
      '2026-09-01T00:00:00Z',
      '2026-11-14T00:00:00Z',
    ],
    ['in the next quarter', { ...DAILY, period: 'quarter' }, '2026-11-20T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['in the next half-year', { ...DAILY, period: 'half-year' }, '2026-01-01T00:00:00Z', '2026-07-01T00:00:00Z'],
    [
      'in the year after',
      { ...DAILY, period: 'year', releaseTime: '08:30' },
      '2026-07-01T00:00:00Z',
      '2027-01-01T08:30:00Z',
    ],
    ['before the epoch', { ...DAILY, period: 'year' }, '1868-02-29T00:00:00Z', '1869-01-01T00:00:00Z'],
    ['on 29 February', DAILY, '2028-02-28T12:00:00Z', '2028-02-29T00:00:00Z'],
    ['minutes later', MINUTES, '2026-10-01T23:57:00Z', '2026-10-02T00:02:00Z'],
    ['minutes later, with the fraction', MINUTES, '2026-10-01T12:00:00.250Z', '2026-10-01T12:05:00.250Z'],
    ['when the week begins', { ...MINUTES, weekdays: WORKING_DAYS }, '2026-10-02T23:58:00Z', '2026-10-05T00:00:00Z'],
  ])('%s', (_, cadence, newest, expected) => {
    expect(expectedNextAt(cadenceSchema.parse(cadence), newest)).toBe(expected);
  });

  /** Dates of Easter Sunday, among them its earliest and its latest ones. */
  test.each(['1818-03-22', '1943-04-25', '1954-04-18', '2038-04-25', '2285-03-22'])('Easter %s', (sunday) => {
    const before = new Date(Date.parse(sunday) - DAY_MS).toISOString();
    const after = new Date(Date.parse(sunday) + DAY_MS).toISOString().replace('.000Z', 'Z');
    expect(expectedNextAt(cadenceSchema.parse({ ...DAILY, holidays: ['easter+0'] }), before)).toBe(after);
  });
});

const EVERY_DAY = Array.from({ length: 365 }, (_, day) => new Date(day * DAY_MS).toISOString().slice(5, 10));
const twoDigits = (number: number) => String(number).padStart(2, '0');
const dates = fc.date({ min: new Date('1850-01-01'), max: new Date('2150-01-01'), noInvalidDate: true });
const holidays = fc.oneof(
  dates.map((date) => date.toISOString().slice(0, 10)),
  dates.map((date) => date.toISOString().slice(5, 10)),
  fc.integer({ min: -69, max: 69 }).map((days) => `easter${days < 0 ? '' : '+'}${days}`),
);
const common = {
  weekdays: fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { minLength: 1 }),
  holidays: fc.uniqueArray(holidays, { maxLength: HOLIDAYS_MAX }),
  graceSeconds: fc.nat({ max: 86_400 }),
};
const cadences: fc.Arbitrary<Cadence> = fc.oneof(
  fc.record({
    period: fc.constantFrom(...CALENDAR_PERIODS),
    releaseAfterDays: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 1100 })),
    releaseTime: fc.tuple(fc.nat({ max: 23 }), fc.nat({ max: 59 })).map((parts) => parts.map(twoDigits).join(':')),
    ...common,
  }),
  fc.record({ period: fc.constant('minutes' as const), minutes: fc.integer({ min: 1, max: 1440 }), ...common }),
);

describe('every cadence', () => {
  test('is one that its schema takes', () => {
    fc.assert(
      fc.property(cadences, (cadence) => {
        expect(cadenceSchema.parse(cadence)).toEqual(cadence);
      }),
    );
  });

  test('expects the next value later than the newest one, on a day on which the source publishes', () => {
    fc.assert(
      fc.property(cadences, dates, (cadence, newest) => {
        const next = expectedNextAt(cadence, newest.toISOString());
        expect(instantSchema.parse(next)).toBe(next);
        expect(Date.parse(next)).toBeGreaterThan(newest.getTime());
        const day = next.slice(0, 10);
        expect(cadence.holidays).not.toContain(day);
        expect(cadence.holidays).not.toContain(day.slice(5));
        expect(cadence.weekdays).toContain(WEEKDAYS[(new Date(next).getUTCDay() + 6) % 7]);
        if (cadence.period !== 'minutes') expect(next.slice(10)).toBe(`T${cadence.releaseTime}:00Z`);
      }),
    );
  });

  test('expects the next value of a later one not earlier', () => {
    fc.assert(
      fc.property(cadences, dates, fc.nat({ max: 40 * DAY_MS }), (cadence, earlier, distanceMs) => {
        const later = new Date(earlier.getTime() + distanceMs);
        const [first, second] = [earlier, later].map((date) => Date.parse(expectedNextAt(cadence, date.toISOString())));
        expect(second).toBeGreaterThanOrEqual(first as number);
      }),
    );
  });
});

describe('how late a value is', () => {
  const EXPECTED = '2026-10-02T15:00:00Z';
  test.each<[string, number, number]>([
    ['2026-10-02T14:59:59Z', 0, 0],
    ['2026-10-02T15:00:00Z', 0, 0],
    ['2026-10-02T15:00:01Z', 0, 1],
    ['2026-10-02T16:00:00Z', 3600, 0],
    ['2026-10-02T16:00:01Z', 3600, 3601],
    ['2026-10-04T15:00:00.999Z', 3600, 172_800],
    ['2025-01-01T00:00:00Z', 0, 0],
  ])('at %s, with a grace of %i s: %i s', (now, graceSeconds, late) => {
    expect(latenessSeconds(EXPECTED, graceSeconds, Date.parse(now))).toBe(late);
  });
});

describe('the schema of a cadence', () => {
  test('fills in days and distance', () => {
    expect(cadenceSchema.parse(DAILY)).toEqual({
      ...DAILY,
      weekdays: [...WEEKDAYS],
      holidays: [],
      releaseAfterDays: 0,
    });
    expect(cadenceSchema.parse(MINUTES)).toEqual({ ...MINUTES, weekdays: [...WEEKDAYS], holidays: [] });
  });

  test.each<[string, unknown]>([
    ['nothing', null],
    ['a word', 'day'],
    ['no period', { releaseTime: '15:00', graceSeconds: 0 }],
    ['another period', { ...DAILY, period: 'decade' }],
    ['no grace', { period: 'day', releaseTime: '15:00' }],
    ['a grace below zero', { ...DAILY, graceSeconds: -1 }],
    ['a grace with a fraction', { ...DAILY, graceSeconds: 0.5 }],
    ['a grace of more than a month', { ...DAILY, graceSeconds: 31 * 86_400 + 1 }],
    ['no time of release', { period: 'day', graceSeconds: 0 }],
    ['a time of release with an offset', { ...DAILY, releaseTime: '16:00+01:00' }],
    ['a time of release with a zone', { ...DAILY, timeZone: 'Europe/Berlin' }],
    ['24:00', { ...DAILY, releaseTime: '24:00' }],
    ['a time of one digit', { ...DAILY, releaseTime: '9:00' }],
    ['no weekday', { ...DAILY, weekdays: [] }],
    ['a weekday twice', { ...DAILY, weekdays: ['mon', 'mon'] }],
    ['a weekday in capitals', { ...DAILY, weekdays: ['Mon'] }],
    ['a holiday twice', { ...DAILY, holidays: ['12-25', '12-25'] }],
    ['too many holidays', { ...DAILY, holidays: EVERY_DAY.slice(0, HOLIDAYS_MAX + 1) }],
    ['30 February', { ...DAILY, holidays: ['02-30'] }],
    ['29 February of 2027', { ...DAILY, holidays: ['2027-02-29'] }],
    ['month 13', { ...DAILY, holidays: ['13-01'] }],
    ['a day without its zero', { ...DAILY, holidays: ['5-1'] }],
    ['Easter by its name alone', { ...DAILY, holidays: ['easter'] }],
    ['a day far from Easter', { ...DAILY, holidays: ['easter-70'] }],
    ['a release before its period', { ...DAILY, releaseAfterDays: -1 }],
    ['a release after years', { ...DAILY, releaseAfterDays: 1101 }],
    ['no minutes', { ...MINUTES, minutes: 0 }],
    ['minutes of more than a day', { ...MINUTES, minutes: 1441 }],
    ['minutes with a time of release', { ...MINUTES, releaseTime: '15:00' }],
    ['minutes beside days', { ...DAILY, minutes: 5 }],
  ])('refuses %s', (_, cadence) => {
    expect(cadenceSchema.safeParse(cadence).success).toBe(false);
  });

  test.each(['02-29', '2028-02-29', 'easter-69', 'easter+0', '0099-01-01'])('takes the holiday %s', (holiday) => {
    expect(cadenceSchema.safeParse({ ...DAILY, holidays: [holiday] }).success).toBe(true);
  });
});

describe('the values that are missing between two', () => {
  test.each<[string, object, string, string, number]>([
    ['none in the next period', { period: 'month', releaseTime: '15:00' }, '2026-01-01', '2026-02-01', 0],
    ['months', { period: 'month', releaseTime: '15:00' }, '2026-01-31', '2026-04-01', 2],
    ['none in the same period', { period: 'year', releaseTime: '15:00' }, '2026-01-01', '2026-12-31', 0],
    ['weeks', { period: 'week', releaseTime: '15:00' }, '2026-01-05', '2026-01-26', 2],
    [
      'days, without holidays',
      { period: 'day', releaseTime: '15:00', holidays: ['01-06'] },
      '2026-01-05',
      '2026-01-08',
      1,
    ],
    [
      'no day on which the source does not publish',
      { period: 'day', releaseTime: '15:00', weekdays: ['mon'] },
      '2026-01-05',
      '2026-01-10',
      0,
    ],
    ['minutes', { period: 'minutes', minutes: 30 }, '2026-01-05T10:00:00Z', '2026-01-05T12:00:00Z', 3],
    ['no more than 10,000', { period: 'minutes', minutes: 1 }, '2020-01-01', '2026-01-01', 10_000],
  ])('%s', (_, fields, older, newer, missing) => {
    const cadence = cadenceSchema.parse({ graceSeconds: 0, ...fields });
    const instant = (text: string) => (text.endsWith('Z') ? text : `${text}T00:00:00Z`);
    expect(missingBetween(cadence, instant(older), instant(newer))).toBe(missing);
  });
});

test('markets without a cadence expect nothing', () => {
  expect(new Expectations([{ sources: [] }]).oldest).toBeNull();
});
