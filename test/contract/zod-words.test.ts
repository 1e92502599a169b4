/** The texts of faults need no knowledge of the schema library. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { OPERATIONS, type OperationId, operationOf } from '../../contract/operations/operations.ts';
import { flattenIssues, valueAt } from '../../contract/values/zod-pointers.ts';
import { plainWords } from '../../contract/values/zod-words.ts';

function wordsFor(schema: z.ZodType, value: unknown): readonly string[] {
  const { error } = schema.safeParse(value, { error: plainWords });
  return flattenIssues(error?.issues ?? []).map(({ message }) => message);
}

const either = z.union([z.literal('all'), z.array(z.string()).min(1)]);
const shapes = z.discriminatedUnion('kind', [z.object({ kind: z.literal('x') }), z.object({ kind: z.literal('y') })]);

test.each<[string, z.ZodType, unknown, string]>([
  ['a missing string', z.object({ a: z.string() }), {}, 'is missing'],
  ['a value of another kind', z.string(), 5, 'must be a string, and is a number'],
  ['an array for an object', z.object({}), [], 'must be an object, and is an array'],
  ['a fraction', z.int(), 1.5, 'must be an integer'],
  ['another constant', z.literal('x'), 'y', 'must be "x"'],
  ['another number of items', z.array(z.string()).length(2), [], 'must have exactly 2 items'],
  ['too long a string', z.string().max(1), 'xx', 'must have at most 1 character'],
  ['too small a number', z.int().min(3), 1, 'must be at least 3'],
  ['a number at an open lower bound', z.number().gt(3), 3, 'must be more than 3'],
  ['a number at an open upper bound', z.number().lt(3), 3, 'must be less than 3'],
  ['a number between steps', z.number().multipleOf(2), 3, 'must be a multiple of 2'],
  ['a string of another form', z.string().regex(/^a/), 'b', 'must match /^a/'],
  ['an unknown member', z.strictObject({}), { b: 1 }, 'unknown field: remove it'],
  ['neither of two', either, 5, 'must be "all"; or must be an array, and is a number'],
  ['another kind of several shapes', shapes, { kind: 'z' }, 'must be one of "x", "y"'],
])('of %s', (_, schema, value, words) => {
  expect(wordsFor(schema, value)).toEqual([words]);
});

test('a schema keeps its own words', () => {
  expect(wordsFor(z.string().min(2, 'is too short'), '')).toEqual(['is too short']);
});

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
