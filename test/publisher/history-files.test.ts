/** Histories as files: their bytes, what a change puts, and what is left when they are switched off. */
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { HISTORY_COLUMNS } from '../../contract/bodies/history-rows.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import { publish } from '../../publisher/publish.ts';
import { faultyStorage } from './faulty-storage.ts';
import { createFilesWorld, type FilesWorld, old, worldOfTwoYears } from './files-world.ts';
import { market, price, publicObjects, scalar } from './world.ts';

const OPEN_YEAR = ['a/history.csv', 'a/history.ndjson', 'a/history/2026.csv', 'a/history/2026.ndjson'];
const PASSED_YEAR = ['a/history/2025.csv', 'a/history/2025.ndjson'];
const INDEX = 'a/history/index.json';

describe('a change puts', () => {
  test.each<[string, (world: FilesWorld) => Promise<unknown>, readonly string[]]>([
    ['an append', (world) => world.ingest([price('a', 9, 1)]), OPEN_YEAR],
    [
      'two appends, which close a page',
      (world) => world.ingest([price('a', 9, 1), price('a', 10, 1)]),
      [...OPEN_YEAR, INDEX],
    ],
    [
      'the first observation of a year',
      (world) => {
        world.clock.nowMs = Date.parse('2027-01-02T12:00:00Z');
        return world.ingest([price('a', 200, 1), price('a', 365, 1)]);
      },
      [...OPEN_YEAR, 'a/history/2027.csv', 'a/history/2027.ndjson', INDEX],
    ],
    [
      'a correction of a passed year',
      (world) => world.ingest([old('a', 4, 7)], 'correct'),
      ['a/history.csv', 'a/history.ndjson', ...PASSED_YEAR, INDEX],
    ],
    ['nothing', async () => undefined, []],
    [
      'the second observation of a market',
      (world) => world.ingest([price('b', 0, 1), price('b', 1, 1)]),
      ['b/history.csv', 'b/history.ndjson'],
    ],
  ])('%s', async (_, happen, expected) => {
    const world = await worldOfTwoYears();
    await happen(world);
    expect(await world.puts()).toEqual([...expected].sort());
    expect(await world.findings()).toEqual([]);
  });

  test('an append reads the files of the history, and of its pages only the open one', async () => {
    const world = await worldOfTwoYears();
    await world.ingest([price('a', 9, 1)]);
    const read: number[] = [];
    const { ledger, objects } = faultyStorage(world.ledger, world.objects, 'all', async ({ what, run }) => {
      const result = (await run()) as { readonly items: readonly unknown[] };
      if (what === 'ledger.query market/a') read.push(result.items.length);
      return result;
    });
    await publish({ ...world.dependencies, ledger, objects });
    // Three on the open page before, and the new one.
    expect(read).toEqual([4]);
  });
});

describe('the rows', () => {
  test('are the standing observations, oldest first, in columns that never move', async () => {
    const world = createFilesWorld();
    const odd = { sourceLabel: '=HYPERLINK("https://x.example","1,5")', releasedAt: '2026-01-02T03:04:05Z' };
    await world.ingest([
      market('a'),
      { ...price('a', 0, -3698), sourceValue: '-36.98' } as never,
      { ...price('a', 1, null), ...odd } as never,
      price('a', 2, 5),
      scalar('a', 3, '12.50', { metric: 'tradingVolume', unit: 'tonnes' }),
    ]);
    await world.ingest([price('a', 2, 6)], 'correct');
    await world.publish();
    const { text, type } = await world.file('a/history.csv');
    expect(type).toBe('text/csv; charset=utf-8');
    expect(text.startsWith(`${HISTORY_COLUMNS.join(',')}\r\n2026-01-01T00:00:00Z,price,-36.98,USD,-36.98,-3698,`)).toBe(
      true,
    );
    expect(text.split('\r\n')).toHaveLength(6);
    expect(text).toContain(`"'=HYPERLINK(""https://x.example"",""1,5"")"`);
    const rows = parse(text, { columns: true, recordDelimiter: '\r\n' }) as Record<string, string>[];
    expect(
      rows.map(({ observedAt, decimal, value, unit }) => [observedAt?.slice(0, 10), decimal, value, unit]),
    ).toEqual([
      ['2026-01-01', '-36.98', '', ''],
      ['2026-01-02', '', '', ''],
      ['2026-01-03', '0.06', '', ''],
      ['2026-01-04', '', '12.50', 'tonnes'],
    ]);
    expect(rows[1]).toMatchObject({ unknownReason: 'not-published', releasedAt: '2026-01-02T03:04:05Z' });
    const ndjson = await world.file('a/history.ndjson');
    expect(ndjson.type).toBe('application/x-ndjson');
    const head = JSON.parse((await world.file('a/history')).text);
    const rest = JSON.parse((await world.file(`a/history?cursor=${head.page.nextCursor}`)).text);
    const all = [...head.data, ...rest.data] as { supersededBy: null | string }[];
    const standing = all.filter(({ supersededBy }) => supersededBy === null).reverse();
    expect(
      ndjson.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(standing);
  });
});

describe('a market', () => {
  const SLUGS = ['c', 'd', 'e', 'f', 'g'];

  test('with one price has two files: its body and its history', async () => {
    const world = createFilesWorld();
    const count = async (slugs: readonly string[]) => {
      await world.ingest(slugs.flatMap((slug) => [market(slug), price(slug, 0, 1)]));
      await world.publish();
      return [...publicObjects(world.objects).keys()].filter((key) => !key.includes('/markets/pages/')).length;
    };
    const [few, more] = [await count(SLUGS.slice(0, 2)), await count(SLUGS)];
    expect(more - few).toBe(2 * (SLUGS.length - 2));
    expect(await world.findings()).toEqual([]);
  });
});

describe('a published file that is not as recorded', () => {
  const key = publicKey({ kind: 'history-ndjson', slug: 'a' });
  test.each([
    ['is missing', (world: FilesWorld) => world.lose(key)],
    ['has other bytes', (world: FilesWorld) => world.damage(key)],
  ])('because it %s: the next append renders the whole history', async (_, happen) => {
    const world = await worldOfTwoYears();
    await happen(world);
    await world.ingest([price('a', 9, 1)]);
    await world.publish();
    expect(await world.findings()).toEqual([]);
  });
});
