/** The error of a computer's clock, from header fields that every edge sends. Pure. */

/** A stored answer has an older `Date`. So only a larger difference means a wrong clock. */
const TOLERANCE_MS = 60_000;

/**
 * How far this computer's clock is ahead of the service's. 0 if they agree, or if the service does not state its time.
 *
 * `Age` counts from the creation of the answer (RFC 9111, section 5.1). Some edges send the `Date` of the creation, others the
 * current one: both are tried.
 *
 * @param date and `age`: the header fields. @param receivedMs the time of arrival, by this computer's clock
 */
export function clockOffsetMs(date: string | null, age: string | null, receivedMs: number): number {
  const difference = receivedMs - (date === null ? Number.NaN : Date.parse(date));
  const ageMs = /^\d{1,9}$/.test(age ?? '') ? Number(age) * 1000 : 0;
  if (Number.isNaN(difference)) return 0;
  return [difference, difference - ageMs].some((each) => Math.abs(each) <= TOLERANCE_MS) ? 0 : difference;
}
