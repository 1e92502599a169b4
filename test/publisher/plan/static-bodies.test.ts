/** What a deployment says of itself is published when it changes, and only then. */
import { describe, expect, test } from 'vitest';
import { publicKey, STATIC_KINDS, type StaticKind } from '../../../contract/public-objects.ts';
import { waitlistBody } from '../../../contract/waitlist.ts';
import type { PublisherDependencies } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { rebuild } from '../../../publisher/repair/rebuild.ts';
import { staticBodies } from '../../../publisher/plan/static-bodies.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { Item } from '../../../storage/ledger.ts';
import { marketKey } from '../../../storage/records/markets.ts';
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

async function setHead({ ledger }: World, change: (head: HeadValue) => unknown): Promise<void> {
  const { revision, value } = (await ledger.get(HEAD_KEY)) as Item;
  const put = { kind: 'put', key: HEAD_KEY, revision, value: change(value as HeadValue) as HeadValue } as const;
  await ledger.transact([{ ...put, if: { kind: 'any' } }], { attemptId: 'older version' });
}

async function expectVerified(world: World): Promise<void> {
  const report = await verify(readerOf(world.objects), { pageSizes: SMALL_PAGES, settled: true });
  expect(report.findings).toEqual([]);
}

test('all of them are there from the first generation on', async () => {
  const world = await publishedWorld();
  for (const kind of STATIC_KINDS) expect(bodyOf(world, kind)).toBe(STATIC_BODIES[kind].body);
});

test('one that changes is a generation of its own, and the others are left alone', async () => {
  const world = await publishedWorld();
  expect(await publish(reconfigured(world))).toEqual({ kind: 'published', generation: 2 });
  const keys = world.objects.puts.map(({ key }) => key).filter((key) => key.startsWith('public/'));
  expect(keys).toEqual([publicKey({ kind: 'waitlist' }), publicKey({ kind: 'snapshot' })]);
  expect(bodyOf(world, 'waitlist')).toContain('other@tidemark.test');
  expect(await publish(reconfigured(world))).toEqual({ kind: 'unchanged', generation: 2 });
  await expectVerified(world);
});

test('a rebuild puts back those that the newest generation has, and publishes those that it has not', async () => {
  const world = await publishedWorld();
  expect(await rebuild(reconfigured(world))).toEqual({ generation: 2, restored: [] });
  const key = publicKey({ kind: 'waitlist' });
  const present = await world.objects.stat(key);
  if (present !== null) await world.objects.delete(key, present.etag);
  expect(await rebuild(reconfigured(world))).toEqual({ generation: 2, restored: [key] });
  await expectVerified(world);
});

describe('a ledger in which an older version has published, which knew of no such bodies', () => {
  async function oldWorld(): Promise<World> {
    const world = await publishedWorld();
    await setHead(world, ({ staticDigests, ...head }) => ({ ...head, notFoundDigest: staticDigests?.['not-found'] }));
    for (const kind of ['waitlist', 'openapi'] as const) {
      const present = await world.objects.stat(publicKey({ kind }));
      if (present !== null) await world.objects.delete(publicKey({ kind }), present.etag);
    }
    return world;
  }

  test('has all of them in its next generation, and is settled then', async () => {
    const world = await oldWorld();
    expect(await publish(world.dependencies)).toEqual({ kind: 'published', generation: 2 });
    for (const kind of STATIC_KINDS) expect(bodyOf(world, kind)).toBe(STATIC_BODIES[kind].body);
    expect(await publish(world.dependencies)).toEqual({ kind: 'unchanged', generation: 2 });
    await expectVerified(world);
  });

  test('has every market rendered anew, though nothing marks it', async () => {
    const world = await oldWorld();
    const { revision, value } = (await world.ledger.get(marketKey('b'))) as Item;
    const put = {
      kind: 'put',
      key: marketKey('b'),
      revision: revision + 1,
      value: { ...(value as object), name: 'B' },
    };
    await world.ledger.transact([{ ...put, if: { kind: 'any' } } as never], { attemptId: 'rendered otherwise' });
    await publish(world.dependencies);
    expect(publicObjects(world.objects).get(publicKey({ kind: 'market', slug: 'b' }))).toContain('"name":"B"');
    await expectVerified(world);
  });

  test('can be rebuilt', async () => {
    const world = await oldWorld();
    expect(await rebuild(world.dependencies)).toEqual({ generation: 2, restored: [] });
    await expectVerified(world);
  });
});
