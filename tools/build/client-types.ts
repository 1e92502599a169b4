/**
 * The types of the client's package, printed from the OpenAPI document: with its descriptions, and without the schema
 * library, from which the sources infer them. In a slow test, the compiler compares both.
 */
import {
  type AnswerView,
  OPENAPI,
  OPERATION_VIEWS,
  type OperationView,
  type Schema,
} from '../../clients/web/docs/openapi-view.ts';

/** The sources' names for types of the document. */
const ALIASES = [
  'export type IngestRecordInput = IngestRecord;',
  'export type PublicObservation = Observation;',
  'export type PublicMetric = Metric;',
  "export type ProblemCode = Problem['code'];",
  "export type ProblemError = NonNullable<Problem['errors']>[number];",
];

/** The text of a declaration file. */
export function clientTypes(): string {
  const schemas = Object.entries(OPENAPI.components.schemas).map(
    ([name, schema]) => `${comment(schema, '')}export type ${name} = ${typeOf(schema, '')};`,
  );
  const about = '/** What each operation takes, and what it answers. `null`: it answers without a body. */\n';
  const routes = OPERATION_VIEWS.flatMap(routeOf).join('');
  return `${[...schemas, ...ALIASES, `${about}export type Routes = {\n${routes}};`].join('\n\n')}\n`;
}

/** Empty for an operation whose answer is not JSON. */
function routeOf(operation: OperationView): readonly string[] {
  const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? [];
  const { content } = success as AnswerView;
  const answer = content === undefined ? 'null' : jsonOf(content);
  if (answer === null) return [];
  const members = {
    params: parameters(operation, 'path'),
    query: parameters(operation, 'query'),
    body: (operation.requestBody && jsonOf(operation.requestBody.content)) ?? 'undefined',
    answer,
  };
  const lines = Object.entries(members).map(([name, type]) => `    ${name}: ${type};\n`);
  return [`  ${JSON.stringify(`${operation.method} ${operation.path}`)}: {\n${lines.join('')}  };\n`];
}

/** Null: the content is not JSON. */
function jsonOf(content: NonNullable<AnswerView['content']>): string | null {
  const schema = content['application/json']?.schema;
  return schema === undefined ? null : typeOf(schema, '    ');
}

function parameters({ parameters: all }: OperationView, place: 'path' | 'query'): string {
  const own = all.filter((one) => one.in === place);
  if (own.length === 0) return 'undefined';
  return typeOf(
    {
      type: 'object',
      properties: Object.fromEntries(
        own.map(({ name, schema, description }) => [name, described(schema, description)]),
      ),
      required: own.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: false,
    },
    '    ',
  );
}

function described(schema: Schema, description: string | undefined): Schema {
  return { ...(description === undefined ? {} : { description }), allOf: [schema] };
}

function typeOf(schema: Schema, indent: string): string {
  const { $ref, allOf, anyOf, oneOf, items, properties, additionalProperties } = schema;
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const union = anyOf ?? oneOf;
  if (union !== undefined) return [...new Set(union.map((one) => typeOf(one, indent)))].join(' | ');
  // If the schema has a type, its `allOf` contains only patterns.
  if (allOf !== undefined && schema.type === undefined) return allOf.map((one) => typeOf(one, indent)).join(' & ');
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ');
  }
  if (schema.type === 'array') return `Array<${typeOf(items ?? {}, indent)}>`;
  if (schema.type === 'integer') return 'number';
  if (schema.type !== 'object') return (schema.type as string | undefined) ?? 'unknown';
  const lines = Object.entries(properties ?? {}).map(([name, member]) => {
    const optional = schema.required?.includes(name) ? '' : '?';
    return `${comment(member, `${indent}  `)}${indent}  ${JSON.stringify(name)}${optional}: ${typeOf(member, `${indent}  `)};\n`;
  });
  // Named members and an index signature would contradict each other.
  if (properties === undefined || Object.keys(properties).length === 0) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown';
    return `{ [name: string]: ${value} }`;
  }
  return `{\n${lines.join('')}${indent}}`;
}

function comment({ description }: Schema, indent: string): string {
  return description === undefined
    ? ''
    : `${indent}/** ${description.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`;
}
