import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CREDENTIAL_CACHE_SECONDS } from '../../lambdas/credentials/account-cache.ts';
import { formatApiKey, hashSecret, newApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { type EntitlementsValue, entitlementsKey } from '../../storage/records/accounts.ts';
import { type CredentialWorld, credentialWorld, newSigningKey, START_MS, tokenOf } from './credential-world.ts';

const revoked = { revokedAt: new Date(START_MS).toISOString() };

/** Whether a key is accepted. */
async function isAccepted(world: CredentialWorld, text = world.keyText): Promise<boolean> {
  return 'principal' in (await world.authenticator.authenticate(`Bearer ${text}`));
}

describe('a change to a key takes effect within CREDENTIAL_CACHE_SECONDS', () => {
  it('when it is revoked', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    expect(await isAccepted(world)).toBe(true);
    await world.putKey(world.key.keyId, revoked);
    world.clock.nowMs += CREDENTIAL_CACHE_SECONDS * 1000 - 1;
    expect(await isAccepted(world)).toBe(true);
    world.clock.nowMs += 1;
    expect(await isAccepted(world)).toBe(false);
    expect(world.counts.reads).toBe(2);
  });

  it('also if the clock is set back meanwhile', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    expect(await isAccepted(world)).toBe(true);
    await world.putKey(world.key.keyId, revoked);
    world.clock.nowMs -= 3_600_000;
    expect(await isAccepted(world)).toBe(false);
  });

  it('counted from when the ledger was asked, not from when it answered', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    world.storage.answerMs = 5000;
    expect(await isAccepted(world)).toBe(true);
    await world.putKey(world.key.keyId, revoked);
    world.clock.nowMs = START_MS + CREDENTIAL_CACHE_SECONDS * 1000;
    expect(await isAccepted(world)).toBe(false);
  });

  it('when it is created after it was asked for', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    const later = newApiKey('test', randomBytes);
    expect(await isAccepted(world, formatApiKey(later))).toBe(false);
    await world.putKey(later.keyId, { secretHash: hashSecret(later.secret) });
    world.clock.nowMs += CREDENTIAL_CACHE_SECONDS * 1000;
    expect(await isAccepted(world, formatApiKey(later))).toBe(true);
  });

  it('even in constant use', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    expect(await isAccepted(world)).toBe(true);
    await world.putKey(world.key.keyId, revoked);
    for (let second = 1; second < CREDENTIAL_CACHE_SECONDS; second++) {
      world.clock.nowMs += 1000;
      await isAccepted(world);
    }
    world.clock.nowMs += 1000;
    expect(await isAccepted(world)).toBe(false);
  });

  it('but the new secret of a rotation within a second, in use or not', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    expect(await isAccepted(world)).toBe(true);
    const { secret } = newApiKey('test', randomBytes);
    await world.putKey(world.key.keyId, { secretHash: hashSecret(secret) });
    world.clock.nowMs += 1000;
    expect(await isAccepted(world, formatApiKey({ ...world.key, secret }))).toBe(true);
    expect(await isAccepted(world)).toBe(false);
  });

  it('whereas expiry and the end of a rotation take effect at once', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    const previous = newApiKey('test', randomBytes).secret;
    const validUntil = new Date(START_MS + 1000).toISOString();
    const expiresAt = new Date(START_MS + 2000).toISOString();
    await world.putKey(world.key.keyId, { expiresAt, previousSecret: { hash: hashSecret(previous), validUntil } });
    const previousText = formatApiKey({ ...world.key, secret: previous });
    expect([await isAccepted(world), await isAccepted(world, previousText)]).toEqual([true, true]);
    world.clock.nowMs += 1000;
    expect([await isAccepted(world), await isAccepted(world, previousText)]).toEqual([true, false]);
    world.clock.nowMs += 1000;
    expect([await isAccepted(world), await isAccepted(world, previousText)]).toEqual([false, false]);
    expect(world.counts.reads).toBe(1);
  });
});

describe('a key that this process has changed', () => {
  it('takes effect at once', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    expect(await isAccepted(world)).toBe(true);
    await world.putKey(world.key.keyId, revoked);
    world.authenticator.forget(world.key.keyId);
    expect(await isAccepted(world)).toBe(false);
  });

  it('takes effect at once, although a read of it is under way that began before', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    const { promise: gate, resolve: answer } = Promise.withResolvers<void>();
    world.storage.answers = gate;
    const early = isAccepted(world);
    await world.putKey(world.key.keyId, revoked);
    world.authenticator.forget(world.key.keyId);
    world.storage.answers = Promise.resolve();
    const next = isAccepted(world);
    // The earlier answer comes last.
    await setImmediate();
    answer();
    expect([await early, await next, await isAccepted(world)]).toEqual([true, false, false]);
  });
});

describe('reads of the ledger', () => {
  const hundred = Array.from({ length: 100 });
  const guess = (keyId?: string) => formatApiKey({ ...newApiKey('test', randomBytes), ...(keyId && { keyId }) });
  const unknown = guess();

  it.each<[string, boolean, (world: CredentialWorld) => string]>([
    ['requests with a key', true, ({ keyText }) => keyText],
    ['guesses of a secret', false, ({ key }) => guess(key.keyId)],
    ['requests with a key that does not exist', false, () => unknown],
  ])('are one for many %s, one by one and at once', async (_, expected, textOf) => {
    const world = await credentialWorld({ signingKeys: [] });
    const answers = await Promise.all(hundred.map(() => isAccepted(world, textOf(world))));
    for (const _request of hundred) answers.push(await isAccepted(world, textOf(world)));
    expect(new Set(answers)).toEqual(new Set([expected]));
    expect(world.counts.reads).toBe(1);
  });

  it('do not grow for a key in use while key ids are invented by the thousand', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    await isAccepted(world);
    for (let invented = 0; invented < 11_000; invented++) {
      await isAccepted(world, formatApiKey(newApiKey('test', randomBytes)));
    }
    const { reads } = world.counts;
    expect(await isAccepted(world)).toBe(true);
    expect(world.counts.reads).toBe(reads);
  });
});

describe('when the ledger cannot be reached', () => {
  it('a key is neither accepted nor refused, and the failure is not remembered', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    world.storage.down = true;
    const both = await Promise.allSettled([isAccepted(world), isAccepted(world)]);
    for (const each of both) expect(each).toMatchObject({ status: 'rejected', reason: expect.any(StorageUnavailable) });
    world.storage.down = false;
    expect(await isAccepted(world)).toBe(true);
  });

  it('a key that was read lately is accepted, and no longer when that is too long ago', async () => {
    const world = await credentialWorld({ signingKeys: [] });
    await isAccepted(world);
    world.storage.down = true;
    expect(await isAccepted(world)).toBe(true);
    world.clock.nowMs += CREDENTIAL_CACHE_SECONDS * 1000;
    await expect(isAccepted(world)).rejects.toBeInstanceOf(StorageUnavailable);
  });

  it('users are accepted', async () => {
    const key = newSigningKey('EdDSA', 'ed-1');
    const world = await credentialWorld({ signingKeys: [key] });
    world.storage.down = true;
    expect(await isAccepted(world, tokenOf(key))).toBe(true);
  });
});

describe('entitlements', () => {
  const features = { watchlists: { limit: 7, revision: 3, grantedAt: '2031-01-01T00:00:00.000Z', expiresAt: null } };
  const item = (revision: number): Item<EntitlementsValue> => ({
    ...entitlementsKey('account:req_1'),
    revision,
    attemptId: 'attempt',
    expiresAtMs: null,
    value: { features },
  });
  const NONE = { revision: null, features: {} };

  async function believed(world: CredentialWorld): Promise<unknown> {
    const answer = await world.authenticator.authenticate(`Bearer ${world.keyText}`);
    return 'principal' in answer && answer.principal.entitlements;
  }

  it.each<readonly [name: string, learnt: readonly (Item<EntitlementsValue> | null)[], expected: unknown]>([
    ['are empty until an item is learnt', [], NONE],
    ['are those of the learnt item', [item(3)], { revision: 3, features }],
    ['are those of the item that was learnt last', [item(3), item(4)], { revision: 4, features }],
    ['may have been deleted and made again', [item(4), item(1)], { revision: 1, features }],
    ['are empty again when the item is gone', [item(3), null], NONE],
  ])('%s', async (_, learnt, expected) => {
    const world = await credentialWorld({ signingKeys: [] });
    for (const each of learnt) world.authenticator.learn('account:req_1', each);
    expect(await believed(world)).toEqual(expected);
    expect(world.counts.reads).toBe(1);
  });

  it("of another subject are not one's own", async () => {
    const world = await credentialWorld({ signingKeys: [] });
    world.authenticator.learn('account:req_2', item(3));
    expect(await believed(world)).toEqual(NONE);
  });

  it('of a user are those of the user', async () => {
    const key = newSigningKey('EdDSA', 'ed-1');
    const world = await credentialWorld({ signingKeys: [key] });
    world.authenticator.learn('user:alice', item(3));
    const answer = await world.authenticator.authenticate(`Bearer ${tokenOf(key)}`);
    expect(answer).toMatchObject({ principal: { entitlements: { revision: 3, features } } });
  });
});
