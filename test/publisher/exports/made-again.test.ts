/** The export of today is made again: on the first day after a quiet time, on any day for an operator. */
import { expect, test } from 'vitest';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { publish } from '../../../publisher/publish.ts';
import { market, price } from '../world.ts';
import { DAY_MS, days, exportWorld, FIRST_DAY, keysOf } from './export-world.ts';
import { readPackage, readResource, rowsOf } from './exported.ts';

const QUIET_MS = 60_000;
const QUIETLY = { again: { afterQuietMs: QUIET_MS } } as const;

const packageOf = (date: string) => `/api/v1/exports/${date}/datapackage.json`;

/** The export of the first day has 3 of 300 rows, and a value that was corrected since. */
async function firstDay() {
  const world = exportWorld();
  await world.publishOf([market('a'), ...days('a', 3)]);
  expect(await makeExport(world.options)).toEqual({ kind: 'made', date: '2026-10-01' });
  world.clock.nowMs += 1_000;
  await world.publishOf(days('a', 297, 3));
  await world.publishOf([price('a', FIRST_DAY, 9_999)], 'correct');
  const amounts = async (url?: string) =>
    (await rowsOf(world.read, 'observations', url)).map(({ amountMinor, supersededBy }) => [
      amountMinor,
      supersededBy !== null,
    ]);
  return { world, amounts };
}

test('on the day of the first data, once nothing was published for a minute', async () => {
  const { world, amounts } = await firstDay();
  world.clock.nowMs += QUIET_MS - 1;
  expect(await makeExport({ ...world.options, ...QUIETLY })).toMatchObject({ kind: 'present' });
  expect(await amounts()).toHaveLength(3);
  world.clock.nowMs += 1;
  expect(await makeExport({ ...world.options, ...QUIETLY })).toEqual({ kind: 'made', date: '2026-10-01' });
  for (const url of [undefined, packageOf('2026-10-01')]) {
    const rows = await amounts(url);
    expect(rows).toHaveLength(301);
    expect(rows).toEqual(
      expect.arrayContaining([
        [100, true],
        [9_999, false],
      ]),
    );
  }
  expect(await world.findingsOfLog()).toEqual([]);
  // Nothing was published since.
  world.clock.nowMs += QUIET_MS;
  expect(await makeExport({ ...world.options, ...QUIETLY })).toMatchObject({ kind: 'present' });
});

test('on later days, only for an operator; the exports of earlier days stay as they are', async () => {
  const { world, amounts } = await firstDay();
  await world.nextDay();
  const yesterday = await readPackage(world.read);
  world.clock.nowMs += DAY_MS;
  expect(await makeExport(world.options)).toEqual({ kind: 'made', date: '2026-10-03' });
  await world.publishOf(days('a', 1, 300));
  world.clock.nowMs += QUIET_MS;
  expect(await makeExport({ ...world.options, ...QUIETLY })).toMatchObject({ kind: 'present' });
  expect(await makeExport({ ...world.options, again: 'always' })).toEqual({ kind: 'made', date: '2026-10-03' });
  expect(await amounts()).toHaveLength(302);
  expect(await amounts(packageOf('2026-10-01'))).toHaveLength(3);
  expect(await readPackage(world.read, packageOf('2026-10-02'))).toEqual(yesterday);
  expect(await world.findingsOfLog()).toEqual([]);
});

test('who has read a manifest before it was made again can still download its files, for as long as it would be kept', async () => {
  const { world } = await firstDay();
  const { resources } = await readPackage(world.read);
  await makeExport({ ...world.options, again: 'always' });
  for (const day of [0, 34]) {
    world.clock.nowMs += day * DAY_MS;
    await world.ingest(days('a', 1, 300 + day));
    while ((await publish(world.options.storage as never)).isMoreDue);
    await makeExport(world.options);
    await collectGarbage(world.options.storage, { dryRun: false });
    for (const resource of resources) await readResource(world.read, resource);
  }
  world.clock.nowMs += 2 * DAY_MS;
  await makeExport(world.options);
  await collectGarbage(world.options.storage, { dryRun: false });
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
