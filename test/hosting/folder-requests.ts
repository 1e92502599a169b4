/** What our own server, nginx and Caddy are asked about one published folder, and where they may differ. */
import { PAGE_HEADERS } from '../../contract/files/page-headers.ts';
import type { Asked } from './proxy.ts';

export const LIST = '/api/v1/markets';
export const MARKET = `${LIST}/z`;
export const GONE = `${LIST}/b`;
export const LONG_AGO = 'Wed, 01 Jan 2020 00:00:00 GMT';
const CURSOR = `1-${'0'.repeat(32)}`;

/** Where the three agree. */
export const FIELDS = [
  ...['content-type', 'cache-control', 'vary', 'allow', 'location', 'content-range', 'x-content-type-options'],
  ...['access-control-allow-origin', 'access-control-allow-methods', 'access-control-allow-headers'],
  ...['access-control-max-age', 'access-control-expose-headers', ...Object.keys(PAGE_HEADERS)],
];

/** Requests beside those for every file and every public read. */
export const REQUESTS: readonly (readonly [path: string, asked?: Asked])[] = [
  [`${LIST}?`],
  [`${MARKET}/history?cursor=${CURSOR}`],
  [`${LIST}?cursor=${CURSOR}`],
  [`${LIST}?cursor=x`],
  [`${LIST}?cursor=`],
  [`${LIST}?cursor=${CURSOR}&cursor=${CURSOR}`],
  [`${LIST}?cursor=${CURSOR}&x=1`],
  [`${LIST}?limit=5`],
  [`${MARKET}?cursor=${CURSOR}`],
  [`${MARKET}?utm_source=x`],
  [`${LIST}.json?cursor=${CURSOR}`],
  ['/api/v1/latest/all.csv?x'],
  ['/api/v1/latest/0.csv'],
  ['/api/v1/latest.csv'],
  ['/api/v1/log/checkpoint?x'],
  [`${LIST}/none`],
  [`${LIST}/none/history`],
  [`${LIST}/Z`],
  [`${LIST}//z`],
  [`${LIST}%2Fz`],
  [`${LIST}/%7a`],
  [`${LIST}/x/%2e%2e/z`],
  [`${LIST}/`],
  ['/api/v1/exports'],
  ['/api/v1/log'],
  [GONE],
  [`${GONE}.json`],
  [`${GONE}/history`],
  [`${GONE}/history.csv`],
  [`${GONE}.gone.json`],
  ['/errors/404.json'],
  // A folder that git has made has more than what is published.
  ['/.git/config'],
  ['/%2egit/config'],
  ['/'],
  ['/?utm_source=letter'],
  ['/markets'],
  ['/markets/z'],
  ['/markets/z/?x=1'],
  ['/markets/Z'],
  ['/embed/z'],
  ['/embed/z/'],
  ['/embed/z?x=1'],
  ['/embed/b'],
  ['/embed/none'],
  ['/embed/z.json?x=1'],
  ['/badges/z.svg?x=1'],
  ['/feeds/changes.atom?x=1'],
  ['/docs'],
  ['/docs/'],
  ['/docs/guides'],
  ['/docs/reference'],
  ['/docs/guides/paging'],
  ['/docs/guides/paging/'],
  ['/docs/reference/?x=1'],
  ['/market/index.html?slug=z'],
  ['/markets/z.html'],
  ['/markets/b'],
  ['/markets/none'],
  ['/markets/market.html'],
  // No page of its own.
  ['/markets/c'],
  ...['/none', '/a/b/c', '/markets/none', '/markets/b', '/markets/c', '/404.html', `${LIST}/none`, GONE].map(
    (path) => [path, { headers: { Accept: 'text/html,*/*;q=0.8' } }] as const,
  ),
  ['/markets/'],
  ['/problems'],
  ['/problems/'],
  ['/problems/not-found'],
  ['/status'],
  ['/status/'],
  ['/assets'],
  ['/assets/'],
  ['/index'],
  ['/none'],
  [MARKET, { method: 'HEAD' }],
  [MARKET, { method: 'OPTIONS' }],
  ['/markets/z', { method: 'OPTIONS' }],
  [MARKET, { method: 'POST' }],
  ['/api/v1/log/checkpoint', { method: 'PUT' }],
  ['/', { method: 'DELETE' }],
  [MARKET, { headers: { 'If-None-Match': '*' } }],
  ['/', { headers: { 'If-None-Match': '*' } }],
  [MARKET, { headers: { 'If-None-Match': '"x"' } }],
  [MARKET, { headers: { Range: 'bytes=0-9' } }],
  [MARKET, { headers: { Range: 'bytes=-5' } }],
  [MARKET, { headers: { Range: 'bytes=9999999-' } }],
  [MARKET, { headers: { Range: 'bytes=0-1,4-5' } }],
  [MARKET, { headers: { Range: 'lines=1-2' } }],
  [MARKET, { headers: { 'If-Match': '"x"' } }],
  [MARKET, { headers: { 'If-Unmodified-Since': LONG_AGO } }],
  [`${LIST}/none`, { headers: { 'If-Match': '"x"' } }],
  [LIST, { headers: { 'Accept-Encoding': 'gzip' } }],
  [`${MARKET}/history.csv`, { headers: { 'Accept-Encoding': 'gzip' } }],
  ['/', { headers: { 'Accept-Encoding': 'gzip' } }],
  ['/api/v1/log/vkey', { headers: { 'Accept-Encoding': 'gzip' } }],
  [MARKET, { headers: { Range: 'bytes=0-9', 'Accept-Encoding': 'gzip' } }],
  [LIST, { headers: { Range: 'bytes=0-1999', 'Accept-Encoding': 'gzip' } }],
  ['/healthz'],
];

interface Difference {
  readonly of: readonly string[];
  readonly when: (request: string, status: number) => boolean;
  readonly ignored: readonly string[];
  readonly because: string;
}

export const DIFFERENCES: readonly Difference[] = [
  {
    of: ['nginx', 'caddy', 'cloudflare'],
    when: (_, status) => [204, 304, 308, 400, 404].includes(status),
    ignored: ['access-control-expose-headers', 'x-content-type-options'],
    because: 'the answers of our router, and 304, do without them: here each answer has them',
  },
  {
    of: ['nginx', 'caddy', 'cloudflare'],
    when: (_, status) => status === 404,
    ignored: ['cache-control'],
    because: 'a path that can have no file is not told from a file that is missing: both are kept for 15 s',
  },
  {
    of: ['nginx', 'caddy', 'cloudflare'],
    when: (request, status) => status === 404 && !/cursor=| \/(?!api\/).*text\/html/.test(request),
    ignored: ['body'],
    because: 'one file for every 404 names the causes of all',
  },
  {
    of: ['nginx', 'caddy'],
    when: (request) => request === 'GET /markets/Z',
    ignored: ['body'],
    because: 'they do not change letters: the script of the page of any market does',
  },
  {
    of: ['nginx', 'caddy', 'cloudflare'],
    when: (request, status) => status === 410 && request.includes('text/html'),
    ignored: ['body'],
    because:
      'they give the page of any market, whose script says that the market is removed: ours says it without a script',
  },
  {
    of: ['nginx', 'caddy'],
    when: (_, status) => status === 416,
    ignored: ['body', 'cache-control', 'vary'],
    because: 'the range is judged when the fields of the file are set. Content-Range says the length',
  },
  {
    of: ['nginx'],
    when: (request, status) => status === 200 && request.includes('If-Unmodified'),
    ignored: ['status', 'content-type', 'cache-control', 'vary', 'body'],
    because: 'nginx knows the time of a file, and judges the condition',
  },
  {
    of: ['caddy', 'cloudflare'],
    when: (_, status) => status === 412,
    ignored: ['status', 'content-type', 'cache-control', 'vary', 'body'],
    because: 'they judge no If-Match of files',
  },
  {
    of: ['nginx'],
    when: (_, status) => status === 308,
    ignored: ['body', 'content-type'],
    because: 'nginx adds a short text for people',
  },
  {
    of: ['nginx'],
    when: (request, status) => status === 206 && request.startsWith(`GET ${LIST} `) && request.includes('gzip'),
    ignored: ['status', 'content-range', 'compressed', 'body'],
    because: 'nginx gives no part of what it compresses: the whole body, as RFC 9110 allows',
  },
  {
    of: ['caddy'],
    when: (_, status) => status === 416,
    ignored: ['content-type'],
    because: 'Caddy cannot replace this answer of its file server: a short text',
  },
  {
    of: ['cloudflare'],
    when: (request) => / Range |gzip/.test(request),
    ignored: ['status', 'content-type', 'cache-control', 'content-range', 'vary', 'compressed', 'body'],
    because: 'Cloudflare compresses outside of the function, and its files know no ranges',
  },
  {
    of: ['cloudflare'],
    when: (request) => request.includes('%2e'),
    ignored: ['status', 'content-type', 'cache-control', 'vary', 'body'],
    because: 'the platform resolves such a path before the function sees it',
  },
  {
    of: ['cloudflare'],
    when: (request) => request.includes('/healthz'),
    ignored: ['status', 'content-type', 'cache-control', 'vary', 'access-control-allow-origin', 'body'],
    because: 'there is no service',
  },
];
