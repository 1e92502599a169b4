/** The first key of a deployment. It issues all other keys. */
import { ALL_SCOPES } from '../../contract/scopes.ts';
import { created, replaced } from '../../storage/changes.ts';
import type { Item, Ledger } from '../../storage/ledger.ts';
import { type ApiKeyValue, apiKeyKey, FIRST_KEY_KEY, type FirstKeyValue } from '../../storage/records/accounts.ts';
import type { AuditValue } from '../../storage/records/audit.ts';
import type { Runtime } from '../../storage/runtime.ts';
import { chainOf } from '../review/audit-chains.ts';
import { auditChanges } from '../review/audit-changes.ts';
import { type ApiKeyParts, hashSecret } from './api-key-format.ts';

/** The owner of the resources that operators write, with any of their keys. */
export const OPERATOR_SUBJECT = 'operator';

const ACTOR = 'system:first-run';

export interface FirstKeyDependencies extends Pick<Runtime, 'nowMs' | 'newId'> {
  readonly ledger: Pick<Ledger, 'get' | 'transact'>;
}

/** Whether the deployment has its first key, and the key is not revoked. */
export async function hasFirstKey({ ledger }: Pick<FirstKeyDependencies, 'ledger'>): Promise<boolean> {
  return isInUse(ledger, await ledger.get(FIRST_KEY_KEY));
}

async function isInUse(ledger: Pick<Ledger, 'get'>, first: Item<FirstKeyValue> | null): Promise<boolean> {
  if (first === null) return false;
  const key = await ledger.get(apiKeyKey(first.value.keyId));
  return key !== null && key.value.revokedAt === null;
}

/**
 * Puts the key into the ledger with every scope, unless there is a first key. Replaces a revoked one, because the
 * deployment would be locked for good otherwise. Keep the key in a safe place before you call this. Returns whether
 * this call has put the key.
 */
export async function registerFirstKey(
  { ledger, nowMs, newId }: FirstKeyDependencies,
  { keyId, secret }: Pick<ApiKeyParts, 'keyId' | 'secret'>,
): Promise<boolean> {
  const first = await ledger.get(FIRST_KEY_KEY);
  if (await isInUse(ledger, first)) return false;
  const now = new Date(nowMs()).toISOString();
  const value: ApiKeyValue = {
    id: keyId,
    subject: OPERATOR_SUBJECT,
    label: 'First operator key',
    scopes: [...ALL_SCOPES],
    markets: null,
    secretHash: hashSecret(secret),
    previousSecret: null,
    createdAt: now,
    expiresAt: null,
    revokedAt: null,
  };
  const id = newId('aud');
  const target = `api-key/${keyId}`;
  const audit: AuditValue = { id, at: now, actor: ACTOR, action: ACTOR, target, requestId: id, fingerprint: '' };
  const { committed } = await ledger.transact(
    [
      first === null ? created(FIRST_KEY_KEY, { keyId }, 1) : replaced(first, { keyId }),
      created(apiKeyKey(keyId), value, 1),
      ...chainOf([audit]).flatMap((chained) => auditChanges(chained)),
    ],
    { attemptId: id },
  );
  return committed;
}
