/** Makes the results of the write API. None may be stored by a cache: each was made for one credential. */
import { PROBLEM_CONTENT_TYPE, type Problem } from '../../contract/problems.ts';
import type { HttpResult } from './event.ts';

type Fields = Readonly<Record<string, string>>;

/**
 * Any web page may read the answers (Fetch standard, CORS protocol): a credential is a bearer token that the page itself
 * must hold and send, and there are no cookies that a browser would add, so a foreign page gains nothing by asking from
 * within somebody's browser.
 */
const COMMON_FIELDS: Fields = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Location, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed',
};

/** Answers with JSON, as text; without a body, as 204 and 304 have to, where the text is empty. */
export function textResult(status: number, text: string, headers: Fields = {}): HttpResult {
  if (text === '') return { statusCode: status, headers: { ...headers, ...COMMON_FIELDS } };
  return {
    statusCode: status,
    headers: { ...headers, ...COMMON_FIELDS, 'content-type': 'application/json' },
    body: text,
  };
}

/** Answers with a problem (RFC 9457) and its status. Never throws: escapes whatever is no character. */
export function problemResult(problem: Problem, headers: Fields = {}): HttpResult {
  return {
    statusCode: problem.status,
    headers: { ...headers, ...COMMON_FIELDS, 'content-type': PROBLEM_CONTENT_TYPE },
    body: JSON.stringify(problem),
  };
}

/** Answers a preflight (Fetch standard, CORS protocol). Kept two hours: Chromium cuts anything longer to that. */
export function preflightResult(methods: readonly string[]): HttpResult {
  const allow = methods.join(', ');
  return textResult(204, '', {
    allow,
    'access-control-allow-methods': allow,
    'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match',
    'access-control-max-age': '7200',
  });
}
