import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePublicKey } from '../../../contract/files/public-objects.ts';
import { OPENAPI_URL } from '../../../contract/files/routes.ts';
import { NO_RESOURCE_PROBLEM } from '../../../contract/problems/edge-problems.ts';
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from '../../../contract/problems/problems.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { handler } from '../../../infra/edge/router.ts';
import { viewerEvent } from '../../../infra/edge/viewer-event.ts';
import { type EdgeRouted, routeRead } from '../../../server/edge/route.ts';

const HEX = '0123456789abcdef0123456789abcdef';
const C = `7-${HEX}`;
const SLUG80 = `${'a'.repeat(39)}-${'b'.repeat(40)}`;

/** URL → the key below `public`, or the code of the problem. */
const GET_TABLE: readonly (readonly [string, string])[] = [
  // The six resources, and the pages of two of them.
  ['/api/v1/markets', '/api/v1/markets.json'],
  ['/api/v1/snapshot', '/api/v1/snapshot.json'],
  ['/api/v1/waitlist', '/api/v1/waitlist.json'],
  ['/api/v1/openapi.json', '/api/v1/openapi.json'],
  ['/api/v1/markets/gold-usd', '/api/v1/markets/gold-usd.json'],
  ['/api/v1/markets/a', '/api/v1/markets/a.json'],
  ['/api/v1/markets/7', '/api/v1/markets/7.json'],
  ['/api/v1/markets/history', '/api/v1/markets/history.json'],
  ['/api/v1/markets/history/history', '/api/v1/markets/history/history.json'],
  ['/api/v1/markets/gold-usd/history', '/api/v1/markets/gold-usd/history.json'],
  [`/api/v1/markets?cursor=${C}`, `/api/v1/markets/pages/${C}.json`],
  [`/api/v1/markets?cursor=1-${HEX}`, `/api/v1/markets/pages/1-${HEX}.json`],
  [`/api/v1/markets?cursor=999999999999999-${HEX}`, `/api/v1/markets/pages/999999999999999-${HEX}.json`],
  [`/api/v1/markets/gold-usd/history?cursor=${C}`, `/api/v1/markets/gold-usd/history/pages/${C}.json`],
  [`/api/v1/markets/${SLUG80}`, `/api/v1/markets/${SLUG80}.json`],
  [`/api/v1/markets/${SLUG80}/history`, `/api/v1/markets/${SLUG80}/history.json`],
  // The sealed ledger in a target.
  ['/.state.tar.zst.age', 'not-found'],
  ['/_tidemark-state.tar.zst.age', 'not-found'],
  // Of an earlier version.
  ['/api/v1/editions/q3-2026', 'not-found'],
  ['/api/v1/editions/q3-2026/markets/gold-usd', 'not-found'],
  // Each file is served at its own path, too. A market may be called as a folder is.
  ...[
    '/api/v1/markets.json',
    `/api/v1/markets/pages/${C}.json`,
    '/api/v1/markets/pages.json',
    '/api/v1/markets/pages/history.json',
    `/api/v1/markets/pages/history/pages/${C}.json`,
    '/api/v1/markets/gold-usd.json',
    '/api/v1/markets/gold-usd/history.json',
    `/api/v1/markets/gold-usd/history/pages/${C}.json`,
    '/api/v1/markets/gold-usd/history/index.json',
    `/api/v1/markets/${SLUG80}/history.json`,
    '/api/v1/snapshot.json',
    '/api/v1/waitlist.json',
    '/api/v1/latest.json',
    '/api/v1/recent.json',
    '/api/v1/exports/latest.json',
    '/index.html',
    '/market/index.html',
    '/404.html',
    '/markets/gold-usd.html',
    '/status/index.html',
    '/docs/index.html',
    '/docs/schemas.html',
    '/docs/guides/caching.html',
    '/problems/not-found.html',
  ].map((path) => [path, path] as const),
  ['/markets/GOLD-usd', '/markets/gold-usd.html'],
  ['/markets/Gold-USD.html', '/markets/gold-usd.html'],
  ['/embed/gold-usd', '/embed/gold-usd.html'],
  ['/embed/gold-usd?utm_source=x', '/embed/gold-usd.html'],
  ['/embed/gold-usd.html?utm_source=x', '/embed/gold-usd.html'],
  ['/embed/gold-usd.json?maxwidth=600&maxheight=900&url=https%3A%2F%2Fx&format=json', '/embed/gold-usd.json'],
  ['/badges/gold-usd.svg?v=2', '/badges/gold-usd.svg'],
  ['/badges/gold-usd.json?cursor=1', '/badges/gold-usd.json'],
  ['/api/v1/latest', '/api/v1/latest.json'],
  ['/api/v1/recent', '/api/v1/recent.json'],
  ['/api/v1/exports/latest', '/api/v1/exports/latest.json'],
  ['/api/v1/markets/gold-usd/history/index', '/api/v1/markets/gold-usd/history/index.json'],
  ...['/api/v1/markets/pages', '/api/v1/markets/pages/history'].map((path) => [path, `${path}.json`] as const),
  ...[
    `/api/v1/markets.json?cursor=${C}`,
    '/api/v1/markets/gold-usd.json?x',
    `/api/v1/markets/gold-usd/history.json?cursor=${C}`,
    `/api/v1/markets/pages/${C}.json?cursor=${C}`,
    '/api/v1/latest.json?x=1',
    '/feeds/changes.atom?x=1',
    '/api/v1/exports/latest?x=1',
    '/api/v1/markets/gold-usd/history/index.json?x',
  ].map((path) => [path, 'unknown-query-parameter'] as const),
  ...[
    '/api/v1/markets/pages/7.json',
    `/api/v1/markets/pages/0${C}.json`,
    `/api/v1/markets/pages/${C}`,
    `/api/v1/markets/pages/${C}.json/`,
    `/api/v1/markets/gold-usd/history/pages/x.json`,
    `/api/v1/markets/gold-usd/pages/${C}.json`,
    '/api/v1/markets/gold-usd.gone.json',
    '/api/v1/snapshot.csv',
    '/feeds/gold-usd.atom',
    `/feeds/markets/a${SLUG80}.atom`,
    '/feeds/markets/../changes.atom',
    '/feeds/changes.json',
    '/badges/gold-usd',
    `/badges/a${SLUG80}.svg`,
    `/embed/a${SLUG80}`,
    '/embed/gold-usd.svg',
    '/badges/gold-usd.html',
    '/embed/a/b',
    '/embed/Gold',
    '/status.html',
    '/assets/index.html',
    '/docs/a/b/c.html',
  ].map((path) => [path, 'not-found'] as const),
  // Files, whose URLs are their paths.
  ...[
    '/api/v1/latest/all.csv',
    '/api/v1/latest/0.ndjson',
    '/api/v1/latest/3f.csv',
    '/api/v1/modified.csv',
    '/api/v1/sources.json',
    '/api/v1/incidents.json',
    '/api/v1/alaterfile.json',
    '/feeds/changes.atom',
    '/feeds/corrections.atom',
    '/feeds/incidents.atom',
    '/feeds/releases.ics',
    `/feeds/markets/${SLUG80}.atom`,
    `/badges/${SLUG80}.svg`,
    '/badges/gold-usd.json',
    '/embed/gold-usd.json',
    '/embed/gold-usd.html',
    '/api/v1/markets/gold-usd/history.csv',
    '/api/v1/markets/gold-usd/history.ndjson',
    '/api/v1/markets/gold-usd/history/2024.csv',
    '/api/v1/markets/gold-usd/history/1899.ndjson',
    `/api/v1/markets/${SLUG80}/history/2024.csv`,
    '/api/v1/markets/history/history.csv',
    '/api/v1/log/checkpoint',
    '/api/v1/log/tile/0/x001/234.p/7',
    '/api/v1/log/ndjson/001.gz',
    '/api/v1/compat/hledger/prices.journal',
    '/api/v1/compat/beancount/86.beancount',
    '/api/v1/compat/quotes/86.json',
    '/api/v1/exports/2026-01-01/observations-0.parquet',
    `/api/v1/log${`/${'a'.repeat(100)}`.repeat(9)}`,
  ].map((path) => [path, path] as const),
  // The layout of currency-api: an @ before the date, and minified files.
  ...['currency-api@latest', 'currency-api/latest', 'currency-api%40latest'].flatMap((base) =>
    ['currencies', 'currencies/eur'].flatMap((file) =>
      ['.json', '.min.json'].map((extension) => {
        const path = `/api/v1/compat/${base}/v1/${file}${extension}`;
        return [path, base.includes('%') ? 'not-found' : `/api/v1/compat/currency-api/latest/v1/${file}.json`] as const;
      }),
    ),
  ),
  [
    '/api/v1/compat/currency-api@2026-11-22/v1/currencies/eur.json',
    '/api/v1/compat/currency-api/2026-11-22/v1/currencies/eur.json',
  ],
  // The parts of all days are stored once.
  ['/api/v1/exports/2026-01-01/parts/markets-0.parquet', '/api/v1/exports/parts/markets-0.parquet'],
  ['/api/v1/exports/parts/markets-0.parquet', '/api/v1/exports/parts/markets-0.parquet'],
  ['/api/v1/exports/parts/parts/markets-0.parquet', '/api/v1/exports/parts/markets-0.parquet'],
  ['/api/v1/%6Catest', '/api/v1/latest.json'],
  ['/api/v1/markets/gold%2Dusd/history%2Ecsv', '/api/v1/markets/gold-usd/history.csv'],
  ...[
    '/api/v1/latest/',
    '/api/v1/latest/all',
    '/api/v1/latest/all.json',
    '/api/v1/latest/0123.csv',
    '/api/v1/latest/g.csv',
    '/api/v1/latest.csv',
    '/api/v1/log',
    '/api/v1/log/',
    '/api/v1/log//checkpoint',
    '/api/v1/log/checkpoint/',
    '/api/v1/log/.hidden',
    '/api/v1/log/../markets.json',
    '/api/v1/log/%2e%2e/markets.json',
    '/api/v1/log/a%2Fb',
    '/api/v1/log/Checkpoint',
    '/api/v1/log/ä',
    '/api/v1/log/a b',
    '/api/v1/log/a\n',
    `/api/v1/log/${'a'.repeat(101)}`,
    `/api/v1/log${'/a'.repeat(10)}`,
    '/api/v1/logs/checkpoint',
    '/api/v1/markets/gold-usd/historyXcsv',
    '/api/v1/markets/gold-usd/history/index.csv',
    '/api/v1/markets/gold-usd/history/202.csv',
    '/api/v1/markets/gold-usd/history/20245.csv',
    '/api/v1/markets/gold-usd/history/2024',
    '/api/v1/markets/Gold/history.csv',
    `/api/v1/markets/${SLUG80}c/history.csv`,
  ].map((path) => [path, 'not-found'] as const),
  ['/api/v1/latest?x=1', 'unknown-query-parameter'],
  [`/api/v1/markets/gold-usd/history.csv?cursor=${C}`, 'unknown-query-parameter'],
  // The URLs of problems lead to their pages. No page has another name, and the origin has the 404 for it.
  ...PROBLEM_CODES.map((code) => [`/problems/${code}`, `/problems/${code}.html`] as const),
  ['/problems/no-such-problem', '/problems/no-such-problem.html'],
  ['/problems/not-found?x', '/problems/not-found.html'],
  ['/problems/not-found.json', 'not-found'],
  ['/problems.json?x', 'unknown-query-parameter'],
  ['/problems.json', '/problems.json'],
  // Pages for people, and what they load.
  ...['/', '/index.html', '/markets'].map((path) => [path, '/index.html'] as const),
  ['/status/', '/status/index.html'],
  ...['/docs/', '/%64ocs/', '/docs/guides', '/docs/reference'].map((path) => [path, '/docs/index.html'] as const),
  ['/markets/gold-usd//', 'not-found'],
  ...['gold-usd', 'GOLD-Usd', 'a', '7', 'history', SLUG80].map(
    (slug) => [`/markets/${slug}`, `/markets/${slug.toLowerCase()}.html`] as const,
  ),
  ['/docs/schemas', '/docs/schemas.html'],
  ['/docs/guides/caching', '/docs/guides/caching.html'],
  ['/docs/reference/public-reads', '/docs/reference/public-reads.html'],
  ...['/assets/explorer.js', '/assets/site.css', '/assets/icon.svg', '/llms.txt', '/robots.txt'].map(
    (path) => [path, path] as const,
  ),
  // Links to pages get parameters on their way; nothing reads them.
  ['/?utm_source=letter&utm_medium=email', '/index.html'],
  [`/markets/gold-usd?cursor=${C}`, '/markets/gold-usd.html'],
  ['/market/index.html?slug=gold-usd', '/market/index.html'],
  ['/docs/schemas?x', '/docs/schemas.html'],
  ['/assets/site.css?v=1', 'unknown-query-parameter'],
  ['/llms.txt?x', 'unknown-query-parameter'],
  ...[
    '//',
    '__proto__',
    'constructor',
    '/Docs/',
    '/docs//',
    '/docs/guides/a/b',
    '/docs/..',
    '/docs/../index.html',
    '/docs/%2e%2e/',
    '/docs/%252e%252e/',
    '/docs/a%2Fb',
    '/docs/a\n',
    `/docs/${'a'.repeat(100)}`,
    '/status/x',
    '/markets/gold-usd/history',
    '/markets/gold--usd',
    `/markets/${SLUG80}c`,
    '/assets',
    '/assets/',
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets/.js',
    '/assets/a/b.js',
    '/assets/explorer.js.map',
    '/assets/explorer.html',
    '/favicon.ico',
    '/robots.txt/',
  ].map((path) => [path, 'not-found'] as const),
  // An empty query is no query.
  ['/api/v1/markets?', '/api/v1/markets.json'],
  ['/api/v1/markets/gold-usd?', '/api/v1/markets/gold-usd.json'],
  // Percent-encoded where it need not be.
  ['/api/v1/markets/gold%2Dusd', '/api/v1/markets/gold-usd.json'],
  ['/%61%70%69/v%31/markets/%67old-usd/%68istory', '/api/v1/markets/gold-usd/history.json'],
  ['/api/v1/openapi%2ejson', '/api/v1/openapi.json'],
  [`/api/v1/markets?cursor=7%2D${HEX}`, `/api/v1/markets/pages/${C}.json`],
  [`/api/v1/markets?%63ursor=${C}`, `/api/v1/markets/pages/${C}.json`],
  [`/api/v1/markets?%63ursor=${C}&cursor=${C}`, 'unknown-query-parameter'],
  ['/api/v1/markets/gold%252Dusd', 'not-found'],
  ['/api/v1/markets%2Fgold-usd', 'not-found'],
  // Paths that name nothing.
  ['', 'not-found'],
  ['*', 'not-found'],
  ['/?cursor=', '/index.html'],
  ['/favicon.ico', 'not-found'],
  ['/api', 'not-found'],
  ['/api/v1', 'not-found'],
  ['/api/v1/', 'not-found'],
  ['/api/v2/markets', 'not-found'],
  ['/API/v1/markets', 'not-found'],
  ['api/v1/markets', 'not-found'],
  ['/api/v1/markets/', 'not-found'],
  ['/api/v1/markets/?', 'not-found'],
  ['//api/v1/markets', 'not-found'],
  ['/api//v1/markets', 'not-found'],
  ['/api/v1//markets', 'not-found'],
  ['/api/v1/markets//gold-usd', 'not-found'],
  ['/api/v1/markets/gold-usd/', 'not-found'],
  ['/api/v1/markets/gold-usd//history', 'not-found'],
  ['/api/v1/markets/gold-usd/history/', 'not-found'],
  ['/api/v1/markets/gold-usd/history/2', 'not-found'],
  ['/api/v1/markets/gold-usd/prices', 'not-found'],
  ['/api/v1/snapshot/', 'not-found'],
  ['/api/v1/snapshots', 'not-found'],
  ['/api/v1/waitlist/', 'not-found'],
  ['/api/v1/waitlist-requests', 'not-found'],
  ['/api/v1/openapi', 'not-found'],
  ['/api/v1/openapi-json', 'not-found'],
  // Malformed slugs.
  ['/api/v1/markets/Gold-usd', 'not-found'],
  ['/api/v1/markets/gold_usd', 'not-found'],
  ['/api/v1/markets/gold--usd', 'not-found'],
  ['/api/v1/markets/-gold', 'not-found'],
  ['/api/v1/markets/gold-', 'not-found'],
  ['/api/v1/markets/gold%20usd', 'not-found'],
  ['/api/v1/markets/g%C3%B6ld', 'not-found'],
  ['/api/v1/markets/göld', 'not-found'],
  ['/api/v1/markets/gold-usd%00', 'not-found'],
  ['/api/v1/markets/gold-usd\n', 'not-found'],
  ['/api/v1/markets/gold-usd#top', 'not-found'],
  ['/api/v1/markets/gold-usd;v=1', 'not-found'],
  [`/api/v1/markets/${SLUG80}c`, 'not-found'],
  [`/api/v1/markets/${SLUG80}c/history`, 'not-found'],
  // Nothing climbs out of the prefix.
  // Paths of an earlier version.
  [`/api/v1/market-pages/${C}.json`, 'not-found'],
  [`/api/v1/history-pages/gold-usd/${C}.json`, 'not-found'],
  ['/api/v1/histories/gold-usd.json', 'not-found'],
  ['/site/index.html', 'not-found'],
  ['/errors/404.json', 'not-found'],
  ['/public/api/v1/markets.json', 'not-found'],
  ['/api/v1/markets/..', 'not-found'],
  ['/api/v1/markets/../markets', 'not-found'],
  ['/api/v1/markets/%2e%2e/markets', 'not-found'],
  ['/api/v1/markets\\gold-usd', 'not-found'],
  // An unknown path stays unknown with any query.
  ['/api/v1/market?x=1', 'not-found'],
  [`/nowhere?cursor=${C}`, 'not-found'],
  // Cursors that no page ever had.
  ['/api/v1/markets?cursor=', 'invalid-cursor'],
  ['/api/v1/markets?cursor', 'invalid-cursor'],
  ['/api/v1/markets?cursor=x', 'invalid-cursor'],
  [`/api/v1/markets?cursor=0-${HEX}`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=07-${HEX}`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=-7-${HEX}`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=1234567890123456-${HEX}`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=7-${HEX.slice(1)}`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=7-${HEX}0`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=7-${HEX.toUpperCase()}`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=${C}=`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=${C}/../x`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=${C}%0A`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=${C}&cursor=${C}`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=${C}&cursor=`, 'invalid-cursor'],
  ['/api/v1/markets/gold-usd/history?cursor=x', 'invalid-cursor'],
  [`/api/v1/markets/gold-usd/history?cursor=${C}&cursor=8-${HEX}`, 'invalid-cursor'],
  // Unknown parameters.
  ['/api/v1/markets?limit=10', 'unknown-query-parameter'],
  [`/api/v1/markets?cursor=${C}&limit=10`, 'unknown-query-parameter'],
  [`/api/v1/markets?limit=10&cursor=${C}`, 'unknown-query-parameter'],
  [`/api/v1/markets?Cursor=${C}`, 'unknown-query-parameter'],
  [`/api/v1/markets?cursor[]=${C}`, 'unknown-query-parameter'],
  [`/api/v1/markets?cursor=${C}?x`, 'invalid-cursor'],
  ['/api/v1/markets?=', 'unknown-query-parameter'],
  ['/api/v1/markets?x', 'unknown-query-parameter'],
  ['/api/v1/markets?__proto__=x', 'unknown-query-parameter'],
  ['/api/v1/markets?constructor=x', 'unknown-query-parameter'],
  ['/api/v1/snapshot?x=1', 'unknown-query-parameter'],
  ['/api/v1/waitlist?x=1', 'unknown-query-parameter'],
  [`/api/v1/waitlist?cursor=${C}`, 'unknown-query-parameter'],
  ['/api/v1/openapi.json?x', 'unknown-query-parameter'],
  ['/api/v1/markets/gold-usd?x=1', 'unknown-query-parameter'],
  ['/api/v1/markets/gold-usd/history?x=1', 'unknown-query-parameter'],
  // A cursor where there are no pages.
  [`/api/v1/snapshot?cursor=${C}`, 'unknown-query-parameter'],
  [`/api/v1/markets/gold-usd?cursor=${C}`, 'unknown-query-parameter'],
  ['/api/v1/markets/gold-usd?cursor=', 'unknown-query-parameter'],
  // The limit of 2,048 characters is checked first.
  [`/${'a'.repeat(2047)}`, 'not-found'],
  [`/${'a'.repeat(2048)}`, 'uri-too-long'],
  [`/api/v1/markets?cursor=${'7'.repeat(2048 - 23)}`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=${'7'.repeat(2048 - 22)}`, 'uri-too-long'],
  [`/api/v1/markets?${'cursor=1&'.repeat(300)}`, 'uri-too-long'],
];

function outcome(routed: EdgeRouted): string {
  if (routed.kind === 'object') return routed.key.replace(/^public/, '');
  return JSON.parse(routed.body.toString()).code;
}

function fields(routed: EdgeRouted): Record<string, string | undefined> {
  if (routed.kind !== 'answer') throw new Error('expected an answer');
  return Object.fromEntries(routed.fields.flatMap((name, at) => (at % 2 ? [] : [[name, routed.fields[at + 1]]])));
}

describe('GET', () => {
  test.each(GET_TABLE)('%j gives %s', (url, expected) => {
    expect(outcome(routeRead('GET', url))).toBe(expected);
  });

  test.each(GET_TABLE)('HEAD of %j is routed alike', (url) => {
    expect(routeRead('HEAD', url)).toEqual(routeRead('GET', url));
  });
});

describe('the request that is passed on', () => {
  test('has the origin path and no query', () => {
    const event = viewerEvent('GET', `/api/v1/markets?cursor=${C}`);
    const passed = handler(event);
    expect(passed).toBe(event.request);
    expect(passed).toMatchObject({ method: 'GET', uri: `/api/v1/markets/pages/${C}.json`, querystring: {} });
  });

  test('may name its only value twice, as CloudFront may for a single one', () => {
    const event = viewerEvent('GET', '/api/v1/markets');
    const cursor = { value: C, multiValue: [{ value: C }] };
    const passed = handler({ ...event, request: { ...event.request, querystring: { cursor } } });
    expect(passed).toMatchObject({ uri: `/api/v1/markets/pages/${C}.json` });
  });
});

describe('answers of the router itself', () => {
  test.each([
    ['/nowhere', 'not-found'],
    ['/api/v1/markets?cursor=x', 'invalid-cursor'],
    ['/api/v1/markets?x=1', 'unknown-query-parameter'],
    [`/${'a'.repeat(2048)}`, 'uri-too-long'],
  ] as const)('to %.40s have the status of the catalogue and exactly these fields', (url, code: ProblemCode) => {
    const routed = routeRead('GET', url);
    expect(routed).toMatchObject({ status: PROBLEMS[code].status });
    expect(fields(routed)).toEqual({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'content-length': String((routed as { body: Buffer }).body.length),
    });
  });

  test('404 names the list of resources, and no cursor', () => {
    const routed = routeRead('GET', '/nowhere') as { body: Buffer };
    expect(routed.body.toString()).toBe(canonicalJson(NO_RESOURCE_PROBLEM as unknown as Json));
    expect(routed.body.toString()).toContain(OPENAPI_URL);
    expect(routed.body.toString()).not.toContain('cursor');
  });

  test('404 is a short page for a browser, but not below /api/', () => {
    const typeOf = (uri: string, accept: string) => {
      const event = viewerEvent('GET', uri);
      const got = handler({ ...event, request: { ...event.request, headers: { accept: { value: accept } } } });
      return 'statusCode' in got ? [got.statusCode, got.headers['content-type']?.value] : null;
    };
    expect(typeOf('/nowhere', 'text/html,*/*;q=0.8')).toEqual([404, 'text/html']);
    expect(typeOf('/nowhere', '*/*')).toEqual([404, 'application/problem+json']);
    expect(typeOf('/api/nowhere', 'text/html')).toEqual([404, 'application/problem+json']);
  });

  // Links of a page are relative to its file.
  test.each([
    ['/markets/', '../markets'],
    ['/markets/gold-usd/?utm_source=letter', '../gold-usd'],
    ['/docs/guides/', '../guides'],
    ['/docs/guides/%63aching/', '../caching'],
    ['/problems/not-found/', '../not-found'],
    ['/docs?utm_source=letter', 'docs/'],
    ['/st%61tus', 'status/'],
    ['/problems', 'docs/problems'],
    ['/problems/', '../docs/problems'],
  ])('to %s, which is not the path of the page, leads to %s', (url, location) => {
    const routed = routeRead('GET', url);
    expect(routed).toMatchObject({ status: 308, body: Buffer.alloc(0) });
    expect(fields(routed)).toEqual({
      location,
      'cache-control': 'public, max-age=15',
      'access-control-allow-origin': '*',
    });
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT', 'PROPFIND', 'get', ''])(
    'method %j is 405 with the allowed methods',
    (method) => {
      const routed = routeRead(method, '/api/v1/markets');
      expect(routed).toMatchObject({ kind: 'answer', status: 405 });
      expect(fields(routed).allow).toBe('GET, HEAD, OPTIONS');
    },
  );

  test.each(['/api/v1/markets', '/nowhere', '*', '/api/v1/markets?x=1'])('OPTIONS %s is a CORS preflight', (url) => {
    const routed = routeRead('OPTIONS', url);
    expect(routed).toMatchObject({ status: 204, body: Buffer.alloc(0) });
    expect(fields(routed)).toEqual({
      allow: 'GET, HEAD, OPTIONS',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': '*, Authorization, If-None-Match',
      'access-control-max-age': '7200',
    });
  });
});

/** URLs near enough to real ones that both outcomes come up. */
const likelyUrl = fc
  .tuple(
    fc.array(fc.constantFrom('/', 'api', 'v1', 'markets', 'snapshot', 'history', 'gold-usd', 'a', '-', '%2e', '..'), {
      maxLength: 12,
    }),
    fc.array(fc.constantFrom('?', '&', '=', 'cursor', 'cursor=', C, '7-', HEX, 'x', '__proto__', '%00', '#'), {
      maxLength: 8,
    }),
  )
  .map(([path, query]) => path.join('') + query.join(''));
const realUrl = fc
  .tuple(
    fc.constantFrom(
      '/api/v1/markets',
      '/api/v1/snapshot',
      '/api/v1/waitlist',
      '/api/v1/openapi.json',
      '/api/v1/markets/gold-usd',
      '/api/v1/markets/a/history',
    ),
    fc.constantFrom('', '?', `?cursor=${C}`, '?cursor=', `?cursor=${C}&`, '?x', '/'),
  )
  .map((parts) => parts.join(''));

test('property: any URL is rewritten to the key of a public object or answered with a known status', () => {
  const anyUrl = fc.oneof(fc.string({ unit: 'binary', maxLength: 3000 }), fc.webUrl(), likelyUrl, realUrl);
  const method = fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST');
  fc.assert(
    fc.property(method, anyUrl, (verb, url) => {
      const routed = routeRead(verb, url);
      if (routed.kind === 'object') expect(parsePublicKey(routed.key)).not.toBeNull();
      else expect([204, 400, 404, 405, 414]).toContain(routed.status);
    }),
    { numRuns: 2_000 },
  );
});
