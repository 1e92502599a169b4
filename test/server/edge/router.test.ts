import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePublicKey } from '../../../contract/files/public-objects.ts';
import { OPENAPI_URL } from '../../../contract/files/routes.ts';
import { NO_RESOURCE_PROBLEM } from '../../../contract/problems/edge-problems.ts';
import { PROBLEM_CODES } from '../../../contract/problems/problems.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { handler } from '../../../infra/edge/router.ts';
import { viewerEvent } from '../../../infra/edge/viewer-event.ts';
import { type EdgeRouted, routeRead } from '../../../server/edge/route.ts';

const HEX = '0123456789abcdef0123456789abcdef';
const C = `7-${HEX}`;
const SLUG80 = `${'a'.repeat(39)}-${'b'.repeat(40)}`;

/** URL → the key below `public`, or the code of the problem. */
const GET_TABLE: readonly (readonly [string, string])[] = [
  // The resources, and the pages of two of them.
  ...['markets', 'snapshot', 'waitlist', 'latest', 'recent', 'exports/latest', 'markets/gold-usd/history/index'].map(
    (path) => [`/api/v1/${path}`, `/api/v1/${path}.json`] as const,
  ),
  // A market may be called as a folder is.
  ...['gold-usd', 'a', '7', 'pages', 'history', SLUG80].flatMap((slug) => [
    [`/api/v1/markets/${slug}`, `/api/v1/markets/${slug}.json`] as const,
    [`/api/v1/markets/${slug}/history`, `/api/v1/markets/${slug}/history.json`] as const,
  ]),
  ...[C, `1-${HEX}`, `999999999999999-${HEX}`].map(
    (cursor) => [`/api/v1/markets?cursor=${cursor}`, `/api/v1/markets/pages/${cursor}.json`] as const,
  ),
  [`/api/v1/markets/gold-usd/history?cursor=${C}`, `/api/v1/markets/gold-usd/history/pages/${C}.json`],
  // The sealed ledger in a target.
  ['/.state.tar.zst.age', 'not-found'],
  ['/_tidemark-state.tar.zst.age', 'not-found'],
  // Each file is served at its own path.
  ...[
    '/api/v1/openapi.json',
    '/api/v1/markets.json',
    '/api/v1/markets/gold-usd.json',
    `/api/v1/markets/pages/${C}.json`,
    `/api/v1/markets/pages/history/pages/${C}.json`,
    '/api/v1/markets/gold-usd/history/index.json',
    '/api/v1/latest/all.csv',
    '/api/v1/latest/3f.ndjson',
    '/api/v1/modified.csv',
    '/api/v1/alaterfile.json',
    '/feeds/changes.atom',
    '/feeds/releases.ics',
    `/feeds/markets/${SLUG80}.atom`,
    `/badges/${SLUG80}.svg`,
    '/embed/gold-usd.json',
    '/embed/gold-usd.html',
    '/api/v1/markets/history/history.csv',
    '/api/v1/markets/gold-usd/history/1899.ndjson',
    '/api/v1/log/checkpoint',
    '/api/v1/log/tile/0/x001/234.p/7',
    '/api/v1/compat/hledger/prices.journal',
    '/api/v1/exports/2026-01-01/observations-0.parquet',
    `/api/v1/log${`/${'a'.repeat(100)}`.repeat(9)}`,
    '/index.html',
    '/404.html',
    '/market/index.html',
    '/docs/guides/caching.html',
    '/problems/not-found.html',
    '/problems.json',
    '/assets/site.css',
    '/llms.txt',
  ].map((path) => [path, path] as const),
  // The layout of currency-api: an @ before the date, and minified files.
  ...['/currencies.json', '/currencies/eur.json'].flatMap((file) => {
    const key = `/api/v1/compat/currency-api/latest/v1${file}`;
    return ['@', '/'].flatMap((mark) => [
      [`/api/v1/compat/currency-api${mark}latest/v1${file}`, key] as const,
      [`/api/v1/compat/currency-api${mark}latest/v1${file.replace('.json', '.min.json')}`, key] as const,
    ]);
  }),
  ['/api/v1/compat/currency-api%40latest/v1/currencies.json', 'not-found'],
  // The parts of all days are stored once.
  ['/api/v1/exports/2026-01-01/parts/markets-0.parquet', '/api/v1/exports/parts/markets-0.parquet'],
  // The URLs of problems lead to their pages. No page has another name, and the origin has the 404 for it.
  ...PROBLEM_CODES.map((code) => [`/problems/${code}`, `/problems/${code}.html`] as const),
  // Pages for people.
  ...['/', '/markets', '/?utm_source=letter&utm_medium=email'].map((path) => [path, '/index.html'] as const),
  ...['/docs/', '/%64ocs/', '/docs/guides', '/docs/reference'].map((path) => [path, '/docs/index.html'] as const),
  ...['gold-usd', 'GOLD-Usd', '7', 'history', SLUG80].map(
    (slug) => [`/markets/${slug}`, `/markets/${slug.toLowerCase()}.html`] as const,
  ),
  ['/status/', '/status/index.html'],
  ['/docs/schemas?x', '/docs/schemas.html'],
  ['/docs/reference/public-reads', '/docs/reference/public-reads.html'],
  // Links to pages get parameters on their way; nothing reads them.
  [`/markets/Gold-USD.html?cursor=${C}`, '/markets/gold-usd.html'],
  ['/market/index.html?slug=gold-usd', '/market/index.html'],
  ['/embed/gold-usd?utm_source=x', '/embed/gold-usd.html'],
  ['/embed/gold-usd.json?maxwidth=600&maxheight=900&url=https%3A%2F%2Fx&format=json', '/embed/gold-usd.json'],
  ['/badges/gold-usd.svg?v=2', '/badges/gold-usd.svg'],
  // An empty query is no query.
  ['/api/v1/markets?', '/api/v1/markets.json'],
  // Percent-encoded where it need not be.
  ['/%61%70%69/v%31/markets/%67old%2Dusd/%68istory', '/api/v1/markets/gold-usd/history.json'],
  [`/api/v1/markets?%63ursor=7%2D${HEX}`, `/api/v1/markets/pages/${C}.json`],
  // Paths that name nothing.
  ...[
    '',
    '*',
    '//',
    '__proto__',
    'constructor',
    'api/v1/markets',
    '/api/v1/',
    '/api/v2/markets',
    '/API/v1/markets',
    '/api//v1/markets',
    '/api/v1/markets/',
    '/api/v1/markets/gold-usd/',
    '/api/v1/markets/gold-usd//history',
    '/api/v1/markets/gold-usd/prices',
    '/api/v1/markets/gold-usd/history/index.csv',
    '/api/v1/markets/gold-usd/history/20245.csv',
    '/api/v1/markets/gold-usd/historyXcsv',
    `/api/v1/markets/pages/${C}`,
    `/api/v1/markets/pages/0${C}.json`,
    `/api/v1/markets/gold-usd/pages/${C}.json`,
    '/api/v1/markets/gold-usd.gone.json',
    '/api/v1/snapshot.csv',
    '/api/v1/waitlist-requests',
    '/api/v1/openapi-json',
    '/api/v1/latest/0123.csv',
    '/api/v1/latest/g.csv',
    '/api/v1/editions/q3-2026',
    '/feeds/gold-usd.atom',
    `/feeds/markets/a${SLUG80}.atom`,
    `/badges/a${SLUG80}.svg`,
    '/embed/Gold',
    '/embed/a/b',
    '/docs/a/b/c.html',
    '/docs/a\n',
    '/Docs/',
    '/markets/gold--usd',
    `/markets/${SLUG80}c`,
    '/assets/',
    '/assets/.js',
    '/assets/explorer.js.map',
    '/favicon.ico',
    '/site/index.html',
    '/public/api/v1/markets.json',
    '/api/v1/log/a b',
    '/api/v1/log/.hidden',
    '/api/v1/log/ä',
    `/api/v1/log/${'a'.repeat(101)}`,
    `/api/v1/log${'/a'.repeat(10)}`,
    // An unknown path stays unknown with any query.
    `/nowhere?cursor=${C}`,
  ].map((path) => [path, 'not-found'] as const),
  ...['Gold-usd', 'gold_usd', 'gold--usd', '-gold', 'gold-', 'gold%20usd', 'g%C3%B6ld', 'gold-usd%00', 'gold-usd\n']
    .concat(['gold%252Dusd', 'gold-usd#top', 'gold-usd;v=1', `${SLUG80}c`])
    .map((slug) => [`/api/v1/markets/${slug}`, 'not-found'] as const),
  // Nothing climbs out of its folder.
  ...['/../index.html', '/%2e%2e/index.html', '/%252e%252e/', '/..', '/a%2Fb', '\\..\\index.html', '/..;/'].flatMap(
    (rest) =>
      ['/api/v1/log', '/api/v1/markets', '/docs', '/assets'].map((at) => [`${at}${rest}`, 'not-found'] as const),
  ),
  // Cursors that no page ever had.
  ...['', 'x', `0-${HEX}`, `07-${HEX}`, `-7-${HEX}`, `1234567890123456-${HEX}`, `7-${HEX.slice(1)}`, `${C}0`, `${C}=`]
    .concat([`7-${HEX.toUpperCase()}`, `${C}/../x`, `${C}%0A`, `${C}?x`, `${C}&cursor=${C}`, `${C}&cursor=`])
    .map((cursor) => [`/api/v1/markets?cursor=${cursor}`, 'invalid-cursor'] as const),
  ['/api/v1/markets?cursor', 'invalid-cursor'],
  ['/api/v1/markets/gold-usd/history?cursor=x', 'invalid-cursor'],
  // Unknown parameters, and a cursor where there are no pages.
  ...[
    '/api/v1/markets?limit=10',
    `/api/v1/markets?cursor=${C}&limit=10`,
    `/api/v1/markets?Cursor=${C}`,
    `/api/v1/markets?cursor[]=${C}`,
    `/api/v1/markets?%63ursor=${C}&cursor=${C}`,
    '/api/v1/markets?=',
    '/api/v1/markets?__proto__=x',
    '/api/v1/markets/gold-usd/history?x=1',
    '/api/v1/markets/gold-usd?cursor=',
    `/api/v1/markets.json?cursor=${C}`,
    `/api/v1/markets/pages/${C}.json?cursor=${C}`,
    `/api/v1/markets/gold-usd/history.csv?cursor=${C}`,
    `/api/v1/snapshot?cursor=${C}`,
    '/api/v1/openapi.json?x',
    '/api/v1/latest?x=1',
    '/feeds/changes.atom?x=1',
    '/problems.json?x',
    '/assets/site.css?v=1',
    '/llms.txt?x',
  ].map((path) => [path, 'unknown-query-parameter'] as const),
  // The limit of 2,048 characters is checked first.
  [`/${'a'.repeat(2047)}`, 'not-found'],
  [`/${'a'.repeat(2048)}`, 'uri-too-long'],
  [`/api/v1/markets?cursor=${'7'.repeat(2048 - 23)}`, 'invalid-cursor'],
  [`/api/v1/markets?cursor=${'7'.repeat(2048 - 22)}`, 'uri-too-long'],
];

function outcome(routed: EdgeRouted): string {
  if (routed.kind === 'object') return routed.key.replace(/^public/, '');
  return JSON.parse(routed.body.toString()).code;
}

function fields(routed: EdgeRouted): Record<string, string | undefined> {
  if (routed.kind !== 'answer') throw new Error('expected an answer');
  return Object.fromEntries(routed.fields.flatMap((name, at) => (at % 2 ? [] : [[name, routed.fields[at + 1]]])));
}

test.each(GET_TABLE)('GET and HEAD of %j give %s', (url, expected) => {
  const routed = routeRead('GET', url);
  expect(outcome(routed)).toBe(expected);
  expect(routeRead('HEAD', url)).toEqual(routed);
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
