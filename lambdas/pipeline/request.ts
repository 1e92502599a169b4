import type { OperationId } from '../../contract/operations/operations.ts';
import { idsBy, type Runtime } from '../../storage/aws/runtime.ts';
import type { Entitlements } from '../credentials/account-cache.ts';
import type { ApiKeyEnvironment } from '../credentials/api-key-format.ts';
import type { Principal } from '../credentials/principal.ts';
import type { OperationRequest } from './handler.ts';
import { limitOf } from './quota.ts';

/** Makes the request; again after the subject's current entitlements were learnt. */
export type RequestFactory<Id extends OperationId> = (entitlements?: Entitlements) => OperationRequest<Id>;

export type RequestParts<Id extends OperationId> = Pick<
  OperationRequest<Id>,
  'operation' | 'params' | 'query' | 'body' | 'raw' | 'ifMatch' | 'mustCreate'
> & { readonly principal: Principal };

export interface RequestContext extends Pick<Runtime, 'randomBytes'> {
  readonly nowMs: number;
  readonly environment: ApiKeyEnvironment;
}

export function requestFactory<Id extends OperationId>(
  parts: RequestParts<Id>,
  { nowMs, randomBytes, environment }: RequestContext,
): RequestFactory<Id> {
  return (entitlements = parts.principal.entitlements) => ({
    ...parts,
    principal: { ...parts.principal, entitlements },
    nowMs,
    now: new Date(nowMs).toISOString(),
    newId: idsBy({ nowMs: () => nowMs, randomBytes }),
    randomBytes,
    environment,
    limitOf: (feature) => limitOf({ entitlements, nowMs }, feature),
  });
}
