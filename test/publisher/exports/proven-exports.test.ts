/** What an export shows is what the log says, where it would be easiest to get wrong: `verify --log` is the judge. */
import { expect, test } from 'vitest';
import { makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { publish } from '../../../publisher/publish.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price } from '../world.ts';
import { days, exportWorld, FIRST_DAY } from './export-world.ts';
import { readPackage, rowsOf } from './exported.ts';

test('while the list is not due, the manifest names the generation of the list beside that of the log', async () => {
  const world = exportWorld();
  const paced = { ...world.options.storage, listEverySeconds: () => 60 };
  const publishPaced = async () => {
    while ((await publish(paced as never)).isMoreDue);
  };
  await world.ingest([market('a'), market('b'), ...days('a', 3)]);
  await publishPaced();
  await world.ingest([price('a', FIRST_DAY + 3, 5), market('c'), price('c', 0, 1)]);
  await publishPaced();
  expect((await makeExport(world.options)).kind).toBe('made');
  expect(await readPackage(world.read)).toMatchObject({ generation: 1, logGeneration: 2 });
  const rows = await rowsOf(world.read, 'markets');
  expect(rows.map(({ market, amountMinor }) => [market, amountMinor])).toEqual([
    ['a', 102],
    ['b', null],
  ]);
  expect(await world.findingsOfLog()).toEqual([]);
});

test.each([
  ['oldest', 0],
  ['newest', 254],
])('a correction of the %s observation of an earlier part is shown there', async (_, day) => {
  const world = exportWorld();
  // With the market, 256 entries: one part.
  await world.ingest([market('a'), ...days('a', 255)]);
  await world.nextDay();
  await world.ingest([price('a', FIRST_DAY + day, 9_999)], 'correct');
  await world.nextDay();
  const rows = await rowsOf(world.read, 'observations');
  expect(rows.filter(({ supersededBy }) => supersededBy !== null).map(({ amountMinor }) => amountMinor)).toEqual([
    100 + day,
  ]);
  expect(await world.findingsOfLog()).toEqual([]);
});

test('after many markets were removed, the table has fewer parts, and no row of them', async () => {
  const world = exportWorld();
  const slugs = Array.from({ length: 300 }, (_, index) => `m-${String(index).padStart(3, '0')}`);
  await world.ingest([...slugs.map((slug) => market(slug)), ...slugs.map((slug) => price(slug, 0, 1))]);
  await world.nextDay();
  const partsOf = async () => {
    const { resources } = await readPackage(world.read);
    return resources.filter(({ name }) => /^markets.*ndjson$/.test(name)).map(({ rows }) => rows);
  };
  expect(await partsOf()).toEqual([256, 44]);
  for (const slug of slugs.slice(0, 60)) await removeMarket(world, slug);
  await world.nextDay();
  const rows = await rowsOf(world.read, 'markets');
  expect(await partsOf()).toEqual([240]);
  expect(rows.map((row) => row.market)).toEqual(slugs.slice(60));
  expect(await world.findingsOfLog()).toEqual([]);
});
