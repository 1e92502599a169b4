/** When a source runs next. Pure: chance is passed in. */

import { nextRunAt, type Schedule } from '../../../mapping/recipe/schedule.ts';
import type { FetchFailure } from '../fetch/fetch-failure.ts';

/** The first pause after a failure. No schedule runs more often than every five minutes. */
const FIRST_RETRY_MS = 5 * 60 * 1000;
const LONGEST_RETRY_MS = 4 * 60 * 60 * 1000;
/** A source that asks for more is asked again after this. */
const LONGEST_RETRY_AFTER_MS = 7 * 24 * 60 * 60 * 1000;
/** The random part of a pause, so that sources that failed together do not come back together. */
const SPREAD = 0.25;

/**
 * After a failed run: pauses that double, or the next time of the schedule, if that is sooner, or if the next try would
 * fail in the same way. Never before the source wants to be asked again.
 *
 * @param failures failed runs in a row, with this one: 1 or more
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
