/** The texts of faults need no knowledge of the schema library. */
import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { OPERATIONS, type OperationId, operationOf } from '../../contract/operations/operations.ts';
import { flattenIssues, valueAt } from '../../contract/values/zod-pointers.ts';
import { plainWords } from '../../contract/values/zod-words.ts';

function wordsFor(schema: z.ZodType, value: unknown): readonly string[] {
  const { error } = schema.safeParse(value, { error: plainWords });
  return flattenIssues(error?.issues ?? []).map(({ message }) => message);
}

test.each<[string, unknown, string[], unknown]>([
  ['a value', { unit: { of: 'kg' } }, ['unit', 'of'], 'kg'],
  ['nothing in null', { unit: null }, ['unit', 'of'], undefined],
  ['nothing in a text', { unit: 'kg' }, ['unit', 'length'], undefined],
  ['nothing that every object has', { unit: {} }, ['unit', 'constructor'], undefined],
])('a path leads to %s', (_, input, path, value) => {
  expect(valueAt(input, path)).toBe(value);
});

describe('for no body that an operation takes is anything left to zod', () => {
  const ids = Object.keys(OPERATIONS) as OperationId[];
  const bodies = ids.flatMap((id) => {
    const { body } = operationOf(id);
    return body === undefined ? [] : [{ id, body }];
  });
  const WRONG = [undefined, null, true, 1.5, -1, '', 'x'.repeat(100_000), [], [null], {}];

  test.each(bodies)('$id', ({ body }) => {
    const members = Object.keys((body as unknown as { shape?: object }).shape ?? {});
    const values = [...WRONG, ...members.flatMap((name) => WRONG.map((value) => ({ [name]: value })))];
    const words = values.flatMap((value) => wordsFor(body, value));
    expect(words).not.toEqual([]);
    expect(words.filter((word) => word === '' || /^(Invalid|Too|Unrecognized)|undefined|zod/i.test(word))).toEqual([]);
  });
});
