/** The publisher on servers that speak S3: the same bytes as in memory, and the same number of puts. */
import { describe, expect, test } from 'vitest';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { publish } from '../../publisher/publish.ts';
import { verify } from '../../publisher/verify/verify.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { faultyStorage } from '../publisher/faulty-storage.ts';
import {
  createWorld,
  dependenciesOn,
  market,
  price,
  publicObjects,
  readerOf,
  SMALL_PAGES,
  type World,
} from '../publisher/world.ts';
import { engineEndpoint } from './engine-endpoint.ts';
import { makeBucket, S3_ENGINES } from './s3-bucket.ts';

/** Two pages of markets; one history with a closed page. */
async function worldWithRecords(): Promise<World> {
  const world = createWorld();
  await world.ingest(['a', 'b', 'c', 'd', 'e'].map((slug) => market(slug)));
  await world.ingest(Array.from({ length: 6 }, (_, day) => price('b', day, 100 + day)));
  await world.ingest([price('d', 0, null)]);
  return world;
}

/** Publishes into another store than the world's own, and counts its requests. */
async function publishInto(objects: ObjectStore, { ledger, clock }: World) {
  const recorded = faultyStorage(ledger, objects, -1, ({ run }) => run());
  const outcome = await publish(dependenciesOn(recorded.ledger, recorded.objects, clock));
  return { outcome, puts: recorded.operations.filter(({ what }) => what.startsWith('objects.put')).length };
}

async function bodies(objects: ObjectStore): Promise<Map<string, string>> {
  const { keys } = await objects.list(`${PUBLIC_PREFIX}/`);
  const found = await Promise.all(keys.map(async (key) => [key, await objects.get(key)] as const));
  return new Map(
    found.map(([key, object]) => [key, object.kind === 'found' ? Buffer.from(object.body).toString() : '']),
  );
}

describe.each(S3_ENGINES)('on %s, the publisher', (engine) => {
  const endpoint = engineEndpoint(engine);

  test('puts the bytes that memory has, nothing when nothing has changed, and six objects when one price has', async () => {
    const { objects } = await makeBucket(endpoint);
    const world = await worldWithRecords();
    await publishInto(objects, world);
    const same = await worldWithRecords();
    await publish(same.dependencies);
    expect(await bodies(objects)).toEqual(publicObjects(same.objects));
    expect(await publishInto(objects, world)).toMatchObject({ outcome: { kind: 'unchanged', generation: 1 }, puts: 0 });
    await world.ingest([price('b', 6, 200)]);
    // Layout, bundle, history, market, list, snapshot.
    expect(await publishInto(objects, world)).toMatchObject({ outcome: { kind: 'published', generation: 2 }, puts: 6 });
    const { findings } = await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled: true });
    expect(findings).toEqual([]);
  });
});
