/** A JSON Schema as nested lists of Markdown: for each member its name, its type with its limits, and its description. Pure. */
import { isShared, nameOf, type Schema, schemaNamed } from './openapi-view.ts';

export const SCHEMAS_PAGE = '/docs/reference/schemas';

/** The type in words, and the lines of its parts. */
interface Shown {
  readonly type: string;
  readonly parts: readonly string[];
}

/** A whole schema: its type, its description, and its parts. */
export function schemaText(schema: Schema): string {
  const { type, parts } = shown(schema);
  const lines = [...aboutOf(schema), ...parts];
  const isOfItem = (line: string): boolean => /^(- | )/.test(line);
  const texts = lines.filter((line) => !isOfItem(line));
  return [`*${type}*`, ...texts, lines.filter(isOfItem).join('\n')].join('\n\n');
}

/** The type with its limits: `string, 1 to 9 characters`, `list of Market`, `integer or null`. */
export function typeOf(schema: Schema): string {
  return shown(schema).type;
}

function shown(schema: Schema): Shown {
  const { value, isNullable } = withoutNull(schema);
  const { type, parts } = shownValue(value);
  return { type: [isNullable ? `${type} or null` : type, ...limitsOf(value)].join(', '), parts };
}

function shownValue(schema: Schema): Shown {
  const { $ref, allOf, type = 'any', items, properties, additionalProperties, contentSchema } = schema;
  if ($ref !== undefined) return shownReference(nameOf($ref));
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return shownChoices(choices);
  // A reference with its own description, or several limits of one text.
  if (allOf !== undefined) return shownValue(allOf[0] as Schema);
  if (contentSchema !== undefined) return { type: `lines of ${typeOf(contentSchema)}`, parts: [] };
  if (type === 'array' && items !== undefined) {
    const { type, parts } = shown(items);
    return { type: `list of ${type}`, parts };
  }
  if (typeof additionalProperties === 'object') {
    const { type, parts } = shown(additionalProperties);
    const names = schema.propertyNames === undefined ? [] : limitsOf(schema.propertyNames);
    return {
      type: [`map of ${type}`, ...names.map((limit) => `names: ${limit}`)].join(', '),
      parts: [...membersOf(schema), ...parts],
    };
  }
  if (properties !== undefined) return { type: 'object', parts: membersOf(schema) };
  return { type: schema.const === undefined ? `${type}` : `always \`${JSON.stringify(schema.const)}\``, parts: [] };
}

/** A schema with a single use is shown there. */
function shownReference(name: string): Shown {
  if (isShared(name)) return { type: `[${name}](${SCHEMAS_PAGE}#${name})`, parts: [] };
  const schema = schemaNamed(name);
  const { type, parts } = shown(schema);
  return { type, parts: [...aboutOf(schema), ...parts] };
}

function shownChoices(choices: readonly Schema[]): Shown {
  const views = choices.map((choice) => ({ ...shown(choice), choice }));
  if (views.every(({ parts }) => parts.length === 0))
    return { type: views.map(({ type }) => type).join(' or '), parts: [] };
  return { type: 'one of', parts: views.flatMap(({ type, parts, choice }) => item('', type, choice, parts)) };
}

function membersOf({ properties = {}, required = [] }: Schema): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const { type, parts } = shown(schema);
    return item(`\`${name}\` `, required.includes(name) ? type : `${type}, optional`, schema, parts);
  });
}

/** Lists are compact: each further line of an item follows a hard break. */
function item(name: string, type: string, schema: Schema, parts: readonly string[]): readonly string[] {
  const lines = [...aboutOf(schema), ...parts].map((line) => `  ${line}`);
  const isText = (line: string | undefined): boolean => line?.trimStart().startsWith('- ') === false;
  return [`- ${name}*${type}*`, ...lines].map((line, at, all) => (isText(all[at + 1]) ? `${line}  ` : line));
}

function aboutOf(schema: Schema): readonly string[] {
  return [schema.description ?? withoutNull(schema).value.description ?? []].flat();
}

function limitsOf(schema: Schema): readonly string[] {
  const { format, pattern, minLength, maxLength, minimum, maximum, minItems, maxItems, uniqueItems } = schema;
  const code = (value: unknown): string => `\`${JSON.stringify(value)}\``;
  const texts = [
    schema.enum === undefined ? null : `one of ${schema.enum.map(code).join(' ')}`,
    format === undefined || format === 'int64' ? null : format,
    range(minLength, maxLength, ' characters'),
    range(safe(minimum), safe(maximum), ''),
    range(minItems, maxItems, ' items'),
    uniqueItems === true ? 'no item twice' : null,
    // The description of a URL states the allowed form in words.
    pattern === undefined || format === 'uri' ? null : `pattern \`${pattern}\``,
    schema.default === undefined ? null : `default ${code(schema.default)}`,
  ];
  return [...texts.filter((text) => text !== null), ...(schema.allOf ?? []).flatMap(limitsOf)];
}

function range(least: number | undefined, most: number | undefined, unit: string): string | null {
  const [low, high] = [least, most].map((value) => value?.toLocaleString('en'));
  if (low === undefined) return high === undefined ? null : `at most ${high}${unit}`;
  if (high === undefined) return `at least ${low}${unit}`;
  return low === high ? `${low}${unit}` : `${low} to ${high}${unit}`;
}

/** The bounds of JavaScript's safe integers are not shown, because they are no limit of the API. */
function safe(bound: number | undefined): number | undefined {
  return bound !== undefined && Math.abs(bound) === Number.MAX_SAFE_INTEGER ? undefined : bound;
}

/** `X or null` may be written as a choice, or as two types. The keywords beside it belong to X. */
function withoutNull(schema: Schema): { readonly value: Schema; readonly isNullable: boolean } {
  const { anyOf, type, ...beside } = schema;
  if (typeof type === 'object') {
    const types = type.filter((each) => each !== 'null');
    return { value: { ...schema, type: types.join(' or ') }, isNullable: types.length < type.length };
  }
  const others = anyOf?.filter(({ type }) => type !== 'null');
  if (others === undefined || others.length === anyOf?.length) return { value: schema, isNullable: false };
  return { value: { ...beside, ...(others.length === 1 ? others[0] : { anyOf: others }) }, isNullable: true };
}
