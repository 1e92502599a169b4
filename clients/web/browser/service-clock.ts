/** By how much the clock of a computer is wrong, by the headers that every edge sends. Pure. */

/** An answer that is stored has an older `Date`. A clock is wrong only if it differs by more. */
const TOLERANCE_MS = 60_000;

/**
 * How far this computer's clock is ahead of the service's. 0 if they agree, or if the service does not say.
 *
 * `Age` counts from when the answer was made (RFC 9111, section 5.1). Some edges send the `Date` of that moment, and others
 * that of now: both readings are tried.
 *
 * @param date and `age`: the headers. @param receivedMs when the answer came, by this computer's clock
 */
export function clockOffsetMs(date: string | null, age: string | null, receivedMs: number): number {
  const difference = receivedMs - (date === null ? Number.NaN : Date.parse(date));
  const ageMs = /^\d{1,9}$/.test(age ?? '') ? Number(age) * 1000 : 0;
  if (Number.isNaN(difference)) return 0;
  return [difference, difference - ageMs].some((each) => Math.abs(each) <= TOLERANCE_MS) ? 0 : difference;
}
