/** The time of a source's next run. Pure: randomness is passed in. */

import { nextRunAt, type Schedule } from '../../../mapping/recipe/schedule.ts';
import type { FetchFailure } from '../fetch/fetch-failure.ts';

/** The first pause after a failure. No schedule runs more often than every five minutes. */
const FIRST_RETRY_MS = 5 * 60 * 1000;
const LONGEST_RETRY_MS = 4 * 60 * 60 * 1000;
/** The longest accepted `Retry-After`; a source that asks for more time is asked again after this. */
const LONGEST_RETRY_AFTER_MS = 7 * 24 * 60 * 60 * 1000;
/** The random share of a pause, so that sources that failed together are not retried together. */
const SPREAD = 0.25;

/**
 * The time after a failed run: pauses that double. The next scheduled time is used instead if it is sooner, or if a retry would
 * fail in the same way. Never before the time that the source has requested.
 *
 * @param failures the number of consecutive failed runs, including this one: at least 1
 * @param random in [0, 1)
 */
export function retryAtMs(
  schedule: Schedule,
  nowMs: number,
  failures: number,
  { isRetryable, retryAfterSeconds }: Pick<FetchFailure, 'isRetryable' | 'retryAfterSeconds'>,
  random: number,
): number {
  const doubled = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 16));
  const pauseMs = isRetryable ? doubled * (1 + SPREAD * random) : Number.POSITIVE_INFINITY;
  const soon = Math.min(nowMs + pauseMs, nextRunAt(schedule, nowMs));
  const wantedMs = Math.min(LONGEST_RETRY_AFTER_MS, (retryAfterSeconds ?? 0) * 1000);
  return Math.ceil(Math.max(soon, nowMs + wantedMs));
}
