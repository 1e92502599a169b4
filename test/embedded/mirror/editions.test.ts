/** A mirror of editions: checked as a whole, put with the document last, kept by the sweep, removed with the service's. */
import { expect, test } from 'vitest';
import { MirrorCopy } from '../../../embedded/mirror/copy.ts';
import { copyEdition } from '../../../embedded/mirror/copy-edition.ts';
import { sweepCopy } from '../../../embedded/mirror/sweep-copy.ts';
import { editionChanges, newEdition } from '../../../lambdas/ingest/editions.ts';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { publish } from '../../../publisher/publish.ts';
import { editionReader } from '../../../publisher/verify/edition-reader.ts';
import type { PublicReader } from '../../../publisher/verify/reader.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { readerOf, SMALL_PAGES } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { changeWorld, publishedWorld, roundOf, servedBy } from './mirrored-world.ts';

/** An edition of the first generation, and two generations after it. */
async function citedWorld() {
  const world = await publishedWorld();
  const changes = editionChanges('q3', newEdition(null, new Date(world.clock.nowMs).toISOString()));
  await world.ledger.transact(changes, { attemptId: 'ask' });
  while ((await publish(world.dependencies)).isMoreDue);
  await changeWorld(world);
  const copied = openMemoryObjects();
  await roundOf(world, copied);
  const copy = new MirrorCopy(copied, 1e9);
  const follow = (upstream: PublicReader = readerOf(world.objects)) =>
    copyEdition({ upstream, copy, log: null, pageSizes: SMALL_PAGES, generation: 1 }, 'q3');
  const check = async () =>
    (await verify(editionReader(readerOf(copied), 'q3'), { pageSizes: SMALL_PAGES, settled: true })).findings;
  return { world, copied, copy, follow, check };
}

const editionIn = (objects: Parameters<typeof servedBy>[0]) =>
  [...servedBy(objects)].filter(([key]) => key.includes('/editions/'));

test('the copy has the edition with its pages, verify finds nothing, and a second round reads the document alone', async () => {
  const { world, copied, follow, check } = await citedWorld();
  expect(await follow()).toEqual([]);
  expect(editionIn(copied)).toEqual(editionIn(world.objects));
  expect(editionIn(copied).length).toBeGreaterThan(10);
  expect(await check()).toEqual([]);
  const asked: string[] = [];
  await follow(async (url, headers) => {
    asked.push(url);
    return await readerOf(world.objects)(url, headers);
  });
  expect(asked).toEqual(['/api/v1/editions/q3']);
});

test('the sweep keeps its pages, and removes them after the service has removed the edition', async () => {
  const { copied, copy, follow, check } = await citedWorld();
  await follow();
  const options = { lost: new Set(['a', 'b']), logSizes: [] };
  const { unreached } = await sweepCopy(copy, {}, { ...options, lost: new Set(), nowMs: 0 });
  expect(unreached).toEqual({});
  // Also a market that the service has lost stays in it.
  const lost = await sweepCopy(copy, {}, { ...options, nowMs: 0 });
  expect(Object.keys(lost.unreached).filter((key) => key.includes('/editions/'))).toEqual([]);
  expect(await check()).toEqual([]);
  const gone: PublicReader = async () => ({ status: 404, headers: new Map(), body: Buffer.of() });
  expect(await follow(gone)).toEqual([]);
  expect(editionIn(copied)).toEqual([]);
  // A name that was never there, or is asked for still.
  expect(await follow(gone)).toMatchObject([{ rule: 'status' }]);
  const after = await sweepCopy(copy, {}, { ...options, lost: new Set(), nowMs: 0 });
  const pages = Object.keys(after.unreached);
  expect(pages.length).toBeGreaterThan(2);
  expect(pages.every((key) => key.includes('-pages/'))).toBe(true);
  const nowMs = PAGE_RETENTION_SECONDS * 1000;
  expect((await sweepCopy(copy, after.unreached, { ...options, lost: new Set(), nowMs })).removed).toBe(pages.length);
});

test('killed after any request, nothing leads to a missing body, and the next round ends it', async () => {
  const { world, copied, follow, check } = await citedWorld();
  for (let most = 0, isDone = false; !isDone; most += 7) {
    let reads = most;
    const dying: PublicReader = async (url, headers) => {
      if (--reads < 0) throw new Error('killed');
      return await readerOf(world.objects)(url, headers);
    };
    isDone = await follow(dying).then(
      () => true,
      () => false,
    );
    const hasDocument = servedBy(copied).has('public/api/v1/editions/q3');
    expect(hasDocument).toBe(isDone);
  }
  expect(await check()).toEqual([]);
});

test.each([
  ['a market with another value', /markets\/b$/, '"amountMinor":1', '"amountMinor":3'],
  ['a list that misses a market', /q3\/markets$/, '"slug":"a"', '"slug":"b"'],
  ['a document of other counts', /q3$/, '"markets":7', '"markets":8'],
])('of an edition with %s, nothing is put', async (_, where, from, to) => {
  const { world, copied, follow } = await citedWorld();
  const upstream: PublicReader = async (url) => {
    const answer = await readerOf(world.objects)(url);
    if (!url.includes('/editions/') || !where.test(url)) return answer;
    return { ...answer, body: Buffer.from(Buffer.from(answer.body).toString().replace(from, to)) };
  };
  expect((await follow(upstream)).length).toBeGreaterThan(0);
  expect(editionIn(copied)).toEqual([]);
});

test('an edition whose bytes have changed is told, and the copy stays', async () => {
  const { world, copied, follow } = await citedWorld();
  await follow();
  const before = editionIn(copied);
  const upstream: PublicReader = async (url) => {
    const answer = await readerOf(world.objects)(url);
    return { ...answer, body: Buffer.from(Buffer.from(answer.body).toString().replace('"markets":7', '"markets":8')) };
  };
  expect(await follow(upstream)).toMatchObject([{ rule: 'digest' }]);
  expect(editionIn(copied)).toEqual(before);
});
