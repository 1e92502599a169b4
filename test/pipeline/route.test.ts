import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { OPERATIONS, type OperationId, operationOf } from '../../contract/operations/operations.ts';
import { publicReadOperations } from '../../contract/operations/reads/public-reads.ts';
import { route, WRITE_RESOURCES } from '../../lambdas/pipeline/route.ts';
import { isWritePath } from '../../lambdas/pipeline/write-paths.ts';

const IDS = Object.keys(OPERATIONS) as OperationId[];
const publicReads = Object.values(publicReadOperations);

describe('route', () => {
  it.each(IDS)('finds %s by its method and path, with its parameters decoded', (id) => {
    const { method, path } = operationOf(id);
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    const params = Object.fromEntries(names.map((name) => [name, `a/b %${name}é`]));
    const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name) => encodeURIComponent(params[name] as string));
    expect(route(method, filled)).toEqual({ kind: 'operation', operation: id, params });
  });

  it.each(publicReads)('does not find the public read $path', ({ path }) => {
    expect(route('GET', path.replaceAll(/\{\w+\}/g, 'x')).kind).toBe('unknown');
  });

  it('names the methods of a path, for those that it has not', () => {
    expect(route('PATCH', '/api/v1/watchlists')).toEqual({
      kind: 'other-method',
      allow: ['GET', 'HEAD', 'POST', 'OPTIONS'],
    });
    expect(route('POST', '/api/v1/me')).toEqual({ kind: 'other-method', allow: ['GET', 'HEAD', 'OPTIONS'] });
  });

  it.each([
    '/api/v1/watchlists/%',
    '/api/v1/watchlists/%zz',
    '/api/v1/watchlists/%ff',
    '/api/v1/watchlists/%ED%A0%80',
    '/api/v1/watchlists/a/b/c/d',
    '/api/v1/watchlists/a/markets',
    '/api/v1/Watchlists',
    '/api/v1/watchlists%2Fa',
    'api/v1/watchlists',
    '//api/v1/watchlists',
    '/api/v1/__proto__',
    '',
  ])('finds nothing at %j', (path) => {
    expect(route('GET', path)).toEqual({ kind: 'unknown' });
  });

  test('takes a parameter as one segment, with any content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
        const routed = route('GET', `/api/v1/watchlists/${encodeURIComponent(id)}`);
        expect(routed).toEqual({ kind: 'operation', operation: 'getWatchlist', params: { id } });
      }),
    );
  });

  test('never throws, and never sends a request to an operation of another method', () => {
    const parts = fc.array(fc.oneof(fc.constantFrom('api', 'v1', 'watchlists', 'claims', 'markets', '%'), fc.string()));
    fc.assert(
      fc.property(fc.constantFrom('GET', 'PUT', 'PATCH', '__proto__', ''), parts, (method, list) => {
        const routed = route(method, `/${list.join('/')}`);
        if (routed.kind === 'operation') expect(operationOf(routed.operation).method).toBe(method);
      }),
    );
  });
});

test('needless percent-encoding names the same path', () => {
  expect(isWritePath('/api/v1/watch%6Cists', WRITE_RESOURCES)).toBe(true);
  expect(route('GET', '/api/v1/watch%6cists')).toEqual(route('GET', '/api/v1/watchlists'));
  expect(route('GET', '/api/v1/watchlists%2F')).toEqual({ kind: 'unknown' });
});

describe('the paths of the write API', () => {
  it.each(IDS)('is true of every path of %s, and below its resource', (id) => {
    const path = operationOf(id).path.replaceAll(/\{\w+\}/g, 'x');
    for (const each of [path, `${path}/x`]) expect([each, isWritePath(each, WRITE_RESOURCES)]).toEqual([each, true]);
  });

  it.each([
    ...publicReads.map(({ path }) => path.replaceAll(/\{\w+\}/g, 'x')),
    '/',
    '/api/v1/',
    '/api/v1',
    '/api/v1/watch',
    '/api/v1/watchlistss',
    '/API/v1/watchlists',
    '/api/v2/watchlists',
  ])('is false of %s', (path) => {
    expect(isWritePath(path, WRITE_RESOURCES)).toBe(false);
  });
});
