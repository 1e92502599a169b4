import { describe, expect, it } from 'vitest';
import { isRefused } from '../../lambdas/pipeline/handler.ts';
import { assumedRevision, checkIfMatch } from '../../lambdas/pipeline/preconditions.ts';
import type { Item } from '../../storage/ports/ledger.ts';

type IfMatch = Parameters<typeof checkIfMatch>[0];

const item = (revision: number): Item => {
  return { partition: 'p', sort: 's', revision, attemptId: 'a', expiresAtMs: null, value: null };
};

describe('checkIfMatch', () => {
  it.each<[string, IfMatch, Item | null | undefined, string | null]>([
    ['an absent resource', null, null, 'not-found'],
    ['an absent resource, by any version', 'any', null, 'not-found'],
    ['an absent resource, by a version', [1], null, 'not-found'],
    ['a resource', null, item(3), null],
    ['a resource, by any version', 'any', item(3), null],
    ['a resource, by its version', [3], item(3), null],
    ['a resource, by one of several', [1, 3], item(3), null],
    ['a resource, by another version', [2], item(3), 'precondition-failed'],
    ['a resource, by an impossible version', [], item(3), 'precondition-failed'],
    ['an unread resource', [2], undefined, null],
  ])('of %s', (_what, ifMatch, found, code) => {
    const answer = checkIfMatch(ifMatch, found);
    expect(isRefused(answer) ? answer.problem.code : null).toBe(code);
    if (code === null) expect(answer).toBe(found);
  });

  it('shows the current version', () => {
    expect(checkIfMatch([2], item(3))).toMatchObject({ headers: { etag: '"3"' } });
  });
});

describe('assumedRevision', () => {
  it.each<[string, IfMatch, Item | undefined, number]>([
    ['the stored one', [1], item(3), 3],
    ['the one that is named', [5], undefined, 5],
    ['the first that is named', [5, 6], undefined, 5],
    ['the first there is, where any will do', 'any', undefined, 1],
    ['any version, if none is named', null, undefined, 1],
  ])('is %s', (_what, ifMatch, found, revision) => {
    expect(assumedRevision(ifMatch, found)).toBe(revision);
  });

  it('is an impossible one, if only impossible versions are named', () => {
    expect(assumedRevision([], undefined)).toBeLessThan(0);
  });
});
