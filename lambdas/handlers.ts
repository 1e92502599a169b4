/**
 * The handlers of the write API, by the tags of their operations. An operation without a handler does not compile. Rarely used
 * handlers are loaded with their first request, so that the function starts faster.
 */
import {
  type OperationId,
  operationOf,
  type ReadOperationId,
  type TaggedOperationId,
  type WriteOperationId,
} from '../contract/operations/operations.ts';
import * as entitlements from './accounts/entitlements.ts';
import * as me from './accounts/me.ts';
import * as watchlists from './accounts/watchlists.ts';
import * as batches from './ingest/batches.ts';
import * as marketRemoval from './ingest/market-removal.ts';
import * as publications from './ingest/publications.ts';
import * as uploads from './ingest/uploads.ts';
import type { ReadHandler, WriteHandler } from './pipeline/handler.ts';
import * as audit from './review/audit-records.ts';
import * as claimActions from './review/claim-actions.ts';
import * as claims from './review/claims.ts';
import * as sourceVerifications from './review/source-verifications.ts';

export type Handlers = { readonly [Id in ReadOperationId]: ReadHandler<Id> } & {
  readonly [Id in WriteOperationId]: WriteHandler<Id, unknown>;
};

const HANDLERS: { readonly [Tag in keyof TaggedOperationId]: () => Promise<Pick<Handlers, TaggedOperationId[Tag]>> } = {
  Me: async () => me,
  Watchlists: async () => watchlists,
  Claims: async () => ({ ...claims, ...claimActions }),
  'Source verifications': async () => sourceVerifications,
  Entitlements: async () => entitlements,
  Ingest: async () => ({ ...batches, ...uploads }),
  Sources: async () => ({ ...(await import('./sources/sources.ts')), ...(await import('./sources/source-runs.ts')) }),
  Markets: async () => marketRemoval,
  Publications: async () => publications,
  Log: () => import('./ingest/takedowns.ts'),
  Waitlist: () => import('./accounts/waitlist-requests.ts'),
  'API keys': () => import('./accounts/api-keys.ts'),
  Audit: async () => audit,
  Erasure: () => import('./accounts/erasures.ts'),
};

export async function handlerOf<Id extends OperationId>(operation: Id): Promise<Handlers[Id]> {
  const { tag } = operationOf(operation);
  const handlers = await HANDLERS[tag as keyof TaggedOperationId]();
  return (handlers as Handlers)[operation];
}
