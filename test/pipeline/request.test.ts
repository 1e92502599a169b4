import fc from 'fast-check';
import { decodeTime } from 'ulid';
import { describe, expect, it, test } from 'vitest';
import { FEATURES } from '../../contract/values/features.ts';
import type { Entitlements } from '../../lambdas/credentials/account-cache.ts';
import type { Principal } from '../../lambdas/credentials/principal.ts';
import { limitOf } from '../../lambdas/pipeline/quota.ts';
import { requestFactory } from '../../lambdas/pipeline/request.ts';
import { newUlid } from '../../storage/ports/ulid.ts';

const NOW_MS = Date.parse('2026-11-20T12:00:00Z');
const grant = (limit: number, expiresAt: string | null) => {
  return { limit, revision: 1, grantedAt: '2026-11-01T00:00:00.000Z', expiresAt };
};

describe('limitOf', () => {
  const { defaultLimit } = FEATURES.watchlists;
  const limitOfWatchlists = (features: Entitlements['features']) =>
    limitOf({ entitlements: { revision: 1, features }, nowMs: NOW_MS }, 'watchlists');

  it.each<[string, string | null, number]>([
    ['without end', null, 7],
    ['that lasts', '2026-11-20T12:00:00.001Z', 7],
    ['that ends now', '2026-11-20T12:00:00.000Z', defaultLimit],
    ['that has ended', '2026-11-20T11:59:59.999Z', defaultLimit],
  ])('is that of a grant %s', (_what, expiresAt, limit) => {
    expect(limitOfWatchlists({ watchlists: grant(7, expiresAt) })).toBe(limit);
  });

  it('is the default of another feature, and without grants', () => {
    expect(limitOfWatchlists({ claims: grant(0, null) })).toBe(defaultLimit);
    expect(limitOfWatchlists({})).toBe(defaultLimit);
  });

  it('can be 0', () => {
    expect(limitOfWatchlists({ watchlists: grant(0, null) })).toBe(0);
  });
});

describe('newUlid', () => {
  const chance = fc.uint8Array({ minLength: 16, maxLength: 16 });

  test('holds its moment and its chance, and sorts by the moment', () => {
    const moment = fc.integer({ min: 1, max: 2 ** 47 });
    fc.assert(
      fc.property(moment, chance, chance, (ms, one, other) => {
        const id = newUlid(ms, () => one);
        expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
        expect(decodeTime(id)).toBe(ms);
        expect(newUlid(ms + 1, () => other) > id).toBe(true);
        const isSame = one.every((byte, index) => (byte & 31) === ((other[index] as number) & 31));
        expect(newUlid(ms, () => other) === id).toBe(isSame);
      }),
    );
  });
});

describe('a request', () => {
  const principal: Principal = {
    kind: 'user',
    actor: 'user:alice',
    subject: 'user:alice',
    scopes: new Set(),
    markets: null,
    expiresAt: null,
    entitlements: { revision: 1, features: { watchlists: grant(1, null) } },
  };
  const parts = { params: undefined, query: undefined, raw: null, ifMatch: null, mustCreate: false } as const;
  const requestOf = requestFactory(
    { operation: 'createWatchlist', principal, body: { name: 'a', markets: [] }, ...parts },
    { nowMs: NOW_MS, randomBytes: (count) => new Uint8Array(count), environment: 'test' },
  );

  it('is of one moment', () => {
    const request = requestOf();
    expect([request.nowMs, request.now]).toEqual([NOW_MS, '2026-11-20T12:00:00.000Z']);
    expect(request.newId('wl')).toBe(`wl_${newUlid(NOW_MS, (count) => new Uint8Array(count))}`);
  });

  it('knows the limits that were believed, and then those that were learnt', () => {
    expect(requestOf().limitOf('watchlists')).toBe(1);
    const learnt = requestOf({ revision: 2, features: { watchlists: grant(9, null) } });
    expect([learnt.limitOf('watchlists'), learnt.principal.entitlements.revision]).toEqual([9, 2]);
    expect(principal.entitlements.revision).toBe(1);
  });
});
