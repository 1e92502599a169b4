/** `verify` reads the newest export. */
import { expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { keepExport } from '../../../publisher/projections/exports/keep-export.ts';
import type { ObjectHead } from '../../../storage/ports/object-store.ts';
import { market } from '../world.ts';
import { days, exportWorld, keysOf } from './export-world.ts';
import { readPackage } from './exported.ts';

async function exportedWorld() {
  const world = exportWorld();
  await world.ingest([market('a'), ...days('a', 300)]);
  await world.nextDay();
  const check = async () => await world.findings();
  /** Puts other bytes in the place of an object; null: none. */
  async function plant(key: string, body: Buffer | null): Promise<void> {
    const { etag, metadata } = (await world.objects.stat(key)) as ObjectHead;
    await world.objects.delete(key, etag);
    if (body !== null) await world.objects.put(key, body, metadata, { kind: 'absent' });
  }
  return { world, check, plant };
}

test('finds nothing in an export as it was made', async () => {
  expect(await (await exportedWorld()).check()).toEqual([]);
});

test('finds a lost file of a kept export, and a lost manifest', async () => {
  const { world, check, plant } = await exportedWorld();
  await keepExport(world.options.storage, '2026-10-02', { label: null });
  const before = keysOf(world);
  await world.ingest(days('a', 10, 300));
  await world.nextDay();
  expect(await check()).toEqual([]);
  const { resources } = await readPackage(world.read);
  const isOld = (key: string) => key.endsWith('.csv.gz') && !resources.some(({ path }) => key.endsWith(path));
  const [old] = before.filter(isOld) as [string];
  await plant(old, null);
  expect(await check()).toMatchObject([{ rule: 'status' }]);
  await plant('public/api/v1/exports/2026-10-02/datapackage.json', null);
  expect(await check()).toMatchObject([{ url: '/api/v1/exports/2026-10-02/datapackage.json', rule: 'status' }]);
});

test.each([
  ['.parquet', 'digest'],
  ['.ndjson.gz', 'digest'],
  ['.csv.gz', 'digest'],
])('finds a lost file (%s), and one with other bytes', async (extension, rule) => {
  const { world, check, plant } = await exportedWorld();
  const [key] = keysOf(world).filter((each) => each.endsWith(extension)) as [string];
  const { body } = world.objects.snapshot().get(key) as { body: Uint8Array };
  const flipped = Buffer.from(body);
  flipped[20] = (flipped[20] as number) ^ 1;
  const url = key.slice('public'.length);
  await plant(key, flipped);
  expect(await check()).toMatchObject([{ url, rule }]);
  await plant(key, null);
  expect(await check()).toMatchObject([{ url, rule: 'status' }]);
});

test('finds a manifest that counts other rows, or is none', async () => {
  const { world, check, plant } = await exportedWorld();
  const key = publicKey({ kind: 'export-latest' });
  const text = Buffer.from((world.objects.snapshot().get(key) as { body: Uint8Array }).body).toString();
  await plant(key, Buffer.from(text.replaceAll('"rows":255', '"rows":254')));
  // The manifest of the day says otherwise, too.
  expect((await check()).map(({ rule }) => rule)).toEqual(['digest', 'count']);
  await plant(key, Buffer.from('{"version":"today"}'));
  expect(await check()).toMatchObject([{ rule: 'schema' }]);
});
