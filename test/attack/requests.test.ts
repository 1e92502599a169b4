/** Requests that are framed or addressed so that two parties may understand them differently. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CURSOR, converse, type Edge, parseReply, startEdge } from '../server/edge/edge-fixture.ts';

const GOLD = '/api/v1/markets/gold-usd';
const CLOSE = 'Connection: close\r\n\r\n';

describe('the edge', () => {
  let edge: Edge;

  beforeAll(async () => {
    edge = await startEdge({});
    edge.objects.put({ kind: 'market', slug: 'gold-usd' }, '{}');
    edge.objects.put({ kind: 'market-list-page', cursor: CURSOR }, '{}');
  });
  afterAll(() => edge.close());

  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

  describe('the Host of a request is a host', () => {
    test.each([
      ['localhost', 200],
      ['LOCALHOST:8787', 200],
      ['a:', 200],
      ['127.0.0.1:1', 200],
      ['[::1]', 200],
      ['[::ffff:127.0.0.1]:80', 200],
      ['a%2db', 200],
      ["a!$&'()*+,;=_~b", 200],
      ['a:b', 400],
      ['a:1:2', 400],
      ['[', 400],
      ['[]', 400],
      ['[::1', 400],
      ['::1', 400],
      ['[::1]x', 400],
      ['[1]', 400],
      ['[fe80::1%25eth0]', 400],
      ['%zz', 400],
      ['a%2', 400],
      ['user@host', 400],
      ['a/b', 400],
      ['a?b', 400],
      ['a#b', 400],
      ['a b', 400],
      ['a\\b', 400],
      ['h\xf6st', 400],
    ])('%j: %d, and so in an absolute URL', async (host, status) => {
      expect(statuses(await converse(edge, `GET ${GOLD} HTTP/1.1\r\nHost: ${host}\r\n${CLOSE}`))).toEqual([status]);
      // In a URL, these characters end the host; a space ends the URL.
      if (/[/?# ]/.test(host)) return;
      const absolute = `GET http://${host}${GOLD} HTTP/1.1\r\nHost: localhost\r\n${CLOSE}`;
      expect(statuses(await converse(edge, absolute))).toEqual([status]);
    });

    test.each(['http://user@localhost', 'http://user:secret@localhost', 'https://@localhost', 'http://', 'http://:x'])(
      'the absolute URL %s is refused',
      async (origin) => {
        const text = await converse(edge, `GET ${origin}${GOLD} HTTP/1.1\r\nHost: localhost\r\n\r\nGET ${GOLD}`);
        expect(statuses(text)).toEqual([400]);
        expect(parseReply(text).headers.connection).toBe('close');
      },
    );
  });

  describe('needless percent-encoding names the same thing, and nothing else does', () => {
    test.each([
      ['/api/v1/markets/gold%2Dusd', 200],
      ['/api/v1/markets/gold%2dusd', 200],
      ['/%61pi/v1/markets/%67old-usd', 200],
      [`/api/v1/markets?cursor=${CURSOR.replace('-', '%2D')}`, 200],
      [`/api/v1/markets?%63ursor=${CURSOR}`, 200],
      ['/api/v1/markets/gold%252Dusd', 404],
      ['/api/v1/markets%2Fgold-usd', 404],
      ['/api/v1/markets/%2e%2e/markets', 404],
      ['/api/v1/markets/%47old-usd', 404],
      [`/api/v1/markets?cursor=${CURSOR}%0A`, 400],
      [`/api/v1/markets?cursor=${CURSOR}&%63ursor=${CURSOR}`, 400],
    ])('%s: %d', async (url, status) => {
      expect(statuses(await converse(edge, `GET ${url} HTTP/1.1\r\nHost: a\r\n${CLOSE}`))).toEqual([status]);
    });
  });
});
