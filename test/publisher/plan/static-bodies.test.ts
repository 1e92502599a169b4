/** The static bodies of a deployment are published when they change, and only then. */
import { expect, test } from 'vitest';
import type { StaticKind } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { waitlistBody } from '../../../contract/values/waitlist.ts';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { staticBodies } from '../../../publisher/static-bodies.ts';
import { createWorld, market, price, publicObjects, STATIC_BODIES, type World } from '../world.ts';

async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([market('a'), price('a', 0, 1), market('b')]);
  await world.publish();
  world.objects.resetCounts();
  return world;
}

const bodyOf = (world: World, kind: StaticKind) => publicObjects(world.objects).get(publicKey({ kind }));

/** The same deployment with another address for requests. */
function reconfigured({ dependencies }: World): PublisherDependencies {
  const waitlist = waitlistBody({ email: 'other@tidemark.test' });
  return {
    ...dependencies,
    staticBodies: { ...STATIC_BODIES, waitlist: staticBodies({ waitlist, openapi: {} }).waitlist },
  };
}

test('a changed one makes a generation, which does not put the others', async () => {
  const world = await publishedWorld();
  expect(await publish(reconfigured(world))).toMatchObject({ kind: 'published', generation: 2 });
  const keys = world.objects.puts.map(({ key }) => key).filter((key) => key.startsWith('public/'));
  expect(keys).toEqual([publicKey({ kind: 'waitlist' }), publicKey({ kind: 'snapshot' })]);
  expect(bodyOf(world, 'waitlist')).toContain('other@tidemark.test');
  expect(await publish(reconfigured(world))).toMatchObject({ kind: 'unchanged', generation: 2 });
  expect(await world.findings()).toEqual([]);
});

test('a rebuild puts all of them, as the deployment has them now', async () => {
  const world = await publishedWorld();
  const key = publicKey({ kind: 'openapi' });
  const present = await world.objects.stat(key);
  if (present !== null) await world.objects.delete(key, present.etag);
  expect(await world.publish()).toMatchObject({ kind: 'unchanged' });
  await rebuild(reconfigured(world));
  expect(bodyOf(world, 'openapi')).toBe(STATIC_BODIES.openapi.body);
  expect(bodyOf(world, 'waitlist')).toContain('other@tidemark.test');
  expect(await world.findings()).toEqual([]);
});
