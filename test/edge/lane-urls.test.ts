/** The fast lane does not ask whether a request is for another handler on the port. So none of its URLs may be. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { publicReadOperations } from '../../contract/operations/public-reads.ts';
import { loadRouter } from '../../embedded/edge/router-sandbox.ts';
import { MIRROR_URL } from '../../embedded/mirror/mirror-document.ts';
import { WRITE_RESOURCES } from '../../lambdas/pipeline/route.ts';
import { isWritePath } from '../../lambdas/pipeline/write-paths.ts';

const route = loadRouter();

const isTaken = (method: string, url: string): boolean => {
  const routed = route(method, url);
  return routed.kind === 'object' && routed.isPublishable;
};

test('property: no URL of an object that can be published belongs to another handler', () => {
  const part = fc.oneof(
    fc.constantFrom('markets', 'removal', 'gold-usd', 'history', 'log', 'exports', 'faces', 'latest', 'index'),
    fc.constantFrom('watchlists', 'me', 'ingest', 'batches', 'waitlist', 'uploads', 'r%65moval', '2026', ''),
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
