/**
 * One request of the write API, from top to bottom: route, authenticate, limit, authorise, validate, then read or commit. API
 * Gateway's Lambda and the embedded server call the same function with the same events.
 *
 * A request that is refused before the commit has changed nothing. The answer of a committed request is sent now, or to its
 * next copy.
 */

import type { OperationDefinition, WriteApiOperation } from '../../contract/operations/operation.ts';
import {
  type OperationId,
  operationOf,
  type ReadOperationId,
  type WriteOperationId,
} from '../../contract/operations/operations.ts';
import { type Problem, problem } from '../../contract/problems/problems.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { matchesIfNoneMatch } from '../../contract/values/etags.ts';
import { redact } from '../../contract/values/redact.ts';
import { idsBy } from '../../storage/aws/runtime.ts';
import { diskFault } from '../../storage/ports/disk-fault.ts';
import type { ApiKeyEnvironment } from '../credentials/api-key-format.ts';
import { IssuerUnavailable } from '../credentials/issuer-keys.ts';
import type { Authenticator, Principal } from '../credentials/principal.ts';
import { handlerOf } from '../handlers.ts';
import { preflightResult, problemResult, textResult } from '../http/answer.ts';
import type { Body } from '../http/body.ts';
import type { Cursors } from '../http/cursor.ts';
import type { HttpEvent, HttpResult } from '../http/event.ts';
import { entityTag, readIdempotencyKey } from '../http/headers.ts';
import { refuseCredentialsIn } from '../http/query.ts';
import { type RateLimiter, rateLimitFields } from '../http/rate-limit.ts';
import { RefusedRequest, refusal, scopesRefusal } from '../http/refused-request.ts';
import { AuditChains } from '../review/audit-chains.ts';
import { isRetryable } from '../worker/contended.ts';
import { type CommitDependencies, commitWrite } from './commit.ts';
import type { OperationRequest, ReadHandler, WriteHandler } from './handler.ts';
import { route } from './route.ts';
import { pseudonymised } from './secrets.ts';
import { type Validated, validate } from './validate.ts';

/** The log line of a request. It never contains a credential, or any content of the request. */
export interface RequestLog {
  readonly requestId: string;
  readonly operation: OperationId | null;
  readonly status: number;
  /** The problem's code; null if there is no problem. */
  readonly code: string | null;
  readonly actor: string | null;
  /** Details for operators, redacted; null if there is no fault. */
  readonly fault: string | null;
}

export interface WriteApiDependencies extends Omit<CommitDependencies, 'chains' | 'authenticator'> {
  /** The environment of this deployment's API keys. */
  readonly environment: ApiKeyEnvironment;
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter;
  readonly cursors: Cursors;
  readonly log: (entry: RequestLog) => void;
}

/** An answer, and whether the request changed anything. If so, the publisher and the worker may have work. */
export interface Handled {
  readonly result: HttpResult;
  readonly committed: boolean;
  /** The fault of this service behind a 5xx, for callers in this process. */
  readonly error?: unknown;
}

/**
 * Adds the body to an event that came without it. Called once the sender may send it: authenticated, within the rate,
 * authorised. May reject with a `RefusedRequest`.
 */
export type ReceiveBody = (admitted: Admitted) => Promise<HttpEvent>;

export interface Admitted {
  readonly operation: OperationDefinition;
  /** The credential. */
  readonly actor: string;
}

export type HandleWrite = (event: HttpEvent, receive?: ReceiveBody) => Promise<Handled>;

/**
 * Never rejects: a fault of this service becomes a 5xx and a log line. Without `receive`, the event must have its whole body,
 * as in Lambda.
 */
export function createWriteApi(dependencies: WriteApiDependencies): HandleWrite {
  const chains = new AuditChains();
  return async (event, receive = async () => event) => {
    const { requestId } = event.requestContext;
    const trace: Trace = { operation: null, actor: null, rateFields: {} };
    try {
      const { result, committed } = await answer({ ...dependencies, chains }, event, receive, trace);
      return finish(result, committed, null, null);
    } catch (error) {
      const { problem, headers, fault } = refusalOf(error);
      const document = { ...problem, instance: `/requests/${requestId}` };
      const handled = finish(problemResult(document, headers), false, problem.code, fault);
      return fault === null ? handled : { ...handled, error };
    }

    function finish(result: HttpResult, committed: boolean, code: string | null, fault: string | null): Handled {
      const { operation, actor, rateFields } = trace;
      dependencies.log({ requestId, operation, status: result.statusCode, code, actor, fault });
      return { result: { ...result, headers: { ...result.headers, ...rateFields } }, committed };
    }
  };
}

/** The known parts of a request, for its log line and its answer's fields. */
interface Trace {
  operation: OperationId | null;
  actor: string | null;
  rateFields: Readonly<Record<string, string>>;
}

async function answer(
  dependencies: WriteApiDependencies & Pick<CommitDependencies, 'chains'>,
  head: HttpEvent,
  receive: ReceiveBody,
  trace: Trace,
): Promise<Handled> {
  const { http } = head.requestContext;
  // HEAD is answered as GET (RFC 9110, section 9.3.2); the server before this code removes the body.
  const method = http.method === 'HEAD' ? 'GET' : http.method;
  const { rawPath, headers } = head;

  const routed = route(method, rawPath);
  if (routed.kind === 'unknown') throw refusal('not-found', 'No such resource.');
  if (routed.kind === 'other-method') {
    if (method === 'OPTIONS') return { result: preflightResult(routed.allow), committed: false };
    const allow = routed.allow.join(', ');
    throw new RefusedRequest(problem('method-not-allowed', `This resource takes ${allow}.`), { allow });
  }
  const { operation, params } = routed;
  trace.operation = operation;
  const definition = operationOf(operation);

  // Checked first: a client with a credential in the URL may send no other one, and must learn that it has leaked.
  refuseCredentialsIn(head.rawQueryString);
  const authenticated = await authenticate(dependencies, headers.authorization, http.sourceIp);
  const principal = { ...authenticated, actor: pseudonymised(dependencies.secrets, authenticated.actor) };
  trace.actor = principal.actor;
  trace.rateFields = takeFromRate(dependencies, principal);
  authorise(definition, principal);
  // From here on the sender is authenticated. The bodies of other senders are never read.
  const event = await receive({ operation: definition, actor: principal.actor });
  const validated = validate(event, definition, params);
  const request = requestOf(dependencies, { operation, principal, ...validated });
  if (method === 'GET') {
    return { result: await answerRead(dependencies, request, headers['if-none-match']), committed: false };
  }

  const idempotencyKey = readIdempotencyKey(headers);
  const committed = await commitWrite(
    dependencies,
    request as OperationRequest<WriteOperationId>,
    (await handlerOf(operation)) as WriteHandler<WriteOperationId, unknown>,
    {
      idempotencyKey,
      fingerprint: fingerprintOf(dependencies, event, validated.raw),
      requestId: event.requestContext.requestId,
    },
  );
  const { status, body, replayed } = committed;
  const fields = { ...committed.headers, ...(replayed && { 'idempotency-replayed': 'true' }) };
  return { result: textResult(status, body, fields), committed: true };
}

function requestOf(
  { nowMs: now, randomBytes, environment }: WriteApiDependencies,
  parts: Pick<OperationRequest, 'operation' | 'principal'> & Validated,
): OperationRequest {
  const nowMs = now();
  const newId = idsBy({ nowMs: () => nowMs, randomBytes });
  return { ...parts, nowMs, now: new Date(nowMs).toISOString(), newId, randomBytes, environment };
}

async function authenticate(
  { authenticator }: WriteApiDependencies,
  authorization: string | undefined,
  address: string,
): Promise<Principal> {
  const result = await authenticator.authenticate(authorization, address);
  if ('principal' in result) return result.principal;
  const { code, detail, headers } = result.refused;
  throw new RefusedRequest(problem(code, detail), headers);
}

/** Takes one request from the credential's rate. Returns the header fields with its state. */
function takeFromRate({ rateLimiter }: WriteApiDependencies, { actor }: Principal): Readonly<Record<string, string>> {
  const rate = rateLimiter.take(actor);
  const fields = rateLimitFields(rate);
  if (rate.allowed) return fields;
  const detail = `Too many requests with this credential: wait ${rate.retryAfterSeconds} s.`;
  throw new RefusedRequest(problem('rate-limited', detail), fields);
}

function authorise({ scopes, marketLimit }: WriteApiOperation, principal: Principal): void {
  if (scopes.length > 0 && !scopes.some((scope) => principal.scopes.has(scope))) {
    throw scopesRefusal(scopes, `This needs a credential with the scope ${scopes.join(' or ')}.`);
  }
  if (principal.markets === null || marketLimit !== 'refused-for-limited-keys') return;
  const detail = 'A key that is limited to markets cannot use this operation. Use a key without that limit.';
  throw refusal('forbidden', detail);
}

async function answerRead(
  { ledger, cursors, secrets, uploads = null }: WriteApiDependencies,
  request: OperationRequest,
  ifNoneMatch: string | undefined,
): Promise<HttpResult> {
  const handler = (await handlerOf(request.operation)) as ReadHandler<ReadOperationId>;
  const answer = await handler(request as OperationRequest<ReadOperationId>, {
    reader: ledger,
    cursors,
    uploads,
    pseudonymOf: (text) => pseudonymised(secrets, text),
  });
  const body = canonicalJson(answer.body as Json);
  const etag = entityTag(answer.revision, body);
  const isCurrent = ifNoneMatch !== undefined && matchesIfNoneMatch(ifNoneMatch, etag);
  return isCurrent ? textResult(304, '', { etag }) : textResult(200, body, { etag });
}

/** The fingerprint of method, target, preconditions and bytes: requests are the same if it is equal. */
function fingerprintOf({ secrets }: WriteApiDependencies, event: HttpEvent, body: Body | null): string {
  const { headers, rawPath, rawQueryString, requestContext } = event;
  const conditions = [headers['if-match'], headers['if-none-match'], body?.mediaType];
  const texts = [requestContext.http.method, rawPath, rawQueryString, ...conditions.map((text) => text ?? '')];
  return secrets.fingerprint([...texts, body?.bytes ?? '']);
}

interface Failure {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
  readonly fault: string | null;
}

function refusalOf(error: unknown): Failure {
  if (error instanceof RefusedRequest) return { problem: error.problem, headers: error.headers, fault: null };
  // An issuer without an answer is not a fault of the code, and every request would log the same stack.
  const isForeign = error instanceof IssuerUnavailable;
  const text = error instanceof Error ? (isForeign ? error.message : (error.stack ?? error.message)) : String(error);
  const fault = redact(text);
  if (isRetryable(error) || isForeign) {
    const reason = diskFault(error) ?? 'Not available at the moment.';
    const detail = `${reason} The outcome of a write is unknown: send it again with the same Idempotency-Key.`;
    return { problem: problem('service-unavailable', detail), headers: { 'retry-after': '1' }, fault };
  }
  return { problem: problem('internal-error', 'A fault of the service: retry later.'), headers: {}, fault };
}
