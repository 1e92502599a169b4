/** A kept export stays, byte for byte. One that the store has lost is made again from the log. */
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { keepExport } from '../../../publisher/projections/exports/keep-export.ts';
import { makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { remakeKept } from '../../../publisher/projections/exports/remake-kept.ts';
import { removeMarket } from '../remove-market.ts';
import { takeDown } from '../take-down.ts';
import { market, price } from '../world.ts';
import { DAY_MS, days, exportWorld, FIRST_DAY, keysOf } from './export-world.ts';
import { readPackage, rowsOf } from './exported.ts';

type ExportWorld = ReturnType<typeof exportWorld>;

const DATE = '2026-10-02';
const PACKAGE = `/api/v1/exports/${DATE}/datapackage.json`;

const sweep = (world: ExportWorld) => collectGarbage(world.options.storage, { dryRun: false });

/** Every object of the export of a day, by its key. */
async function bytesOf(world: ExportWorld, date = DATE): Promise<Record<string, string>> {
  const { resources } = await readPackage(world.read, `/api/v1/exports/${date}/datapackage.json`);
  const paths = new Set(resources.flatMap(({ path, schema }) => [path, schema as string]));
  const keys = [`${date}/datapackage.json`, ...paths];
  const all = world.objects.snapshot();
  return Object.fromEntries(
    keys.map((key) => [key, Buffer.from(all.get(`public/api/v1/exports/${key}`)?.body ?? []).toString('base64')]),
  );
}

/** Two months without news. */
async function liveOn(world: ExportWorld): Promise<void> {
  for (let day = 0; day < 60; day += 20) {
    world.clock.nowMs += 20 * DAY_MS;
    await world.nextDay();
    await sweep(world);
  }
}

/** Files that no manifest of a day names. */
async function strays(world: ExportWorld): Promise<readonly string[]> {
  const named = new Set<string>();
  for (const [key, { body }] of world.objects.snapshot()) {
    if (!key.endsWith('/datapackage.json')) continue;
    for (const { path } of (JSON.parse(Buffer.from(body).toString()) as { resources: { path: string }[] }).resources)
      named.add(`public/api/v1/exports/${path}`);
  }
  return keysOf(world).filter((key) => /\/parts\/(?!.*-schema-)/.test(key) && !named.has(key));
}

async function lose(world: ExportWorld, isLost = (_key: string) => true): Promise<void> {
  for (const key of keysOf(world).filter(isLost)) await world.lose(key);
}

/** Parts of 256 entries, with corrections across them; later days go on, and correct what the kept one shows. */
async function keptWorld() {
  const world = exportWorld();
  await world.publishOf([market('a'), ...days('a', 300), market('b'), ...days('b', 300)]);
  await world.publishOf([price('a', FIRST_DAY, 9_999), price('b', FIRST_DAY + 299, 8_888)], 'correct');
  expect(await world.nextDay()).toEqual({ kind: 'made', date: DATE });
  expect(await keepExport(world.options.storage, DATE, { label: 'As cited' })).toBe('done');
  const before = await bytesOf(world);
  await world.publishOf([price('a', FIRST_DAY + 1, 7_777), price('b', FIRST_DAY + 2, 6_666)], 'correct');
  await world.publishOf([...days('a', 40, 300), market('c'), ...days('c', 3)]);
  await world.nextDay();
  return { world, before };
}

test('it stays, with its files, for as long as it is kept; the newest manifest names it', async () => {
  const { world, before } = await keptWorld();
  await world.publishOf(days('a', 1, 400));
  await liveOn(world);
  expect(await bytesOf(world)).toEqual(before);
  expect(await readPackage(world.read)).toMatchObject({ kept: [{ date: DATE, label: 'As cited' }] });
  expect(await world.findingsOfLog()).toEqual([]);
  expect(await keepExport(world.options.storage, DATE, null)).toBe('done');
  expect(await readPackage(world.read)).not.toHaveProperty('kept');
  await liveOn(world);
  expect((await world.read(PACKAGE)).status).toBe(404);
  expect(await strays(world)).toEqual([]);
});

describe('a kept export that the store has lost is made again, byte for byte', () => {
  test.each<[string, (key: string) => boolean]>([
    ['all exports', () => true],
    ['its manifest', (key) => key.includes(`${DATE}/datapackage`)],
  ])('%s', async (_, isLost) => {
    const { world, before } = await keptWorld();
    await lose(world, isLost);
    expect(await remakeKept(world.options)).toEqual([DATE]);
    expect(await bytesOf(world)).toEqual(before);
    expect(await remakeKept(world.options)).toEqual([]);
    // The newest export is whole, too.
    await world.nextDay();
    await sweep(world);
    expect(await world.findingsOfLog()).toEqual([]);
    expect(await bytesOf(world)).toEqual(before);
  });

  test('a run that has no more time goes on, and a sweep in between takes nothing away', async () => {
    const { world, before } = await keptWorld();
    await lose(world);
    let runs = 0;
    for (let remade: readonly string[] = []; remade.length === 0; runs++) {
      let asked = 0;
      remade = await remakeKept({ ...world.options, hasTime: () => ++asked <= 2 });
      world.clock.nowMs += DAY_MS;
      await sweep(world);
    }
    expect(runs).toBeGreaterThan(1);
    expect(await bytesOf(world)).toEqual(before);
  });
});

test('after a takedown it has no row of the entries that were taken down', async () => {
  const { world } = await keptWorld();
  const marketsOf = async (table: string) =>
    new Set((await rowsOf(world.read, table, PACKAGE)).map(({ market: slug }) => slug));
  expect(await marketsOf('observations')).toEqual(new Set(['a', 'b']));
  await removeMarket(world, 'b');
  await world.publishOf([]);
  await takeDown(world, 'b');
  await world.publishOf([]);
  expect(await remakeKept(world.options)).toEqual([DATE]);
  for (const table of ['observations', 'markets']) expect(await marketsOf(table)).toEqual(new Set(['a']));
  const after = await bytesOf(world);
  // The files with the texts go as those of other exports do.
  await world.publishOf(days('a', 1, 400));
  await liveOn(world);
  expect(await remakeKept(world.options)).toEqual([]);
  expect(await bytesOf(world)).toEqual(after);
  expect(await strays(world)).toEqual([]);
  const texts = [...world.objects.snapshot()].filter(
    ([key]) => key.endsWith('.ndjson.gz') && key.includes('/exports/'),
  );
  expect(texts.filter(([, { body }]) => gunzipSync(body).includes('"market":"b"'))).toEqual([]);
  await lose(world);
  expect(await remakeKept(world.options)).toEqual([]);
  world.clock.nowMs += DAY_MS;
  expect(await remakeKept(world.options)).toEqual([DATE]);
  expect(await bytesOf(world)).toEqual(after);
});

test.each([true, false])('after a takedown today, the newest export has none of its rows; kept: %s', async (isKept) => {
  const world = exportWorld();
  await world.publishOf([market('a'), ...days('a', 5), market('b'), ...days('b', 5)]);
  await world.nextDay();
  if (isKept) await keepExport(world.options.storage, DATE, { label: null });
  await removeMarket(world, 'b');
  await world.publishOf([]);
  await takeDown(world, 'b');
  await world.publishOf([]);
  await makeExport(world.options);
  expect(await remakeKept(world.options)).toEqual(isKept ? [DATE] : []);
  for (const table of ['observations', 'markets'])
    expect(new Set((await rowsOf(world.read, table)).map(({ market: slug }) => slug))).toEqual(new Set(['a']));
  expect(await world.findingsOfLog()).toEqual([]);
});

describe('what cannot be kept, or made again', () => {
  test('the export of today, while it is kept: readers cite its bytes', async () => {
    const world = exportWorld();
    await world.publishOf([market('a'), ...days('a', 5)]);
    await world.nextDay();
    await keepExport(world.options.storage, DATE, { label: null });
    const before = await bytesOf(world);
    await world.publishOf(days('a', 5, 5));
    expect(await makeExport({ ...world.options, again: 'always' })).toEqual({ kind: 'present', date: DATE });
    expect(await bytesOf(world)).toEqual(before);
  });
});
