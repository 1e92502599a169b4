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
