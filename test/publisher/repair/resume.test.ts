/** An older ledger beside a store with later generations. */

import { beforeEach, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { findLostObjects } from '../../../publisher/repair/lost-objects.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { resume } from '../../../publisher/repair/resume.ts';
import { StorageCorrupt } from '../../../storage/ports/errors.ts';
import { HEAD_KEY, marketMarkKey } from '../../../storage/records/publication.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { diesAfter, faultyStorage } from '../faulty-storage.ts';
import { createWorld, dependenciesOn, market, price, publicObjects, type World } from '../world.ts';

const SLUGS = ['a', 'b', 'c', 'd', 'e'];

/** The first generation. Two such worlds have the same ledger, with the same attempt ids. */
async function openWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([...SLUGS.map((slug) => market(slug)), ...SLUGS.map((slug) => price(slug, 0, 100))]);
  await world.publish();
  return world;
}

/** The later state, with its ledger. */
let world: World;
let older: World;
/** The older ledger beside the store of the later state. */
let restored: PublisherDependencies;

beforeEach(async () => {
  world = await openWorld();
  older = await openWorld();
  restored = dependenciesOn(older.ledger, world.objects, world.clock);
  for (let day = 1; day < 4; day++) {
    await world.ingest([price('a', day, 100 + day), price('d', day, 200 + day)]);
    await world.publish();
  }
});

const swapOnly = async () => {
  // Dies after the swap of HEAD.
  const { ledger, objects } = faultyStorage(older.ledger, older.objects, 'all', async (operation) => {
    const swaps = operation.what.startsWith('ledger.transact') && operation.what.includes('"head"');
    return await (swaps ? diesAfter(operation) : operation.run());
  });
  await older.ingest([price('a', 1, 777)]);
  await expect(publish(dependenciesOn(ledger, objects, world.clock))).rejects.toThrow();
};

const SITUATIONS: readonly [string, () => Promise<unknown>][] = [
  ['nothing is due', async () => undefined],
  ['a market is marked that the store shows later', () => older.ingest([price('a', 9, 777)])],
  ['a market is marked that the store shows unchanged', () => older.ingest([price('c', 9, 777)])],
  ['a generation waits to be applied', swapOnly],
];

const otherStatics = { body: '{"other":true}', digest: 'a'.repeat(64) };

test.each(SITUATIONS)(
  'where %s, all work stops before it changes anything, and a rebuild continues',
  async (_, happen) => {
    await happen();
    const [head, before] = [await older.ledger.get(HEAD_KEY), publicObjects(world.objects)];
    const staticBodies = { ...restored.staticBodies, waitlist: otherStatics };
    const ways = [
      () => publish(restored),
      () => publish({ ...restored, staticBodies }),
      () => findLostObjects(restored),
    ];
    for (const act of [...ways, ...ways]) await expect(act()).rejects.toThrow(StorageCorrupt);
    expect(await older.ledger.get(HEAD_KEY)).toEqual(head);
    expect(publicObjects(world.objects)).toEqual(before);

    await rebuild(restored);
    expect(await findLostObjects(restored)).toEqual([]);
    await older.ingest([price('b', 9, 5)]);
    await publish(restored);
    expect(await world.findings()).toEqual([]);
  },
);

test('a ledger without a generation does not publish over one that readers can see', async () => {
  const before = publicObjects(world.objects);
  const empty = dependenciesOn(openSqliteLedger(':memory:'), world.objects, world.clock);
  await expect(publish(empty)).rejects.toThrow(StorageCorrupt);
  expect(publicObjects(world.objects)).toEqual(before);
});

test('where the snapshot does not show it, the apply overwrites nothing later, and a rebuild continues above it', async () => {
  await world.lose(publicKey({ kind: 'snapshot' }));
  await older.ingest([price('a', 9, 777)]);
  const before = publicObjects(world.objects);
  for (let time = 0; time < 2; time++) await expect(publish(restored)).rejects.toThrow(StorageCorrupt);
  // It may have put a page that nothing names.
  for (const [key, body] of before) expect(publicObjects(world.objects).get(key)).toBe(body);
  expect((await rebuild(restored)).generation).toBeGreaterThan(4);
  expect(await world.findings()).toEqual([]);
});

test('a market whose mark is lost before the first generation is in the first generation', async () => {
  const unpublished = createWorld();
  await unpublished.ingest(SLUGS.flatMap((slug) => [market(slug), price(slug, 0, 100)]));
  await unpublished.ledger.transact([{ kind: 'delete', key: marketMarkKey('c'), if: { kind: 'any' } }], {
    attemptId: 'a restore',
  });
  expect(await resume(unpublished.dependencies)).toBeNull();
  await unpublished.publish();
  const keys = [...publicObjects(unpublished.objects).keys()];
  for (const slug of SLUGS) expect(keys).toContain(`public/api/v1/markets/${slug}.json`);
});

test('a generation that another publisher may be applying is applied first', async () => {
  await swapOnly();
  await resume(older.dependencies);
  expect(publicObjects(older.objects).get(publicKey({ kind: 'history', slug: 'a' }))).toContain('"amountMinor":777');
  await older.publish();
  expect(await older.findings()).toEqual([]);
});
