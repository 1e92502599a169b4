/** Requests that are framed or addressed so that two parties may understand them differently. */
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CURSOR, converse, type Edge, LANES, parseReply, startEdge } from '../edge/edge-fixture.ts';

const GOLD = '/api/v1/markets/gold-usd';
const CLOSE = 'Connection: close\r\n\r\n';

describe.each(LANES)('%s', (_lane, fastLane) => {
  let edge: Edge;

  beforeAll(async () => {
    edge = await startEdge({ fastLane });
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

  describe('HTTP/1.0 has no Transfer-Encoding', () => {
    test.each(['GET', 'POST', 'OPTIONS'])('%s: 400, and nothing that follows is a request', async (method) => {
      const hidden = `GET ${GOLD} HTTP/1.1\r\nHost: a\r\n\r\n`;
      const head = `${method} ${GOLD} HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n`;
      const text = await converse(edge, `${head}0\r\n\r\n${hidden}`);
      expect(statuses(text)).toEqual([400]);
      expect(parseReply(text).headers.connection).toBe('close');
    });
  });

  describe('a later minor version is processed as HTTP/1.1', () => {
    const later = `GET ${GOLD} HTTP/1.2\r\nHost: a\r\n\r\n`;

    test.each([
      ['alone', later, [200]],
      ['the last known minor version', later.replace('1.2', '1.9'), [200]],
      [
        'asked to go on, it is the last of its connection',
        later.replace('\r\n\r\n', '\r\nConnection: keep-alive\r\n\r\n') + later,
        [200],
      ],
      ['what follows it in HTTP/1.1 is not answered either', later + later.replace('1.2', '1.1'), [200]],
      ['after an answered request', `GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n${later}`, [404, 200]],
      ['it has the rules of HTTP/1.1: a Host', `GET ${GOLD} HTTP/1.2\r\n\r\n`, [400]],
      ['and no body here', later.replace('\r\n\r\n', '\r\nContent-Length: 3\r\n\r\nabc'), [413]],
      ['two digits are no version', later.replace('1.2', '1.12'), [400]],
      ['another major version is not HTTP/1', later.replace('1.2', '3.0'), [400]],
    ])('%s', async (_, bytes, expected) => {
      const text = await converse(edge, bytes);
      expect(statuses(text)).toEqual(expected);
      expect(text).toContain('Connection: close');
    });

    test('in pieces', async () => {
      const socket = connect(edge.port, '127.0.0.1');
      let received = '';
      socket.setEncoding('latin1').on('data', (chunk) => {
        received += chunk;
      });
      const closed = new Promise((resolve) => socket.on('close', resolve));
      for (const piece of [`GET ${GOLD} HTTP/1.2\r\nHo`, 'st: ', 'a\r\n', '\r\n']) {
        socket.write(piece);
        await setTimeout(30);
      }
      await closed;
      expect(statuses(received)).toEqual([200]);
    });
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
