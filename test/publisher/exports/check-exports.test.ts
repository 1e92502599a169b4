/** `verify` reads the newest export. */
import { expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { keepExport } from '../../../publisher/projections/exports/keep-export.ts';
import { market } from '../world.ts';
import { days, exportWorld, keysOf } from './export-world.ts';
import { readPackage } from './exported.ts';

async function exportedWorld() {
  const world = exportWorld();
  await world.ingest([market('a'), ...days('a', 300)]);
  await world.nextDay();
  return world;
}

test('finds a lost file of a kept export, and a lost manifest', async () => {
  const world = await exportedWorld();
  await keepExport(world.options.storage, '2026-10-02', { label: null });
  const before = keysOf(world);
  await world.ingest(days('a', 10, 300));
  await world.nextDay();
  expect(await world.findings()).toEqual([]);
  const { resources } = await readPackage(world.read);
  const isOld = (key: string) => key.endsWith('.csv.gz') && !resources.some(({ path }) => key.endsWith(path));
  const [old] = before.filter(isOld) as [string];
  await world.lose(old);
  expect(await world.findings()).toMatchObject([{ rule: 'status' }]);
  await world.lose('public/api/v1/exports/2026-10-02/datapackage.json');
  expect(await world.findings()).toMatchObject([
    { url: '/api/v1/exports/2026-10-02/datapackage.json', rule: 'status' },
  ]);
});

test.each([['.parquet', 'digest']])('finds a lost file (%s), and one with other bytes', async (extension, rule) => {
  const world = await exportedWorld();
  const [key] = keysOf(world).filter((each) => each.endsWith(extension)) as [string];
  const url = key.slice('public'.length);
  await world.damage(key);
  expect(await world.findings()).toMatchObject([{ url, rule }]);
  await world.lose(key);
  expect(await world.findings()).toMatchObject([{ url, rule: 'status' }]);
});

test('finds a manifest that counts other rows, or is none', async () => {
  const world = await exportedWorld();
  const key = publicKey({ kind: 'export-latest' });
  await world.forge(key, (body) => body.toString().replaceAll('"rows":255', '"rows":254'));
  // The manifest of the day says otherwise, too.
  expect((await world.findings()).map(({ rule }) => rule)).toEqual(['digest', 'count']);
  await world.forge(key, () => '{"version":"today"}');
  expect(await world.findings()).toMatchObject([{ rule: 'schema' }]);
});
