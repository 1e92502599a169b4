/** Turns zod's issues into a flat list of faults, each with a JSON Pointer. */
import type * as z from 'zod';
import { redact } from './redact.ts';

type Issue = z.core.$ZodIssue;

/**
 * JSON Pointer (RFC 6901) of a path into a document. A name that looks like a credential is replaced, because pointers are
 * sent and stored.
 */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${redact(String(part)).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The most issues about unknown fields of one object. With more, the document is wrong, not a field. */
const MAX_UNKNOWN_FIELDS = 50;

/**
 * One issue for each fault. Unknown fields get one issue each, at their own path. For a union: the faults of the branch
 * that matched best; if no branch matched at all, one issue for the union.
 *
 * @param most the most issues to make
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
    // A discriminated union with a wrong discriminator has no branches, so its own issue counts.
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
