/** Turns zod's issues into a flat list of faults, each with a JSON Pointer. */
import type * as z from 'zod';
import { redact } from './redact.ts';

type Issue = z.core.$ZodIssue;

/**
 * JSON Pointer (RFC 6901) of a path into a document. A name that is a credential is left out: pointers are answered and
 * stored.
 */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${redact(String(part)).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** For each object. More unknown fields than that mean a wrong document, not a wrong field. */
const MAX_UNKNOWN_FIELDS = 50;

/**
 * One issue for each fault. Unknown fields get one issue each, at their own path. For a union: the faults of the branch
 * that got furthest; if no branch was entered, one issue for the union.
 *
 * @param most no issue beyond these is made
 */
export function flattenIssues(issues: readonly Issue[], most = Number.POSITIVE_INFINITY): Issue[] {
  const found: Issue[] = [];
  for (const issue of flat(issues)) {
    if (found.length >= most) break;
    found.push(issue);
  }
  return found;
}

function* flat(issues: readonly Issue[]): Generator<Issue> {
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, MAX_UNKNOWN_FIELDS)) {
        yield { ...issue, path: [...issue.path, key], message: 'unknown field: remove it' };
      }
      continue;
    }
    // A discriminated union whose discriminator is wrong has no branches: the issue stands for itself.
    if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
      yield issue;
      continue;
    }
    const entered = issue.errors.find((branch) => branch.length > 0 && branch.every((inner) => isDeeper(inner)));
    if (entered === undefined) {
      const choices = issue.errors.flatMap((branch) => branch.map((inner) => inner.message));
      yield { ...issue, message: [...new Set(choices)].join('; or ') };
      continue;
    }
    for (const inner of flat(entered)) yield { ...inner, path: [...issue.path, ...inner.path] };
  }
}

function isDeeper(issue: Issue): boolean {
  return issue.path.length > 0 || issue.code === 'unrecognized_keys';
}

/** The value of a document at a path; undefined if it does not exist. */
export function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let found = input;
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<PropertyKey, unknown>)[part];
  }
  return found;
}
