/** A generation that is public in part, but unknown to the ledger: after a lost bundle, or a restore. */
import { expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { BundleLost } from '../../../publisher/errors.ts';
import { publish } from '../../../publisher/publish.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { resume } from '../../../publisher/repair/resume.ts';
import { diesAfter, faultyStorage, ProcessDied } from '../faulty-storage.ts';
import { removeMarket } from '../remove-market.ts';
import { createWorld, dependenciesOn, market, price, type World } from '../world.ts';

const SWAP = 'ledger.transact [{"kind":"put","key":{"partition":"head"';

async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([market('a'), price('a', 0, 1), market('b'), price('b', 0, 1)]);
  await world.publish();
  return world;
}

/** Runs `act`, which dies after the operation that begins with `begins`. */
async function dyingAfter(
  world: World,
  begins: string,
  act: (dependencies: World['dependencies']) => Promise<unknown>,
): Promise<void> {
  const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', (operation) =>
    operation.what.startsWith(begins) ? diesAfter(operation) : operation.run(),
  );
  await expect(act(dependenciesOn(ledger, objects, world.clock))).rejects.toThrow(ProcessDied);
}

test('a market whose body is public without a record is in the next list', async () => {
  const world = await publishedWorld();
  await world.ingest([market('c'), price('c', 0, null)]);
  await dyingAfter(world, `objects.put ${publicKey({ kind: 'market', slug: 'c' })}`, publish);
  await world.loseBundles();
  await expect(world.publish()).rejects.toThrow(BundleLost);
  await rebuild(world.dependencies);
  expect(await world.findings()).toEqual([]);
});

test('a removed market that is still public is counted until it leaves the list', async () => {
  const world = await publishedWorld();
  await removeMarket(world, 'b');
  await rebuild(world.dependencies);
  expect(await world.findings()).toEqual([]);
});

test('a generation that another publisher may be applying is applied first', async () => {
  const world = await publishedWorld();
  await world.ingest([market('c'), price('c', 0, null)]);
  await dyingAfter(world, SWAP, publish);
  await resume(world.dependencies);
  expect(await world.objects.stat(publicKey({ kind: 'market', slug: 'c' }))).not.toBeNull();
  await world.publish();
  expect(await world.findings()).toEqual([]);
});

test('a resume that dies is finished by the next publisher', async () => {
  const world = await publishedWorld();
  await dyingAfter(world, SWAP, resume);
  expect(await world.publish()).toMatchObject({ kind: 'published', generation: 3 });
  expect(await world.findings()).toEqual([]);
});
