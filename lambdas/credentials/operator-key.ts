/** The first key of a deployment. It issues all other keys. */
import { ALL_SCOPES } from '../../contract/operations/scopes.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import { created, replaced } from '../../storage/ports/changes.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { queryPages } from '../../storage/ports/paging.ts';
import { API_KEYS, type ApiKeyValue, apiKeyKey, endOfKey, FIRST_KEY_KEY } from '../../storage/records/accounts.ts';
import { serviceAudits } from '../review/audit-changes.ts';
import { type ApiKeyParts, hashSecret, secretMatches } from './api-key-format.ts';

/** The owner of the resources that operators write, with any of their keys. */
export const OPERATOR_SUBJECT = 'operator';

export interface FirstKeyDependencies extends Pick<Runtime, 'nowMs' | 'newId'> {
  readonly ledger: Pick<Ledger, 'get' | 'query' | 'transact'>;
}

type Reader = Pick<Ledger, 'get' | 'query'>;

/** Whether an operator has a valid key, neither revoked nor expired, that can issue others. */
export async function hasOperatorKey(ledger: Reader, nowMs: number): Promise<boolean> {
  for await (const items of queryPages(ledger, API_KEYS)) {
    if (items.some(({ value }) => isOfOperator(value) && endOfKey(value, nowMs) === null)) return true;
  }
  return false;
}

function isOfOperator({ subject, scopes }: ApiKeyValue): boolean {
  return subject === OPERATOR_SUBJECT && scopes.includes('keys:admin');
}

/** `unknown`: the ledger has no such key. `rotated`: its secret is no longer accepted. */
export type KeyState = 'valid' | 'revoked' | 'expired' | 'rotated' | 'unknown';

export async function keyStateOf(
  ledger: Reader,
  { keyId, secret }: Pick<ApiKeyParts, 'keyId' | 'secret'>,
  nowMs: number,
): Promise<KeyState> {
  const value = (await ledger.get(apiKeyKey(keyId)))?.value;
  if (value === undefined) return 'unknown';
  const { secretHash, previousSecret } = value;
  const overlaps = previousSecret !== null && Date.parse(previousSecret.validUntil) > nowMs;
  const isAccepted = secretMatches(secret, secretHash) || (overlaps && secretMatches(secret, previousSecret.hash));
  return endOfKey(value, nowMs) ?? (isAccepted ? 'valid' : 'rotated');
}

/**
 * Puts the key into the ledger with every scope, unless an operator already has a valid key. If all were revoked, this adds
 * another key, because nobody could ever issue keys otherwise. Store the key in a safe place before you call this. Returns
 * whether this call has put the key.
 */
export async function registerFirstKey(
  { ledger, nowMs, newId }: FirstKeyDependencies,
  { keyId, secret }: Pick<ApiKeyParts, 'keyId' | 'secret'>,
): Promise<boolean> {
  const first = await ledger.get(FIRST_KEY_KEY);
  if (await hasOperatorKey(ledger, nowMs())) return false;
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
  const { committed } = await ledger.transact(
    [
      first === null ? created(FIRST_KEY_KEY, { keyId }, 1) : replaced(first, { keyId }),
      created(apiKeyKey(keyId), value, 1),
      ...serviceAudits('system:first-run', [`api-key/${keyId}`], { newId, at: now }),
    ],
    { attemptId: newId('first') },
  );
  return committed;
}
