/** Answers over HTTP, checked against the contract. */
import assert from 'node:assert/strict';
import { PUBLIC_CACHE_CONTROL } from '../../contract/files/public-objects.ts';
import { problemCodesOf, problemSchema } from '../../contract/openapi/openapi-problems.ts';
import { ALL_OPERATIONS } from '../../contract/operations/all-operations.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { PROBLEMS, type Problem, type ProblemCode } from '../../contract/problems/problems.ts';
import { type AnyOperationId, type AnyResponseOf, anyOperationOf } from '../any-operation.ts';

export interface Answer {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** Decompressed; empty when there was no body. */
  readonly text: string;
}

/** The body of a success of this operation. Throws an `AssertionError` for any other answer. */
export function succeeded<Id extends AnyOperationId>(id: Id, answer: Answer): AnyResponseOf<Id> {
  const { status, body } = anyOperationOf(id).success;
  assert.equal(answer.status, status, `${inWords(answer)}, expected ${status} of ${id}: ${answer.text}`);
  return (body === null ? null : body.parse(JSON.parse(answer.text))) as AnyResponseOf<Id>;
}

/** The problem document with this code. Throws an `AssertionError` for any other answer. */
export function refused(code: ProblemCode, answer: Answer): Problem {
  assert.ok(answer.status >= 400, `${inWords(answer)}, expected ${code}`);
  assert.equal(answer.headers.get('content-type'), PROBLEM_CONTENT_TYPE, inWords(answer));
  const problem = problemSchema.parse(JSON.parse(answer.text)) as Problem;
  assert.equal(problem.code, code, `${inWords(answer)}: ${answer.text}`);
  assert.equal(answer.status, PROBLEMS[code].status);
  assert.equal(problem.status, answer.status);
  return problem;
}

/** A header field that has to be there. */
export function fieldOf(answer: Answer, name: string): string {
  const value = answer.headers.get(name);
  assert.ok(value !== null, `${inWords(answer)} without ${name}`);
  return value;
}

/** Returns the answer. Throws if it differs from the table of operations. */
export function heldToContract(answer: Answer): Answer {
  const id = operationAt(answer);
  const operation = id === null ? null : anyOperationOf(id);
  if (answer.status >= 400) {
    const { code } = problemSchema.parse(JSON.parse(answer.text));
    refused(code, answer);
    const isSaid = operation === null || problemCodesOf(operation).includes(code);
    assert.ok(isSaid, `${inWords(answer)} with ${code}, of which the contract says nothing`);
    return answer;
  }
  if (answer.status === 304 || answer.method === 'HEAD')
    assert.equal(answer.text, '', `${inWords(answer)} with a body`);
  else if (id !== null) succeeded(id, answer);
  if (operation?.scopes === null) {
    assert.equal(fieldOf(answer, 'cache-control'), PUBLIC_CACHE_CONTROL, inWords(answer));
    assert.equal(fieldOf(answer, 'access-control-allow-origin'), '*', inWords(answer));
    assert.match(fieldOf(answer, 'etag'), ENTITY_TAG, inWords(answer));
  } else if (operation !== null) {
    assert.equal(fieldOf(answer, 'cache-control'), 'no-store', inWords(answer));
    for (const name of operation.success.headers ?? []) fieldOf(answer, name);
  }
  return answer;
}

/** RFC 9110, section 8.8.3; weak where the body came compressed. */
const ENTITY_TAG = /^(W\/)?"[\x21\x23-\x7e]+"$/;

/** The operation of a method and a path, or null. */
function operationAt({ method, path }: Answer): AnyOperationId | null {
  const [pathname] = path.split('?', 1) as [string];
  const found = (Object.keys(ALL_OPERATIONS) as AnyOperationId[]).filter((id) => {
    const operation = anyOperationOf(id);
    const pattern = new RegExp(`^${operation.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    return operation.method === (method === 'HEAD' ? 'GET' : method) && pattern.test(pathname);
  });
  assert.ok(found.length <= 1, `${method} ${pathname} is ${found}`);
  return found[0] ?? null;
}

function inWords({ method, path, status }: Answer): string {
  return `${method} ${path} answered ${status}`;
}
