import { describe, expect, it } from 'vitest';
import { isRefused } from '../../lambdas/pipeline/handler.ts';
import { assumedRevision, matched } from '../../lambdas/pipeline/preconditions.ts';
import type { Item } from '../../storage/ledger.ts';

type IfMatch = Parameters<typeof matched>[0];

const item = (revision: number): Item => {
  return { partition: 'p', sort: 's', revision, attemptId: 'a', expiresAtMs: null, value: null };
};

describe('matched', () => {
  it.each<[string, IfMatch, Item | null | undefined, string | null]>([
    ['what is not there', null, null, 'not-found'],
    ['what is not there, by any version', 'any', null, 'not-found'],
    ['what is not there, by a version', [1], null, 'not-found'],
    ['what is there', null, item(3), null],
    ['what is there, by any version', 'any', item(3), null],
    ['what is there, by its version', [3], item(3), null],
    ['what is there, by one of several', [1, 3], item(3), null],
    ['what is there, by another version', [2], item(3), 'precondition-failed'],
    ['what is there, by a version of nobody', [], item(3), 'precondition-failed'],
    ['what nothing is known of', [2], undefined, null],
  ])('of %s', (_what, ifMatch, found, code) => {
    const answer = matched(ifMatch, found);
    expect(isRefused(answer) ? answer.problem.code : null).toBe(code);
    if (code === null) expect(answer).toBe(found);
  });

  it('shows the version that there is', () => {
    expect(matched([2], item(3))).toMatchObject({ headers: { etag: '"3"' } });
  });
});

describe('assumedRevision', () => {
  it.each<[string, IfMatch, Item | undefined, number]>([
    ['the stored one', [1], item(3), 3],
    ['the one that is named', [5], undefined, 5],
    ['the first that is named', [5, 6], undefined, 5],
    ['the first there is, where any will do', 'any', undefined, 1],
    ['the first there is, where none is named', null, undefined, 1],
  ])('is %s', (_what, ifMatch, found, revision) => {
    expect(assumedRevision(ifMatch, found)).toBe(revision);
  });

  it('is one that nothing has, where only versions of nobody are named', () => {
    expect(assumedRevision([], undefined)).toBeLessThan(0);
  });
});
