/** Plain texts about zod's faults, for the sender of the value. */
import type * as z from 'zod';

/** The names of types in JSON. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'must be a date and time such as 2026-10-01T12:00:00Z',
  date: 'must be a date such as 2026-10-01',
  url: 'must be an absolute URL',
  email: 'must be an e-mail address',
};

/**
 * For `safeParse`'s option `error`: tells the sender what to send instead. A schema's own message is kept; undefined keeps
 * zod's message. It never repeats a value that was sent.
 */
export function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : mustBe(issue.expected, issue.input);
    case 'invalid_value':
      return issue.input === undefined ? 'is missing' : `must be ${listOf(issue.values)}`;
    case 'invalid_union':
      return Array.isArray(issue.options)
        ? discriminated(issue.input, String(issue.discriminator), issue.options)
        : undefined;
    case 'too_small':
      return bounded(issue.origin, issue.minimum, issue.exact ? 'exactly' : issue.inclusive ? 'at least' : 'more than');
    case 'too_big':
      return bounded(issue.origin, issue.maximum, issue.exact ? 'exactly' : issue.inclusive ? 'at most' : 'less than');
    case 'invalid_format':
      return FORMATS[issue.format] ?? (issue.pattern === undefined ? undefined : `must match ${issue.pattern}`);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_key':
      return issue.issues.map(({ message }) => message).join('; ');
    default:
      return undefined;
  }
}

/** The fault of the field that selects one of several forms. */
function discriminated(input: unknown, field: string, options: readonly unknown[]): string {
  return Object.hasOwn(input as object, field) ? `must be ${listOf(options)}` : 'is missing';
}

function mustBe(expected: string, input: unknown): string | undefined {
  const type = TYPES[expected];
  if (type === undefined) return undefined;
  const sent = TYPES[input === null ? 'null' : Array.isArray(input) ? 'array' : typeof input];
  return expected === 'int' && typeof input === 'number' ? `must be ${type}` : `must be ${type}, and is ${sent}`;
}

function listOf(values: readonly unknown[]): string {
  const choices = values.map((value) => JSON.stringify(value));
  return choices.length === 1 ? (choices[0] as string) : `one of ${choices.join(', ')}`;
}

function bounded(origin: string, limit: number | bigint | string | Date, how: string): string | undefined {
  switch (origin) {
    case 'string':
      return `must have ${how} ${limit} character${limit === 1 ? '' : 's'}`;
    case 'array':
    case 'set':
      return `must have ${how} ${limit} item${limit === 1 ? '' : 's'}`;
    case 'number':
    case 'int':
      return `must be ${how} ${limit}`;
    default:
      return undefined;
  }
}
