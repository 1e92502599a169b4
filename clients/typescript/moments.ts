/** Moments in the forms that callers may use. */

/** A date alone, such as `2026-06-30`, means the whole day in UTC. A text with a time needs `Z` or an offset. */
export type Moment = Date | string;

const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The first millisecond of a moment. @throws RangeError */
export function beginOf(moment: Moment, name: string): number {
  const ms = typeof moment === 'string' ? msOf(moment) : moment.getTime();
  if (!Number.isNaN(ms)) return ms;
  throw new RangeError(`${name} is not a moment: ${moment}. Write it as in 2026-11-01 or 2026-11-01T00:00:00Z`);
}

/** The last millisecond of a moment: of a date, the end of its day. @throws RangeError */
export function endOf(moment: Moment, name: string): number {
  return beginOf(moment, name) + (isDay(moment) ? DAY_MS - 1 : 0);
}

/** A moment with a time. A date alone would leave open whether the values of that day are known. @throws RangeError */
function preciseMs(moment: Moment, name: string): number {
  if (!isDay(moment)) return beginOf(moment, name);
  throw new RangeError(`${name} needs a time: ${moment}T00:00:00Z is the beginning of that day`);
}

/** The allowed difference between the clocks of this machine and of the service. */
const CLOCKS_DIFFER_MS = 60_000;

/** Whether a moment is in the future, about which nothing is known. False for NaN. */
export function isAhead(atMs: number, nowMs: number): boolean {
  return atMs > nowMs + CLOCKS_DIFFER_MS;
}

/** A moment in the past, with a time. @throws RangeError */
export function pastMs(moment: Moment, name: string, nowMs: number): number {
  const ms = preciseMs(moment, name);
  if (!isAhead(ms, nowMs)) return ms;
  const now = new Date(nowMs).toISOString();
  throw new RangeError(`${name} is in the future, of which nothing is known: ${moment}. It is ${now} now`);
}

function isDay(moment: Moment): boolean {
  return typeof moment === 'string' && DAY.test(moment);
}

/**
 * NaN for a text that is not a moment. `Date.parse` alone would read a time without offset as local, and 30 February as 2
 * March.
 */
export function msOf(text: string): number {
  const day = text.slice(0, 10);
  const dayMs = DAY.test(text) || INSTANT.test(text) ? Date.parse(day) : Number.NaN;
  const isReal = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(day);
  return isReal ? Date.parse(text) : Number.NaN;
}
