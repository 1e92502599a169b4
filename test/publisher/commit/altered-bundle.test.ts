/** A bundle whose bytes were altered between commit and apply. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { BundleLost } from '../../../publisher/errors.ts';
import { publish } from '../../../publisher/publish.ts';
import type { StoredObject } from '../../../storage/ports/object-store.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { diesAfter, type Fault, faultyStorage } from '../faulty-storage.ts';
import { createWorld, dependenciesOn, market, price, publicObjects, type World } from '../world.ts';

const PRICE = 7771;
const OTHER_PRICE = 7772;

/** A publish with this fault at each operation that begins with `begins`. */
const publishWith = (world: World, begin: string, fault: Fault) => {
  const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', async (operation) =>
    operation.what.startsWith(begin) ? await fault(operation) : await operation.run(),
  );
  return publish(dependenciesOn(ledger, objects, world.clock));
};

/** One generation is published. The publisher of the next one died as soon as HEAD named it. */
async function committedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([market('a'), price('a', 0, 100)]);
  await world.publish();
  await world.ingest([price('a', 1, PRICE)]);
  const commit = publishWith(world, 'ledger.transact', (operation) =>
    operation.what.includes('"head"') ? diesAfter(operation) : operation.run(),
  );
  await expect(commit).rejects.toThrow();
  expect((await world.ledger.get(HEAD_KEY))?.value).toMatchObject({ generation: 2, applied: false });
  return world;
}

const repacked = (body: Uint8Array, change: (text: string) => string) =>
  zstdCompressSync(change(zstdDecompressSync(body).toString('utf8')));

test.each<[string, (body: Uint8Array) => Uint8Array]>([
  ['has another number', (body) => repacked(body, (text) => text.replaceAll(`${PRICE}`, `${OTHER_PRICE}`))],
  ['lacks its last line', (body) => repacked(body, (text) => text.slice(0, text.lastIndexOf('\n')))],
  ['is cut off', (body) => body.subarray(0, -1)],
])('a bundle that %s is not applied and changes nothing; the right one is applied later', async (_, alter) => {
  const world = await committedWorld();
  const [head, before] = [await world.ledger.get(HEAD_KEY), publicObjects(world.objects)];
  let alterations = 0;
  const altered: Fault = async ({ run }) => {
    const found = (await run()) as StoredObject;
    const body = alter(found.body);
    if (!Buffer.from(body).equals(found.body)) alterations++;
    return { ...found, body };
  };
  await expect(publishWith(world, 'objects.get redo/', altered)).rejects.toThrow(BundleLost);
  expect(alterations).toBe(1);
  expect(publicObjects(world.objects)).toEqual(before);
  expect(await world.ledger.get(HEAD_KEY)).toEqual(head);

  await world.publish();
  expect([...publicObjects(world.objects).values()].join()).toContain(`${PRICE}`);
  expect(await world.findings()).toEqual([]);
});
