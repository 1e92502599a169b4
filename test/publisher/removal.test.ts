/** How a removal becomes public, and stays public. */
import { describe, expect, test } from 'vitest';
import { ALL_PROJECTIONS } from '../../contract/files/projections.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import { removedMarketDocument } from '../../contract/files/removed-market.ts';
import { historyUrl, MARKETS_URL, marketUrl } from '../../contract/files/routes.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { publish } from '../../publisher/publish.ts';
import { findLostObjects } from '../../publisher/repair/lost-objects.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import { restore } from '../../publisher/repair/restore.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { removeMarket } from './remove-market.ts';
import { damagedReader, type Edit, withBody, withField, withStatus } from './verify/damaged-reader.ts';
import { createWorld, market, price, publicObjects, SMALL_PAGES, type World } from './world.ts';

test('two markets are removed in one generation, whatever kinds of files are published', async () => {
  const plain = createWorld();
  const world = plain.with({ projections: ALL_PROJECTIONS });
  await world.ingest(['a', 'b', 'c'].map((slug) => market(slug)));
  await world.publish();
  for (const slug of ['a', 'b']) await removeMarket(world, slug);
  await world.publish();
  expect((await verify(world.read, { pageSizes: SMALL_PAGES, removed: ['a', 'b'] })).findings).toEqual([]);
});

const BODIES = (['history', 'market'] as const).map((kind) => publicKey({ kind, slug: 'b' }));

/** `b` has three history pages, and is replaced by `c`. Nothing of that is published yet. */
async function worldWithRemoval(): Promise<World> {
  const world = createWorld();
  await world.ingest(['a', 'b', 'c', 'd', 'e'].map((slug) => market(slug)));
  await world.ingest(Array.from({ length: 10 }, (_, day) => price('b', day, 100 + day)));
  await world.publish();
  await removeMarket(world, 'b', 'c');
  return world;
}

const pagesOf = (world: World) =>
  [...publicObjects(world.objects).keys()].filter((key) => key.includes('/b/history/pages/'));

test('markets that wait for the next list do not keep others from their turn', async () => {
  const world = await worldWithRemoval();
  await removeMarket(world, 'a');
  await world.ingest([price('e', 0, 1)]);
  const paced = { ...world.dependencies, maxMarkedMarkets: 2, listEverySeconds: () => 900 };
  for (let generations = 0; (await publish(paced)).isMoreDue; generations++) expect(generations).toBeLessThan(5);
  expect(publicObjects(world.objects).get(publicKey({ kind: 'market', slug: 'e' }))).toContain('"count":1');
});

test('the bodies are the problem document, with the metadata of their kind but for the content type', async () => {
  const world = await worldWithRemoval();
  await world.publish();
  const removedAt = new Date(world.clock.nowMs).toISOString();
  const document = removedMarketDocument({ reason: 'a test removes it', replacedBy: 'c', removedAt });
  for (const key of BODIES) {
    const found = await world.objects.get(key);
    expect(found).toMatchObject({
      kind: 'found',
      metadata: {
        contentType: PROBLEM_CONTENT_TYPE,
        cacheControl: 'public, max-age=15, stale-if-error=300',
        cacheTag: 'b',
        generation: 2,
        nextCursor: null,
      },
    });
    expect(Buffer.from(found.kind === 'found' ? found.body : []).toString()).toBe(canonicalJson(document));
  }
});

test('a sweep keeps the bodies, and its pages for the lifetime of a cursor', async () => {
  const world = await worldWithRemoval();
  await world.publish();
  const pages = pagesOf(world);
  expect(pages).toHaveLength(2);
  world.clock.nowMs += PAGE_RETENTION_SECONDS * 1000;
  await collectGarbage(world.dependencies, { dryRun: false });
  expect(pagesOf(world)).toEqual(pages);
  world.clock.nowMs += 1;
  await collectGarbage(world.dependencies, { dryRun: false });
  expect(pagesOf(world)).toEqual([]);
  for (const key of BODIES) expect(await world.objects.stat(key)).not.toBeNull();
  expect(await world.findings(['b'])).toEqual([]);
});

describe('what is public stays, byte for byte', () => {
  const bytesOf = (world: Pick<World, 'objects'>) =>
    new Map([...publicObjects(world.objects)].filter(([key]) => BODIES.includes(key)));

  test('if one of the bodies is lost, which is noticed', async () => {
    const world = await worldWithRemoval();
    await world.publish();
    for (const key of BODIES) {
      const before = bytesOf(world);
      await world.lose(key);
      expect(await findLostObjects(world.dependencies)).toEqual([key]);
      await rebuild(world.dependencies);
      expect(bytesOf(world)).toEqual(before);
    }
  });

  test('if the ledger is restored to a moment between the removal and its publication', async () => {
    const world = await worldWithRemoval();
    await restore(world.dependencies);
    await world.publishAll();
    expect(bytesOf(world).size).toBe(2);
    expect(await world.findings(['b'])).toEqual([]);
  });
});

describe('verify', async () => {
  const world = await worldWithRemoval();
  await world.publish();
  const reader = world.read;
  const [url, history] = [marketUrl('b'), historyUrl('b')];

  test.each<[string, { readonly [url: string]: Edit }, readonly string[], (readonly string[])?]>([
    ['nothing', {}, []],
    ['a removed market that answers 200', { [url]: withStatus(200) }, ['status']],
    [
      'another answer to its own validator',
      { [url]: (answer, headers) => (headers?.['if-none-match'] ? { ...answer, status: 500 } : answer) },
      ['conditional'],
    ],
    ['a body that is no such document', { [url]: withField('code', 'not-found') }, ['schema']],
    ['two documents that differ', { [history]: withField('reason', 'another one') }, ['removed']],
    ['an address in the reason', { [url]: withField('reason', 'ask ada@example.org') }, ['forbidden', 'removed']],
    [
      'a replacement that is not there',
      { [url]: withField('replacedBy', 'zz'), [history]: withField('replacedBy', 'zz') },
      ['removed'],
    ],
    [
      'a market that replaces itself',
      { [url]: withField('replacedBy', 'b'), [history]: withField('replacedBy', 'b') },
      ['removed'],
    ],
    ['a market that is in the list', {}, ['removed', 'status'], ['a']],
    [
      'a listed market that is removed',
      { [MARKETS_URL]: withBody(({ data }) => data.splice(1, 0, { ...data[0], slug: 'b' })) },
      ['count', 'digest', 'page-size', 'removed', 'status'],
    ],
  ])('finds %s', async (_, edits, rules, removed = ['b']) => {
    const { findings } = await verify(damagedReader(reader, edits), { pageSizes: SMALL_PAGES, settled: true, removed });
    expect([...new Set(findings.map(({ rule }) => rule))].sort()).toEqual(rules);
  });

  test('follows a market that was replaced by one that was removed later, and a circle to its end', async () => {
    const later = await worldWithRemoval();
    await removeMarket(later, 'c', 'd');
    await later.publish();
    expect(await later.findings(['b', 'c'])).toEqual([]);
    const circle = damagedReader(later.read, { [marketUrl('c')]: withField('replacedBy', 'b') });
    const { findings } = await verify(circle, { pageSizes: SMALL_PAGES, settled: true, removed: ['b'] });
    expect(findings.map(({ rule }) => rule)).toContain('removed');
  });

  test('takes 410 for a market that left the list while it was walked, and for no other', async () => {
    const moving = await worldWithRemoval();
    const live = moving.read;
    let isRemoved = false;
    const during = async (asked: string, headers?: { readonly [name: string]: string }) => {
      if (asked === marketUrl('b') && !isRemoved) {
        isRemoved = true;
        await moving.publish();
      }
      return await live(asked, headers);
    };
    expect((await verify(during, { pageSizes: SMALL_PAGES })).findings).toEqual([]);
    expect(isRemoved).toBe(true);
    const lying = damagedReader(live, { [marketUrl('a')]: async () => await live(marketUrl('b')) });
    const { findings } = await verify(lying, { pageSizes: SMALL_PAGES });
    expect(findings).toMatchObject([{ url: historyUrl('a') }, { rule: 'removed' }]);
  });
});
