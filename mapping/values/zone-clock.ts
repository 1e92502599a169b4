/** The clocks of a time zone, by the tables of the runtime (IANA). */
import * as z from 'zod';

const DAY_MS = 86_400_000;
/** The number of days whose offset is cached. A file has many rows for one day. */
const DAYS_KEPT = 4_000;

export interface ZoneClock {
  /** The offset of the clocks from UTC, in milliseconds; positive if they are ahead. */
  offsetAt(instantMs: number): number;
  /**
   * The moments at which the clocks show a time, the earlier one first. None if they skip it; two if they are set back.
   *
   * @param wallMs date and time of the clocks, written as if they were UTC
   */
  instantsOf(wallMs: number): readonly number[];
}

export function zoneClock(timeZone: string): ZoneClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const offsetAt = (instantMs: number): number => {
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of format.formatToParts(instantMs)) part[type] = Number(value);
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instantMs / 1000) * 1000;
  };
  /** The offset of a day without a clock change; null for the days around a change. */
  const offsets = new Map<number, number | null>();
  const offsetOfDay = (day: number): number | null => {
    let known = offsets.get(day);
    if (known === undefined) {
      const before = offsetAt((day - 1) * DAY_MS);
      known = before === offsetAt((day + 2) * DAY_MS) ? before : null;
      if (offsets.size === DAYS_KEPT) offsets.clear();
      offsets.set(day, known);
    }
    return known;
  };
  const instantsOf = (wallMs: number): readonly number[] => {
    const steady = offsetOfDay(Math.floor(wallMs / DAY_MS));
    if (steady !== null) return [wallMs - steady];
    const before = wallMs - offsetAt(wallMs - DAY_MS);
    const after = wallMs - offsetAt(wallMs + DAY_MS);
    const found = before === after ? [before] : [before, after];
    return found.filter((instant) => instant + offsetAt(instant) === wallMs).sort((one, other) => one - other);
  };
  return { offsetAt, instantsOf };
}

/** A name of the IANA time zone database. */
export const timeZoneSchema = z
  .string()
  .max(60)
  .refine(isTimeZone, { error: 'must be a time zone of the IANA database, such as Europe/Berlin or UTC' });

function isTimeZone(name: string): boolean {
  // Node accepts offsets such as +01:00, too. They have no summer time, so they are probably a mistake, and are refused.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }) !== null;
  } catch {
    return false;
  }
}
