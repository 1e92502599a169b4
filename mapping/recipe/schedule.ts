/** The schedule of a source recipe. */
import * as z from 'zod';
import { WEEKDAYS } from '../../contract/freshness/cadence.ts';
import { timeZoneSchema, zoneClock } from '../values/zone-clock.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** A whole day can be missing, where a zone crossed the date line. So more than a week is searched. */
const SEARCHED_DAYS = 15;

/** A time of day on the clocks of the schedule's zone, `HH:MM`. */
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day such as 16:30' });

export const scheduleSchema = z.union([
  z.strictObject({
    /** Times of day on the clocks of `timeZone`. */
    at: z.array(timeOfDay).min(1).max(24),
    /** Days of the week in `timeZone`. */
    days: z
      .array(z.enum(WEEKDAYS))
      .min(1)
      .max(WEEKDAYS.length)
      .default([...WEEKDAYS]),
    timeZone: timeZoneSchema.default('UTC'),
  }),
  /** At every multiple of this many minutes since 1970-01-01T00:00Z: 60 is each full hour of UTC. */
  z.strictObject({ everyMinutes: z.int().min(5).max(10_080) }),
]);

export type Schedule = z.infer<typeof scheduleSchema>;
/** The schedule without its defaults. */
export type SentSchedule = z.input<typeof scheduleSchema>;

/**
 * The first time of the schedule after a moment, both in milliseconds since 1970-01-01T00:00Z. A time that the clocks skip
 * counts later by the skipped amount (02:30 becomes 03:30). A time that occurs twice counts once, the first time. RFC 5545,
 * section 3.3.5, has the same rule.
 */
export function nextRunAt(schedule: Schedule, afterMs: number): number {
  if ('everyMinutes' in schedule) {
    const step = schedule.everyMinutes * MINUTE_MS;
    return (Math.floor(afterMs / step) + 1) * step;
  }
  const clock = zoneClock(schedule.timeZone);
  /** A skipped time counts as if the clocks had not been changed; of a time that occurs twice, the earlier occurrence counts. */
  const instantOf = (wallMs: number) => clock.instantsOf(wallMs)[0] ?? wallMs - clock.offsetAt(wallMs - DAY_MS);
  // The calendar day in the zone, written as a day of UTC. A skipped time may move a run past midnight, so the search begins
  // one day earlier.
  const today = Math.floor((afterMs + clock.offsetAt(afterMs)) / DAY_MS) * DAY_MS;
  for (let day = today - DAY_MS; day <= today + SEARCHED_DAYS * DAY_MS; day += DAY_MS) {
    const weekday = WEEKDAYS[(new Date(day).getUTCDay() + 6) % 7] as (typeof WEEKDAYS)[number];
    if (!schedule.days.includes(weekday)) continue;
    const runs = schedule.at.map((time) => instantOf(day + millisecondsOf(time))).filter((run) => run > afterMs);
    if (runs.length > 0) return Math.min(...runs);
  }
  throw new RangeError('a schedule has no next run');
}

function millisecondsOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number);
  return ((hours as number) * 60 + (minutes as number)) * MINUTE_MS;
}
