/** The only error of the client: an answer with a problem, or a missing answer. */
import type { Problem, ProblemCode, ProblemError } from '../../contract/problems/problems.ts';

/**
 * Codes of this client, besides those of the service:
 *
 * - `no-answer`: no complete answer arrived, after all tries. The effect of a write is unknown: repeat it with the same
 *   idempotency key.
 * - `unexpected-answer`: not an answer of a Tidemark service. Often it comes from a proxy.
 * - `cursor-expired`: a walk was restarted several times without progress.
 * - `query-ignored`: the host has only files, and returned another page than the cursor names.
 * - `log-shorter`: the log has fewer entries than were read before.
 * - `newer-format`: the log has entries in a format that this version does not know.
 * - `not-in-log-yet`: the value is newer than the checkpoint of the log. Try again in a minute.
 */
export type ClientCode =
  | 'no-answer'
  | 'unexpected-answer'
  | 'cursor-expired'
  | 'query-ignored'
  | 'log-shorter'
  | 'newer-format'
  | 'not-in-log-yet';

export interface TidemarkErrorParts {
  readonly detail: string;
  readonly request?: string;
  readonly status?: number;
  readonly errors?: readonly ProblemError[];
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
  readonly idempotencyKey?: string | null;
  readonly cause?: unknown;
}

/** Distinguish errors by `code`. Messages are for people, and may change. */
export class TidemarkError extends Error {
  override readonly name = 'TidemarkError';
  /** A code of the service's problem catalogue, or of this client. A newer service may have more codes. */
  readonly code: ProblemCode | ClientCode | (string & {});
  /** HTTP status. Null: there was no answer. */
  readonly status: number | null;
  /** The fault and its remedy. */
  readonly detail: string;
  /** Method and address of the request, without its query. Null: the error is not about one request. */
  readonly request: string | null;
  /** The faults inside the request, each with a JSON Pointer. */
  readonly errors: readonly ProblemError[];
  /** State it when you ask the operator about this request. Null: the answer has none. */
  readonly requestId: string | null;
  /** The wait that the service requests, in milliseconds. Null: not stated. */
  readonly retryAfterMs: number | null;
  /** For a write: the key with which the same call can be repeated safely. Null: a read. */
  readonly idempotencyKey: string | null;

  constructor(code: TidemarkError['code'], parts: TidemarkErrorParts) {
    const asked = parts.request === undefined ? '' : ` (${parts.request})`;
    super(`${code}: ${parts.detail}${asked}`, { cause: parts.cause });
    this.code = code;
    this.detail = parts.detail;
    this.request = parts.request ?? null;
    this.status = parts.status ?? null;
    this.errors = parts.errors ?? [];
    this.requestId = parts.requestId ?? null;
    this.retryAfterMs = parts.retryAfterMs ?? null;
    this.idempotencyKey = parts.idempotencyKey ?? null;
  }
}

/** @param text the body of an error answer, which may come from a proxy and have any form */
export function errorOfAnswer(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  text: string,
  parts: Pick<TidemarkErrorParts, 'request' | 'retryAfterMs' | 'idempotencyKey'>,
): TidemarkError {
  const { code, detail, title, errors, instance } = problemIn(text);
  if (code === undefined) {
    const isElsewhere = status >= 300 && status < 400;
    const words = isElsewhere
      ? `leads to ${headers.get('location')}: use that address`
      : `is ${status}, and no problem`;
    return new TidemarkError('unexpected-answer', { ...parts, status, detail: `the answer ${words}` });
  }
  return new TidemarkError(code, {
    ...parts,
    status,
    detail: detail ?? title ?? String(status),
    errors,
    requestId: instance?.replace('/requests/', '') ?? null,
  });
}

/** The members that have the type of the contract. */
function problemIn(text: string): Partial<Omit<Problem, 'errors'>> & { readonly errors: readonly ProblemError[] } {
  const { code, detail, title, errors, instance } = membersOf(() => JSON.parse(text));
  const known = Object.entries({ code, detail, title, instance }).filter(([, value]) => typeof value === 'string');
  const isError = (each: unknown) =>
    ['pointer', 'code', 'detail'].every((name) => typeof membersOf(() => each)[name] === 'string');
  return { ...Object.fromEntries(known), errors: Array.isArray(errors) ? errors.filter(isError) : [] };
}

function membersOf(read: () => unknown): Readonly<Record<string, unknown>> {
  try {
    return { ...(read() as object) };
  } catch {
    return {};
  }
}
