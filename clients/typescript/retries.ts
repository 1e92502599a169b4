/** Decides which requests are retried, and when. Pure. */
import type { TidemarkError } from './tidemark-error.ts';

/** Statuses that may pass. 501 and 505 do not pass. */
const PASSING_STATUSES: readonly number[] = [408, 425, 429, 500, 502, 503, 504];
/** With one of these codes, the same request gets the same answer for hours. */
const LASTING_CODES: readonly string[] = ['daily-quota-exceeded'];

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 20_000;

/** Whether the same request may soon get another answer. */
export function mayPass({ status, code }: Pick<TidemarkError, 'status' | 'code'>): boolean {
  if (status === null || code === 'contention') return true;
  return PASSING_STATUSES.includes(status) && !LASTING_CODES.includes(code);
}

/**
 * The wait that `Retry-After` requests, in seconds or as a date (RFC 9110, section 10.2.3). Null: it is absent, or has another
 * form.
 */
export function retryAfterMs(text: string | null, nowMs: number): number | null {
  const trimmed = text?.trim() ?? '';
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed) * 1000;
  // A date begins with the name of its day: `Date.parse` alone accepts many other texts.
  const atMs = /^[A-Za-z]{3,9}, ?\d/.test(trimmed) || /^[A-Z][a-z]{2} [A-Z]/.test(trimmed) ? Date.parse(trimmed) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

/**
 * The wait before try number `tries` + 1. Half of it is random, so that clients that failed together are not retried together.
 */
export function backOffMs(tries: number, random: number): number {
  const mostMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
  return mostMs / 2 + (random * mostMs) / 2;
}
