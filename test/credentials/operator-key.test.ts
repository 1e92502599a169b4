/** The first key of a deployment: exactly one, also if several processes ask at once. */
import { expect, test } from 'vitest';
import { hasOperatorKey, registerFirstKey } from '../../lambdas/credentials/operator-key.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { apiKeyKey, FIRST_KEY_KEY } from '../../storage/records/accounts.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { overtakenLedger } from '../write-api/overtaken-ledger.ts';

const NOW = '2026-11-20T12:00:00Z';

const register = (ledger: Ledger, keyId: string) =>
  registerFirstKey(
    { ledger, nowMs: () => Date.parse(NOW), newId: (prefix) => `${prefix}_${keyId}` },
    { keyId, secret: keyId.repeat(10) },
  );

const keysOf = async (ledger: Ledger, ...keyIds: readonly string[]) =>
  (await Promise.all(keyIds.map((keyId) => ledger.get(apiKeyKey(keyId))))).map((item) => item?.value.id ?? null);

async function revoke(ledger: Ledger, keyId: string): Promise<void> {
  const key = apiKeyKey(keyId);
  const item = await ledger.get(key);
  if (item === null) throw new Error(`there is no key ${keyId}`);
  const value = { ...item.value, revokedAt: NOW };
  await ledger.transact([{ kind: 'put', key, revision: 2, value, if: { kind: 'present' } }], { attemptId: 'revoke' });
}

test.each(['no key yet', 'a revoked key'])(
  'of two that are made at once where there is %s, one counts',
  async (before) => {
    const ledger = openSqliteLedger(':memory:');
    if (before !== 'no key yet') {
      await register(ledger, 'old');
      await revoke(ledger, 'old');
    }
    expect(await hasOperatorKey(ledger, Date.parse(NOW))).toBe(false);
    let isFasterFirst = false;
    const late = overtakenLedger(ledger, async () => {
      isFasterFirst = await register(ledger, 'fast');
    });
    expect([await register(late, 'late'), isFasterFirst]).toEqual([false, true]);
    expect((await ledger.get(FIRST_KEY_KEY))?.value).toEqual({ keyId: 'fast' });
    expect(await keysOf(ledger, 'fast', 'late')).toEqual(['fast', null]);
    expect(await hasOperatorKey(ledger, Date.parse(NOW))).toBe(true);
  },
);

test('a second one is not made while the first counts', async () => {
  const ledger = openSqliteLedger(':memory:');
  expect([await register(ledger, 'one'), await register(ledger, 'two')]).toEqual([true, false]);
  expect(await keysOf(ledger, 'one', 'two')).toEqual(['one', null]);
});
