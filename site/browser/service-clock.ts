/** How old an answer is, by the headers that every edge sends (RFC 9110, section 6.6.1; RFC 9111, section 5.1). Pure. */

/** A stored answer has an older `Date`; the clock of a computer is wrong only if it differs by more. */
const TOLERANCE_MS = 60_000;

export interface AnswerClock {
  /** By how much this computer's clock is ahead of the service's. 0 if they agree, or the service does not say. */
  readonly offsetMs: number;
  /** When the service made the answer, by its own clock. */
  readonly madeAtMs: number;
}

/**
 * Some edges send the `Date` of the answer that they have stored, and others that of now: both readings are tried.
 *
 * @param receivedMs when the answer came, by this computer's clock
 */
export function answerClock(date: string | null, age: string | null, receivedMs: number): AnswerClock {
  const ageMs = /^\d{1,9}$/.test(age ?? '') ? Number(age) * 1000 : 0;
  const dateMs = date === null ? Number.NaN : Date.parse(date);
  const differences = [receivedMs - dateMs, receivedMs - dateMs - ageMs];
  const isRight = Number.isNaN(dateMs) || differences.some((difference) => Math.abs(difference) <= TOLERANCE_MS);
  const offsetMs = isRight ? 0 : (differences[0] as number);
  return { offsetMs, madeAtMs: receivedMs - offsetMs - ageMs };
}
