/** The OpenAPI document in the form that the reference needs. Pure. */

import { openApiDocument } from '../../../contract/openapi/openapi.ts';
import { problemCodesOf } from '../../../contract/openapi/openapi-problems.ts';
import { ALL_OPERATIONS } from '../../../contract/operations/all-operations.ts';
import type { OperationDefinition } from '../../../contract/operations/operation.ts';
import type { ProblemCode } from '../../../contract/problems/problems.ts';
import type { FeatureDefinition } from '../../../contract/values/features.ts';

/** The parts of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly title?: string;
  readonly contentMediaType?: string;
  readonly contentSchema?: Schema;
  readonly examples?: readonly unknown[];
}

export interface MediaContent {
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface AnswerView {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, MediaContent>>;
}

interface Reference {
  readonly $ref: string;
}

interface WrittenOperation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaContent>> };
  readonly responses: Readonly<Record<string, AnswerView | Reference>>;
}

interface Written {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, WrittenOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<
      Record<string, { readonly description: string; readonly schema: Schema; readonly example?: unknown }>
    >;
  };
  readonly 'x-tidemark-features': Readonly<Record<string, FeatureDefinition>>;
}

/** One operation, with the facts of its row in a form that pages can link. */
export interface OperationView extends Omit<WrittenOperation, 'parameters'> {
  readonly method: string;
  readonly path: string;
  readonly row: OperationDefinition;
  readonly parameters: readonly Parameter[];
  readonly problems: readonly ProblemCode[];
}

export const OPENAPI = openApiDocument() as unknown as Written;

export const OPERATION_VIEWS: readonly OperationView[] = Object.entries(OPENAPI.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, written]): OperationView => {
    const row: OperationDefinition = ALL_OPERATIONS[written.operationId as keyof typeof ALL_OPERATIONS];
    return {
      ...written,
      method: method.toUpperCase(),
      path,
      row,
      parameters: written.parameters.map((one) =>
        '$ref' in one ? (OPENAPI.components.parameters[nameOf(one.$ref)] as Parameter) : one,
      ),
      problems: problemCodesOf(row),
    };
  }),
);

/** The last part of a `$ref`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

export function schemaNamed(name: string): Schema {
  return OPENAPI.components.schemas[name] as Schema;
}

const uses = new Map<string, number>();
countUses([OPENAPI.paths, OPENAPI.components]);

/** Whether several places use the schema. Otherwise it is shown at its only place. */
export function isShared(name: string): boolean {
  return (uses.get(name) ?? 0) > 1;
}

function countUses(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if ('$ref' in value && typeof value.$ref === 'string' && value.$ref.includes('/schemas/')) {
    const name = nameOf(value.$ref);
    uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  for (const inner of Object.values(value)) countUses(inner);
}
