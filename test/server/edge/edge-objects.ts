/** Objects of every size and kind, by URL. */
import { PROBLEM_CONTENT_TYPE } from '../../../contract/problems/edge-problems.ts';
import { CURSOR, type Edge } from './edge-fixture.ts';

const json = (bytes: number) => `{"text":"${'Märkte, tide '.repeat(bytes / 14)}"}`;
const SITE_HTML = '<!doctype html>\n<title>Märkte</title>\n'.repeat(60);

/** The bodies by URL. Sizes on both sides of every bound: of compression, of texts that are kept as strings. */
export const BODIES: { readonly [url: string]: string } = {
  '/api/v1/markets/gold-usd': '{"slug":"gold-usd"}',
  '/api/v1/markets': json(2_000),
  [`/api/v1/markets?cursor=${CURSOR}`]: json(3_000),
  '/api/v1/markets/gold-usd/history': json(20_000),
  [`/api/v1/markets/gold-usd/history?cursor=${CURSOR}`]: 'x'.repeat(999),
  '/api/v1/markets/gold-usd/history.csv': 'day,value\n'.repeat(300),
  '/api/v1/markets/removed': '{"status":410}',
  '/api/v1/markets/empty': '',
  '/api/v1/markets/at-1000': 'x'.repeat(1_000),
  '/api/v1/markets/at-16384': 'x'.repeat(16_384),
  '/api/v1/markets/at-16385': 'y'.repeat(16_385),
  // Looks like the beginning of the next answer.
  '/api/v1/markets/answer': '\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  '/api/v1/snapshot': `{"text":"${'tide'.repeat(300_000)}"}`,
  '/api/v1/log/tile/0/000': '\0\xff'.repeat(2_000),
  '/': SITE_HTML,
  '/docs/guides/log': SITE_HTML,
  '/assets/explorer.js': `${SITE_HTML};`,
};

export function putObjects({ objects }: Edge): void {
  const body = (url: string) => BODIES[url] as string;
  const gold = '/api/v1/markets/gold-usd';
  for (const slug of ['gold-usd', 'empty', 'at-1000', 'at-16384', 'at-16385', 'answer']) {
    objects.put({ kind: 'market', slug }, body(`/api/v1/markets/${slug}`));
  }
  objects.put({ kind: 'market', slug: 'removed' }, body('/api/v1/markets/removed'), null, PROBLEM_CONTENT_TYPE);
  objects.put({ kind: 'market-list' }, body('/api/v1/markets'), CURSOR);
  objects.put({ kind: 'market-list-page', cursor: CURSOR }, body(`/api/v1/markets?cursor=${CURSOR}`), CURSOR);
  objects.put({ kind: 'history', slug: 'gold-usd' }, body(`${gold}/history`), CURSOR);
  objects.put({ kind: 'history-page', slug: 'gold-usd', cursor: CURSOR }, body(`${gold}/history?cursor=${CURSOR}`));
  objects.put({ kind: 'history-csv', slug: 'gold-usd' }, body(`${gold}/history.csv`), null, 'text/csv; charset=utf-8');
  objects.put({ kind: 'snapshot' }, body('/api/v1/snapshot'));
  objects.put({ kind: 'log-tile', tile: '0/000' }, body('/api/v1/log/tile/0/000'), null, 'application/octet-stream');
  const html = 'text/html; charset=utf-8';
  objects.put({ kind: 'site-page', file: 'index.html' }, body('/'), null, html);
  objects.put({ kind: 'site-page', file: 'docs/guides/log.html' }, body('/docs/guides/log'), null, html);
  objects.put(
    { kind: 'site-script', file: 'assets/explorer.js' },
    body('/assets/explorer.js'),
    null,
    'text/javascript',
  );
}
