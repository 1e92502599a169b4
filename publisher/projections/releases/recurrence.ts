/**
 * When a source publishes, in the terms of iCalendar (RFC 5545): an endless rule where the cadence allows one, and for
 * three years the days without a publication and other exceptions. Pure: the years come from the values, not from a clock.
 */
import { WEEKDAYS } from '../../../contract/freshness/cadence.ts';
import { type CalendarCadence, releasesBetween } from '../../../contract/freshness/expected-next.ts';

export interface Recurrence {
  readonly startMs: number;
  /** The value of `RRULE`. Null: the cadence has no rule, so all dates are listed. */
  readonly rule: string | null;
  /** Moments in addition to the rule. */
  readonly addedMs: readonly number[];
  /** Moments of the rule at which the source does not publish. */
  readonly leftOutMs: readonly number[];
}

const YEARS = 3;
/** The seven days from this one on are in the same month, in February too. */
const LAST_SAME_MONTH_DAY = 22;
const MONTHS = { month: 1, quarter: 3, 'half-year': 6 } as const;

/** @param year the first year, with four digits */
export function recurrenceOf(cadence: CalendarCadence, year: number): Recurrence {
  const [fromMs, toMs] = [Date.UTC(year, 0, 1), Date.UTC(year + YEARS, 0, 1)];
  const exact = releasesBetween(cadence, fromMs, toMs);
  const rule = ruleOf(cadence);
  const regular = rule === null ? exact.slice(0, 1) : releasesBetween({ ...cadence, holidays: [] }, fromMs, toMs);
  const [exactSet, regularSet] = [new Set(exact), new Set(regular)];
  return {
    startMs: regular[0] as number,
    rule,
    addedMs: exact.filter((ms) => !regularSet.has(ms)),
    leftOutMs: regular.filter((ms) => !exactSet.has(ms)),
  };
}

/** The rule of a cadence without its holidays. */
function ruleOf(cadence: CalendarCadence): string | null {
  const { period, releaseAfterDays, weekdays } = cadence;
  if (period === 'day' || period === 'week') {
    const days = period === 'week' ? [0] : weekdays.map((day) => WEEKDAYS.indexOf(day));
    const releases = new Set(days.map((day) => openWeekday(cadence, day + releaseAfterDays)));
    return releases.size === WEEKDAYS.length ? 'FREQ=DAILY' : `FREQ=WEEKLY;BYDAY=${byDay(releases)}`;
  }
  const first = releaseAfterDays + 1;
  if (first > LAST_SAME_MONTH_DAY) return null;
  const frequency = period === 'year' ? 'FREQ=YEARLY;BYMONTH=1' : `FREQ=MONTHLY;INTERVAL=${MONTHS[period]}`;
  if (weekdays.length === WEEKDAYS.length) return `${frequency};BYMONTHDAY=${first}`;
  const week = Array.from({ length: 7 }, (_, index) => first + index);
  const open = byDay(new Set(weekdays.map((day) => WEEKDAYS.indexOf(day))));
  return `${frequency};BYMONTHDAY=${week.join(',')};BYDAY=${open};BYSETPOS=1`;
}

/** The weekday of a release: this one, or the next open one. Monday is 0. */
function openWeekday({ weekdays }: CalendarCadence, day: number): number {
  let open = day;
  while (!weekdays.includes(WEEKDAYS[open % 7] as (typeof WEEKDAYS)[number])) open++;
  return open % 7;
}

/** Weekdays in two letters each. */
function byDay(days: ReadonlySet<number>): string {
  return WEEKDAYS.flatMap((name, day) => (days.has(day) ? [name.slice(0, 2).toUpperCase()] : [])).join(',');
}
