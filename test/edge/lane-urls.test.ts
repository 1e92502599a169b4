/** The fast lane does not ask whether a request is for another handler on the port. So none of its URLs may be. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { publicReadOperations } from '../../contract/operations/public-reads.ts';
import { loadRouter } from '../../embedded/edge/router-sandbox.ts';
import { MIRROR_URL } from '../../embedded/mirror/mirror-document.ts';
import { WRITE_RESOURCES } from '../../lambdas/pipeline/route.ts';
import { isWritePath } from '../../lambdas/pipeline/write-paths.ts';
import { LANES, startEdge } from './edge-fixture.ts';
import { RawClient } from './twin-edges.ts';

const route = loadRouter();

const isTaken = (method: string, url: string): boolean => {
  const routed = route(method, url);
  return routed.kind === 'object' && routed.isPublishable;
};

test('property: no URL of an object that can be published belongs to another handler', () => {
  const part = fc.oneof(
    fc.constantFrom(
      'markets',
      'editions',
      'removal',
      'gold-usd',
      'history',
      'log',
      'exports',
      'faces',
      'latest',
      'index',
    ),
    fc.constantFrom(
      'watchlists',
      'me',
      'ingest',
      'batches',
      'waitlist',
      'uploads',
      'r%65moval',
      'edition%73',
      '2026',
      '',
    ),
  );
  const url = fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 6 }), fc.constantFrom('', '?', '?cursor=x', '.csv', '.json', '/'))
    .map(([parts, end]) => `/api/v1/${parts.join('/')}${end}`);
  fc.assert(
    fc.property(fc.constantFrom('GET', 'HEAD'), url, (method, each) => {
      if (isTaken(method, each))
        expect([each, isWritePath(each.split('?')[0] as string, WRITE_RESOURCES)]).toEqual([each, false]);
    }),
    { numRuns: 5_000 },
  );
  expect(isTaken('GET', MIRROR_URL)).toBe(false);
});

test.each(Object.values(publicReadOperations).map(({ path }) => path))('%s is a URL for the lane', (path) => {
  const example: Record<string, string> = {
    ...{
      slug: 'gold-usd',
      year: '2026',
      date: '2026-11-22',
      name: '2026-q3',
      code: 'eur',
      level: '0',
      n: '000',
      width: '5',
    },
    file: `markets-0001-${'0'.repeat(64)}`,
  };
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name) => example[name] as string);
  expect([url, route('GET', url).kind, isTaken('GET', url)]).toEqual([url, 'object', true]);
});

test.each(LANES)('%s, a read below an edition that is for another handler reaches it', async (_title, fastLane) => {
  const edge = await startEdge({
    fastLane,
    divert: ({ url }) =>
      isWritePath(url as string, WRITE_RESOURCES)
        ? async (_, response) => {
            response.writeHead(405, { 'content-length': 5 });
            response.end('write');
          }
        : null,
  });
  const client = await RawClient.open(edge);
  await client.send('GET /api/v1/editions/2026-q3/removal HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.waitFor(() => client.text.includes('\r\n\r\n'));
  client.socket.destroy();
  await edge.close();
  expect(client.text).toMatch(/^HTTP\/1\.1 405 .*\r\n\r\nwrite$/s);
  expect(edge.objects.reads).toEqual([]);
});
