/**
 * A description of each problem, for its page: the URL of the page is the `type` of the problem. Not in the catalogue, so
 * that no bundle contains these texts.
 */
import type { ProblemCode } from './problems.ts';

/** Each text is one line of Markdown: code in backticks, and links. */
export interface ProblemWords {
  /** The cause. */
  readonly meaning: string;
  /** The next step of a client. */
  readonly remedy: string;
  /** An example of a `detail`. */
  readonly detail: string;
}

const SEND_AGAIN = 'Send the same request again. A write keeps its `Idempotency-Key`, so it takes effect at most once.';
const WAIT = 'Wait for the seconds that `Retry-After` gives, and send the same request again.';

export const PROBLEM_WORDS: { readonly [Code in ProblemCode]: ProblemWords } = {
  'invalid-request': {
    meaning:
      'A part of the request is not in the form that HTTP or this operation needs: a query parameter that is sent twice, a header field that cannot be read, or a body where none is taken.',
    remedy: 'Read `detail`: it names the part. Correct it and send the request again.',
    detail: 'The query holds a parameter twice: send each parameter once.',
  },
  'malformed-body': {
    meaning:
      'The body is missing, is not UTF-8, or is not strict JSON. A member that is there twice, and a number that JavaScript cannot hold exactly, are refused too.',
    remedy: 'Send one JSON document in UTF-8. If the body was damaged on its way, send it again.',
    detail: 'The body is missing.',
  },
  'invalid-cursor': {
    meaning: 'The text in `cursor` is not one that this service has given for this collection.',
    remedy:
      'Pass `nextCursor` of the previous page without a change, with the same credential and filter. Do not build cursors. [Paging](/docs/guides/paging) shows the walk.',
    detail: 'Pass "cursor" once, exactly as "nextCursor" of the previous page gives it.',
  },
  'unknown-query-parameter': {
    meaning:
      'The URL has a query parameter that this resource does not know. It is refused, not ignored, because an ignored filter would give you wrong rows.',
    remedy:
      'Leave it out. The reference lists the parameters of each operation. No public read takes more than `cursor`.',
    detail: 'This resource takes no query parameter: leave out everything else.',
  },
  'credential-in-url': {
    meaning:
      'The URL holds a token or an API key. URLs are written to logs, so the credential must be taken as known to others.',
    remedy: 'Have the key revoked and a new one issued. Send it in `Authorization: Bearer …`, never in a URL.',
    detail: 'The URL holds a credential: revoke it, and send another one in the Authorization header field.',
  },
  'idempotency-key-missing': {
    meaning: 'A write came without `Idempotency-Key`, so it could not be sent again safely.',
    remedy:
      'Make a random key for each new request, and keep it until you have an answer. [Idempotency](/docs/guides/idempotency) shows how.',
    detail:
      'Every write needs an Idempotency-Key: use a new key for a new request, and the same key to send a request again.',
  },
  'idempotency-key-malformed': {
    meaning: 'The field `Idempotency-Key` is not one value of 16 to 64 letters, digits, hyphens and underscores.',
    remedy: 'Use a UUID or 32 random hexadecimal digits.',
    detail: 'Idempotency-Key must be one value of 16 to 64 letters, digits, hyphens and underscores.',
  },
  unauthenticated: {
    meaning:
      'The request has no credential, or one that is not valid now: mistyped, expired, revoked, or of another service.',
    remedy:
      'Send `Authorization: Bearer …` with a valid token or key. `WWW-Authenticate` says more. Public reads need no credential. [Asking for a key](/docs/guides/keys) says how to get one.',
    detail: 'Send "Authorization: Bearer <token>" once, with an access token or an API key.',
  },
  forbidden: {
    meaning:
      'The credential is valid, but may not do this: a scope is missing, a key is limited to other markets, or the claim is your own and another person must decide it.',
    remedy:
      'Use a credential that has one of the scopes in `detail`. `GET /api/v1/me` shows yours. Sending the request again does not help.',
    detail: 'This needs a credential with the scope claims:write.',
  },
  'quota-exceeded': {
    meaning:
      'You hold as much of something as you may: watchlists, markets on a watchlist, API keys. Or you are not entitled to file claims.',
    remedy: 'Delete some, or ask the operator for a higher limit. `GET /api/v1/entitlements` shows limits and use.',
    detail: 'Watchlists: 20 of 20 used, and this needs 1. Give some back, or ask for a higher limit.',
  },
  'not-found': {
    meaning:
      'Nothing public is at this URL, a cursor has expired, or the resource belongs to somebody else: these look the same on purpose.',
    remedy:
      'Check the slug against `GET /api/v1/markets`. If the URL has a cursor, start again from the first page. A kind of file that this service does not publish is 404 too: `GET /api/v1/snapshot` lists the kinds.',
    detail:
      'No such resource: /api/v1/markets lists the slugs of all markets. /api/v1/openapi.json lists all resources. If a cursor is unknown or has expired, start again from the first page, without a cursor.',
  },
  'method-not-allowed': {
    meaning: 'The resource exists, but not for this method. Public reads take GET, HEAD and OPTIONS.',
    remedy: 'Use a method that the field `Allow` names. Methods are written in capitals.',
    detail: 'This resource is read-only: use one of GET, HEAD, OPTIONS.',
  },
  'request-timeout': {
    meaning: 'The request did not arrive completely in time.',
    remedy: SEND_AGAIN,
    detail: 'The request did not arrive in time: send it at once.',
  },
  contention: {
    meaning:
      'Other writers were changing the same resource at the same moment, again and again. Nothing was changed by this request.',
    remedy: `${WAIT} Keep the \`Idempotency-Key\`.`,
    detail: 'Other writers are changing the same resource: retry with the same Idempotency-Key.',
  },
  'state-transition': {
    meaning:
      'The resource is in a state that does not allow this change: a decided claim cannot be withdrawn, a revoked key cannot get a new secret.',
    remedy: 'Read the resource. `detail` says what its state allows; for a claim, `errors` lists the changes.',
    detail: 'The claim is accepted, which does not allow withdraw: that state is final.',
  },
  conflict: {
    meaning:
      'The request is well formed, but contradicts what is stored: a second removal of a market, a claim about an observation that has gone, one piece of evidence too many.',
    remedy: 'Read what is stored and decide again. The same request will be refused again.',
    detail: 'Nothing is left to do: the market gold-usd was removed and does not come back: use another slug.',
  },
  'market-removed': {
    meaning:
      'The market was removed for good. Every URL of it answers with this document, which has the reason, the moment and the market to read instead.',
    remedy:
      'Read the market that `replacedBy` names. If it is null, nothing replaces it. Take the market out of your list.',
    detail: 'This market was removed. Its operator says why: Its source never published these numbers.',
  },
  'history-too-long': {
    meaning: 'The history, or a year of it, has more than 20,000 rows or 24 MiB, so it is not published as one file.',
    remedy: 'Read the URLs that `instead` lists: the file of each year, or the index of pages and the daily exports.',
    detail: 'The history has more than 20,000 rows, or 24 MiB: GET the file of each year.',
  },
  'taken-down': {
    meaning: 'Entries of this file of the log had to be taken out, for legal reasons.',
    remedy:
      'Read the file of lines that `detail` names. It has the other entries, and the hashes of all, so the tree can still be checked.',
    detail: 'Read /api/v1/log/ndjson/000.gz: it has the other entries, and the hashes of all.',
  },
  'precondition-failed': {
    meaning:
      'The version that `If-Match` names is not the current one: somebody has changed the resource since you read it. Or it exists already, and you sent `If-None-Match: *`.',
    remedy: 'Read it again, look at the change, and decide again with the new ETag. Do not retry blindly.',
    detail: 'It has changed since you read it: read it again, and decide again.',
  },
  'content-too-large': {
    meaning: 'The body has more bytes than this operation takes, or the method takes no body.',
    remedy:
      '`detail` names the limit. Send several batches, or announce a large file with `POST /api/v1/ingest/uploads`.',
    detail: 'The body may have at most 65536 bytes.',
  },
  'uri-too-long': {
    meaning: 'The URL is longer than any URL of this API.',
    remedy: 'Use URLs as the API gives them. Data of a write belongs into the body.',
    detail: 'The URL may have at most 2048 characters after the host.',
  },
  'unsupported-media-type': {
    meaning: 'The body has a `Content-Type` that this operation does not take, or a `Content-Encoding`.',
    remedy: 'Send `Content-Type: application/json`, uncompressed. Batches also take `application/x-ndjson`.',
    detail: 'Content-Type must be application/json; the only parameter may be charset=utf-8.',
  },
  'range-not-satisfiable': {
    meaning: 'The range in `Range` begins behind the end of the file.',
    remedy:
      '`Content-Range` has the length. If you continue a download, you have the whole file already, or it became shorter: send its ETag as `If-Range`.',
    detail: 'The body has 11342 bytes: ask for some of them.',
  },
  'idempotency-key-reused': {
    meaning:
      'The key was used within 72 hours for another request: another URL, precondition or body. A body counts as other if one byte differs.',
    remedy: 'Use a new key for a new request. To send a request again, keep its bytes as they were.',
    detail: 'This Idempotency-Key has been used for another request within 72 hours: use a new key for a new request.',
  },
  'validation-failed': {
    meaning:
      'The body is JSON, but does not fit its schema, or names something that does not exist. Nothing was changed.',
    remedy:
      '`errors` lists every fault: `pointer` is its place (JSON Pointer), `code` is for programs, `detail` says how to correct it.',
    detail: 'Not every slug names a market: see errors.',
  },
  'precondition-required': {
    meaning: 'This write could undo a change of somebody else, so it must say which version it has seen.',
    remedy:
      'Read the resource and send its ETag as `If-Match`; `*` means any version. To create, send `If-None-Match: *`.',
    detail: 'Send the ETag of the version that you have seen as If-Match.',
  },
  'rate-limited': {
    meaning:
      'This credential has sent too many requests in a short time. `RateLimit` and `RateLimit-Policy` show the rate in every answer.',
    remedy: `${WAIT} Spread requests, and send many records in one batch. Public reads have no such rate.`,
    detail: 'Too many requests with this credential: wait 2 s.',
  },
  'daily-quota-exceeded': {
    meaning: 'The amount of this day is used up. The count starts again at 00:00 UTC.',
    remedy:
      'Wait for `Retry-After`, or ask the operator for a higher limit. `GET /api/v1/entitlements` shows limits and use.',
    detail: 'Claims filed in a day: 20 of 20 used, and this needs 1. The count starts again at 0 at 00:00 UTC.',
  },
  'header-fields-too-large': {
    meaning:
      'The header fields of the request are too many or too long. Usually a proxy or a browser has added cookies.',
    remedy: 'Send fewer or shorter fields. This API uses no cookies.',
    detail: 'The header fields are too large: send fewer or shorter ones.',
  },
  'internal-error': {
    meaning: 'A fault of the service. The operator sees it; `instance` has the number of the request.',
    remedy: `${SEND_AGAIN} If it stays, tell the operator the value of \`instance\`.`,
    detail: 'A fault of the service: retry later.',
  },
  'origin-unavailable': {
    meaning:
      'The published files cannot be read at the moment, and no cache has a copy that is young enough: the service starts, or its storage fails.',
    remedy: `${WAIT} Until then, show your own copy with its age.`,
    detail: 'The service is starting: retry in 1 s.',
  },
  'service-unavailable': {
    meaning:
      'The write API cannot reach its storage, or the issuer of tokens, at the moment. Whether a write took effect is not known.',
    remedy: `${WAIT} Keep the \`Idempotency-Key\`: the write takes effect at most once.`,
    detail:
      'Not available at the moment. The outcome of a write is unknown: send it again with the same Idempotency-Key.',
  },
};
