import { describe, expect, test } from 'vitest';
import { EDGE_PROBLEMS, problemType } from '../../contract/problems/edge-problems.ts';
import { PROBLEM_CODES, PROBLEMS, problem, problemCatalogue } from '../../contract/problems/problems.ts';

describe('the catalogue of problems', () => {
  test('has every code once, in the order of the codes, by status', () => {
    expect(Object.keys(PROBLEMS)).toEqual([...PROBLEM_CODES]);
    const statuses = Object.values(PROBLEMS).map(({ status }) => status);
    expect(statuses).toEqual(statuses.toSorted((left, right) => left - right));
  });

  test('agrees with what the edge says', () => {
    expect(PROBLEMS).toMatchObject(EDGE_PROBLEMS);
  });

  test.each(PROBLEM_CODES)('lists %s as a problem document says it', (code) => {
    const { type, title, status } = problem(code, 'detail');
    expect(type).toBe(problemType(code));
    expect((problemCatalogue() as { problems: object[] }).problems).toContainEqual({ code, type, title, status });
  });
});
