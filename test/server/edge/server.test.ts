import type { Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import {
  NO_RESOURCE_PROBLEM,
  NOT_FOUND_PROBLEM,
  PROBLEM_CONTENT_TYPE,
} from '../../../contract/problems/edge-problems.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { PurgeTargets } from '../../../publisher/notify/purge.ts';
import type { HealthReport } from '../../../server/edge/answer.ts';
import { ask, CURSOR, type Edge, startEdge } from './edge-fixture.ts';

const GOLD: PublicObjectName = { kind: 'market', slug: 'gold-usd' };
const GOLD_URL = '/api/v1/markets/gold-usd';
const EXPOSED = 'ETag, Age, Link, Cache-Status, Retry-After, Accept-Ranges, Content-Range';
const LARGE = JSON.stringify({ name: 'Gœld, US dollar', data: 'tide'.repeat(1_000) });

describe('the edge', () => {
  let edge: Edge;
  let health: HealthReport | Error;

  beforeEach(async () => {
    health = { healthy: true, body: { status: 'ok' } };
    edge = await startEdge({
      health: () => {
        if (health instanceof Error) throw health;
        return health;
      },
    });
  });
  afterEach(() => edge.close());

  describe('the resources', () => {
    test.each<[string, PublicObjectName, string | undefined]>([
      ['/api/v1/markets', { kind: 'market-list' }, `</api/v1/markets?cursor=${CURSOR}>; rel="next"`],
      [
        `/api/v1/markets?cursor=${CURSOR}`,
        { kind: 'market-list-page', cursor: CURSOR },
        `</api/v1/markets?cursor=${CURSOR}>; rel="next"`,
      ],
      [GOLD_URL, GOLD, undefined],
      [
        `${GOLD_URL}/history`,
        { kind: 'history', slug: 'gold-usd' },
        `<${GOLD_URL}/history?cursor=${CURSOR}>; rel="next"`,
      ],
      [
        `${GOLD_URL}/history?cursor=${CURSOR}`,
        { kind: 'history-page', slug: 'gold-usd', cursor: CURSOR },
        `<${GOLD_URL}/history?cursor=${CURSOR}>; rel="next"`,
      ],
      ['/api/v1/snapshot', { kind: 'snapshot' }, undefined],
    ])('GET %s gives its object, and a Link to the next page where there is one', async (url, name, link) => {
      const body = `{"kind":"${name.kind}"}`;
      edge.objects.put(name, body, link === undefined ? null : CURSOR);
      const reply = await ask(edge, url);
      expect(reply).toMatchObject({ status: 200, body: Buffer.from(body) });
      expect(reply.headers.link).toBe(link);
    });

    test('exactly these fields come with an object', async () => {
      const etag = edge.objects.put(GOLD, '{}');
      const { headers } = await ask(edge, GOLD_URL);
      const { date, connection, 'keep-alive': _, ...fields } = headers;
      expect(Date.parse(date as string)).not.toBeNaN();
      expect(fields).toEqual({
        etag,
        'content-type': 'application/json',
        'content-length': '2',
        'cache-control': 'public, max-age=15, stale-if-error=300',
        vary: 'Accept-Encoding',
        age: '0',
        'cache-status': 'Tidemark; fwd=uri-miss',
        'access-control-allow-origin': '*',
        'accept-ranges': 'bytes',
        'access-control-expose-headers': EXPOSED,
        'x-content-type-options': 'nosniff',
      });
    });

    test('the problem document of a removed market is 410, with the fields of an object', async () => {
      const gone = JSON.stringify({ code: 'market-removed', detail: 'tide'.repeat(1_000) });
      edge.objects.put(GOLD, '{}');
      const before = await ask(edge, GOLD_URL);
      edge.clock.advanceSeconds(15);
      const etag = edge.objects.put(GOLD, gone, null, PROBLEM_CONTENT_TYPE);
      const reply = await ask(edge, GOLD_URL, { 'if-none-match': before.headers.etag as string });
      expect(reply).toMatchObject({ status: 410, body: Buffer.from(gone) });
      expect(reply.headers).toMatchObject({
        etag,
        'content-type': PROBLEM_CONTENT_TYPE,
        'cache-control': 'public, max-age=15, stale-if-error=300',
        'cache-status': 'Tidemark; fwd=stale',
        'access-control-allow-origin': '*',
      });
      edge.clock.advanceSeconds(7);
      expect(await ask(edge, GOLD_URL)).toMatchObject({ status: 410, headers: { age: '7' }, body: Buffer.from(gone) });
      expect(await ask(edge, GOLD_URL, {}, 'HEAD')).toMatchObject({
        status: 410,
        headers: { etag },
        body: Buffer.alloc(0),
      });
      expect(await ask(edge, GOLD_URL, { 'if-none-match': etag })).toMatchObject({
        status: 304,
        body: Buffer.alloc(0),
      });
      const packed = await ask(edge, GOLD_URL, { 'accept-encoding': 'gzip' });
      expect(packed).toMatchObject({ status: 410, headers: { 'content-encoding': 'gzip', etag: `W/${etag}` } });
      expect(gunzipSync(packed.body).toString()).toBe(gone);
      edge.clock.advanceSeconds(8);
      edge.objects.mode = 'unavailable';
      expect(await ask(edge, GOLD_URL)).toMatchObject({ status: 410, body: Buffer.from(gone) });
    });
  });

  describe('Age and Cache-Status', () => {
    test('follow an entry through its life', async () => {
      const etag = edge.objects.put(GOLD, '{}');
      const seen: [string | undefined, string | undefined, number][] = [];
      async function look(headers: Record<string, string> = {}): Promise<void> {
        const reply = await ask(edge, GOLD_URL, headers);
        seen.push([reply.headers.age, reply.headers['cache-status'] as string, reply.status]);
      }
      await look();
      await look();
      edge.clock.advanceSeconds(6.5);
      await look();
      await look({ 'if-none-match': etag });
      edge.clock.advanceSeconds(9);
      await look();
      edge.clock.advanceSeconds(15);
      await look({ 'if-none-match': etag });
      edge.objects.mode = 'unavailable';
      edge.clock.advanceSeconds(57);
      await look();
      edge.clock.advanceSeconds(1);
      await look();
      edge.objects.mode = 'up';
      edge.objects.put(GOLD, '{"new":1}');
      edge.clock.advanceSeconds(5);
      await look();
      edge.objects.remove(GOLD);
      edge.clock.advanceSeconds(15);
      await look();
      edge.clock.advanceSeconds(3);
      await look();
      edge.objects.mode = 'corrupt';
      edge.clock.advanceSeconds(12);
      await look();
      await look();
      expect(seen).toEqual([
        ['0', 'Tidemark; fwd=uri-miss', 200],
        ['0', 'Tidemark; hit; ttl=15', 200],
        ['6', 'Tidemark; hit; ttl=9', 200],
        ['6', 'Tidemark; hit; ttl=9', 304],
        ['0', 'Tidemark; fwd=stale', 200],
        ['0', 'Tidemark; fwd=stale', 304],
        ['57', 'Tidemark; hit; ttl=-42; detail=stale-if-error', 200],
        ['58', 'Tidemark; hit; ttl=-43; detail=stale-if-error', 200],
        ['0', 'Tidemark; fwd=stale', 200],
        ['0', 'Tidemark; fwd=stale', 404],
        ['3', 'Tidemark; hit; ttl=12', 404],
        [undefined, 'Tidemark; detail=retry-later', 503],
        [undefined, 'Tidemark; detail=retry-later', 503],
      ]);
    });

    test('readers at one moment share a fetch', async () => {
      edge.objects.put(GOLD, '{}');
      const gate = Promise.withResolvers<void>();
      edge.objects.gate = gate.promise;
      const accepted: Socket[] = [];
      edge.server.on('connection', (socket) => accepted.push(socket));
      const asking = [ask(edge, GOLD_URL), ask(edge, GOLD_URL), ask(edge, GOLD_URL)];
      await expect.poll(() => accepted.filter(({ bytesRead }) => bytesRead > 0).length).toBe(3);
      gate.resolve();
      const told = (await Promise.all(asking)).map(({ headers }) => headers['cache-status']);
      expect(told).toEqual(Array(3).fill('Tidemark; fwd=uri-miss'));
      expect(edge.objects.reads).toHaveLength(1);
    });
  });

  describe('content codings', () => {
    test.each([
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const)('%s: other bytes, the same content, a weak ETag', async (coding, decompress) => {
      const etag = edge.objects.put(GOLD, LARGE);
      // The first makes the variant, the second finds it.
      for (const attempt of ['made', 'found']) {
        const reply = await ask(edge, GOLD_URL, { 'accept-encoding': coding });
        expect(reply.headers, attempt).toMatchObject({
          'content-encoding': coding,
          etag: `W/${etag}`,
          vary: 'Accept-Encoding',
          'content-length': String(reply.body.length),
        });
        expect(decompress(reply.body).toString(), attempt).toBe(LARGE);
      }
    });

    test.each<[string | undefined, string | undefined]>([
      [undefined, undefined],
      ['', undefined],
      ['GZIP', 'gzip'],
      ['gzip, deflate, br, zstd', 'br'],
      ['*', 'br'],
      ['zstd, deflate', undefined],
      // Weights.
      ['gzip;q=1.0, br;q=0.5', 'gzip'],
      ['gzip;q=0.5, br;q=0.5', 'br'],
      ['gzip;q=0.5, identity', undefined],
      ['identity;q=0.5, gzip;q=0.5', 'gzip'],
      // Weight 0 means not acceptable.
      ['gzip;Q=0', undefined],
      ['GZIP;Q=0, BR;Q=0.5', 'br'],
      ['br;q=0, *', 'gzip'],
      ['gzip;q=0, br;q=0', undefined],
      ['identity;q=0, *', 'br'],
      ['*;q=0, gzip', 'gzip'],
      ['*;q=0, identity;q=0.1', undefined],
      // Nothing is acceptable: the field is disregarded. Nonsense is, too.
      ['identity;q=0, deflate', undefined],
      [';;;', undefined],
      ['gzip;q=x', undefined],
    ])('Accept-Encoding %j: %s', async (acceptEncoding, coding) => {
      edge.objects.put(GOLD, LARGE);
      const { headers } = await ask(
        edge,
        GOLD_URL,
        acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding },
      );
      expect(headers['content-encoding']).toBe(coding);
    });

    test.each<[string, number, string, string | undefined]>([
      ['br', 999, 'application/json', undefined],
      ['br', 1_000, 'application/json', 'br'],
      ['br', 10_000_001, 'application/json', undefined],
      // Unless plain bytes are refused.
      ['identity;q=0, gzip', 10, 'application/json', 'gzip'],
      ['br', 2_000, 'text/csv; charset=utf-8', 'br'],
      ['br', 2_000, 'application/octet-stream', undefined],
      ['br', 2_000, 'application/vnd.apache.parquet', undefined],
    ])('Accept-Encoding %j, %d bytes of %s: %s', async (acceptEncoding, sizeBytes, contentType, coding) => {
      const etag = edge.objects.put(GOLD, 'x'.repeat(sizeBytes), null, contentType);
      const { headers } = await ask(edge, GOLD_URL, { 'accept-encoding': acceptEncoding });
      expect([headers['content-encoding'], headers.etag]).toEqual([coding, coding === undefined ? etag : `W/${etag}`]);
    });

    test('a revalidated entry keeps its variants, a changed one makes its own', async () => {
      edge.objects.put(GOLD, LARGE);
      const first = await ask(edge, GOLD_URL, { 'accept-encoding': 'br' });
      edge.clock.advanceSeconds(15);
      const second = await ask(edge, GOLD_URL, { 'accept-encoding': 'br' });
      edge.objects.put(GOLD, LARGE.replace('tide', 'mark'));
      edge.clock.advanceSeconds(15);
      const third = await ask(edge, GOLD_URL, { 'accept-encoding': 'br' });
      expect(second.body).toEqual(first.body);
      expect(brotliDecompressSync(third.body).toString()).toBe(LARGE.replace('tide', 'mark'));
    });
  });

  describe('If-None-Match', () => {
    test.each([
      ['the tag', (etag: string) => etag],
      ['the weak tag', (etag: string) => `W/${etag}`],
      ['a list with the tag', (etag: string) => `"x", ${etag}`],
      ['any', () => '*'],
    ])('%s: 304 without a body, fresh or not, plain or compressed', async (_title, field) => {
      const etag = edge.objects.put({ kind: 'market-list' }, LARGE, CURSOR);
      for (const coding of ['identity', 'br']) {
        edge.clock.advanceSeconds(15);
        for (const attempt of ['asks the store', 'hits']) {
          const headers = { 'if-none-match': field(etag), 'accept-encoding': coding };
          const reply = await ask(edge, '/api/v1/markets', headers);
          expect(reply, attempt).toMatchObject({ status: 304, body: Buffer.alloc(0) });
          const { date, connection, 'keep-alive': _keepAlive, 'cache-status': _cacheStatus, ...fields } = reply.headers;
          expect(fields, attempt).toEqual({
            etag: coding === 'br' ? `W/${etag}` : etag,
            'cache-control': 'public, max-age=15, stale-if-error=300',
            vary: 'Accept-Encoding',
            age: '0',
            link: `</api/v1/markets?cursor=${CURSOR}>; rel="next"`,
            'access-control-allow-origin': '*',
            'access-control-expose-headers': EXPOSED,
          });
        }
      }
    });
  });

  describe('HEAD has the fields of GET and no body', () => {
    test.each([
      ['an object', GOLD_URL, {}],
      ['a compressed object', GOLD_URL, { 'accept-encoding': 'br' }],
      ['304', GOLD_URL, { 'if-none-match': '*' }],
      ['an absent object', '/api/v1/markets/no-such', {}],
      ['an answer of the router', '/nowhere', {}],
      ['healthz', '/healthz', {}],
    ])('%s', async (_title, url, headers) => {
      edge.objects.put(GOLD, LARGE);
      // Twice, so that both come from the cache.
      await ask(edge, url, headers);
      const get = await ask(edge, url, headers);
      const head = await ask(edge, url, headers, 'HEAD');
      expect(head.status).toBe(get.status);
      expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' });
      expect(head.body.length).toBe(0);
    });
  });

  describe('problems', () => {
    test('404 of an absent object may be cached as briefly as an object', async () => {
      const reply = await ask(edge, '/api/v1/markets/no-such');
      expect(reply.status).toBe(404);
      expect(reply.body.toString()).toBe(canonicalJson(NO_RESOURCE_PROBLEM as unknown as Json));
      expect(reply.headers).toMatchObject({
        'content-type': 'application/problem+json',
        'cache-control': 'public, max-age=15',
        'access-control-allow-origin': '*',
        'x-content-type-options': 'nosniff',
        age: '0',
      });
    });

    test.each([
      `/api/v1/markets?cursor=7-${'0'.repeat(32)}`,
      `/api/v1/markets/gold-usd/history/pages/7-${'0'.repeat(32)}.json`,
    ])('404 of a page says what to do about its cursor: %s', async (url) => {
      const reply = await ask(edge, url);
      expect([reply.status, JSON.parse(reply.body.toString())]).toEqual([404, NOT_FOUND_PROBLEM]);
      expect(NOT_FOUND_PROBLEM.detail).toContain('cursor');
    });

    test.each([
      ['GET', '/api/v1/markets?cursor=x', 400, 'invalid-cursor'],
      ['DELETE', GOLD_URL, 405, 'method-not-allowed'],
      ['POST', '/healthz', 405, 'method-not-allowed'],
      ['GET', '/healthz/', 404, 'not-found'],
    ])('%s %.40s: %d %s from the router, without asking the store', async (method, url, status, code) => {
      const reply = await ask(edge, url, {}, method);
      expect(reply.status).toBe(status);
      expect(JSON.parse(reply.body.toString())).toMatchObject({ status, code });
      expect(reply.headers['content-type']).toBe('application/problem+json');
      expect(reply.headers.allow).toBe(status === 405 ? 'GET, HEAD, OPTIONS' : undefined);
      expect(edge.objects.reads).toEqual([]);
    });

    test.each(['unavailable', 'corrupt', 'hangs'] as const)(
      'a store that is %s: 503 and when to retry',
      async (mode) => {
        await edge.close();
        edge = await startEdge({ limits: { originDeadlineMs: 50 } });
        edge.objects.mode = mode;
        const reply = await ask(edge, GOLD_URL);
        expect(reply.status).toBe(503);
        expect(reply.headers).toMatchObject({
          ...{ 'retry-after': '5', 'cache-control': 'no-store', 'access-control-expose-headers': EXPOSED },
        });
        expect(JSON.parse(reply.body.toString())).toMatchObject({ code: 'origin-unavailable' });
        edge.clock.advanceSeconds(3);
        expect((await ask(edge, GOLD_URL)).headers['retry-after']).toBe('2');
        expect(edge.objects.reads).toHaveLength(1);
        expect(edge.reports).toHaveLength(1);
      },
    );

    test('before it is ready, all requests but the health check are 503, which is not cached', async () => {
      await edge.close();
      let ready = false;
      edge = await startEdge({ isReady: () => ready });
      edge.objects.put(GOLD, '{}');
      const requests = [GOLD_URL, '/api/v1/markets/no-such', '/nowhere'].flatMap((url) =>
        ['GET', 'HEAD', 'OPTIONS', 'POST'].map((method) => ({ url, method })),
      );
      for (const { url, method } of requests) {
        const reply = await ask(edge, url, {}, method);
        expect(reply.status).toBe(503);
        expect(reply.headers).toMatchObject({
          'retry-after': '2',
          'cache-control': 'no-store',
          'content-type': 'application/problem+json',
          'access-control-allow-origin': '*',
        });
        if (method !== 'HEAD') expect(JSON.parse(reply.body.toString())).toMatchObject({ code: 'origin-unavailable' });
      }
      expect((await ask(edge, '/healthz')).status).toBe(200);
      expect(edge.objects.reads).toEqual([]);
      expect(edge.reports).toEqual([]);
      ready = true;
      expect((await ask(edge, GOLD_URL)).status).toBe(200);
      expect((await ask(edge, '/nowhere')).status).toBe(404);
    });
  });

  describe('GET /healthz', () => {
    test.each([
      [true, 200],
      [false, 503],
    ])('healthy %s: %d, with the body of the callback', async (healthy, status) => {
      health = { healthy, body: { generation: 7, lag: null } };
      const reply = await ask(edge, '/healthz');
      expect(reply.status).toBe(status);
      expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' });
      expect(JSON.parse(reply.body.toString())).toEqual({ generation: 7, lag: null });
    });

    test('a fault of the edge itself: 500, reported, and nothing of it shown', async () => {
      health = new Error('secret of the callback');
      const reply = await ask(edge, '/healthz');
      expect(reply.status).toBe(500);
      expect(JSON.parse(reply.body.toString())).toMatchObject({ code: 'internal-error' });
      expect(reply.body.toString()).not.toContain('secret');
      expect(edge.reports).toEqual([health]);
    });
  });

  describe('a purge', () => {
    const SILVER_URL = '/api/v1/markets/silver-usd';

    test.each<[string, PurgeTargets, readonly string[]]>([
      ['by the tag of a market drops its body and its history', { tags: ['gold-usd'] }, ['gold', 'history']],
      ['by several tags drops what carries any', { tags: ['silver-usd', 'markets'] }, ['silver', 'list']],
      ['by the tag of nothing drops nothing', { tags: ['copper-usd'] }, []],
      ['of everything drops all', 'everything', ['gold', 'history', 'silver', 'list']],
    ])('%s', async (_title, targets, dropped) => {
      const purged = await startEdge({});
      const urls = { gold: GOLD_URL, history: `${GOLD_URL}/history`, silver: SILVER_URL, list: '/api/v1/markets' };
      const names: { readonly [name in keyof typeof urls]: PublicObjectName } = {
        gold: { kind: 'market', slug: 'gold-usd' },
        history: { kind: 'history', slug: 'gold-usd' },
        silver: { kind: 'market', slug: 'silver-usd' },
        list: { kind: 'market-list' },
      };
      const look = async () => {
        const bodies = await Promise.all(
          Object.values(urls).map(async (url) => (await ask(purged, url)).body.toString()),
        );
        return Object.keys(urls).filter((_, place) => bodies[place] === '"new"');
      };
      for (const name of Object.values(names)) purged.objects.put(name, '"old"');
      expect(await look()).toEqual([]);
      for (const name of Object.values(names)) purged.objects.put(name, '"new"');
      purged.purge(targets);
      expect(await look()).toEqual(dropped);
      await purged.close();
    });
  });

  test('a change that the edge is told is answered at once, also where the same was asked again and again', async () => {
    for (let version = 1; version <= 3; version++) {
      edge.objects.put(GOLD, `"${version}"`);
      edge.invalidate(publicKey(GOLD));
      // One connection for all, so that the lane meets equal requests again.
      const read = async () => await (await fetch(`http://127.0.0.1:${edge.port}${GOLD_URL}`)).text();
      for (let time = 0; time < 4; time++) expect(await read()).toBe(`"${version}"`);
    }
    expect(edge.objects.reads).toHaveLength(3);
  });
});
