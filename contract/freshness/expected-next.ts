/**
 * When the next value of a source is expected, and whether it is late. Pure, and in UTC: the same bytes on every machine.
 * Without the schema library, because the publisher renders with it.
 */

import { laterInstant } from '../values/instants.ts';
import type { Cadence } from './cadence.ts';

export type CalendarCadence = Exclude<Cadence, { readonly period: 'minutes' }>;

const DAY_MS = 86_400_000;
const WEEKDAYS_FROM_SUNDAY = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const MONTHS = { month: 1, quarter: 3, 'half-year': 6, year: 12 } as const;

/**
 * The moment at which the next value is expected after the newest one. The newest value belongs to the period that contains
 * its moment; the next one is the value of the following period.
 *
 * @param newestObservedAt RFC 3339 in UTC
 * @returns RFC 3339 in UTC, to the second, or to the millisecond where the newest value's moment has a fraction; always
 *   later than the newest value
 */
export function expectedNextAt(cadence: Cadence, newestObservedAt: string): string {
  const newestMs = Date.parse(newestObservedAt);
  if (cadence.period === 'minutes') return instantOf(openMoment(cadence, newestMs + cadence.minutes * 60_000));
  return instantOf(releaseOf(cadence, nextPeriod(cadence, newestMs)));
}

/**
 * When a source publishes, from one moment on and before another one. In milliseconds, in order.
 *
 * @param fromMs milliseconds since the epoch, like `toMs`
 */
export function releasesBetween(cadence: CalendarCadence, fromMs: number, toMs: number): readonly number[] {
  const releases = new Set<number>();
  // The longest time from the beginning of a period to its release, with a year for closed days.
  let periodMs = nextPeriod(cadence, fromMs - (cadence.releaseAfterDays + 2 * 366) * DAY_MS);
  for (; periodMs < toMs; periodMs = nextPeriod(cadence, periodMs)) {
    const releaseMs = releaseOf(cadence, periodMs);
    if (releaseMs >= fromMs && releaseMs < toMs) releases.add(releaseMs);
  }
  return [...releases].sort((one, other) => one - other);
}

/** The moment at which the value of the period that begins at `periodMs` is published. */
function releaseOf(cadence: CalendarCadence, periodMs: number): number {
  const [hours, minutes] = cadence.releaseTime.split(':');
  const day = openMoment(cadence, periodMs + cadence.releaseAfterDays * DAY_MS);
  return day + (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/**
 * `expectedNextAt` for one source of a market.
 *
 * @param shown every value that the market shows, from any source
 */
export function sourceExpectedNextAt(
  { label, cadence }: { readonly label: string; readonly cadence?: Cadence | null },
  status: 'active' | 'retired',
  shown: Iterable<{ readonly sourceLabel: string; readonly observedAt: string }>,
): string | null {
  if (cadence == null || status === 'retired') return null;
  let newest: string | null = null;
  for (const { sourceLabel, observedAt } of shown) {
    if (sourceLabel === label) newest = laterInstant(observedAt, newest);
  }
  return newest === null ? null : expectedNextAt(cadence, newest);
}

/**
 * By how much the next value is late: 0 within the grace period, then the seconds since the expected moment.
 *
 * @param expectedAt see {@link expectedNextAt}
 * @param nowMs milliseconds since the epoch
 */
export function latenessSeconds(expectedAt: string, graceSeconds: number, nowMs: number): number {
  const seconds = Math.floor((nowMs - Date.parse(expectedAt)) / 1000);
  return seconds > graceSeconds ? seconds : 0;
}

/** A bound for one gap: counting would take long for a value every few minutes that stopped for a year. */
const MISSING_MAX = 10_000;

/**
 * The number of values that are missing between two values of a source: periods in which it publishes, but without a value.
 * Counting ends at 10,000.
 *
 * @param olderAt RFC 3339 in UTC, like `newerAt`
 */
export function missingBetween(cadence: Cadence, olderAt: string, newerAt: string): number {
  const next = (ms: number) =>
    cadence.period === 'minutes' ? openMoment(cadence, ms + cadence.minutes * 60_000) : nextPeriod(cadence, ms);
  const newerMs = Date.parse(newerAt);
  let missing = 0;
  let afterMs = next(next(Date.parse(olderAt)));
  while (afterMs <= newerMs && missing < MISSING_MAX) {
    missing++;
    afterMs = next(afterMs);
  }
  return missing;
}

/** The beginning of the next period, in milliseconds. Days on which the source does not publish are skipped. */
function nextPeriod(cadence: CalendarCadence, newestMs: number): number {
  const { period } = cadence;
  const today = dayOf(newestMs);
  if (period === 'day') return openMoment(cadence, today + DAY_MS);
  const date = new Date(today);
  if (period === 'week') return today + (7 - ((date.getUTCDay() + 6) % 7)) * DAY_MS;
  const months = MONTHS[period];
  const first = date.getUTCMonth() - (date.getUTCMonth() % months);
  return utcDay(date.getUTCFullYear(), first + months, 1);
}

/** This moment if the source publishes on its day; else the beginning of the next day on which it publishes. */
function openMoment(days: Pick<Cadence, 'weekdays' | 'holidays'>, ms: number): number {
  if (isOpen(days, ms)) return ms;
  let day = dayOf(ms) + DAY_MS;
  // The loop ends: a list of holidays is shorter than a year, and within a dozen years each holiday falls on every weekday.
  while (!isOpen(days, day)) day += DAY_MS;
  return day;
}

function isOpen({ weekdays, holidays }: Pick<Cadence, 'weekdays' | 'holidays'>, ms: number): boolean {
  const date = new Date(ms);
  if (!weekdays.includes(WEEKDAYS_FROM_SUNDAY[date.getUTCDay()] as (typeof WEEKDAYS_FROM_SUNDAY)[number])) return false;
  const text = date.toISOString().slice(0, 'YYYY-MM-DD'.length);
  return !holidays.some((holiday) =>
    holiday.startsWith('easter')
      ? dayOf(ms) === easterSunday(date.getUTCFullYear()) + Number(holiday.slice('easter'.length)) * DAY_MS
      : text.endsWith(holiday),
  );
}

/** Western Easter: the anonymous Gregorian algorithm (Meeus, Astronomical Algorithms, chapter 8). */
function easterSunday(year: number): number {
  const golden = year % 19;
  const century = Math.floor(year / 100);
  const leapCenturies = Math.floor(century / 4);
  const moonShift = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
  const epact = (19 * golden + century - leapCenturies - moonShift + 15) % 30;
  const toSunday = (32 + 2 * (century % 4) + 2 * Math.floor((year % 100) / 4) - epact - ((year % 100) % 4)) % 7;
  const late = Math.floor((golden + 11 * epact + 22 * toSunday) / 451);
  const sum = epact + toSunday - 7 * late + 114;
  return utcDay(year, Math.floor(sum / 31) - 1, (sum % 31) + 1);
}

/** `Date.UTC` reads years below 100 as years of the 20th century. */
function utcDay(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

function instantOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}
