/** The sweep removes exports of more than 35 days ago, and nothing that a kept manifest names. */
import { describe, expect, test } from 'vitest';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { publish } from '../../../publisher/publish.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { EXPORT_FILES } from '../../../storage/records/exports.ts';
import { deleteItem } from '../../storage/put-item.ts';
import { market } from '../world.ts';
import { DAY_MS, days, exportWorld, keysOf } from './export-world.ts';
import { readPackage, readResource, rowsOf } from './exported.ts';

type ExportWorld = ReturnType<typeof exportWorld>;

const sweep = (world: ExportWorld) => collectGarbage(world.options.storage, { dryRun: false });

/** Makes an export on each of so many days, with one more observation a day, and sweeps after each. */
async function live(world: ExportWorld, count: number, from: number): Promise<void> {
  for (let day = 0; day < count; day++) {
    await world.ingest(days('a', 1, from + day));
    await world.nextDay();
    await sweep(world);
  }
}

/** The dates whose manifest is there, after checking every byte that each of them promises. */
async function readableDays(world: ExportWorld): Promise<readonly string[]> {
  const dates = keysOf(world).flatMap((key) => /\/([\d-]{10})\/datapackage\.json$/.exec(key)?.[1] ?? []);
  for (const date of dates) {
    const url = `/api/v1/exports/${date}/datapackage.json`;
    const { resources } = await readPackage(world.read, url);
    for (const resource of resources) await readResource(world.read, resource, url);
  }
  return dates.sort();
}

test('36 manifests are kept, with all that they name, and no file of an earlier one', async () => {
  const world = exportWorld();
  await world.ingest([market('a')]);
  await live(world, 40, 0);
  const kept = await readableDays(world);
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([36, '2026-10-06', '2026-11-10']);
  const named = new Set<string>();
  for (const date of kept) {
    const { resources } = await readPackage(world.read, `/api/v1/exports/${date}/datapackage.json`);
    for (const { path, schema } of resources) named.add(path).add(schema);
  }
  const stored = keysOf(world).filter((key) => key.includes('/parts/'));
  expect(stored.map((key) => key.slice(key.indexOf('parts/'))).sort()).toEqual([...named].sort());
  expect((await sweep(world)).unknown).toEqual([]);
});

describe('what a sweep finds', () => {
  test('a deployment that makes no exports any more: the last ones go too', async () => {
    const world = exportWorld();
    await world.ingest([market('a'), ...days('a', 2)]);
    await world.nextDay();
    world.clock.nowMs += 37 * DAY_MS;
    await world.ingest(days('a', 1, 5));
    await publish(world.options.storage as never);
    await sweep(world);
    expect(keysOf(world).filter((key) => !key.includes('-schema-'))).toEqual([]);
    // Switched on again.
    expect((await makeExport(world.options)).kind).toBe('made');
    expect(await readableDays(world)).toHaveLength(1);
  });

  test('a file without a record is a leftover; one that a run has just put is not', async () => {
    const world = exportWorld();
    await world.ingest([market('a'), ...days('a', 600)]);
    let asked = 0;
    await world.nextDay({ hasTime: () => ++asked === 1 });
    await sweep(world);
    expect(keysOf(world).filter((key) => key.endsWith('.parquet'))).toHaveLength(1);
    const [file] = await readAll(world.ledger, EXPORT_FILES);
    await deleteItem(world.ledger, file as NonNullable<typeof file>);
    // A walk begins once a generation has expired.
    world.clock.nowMs += 2 * DAY_MS;
    await sweep(world);
    expect(keysOf(world)).toEqual([]);
  });
});

test('who has read a manifest before it was made again can still download its files, for as long as it would be kept', async () => {
  const world = exportWorld();
  await world.publishOf([market('a'), ...days('a', 3)]);
  expect(await makeExport(world.options)).toEqual({ kind: 'made', date: '2026-10-01' });
  await world.publishOf(days('a', 297, 3));
  const { resources } = await readPackage(world.read);
  await makeExport({ ...world.options, again: 'always' });
  for (const day of [0, 34]) {
    world.clock.nowMs += day * DAY_MS;
    await world.publishOf(days('a', 1, 300 + day));
    await makeExport(world.options);
    await sweep(world);
    for (const resource of resources) await readResource(world.read, resource);
  }
  world.clock.nowMs += 2 * DAY_MS;
  await makeExport(world.options);
  await sweep(world);
  const left = new Set(keysOf(world).map((key) => key.slice(key.indexOf('/parts/') + 1)));
  expect(resources.filter(({ path }) => left.has(path))).toEqual([]);
  expect(await world.findingsOfLog()).toEqual([]);
});

test('a feed that publishes all the time does not keep the export from being made', async () => {
  const world = exportWorld();
  await world.publishOf([market('a'), ...days('a', 300)]);
  let day = 300;
  const yieldToEventLoop = async () => {
    if (day % 2 === 0 && day < 400) await world.publishOf(days('a', 1, day));
    day++;
  };
  expect(await makeExport({ ...world.options, yieldToEventLoop })).toEqual({ kind: 'made', date: '2026-10-01' });
  expect(day).toBeGreaterThan(302);
  expect(await rowsOf(world.read, 'observations')).toHaveLength(300);
  expect(await world.findingsOfLog()).toEqual([]);
});
