/** Daily exports, through the reader's URLs: rows, formats, and the objects that are written. */
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { Superseded } from '../../../publisher/errors.ts';
import { makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { publish } from '../../../publisher/publish.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price, START_MS } from '../world.ts';
import { DAY_MS, days, exportWorld, FIRST_DAY, keysOf, SOURCE } from './export-world.ts';
import { readPackage, rowsOf } from './exported.ts';

test('every observation is a row, with its four times and its place in the log; every metric of a market too', async () => {
  const world = exportWorld();
  const definition = { ...market('b'), sources: [SOURCE], unit: { quantity: 8, of: 'unit' } } as IngestRecordInput;
  await world.ingest([
    market('a'),
    definition,
    ...[0, 1, 2].map((day) => price('b', day, 100 + day)),
    price('a', 1, null),
  ]);
  await publish(world.options.storage as never);
  world.clock.nowMs += 60_000;
  await world.ingest([price('b', 1, 777)], 'correct');
  expect(await world.nextDay()).toEqual({ kind: 'made', date: '2026-10-02' });
  const rows = await rowsOf(world.read, 'observations');
  expect(
    rows.map(({ market, observedAt, amountMinor, logIndex }) => [market, observedAt, amountMinor, logIndex]),
  ).toEqual([
    ['a', '2026-01-02T00:00:00Z', null, 1],
    ['b', '2026-01-01T00:00:00Z', 100, 4],
    ['b', '2026-01-02T00:00:00Z', 101, 5],
    ['b', '2026-01-02T00:00:00Z', 777, 8],
    ['b', '2026-01-03T00:00:00Z', 102, 6],
  ]);
  const [, , old, corrected] = rows;
  expect(old).toMatchObject({
    ...{ kind: 'money', currency: 'USD', minorDigits: 2, decimal: '1.01', decimalPerUnit: '0.12625' },
    ...{ approximateValue: 0.12625, value: null, unit: null, releasedAt: null, supersedes: null },
    recordedAt: '2026-10-01T12:00:00.000Z',
    supersededAt: '2026-10-01T12:01:00.000Z',
    supersededBy: corrected?.id,
    sourceUrl: 'https://example.com/b',
  });
  expect(corrected).toMatchObject({ supersedes: old?.id, supersededAt: null, supersededBy: null });
  expect(
    (await rowsOf(world.read, 'markets')).map(({ market, metric, amountMinor, observations }) => [
      market,
      metric,
      amountMinor,
      observations,
    ]),
  ).toEqual([
    ['a', 'price', null, 1],
    ['b', 'price', 102, 4],
  ]);
});

describe('the objects that an export writes', () => {
  test('three for each part, the manifests, two schemas; the next day only the manifests, if nothing is new', async () => {
    const world = exportWorld();
    await world.ingest([market('a'), ...days('a', 300)]);
    await world.nextDay();
    const first = keysOf(world);
    // Parts 0 and 1 of the observations, one part of markets.
    expect(first.filter((key) => key.includes('/parts/observations-000'))).toHaveLength(6);
    expect(first.filter((key) => key.includes('/parts/markets-000000-'))).toHaveLength(3);
    expect(first.filter((key) => key.includes('-schema-'))).toHaveLength(2);
    expect(first).toHaveLength(6 + 3 + 2 + 2);
    expect(await world.nextDay()).toEqual({ kind: 'made', date: '2026-10-03' });
    expect(keysOf(world)).toHaveLength(first.length + 1);
  });

  test('the same data gives the same bytes, in one export or in many', async () => {
    const [once, daily] = [exportWorld(), exportWorld()];
    const steps = [
      [market('a'), ...days('a', 200)],
      days('a', 200, 200),
      [price('a', FIRST_DAY + 5, 1)],
      days('a', 200, 400),
    ];
    for (const [index, step] of steps.entries()) {
      for (const world of [once, daily]) {
        world.clock.nowMs = START_MS + index * DAY_MS;
        await world.ingest(step, index === 2 ? 'correct' : 'append');
        while ((await publish(world.options.storage as never)).isMoreDue);
      }
      await makeExport(daily.options);
    }
    await makeExport(once.options);
    const [one, other] = [await readPackage(once.read), await readPackage(daily.read)];
    expect(one).toEqual(other);
    expect(one.resources.length).toBe(3 * 3 + 3);
  });
});

test('the manifest says log, rows, licences and attributions, and the files of a day are below its folder', async () => {
  const world = exportWorld();
  const sources = [SOURCE, { ...SOURCE, label: 'other', licence: null, attribution: null }];
  const odd = { ...SOURCE, label: 'third', licence: 'Free, with a link' };
  await world.ingest([
    { ...market('a'), sources },
    { ...market('b'), sources: [odd, SOURCE] },
    price('a', 0, 1),
  ] as never);
  await world.nextDay();
  const manifest = await readPackage(world.read);
  expect(manifest).toMatchObject({
    $schema: 'https://datapackage.org/profiles/2.0/datapackage.json',
    version: '2026-10-02',
    generation: 1,
    licenses: [{ name: 'CC-BY-4.0' }, { name: 'Free-with-a-link', title: 'Free, with a link' }],
    sourcesWithoutLicence: 1,
    sourcesComplete: true,
  });
  expect(manifest.log.size).toBe(8);
  expect((manifest.sources as { title: string }[]).map(({ title }) => title).sort()).toEqual([
    'a test',
    'other',
    'third',
  ]);
  const folder = '/api/v1/exports/2026-10-02/';
  expect(await readPackage(world.read, `${folder}datapackage.json`)).toEqual(manifest);
  expect(await rowsOf(world.read, 'markets', `${folder}datapackage.json`)).toHaveLength(2);
});

describe('when there is nothing to export, or no time', () => {
  test('of two runs at once, one stops', async () => {
    const world = exportWorld();
    await world.ingest([market('a'), ...days('a', 300)]);
    const runs = await Promise.allSettled([world.nextDay(), world.nextDay()]);
    const refused = runs.filter((run) => run.status === 'rejected');
    for (const { reason } of refused) expect(reason).toBeInstanceOf(Superseded);
    await world.nextDay();
    expect(await rowsOf(world.read, 'observations')).toHaveLength(300);
  });
});

/** `verify --log` is the judge, where it would be easiest to get wrong. */
describe('an export shows what the log says', () => {
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
});
