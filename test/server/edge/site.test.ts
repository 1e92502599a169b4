/** Pages for people over HTTP: their bytes, their headers, and paths that lead to none of them. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAGE_HEADERS } from '../../../contract/files/page-headers.ts';
import type { SiteKind } from '../../../contract/files/public-object-names.ts';
import { PUBLIC_CACHE_CONTROL, PUBLIC_OBJECTS, type PublicObjectName } from '../../../contract/files/public-objects.ts';
import { ask, type Edge, startEdge } from './edge-fixture.ts';

const FILES: readonly (readonly [SiteKind, string, readonly string[]])[] = [
  ['site-page', 'index.html', ['/', '/index.html', '/?utm_source=letter&x=%3Cscript%3E']],
  [
    'site-page',
    'market/index.html',
    ['/market/index.html?slug=7', '/markets/gold-usd', '/markets/gold-usd.html', '/markets/GOLD-usd?fbclid=1'],
  ],
  ['site-page', '404.html', ['/404.html']],
  ['site-page', 'docs/index.html', ['/docs/']],
  ['site-page', 'docs/guides/log.html', ['/docs/guides/log', '/docs/guides/%6Cog']],
  ['site-page', 'status/index.html', ['/status/']],
  ['site-script', 'assets/explorer.js', ['/assets/explorer.js']],
  ['site-style', 'assets/site.css', ['/assets/site.css']],
  ['site-image', 'assets/icon.svg', ['/assets/icon.svg']],
  ['site-text', 'llms.txt', ['/llms.txt']],
];

const bodyOf = (file: string) => `${file}: Märkte\n`.repeat(100);

const PAGES = FILES.filter(([kind]) => kind === 'site-page').map(([, , [url = '']]) => url);
const OTHERS = FILES.filter(([kind]) => kind !== 'site-page').map(([, , [url = '']]) => url);
const page = (headers: object) => Object.fromEntries(Object.entries(headers).filter(([name]) => name in PAGE_HEADERS));

describe('the edge', () => {
  let edge: Edge;

  beforeAll(async () => {
    edge = await startEdge({});
    for (const [kind, file] of FILES) {
      edge.objects.put({ kind, file } as PublicObjectName, bodyOf(file), null, PUBLIC_OBJECTS[kind].contentType);
    }
    edge.objects.put({ kind: 'market', slug: 'gold-usd' }, '{}');
  });
  afterAll(async () => {
    await edge.close();
  });

  test.each(FILES.flatMap(([kind, file, urls]) => urls.map((url) => ({ url, kind, file }))))(
    '$url is $file',
    async ({ url, kind, file }) => {
      const got = await ask(edge, url);
      expect([got.status, got.body.toString()]).toEqual([200, bodyOf(file)]);
      expect(got.headers).toMatchObject({
        'content-type': PUBLIC_OBJECTS[kind].contentType,
        'cache-control': PUBLIC_CACHE_CONTROL,
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
      });
      const head = await ask(edge, url, {}, 'HEAD');
      expect([head.status, head.body.length, head.headers.etag]).toEqual([200, 0, got.headers.etag]);
      expect(head.headers['content-length']).toBe(String(got.body.length));
      const same = await ask(edge, url, { 'if-none-match': got.headers.etag as string });
      expect([same.status, same.body.length]).toEqual([304, 0]);
      expect(page(same.headers)).toEqual(page(got.headers));
      expect((await ask(edge, url, {}, 'POST')).status).toBe(405);
    },
  );

  test.each([...PAGES, ...OTHERS])('%s is compressed', async (url) => {
    const plain = await ask(edge, url);
    for (const [coding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const got = await ask(edge, url, { 'accept-encoding': coding });
      expect([got.headers['content-encoding'], got.headers.etag]).toEqual([coding, `W/${plain.headers.etag}`]);
      expect(decode(got.body)).toEqual(plain.body);
      expect(page(got.headers)).toEqual(page(plain.headers));
    }
  });

  test.each(PAGES)('%s has the headers that keep a page to its own host', async (url) => {
    expect(page((await ask(edge, url)).headers)).toEqual(PAGE_HEADERS);
    expect(page((await ask(edge, url, { range: 'bytes=0-9' })).headers)).toEqual(PAGE_HEADERS);
  });

  test.each([...OTHERS, '/api/v1/markets/gold-usd', '/healthz', '/nowhere', '/assets/none.js'])(
    '%s has none of them',
    async (url) => {
      expect(page((await ask(edge, url)).headers)).toEqual({});
    },
  );

  test('the policy allows nothing inline, nothing evaluated, and no other host', () => {
    const policy = PAGE_HEADERS['content-security-policy'] ?? '';
    const sources = policy.split('; ').flatMap((directive) => directive.split(' ').slice(1));
    expect(policy).toMatch(/^default-src 'none'; /);
    expect([...new Set(sources)].sort()).toEqual(["'none'", "'self'", 'data:']);
    expect(policy).toContain("img-src 'self' data:;");
  });

  describe('for a browser', () => {
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const put = (name: PublicObjectName, body: string, type?: string) => edge.objects.put(name, body, null, type);

    test.each(['/none', '/a/b/c', '/markets/none', '/docs/guides/none', '/assets/none.js', '/embed/none'])(
      '%s is a 404 with a page, for programs with a problem, and caches keep them apart',
      async (url) => {
        const got = await ask(edge, url, browser);
        expect([got.status, got.headers['content-type'], got.body.toString()]).toEqual([
          ...[404, 'text/html; charset=utf-8', bodyOf('404.html')],
        ]);
        expect(page(got.headers)).toEqual(PAGE_HEADERS);
        const program = await ask(edge, url, { accept: '*/*' });
        expect([program.status, program.headers['content-type']]).toEqual([404, 'application/problem+json']);
        expect([got.headers.vary, program.headers.vary]).toEqual(['Accept', 'Accept']);
        expect((await ask(edge, url, browser, 'HEAD')).status).toBe(404);
      },
    );

    test.each<[string, string]>([
      ['TEXT/HTML', 'text/html; charset=utf-8'],
      ['text/html;q=0', 'application/problem+json'],
      ['application/problem+json, text/html;q=0.1', 'application/problem+json'],
      ['', 'application/problem+json'],
    ])('%j is weighed: %s', async (accept, expected) => {
      expect((await ask(edge, '/none', { accept })).headers['content-type']).toBe(expected);
    });

    test('while the service starts, each page says so and loads itself again; programs get the problem', async () => {
      const starting = await startEdge({ isReady: () => false });
      const got = await ask(starting, '/', browser);
      expect(got.status).toBe(503);
      expect(got.headers).toMatchObject({
        ...{ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', vary: 'Accept' },
        ...{ 'retry-after': '2', refresh: '2', ...PAGE_HEADERS },
      });
      expect(got.body.toString()).toContain('<p>The service is starting. This page loads itself again');
      for (const [path, accept] of [
        ['/', '*/*'],
        ['/api/v1/markets', browser.accept],
      ] as const) {
        const { status, headers } = await ask(starting, path, { accept });
        expect([status, headers['content-type']]).toEqual([503, 'application/problem+json']);
        expect([headers['retry-after'], headers.refresh]).toEqual(['2', undefined]);
      }
      await starting.close();
    });

    test('the API answers browsers as programs', async () => {
      const got = await ask(edge, '/api/v1/markets/none', browser);
      expect([got.status, got.headers['content-type']]).toEqual([404, 'application/problem+json']);
    });

    test('a market without a page of its own has that of any market; its own one comes first', async () => {
      put({ kind: 'market', slug: 'new' }, '{}');
      expect((await ask(edge, '/markets/new')).body.toString()).toBe(bodyOf('market/index.html'));
      put({ kind: 'market-page', slug: 'own' }, 'its own page', 'text/html; charset=utf-8');
      put({ kind: 'market', slug: 'own' }, '{}');
      expect((await ask(edge, '/markets/OWN')).body.toString()).toBe('its own page');
    });

    test.each([true, false])(
      'a removed market is a 410: a page, or the document. With its own files: %s',
      async (own) => {
        const slug = `gone-${own}`;
        const gone = 'application/problem+json';
        const document = JSON.stringify({ title: 'Removed' });
        put({ kind: 'market', slug }, document, gone);
        if (own) put({ kind: 'market-page', slug }, document, gone);
        for (let time = 0; time < 2; time++) {
          const got = await ask(edge, `/markets/${slug}`, browser);
          expect([got.status, got.body.toString()]).toEqual([410, bodyOf('market/index.html')]);
          expect(got.headers.vary).toBe('Accept');
          const program = await ask(edge, `/markets/${slug}`);
          expect([program.status, program.body.toString()]).toEqual([410, document]);
          expect(program.headers.vary).toBe('Accept-Encoding, Accept');
        }
      },
    );
  });

  test('queries of pages do not fill the cache, and other files take none', async () => {
    const reads = edge.objects.reads.length;
    for (let number = 0; number < 20; number++) await ask(edge, `/?utm_campaign=${number}`);
    expect(edge.objects.reads.length).toBe(reads);
    for (const url of OTHERS) expect((await ask(edge, `${url}?v=1`)).status).toBe(400);
    expect((await ask(edge, `/?${'x'.repeat(2048)}`)).status).toBe(414);
  });
});
