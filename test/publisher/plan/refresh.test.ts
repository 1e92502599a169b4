/** Publishing by market while all of it is due: what is marked goes out, and all of it stays due. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/public-objects.ts';
import { Superseded } from '../../../publisher/errors.ts';
import { publish } from '../../../publisher/publish.ts';
import type { PurgeTargets } from '../../../publisher/tell/purge.ts';
import { marketKey } from '../../../storage/records/markets.ts';
import { DIRTY_EVERYTHING_KEY, DIRTY_PARTITION, HEAD_KEY } from '../../../storage/records/publication.ts';
import { faultyStorage } from '../faulty-storage.ts';
import { answerTo, wait, waitForPublication, waiting } from '../waiting.ts';
import { createWorld, dependenciesOn, market, price, type World } from '../world.ts';

/** Market `a` is marked; `b` is not, and its published body is not what the ledger holds. */
async function worldWithHiddenChange(): Promise<World> {
  const world = createWorld();
  await world.ingest([market('a'), market('b')]);
  await publish(world.dependencies);
  await world.ingest([price('a', 0, 1)]);
  const { ledger } = world;
  const item = await ledger.get(marketKey('b'));
  const value = { ...(item?.value as object), name: 'Renamed' };
  await ledger.transact([{ kind: 'put', key: marketKey('b'), revision: 5, value, if: { kind: 'any' } }], {
    attemptId: 'no write of ours',
  });
  return world;
}

/** As the write API does, but in two transactions: the mark last, so that nobody can clear it before the waiting begins. */
async function askForEverything(world: World): Promise<void> {
  await waitForPublication(world, 'all', null, true);
  await world.ledger.transact(
    [{ kind: 'put', key: DIRTY_EVERYTHING_KEY, revision: 0, value: null, if: { kind: 'any' } }],
    { attemptId: 'all' },
  );
}

const marks = async ({ ledger }: World) =>
  (await ledger.query(DIRTY_PARTITION, { limit: 10 })).items.map(({ sort }) => sort);
const shownSince = async ({ objects }: World, slug: string) =>
  (await objects.stat(publicKey({ kind: 'market', slug })))?.metadata.generation;

function rememberingPurges(world: World) {
  const purges: PurgeTargets[] = [];
  const purge = async (targets: PurgeTargets) => void purges.push(targets);
  return { purges, dependencies: { ...world.dependencies, caches: { purge } } };
}

describe('while the mark of everything is set', () => {
  test('what is marked by market is published, and the mark stays for a later publication', async () => {
    const world = await worldWithHiddenChange();
    await askForEverything(world);
    expect(await publish(world.dependencies, 'marked-markets')).toEqual({ kind: 'published', generation: 2 });
    expect([await shownSince(world, 'a'), await shownSince(world, 'b')]).toEqual([2, 1]);
    expect(await marks(world)).toEqual(['everything']);
    expect(await publish(world.dependencies, 'marked-markets')).toEqual({ kind: 'unchanged', generation: 2 });
    expect(await marks(world)).toEqual(['everything']);
    expect(await publish(world.dependencies, 'changed')).toEqual({ kind: 'published', generation: 3 });
    expect([await shownSince(world, 'a'), await shownSince(world, 'b')]).toEqual([2, 3]);
    expect(await marks(world)).toEqual([]);
  });

  test.each(['published', 'unchanged'] as const)(
    'who asked for everything goes on waiting, and nobody else, where it is %s',
    async (kind) => {
      const world = await worldWithHiddenChange();
      if (kind === 'unchanged') await publish(world.dependencies);
      await askForEverything(world);
      await waitForPublication(world, 'of-a', ['a'], true);
      await wait(world, 'batch/one');
      const { purges, dependencies } = rememberingPurges(world);
      expect(await publish(dependencies, 'marked-markets')).toMatchObject({ kind, generation: 2 });
      expect(await waiting(world)).toEqual(['publication/all']);
      expect(await answerTo(world, 'publication/all')).toBeNull();
      expect(await answerTo(world, 'publication/of-a')).toMatchObject({ generation: 2 });
      expect(purges).toEqual([{ tags: ['a', 'markets', 'snapshot'] }]);

      await publish(dependencies, 'changed');
      expect(await answerTo(world, 'publication/all')).toMatchObject({ generation: 3 });
      expect(purges.slice(1)).toEqual(['everything']);
      expect(await waiting(world)).toEqual([]);
    },
  );
});

test('who asked for everything and was not told when it was taken care of is told by any publication', async () => {
  const world = await worldWithHiddenChange();
  await askForEverything(world);
  const failing = { purge: () => Promise.reject(new Error('the CDN said no')) };
  await expect(publish({ ...world.dependencies, caches: failing })).rejects.toThrow();
  expect(await marks(world)).toEqual([]);
  expect(await waiting(world)).toEqual(['publication/all']);
  const { purges, dependencies } = rememberingPurges(world);
  expect(await publish(dependencies, 'marked-markets')).toEqual({ kind: 'unchanged', generation: 2 });
  expect(await answerTo(world, 'publication/all')).toMatchObject({ generation: 2 });
  expect(purges).toEqual(['everything']);
});

test('a generation that was given up is covered whole: what is published of it is not known by market', async () => {
  const world = await worldWithHiddenChange();
  await askForEverything(world);
  const { ledger } = world;
  const head = await ledger.get(HEAD_KEY);
  const value = { ...(head?.value as object), listDigest: null, staticDigests: {} };
  await ledger.transact([{ kind: 'put', key: HEAD_KEY, revision: 1, value, if: { kind: 'any' } }], {
    attemptId: 'given up',
  });
  await publish(world.dependencies, 'marked-markets');
  expect(await shownSince(world, 'b')).toBe(2);
  expect(await marks(world)).toEqual([]);
  expect(await answerTo(world, 'publication/all')).toMatchObject({ generation: 2 });
});

describe('whoever asks for everything is told no generation that does not show it, whenever', () => {
  /** Something happens before operation `number` of a publication; whether it came to that. */
  async function publishWithin(
    world: World,
    scope: 'changed' | 'marked-markets',
    number: number,
    happens: () => Promise<void>,
  ): Promise<boolean> {
    let reached = false;
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, number, async ({ run }) => {
      reached = true;
      await happens();
      return await run();
    });
    await publish(dependenciesOn(ledger, objects, world.clock), scope).catch((error: unknown) => {
      if (!(error instanceof Superseded)) throw error;
    });
    return reached;
  }

  async function expectToldRightly(world: World): Promise<void> {
    const told = await answerTo(world, 'publication/all');
    if (told !== null) expect(told.generation).toBeGreaterThanOrEqual((await shownSince(world, 'b')) as number);
    if (told !== null) expect(await shownSince(world, 'b')).toBeGreaterThan(1);
    await publish(world.dependencies, 'changed');
    expect(await answerTo(world, 'publication/all')).not.toBeNull();
    expect(await waiting(world)).toEqual([]);
  }

  test('it asks during a publication by market', async () => {
    let operations = 0;
    for (let reached = true; reached; operations++) {
      const world = await worldWithHiddenChange();
      reached = await publishWithin(world, 'marked-markets', operations, () => askForEverything(world));
      if (reached) await expectToldRightly(world);
    }
    expect(operations).toBeGreaterThan(20);
  });

  test.each([
    ['marked-markets', 'changed'],
    ['changed', 'marked-markets'],
  ] as const)('%s is published, and meanwhile %s by another', async (slow, quick) => {
    let operations = 0;
    for (let reached = true; reached; operations++) {
      const world = await worldWithHiddenChange();
      await askForEverything(world);
      reached = await publishWithin(
        world,
        slow,
        operations,
        async () => void (await publish(world.dependencies, quick)),
      );
      await expectToldRightly(world);
    }
    expect(operations).toBeGreaterThan(20);
  });
});
