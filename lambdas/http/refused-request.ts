import { type Problem, type ProblemCode, type ProblemError, problem } from '../../contract/problems/problems.ts';

/** Ends a request before its decision. Thrown by the steps of the pipeline, never by handlers. */
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

/** Refuses with a problem of the catalogue. `detail` states the fault of this request and its remedy. */
export function refusedRequest(code: ProblemCode, detail: string, errors?: readonly ProblemError[]): RefusedRequest {
  return new RefusedRequest(problem(code, detail, errors && { errors }));
}
