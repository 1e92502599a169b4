/** Everything public can be made again from the ledger alone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { STATIC_KINDS } from '../../../contract/files/public-object-names.ts';
import { PUBLIC_PREFIX, publicKey } from '../../../contract/files/public-objects.ts';
import { MARKETS_URL } from '../../../contract/files/routes.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { BundleLost, LedgerBehind, Superseded } from '../../../publisher/errors.ts';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { publish } from '../../../publisher/publish.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { changedStore } from '../../../storage/ports/changed-store.ts';
import type { ObjectMetadata, ObjectStore } from '../../../storage/ports/object-store.ts';
import { type MemoryObjects, openMemoryObjects } from '../../storage/memory-objects.ts';
import { copiesOf } from '../copied-world.ts';
import { diesAfter, faultyStorage, ProcessDied, placesOf } from '../faulty-storage.ts';
import { loseMarket } from '../lose-market.ts';
import { removeMarket } from '../remove-market.ts';
import {
  createWorld,
  days,
  dependenciesOn,
  itemsAt,
  market,
  price,
  publicObjects,
  readerOf,
  SMALL_PAGES,
  type World,
} from '../world.ts';

/** Several generations of several pages. The store has only the newest one. */
const publishedWorld = copiesOf(fillPublished);

async function fillPublished(world: World): Promise<void> {
  await world.ingest(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((slug) => market(slug)));
  await world.ingest([...days('b', 9), ...days('e', 6), price('g', 0, null)]);
  await world.publish();
  await world.ingest([price('e', 1, -5)], 'correct');
  await world.publish();
  await world.ingest([price('a', 0, 7), market('i')]);
  await loseMarket(world, 'h');
  await removeMarket(world, 'd', 'e');
  await world.publish();
  await sweepExpired(world);
}

async function sweepExpired(world: World): Promise<void> {
  world.clock.nowMs += PAGE_RETENTION_SECONDS * 1000 + 1;
  await collectGarbage(world.dependencies, { dryRun: false });
}

async function expectVerified(objects: ObjectStore): Promise<void> {
  const report = await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled: true });
  expect(report.findings).toEqual([]);
}

const rebuildInto = (world: World, objects: ObjectStore) => rebuild(dependenciesOn(world.ledger, objects, world.clock));

/** Public bytes without the snapshot, which counts generations. */
function withoutSnapshot(objects: MemoryObjects): Map<string, string> {
  const bodies = publicObjects(objects);
  bodies.delete(SNAPSHOT);
  return bodies;
}

function metadataOf(objects: MemoryObjects): Map<string, Omit<ObjectMetadata, 'generation'>> {
  const entries = [...objects.snapshot()].filter(([key]) => key.startsWith(PUBLIC_PREFIX));
  return new Map(entries.map(([key, { metadata }]) => [key, { ...metadata, generation: 0 }]));
}

const SNAPSHOT = publicKey({ kind: 'snapshot' });
const isList = (key: string) => key.includes('/markets/pages/') || key.endsWith('/markets.json');
/** Without the list, whose pages get new names if the old ones are unknown. */
const apartFromList = <Value>(all: Map<string, Value>) =>
  new Map([...all].filter(([key]) => !isList(key) && key !== SNAPSHOT));

/** A rebuild always puts these: HEAD does not record the static bodies after it, and the snapshot has a new generation. */
const ALWAYS_PUT = [...STATIC_KINDS.map((kind) => publicKey({ kind })), SNAPSHOT];
/** HEAD is raised above generation 3; the refresh is one more generation. */
const REBUILT = { generation: 5, deferred: [] };

test('a rebuild cuts the list from the previous list: it reads only bodies of the last generation again', async () => {
  const world = await publishedWorld();
  const reads: string[] = [];
  const objects = changedStore(world.objects, {
    get: async (key, options) => {
      if (key.includes('/markets/')) reads.push(key);
      return await world.objects.get(key, options);
    },
  });
  await rebuild({ ...dependenciesOn(world.ledger, objects, world.clock), maxMarkedMarkets: 1 });
  const { size } = new Set(reads);
  expect(size).toBeGreaterThan(5);
  expect(reads).toHaveLength(size + 1);
});

const altered = Buffer.from('{"data":[]}');
const WRONG_LABEL: Partial<ObjectMetadata> = {
  contentType: 'binary/octet-stream',
  cacheControl: 'public, max-age=31536000',
  cacheTag: 'other',
  nextCursor: 'other',
};

// lost-objects.test.ts has each missing object, and test/server/damaged-objects.test.ts each damaged one.
describe('a rebuild into a store with one damaged object', () => {
  const heads = [{ kind: 'market', slug: 'b' }, { kind: 'history', slug: 'b' }, { kind: 'market-list' }] as const;

  test.each(heads)('puts a head back, once: $kind', async (name) => {
    const key = publicKey(name);
    for (const change of [{ body: altered }, { metadata: WRONG_LABEL }]) {
      const world = await publishedWorld();
      const objects = openMemoryObjects();
      for (const [each, { body, metadata }] of world.objects.snapshot()) {
        const { body: bytes = body, metadata: label = {} } = each === key ? change : {};
        await objects.put(each, bytes, { ...metadata, ...label }, { kind: 'absent' });
      }
      for (const expected of [[key, ...ALWAYS_PUT], ALWAYS_PUT]) {
        objects.resetCounts();
        await rebuildInto(world, objects);
        const puts = objects.puts.map((put) => put.key).filter((put) => put.startsWith(PUBLIC_PREFIX));
        expect(new Set(puts)).toEqual(new Set(expected));
      }
      expect(withoutSnapshot(objects)).toEqual(withoutSnapshot(world.objects));
      expect(metadataOf(objects)).toEqual(metadataOf(world.objects));
    }
  });

  test.each(['/b/history/pages/', '/markets/pages/'])(
    'leaves a page as it is, and puts it back once it is deleted: %s',
    async (part) => {
      const world = await publishedWorld();
      const before = withoutSnapshot(world.objects);
      const key = [...before.keys()].find((each) => each.includes(part)) as string;
      // The strict store refuses such a page, so it is damaged when it is read.
      const objects = changedStore(world.objects, {
        async get(...asked) {
          const found = await world.objects.get(...asked);
          return asked[0] === key && found.kind === 'found' ? { ...found, body: altered } : found;
        },
      });
      expect(await rebuildInto(world, objects)).toEqual(REBUILT);
      expect(withoutSnapshot(world.objects)).toEqual(before);
      await world.lose(key);
      await rebuild(world.dependencies);
      expect(withoutSnapshot(world.objects)).toEqual(before);
    },
  );

  test('reports a head of a later generation than the ledger has', async () => {
    const world = await publishedWorld();
    const key = publicKey({ kind: 'history', slug: 'b' });
    const stored = world.objects.snapshot().get(key);
    if (stored === undefined) throw new Error('there is no history');
    await world.lose(key);
    await world.objects.put(
      key,
      stored.body,
      { ...stored.metadata, ...WRONG_LABEL, generation: 9 },
      { kind: 'absent' },
    );
    await expect(rebuild(world.dependencies)).rejects.toThrow(LedgerBehind);
    expect(world.objects.snapshot().get(key)?.metadata.generation).toBe(9);
  });
});

/** The items of the list, without cursors. */
const listedItems = (objects: MemoryObjects) => itemsAt(readerOf(objects), MARKETS_URL);

function giveWay(error: unknown): void {
  if (!(error instanceof Superseded)) throw error;
}

/** A publish that dies after its operation number `at`; then all bundles are lost. */
async function loseBundle(world: World, at: number): Promise<{ committed: boolean; completed: boolean }> {
  const { ledger, objects, operations } = faultyStorage(world.ledger, world.objects, at, diesAfter);
  await publish(dependenciesOn(ledger, objects, world.clock)).catch((error: unknown) => {
    if (!(error instanceof ProcessDied)) throw error;
  });
  await world.loseBundles();
  const committed = await publish(dependenciesOn(world.ledger, world.objects.copy(), world.clock)).then(
    () => false,
    (error: unknown) => error instanceof BundleLost,
  );
  return { committed, completed: operations.length <= at };
}

const changedWorld = copiesOf(async (world) => {
  await fillPublished(world);
  await world.ingest([market('aa'), price('aa', 0, null), price('c', 0, 0)]);
});

/** The number of the operation that commits a publish of this world. */
async function commitOperation(world: World): Promise<number> {
  const { ledger, objects, operations } = faultyStorage(world.ledger, world.objects, -1, diesAfter);
  await publish(dependenciesOn(ledger, objects, world.clock));
  return operations.findIndex(({ what }) => what.startsWith('ledger.transact'));
}

/** After this operation it has read its bundle and put a few heads. */
const inTheMiddle = (await commitOperation(await changedWorld())) + 4;

describe('when the bundle of a committed generation is lost before it was applied', () => {
  test('a rebuild makes the store whole, wherever the publisher died', async () => {
    let lost = 0;
    for (let at = 0, completed = false; !completed; at += 3) {
      const world = await publishedWorld();
      await world.ingest([market('aa'), price('aa', 0, null), ...days('b', 12), price('c', 0, 0), market('z')]);
      await world.ingest([price('e', 1, -6)], 'correct');
      await loseMarket(world, 'g');
      const outcome = await loseBundle(world, at);
      ({ completed } = outcome);
      if (!outcome.committed) continue;
      lost++;
      await rebuild(world.dependencies);
      await expectVerified(world.objects);
      expect(await world.publish()).toMatchObject({ kind: 'unchanged' });
      // The sweep removes leftovers of the lost generation and nothing else. The rest equals a rebuild into an empty store.
      await sweepExpired(world);
      const empty = openMemoryObjects();
      await rebuildInto(world, empty);
      expect(apartFromList(publicObjects(empty))).toEqual(apartFromList(publicObjects(world.objects)));
      expect(await listedItems(empty)).toEqual(await listedItems(world.objects));
    }
    expect(lost).toBeGreaterThan(5);
  });

  test('a rebuild that dies is finished by the next one', async () => {
    const rebuildDyingAt = async (at: number) => {
      const damaged = await changedWorld();
      expect(await loseBundle(damaged, inTheMiddle)).toMatchObject({ committed: true });
      const { ledger, objects, operations } = faultyStorage(damaged.ledger, damaged.objects, at, diesAfter);
      await rebuild(dependenciesOn(ledger, objects, damaged.clock)).catch((error: unknown) => {
        if (!(error instanceof ProcessDied)) throw error;
      });
      return { damaged, operations };
    };
    const { operations } = await rebuildDyingAt(-1);
    const places = placesOf(
      diesAfter,
      operations.map(({ isWrite }, at) => ({ at, isWrite })),
    );
    expect(places.length).toBeGreaterThan(15);
    for (const { at } of places.filter((_, index) => index % 7 === 0)) {
      const { damaged } = await rebuildDyingAt(at);
      await rebuild(damaged.dependencies);
      await expectVerified(damaged.objects);
    }
  });
});

test('with another publisher at any moment of a rebuild, one of them stops, and nothing is lost', async () => {
  for (let at = 0, reached = true; reached; at += 3) {
    const world = await publishedWorld();
    const { objects } = world;
    for (const key of publicObjects(objects).keys()) if (key.endsWith('/history.json')) await world.lose(key);
    reached = false;
    const faulty = faultyStorage(world.ledger, objects, at, async ({ run }) => {
      reached = true;
      await world.ingest([price('b', 20, 1), market('aa')]);
      // Also while HEAD is being raised.
      await publish(dependenciesOn(world.ledger, objects, world.clock));
      return await run();
    });
    await rebuild(dependenciesOn(faulty.ledger, faulty.objects, world.clock)).catch(giveWay);
    await rebuildInto(world, objects);
    await expectVerified(objects);
  }
});

test('a rebuild into an empty store makes the bodies and history pages that readers had, for all histories, and publishing goes on', async () => {
  const slug = fc.nat(8).map((number) => `m-${number}`);
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom('append' as const, 'correct' as const), slug, day: fc.nat(12) }),
    fc.record({ kind: fc.constant('remove' as const), slug }),
    fc.record({ kind: fc.constant('publish' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.constantFrom(1, 5_000), async (steps, maxMarkedMarkets) => {
      const world = createWorld();
      let amountMinor = 1;
      for (const next of [...steps, { kind: 'publish' as const }]) {
        if (next.kind === 'append') await world.ingest([market(next.slug), price(next.slug, 20 + amountMinor++, 1)]);
        if (next.kind === 'correct') {
          await world.ingest([market(next.slug), price(next.slug, next.day, amountMinor++)], 'correct');
        }
        if (next.kind === 'remove') await loseMarket(world, next.slug);
        if (next.kind === 'publish') await world.publish();
      }
      await sweepExpired(world);
      const empty = openMemoryObjects();
      const dependencies = dependenciesOn(world.ledger, empty, world.clock);
      await rebuild({ ...dependencies, maxMarkedMarkets });
      expect(apartFromList(publicObjects(empty))).toEqual(apartFromList(publicObjects(world.objects)));
      expect(apartFromList(metadataOf(empty))).toEqual(apartFromList(metadataOf(world.objects)));
      expect(await listedItems(empty)).toEqual(await listedItems(world.objects));
      await world.ingest([market('aa'), price('aa', 20, 1)]);
      while ((await publish(dependencies)).isMoreDue);
      await expectVerified(empty);
    }),
    { numRuns: 25 },
  );
});
