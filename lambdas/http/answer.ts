/** Builds the answers of the write API. No cache may store them: each was made for one credential. */
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import type { Problem } from '../../contract/problems/problems.ts';
import type { HttpResult } from './event.ts';

type Fields = Readonly<Record<string, string>>;

/**
 * Any web page may read the answers (Fetch standard, CORS protocol). The page itself must have the bearer token and send it;
 * there are no cookies that a browser would add. So a foreign page gains nothing by sending requests from a user's browser.
 */
const COMMON_FIELDS: Fields = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Location, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed',
};

/** An answer with JSON as text. 204 and 304 have no body: pass an empty text. */
export function textResult(status: number, text: string, headers: Fields = {}): HttpResult {
  if (text === '') return { statusCode: status, headers: { ...headers, ...COMMON_FIELDS } };
  return {
    statusCode: status,
    headers: { ...headers, ...COMMON_FIELDS, 'content-type': 'application/json' },
    body: text,
  };
}

/** A problem (RFC 9457) with its status. Never throws: lone surrogates are escaped. */
export function problemResult(problem: Problem, headers: Fields = {}): HttpResult {
  return {
    statusCode: problem.status,
    headers: { ...headers, ...COMMON_FIELDS, 'content-type': PROBLEM_CONTENT_TYPE },
    body: JSON.stringify(problem),
  };
}

/**
 * The answer to a preflight (Fetch standard, CORS protocol). Two hours, because Chromium caps anything longer at that.
 */
export function preflightResult(methods: readonly string[]): HttpResult {
  const allow = methods.join(', ');
  return textResult(204, '', {
    allow,
    'access-control-allow-methods': allow,
    'access-control-allow-headers': '*, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match',
    'access-control-max-age': '7200',
  });
}
