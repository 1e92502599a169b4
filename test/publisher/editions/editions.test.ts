/** An edition shows exactly one generation, for good. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PUBLIC_PREFIX, publicKey } from '../../../contract/public-objects.ts';
import { editionUrl } from '../../../contract/routes.ts';
import { editionChanges, newEdition } from '../../../lambdas/ingest/editions.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import type { LogSettings, PublisherDependencies } from '../../../publisher/dependencies.ts';
import { EditionKeeper } from '../../../publisher/editions/edition-keeper.ts';
import { continueEdition } from '../../../publisher/editions/make-edition.ts';
import { Superseded } from '../../../publisher/errors.ts';
import type { Head } from '../../../publisher/kernel/swap-head.ts';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { publish } from '../../../publisher/publish.ts';
import { editionReader } from '../../../publisher/verify/edition-reader.ts';
import type { PublicReader } from '../../../publisher/verify/reader.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { verifyLog } from '../../../publisher/verify/verify-log.ts';
import { created } from '../../../storage/changes.ts';
import { editionKey, endedEditionKey } from '../../../storage/records/editions.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { runs } from '../../runs.ts';
import { faultyStorage } from '../faulty-storage.ts';
import { TEST_LOG, withLog } from '../log/test-log.ts';
import { removeMarket } from '../remove-market.ts';
import { createWorld, dependenciesOn, market, price, readerOf, SMALL_PAGES, type World } from '../world.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const SLUGS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

let asked = 0;

/** As the handler does. */
async function ask(world: World, name: string): Promise<void> {
  const changes = editionChanges(name, newEdition('Cited in a report.', new Date(world.clock.nowMs).toISOString()));
  await world.ledger.transact(changes, { attemptId: `ask-${++asked}` });
}

const stateOf = async (world: World, name: string) => (await world.ledger.get(editionKey(name)))?.value;

/** Copies one list page between two generations. */
const slowly = (dependencies: PublisherDependencies): PublisherDependencies => ({ ...dependencies, editionPages: 1 });

async function publishAll(world: World): Promise<void> {
  while ((await publish(slowly(world.dependencies))).isMoreDue);
}

/** Three pages of markets; histories with closed pages. */
async function publishedWorld(log?: LogSettings): Promise<World> {
  const plain = createWorld();
  const world = log === undefined ? plain : { ...plain, dependencies: withLog(plain.dependencies, log) };
  const days = (slug: string, count: number) => Array.from({ length: count }, (_, day) => price(slug, day, day + 1));
  await world.ingest([...SLUGS.map((slug) => market(slug)), ...days('b', 9), ...days('e', 6), ...days('h', 1)]);
  await publish(slowly(world.dependencies));
  return world;
}

/** Corrections supersede closed pages; every market changes. */
async function change(world: World, amountMinor: number): Promise<void> {
  world.clock.nowMs += 1000;
  await world.ingest([price('b', 1, amountMinor), ...SLUGS.map((slug) => price(slug, 30, amountMinor))], 'correct');
  await publish(slowly(world.dependencies));
}

/** Every body that a walk meets, by its URL below the list. */
async function walk(world: World, root: string): Promise<Map<string, string>> {
  const read = readerOf(world.objects);
  const bodies = new Map<string, string>();
  const get = async (path: string): Promise<string> => {
    const { status, body } = await read(root + path);
    expect([path, status]).toEqual([path, 200]);
    bodies.set(path, Buffer.from(body).toString());
    return bodies.get(path) as string;
  };
  const pages = async (path: string): Promise<{ slug: string }[]> => {
    const all: { slug: string }[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, page } = JSON.parse(await get(cursor === '' ? path : `${path}?cursor=${cursor}`));
      all.push(...data);
      cursor = page.nextCursor;
    }
    return all;
  };
  for (const { slug } of await pages('/markets')) {
    await get(`/markets/${slug}`);
    await pages(`/markets/${slug}/history`);
  }
  return bodies;
}

async function expectVerified(world: World, name: string): Promise<void> {
  const reader = editionReader(readerOf(world.objects), name);
  expect((await verify(reader, { pageSizes: SMALL_PAGES, settled: true })).findings).toEqual([]);
}

/** A day after everything was superseded, all garbage is removed. */
async function sweepLater(world: World): Promise<readonly string[]> {
  world.clock.nowMs += PAGE_RETENTION_SECONDS * 1000 + DAY_MS;
  await change(world, 999);
  const removed: string[] = [];
  for (let isMore = true; isMore; ) {
    const report = await collectGarbage(world.dependencies, { dryRun: false });
    removed.push(...report.removed);
    isMore = report.endedEarly;
  }
  return removed;
}

test('an edition waits for a list that shows all of its generation', async () => {
  const world = await publishedWorld();
  const paced = { ...slowly(world.dependencies), listEverySeconds: () => 60 };
  const publishPaced = async () => {
    while ((await publish(paced)).isMoreDue);
  };
  await world.ingest([price('b', 40, 7), market('i')]);
  await publishPaced();
  await ask(world, 'q3');
  await publishPaced();
  expect(await stateOf(world, 'q3')).toMatchObject({ state: 'waiting' });
  world.clock.nowMs += 60_000;
  await publishPaced();
  expect(await stateOf(world, 'q3')).toMatchObject({ state: 'published', generation: 3 });
  expect([...(await walk(world, editionUrl('q3'))).keys()]).toContain('/markets/i');
  await expectVerified(world, 'q3');
});

test('an edition is the generation at which it was asked for, and says which', async () => {
  const world = await publishedWorld();
  const before = await walk(world, '/api/v1');
  await ask(world, 'q3');
  await publishAll(world);
  expect(await stateOf(world, 'q3')).toMatchObject({ state: 'published', generation: 1 });
  await change(world, 500);
  expect(await walk(world, editionUrl('q3'))).toEqual(before);
  const document = JSON.parse(Buffer.from((await readerOf(world.objects)(editionUrl('q3'))).body).toString());
  expect(document).toMatchObject({
    name: 'q3',
    note: 'Cited in a report.',
    generation: 1,
    publishedAt: '2026-10-01T12:00:00.000Z',
    counts: { markets: 8, observations: 16 },
    log: null,
    markets: '/api/v1/editions/q3/markets',
  });
  await expectVerified(world, 'q3');
});

describe('the log', () => {
  const findingsOf = async (world: World, falsify: (body: string) => string) => {
    const read = readerOf(world.objects);
    const falsified: PublicReader = async (url, headers) => {
      const answer = await read(url, headers);
      if (!url.startsWith(editionUrl('q3'))) return answer;
      return { ...answer, body: Buffer.from(falsify(Buffer.from(answer.body).toString())) };
    };
    const options = { vkeys: [], seen: null, pageSizes: SMALL_PAGES, isEdition: true };
    const { findings } = await verifyLog(editionReader(falsified, 'q3'), options);
    return new Set(findings.filter(({ rule }) => rule === 'not-in-log').map(({ url }) => url));
  };

  test('gives every value of an edition, and finds a changed one', async () => {
    const world = await publishedWorld(TEST_LOG);
    await ask(world, 'q3');
    await publishAll(world);
    await change(world, 500);
    await removeMarket(world, 'h');
    await publish(world.dependencies);
    expect(await findingsOf(world, (body) => body)).toEqual(new Set());
    const changed = await findingsOf(world, (body) => body.replaceAll('"amountMinor":9,', '"amountMinor":77,'));
    expect(changed).toEqual(new Set(['/api/v1/markets', '/api/v1/markets/b', '/api/v1/markets/b/history']));
    const otherRoot = (body: string) => body.replace(/"root":"..../, '"root":"AAAA');
    expect(await findingsOf(world, otherRoot)).toEqual(new Set(['/api/v1/snapshot']));
    const tooLong = (body: string) => body.replace(/"size":[0-9]+/, '"size":999999');
    expect(await findingsOf(world, tooLong)).toContain('/api/v1/snapshot');
  });

  test('finds an edition that names none', async () => {
    const world = await publishedWorld();
    await ask(world, 'q3');
    await publishAll(world);
    expect(await findingsOf(world, (body) => body)).toEqual(new Set(['/api/v1/snapshot']));
  });
});

describe('a sweep, a day later', () => {
  const readable = async (world: World, url: string) => (await readerOf(world.objects)(url)).status;

  test.each([true, false])('keeps the pages of an edition (there is one: %s)', async (isNamed) => {
    const world = await publishedWorld();
    const before = await walk(world, '/api/v1');
    if (isNamed) {
      await ask(world, 'q3');
      await publishAll(world);
    }
    const pages = [...before.keys()].filter((path) => path.includes('cursor'));
    expect(pages.length).toBeGreaterThan(4);
    await change(world, 500);
    await sweepLater(world);
    await change(world, 501);
    await sweepLater(world);
    const left: string[] = [];
    for (const path of pages) if ((await readable(world, `/api/v1${path}`)) === 200) left.push(path);
    if (!isNamed) return expect(left.filter((path) => !path.includes('/e/'))).toEqual([]);
    expect(left).toEqual(pages);
    expect(await walk(world, editionUrl('q3'))).toEqual(before);
    await expectVerified(world, 'q3');
  });

  test('removes an edition that its operator has removed, and nothing else', async () => {
    const world = await publishedWorld();
    for (const name of ['q3', 'q3-b']) {
      await ask(world, name);
      await publishAll(world);
    }
    const item = await world.ledger.get(editionKey('q3'));
    if (item === null) throw new Error('no edition');
    await world.ledger.transact(
      [
        {
          kind: 'put',
          key: item,
          revision: 9,
          value: { ...item.value, state: 'removed', layout: null },
          if: { kind: 'any' },
        },
        created(endedEditionKey('q3'), null),
      ],
      { attemptId: 'removed' },
    );
    const before = await walk(world, editionUrl('q3-b'));
    await sweepLater(world);
    const left = [...world.objects.snapshot().keys()].filter((key) => key.includes('/editions/'));
    expect(left.filter((key) => !key.includes('/editions/q3-b'))).toEqual([]);
    expect(await walk(world, editionUrl('q3-b'))).toEqual(before);
  });
});

test('whatever is published while it is copied, an edition is one generation', async () => {
  const step = fc.record({
    slug: fc.constantFrom(...SLUGS),
    what: fc.constantFrom('append', 'correct', 'remove', 'define'),
    publishes: fc.boolean(),
  });
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), fc.nat(3), async (steps, early) => {
    const world = await publishedWorld();
    for (const [index, { slug, what, publishes }] of steps.entries()) {
      if (index === early) await ask(world, 'q3');
      world.clock.nowMs += 1000;
      const isGone = (await readerOf(world.objects)(`/api/v1/markets/${slug}`)).status !== 200;
      if (isGone) continue;
      if (what === 'remove') await removeMarket(world, slug).catch(() => undefined);
      else if (what === 'define') await world.ingest([market(`${slug}-${index}`)]);
      else
        await world
          .ingest([price(slug, what === 'append' ? 40 + index : 0, 70 + index)], 'correct')
          .catch(() => undefined);
      if (publishes) await publish(slowly(world.dependencies));
    }
    await publishAll(world);
    if (early >= steps.length) return;
    expect((await stateOf(world, 'q3'))?.state).toBe('published');
    await expectVerified(world, 'q3');
  });
  await fc.assert(property, { numRuns: runs(8, 200) });
});

test('a process that dies anywhere while it copies leaves work that the next one finishes', async () => {
  const whole = await publishedWorld();
  await ask(whole, 'q3');
  await publishAll(whole);
  const expected = await walk(whole, editionUrl('q3'));
  for (let deadAfter = 0, isDone = false; !isDone; deadAfter += 7) {
    const world = await publishedWorld();
    await ask(world, 'q3');
    let operations = 0;
    const faulty = faultyStorage(world.ledger, world.objects, 'all', async ({ run }) => {
      if (operations++ >= deadAfter) throw new Error('the process is dead');
      return await run();
    });
    const dying = dependenciesOn(faulty.ledger, faulty.objects, world.clock);
    isDone = await (async () => {
      while ((await publish(slowly(dying))).isMoreDue);
      return true;
    })().catch(() => false);
    await change(world, 321);
    await publishAll(world);
    const edition = await stateOf(world, 'q3');
    expect(edition?.state).toBe('published');
    if (edition?.generation === 1) expect(await walk(world, editionUrl('q3'))).toEqual(expected);
    await expectVerified(world, 'q3');
  }
});

test('a publisher that planned before an edition was opened cannot replace its bodies', async () => {
  const world = await publishedWorld();
  const head = await world.ledger.get(HEAD_KEY);
  await ask(world, 'q3');
  await world.ingest([price('b', 31, 77)]);
  let isOpened = false;
  const slow = faultyStorage(world.ledger, world.objects, 'all', async ({ what, run }) => {
    if (!isOpened && what.startsWith('ledger.transact') && what.includes('"head"')) {
      isOpened = true;
      // Another publisher, which saw no marks, opens the edition of generation 1 before the swap to generation 2.
      await continueEdition(world.dependencies, await EditionKeeper.read(world.dependencies), head as Head);
      expect((await stateOf(world, 'q3'))?.state).toBe('copying');
    }
    return await run();
  });
  const rival = dependenciesOn(slow.ledger, slow.objects, world.clock);
  await expect(publish(rival)).rejects.toBeInstanceOf(Superseded);
  await publishAll(world);
  expect(await stateOf(world, 'q3')).toMatchObject({ state: 'published', generation: 1 });
  await expectVerified(world, 'q3');
});

test('an edition whose body is damaged before it is copied fails, and publishing goes on', async () => {
  const world = await publishedWorld();
  await ask(world, 'q3');
  await publish(slowly(world.dependencies));
  const key = publicKey({ kind: 'history', slug: 'e' });
  const found = await world.objects.stat(key);
  if (found !== null) await world.objects.delete(key, found.etag);
  await publishAll(world);
  const failed = await stateOf(world, 'q3');
  expect([failed?.state, failed?.failure]).toEqual(['failed', expect.stringContaining('/histories/e.json')]);
  expect((await readerOf(world.objects)(editionUrl('q3'))).status).toBe(404);
  await sweepLater(world);
  expect(
    [...world.objects.snapshot().keys()].filter((each) => each.startsWith(`${PUBLIC_PREFIX}${editionUrl('q3')}`)),
  ).toEqual([]);
});

test('an edition that is removed while it is copied is never published', async () => {
  const world = await publishedWorld();
  await ask(world, 'q3');
  await publish(slowly(world.dependencies));
  const item = await world.ledger.get(editionKey('q3'));
  if (item === null) throw new Error('no edition');
  const value = { ...item.value, state: 'removed' as const, layout: null };
  await world.ledger.transact([{ kind: 'put', key: item, revision: 9, value, if: { kind: 'any' } }], {
    attemptId: 'removed',
  });
  await publishAll(world);
  expect((await stateOf(world, 'q3'))?.state).toBe('removed');
  expect((await readerOf(world.objects)(editionUrl('q3'))).status).toBe(404);
});
