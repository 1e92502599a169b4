/** The static bodies of a deployment are published when they change, and only then. */
import { expect, test } from 'vitest';
import type { StaticKind } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { waitlistBody } from '../../../contract/values/waitlist.ts';
import { staticBodies } from '../../../publisher/static-bodies.ts';
import { createWorld, market, price, publicObjects, STATIC_BODIES, type World } from '../world.ts';

async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([market('a'), price('a', 0, 1), market('b')]);
  await world.publish();
  return world;
}

const bodyOf = (world: World, kind: StaticKind) => publicObjects(world.objects).get(publicKey({ kind }));

/** The same deployment with another address for requests. */
function reconfigured(world: World): World {
  const { waitlist } = staticBodies({ waitlist: waitlistBody({ email: 'other@tidemark.test' }), openapi: {} });
  return world.with({ staticBodies: { ...STATIC_BODIES, waitlist } });
}

test('a changed one makes a generation, which does not put the others; a rebuild puts back a lost one', async () => {
  const world = await publishedWorld();
  const keys = await reconfigured(world).publishedKeys();
  expect(keys).toEqual([publicKey({ kind: 'waitlist' }), publicKey({ kind: 'snapshot' })]);
  expect(bodyOf(world, 'waitlist')).toContain('other@tidemark.test');
  expect(await reconfigured(world).publish()).toMatchObject({ kind: 'unchanged', generation: 2 });
  await world.lose(publicKey({ kind: 'openapi' }));
  await reconfigured(world).rebuildAll();
  expect(bodyOf(world, 'openapi')).toBe(STATIC_BODIES.openapi.body);
  expect(bodyOf(world, 'waitlist')).toContain('other@tidemark.test');
  expect(await world.findings()).toEqual([]);
});
