/** The failure of a request to a source, with a text for the operator. */

import { TooLarge, UnknownCoding } from './decoded-body.ts';
import { NotAllowed } from './guarded-lookup.ts';

export interface FetchFailure {
  readonly kind: 'failed';
  /**
   * Stable: `http-<status>`, `timeout`, `not-allowed`, `too-large`, `bad-coding`, `bad-certificate`, `no-such-host` or
   * `no-connection`.
   */
  readonly code: string;
  /** The text contains nothing of the answer. */
  readonly detail: string;
  /** Whether the same request may succeed soon. If not, a person must change the recipe or the source. */
  readonly isRetryable: boolean;
  /** `Retry-After`; null without it. */
  readonly retryAfterSeconds: number | null;
}

/** A file that does not exist yet, too many requests, or a failing server. */
const RETRYABLE_STATUSES: readonly number[] = [404, 408, 425, 429, 500, 502, 503, 504];

/** RFC 9110, section 5.6.7: the only form of dates that senders may write. */
const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** @param nowMs the current time, for a `Retry-After` with a date */
export function failureOfStatus(status: number, retryAfter: string | undefined, nowMs: number): FetchFailure {
  return {
    kind: 'failed',
    code: `http-${status}`,
    detail: `The source answers with HTTP status ${status}.`,
    isRetryable: RETRYABLE_STATUSES.includes(status),
    retryAfterSeconds: secondsOf(retryAfter?.trim() ?? '', nowMs),
  };
}

/** RFC 9110, section 10.2.3. A date that has passed is 0 seconds. */
function secondsOf(retryAfter: string, nowMs: number): number | null {
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter);
  if (!IMF_FIXDATE.test(retryAfter)) return null;
  const atMs = Date.parse(retryAfter);
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}

/** @throws the error itself, if it was caused neither by the source nor by the network */
export function failureOf(error: unknown, timeoutSeconds: number): FetchFailure {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (error instanceof NotAllowed) return failed('not-allowed', `The request is not allowed: ${message}.`, false);
  if (error instanceof TooLarge) return failed('too-large', `The answer is too large: ${message}.`, false);
  if (error instanceof UnknownCoding) return failed('bad-coding', `The answer cannot be read: ${message}.`, false);
  if (name === 'TimeoutError') {
    return failed('timeout', `The answer has not come within ${timeoutSeconds} s, the recipe's timeoutSeconds.`, true);
  }
  if (code === undefined) throw error;
  if (code.startsWith('Z_') || code.startsWith('ERR_BROTLI') || code.startsWith('ERR__ERROR')) {
    return failed('bad-coding', `The answer is damaged (${code}).`, true);
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return failed('no-such-host', `The name of the host has no address (${code}).`, true);
  }
  if (/CERT|ERR_TLS|ERR_SSL|UNABLE_TO|SELF_SIGNED/.test(code)) {
    return failed('bad-certificate', `The host shows no valid certificate (${code}).`, false);
  }
  return failed('no-connection', `The connection failed (${code}).`, true);
}

function failed(code: string, detail: string, isRetryable: boolean): FetchFailure {
  return { kind: 'failed', code, detail, isRetryable, retryAfterSeconds: null };
}
