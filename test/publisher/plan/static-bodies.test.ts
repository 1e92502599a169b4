/** The static bodies of a deployment are published when they change, and only then. */
import { expect, test } from 'vitest';
import type { StaticKind } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { waitlistBody } from '../../../contract/values/waitlist.ts';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { staticBodies } from '../../../publisher/static-bodies.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { Item } from '../../../storage/ports/ledger.ts';
import { HEAD_KEY, type HeadValue } from '../../../storage/records/publication.ts';
import {
  createWorld,
  market,
  price,
  publicObjects,
  readerOf,
  SMALL_PAGES,
  STATIC_BODIES,
  type World,
} from '../world.ts';

async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([market('a'), price('a', 0, 1), market('b')]);
  await publish(world.dependencies);
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

async function expectVerified(world: World): Promise<void> {
  const report = await verify(readerOf(world.objects), { pageSizes: SMALL_PAGES, settled: true });
  expect(report.findings).toEqual([]);
}

test('a changed one makes a generation, which does not put the others', async () => {
  const world = await publishedWorld();
  expect(await publish(reconfigured(world))).toMatchObject({ kind: 'published', generation: 2 });
  const keys = world.objects.puts.map(({ key }) => key).filter((key) => key.startsWith('public/'));
  expect(keys).toEqual([publicKey({ kind: 'waitlist' }), publicKey({ kind: 'snapshot' })]);
  expect(bodyOf(world, 'waitlist')).toContain('other@tidemark.test');
  expect(await publish(reconfigured(world))).toMatchObject({ kind: 'unchanged', generation: 2 });
  await expectVerified(world);
});

test('a rebuild puts all of them, as the deployment has them now', async () => {
  const world = await publishedWorld();
  const key = publicKey({ kind: 'openapi' });
  const present = await world.objects.stat(key);
  if (present !== null) await world.objects.delete(key, present.etag);
  expect(await publish(world.dependencies)).toMatchObject({ kind: 'unchanged' });
  await rebuild(reconfigured(world));
  expect(bodyOf(world, 'openapi')).toBe(STATIC_BODIES.openapi.body);
  expect(bodyOf(world, 'waitlist')).toContain('other@tidemark.test');
  await expectVerified(world);
});

test('the next generation puts one that HEAD does not record', async () => {
  const world = await publishedWorld();
  const { revision, value } = (await world.ledger.get(HEAD_KEY)) as Item<HeadValue>;
  const { openapi, ...statics } = (value.projections?.statics ?? {}) as { readonly openapi?: string };
  const put = {
    kind: 'put',
    key: HEAD_KEY,
    revision,
    value: { ...value, projections: { ...value.projections, statics } },
    if: { kind: 'any' },
  } as const;
  await world.ledger.transact([put], { attemptId: 'a version that knew of fewer' });
  const key = publicKey({ kind: 'openapi' });
  const present = await world.objects.stat(key);
  if (present !== null) await world.objects.delete(key, present.etag);
  expect(await publish(world.dependencies)).toMatchObject({ kind: 'published', generation: 2 });
  expect(bodyOf(world, 'openapi')).toBe(STATIC_BODIES.openapi.body);
  expect(await publish(world.dependencies)).toMatchObject({ kind: 'unchanged', generation: 2 });
  await expectVerified(world);
});
