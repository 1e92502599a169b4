/** The first key of a deployment: without it nobody could issue any. */
import type { Json } from '../../contract/canonical-json.ts';
import { ALL_SCOPES } from '../../contract/scopes.ts';
import {
  type ApiKeyValue,
  type AuditValue,
  apiKeyKey,
  auditActorPartition,
  auditTargetPartition,
  FIRST_KEY_KEY,
} from '../../storage/account-records.ts';
import type { Change, ItemKey, Ledger } from '../../storage/ledger.ts';
import { type ApiKeyParts, hashSecret } from './api-key-format.ts';

/** Owns what the operators of a deployment write, whichever key they use. */
export const OPERATOR_SUBJECT = 'operator';

const ACTOR = 'system:first-run';

export interface FirstKeyDependencies {
  readonly ledger: Pick<Ledger, 'get' | 'transact'>;
  /** RFC 3339. */
  readonly now: string;
  readonly newId: (prefix: string) => string;
}

/** Whether the deployment has been given its first key, in use or revoked since. */
export async function hasFirstKey({ ledger }: Pick<FirstKeyDependencies, 'ledger'>): Promise<boolean> {
  return (await ledger.get(FIRST_KEY_KEY)) !== null;
}

/**
 * Puts the key into the ledger, with every scope, unless a first key has been there before. Safe to do again with the
 * same key: keep it in a safe place first, then call this.
 */
export async function registerFirstKey(
  { ledger, now, newId }: FirstKeyDependencies,
  { keyId, secret }: Pick<ApiKeyParts, 'keyId' | 'secret'>,
): Promise<void> {
  const value: ApiKeyValue = {
    id: keyId,
    subject: OPERATOR_SUBJECT,
    label: 'First operator key',
    scopes: [...ALL_SCOPES],
    secretHash: hashSecret(secret),
    previousSecret: null,
    createdAt: now,
    expiresAt: null,
    revokedAt: null,
  };
  const id = newId('aud');
  const target = `api-key/${keyId}`;
  const audit: AuditValue = { id, at: now, actor: ACTOR, action: ACTOR, target, requestId: id, fingerprint: '' };
  const put = (key: ItemKey, revision: number, item: Json): Change => {
    return { kind: 'put', key, revision, value: item, if: { kind: 'absent' } };
  };
  await ledger.transact(
    [
      put(FIRST_KEY_KEY, 0, null),
      put(apiKeyKey(keyId), 1, value),
      put({ partition: auditActorPartition(ACTOR), sort: id }, 0, audit),
      put({ partition: auditTargetPartition(target), sort: id }, 0, audit),
    ],
    { attemptId: id },
  );
}
