/** The newest value of every market as files: their bytes, their cadence, and what is left when they are switched off. */
import { describe, expect, test } from 'vitest';
import { CURSOR_LIFETIME_SECONDS } from '../../contract/files/limits.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { createFilesWorld, type FilesWorld } from './files-world.ts';
import { latestIndex, latestRows } from './latest-rows.ts';
import { setStanding } from './standing.ts';
import { createWorld, market, price, publicObjects, readerOf, SMALL_PAGES, START_MS, scalar } from './world.ts';

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
const csvOf = async (world: FilesWorld) => (await textOf(world, '/api/v1/latest/all.csv')).split('\r\n');

test('there is a line for each market, by slug', async () => {
  const world = await latestWorld();
  const [header, ...lines] = await csvOf(world);
  expect(header).toBe(
    'slug,name,decimal,quantity,unit,currency,observedAt,releasedAt,updatedAt,source,status,unknownReason,recordedAt,' +
      'kind,decimalPerUnit,confidence,disputed,retired,expectedNextAt,graceSeconds,rounded,sourceValue,metrics,generation',
  );
  const shown = lines.map((line) => line.split(',').slice(0, 7).join(','));
  expect([shown[0], shown[1], shown[2], shown[7], lines.length]).toEqual([
    'a,Market a,1.05,1,unit,USD,2026-01-01T00:00:00Z',
    'b,Market b,,1,unit,USD,',
    'c,Market c,,1,unit,USD,2026-01-01T00:00:00Z',
    'h,Market h,-0.07,1,unit,USD,2026-01-02T00:00:00Z',
    9,
  ]);
  const data = await latestRows(world.objects);
  expect(data).toHaveLength(8);
  const recordedAt = new Date(START_MS).toISOString();
  expect(data[2]).toMatchObject({ slug: 'c', decimal: null, unknownReason: 'not-published', recordedAt });
  expect(data[1]).toMatchObject({ slug: 'b', decimal: null, unknownReason: 'not-observed', recordedAt: null });
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
    'test,,high,true,false,2026-01-06T15:00:00Z,3600,true,1.0049,,1',
    'test,0.25,high,false,true,,,false,1,,1',
    'test,,,false,false,,,,,,1',
    '',
  ]);
  expect(await world.findings()).toEqual([]);
});

test('a market with other metrics than a price says so in both files, and the CSV names them', async () => {
  const world = createFilesWorld(undefined, ['latest']);
  await world.ingest([
    ...[market('a'), market('b')],
    { ...price('a', 0, 250), metric: 'outputPrice' },
    { ...price('a', 0, null), metric: 'inputPrice' },
    ...['a', 'b'].map((slug) => scalar(slug, 0, '128000', { metric: 'contextWindow', unit: 'token' })),
    price('b', 0, 105),
  ] as IngestRecordInput[]);
  await world.publish();
  const [header = '', ...lines] = await csvOf(world);
  const columns = ['slug', 'decimal', 'observedAt', 'unknownReason', 'metrics'].map((name) =>
    header.split(',').indexOf(name),
  );
  expect(lines.slice(0, -1).map((line) => columns.map((column) => line.split(',')[column]).join('|'))).toEqual([
    'a|||not-observed|contextWindow inputPrice outputPrice',
    'b|1.05|2026-01-01T00:00:00Z||contextWindow',
  ]);
  const observedAt = '2026-01-01T00:00:00Z';
  expect((await latestRows(world.objects))[0]).toMatchObject({
    ...{ decimal: null, observedAt: null, unknownReason: 'not-observed' },
    metrics: {
      contextWindow: { decimal: '128000', observedAt },
      inputPrice: { decimal: null, observedAt, unknownReason: 'not-published' },
      outputPrice: { decimal: '2.50', observedAt },
    },
  });
  expect(await world.findings()).toEqual([]);
});

describe('of more markets than a part takes', () => {
  const SLUGS = Array.from({ length: 12 }, (_, n) => `m-${n}`);
  const SIZES = { ...SMALL_PAGES, latest: 2 };
  const partsOf = ({ objects }: FilesWorld) =>
    [...publicObjects(objects).keys()].filter((key) => key.includes('/latest/')).sort();
  const keysOf = (parts: readonly string[]) =>
    [...new Set(parts)].sort().flatMap((part) => ['csv', 'ndjson'].map((format) => keyOf(part, format)));
  const keyOf = (part: string, format: string) => `public/api/v1/latest/${part}.${format}`;
  const partOfSlug = (slug: string) => sha256Hex(slug)[0] as string;

  async function manyMarkets(slugs = SLUGS): Promise<FilesWorld> {
    const world = createFilesWorld(createWorld(SIZES), ['latest']);
    await world.ingest(slugs.map((slug) => market(slug)));
    await world.ingest(slugs.map((slug, index) => price(slug, 0, 100 + index)));
    await world.publish();
    return world;
  }

  /** The keys that a publication puts, without those of other files. */
  async function partsPut(world: FilesWorld): Promise<readonly string[]> {
    world.objects.resetCounts();
    await world.publish();
    const keys = world.objects.puts.map(({ key }) => key);
    return keys.filter((key) => key.includes('/latest'));
  }

  test('each is in the part of its hash, the index leads to all parts, and a change puts one part', async () => {
    const world = await manyMarkets();
    expect(partsOf(world)).toEqual(keysOf(SLUGS.map(partOfSlug)));
    const index = await latestIndex(world.objects);
    expect(index.map(({ part }) => part)).toEqual([...new Set(SLUGS.map(partOfSlug))].sort());
    for (const { part, markets, csv, ndjson } of index) {
      expect(markets).toBe(SLUGS.filter((slug) => partOfSlug(slug) === part).length);
      for (const { path, digest, generation } of [csv, ndjson]) {
        expect(sha256Hex(await textOf(world, `/api/v1/${path}`))).toBe(digest);
        expect(generation).toBe(1);
      }
    }
    const rows = await latestRows(world.objects);
    expect(rows.map(({ slug, decimal }) => `${slug} ${decimal}`).sort()).toEqual(
      SLUGS.map((slug, index) => `${slug} ${((100 + index) / 100).toFixed(2)}`).sort(),
    );
    expect(await world.findings()).toEqual([]);

    await world.ingest([price('m-3', 1, 777)]);
    expect(await partsPut(world)).toEqual([...keysOf([partOfSlug('m-3')]), 'public/api/v1/latest.json']);
    await world.ingest([market('new')]);
    expect(await partsPut(world)).toEqual([...keysOf([partOfSlug('new')]), 'public/api/v1/latest.json']);
    expect((await latestRows(world.objects)).find(({ slug }) => slug === 'm-3')?.decimal).toBe('7.77');
    expect(await partsPut(world)).toEqual([]);
    expect(await world.findings()).toEqual([]);
  });

  test('one market more than one part takes cuts all anew; the part before stays for readers of the index before', async () => {
    const world = await manyMarkets(['a', 'b']);
    expect(partsOf(world)).toEqual(keysOf(['all']));
    world.clock.nowMs += 1000;
    await world.ingest([market('c')]);
    await world.publish();
    const parts = keysOf(['a', 'b', 'c'].map(partOfSlug));
    expect(partsOf(world)).toEqual([...parts, ...keysOf(['all'])].sort());
    expect(await world.findings()).toEqual([]);
    const swept = async () => (await collectGarbage(world.dependencies, { dryRun: false })).removed;
    expect(await swept()).toEqual([]);
    world.clock.nowMs += CURSOR_LIFETIME_SECONDS * 1000;
    expect((await swept()).filter((key) => key.includes('latest'))).toEqual(keysOf(['all']));
    expect(partsOf(world)).toEqual(parts);
    expect(await world.findings()).toEqual([]);
  });
});
