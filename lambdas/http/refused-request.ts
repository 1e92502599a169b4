import { type Problem, type ProblemCode, type ProblemError, problem } from '../../contract/problems/problems.ts';

/** Ends a request without any effect. Every step of the pipeline and every handler may throw it. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;

  constructor(problem: Problem, headers: Readonly<Record<string, string>> = {}) {
    super(problem.detail);
    this.problem = problem;
    this.headers = headers;
  }
}

/** A problem of the catalogue. `detail` states the fault of this request and its remedy. */
export function refusal(
  code: ProblemCode,
  detail: string,
  { errors, headers }: { readonly errors?: readonly ProblemError[]; readonly headers?: RefusedRequest['headers'] } = {},
): RefusedRequest {
  return new RefusedRequest(problem(code, detail, errors && { errors }), headers);
}

/** Scopes are missing (RFC 6750, section 3.1). */
export function scopesRefusal(scopes: readonly string[], detail: string): RefusedRequest {
  const challenge = `Bearer realm="tidemark", error="insufficient_scope", scope="${scopes.join(' ')}"`;
  return refusal('forbidden', detail, { headers: { 'www-authenticate': challenge } });
}
