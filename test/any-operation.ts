/** Rows of the table of all operations, with the types of their answers. */
import type * as z from 'zod';
import { ALL_OPERATIONS } from '../contract/operations/all-operations.ts';
import type { OperationDefinition } from '../contract/operations/operation.ts';

export type AnyOperationId = keyof typeof ALL_OPERATIONS;

export type AnyResponseOf<Id extends AnyOperationId> = (typeof ALL_OPERATIONS)[Id]['success'] extends {
  readonly body: infer Schema extends z.ZodType;
}
  ? z.output<Schema>
  : null;

/** The row of an operation as the general type. */
export function anyOperationOf(id: AnyOperationId): OperationDefinition {
  return ALL_OPERATIONS[id];
}
