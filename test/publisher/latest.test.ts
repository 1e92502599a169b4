/** The newest value of every market as files: their bytes, their cadence, and what is left when they are switched off. */
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { publish } from '../../publisher/publish.ts';
import { createFilesWorld, type FilesWorld } from './files-world.ts';
import { removeMarket } from './remove-market.ts';
import { setStanding } from './standing.ts';
import { market, price, readerOf, START_MS } from './world.ts';

const KEYS = ['public/api/v1/latest.json', 'public/api/v1/latest.csv', 'public/api/v1/recent.json'];

/** Three list pages. `b` has no observation, `c` an unknown value. */
async function latestWorld(): Promise<FilesWorld> {
  const world = createFilesWorld(undefined, ['latest', 'recent']);
  await world.ingest(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((slug) => market(slug)));
  await world.ingest([price('a', 0, 105), price('c', 0, null), price('h', 1, -7)]);
  await world.publish();
  return world;
}

const textOf = async ({ objects }: FilesWorld, url: string) =>
  Buffer.from((await readerOf(objects)(url)).body).toString();
const csvOf = async (world: FilesWorld) => (await textOf(world, '/api/v1/latest.csv')).split('\r\n');

async function putsOf(world: FilesWorld): Promise<readonly string[]> {
  world.objects.resetCounts();
  await world.publish();
  return world.objects.puts.map(({ key }) => key).filter((key) => KEYS.includes(key));
}

test('there is a line for each market, by slug', async () => {
  const world = await latestWorld();
  const [header, ...lines] = await csvOf(world);
  expect(header).toBe(
    'slug,name,decimal,quantity,unit,currency,observedAt,releasedAt,updatedAt,source,status,unknownReason,recordedAt,' +
      'kind,decimalPerUnit,confidence,disputed,retired,expectedNextAt,graceSeconds,rounded,sourceValue,generation',
  );
  const shown = lines.map((line) => line.split(',').slice(0, 7).join(','));
  expect([shown[0], shown[1], shown[2], shown[7], lines.length]).toEqual([
    'a,Market a,1.05,1,unit,USD,2026-01-01T00:00:00Z',
    'b,Market b,,1,unit,USD,',
    'c,Market c,,1,unit,USD,2026-01-01T00:00:00Z',
    'h,Market h,-0.07,1,unit,USD,2026-01-02T00:00:00Z',
    9,
  ]);
  const { data } = JSON.parse(await textOf(world, '/api/v1/latest'));
  expect(data).toHaveLength(8);
  const recordedAt = new Date(START_MS).toISOString();
  expect(data[2]).toMatchObject({ slug: 'c', decimal: null, unknownReason: 'not-published', recordedAt });
  expect(data[1]).toMatchObject({ slug: 'b', decimal: null, recordedAt: null });
  expect(await world.findings()).toEqual([]);
});

test('a line says of which kind the market is, how far its price can be trusted, and when the next one is due', async () => {
  const world = createFilesWorld(undefined, ['latest']);
  const cadence = { period: 'day', releaseTime: '15:00', graceSeconds: 3600 } as const;
  const source = { url: 'https://example.com/', publisher: null, licence: null, attribution: null };
  const defined = (slug: string, fields: object) => ({ ...(market(slug) as object), ...fields }) as IngestRecordInput;
  await world.ingest([
    defined('a', {
      unit: { quantity: 3, of: 'unit' },
      sources: [
        { ...source, label: 'another', cadence: { ...cadence, releaseTime: '16:00' } },
        { ...source, label: 'a test', cadence },
      ],
    }),
    defined('b', { unit: { quantity: 4, of: 'unit' }, status: 'retired' }),
    market('c'),
  ]);
  await world.ingest([
    { ...price('a', 4, 100), rounded: true, sourceValue: '1.0049' } as IngestRecordInput,
    { ...price('b', 4, 100), sourceValue: '1' } as IngestRecordInput,
  ]);
  const standing = { representedBy: null, comparisons: {}, verifications: {} };
  await setStanding(world.ledger, 'a', { ...standing, disputes: { price: 'a-claim' } }, 'first');
  await setStanding(world.ledger, 'b', { ...standing, disputes: { volume: 'a-claim' } }, 'second');
  await world.publish();
  const [, ...lines] = await csvOf(world);
  expect(lines.map((line) => line.split(',').slice(13).join(','))).toEqual([
    'test,,high,true,false,2026-01-06T15:00:00Z,3600,true,1.0049,1',
    'test,0.25,high,false,true,,,false,1,1',
    'test,,,false,false,,,,,1',
    '',
  ]);
  expect(await world.findings()).toEqual([]);
});

describe('a publication', () => {
  test('of a market puts each, also if later list pages are kept', async () => {
    const world = await latestWorld();
    await world.ingest([price('a', 1, 200)]);
    expect(await putsOf(world)).toEqual(KEYS);
    expect((await csvOf(world))[1]).toContain('a,Market a,2.00');
    expect(await world.findings()).toEqual([]);
  });

  test('that leaves a market out, leaves its line out', async () => {
    const world = await latestWorld();
    await removeMarket(world, 'd');
    await world.publish();
    expect((await csvOf(world)).some((line) => line.startsWith('d,'))).toBe(false);
    expect(await world.findings(['d'])).toEqual([]);
  });

  test('of nothing puts nothing', async () => {
    expect(await putsOf(await latestWorld())).toEqual([]);
  });

  test('comes with the list, not before', async () => {
    const world = await latestWorld();
    const paced = { ...world.dependencies, listEverySeconds: () => 60 };
    await world.ingest([price('a', 1, 200)]);
    await publish(paced);
    expect((await csvOf(world))[1]).toContain('a,Market a,1.05');
    world.clock.nowMs += 60_000;
    await publish(paced);
    expect((await csvOf(world))[1]).toContain('a,Market a,2.00');
  });
});

test('switched on and off without any change: they come, and the sweep removes them', async () => {
  const world = await latestWorld();
  const off = createFilesWorld(world, []);
  await off.publish();
  off.clock.nowMs += 2 * PAGE_RETENTION_SECONDS * 1000;
  await off.ingest([market('i')]);
  await off.publish();
  const { removed } = await collectGarbage(off.dependencies, { dryRun: false });
  expect(removed.filter((key) => KEYS.includes(key))).toEqual([...KEYS].sort());
  expect(await putsOf(world)).toEqual(KEYS);
  await collectGarbage(world.dependencies, { dryRun: false });
  expect(await world.findings()).toEqual([]);
});
