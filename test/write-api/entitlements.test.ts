import { beforeEach, describe, expect, it } from 'vitest';
import { ALL_FEATURES, FEATURES } from '../../contract/values/features.ts';
import { entitlementsKey, usageKey } from '../../storage/records/accounts.ts';
import { heldToSchemas } from './held-to-schemas.ts';
import { type ApiWorld, openApiWorld } from './world.ts';

const URL = '/api/v1/entitlements';
const CREATE = { 'if-none-match': '*' };
const ifMatch = (revision: number) => ({ 'if-match': `"${revision}"` });

interface Shown {
  readonly feature: string;
  readonly [name: string]: unknown;
}

describe('entitlements', () => {
  let world: ApiWorld;

  beforeEach(() => {
    world = heldToSchemas(openApiWorld({ scopes: { bob: ['entitlements:read'], carol: ['watchlists:read'] } }));
  });

  const put = (feature: string, body: object, headers: Record<string, string> = CREATE, subject = 'user:alice') =>
    world.call({ method: 'PUT', path: `${URL}/${subject}/${feature}`, body, headers, as: 'operator' });
  const withdraw = (feature: string, headers: Record<string, string>) =>
    world.call({ method: 'DELETE', path: `${URL}/user:alice/${feature}`, headers, as: 'operator' });
  const read = (query = '', as = 'alice') => world.call({ path: URL, query, as });
  const createWatchlist = () => world.call({ method: 'POST', path: '/api/v1/watchlists', body: { name: 'A list' } });

  async function shown(feature: string, query?: string, as?: string): Promise<Shown | undefined> {
    const { json } = await read(query, as);
    return json.entitlements.find((each: Shown) => each.feature === feature);
  }

  it('of a subject without a grant are the defaults of all features', async () => {
    const { status, json } = await read();
    expect(status).toBe(200);
    expect(json.subject).toBe('user:alice');
    expect(json.entitlements.map(({ feature }: Shown) => feature)).toEqual(ALL_FEATURES);
    for (const each of json.entitlements) {
      const { kind, defaultLimit } = FEATURES[each.feature as keyof typeof FEATURES];
      expect(each).toMatchObject({ kind, limit: defaultLimit, source: 'default', expiresAt: null, revision: null });
    }
  });

  it('show use and remainder, for a rate those of this day, and nothing for features that are not counted', async () => {
    await createWatchlist();
    const day = (name: string) => usageKey('user:alice', 'claims-per-day', name);
    const count = (name: string, by: number) =>
      ({ kind: 'count', key: day(name), by, atLeast: 0, atMost: 100 }) as const;
    await world.ledger.transact([count('2026-11-19', 9), count('2026-11-20', 4)], { attemptId: 'use' });
    const { json } = await read();
    const of = (name: string) => json.entitlements.find(({ feature }: Shown) => feature === name);
    expect(of('watchlists')).toMatchObject({ used: 1, remaining: 19, resetsAt: null });
    const resetsAt = '2026-11-21T00:00:00.000Z';
    expect(of('watchlist-writes-per-day')).toMatchObject({ used: 1, remaining: 4_999, resetsAt });
    expect(of('claims-per-day')).toMatchObject({ used: 4, remaining: 16, resetsAt });
    for (const name of ['watchlist-items', 'claims'])
      expect(of(name)).toMatchObject({ used: null, remaining: null, resetsAt: null });
  });

  it('of others need entitlements:admin; other credentials read only their own', async () => {
    await put('watchlists', { limit: 7 });
    expect(await shown('watchlists', 'subject=user:alice', 'operator')).toMatchObject({ limit: 7, source: 'granted' });
    expect((await read('', 'bob')).json.subject).toBe('user:bob');
    expect((await read('subject=user:bob', 'bob')).status).toBe(200);
    const refused = await read('subject=user:alice', 'bob');
    expect([refused.status, refused.json.code]).toEqual([403, 'forbidden']);
    expect(refused.headers['www-authenticate']).toContain('entitlements:admin');
    expect((await read('', 'carol')).json.code).toBe('forbidden');
    expect((await read('subject=nobody', 'operator')).json.code).toBe('invalid-request');
  });

  it('are granted, with the revision of the grant as ETag, and audited by subject and feature', async () => {
    const { status, headers, json } = await put('watchlists', { limit: 100, expiresAt: '2026-12-01T00:00:00.000Z' });
    expect([status, headers.etag]).toEqual([200, '"1"']);
    expect(json).toEqual({
      feature: 'watchlists',
      description: 'Watchlists',
      kind: 'quota',
      limit: 100,
      used: 0,
      remaining: 100,
      resetsAt: null,
      source: 'granted',
      expiresAt: '2026-12-01T00:00:00Z',
      revision: 1,
    });
    expect(await shown('watchlists')).toEqual(json);
    const query = 'target=entitlements/user:alice/watchlists';
    const audit = await world.call({ path: '/api/v1/audit-records', query, as: 'operator' });
    expect(audit.json.data).toMatchObject([{ actor: 'key:operator', action: 'putEntitlement' }]);
  });

  it('take the subject percent-encoded', async () => {
    expect((await put('watchlists', { limit: 3 }, CREATE, 'user%3Aauth0%7C5f%25')).status).toBe(200);
    expect(await shown('watchlists', 'subject=user%3Aauth0%7C5f%25', 'operator')).toMatchObject({ limit: 3 });
  });

  it.each([
    ['a boolean feature by enabled', 'claims', { enabled: false }, 200],
    ['a limit of nothing', 'watchlists', { limit: 0 }, 200],
    ['the most that can be granted', 'watchlist-items', { limit: 80 }, 200],
    ['more than can be granted', 'watchlist-items', { limit: 81 }, '/limit'],
    ['less than nothing', 'watchlists', { limit: -1 }, '/limit'],
    ['a boolean feature by limit', 'claims', { limit: 1 }, '/limit'],
    ['a quota by enabled', 'watchlists', { enabled: true }, '/enabled'],
    ['both', 'watchlists', { limit: 1, enabled: true }, '/enabled'],
    ['neither', 'watchlists', { expiresAt: null }, '/limit'],
    ['an end in the past', 'watchlists', { limit: 1, expiresAt: '2026-11-20T12:00:00Z' }, '/expiresAt'],
  ])('admit or refuse %s', async (_, feature, body, expected) => {
    const { status, json } = await put(feature, body);
    if (expected === 200) return expect(status).toBe(200);
    expect([status, json.code]).toEqual([422, 'validation-failed']);
    expect(json.errors.map(({ pointer }: { pointer: string }) => pointer)).toContain(expected);
  });

  it.each([
    ['an unknown feature', '/user:alice/ranking', 'feature'],
    ['a malformed subject', '/alice/watchlists', 'subject'],
    ['a malformed account', '/account:acme/watchlists', 'subject'],
  ])('do not exist for %s, and the answer names the part of the path', async (_, path, part) => {
    const answer = await world.call({ method: 'PUT', path: URL + path, body: { limit: 1 }, headers: CREATE });
    const { code, detail } = answer.json;
    expect([answer.status, code, detail]).toEqual([404, 'not-found', expect.stringContaining(`${part} in the path`)]);
  });

  // An existing grant has revision 2; its previous revision was 1.
  it.each([
    ['PUT', 'granted', ifMatch(1), 412],
    ['PUT', 'granted', ifMatch(2), 200],
    ['PUT', 'withdrawn', CREATE, 200],
    ['PUT', 'withdrawn', ifMatch(2), 412],
    ['PUT', 'withdrawn', { 'if-match': '*' }, 412],
    ['PUT', 'expired', CREATE, 200],
    ['PUT', 'expired', ifMatch(2), 412],
    ['DELETE', 'granted', ifMatch(2), 204],
    ['DELETE', 'granted', { 'if-match': '*' }, 204],
    ['DELETE', 'withdrawn', ifMatch(2), 404],
    ['DELETE', 'expired', ifMatch(2), 404],
  ])('%s of one that is %s with %j: %i', async (method, state, headers, status) => {
    await put('watchlists', { limit: 10 });
    await put('watchlists', { limit: 5, expiresAt: '2026-11-21T00:00:00Z' }, ifMatch(1));
    if (state === 'withdrawn') await withdraw('watchlists', ifMatch(2));
    if (state === 'expired') world.nowMs += 24 * 60 * 60 * 1000;
    const body = method === 'PUT' ? { limit: 6 } : undefined;
    const path = `${URL}/user:alice/watchlists`;
    const answer = await world.call({ method, path, body, headers, as: 'operator' });
    expect(answer.status).toBe(status);
    if (status === 412 && state === 'granted') expect(answer.headers.etag).toBe('"2"');
  });

  it('fall back to the default when the grant is withdrawn or ends', async () => {
    await put('watchlists', { limit: 5 });
    await put('api-keys', { limit: 5, expiresAt: '2026-11-20T13:00:00Z' });
    await withdraw('watchlists', ifMatch(1));
    expect(await shown('watchlists')).toMatchObject({ limit: 20, source: 'default', revision: null });
    world.nowMs = Date.parse('2026-11-20T13:00:00Z');
    expect(await shown('api-keys')).toMatchObject({ limit: 2, source: 'default', expiresAt: null, revision: null });
  });

  it('never use a revision twice, so that an ETag from before a withdrawal is stale after it', async () => {
    await put('watchlists', { limit: 5 });
    await withdraw('watchlists', ifMatch(1));
    const { json } = await put('watchlists', { limit: 6 });
    expect(json.revision).toBe(3);
    expect((await put('watchlists', { limit: 7 }, ifMatch(1))).status).toBe(412);
  });

  it('change feature by feature in one item, without conflicts', async () => {
    const features = ['watchlists', 'watchlist-items', 'claims-per-day', 'api-keys'];
    const granted = await Promise.all(features.map((feature) => put(feature, { limit: 1 })));
    expect(granted.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const changed = await Promise.all(
      granted.map(({ json }) => put(json.feature, { limit: 2 }, ifMatch(json.revision))),
    );
    expect(changed.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const feature of features) expect(await shown(feature)).toMatchObject({ limit: 2 });
    expect((await world.ledger.get(entitlementsKey('user:alice')))?.revision).toBe(8);
  });

  it('below the present use remove nothing, and allow nothing more until the use has dropped', async () => {
    const first = await createWatchlist();
    const second = await createWatchlist();
    const { json } = await put('watchlists', { limit: 1 });
    expect(json).toMatchObject({ limit: 1, used: 2, remaining: 0 });
    expect((await createWatchlist()).json.code).toBe('quota-exceeded');
    for (const { headers, json } of [first, second]) {
      const path = `/api/v1/watchlists/${json.id}`;
      await world.call({ method: 'DELETE', path, headers: { 'if-match': headers.etag } });
    }
    expect((await createWatchlist()).status).toBe(201);
  });

  it('can be changed by their own subject, with the scope', async () => {
    const path = `${URL}/operator/watchlists`;
    const answer = await world.call({ method: 'PUT', path, body: { limit: 1 }, headers: CREATE, as: 'operator' });
    expect(answer.status).toBe(200);
    expect(await shown('watchlists', '', 'operator')).toMatchObject({ limit: 1, source: 'granted' });
  });
});
