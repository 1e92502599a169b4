/**
 * A ledger that is begun from nothing but the published log publishes the same bytes as the one that is lost, and goes on
 * with the same log.
 */
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { type PublicObjectName, parsePublicKey, publicKey } from '../../../contract/files/public-objects.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { readEntries } from '../../../publisher/core/log/log-chunks.ts';
import { entryTiles } from '../../../publisher/core/log/log-tiles.ts';
import { publicMetadata } from '../../../publisher/kernel/files/fenced-put.ts';
import { takeOverStore } from '../../../publisher/repair/from-log/known-pages.ts';
import { LogUnusable, ledgerFromLog } from '../../../publisher/repair/from-log/ledger-from-log.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { ObjectHead } from '../../../storage/ports/object-store.ts';
import { type MemoryObjects, openMemoryObjects } from '../../storage/memory-objects.ts';
import { readCheckpoint, readTexts } from '../log/test-log.ts';
import { removeMarket } from '../remove-market.ts';
import { setStanding } from '../standing.ts';
import { takeDown } from '../take-down.ts';
import { damagedReader, withField } from '../verify/damaged-reader.ts';
import { market, price, publicObjects, readerOf, SMALL_PAGES, type World } from '../world.ts';
import { begun, livedWorld, loggedWorld, noteOf, OWN_KEY } from './world-from-log.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const SNAPSHOT = publicKey({ kind: 'snapshot' });

/** All public files, with the snapshot as far as it does not depend on the generation. */
function filesOf(objects: MemoryObjects): Map<string, string> {
  const files = publicObjects(objects);
  const { generation, listGeneration, publishedAt, ...snapshot } = JSON.parse(files.get(SNAPSHOT) as string);
  return files.set(SNAPSHOT, JSON.stringify(snapshot));
}

/** Keys of files that one store has otherwise than the other. */
function differences(one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): readonly string[] {
  const keys = [...new Set([...one.keys(), ...other.keys()])];
  return keys.filter((key) => JSON.stringify(one.get(key)) !== JSON.stringify(other.get(key)));
}

const SEEDS = Array.from({ length: 4 }, (_, index) => 2_400 + index);

const OPTIONS = { vkeys: [OWN_KEY.vkey], seen: null, pageSizes: SMALL_PAGES };

async function expectProven(world: World, seen: string | null = null): Promise<void> {
  expect((await verifyLog(world.read, { ...OPTIONS, seen })).findings).toEqual([]);
  expect((await verify(world.read, { pageSizes: SMALL_PAGES })).findings).toEqual([]);
}

describe.each(SEEDS)('a ledger begun from the log, seed %i', (seed) => {
  let lost: World;

  beforeAll(async () => {
    lost = await livedWorld(seed);
  });

  test('publishes the same bytes where the files are, and goes on with the log', async () => {
    const before = filesOf(lost.objects);
    const texts = await readTextsOrLines(lost);
    const world = await begun(lost, lost.objects.copy());
    await world.publishAll();
    expect(differences(filesOf(world.objects), before)).toEqual([]);
    expect(await readCheckpoint(world.objects)).toEqual(await readCheckpoint(lost.objects));

    const seen = Buffer.from((await noteOf(lost)) as Uint8Array).toString();
    await world.ingest([market('later'), price('later', 0, 1)]);
    await world.publishAll();
    const after = await readTextsOrLines(world);
    expect(after.slice(0, texts.length)).toEqual(texts);
    expect(after).toHaveLength(texts.length + 2);
    await expectProven(world, seen);
    world.clock.nowMs += 2 * DAY_MS;
    await collectGarbage(world.dependencies, { dryRun: false });
    await expectProven(world, seen);
  });

  test('publishes the same bytes if it takes news in before it looks at the store', async () => {
    const shown = [...lost.objects.snapshot()].flatMap(([key, { metadata }]) => {
      const name = parsePublicKey(key);
      return name?.kind === 'market' && metadata.contentType === 'application/json' ? [name.slug] : [];
    });
    const ofMarket = (slug: string) => [price(slug, 1, 7), price(slug, -300, 8), price(slug, 270, 9)];
    const withNews = async (isStoreLater: boolean) => {
      const world = await begun(lost, lost.objects.copy(), { isStoreLater });
      await world.ingest([market('later'), ...shown.flatMap(ofMarket)], 'correct');
      await takeOverStore(world.dependencies);
      await world.publishAll();
      // Readers who are on their way through replaced pages find them.
      await collectGarbage(world.dependencies, { dryRun: false });
      return world;
    };
    const [early, late] = [await withNews(false), await withNews(true)];
    expect(differences(filesOf(late.objects), filesOf(early.objects))).toEqual([]);
    late.clock.nowMs += 2 * DAY_MS;
    await collectGarbage(late.dependencies, { dryRun: false });
    await expectProven(late);
  });

  test('publishes all that follows from the log into an empty store', async () => {
    const world = await begun(lost, openMemoryObjects());
    await world.publishAll();
    await expectProven(world);
    const slugsOf = ({ objects }: World) =>
      [...objects.snapshot().keys()].filter((key) => /\/markets\/[^/]+$/.test(key));
    expect(slugsOf(world).toSorted()).toEqual(slugsOf(lost).toSorted());
  });
});

/** With tombstones, which the strict reader of the log does not take. */
async function readTextsOrLines(world: World): Promise<readonly string[]> {
  return await readTexts(world.objects).catch(async () => {
    const { size } = (await readCheckpoint(world.objects)) ?? { size: 0 };
    const { readEntries } = await import('../../../publisher/core/log/log-chunks.ts');
    const lines: string[] = [];
    for (let n = 0; n * 256 < size; n++)
      lines.push(...(await readEntries(world.ledger, n, Math.min(256, size - n * 256))));
    return lines;
  });
}

describe('what the log does not have', () => {
  const salt = 'ab'.repeat(32);
  const standing = { disputes: {}, comparisons: {}, verifications: {} };

  test('is the name of a representative: without the body that has it, the log states that there is none', async () => {
    const lost = loggedWorld();
    await lost.ingest([market('a'), market('b'), price('a', 0, 1)]);
    for (const slug of ['a', 'b']) {
      const representedBy = { name: `Council of ${slug}`, claim: 'clm_1', salt };
      await setStanding(lost.ledger, slug, { representedBy, ...standing }, `standing-${slug}`);
    }
    await lost.publishAll();
    const reader = damagedReader(lost.read, {
      '/api/v1/markets/a': withField('representedBy', 'Another'),
    });
    await expect(begun(lost, openMemoryObjects(), { reader })).rejects.toThrow(LogUnusable);
    const world = await begun(lost, openMemoryObjects(), { reader, forgetNames: true });
    expect(world.outcome).toMatchObject({ markets: 2, lostNames: ['a'] });
    await world.publishAll();
    const shown = async (slug: string) =>
      JSON.parse(publicObjects(world.objects).get(publicKey({ kind: 'market', slug })) ?? '');
    expect(await shown('a')).toMatchObject({ representedBy: null });
    expect(await shown('b')).toMatchObject({ representedBy: 'Council of b' });
    const after = await verifyLog(world.read, OPTIONS);
    expect(after).toMatchObject({ findings: [], size: (await readTexts(lost.objects)).length + 2 });
  });

  test('a ledger that holds anything is not begun from a log', async () => {
    const lost = loggedWorld();
    await lost.ingest([market('a')]);
    await lost.publishAll();
    const begin = ledgerFromLog({ storage: lost.dependencies, reader: lost.read, keys: [OWN_KEY] });
    await expect(begin).rejects.toThrow(RangeError);
  });
});

test('entries of a removed market can be taken down afterwards', async () => {
  const lost = loggedWorld();
  await lost.ingest([market('a'), market('b'), ...Array.from({ length: 9 }, (_, day) => price('b', day * 20, day))]);
  await lost.publishAll();
  await removeMarket(lost, 'b');
  await lost.publishAll();
  const world = await begun(lost, lost.objects.copy());
  await world.publishAll();
  await takeDown(world, 'b');
  await world.publishAll();
  const report = await verifyLog(world.read, { vkeys: [], seen: null, pageSizes: SMALL_PAGES });
  expect(report).toMatchObject({ findings: [], takenDown: 10 });
});

describe('texts that a later entry takes down stay hidden, although the copy has them', () => {
  test.each([
    ['without files', () => openMemoryObjects()],
    ['whose files have them', (copy: MemoryObjects) => copy.copy()],
  ])('in a store %s', async (_, storeOf) => {
    const lost = loggedWorld();
    await lost.ingest([market('a'), market('b'), price('b', 0, 4_242)]);
    await lost.publishAll();
    await removeMarket(lost, 'b');
    await lost.publishAll();
    const texts = await readTexts(lost.objects);
    await takeDown(lost, 'b');
    await lost.publishAll();
    const copy = await withTexts(lost.objects, texts);
    const world = await begun({ ...lost, read: readerOf(copy) }, storeOf(copy));
    expect(world.outcome).toMatchObject({ takenDown: 2 });
    await world.publishAll();
    const { size = 0 } = (await readCheckpoint(world.objects)) ?? {};
    expect((await readEntries(world.ledger, 0, size)).join()).not.toContain('4242');
    const { body } = await world.read(`/api/v1/log/ndjson/000.p/${size}.gz`);
    expect(gunzipSync(body).toString()).not.toContain('4242');
    expect((await world.read(`/api/v1/log/tile/entries/000.p/${size}`)).status).toBe(410);
    await expectProven(world);
  });

  /** A copy of the store whose newest tiles have the texts of these first entries of the log. */
  async function withTexts(objects: MemoryObjects, texts: readonly string[]): Promise<MemoryObjects> {
    const copy = objects.copy();
    const { size = 0 } = (await readCheckpoint(objects)) ?? {};
    const { body: lines } = await readerOf(objects)(`/api/v1/log/ndjson/000.p/${size}.gz`);
    const later = gunzipSync(lines).toString().split('\n').slice(texts.length, size);
    for (const { key, make } of entryTiles(0, size, async () => [...texts, ...later])) {
      const { body } = await make();
      const { etag, metadata } = (await copy.stat(key)) as ObjectHead;
      const { generation } = metadata;
      const name = parsePublicKey(key) as PublicObjectName;
      await copy.put(key, body, publicMetadata(name, generation), { kind: 'matches', etag });
    }
    return copy;
  }
});
