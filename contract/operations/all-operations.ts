/** The operations of the write API and the public reads: what the OpenAPI document describes. */
import type * as z from 'zod';
import { compatReads } from './compat-reads.ts';
import { fileReads } from './file-reads.ts';
import type { OperationDefinition } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { publicReadOperations } from './public-reads.ts';

export const ALL_OPERATIONS = {
  ...publicReadOperations,
  ...compatReads,
  ...fileReads,
  ...OPERATIONS,
} as const;

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
