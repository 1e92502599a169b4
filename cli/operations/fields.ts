/** Options of a command, derived from the JSON Schema of a query or body. */
import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import type { OperationDefinition } from '../../contract/operations/operation.ts';

export interface Field {
  /** The name of the member in the query or body. */
  readonly name: string;
  readonly option: Option;
  /** The option for the opposite value: false for a boolean member, or null for a required one. */
  readonly opposite: Option | null;
  /** Whether the body must have the member, and it may be null. Then a person must choose the value or null. */
  readonly isStated: boolean;
  /** The default of the member, to which replacing a resource without it would reset it. Undefined: no default. */
  readonly initial: unknown;
}

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly default?: unknown;
}

/** Flags that stand for null. A dangerous meaning must not result from a forgotten flag, so it has a flag. */
const FLAGS_OF_NULL: Readonly<Record<string, string>> = { waitlistRequest: 'operator' };

/** Names of options that every command has, or that describe how the call is made. */
const TAKEN = ['url', 'write-url', 'key-file', 'profile', 'config', 'data', 'json', 'timeout', 'patience', 'body'];

/** The members that an option can express. Other members need the whole body. */
export function fieldsOf(schema: z.ZodType): readonly Field[] {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  const { required = [] } = json;
  return Object.entries(propertiesOf(json)).flatMap(
    ([name, member]) => fieldOf(name, member, required.includes(name)) ?? [],
  );
}

/** The names of an item's members that are not objects. @param member the member of the answer with the list of items */
export function columnsOfItems({ success }: OperationDefinition, member = 'data'): readonly string[] {
  if (success.body === null) return [];
  const json = z.toJSONSchema(success.body, { io: 'output', unrepresentable: 'any' }) as Schema;
  const items = json.properties?.[member]?.items ?? {};
  const isShown = (value: Schema) => kindsOf(value).every((kind) => kind !== 'object');
  return Object.entries(propertiesOf(items)).flatMap(([name, value]) => (isShown(value) ? name : []));
}

/** The members of the schema. For a union: the members of all its branches, with the words of each. */
function propertiesOf({ properties = {}, anyOf = [], oneOf = [] }: Schema): Readonly<Record<string, Schema>> {
  const members: Record<string, Schema> = {};
  for (const branch of [...[...anyOf, ...oneOf].map(propertiesOf), properties]) {
    for (const [name, member] of Object.entries(branch)) {
      const words = [...wordsOf(members[name]), ...wordsOf(member)];
      members[name] = name in members && words.length > 0 ? { type: 'string', enum: words } : member;
    }
  }
  return members;
}

function wordsOf({ enum: words, const: word }: Schema = {}): readonly unknown[] {
  return words ?? (word === undefined ? [] : [word]);
}

function kindsOf({ type, anyOf = [], oneOf = [], enum: words, const: word }: Schema): readonly string[] {
  if (type !== undefined) return [type];
  if (words !== undefined || word !== undefined) return ['string'];
  return [...anyOf, ...oneOf].flatMap(kindsOf);
}

function fieldOf(name: string, member: Schema, isRequired: boolean): Field | null {
  const kebab = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const flag = TAKEN.includes(kebab) ? `body-${kebab}` : kebab;
  const kinds = kindsOf(member);
  const kind = kinds.find((each) => each !== 'null');
  const text = (member.description ?? '').replaceAll('`', '');
  const words = member.enum?.every((word) => typeof word === 'string') ? ` (${member.enum.join(', ')})` : '';
  if (kind === 'array' && member.items !== undefined && kindsOf(member.items).includes('object')) return null;
  const isStated = isRequired && kinds.includes('null');
  const meaningOfNull = /\bNull: ([^.]+)\./.exec(text)?.[1];
  const leftOut = meaningOfNull === undefined || isStated ? '' : ` If left out: ${meaningOfNull}.`;
  const option = optionOf(flag, kind, `${firstSentence(text)}${leftOut}${words}`.trim());
  if (option === null) return null;
  const opposite = isStated
    ? new Option(`--${FLAGS_OF_NULL[name] ?? `null-${flag}`}`, meaningOfNull).conflicts(option.attributeName())
    : kind === 'boolean'
      ? new Option(`--no-${flag}`, 'the opposite')
      : null;
  return { name, option, opposite, isStated, initial: member.default };
}

function optionOf(flag: string, kind: string | undefined, description: string): Option | null {
  switch (kind) {
    case 'string':
      return new Option(`--${flag} <text>`, description);
    case 'integer':
    case 'number':
      return new Option(`--${flag} <n>`, description).argParser(numberOf);
    case 'boolean':
      return new Option(`--${flag}`, description);
    case 'array':
      return new Option(`--${flag} <list>`, `${description} Separated by commas.`.trim()).argParser(listOf);
    default:
      return null;
  }
}

function numberOf(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number.');
}

function listOf(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',').filter((word) => word !== '')];
}

/** The point of an abbreviation does not end a sentence. */
function firstSentence(text: string): string {
  return text.split(/(?<=(?<!\be\.g)\.)\s/)[0] ?? '';
}
