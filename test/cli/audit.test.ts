/** `tidemark audit`: searched, and followed. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { json, type Reply, refusal, stubServer } from './stub-server.ts';
import { spawnTidemark, tidemark } from './tidemark.ts';

const KEY = { TIDEMARK_KEY: 'key' };
const DAY = '2026-11-20';

const record = (id: number, more: object = {}) => ({
  ...{ id: `aud_${id}`, at: `${DAY}T12:00:0${id}.000Z`, actor: 'user:alice', action: 'createClaim' },
  ...{ target: `claim/${id}`, requestId: `req-${id}` },
  ...more,
});
const page = (...data: readonly object[]) => json({ data, page: { nextCursor: null } });

test('search shows the changes of one batch, and of the parts of one upload, as one row', async () => {
  const change = (id: number, requestId: string) =>
    record(id, { actor: 'key:a', action: 'system:ingest', target: 'market/gold-usd', requestId });
  const upload = 'bat_01JD8N5W5X';
  const data = [
    change(9, `${upload}AAAA`),
    change(8, `${upload}BBBB`),
    change(7, `${upload}BBBB`),
    record(6),
    change(5, 'bat_01JD8N5W5YAAAA'),
    record(4),
    record(3),
  ];
  const { url } = await stubServer(page(...data));
  const search = (...words: readonly string[]) =>
    tidemark(['audit', 'search', '--url', url, ...words], { environment: KEY });
  const { output } = await search();
  const rows = output
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  expect(rows.map(([id, , , , , , changes]) => [id, changes])).toEqual([
    ['aud_9', '3'],
    ['aud_6', '1'],
    ['aud_5', '1'],
    ['aud_4', '1'],
    ['aud_3', '1'],
  ]);
  expect((await search('--limit', '2')).output.trimEnd().split('\n')).toHaveLength(2);
  // Programs get the records.
  expect(JSON.parse((await search('--json')).output)).toEqual(data);
});

test('search that finds nothing says how names are written', async () => {
  const { url, seen } = await stubServer(page());
  const run = await tidemark(['audit', 'search', '--target', 'gold-usd', '--url', url], { environment: KEY });
  expect(run).toMatchObject({ code: 0, output: '', errors: expect.stringContaining('market/gold-usd') });
  expect(seen[0]?.url).toBe('/api/v1/audit-records?target=gold-usd');
});

/** Follows until this many lines are printed, then Ctrl-C. */
async function follow(replies: readonly [Reply, ...Reply[]], count: number, ...words: readonly string[]) {
  const { url, seen } = await stubServer(...replies);
  const child = spawnTidemark(['audit', 'tail', '--every', '0.02', '--url', url, ...words], { environment: KEY });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
    if (output.split('\n').length > count) child.kill('SIGINT');
  });
  const [, signal] = await once(child, 'close');
  expect(signal).toBe('SIGINT');
  return { lines: output.trimEnd().split('\n'), asked: seen.map(({ url: path }) => path.split('?')[1] ?? '') };
}

test('tail prints the newest records, then new ones, each once and in their order', async () => {
  const { lines, asked } = await follow(
    [
      page(record(3), record(2), record(1)),
      page(record(3), record(2), record(1)),
      refusal('rate-limited', { 'retry-after': '1' }),
      // One was committed later than its time says.
      page(record(6), record(5), record(4, { at: `${DAY}T12:00:02.500Z` }), record(3), record(2)),
    ],
    5,
    ...['--actor', 'user:alice', '--limit', '2'],
  );
  expect(lines.map((line) => line.split('\t')[3])).toEqual(['claim/2', 'claim/3', 'claim/4', 'claim/5', 'claim/6']);
  expect(new Set(asked)).toEqual(new Set(['actor=user%3Aalice']));
});

test('tail without a filter goes on at midnight', async () => {
  const late = record(2, { at: `${DAY}T23:59:59.990Z` });
  const next = record(3, { at: '2026-11-21T00:00:01.000Z' });
  const { lines, asked } = await follow(
    [page(record(1, { at: `${DAY}T23:59:59.000Z` })), page(next), page(late, record(1))],
    3,
    '--json',
  );
  expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(['aud_1', 'aud_2', 'aud_3']);
  expect(asked.slice(0, 3)).toEqual(['', '', `day=${DAY}`]);
});
