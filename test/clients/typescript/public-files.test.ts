/** Reads of any host: a folder of files below a prefix, and hosts that lie. */
import { expect, test } from 'vitest';
import { PublicFiles } from '../../../clients/typescript/public-files.ts';
import { Tidemark } from '../../../clients/typescript/tidemark.ts';
import { walkEntries } from '../../../clients/typescript/walks.ts';
import { collected } from './served-world.ts';

const list = (slugs: readonly string[], nextCursor: string | null, next: unknown) => ({
  data: slugs.map((slug) => ({ slug })),
  page: { next, nextCursor },
});

/** A client of a host that has these bodies, by path and query. */
function hostOf(bodies: Readonly<Record<string, unknown>>, url = 'https://user.example/data') {
  const asked: string[] = [];
  const ask: typeof fetch = async (input) => {
    const { origin, pathname, search } = new URL(String(input));
    asked.push((origin === new URL(url).origin ? '' : origin) + pathname + search);
    const body = bodies[pathname + search];
    if (body === undefined) return new Response('<h1>Not here</h1>', { status: 404 });
    return new Response(typeof body === 'string' ? body : JSON.stringify(body));
  };
  return { tidemark: new Tidemark({ url, patienceMs: 0, system: { fetch: ask } }), asked };
}

const slugsOf = async (tidemark: Tidemark) => (await collected(tidemark.markets())).map(({ slug }) => slug);

test.each(['https://user.example/data', 'https://user.example/data/'])('walks by files below %s', async (url) => {
  const { tidemark, asked } = hostOf(
    {
      '/data/api/v1/markets.json': list(['a'], '1-1', 'markets/pages/1-1.json'),
      '/data/api/v1/markets/pages/1-1.json': list(['b'], '1-2', '1-2.json'),
      '/data/api/v1/markets/pages/1-2.json': list(['c'], null, null),
      '/data/api/v1/markets/a.json': { slug: 'a' },
    },
    url,
  );
  expect(await slugsOf(tidemark)).toEqual(['a', 'b', 'c']);
  expect(await tidemark.market('a')).toEqual({ slug: 'a' });
  expect(asked).toEqual(
    ['markets', 'markets/pages/1-1', 'markets/pages/1-2', 'markets/a'].map((path) => `/data/api/v1/${path}.json`),
  );
});

test.each(['../snapshot', 'a/../../snapshot', '%2e'])(
  'does not ask a host, which may decode it, for the slug %s',
  async (slug) => {
    const { tidemark, asked } = hostOf({});
    const missing = { code: 'not-found', status: 404 };
    await expect(tidemark.market(slug)).rejects.toMatchObject(missing);
    await expect(collected(tidemark.history(slug))).rejects.toMatchObject(missing);
    expect(asked).toEqual([]);
  },
);

test('follows the link where cursor and link differ, and ends where it says so', async () => {
  const { tidemark } = hostOf({
    '/data/api/v1/markets.json': list(['a'], null, 'markets/pages/2.json'),
    '/data/api/v1/markets/pages/2.json': list(['b'], '1-9', null),
  });
  expect(await slugsOf(tidemark)).toEqual(['a', 'b']);
});

test('gives the newest prices of all parts, by slug, and no line of a part that is cut off', async () => {
  const bodies: Record<string, unknown> = {
    '/data/api/v1/latest.json': { data: ['0', 'f'].map((part) => ({ ndjson: { path: `latest/${part}.ndjson` } })) },
    '/data/api/v1/latest/0.ndjson': '{"slug":"b","name":"\u2028"}\n',
    '/data/api/v1/latest/f.ndjson': '{"slug":"a"}\n{"slug":"c"}\n',
  };
  const { tidemark } = hostOf(bodies);
  expect(await tidemark.latest()).toEqual([{ slug: 'a' }, { slug: 'b', name: '\u2028' }, { slug: 'c' }]);
  for (const cut of ['{"slug":"a"}\n{"slug":"c"}', '{"slug":"a"}\n{"slu\n']) {
    bodies['/data/api/v1/latest/f.ndjson'] = cut;
    await expect(tidemark.latest()).rejects.toMatchObject({ code: 'unexpected-answer' });
  }
  delete bodies['/data/api/v1/latest/f.ndjson'];
  await expect(tidemark.latest()).rejects.toMatchObject({ code: 'not-found' });
});

test.each([
  ['is of an earlier version', [{ slug: 'a' }]],
  ['has parts with more markets than fit in memory', [{ markets: 200_001, ndjson: { path: 'latest/0.ndjson' } }]],
])('all markets are read from the list if the file of newest prices %s', async (_, data) => {
  const asked: string[] = [];
  const files = new PublicFiles(new URL('https://user.example/'), async ({ pathname }) => {
    asked.push(pathname);
    return JSON.stringify(
      pathname.includes('latest') ? { data } : { data: [], page: { next: null, nextCursor: null } },
    );
  });
  expect(await collected(walkEntries(files))).toEqual([]);
  expect(asked).toEqual(['/api/v1/latest.json', '/api/v1/markets.json']);
});

test('a link of a part that is refused fails alone, with no rejection that nobody handles', async () => {
  const paths = ['latest/0.ndjson', '//evil.example/x'];
  const { tidemark } = hostOf({ '/data/api/v1/latest.json': { data: paths.map((path) => ({ ndjson: { path } })) } });
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  await expect(tidemark.latest()).rejects.toMatchObject({ name: 'TidemarkError' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test('what a static host does not have is not found, also where it lists a folder', async () => {
  const { tidemark } = hostOf({ '/data/api/v1/markets/gone': '<ul><li>history</ul>' });
  const missing = { code: 'not-found', status: 404 };
  await expect(tidemark.latest()).rejects.toMatchObject(missing);
  await expect(tidemark.market('gone')).rejects.toMatchObject(missing);
  await expect(collected(tidemark.history('none'))).rejects.toMatchObject(missing);
});

test.each([
  '../../../other/x.json',
  '//evil.example/x.json',
  'https://evil.example/x.json',
  '\\\\evil.example/x.json',
  '%2e%2e/%2e%2e/%2e%2e/x.json',
  'x.json?a',
  '',
  5,
])('refuses the link %j', async (link) => {
  const { tidemark, asked } = hostOf({
    '/data/api/v1/markets.json': list(['a'], '1-1', link),
    '/data/api/v1/latest.json': { data: [{ ndjson: { path: link } }] },
  });
  await expect(collected(tidemark.markets())).rejects.toMatchObject({ code: 'unexpected-answer' });
  await expect(tidemark.latest()).rejects.toMatchObject({ code: 'unexpected-answer' });
  expect(asked).toEqual(['/data/api/v1/markets.json', '/data/api/v1/latest.json']);
});

test.each(['../markets.json', '2.json'])('a walk that %s leads back ends with an error', async (link) => {
  const { tidemark, asked } = hostOf({
    '/data/api/v1/markets.json': list(['a'], '1-1', 'markets/pages.json'),
    '/data/api/v1/markets/pages.json': list(['b'], '1-1', link),
    '/data/api/v1/markets/2.json': list(['b'], '1-1', '2.json'),
  });
  await expect(collected(tidemark.markets())).rejects.toMatchObject({ code: 'unexpected-answer' });
  expect(asked.length).toBeLessThan(200);
});

test('a host that ignores the query is noticed for a cursor that its user passes in', async () => {
  const { tidemark } = hostOf({ '/data/api/v1/markets?cursor=7-2': list(['a'], '1-1', 'markets/pages/1-1.json') });
  const query = { cursor: '7-2' };
  await expect(tidemark.call('GET /api/v1/markets', { query })).rejects.toMatchObject({ code: 'query-ignored' });
});
