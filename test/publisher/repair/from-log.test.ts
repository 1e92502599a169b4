/**
 * A ledger that is begun from nothing but the published log publishes the same bytes as the one that is lost, and goes on
 * with the same log.
 */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { takeOverStore } from '../../../publisher/repair/from-log/known-pages.ts';
import { LogUnusable, ledgerFromLog } from '../../../publisher/repair/from-log/ledger-from-log.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { MARKET_INDEX } from '../../../storage/records/markets.ts';
import { TAKEDOWNS } from '../../../storage/records/takedowns.ts';
import { type MemoryObjects, openMemoryObjects } from '../../storage/memory-objects.ts';
import { faultsOfLog } from '../log/log-oracle.ts';
import { LOG_ORIGIN, readCheckpoint, readTexts, testSigner } from '../log/test-log.ts';
import { removeMarket } from '../remove-market.ts';
import { setStanding } from '../standing.ts';
import { takeDown } from '../take-down.ts';
import { damagedReader, withField } from '../verify/damaged-reader.ts';
import { withoutGeneration } from '../without-generation.ts';
import { market, price, publicObjects, readerOf, SMALL_PAGES, type World } from '../world.ts';
import { begun, copyOf, livedWorld, loggedWorld, noteOf, OWN_KEY } from './world-from-log.ts';

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

/** The same files as if cursors had no generation and named nothing, without pages and tiles that nothing leads to. */
function withoutCursors(objects: MemoryObjects): Map<string, readonly string[]> {
  const files = filesOf(objects);
  const cursorOf = (key: string) => /\/pages\/(.*)\.json$/.exec(key)?.[1];
  const reached = new Set<string>();
  const cursorsIn = (key: string) =>
    [...(files.get(key) ?? '').matchAll(/"nextCursor":"([^"]+)"/g)].map(([, cursor]) => cursor);
  const reach = (key: string): void => {
    reached.add(key);
    for (const cursor of cursorsIn(key)) {
      const next = `${key.replace(/\.json$|\/pages\/.*$/, '')}/pages/${cursor}.json`;
      if (!reached.has(next)) reach(next);
    }
  };
  for (const key of files.keys()) if (cursorOf(key) === undefined && !/\/log\/.*\.p\//.test(key)) reach(key);
  const bare = (text: string) => text.replaceAll(/\d+-[0-9a-f]{32}/g, 'cursor').replace(/"listDigest":"\w+"/, '');
  const found = new Map<string, string[]>();
  for (const key of reached) {
    const text = files.get(key) ?? '';
    const own = bare(/\/(latest|recent)\.\w+$/.test(key) ? withoutGeneration(text) : text);
    found.set(bare(key), [...(found.get(bare(key)) ?? []), own].sort());
  }
  return found;
}

const SEEDS = Array.from({ length: 4 }, (_, index) => 2_400 + index);

describe.each(SEEDS)('a ledger begun from the log, seed %i', (seed) => {
  test('publishes the same bytes where the files are, and goes on with the log', async () => {
    const lost = await livedWorld(seed);
    const before = filesOf(lost.objects);
    const texts = await readTextsOrLines(lost);
    const checkpoint = await readCheckpoint(lost.objects);
    const world = await begun(lost, await copyOf(lost.objects));
    await world.publishAll();
    expect(differences(filesOf(world.objects), before)).toEqual([]);
    expect(await readCheckpoint(world.objects)).toEqual(checkpoint);

    const seen = Buffer.from((await noteOf(lost)) as Uint8Array).toString();
    await world.ingest([market('later'), price('later', 0, 1)]);
    await world.publishAll();
    const after = await readTextsOrLines(world);
    expect(after.slice(0, texts.length)).toEqual(texts);
    expect(after).toHaveLength(texts.length + 2);
    const options = { vkeys: [OWN_KEY.vkey], seen, pageSizes: SMALL_PAGES };
    expect((await verifyLog(world.read, options)).findings).toEqual([]);
    expect((await verify(world.read, { pageSizes: SMALL_PAGES })).findings).toEqual([]);

    world.clock.nowMs += 2 * DAY_MS;
    await collectGarbage(world.dependencies, { dryRun: false });
    expect((await verifyLog(world.read, options)).findings).toEqual([]);
    expect((await verify(world.read, { pageSizes: SMALL_PAGES })).findings).toEqual([]);
  });

  test('publishes the same bytes if it takes news in before it looks at the store', async () => {
    const lost = await livedWorld(seed);
    const slugs = (await readAll(lost.ledger, MARKET_INDEX)).map(({ sort }) => sort);
    const shown = slugs.filter(
      (slug) =>
        lost.objects.snapshot().get(publicKey({ kind: 'market', slug }))?.metadata.contentType === 'application/json',
    );
    const news = [
      market('later'),
      ...shown.flatMap((slug) => [price(slug, 1, 7), price(slug, -300, 8), price(slug, 270, 9)]),
    ];
    const withNews = async (isStoreLater: boolean) => {
      const world = await begun(lost, await copyOf(lost.objects), { isStoreLater });
      await world.ingest(news, 'correct');
      await takeOverStore(world.dependencies);
      await world.publishAll();
      return world;
    };
    const [early, late] = [await withNews(false), await withNews(true)];
    // Readers who are on their way through replaced pages find them.
    for (const { dependencies } of [early, late]) await collectGarbage(dependencies, { dryRun: false });
    expect(differences(filesOf(late.objects), filesOf(early.objects))).toEqual([]);
    const options = { vkeys: [OWN_KEY.vkey], seen: null, pageSizes: SMALL_PAGES };
    expect((await verifyLog(late.read, options)).findings).toEqual([]);
    late.clock.nowMs += 2 * DAY_MS;
    await collectGarbage(late.dependencies, { dryRun: false });
    expect((await verify(late.read, { pageSizes: SMALL_PAGES })).findings).toEqual([]);
  });

  test('publishes the same bytes into an empty store, but for cursors', async () => {
    const lost = await livedWorld(seed);
    const world = await begun(lost, openMemoryObjects());
    await world.publishAll();
    // No entry of the log tells of incidents, nor since when they are recorded. A part of another cut stays for a day.
    const differing = differences(withoutCursors(world.objects), withoutCursors(lost.objects)).filter(
      (key) => !/\/(incidents|latest\/all)\.\w+$/.test(key),
    );
    for (const key of differing) expect([key, await isOfTakenDown(lost, key)]).toEqual([key, true]);
    expect((await verifyLog(world.read, { vkeys: [], seen: null, pageSizes: SMALL_PAGES })).findings).toEqual([]);
    expect((await verify(world.read, { pageSizes: SMALL_PAGES })).findings).toEqual([]);
  });
});

/** Which years a history had, only the texts say: so 404 instead of 410. */
async function isOfTakenDown({ ledger }: World, key: string): Promise<boolean> {
  const taken = (await readAll(ledger, TAKEDOWNS)).map(({ value }) => value.market);
  return taken.some((slug) => new RegExp(`/markets/${slug}/history/(\\d{4}\\.|index)`).test(key));
}

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
    const after = await verifyLog(world.read, {
      vkeys: [OWN_KEY.vkey],
      seen: null,
      pageSizes: SMALL_PAGES,
    });
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

test('records that the log has are known: taking them in again changes nothing', async () => {
  const lost = loggedWorld();
  const source = { label: 'one', url: 'https://example.com/a', publisher: 'P', licence: null, attribution: null };
  const ruled = { ...market('a'), sources: [source], outliers: 'off', outliersReason: 'it leaps' } as IngestRecordInput;
  const scalar = { ...price('b', 0, 1), metric: 'rate', value: '1.5', unit: 'percent' } as Record<string, unknown>;
  for (const name of ['amountMinor', 'currency', 'zeroAsserted']) delete scalar[name];
  const records = [
    ruled,
    market('b'),
    price('a', 0, 1),
    price('a', 1, null),
    price('a', 2, 0),
    scalar as IngestRecordInput,
  ];
  await lost.ingest(records);
  await lost.publishAll();
  const world = await begun(lost, await copyOf(lost.objects));
  await world.publishAll();
  expect(await world.ingest(records)).toMatchObject({ unchanged: records.length, markets: [] });
});

test('entries of a removed market can be taken down afterwards', async () => {
  const lost = loggedWorld();
  await lost.ingest([market('a'), market('b'), ...Array.from({ length: 9 }, (_, day) => price('b', day * 20, day))]);
  await lost.publishAll();
  await removeMarket(lost, 'b');
  await lost.publishAll();
  const world = await begun(lost, await copyOf(lost.objects));
  await world.publishAll();
  await takeDown(world, 'b');
  await world.publishAll();
  const report = await verifyLog(world.read, { vkeys: [], seen: null, pageSizes: SMALL_PAGES });
  expect(report).toMatchObject({ findings: [], takenDown: 10 });
});

test('a ledger begun from an older copy continues the longer log of its own store', async () => {
  const lost = loggedWorld();
  await lost.ingest([market('a'), price('a', 0, 1)]);
  await lost.publishAll();
  const older = { ...lost, objects: await copyOf(lost.objects) };
  await lost.ingest([price('a', 1, 2), market('b')]);
  await lost.publishAll();
  const longer = await readTexts(lost.objects);
  const world = await begun(older, lost.objects);
  await world.publishAll();
  expect((await readTexts(world.objects)).slice(0, longer.length)).toEqual(longer);
  expect(await faultsOfLog(world.objects)).toEqual([]);
});

test('a new key takes the log over, and is announced in it', async () => {
  const lost = loggedWorld();
  await lost.ingest([market('a'), price('a', 0, 1)]);
  await lost.publishAll();
  const [next, old] = [testSigner(2), OWN_KEY];
  const objects = await copyOf(lost.objects);
  const both = lost.with({ log: { origin: LOG_ORIGIN, signers: [next, old] } });
  const world = await begun(both, objects, { keys: [next, old] });
  await world.publishAll();
  const added = (await readTexts(objects)).slice((await readTexts(lost.objects)).length);
  expect(added).toEqual([expect.stringContaining(next.vkey)]);
  const report = await verifyLog(readerOf(objects), { vkeys: [old.vkey], seen: null, pageSizes: SMALL_PAGES });
  expect(report).toMatchObject({ findings: [], vkeys: [old.vkey, next.vkey] });
});
