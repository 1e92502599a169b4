/** How often a source publishes. {@link expectedNextAt} uses it without the schema library. */
import * as z from 'zod';

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** The periods that begin at midnight UTC. Weeks begin on Monday (ISO 8601). */
export const CALENDAR_PERIODS = ['day', 'week', 'month', 'quarter', 'half-year', 'year'] as const;

/** Fewer than the days of a year, so in every dozen years a source publishes on some days. */
export const HOLIDAYS_MAX = 100;

const HOLIDAY = /^(([0-9]{4}-)?(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])|easter[+-][1-6]?[0-9])$/;

const holidaySchema = z
  .string()
  .regex(HOLIDAY, {
    error: 'must be a date, a month and day, or a distance from Easter: 2027-01-02, 12-25, easter-2',
    abort: true,
  })
  .refine((text) => text.startsWith('easter') || isDate(text.length === 'MM-DD'.length ? `2000-${text}` : text), {
    error: 'is not a day of the calendar',
  })
  .meta({ maxLength: 'YYYY-MM-DD'.length });

/** A leap year accepts 02-29. `Date.parse` reads 30 February as 1 March. */
function isDate(text: string): boolean {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

const weekdays = uniqueList(z.enum(WEEKDAYS), 'weekday')
  .min(1)
  .max(WEEKDAYS.length)
  .default([...WEEKDAYS])
  .describe('The days of the week on which the source publishes, in UTC. If left out: all.');

const holidays = uniqueList(holidaySchema, 'holiday')
  .max(HOLIDAYS_MAX)
  .default([])
  .describe(
    'Days without a publication, in UTC: a date (`2027-01-02`), a day of every year (`12-25`), or a distance from ' +
      'Western Easter Sunday in days (`easter-2`: Good Friday; `easter+1`: Easter Monday). If left out: no holidays.',
  );

const graceSeconds = z
  .int()
  .min(0)
  .max(31 * 86_400)
  .describe('A value is late when it has not come for this long after `expectedNextAt`.');

/**
 * Periods of the calendar: each has one value. Members are in canonical order, because they are stored and rendered like
 * this.
 */
export const calendarCadenceSchema = z
  .strictObject({
    graceSeconds,
    holidays,
    period: z.enum(CALENDAR_PERIODS).describe('Each has one value. They begin at 00:00 UTC, and weeks on Monday.'),
    releaseAfterDays: z
      .int()
      .min(0)
      .max(1100)
      .default(0)
      .describe(
        'The days from the beginning of a period to the day on which its value is published. If the source does not ' +
          'publish on that day, it publishes on the next one on which it does. If left out: 0.',
      ),
    releaseTime: z
      .string()
      .regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, { error: 'must be a time of day in UTC such as 15:00' })
      .meta({ maxLength: 'HH:MM'.length })
      .describe(
        'When the value is there at the latest on that day, in UTC. With summer time: the later one of the two.',
      ),
    weekdays,
  })
  .describe('A value for each period of the calendar.');

export const minutesCadenceSchema = z
  .strictObject({
    graceSeconds,
    holidays,
    minutes: z.int().min(1).max(1440).describe('The time from one value to the next.'),
    period: z.literal('minutes'),
    weekdays,
  })
  .describe('A value every few minutes, all around the clock.');

export const cadenceSchema = z
  .discriminatedUnion('period', [calendarCadenceSchema, minutesCadenceSchema])
  .describe('How often the source publishes. All days and times are in UTC.');

export type Cadence = z.infer<typeof cadenceSchema>;

function uniqueList<Item extends z.ZodType<string>>(item: Item, name: string) {
  return z
    .array(item)
    .refine((items) => new Set(items).size === items.length, { error: `names a ${name} twice` })
    .meta({ uniqueItems: true });
}
