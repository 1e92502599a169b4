/** `tidemark audit search`. */
import { expect, test } from 'vitest';
import { tidemarkHere as tidemark } from './in-process.ts';
import { json, stubServer } from './stub-server.ts';

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
