import { beforeEach, describe, expect, it } from 'vitest';
import { heldToSchemas } from './held-to-schemas.ts';
import { type ApiWorld, openApiWorld } from './world.ts';

const URL = '/api/v1/audit-records';
const DAY_MS = 24 * 60 * 60 * 1000;

describe('audit records', () => {
  let world: ApiWorld;

  beforeEach(() => {
    world = heldToSchemas(openApiWorld({ scopes: { bob: ['watchlists:write'] } }));
  });

  const list = (query: string, as = 'operator') => world.call({ path: URL, query, as });

  /** A millisecond later than the one before. */
  async function createWatchlist(as: string): Promise<string> {
    world.nowMs += 1;
    const { json } = await world.call({ method: 'POST', path: '/api/v1/watchlists', body: { name: 'A list' }, as });
    return json.id;
  }

  async function renameWatchlist(id: string, as: string): Promise<void> {
    world.nowMs += 1;
    const path = `/api/v1/watchlists/${id}`;
    const headers = { 'if-match': '*' };
    await world.call({ method: 'PUT', path, body: { name: 'Another name' }, headers, as });
  }

  it('are listed by actor, newest first, without the digest of the request', async () => {
    const id = await createWatchlist('alice');
    await renameWatchlist(id, 'alice');
    await createWatchlist('bob');
    const { status, json } = await list('actor=user:alice');
    expect(status).toBe(200);
    expect(json).toEqual({
      data: [
        {
          id: expect.stringMatching(/^aud_/),
          at: '2026-11-20T12:00:00.002Z',
          actor: 'user:alice',
          action: 'replaceWatchlist',
          target: `watchlist/${id}`,
          requestId: expect.any(String),
        },
        expect.objectContaining({ at: '2026-11-20T12:00:00.001Z', action: 'createWatchlist' }),
      ],
      page: { nextCursor: null },
    });
  });

  it('are listed by target, with all actors', async () => {
    const grant = (as: string, ifMatch: string | undefined, limit = 1) =>
      world.call({
        method: 'PUT',
        path: '/api/v1/entitlements/user:carol/watchlists',
        body: { limit },
        headers: ifMatch === undefined ? { 'if-none-match': '*' } : { 'if-match': ifMatch },
        as,
      });
    await grant('operator', undefined);
    world.nowMs += 1;
    await grant('alice', '"1"', 2);
    const { json } = await list('target=entitlements/user:carol/watchlists');
    expect(json.data.map(({ actor }: { actor: string }) => actor)).toEqual(['user:alice', 'key:operator']);
  });

  it('are listed by day: today without a filter, newest first', async () => {
    const first = await createWatchlist('alice');
    const second = await createWatchlist('bob');
    world.nowMs += DAY_MS;
    await renameWatchlist(first, 'alice');
    const shown = async (query: string) =>
      (await list(query)).json.data.map(({ actor, action, target }: Record<string, string>) => [actor, action, target]);
    const today = [['user:alice', 'replaceWatchlist', `watchlist/${first}`]];
    const before = [
      ['user:bob', 'createWatchlist', `watchlist/${second}`],
      ['user:alice', 'createWatchlist', `watchlist/${first}`],
    ];
    expect(await shown('')).toEqual(today);
    expect(await shown('day=2026-11-21')).toEqual(today);
    expect(await shown('day=2026-11-20')).toEqual(before);
    expect(await shown('day=2026-11-20&actor=user:alice')).toEqual(before.slice(1));
    expect(await shown('day=2026-11-19')).toEqual([]);
  });

  it('are listed by both: what this credential did to that', async () => {
    const first = await createWatchlist('alice');
    await createWatchlist('alice');
    await renameWatchlist(first, 'alice');
    const { json } = await list(`actor=user:alice&target=watchlist/${first}`);
    expect(json.data.map(({ action }: { action: string }) => action)).toEqual(['replaceWatchlist', 'createWatchlist']);
    const none = await list(`actor=user:bob&target=watchlist/${first}`);
    expect(none.json).toEqual({ data: [], page: { nextCursor: null } });
  });

  it.each([
    ['a day with a target', 'day=2026-11-20&target=a', 'invalid-request'],
    ['a day that does not exist', 'day=2026-02-30', 'invalid-request'],
    ['a day with a time', 'day=2026-11-20T00:00:00Z', 'invalid-request'],
    ['an empty actor', 'actor=', 'invalid-request'],
    ['a target with a space', 'target=a%20b', 'invalid-request'],
    ['a target longer than any', `target=${'a'.repeat(513)}`, 'invalid-request'],
  ])('refuse %s', async (_, query, code) => {
    const { status, json } = await list(query);
    expect([status, json.code]).toEqual([400, code]);
  });
});
