import { beforeEach, describe, expect, it } from 'vitest';
import { FEATURES } from '../../contract/values/features.ts';
import { usageKey } from '../../storage/records/accounts.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { grant, seedMarkets } from './seeds.ts';
import { type WatchedLedger, watchLedger } from './watched-ledger.ts';
import { type Answer, type ApiWorld, type Call, openApiWorld } from './world.ts';

const URL = '/api/v1/watchlists';

describe('watchlists', () => {
  let ledger: WatchedLedger;
  let world: ApiWorld;

  beforeEach(async () => {
    ledger = watchLedger(openMemoryLedger());
    world = openApiWorld({ ledger });
    await seedMarkets(ledger, 'gold-usd', 'silver-usd', 'tin-usd');
  });

  const create = (name = 'Metals', markets: readonly string[] = ['gold-usd', 'silver-usd'], as = 'alice') =>
    world.call({ method: 'POST', path: URL, body: { name, markets }, as });
  const replace = (id: string, ifMatch: string | undefined, body: object = { name: 'Tin', markets: ['tin-usd'] }) =>
    world.call({ method: 'PUT', path: `${URL}/${id}`, body, headers: { 'if-match': ifMatch } });
  const market = (method: 'PUT' | 'DELETE', id: string, slug: string, more: Partial<Call> = {}) =>
    world.call({ method, path: `${URL}/${id}/markets/${slug}`, ...more });
  const used = async (subject = 'user:alice') => (await ledger.get(usageKey(subject, 'watchlists', null)))?.value ?? 0;
  const code = ({ status, json }: Answer) => [status, json?.code];

  it('are created, read back and listed newest first', async () => {
    const first = await create();
    expect(first.status).toBe(201);
    expect(first.headers).toMatchObject({ etag: '"1"', location: `${URL}/${first.json.id}` });
    world.nowMs += 1;
    const second = await create('Empty', []);
    const read = await world.call({ path: `${URL}/${first.json.id}` });
    expect([read.json, read.headers.etag]).toEqual([first.json, '"1"']);
    const list = await world.call({ path: URL });
    expect(list.json).toEqual({ data: [second.json, first.json], page: { nextCursor: null } });
  });

  it('lose no market when many are added at once', async () => {
    const slugs = Array.from({ length: 6 }, (_, index) => `metal-${index}`);
    await seedMarkets(ledger, ...slugs);
    const { id } = (await create('Many', [])).json;
    const answers = await Promise.all(slugs.map((slug) => market('PUT', id, slug)));
    expect(answers.map(({ status }) => status)).toEqual(slugs.map(() => 200));
    const { json } = await world.call({ path: `${URL}/${id}` });
    expect([json.markets.toSorted(), json.revision]).toEqual([slugs, 7]);
  });

  it('hold only markets that exist, and say which do not', async () => {
    const { id } = (await create()).json;
    const markets = ['gold-usd', 'brent-usd', 'tin-usd', 'wti-usd'];
    const pointers = ({ json }: Answer) => json.errors.map((error: { pointer: string }) => error.pointer);
    for (const answer of [await create('Oil', markets), await replace(id, '"1"', { name: 'Oil', markets })]) {
      expect(code(answer)).toEqual([422, 'validation-failed']);
      expect(answer.json.errors.map((error: { code: string }) => error.code)).toEqual([
        'market.unknown',
        'market.unknown',
      ]);
      expect(pointers(answer)).toEqual(['/markets/1', '/markets/3']);
    }
    const added = await market('PUT', id, 'brent-usd');
    expect([...code(added), pointers(added)]).toEqual([422, 'validation-failed', ['']]);
    expect(await used()).toBe(1);
  });

  it('are as many as the quota allows, also when all are created at once', async () => {
    await grant(ledger, 'user:alice', { watchlists: 5 });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`List ${index}`, [])));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(code)).toEqual(Array.from({ length: 15 }, () => [403, 'quota-exceeded']));
    expect((await world.call({ path: URL })).json.data).toHaveLength(5);
    expect(await used()).toBe(5);
    expect((await create('Of another', [], 'bob')).status).toBe(201);
  });

  it('hold as many markets as the limit allows, at the moment of commit', async () => {
    const { json } = await create('Two', ['gold-usd', 'silver-usd']);
    await grant(ledger, 'user:alice', { 'watchlist-items': 1 });
    expect(code(await create('Two', ['gold-usd', 'silver-usd']))).toEqual([403, 'quota-exceeded']);
    expect(code(await market('PUT', json.id, 'tin-usd'))).toEqual([403, 'quota-exceeded']);
    expect(code(await replace(json.id, '"1"', { name: 'Two', markets: ['tin-usd', 'gold-usd'] }))[1]).toBe(
      'quota-exceeded',
    );
    // A reduction is always allowed.
    expect((await market('DELETE', json.id, 'gold-usd')).json.markets).toEqual(['silver-usd']);
    expect((await replace(json.id, '"2"')).status).toBe(200);
    await grant(ledger, 'user:alice', { 'watchlist-items': 2 });
    expect((await market('PUT', json.id, 'gold-usd')).json.markets).toEqual(['tin-usd', 'gold-usd']);
  });

  it('can be as long as the largest limit, in one transaction', async () => {
    const { maxLimit } = FEATURES['watchlist-items'];
    const slugs = Array.from({ length: maxLimit }, (_, index) => `metal-${index}`);
    await seedMarkets(ledger, ...slugs);
    await grant(ledger, 'user:alice', { 'watchlist-items': maxLimit });
    const { status, json } = await create('Long', slugs);
    expect([status, json.markets]).toEqual([201, slugs]);
    expect((await replace(json.id, '"1"', { name: 'Long', markets: slugs.toReversed() })).status).toBe(200);
  });
});
