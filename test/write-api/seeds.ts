/** Records that tests write to the ledger directly. */

import type { Scope } from '../../contract/operations/scopes.ts';
import type { Feature } from '../../contract/values/features.ts';
import { formatApiKey, hashSecret, newApiKey } from '../../lambdas/credentials/api-key-format.ts';
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import {
  type ApiKeyValue,
  apiKeyKey,
  type EntitlementsValue,
  entitlementsKey,
} from '../../storage/records/accounts.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { seededBytes } from './world.ts';

let seeds = 0;
const keyBytes = seededBytes('api-keys');

async function commit(ledger: Ledger, changes: readonly Change[]): Promise<void> {
  await ledger.transact(changes, { attemptId: `seed-${++seeds}` });
}

/** Markets without data. */
export async function seedMarkets(ledger: Ledger, ...slugs: readonly string[]): Promise<void> {
  await commit(
    ledger,
    slugs.map((slug) => ({
      kind: 'put',
      key: marketKey(slug),
      revision: 1,
      value: { updatedAt: null },
      if: { kind: 'any' },
    })),
  );
}

export async function removeMarket(ledger: Ledger, slug: string): Promise<void> {
  await commit(ledger, [{ kind: 'delete', key: marketKey(slug), if: { kind: 'present' } }]);
}

/** Grants a subject exactly these limits, without end. Has no effect if another grant commits first. */
export async function grant(
  ledger: Ledger,
  subject: string,
  limits: { readonly [Name in Feature]?: number },
): Promise<void> {
  const key = entitlementsKey(subject);
  const before = await ledger.get(key);
  const revision = (before?.revision ?? 0) + 1;
  const grants = Object.entries(limits).map(([feature, limit]) => [
    feature,
    { limit, revision, grantedAt: '2026-11-01T00:00:00.000Z', expiresAt: null },
  ]);
  const value = { features: Object.fromEntries(grants) } as EntitlementsValue;
  const unchanged =
    before === null ? ({ kind: 'absent' } as const) : ({ kind: 'revision-is', revision: before.revision } as const);
  await commit(ledger, [{ kind: 'put', key, revision, value, if: unchanged }]);
}

/** Makes an API key. Returns its text. */
export async function seedApiKey(ledger: Ledger, subject: string, scopes: readonly Scope[]): Promise<string> {
  const key = newApiKey('test', keyBytes);
  const value: ApiKeyValue = {
    id: key.keyId,
    subject,
    label: 'Seeded',
    scopes: [...scopes],
    secretHash: hashSecret(key.secret),
    previousSecret: null,
    createdAt: '2026-11-01T00:00:00.000Z',
    expiresAt: null,
    revokedAt: null,
  };
  await commit(ledger, [{ kind: 'put', key: apiKeyKey(key.keyId), revision: 1, value, if: { kind: 'absent' } }]);
  return formatApiKey(key);
}
