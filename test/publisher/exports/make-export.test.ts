/** Daily exports, through the reader's URLs: rows, formats, and the objects that are written. */
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { EXPORT_TABLES } from '../../../contract/bodies/export-tables.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { Superseded } from '../../../publisher/errors.ts';
import { makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { publish } from '../../../publisher/publish.ts';
import type { ObjectHead } from '../../../storage/ports/object-store.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price, START_MS } from '../world.ts';
import { DAY_MS, days, exportWorld, FIRST_DAY, keysOf, SOURCE } from './export-world.ts';
import { ndjsonRows, readPackage, readResource, rowsOf } from './exported.ts';

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

test('the three formats of a part have the same rows, all columns in the same order', async () => {
  const world = exportWorld();
  const text = { ...price('a', 2, 5), sourceLabel: '=1+1, "quoted"' };
  const scalar = { ...price('a', 0, 1), metric: 'share', unit: 'percent', value: '-1.50' } as Record<string, unknown>;
  for (const name of ['amountMinor', 'currency', 'zeroAsserted']) delete scalar[name];
  await world.ingest([market('a'), text, price('a', 1, null), scalar as IngestRecordInput]);
  await world.nextDay();
  const { resources } = await readPackage(world.read);
  for (const table of EXPORT_TABLES) {
    const [parquet, ndjson, csv] = await Promise.all(
      resources.filter(({ name }) => name.startsWith(table.name)).map((resource) => readResource(world.read, resource)),
    );
    const rows = ndjsonRows(ndjson as Buffer);
    const names = table.columns.map(({ name }) => name);
    expect(rows.length).toBe(table.name === 'observations' ? 3 : 2);
    for (const row of rows) expect(Object.keys(row)).toEqual(names);
    // test/tools/exports.test.ts compares what DuckDB reads.
    expect([parquet?.subarray(0, 4).toString(), parquet?.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1']);
    const lines = gunzipSync(csv as Buffer)
      .toString('utf8')
      .split('\r\n');
    expect(lines[0]).toBe(names.join(','));
    expect(lines).toHaveLength(rows.length + 2);
    if (table.name === 'observations') {
      expect(lines[3]).toContain(`,"'=1+1, ""quoted""",`);
      expect(lines[1]).toContain(',-1.50,percent,-1.5,');
    }
  }
});

test('the table of markets shows a value as the table of observations does', async () => {
  const world = exportWorld();
  const { amountMinor, currency, zeroAsserted, ...scalar } = price('c', 0, 1) as Record<string, unknown>;
  await world.ingest([
    ...['a', 'b', 'c'].map((slug) => market(slug)),
    {
      ...price('a', 0, 5),
      rounded: true,
      sourceValue: '0.0512',
      releasedAt: '2026-01-04T00:00:00Z',
    } as IngestRecordInput,
    price('b', 0, null),
    {
      ...scalar,
      metric: 'share',
      unit: 'percent',
      value: '-1.5',
      rounded: true,
      sourceValue: '-1.52',
    } as IngestRecordInput,
  ]);
  await world.nextDay();
  const [ofMarkets, ofObservations] = EXPORT_TABLES.map(({ columns }) => columns.map(({ name }) => name)).reverse();
  const shared = ofMarkets?.filter((name) => ofObservations?.includes(name)) ?? [];
  const valuesOf = async (table: string) =>
    (await rowsOf(world.read, table)).map((row) => Object.fromEntries(shared.map((name) => [name, row[name]])));
  const observations = await valuesOf('observations');
  // A metric without a value has a row, too.
  expect((await valuesOf('markets')).filter(({ observedAt }) => observedAt !== null)).toEqual(observations);
  expect(observations.map(({ rounded, decimal, value }) => [rounded, decimal, value])).toEqual([
    [true, '0.05', null],
    [false, null, null],
    [true, null, '-1.5'],
  ]);
  // Each column has a value somewhere.
  for (const name of shared) expect(observations.some((row) => row[name] !== null)).toBe(true);
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

  test('appended observations rewrite the last part, and no earlier one', async () => {
    const world = exportWorld();
    await world.ingest([market('a'), ...days('a', 300)]);
    await world.nextDay();
    const before = new Set(keysOf(world));
    await world.ingest(days('a', 5, 300));
    await world.nextDay();
    const added = keysOf(world).filter((key) => !before.has(key));
    expect(added.filter((key) => key.includes('/observations-000000-'))).toEqual([]);
    expect(added.filter((key) => key.includes('/observations-000001-'))).toHaveLength(3);
    expect(await rowsOf(world.read, 'observations')).toHaveLength(305);
    // The manifest of the day before still leads to what it named.
    const url = '/api/v1/exports/2026-10-02/datapackage.json';
    expect(await rowsOf(world.read, 'observations', url)).toHaveLength(300);
  });

  test('a correction rewrites the part of the old version', async () => {
    const world = exportWorld();
    await world.ingest([market('a'), ...days('a', 600)]);
    await world.nextDay();
    const before = new Set(keysOf(world));
    await world.ingest([price('a', FIRST_DAY + 10, 9_999)], 'correct');
    await world.nextDay();
    const added = keysOf(world).filter((key) => !before.has(key) && key.endsWith('.parquet'));
    expect(added.map((key) => /(observations|markets)-(\d+)/.exec(key)?.[0])).toEqual([
      'markets-000000',
      'observations-000000',
      'observations-000002',
    ]);
    const rows = await rowsOf(world.read, 'observations');
    const versions = rows.filter(({ observedAt }) => observedAt === '2023-04-17T00:00:00Z');
    expect(versions[0]).toMatchObject({ supersededBy: versions[1]?.id, supersededAt: versions[1]?.recordedAt });
    expect(rows.filter(({ supersededAt }) => supersededAt !== null)).toHaveLength(1);
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
  test('no data, no export; a second run on one day does nothing', async () => {
    const world = exportWorld();
    expect((await world.nextDay()).kind).toBe('no-data');
    await world.ingest([market('a')]);
    expect((await world.nextDay()).kind).toBe('made');
    expect(await rowsOf(world.read, 'observations')).toEqual([]);
    expect((await makeExport(world.options)).kind).toBe('present');
  });

  test('a run without time goes on later, part by part', async () => {
    const world = exportWorld();
    await world.ingest([market('a'), ...days('a', 600)]);
    let asked = 0;
    expect((await world.nextDay({ hasTime: () => ++asked === 1 })).kind).toBe('unfinished');
    expect(keysOf(world).filter((key) => key.endsWith('.parquet'))).toHaveLength(1);
    expect((await makeExport(world.options)).kind).toBe('made');
    expect(await rowsOf(world.read, 'observations')).toHaveLength(600);
  });

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

describe('repair', () => {
  test('lost objects of a part are made again, from the log', async () => {
    const world = exportWorld();
    await world.ingest([market('a'), ...days('a', 600)]);
    await world.ingest([price('a', FIRST_DAY + 3, 5)], 'correct');
    await world.nextDay();
    const before = await rowsOf(world.read, 'observations');
    for (const key of keysOf(world).filter((key) => key.includes('-000001-') || key.includes('/markets-'))) {
      const { etag } = (await world.objects.stat(key)) as ObjectHead;
      await world.objects.delete(key, etag);
    }
    await world.nextDay();
    expect(await rowsOf(world.read, 'observations')).toEqual(before);
    expect(await rowsOf(world.read, 'markets')).toHaveLength(1);
  });

  test('a removed market leaves the table of markets, and its observations stay', async () => {
    const world = exportWorld();
    await world.ingest([market('a'), market('b'), ...days('a', 3)]);
    await publish(world.options.storage as never);
    await removeMarket(world, 'a');
    await world.nextDay();
    expect((await rowsOf(world.read, 'markets')).map(({ market }) => market)).toEqual(['b']);
    expect(await rowsOf(world.read, 'observations')).toHaveLength(3);
  });
});
