/**
 * The table of the write API's operations: the single source of method, path, scopes, schemas, problems and examples. The
 * router, authorisation, validation and the OpenAPI document are derived from it. Public reads are in a separate table
 * (all-operations.ts), because static files answer them, not our functions.
 */
import type * as z from 'zod';
import { apiKeyOperations } from './accounts/api-keys.ts';
import { claimOperations } from './accounts/claims.ts';
import { entitlementOperations } from './accounts/entitlements.ts';
import { meOperations } from './accounts/me.ts';
import { waitlistRequestOperations } from './accounts/waitlist-requests.ts';
import { watchlistOperations } from './accounts/watchlists.ts';
import { auditRecordOperations } from './audit-records.ts';
import { erasureOperations } from './erasures.ts';
import { ingestOperations } from './ingest.ts';
import { marketOperations } from './markets.ts';
import type { WriteApiOperation } from './operation.ts';
import { publicationOperations } from './publications.ts';
import { ALL_SCOPES, type Scope } from './scopes.ts';
import { sourceVerificationOperations } from './source-verifications.ts';
import { sourceOperations } from './sources.ts';
import { takedownOperations } from './takedowns.ts';

export const OPERATIONS = {
  ...watchlistOperations,
  ...claimOperations,
  ...sourceVerificationOperations,
  ...ingestOperations,
  ...sourceOperations,
  ...marketOperations,
  ...publicationOperations,
  ...takedownOperations,
  ...entitlementOperations,
  ...waitlistRequestOperations,
  ...apiKeyOperations,
  ...erasureOperations,
  ...auditRecordOperations,
  ...meOperations,
} as const satisfies Readonly<Record<string, WriteApiOperation>>;

type Table = typeof OPERATIONS;
export type OperationId = keyof Table;

/** The operations that only read. All others commit a transaction. */
export type ReadOperationId = {
  [Id in OperationId]: Table[Id] extends { method: 'GET' } ? Id : never;
}[OperationId];
export type WriteOperationId = {
  [Id in OperationId]: Table[Id] extends { method: 'GET' } ? never : Id;
}[OperationId];

export type TaggedOperationId = {
  [Tag in Table[OperationId]['tag']]: { [Id in OperationId]: Table[Id]['tag'] extends Tag ? Id : never }[OperationId];
};

type SchemaOf<Id extends OperationId, Part extends 'params' | 'query' | 'body'> =
  Table[Id] extends Readonly<Record<Part, infer Schema extends z.ZodType>> ? z.output<Schema> : undefined;

/** The writes whose handlers name the markets that they change. */
export type NamesMarkets<Id extends WriteOperationId> = Table[Id]['marketLimit'] extends 'handler-names-markets'
  ? true
  : false;

export type ParamsOf<Id extends OperationId> = SchemaOf<Id, 'params'>;
export type QueryOf<Id extends OperationId> = SchemaOf<Id, 'query'>;
export type BodyOf<Id extends OperationId> = SchemaOf<Id, 'body'>;
export type ResponseOf<Id extends OperationId> = Table[Id]['success'] extends {
  readonly body: infer Schema extends z.ZodType;
}
  ? z.output<Schema>
  : null;

/** The row of an operation, with the general type. */
export function operationOf(id: OperationId): WriteApiOperation {
  return OPERATIONS[id];
}

/** The scopes that a key with a limit to markets cannot have: each has an operation that the limit cannot restrict. */
export const UNLIMITED_SCOPES: readonly Scope[] = ALL_SCOPES.filter((scope) =>
  Object.values<WriteApiOperation>(OPERATIONS).some(
    ({ marketLimit, scopes }) => marketLimit === 'refused-for-limited-keys' && scopes.includes(scope),
  ),
);
