/**
 * The operations with JSON answers, by method and path. Only types, so that the package has them without the schema library
 * (tools/build/client-types.ts).
 */
import type * as z from 'zod';
import type { ALL_OPERATIONS } from '../../contract/operations/all-operations.ts';

type Table = typeof ALL_OPERATIONS;

type Part<Row, Name extends 'params' | 'query' | 'body'> =
  Row extends Readonly<Record<Name, infer Schema extends z.ZodType>> ? z.input<Schema> : undefined;

type AnswerOf<Success> = Success extends { readonly body: infer Schema extends z.ZodType } ? z.output<Schema> : null;

type RouteOf<Row> = Row extends { readonly success: { readonly mediaType: string } }
  ? never
  : Row extends { readonly method: infer Method extends string; readonly path: infer Path extends string }
    ? `${Method} ${Path}`
    : never;

/** Input and answer of each operation. `undefined`: it has no such input; `null`: it answers without a body. */
export type Routes = {
  [Id in keyof Table as RouteOf<Table[Id]>]: {
    params: Part<Table[Id], 'params'>;
    query: Part<Table[Id], 'query'>;
    body: Part<Table[Id], 'body'>;
    answer: AnswerOf<Table[Id]['success']>;
  };
};
