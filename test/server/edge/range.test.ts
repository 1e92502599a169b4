import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PublicObjectName } from '../../../contract/files/public-objects.ts';
import { PROBLEM_CONTENT_TYPE } from '../../../contract/problems/edge-problems.ts';
import { ask, converse, type Edge, parseReply, startEdge } from './edge-fixture.ts';

const GOLD: PublicObjectName = { kind: 'market', slug: 'gold-usd' };
const URL = '/api/v1/markets/gold-usd';
/** Compressible, and not ASCII. */
const LARGE = `Gœld ${'0123456789'.repeat(2_000)} é`;

describe('the edge', () => {
  let edge: Edge;
  beforeEach(async () => {
    edge = await startEdge({});
  });
  afterEach(() => edge.close());

  describe('one range', () => {
    const bytes = Buffer.from(LARGE);
    const size = bytes.length;

    test.each<[range: string, first: number, last: number]>([
      ['bytes=0-0', 0, 0],
      ['bytes=7-', 7, size - 1],
      ['bytes=-3', size - 3, size - 1],
      [`bytes=${size - 1}-`, size - 1, size - 1],
      [`bytes=1-${size + 1_000}`, 1, size - 1],
      [`bytes=-${size + 1_000}`, 0, size - 1],
      [`bytes=-${'9'.repeat(400)}`, 0, size - 1],
      ['BYTES=2-5', 2, 5],
      ['bytes= , 2-5 ,', 2, 5],
    ])('%s is 206 with these bytes', async (range, first, last) => {
      const etag = edge.objects.put(GOLD, LARGE);
      for (const how of ['fetched', 'from memory']) {
        const reply = await ask(edge, URL, { range, 'accept-encoding': 'br, gzip' });
        expect(reply, how).toMatchObject({ status: 206, body: bytes.subarray(first, last + 1) });
        expect(reply.headers, how).toMatchObject({
          etag,
          'content-range': `bytes ${first}-${last}/${size}`,
          'content-length': String(last - first + 1),
          'content-type': 'application/json',
          'accept-ranges': 'bytes',
          'cache-control': 'public, max-age=15, stale-if-error=300',
          'cache-status': how === 'fetched' ? 'Tidemark; fwd=uri-miss' : 'Tidemark; hit; ttl=15',
          vary: 'Accept-Encoding',
          age: '0',
        });
        expect(reply.headers['content-encoding'], how).toBeUndefined();
      }
    });

    test.each([`bytes=${size}-`, `bytes=${size}-${size + 1}`, 'bytes=-0', 'bytes=99999999999999999999-'])(
      '%s is 416, with the size',
      async (range) => {
        edge.objects.put(GOLD, LARGE);
        const reply = await ask(edge, URL, { range });
        expect(reply.headers).toMatchObject({
          'content-range': `bytes */${size}`,
          'accept-ranges': 'bytes',
          'content-type': PROBLEM_CONTENT_TYPE,
          'cache-control': 'no-store',
        });
        expect([reply.status, JSON.parse(reply.body.toString()).code]).toEqual([416, 'range-not-satisfiable']);
      },
    );
  });

  test.each([
    ['several ranges', 'bytes=0-1,4-5'],
    ['many ranges', `bytes=${'0-,'.repeat(1_000)}0-`],
    ['an end before the start', 'bytes=5-2'],
    ['no number', 'bytes=-'],
    ['nothing', 'bytes='],
    ['an empty field', ''],
    ['another unit', 'items=0-5'],
    ['no unit', '0-5'],
    ['hexadecimal', 'bytes=0x1-0x5'],
    ['white space before the sign', 'bytes =1-5'],
  ])('%s: the whole body, compressed as without a Range', async (_case, range) => {
    edge.objects.put(GOLD, LARGE);
    const reply = await ask(edge, URL, { range, 'accept-encoding': 'gzip' });
    expect(reply).toMatchObject({ status: 200, headers: { 'content-encoding': 'gzip' } });
    expect(reply.headers['content-range']).toBeUndefined();
  });

  test('two Range fields: the whole body', async () => {
    edge.objects.put(GOLD, LARGE);
    const fields = 'Host: a\r\nRange: bytes=0-1\r\nRange: bytes=3-4\r\nConnection: close';
    expect(parseReply(await converse(edge, `GET ${URL} HTTP/1.1\r\n${fields}\r\n\r\n`)).status).toBe(200);
  });

  test('a client that accepts no plain bytes gets the whole body', async () => {
    edge.objects.put(GOLD, LARGE);
    const headers = { range: 'bytes=0-1', 'accept-encoding': 'gzip, identity;q=0' };
    expect(await ask(edge, URL, headers)).toMatchObject({ status: 200, headers: { 'content-encoding': 'gzip' } });
  });

  describe('conditions come first', () => {
    test('If-Range takes the strong ETag alone', async () => {
      const etag = edge.objects.put(GOLD, LARGE);
      const asked = async (ifRange: string) =>
        (await ask(edge, URL, { range: 'bytes=0-3', 'if-range': ifRange })).status;
      expect(await asked(etag)).toBe(206);
      const wrong = [`W/${etag}`, '"other"', '*', etag.slice(1, -1), `${etag}, ${etag}`, ''];
      for (const value of [...wrong, 'Sat, 21 Nov 2026 12:00:00 GMT']) expect(await asked(value), value).toBe(200);
    });

    test('If-Match comes before all others: 412 unless it has the strong ETag, so the parts of a download are of one body', async () => {
      const etag = edge.objects.put(GOLD, LARGE);
      const asked = async (ifMatch: string, more: Record<string, string> = {}, url = URL) =>
        (await ask(edge, url, { 'if-match': ifMatch, ...more })).status;
      for (const right of [etag, '*', `"other", ${etag}`]) expect(await asked(right), right).toBe(200);
      for (const wrong of [`W/${etag}`, '"other"', etag.slice(1, -1), '']) expect(await asked(wrong), wrong).toBe(412);
      const range = { range: 'bytes=0-3' };
      expect([await asked(etag, range), await asked('"old"', range)]).toEqual([206, 412]);
      expect(await asked('"old"', { 'if-none-match': etag })).toBe(412);
      expect(await asked('"old"', {}, '/api/v1/markets/no-such')).toBe(404);
      const refused = await ask(edge, URL, { 'if-match': '"old"' });
      expect(refused.headers).toMatchObject({ 'content-type': PROBLEM_CONTENT_TYPE, 'cache-control': 'no-store' });
    });

    test.each(['bytes=0-3', 'bytes=900000-'])('If-None-Match before %s: 304, without a range', async (range) => {
      const etag = edge.objects.put(GOLD, LARGE);
      const reply = await ask(edge, URL, { range, 'if-none-match': etag });
      expect(reply).toMatchObject({ status: 304, headers: { etag }, body: Buffer.alloc(0) });
      expect(reply.headers['content-range']).toBeUndefined();
      const other = await ask(edge, URL, { range: 'bytes=0-3', 'if-none-match': '"other"' });
      expect(other).toMatchObject({ status: 206, body: Buffer.from(LARGE).subarray(0, 4) });
    });
  });

  test.each(['bytes=0-3', 'bytes=900000-'])('HEAD knows no ranges: %s', async (range) => {
    edge.objects.put(GOLD, LARGE);
    const reply = await ask(edge, URL, { range }, 'HEAD');
    expect(reply).toMatchObject({ status: 200, headers: { 'accept-ranges': 'bytes' }, body: Buffer.alloc(0) });
    expect(reply.headers['content-length']).toBe(String(Buffer.from(LARGE).length));
  });

  test('only a 200 has ranges: no removed market, no missing one, no answer of the router', async () => {
    edge.objects.put(GOLD, LARGE, null, PROBLEM_CONTENT_TYPE);
    const range = 'bytes=0-3';
    expect(await ask(edge, URL, { range })).toMatchObject({ status: 410, body: Buffer.from(LARGE) });
    expect((await ask(edge, '/api/v1/markets/none', { range })).status).toBe(404);
    expect((await ask(edge, '/nowhere', { range })).status).toBe(404);
    expect((await ask(edge, '/healthz', { range })).status).toBe(200);
  });
});
