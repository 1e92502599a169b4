import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, converse, type Edge, parseReply, startEdge } from './edge-fixture.ts';
import { RawClient } from './raw-client.ts';

const GOLD_URL = '/api/v1/markets/gold-usd';
const BODY = '{"slug":"gold-usd"}';

describe('the edge', () => {
  let edge: Edge;
  /** Cuts slow clients off soon; not for anything else, so that a busy machine is not taken for a slow client. */
  let impatient: Edge;

  beforeAll(async () => {
    edge = await startEdge({});
    edge.objects.put({ kind: 'market', slug: 'gold-usd' }, BODY);
    impatient = await startEdge({
      limits: { requestTimeoutMs: 200, checkIntervalMs: 25, idleTimeoutMs: 500 },
    });
  });
  afterAll(async () => {
    await edge.close();
    await impatient.close();
  });

  const H = 'Host: localhost\r\n';

  describe('a request that does not end is refused', () => {
    test.each([
      ['half a request line', 'GET /api'],
      ['half a head', `GET ${GOLD_URL} HTTP/1.1\r\n${H}`],
    ])('%s', async (_title, bytes) => {
      const { status, headers, body } = parseReply(await converse(impatient, bytes));
      expect([status, headers.connection, headers['cache-control']]).toEqual([408, 'close', 'no-store']);
      expect(JSON.parse(body.toString())).toMatchObject({ status: 408, code: 'request-timeout' });
    });

    test('a connection on which nothing is sent is closed', async () => {
      expect(parseReply(await converse(impatient, '')).status).toBe(408);
    });

    test('after garbage in a pipeline no answer takes the place of one that is owed', async () => {
      const gate = Promise.withResolvers<void>();
      edge.objects.gate = gate.promise;
      edge.clock.advanceSeconds(15);
      const conversation = converse(edge, `GET ${GOLD_URL} HTTP/1.1\r\n${H}\r\nnonsense\r\n\r\n`);
      for (let turn = 0; turn < 20; turn++) await setImmediate();
      edge.objects.gate = null;
      gate.resolve();
      const text = await conversation;
      expect(Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status)).toEqual(['200', '400']);
    });

    test.each([`GET ${GOLD_URL}`, `GET ${GOLD_URL} HTTP/1.1\r\n${H}\r\nGET ${GOLD_URL}`])(
      '%j, and the client resets the connection',
      async (start) => {
        const accepted = once(edge.server, 'connection');
        const socket = connect(edge.port, '127.0.0.1').on('error', () => {});
        socket.write(`${start} HTTP/1.1\r\n${H}\r\n`);
        await once(socket, 'data');
        socket.resetAndDestroy();
        const [connection] = await accepted;
        // Not events.once: its listener would hide a missing error listener.
        await new Promise((resolve) => connection.on('close', resolve));
        expect(connection.errored).not.toBeNull();
      },
    );

    test.each([
      ['what is no request', 'nonsense\r\n\r\n'],
      ['half a request, too late', 'GET / HTTP/1.1\r\n'],
      ['CONNECT', `CONNECT a:80 HTTP/1.1\r\n${H}\r\n`],
    ])('a client that does not close its side after the answer to %s is cut off', async (_title, bytes) => {
      const accepted = once(impatient.server, 'connection');
      const socket = connect({ port: impatient.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
      socket.write(bytes);
      const [connection] = await accepted;
      await new Promise((resolve) => connection.on('close', resolve));
      socket.resume();
      await once(socket, 'end');
      socket.destroy();
    });

    test('property: to any bytes the answer is HTTP/1.1 or nothing', async () => {
      const piece = fc.constantFrom(
        'GET ',
        GOLD_URL,
        ' HTTP/1.1',
        '\r\n',
        H,
        'Content-Length: 5',
        ': ',
        'X',
        '0',
        '\0',
      );
      const bytes = fc.oneof(
        fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) }),
        fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
      );
      // All at once, because each lasts until the server has lost its patience.
      await fc.assert(
        fc.asyncProperty(fc.array(bytes, { minLength: 50, maxLength: 100 }), async (all) => {
          for (const text of await Promise.all(all.map((sent) => converse(impatient, sent)))) {
            expect(text).toMatch(/^(HTTP\/1\.1 [1-5]|$)/);
          }
        }),
        { numRuns: 3 },
      );
    });
  });

  describe('an unusual request is served', () => {
    test.each<[string, string]>([
      ['HTTP/1.0 without Host', `GET ${GOLD_URL} HTTP/1.0\r\n\r\n`],
      ['an absolute URL in capitals', `GET HTTPS://LOCALHOST:1${GOLD_URL} HTTP/1.1\r\n${H}Connection: close\r\n\r\n`],
      ['an unknown expectation', `GET ${GOLD_URL} HTTP/1.1\r\n${H}Expect: x\r\nConnection: close\r\n\r\n`],
    ])('%s', async (_title, bytes) => {
      const reply = parseReply(await converse(edge, bytes));
      expect(reply).toMatchObject({ status: 200, body: Buffer.from(BODY) });
    });

    test.each([
      ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${H}Connection: close\r\n\r\n`, 204],
      ['GET *', `GET * HTTP/1.1\r\n${H}Connection: close\r\n\r\n`, 404],
      ['an absolute URL without a path', `GET http://localhost HTTP/1.1\r\n${H}Connection: close\r\n\r\n`, 404],
    ])('%s gets the answer of the router', async (_title, bytes, status) => {
      expect(parseReply(await converse(edge, bytes)).status).toBe(status);
    });
  });

  describe('pipelines', () => {
    const get = (url: string, more = '') => `GET ${url} HTTP/1.1\r\n${H}${more}\r\n`;
    /** The answers of a conversation, split by Content-Length. */
    function replies(text: string) {
      const starts = Array.from(text.matchAll(/HTTP\/1\.1 \d{3} /g), ({ index }) => index);
      return starts.map((start, place) => parseReply(text.slice(start, starts[place + 1])));
    }

    test.each(['/healthz', GOLD_URL, '/nowhere'])(
      '300 times %s in a packet: one is answered, as the last',
      async (url) => {
        const alone = await ask(edge, url);
        let parsed = 0;
        const count = () => parsed++;
        edge.server.on('request', count);
        const [reply, ...more] = replies(await converse(edge, get(url).repeat(300)));
        edge.server.off('request', count);
        expect(more).toEqual([]);
        expect(reply).toMatchObject({ status: alone.status, body: alone.body, headers: { connection: 'close' } });
        expect(parsed).toBe(1);
      },
    );

    test('an early request ends the connection after the answer that the client waits for', async () => {
      const gated = await startEdge({});
      const gate = Promise.withResolvers<void>();
      gated.objects.gate = gate.promise;
      const early = await RawClient.open(gated);
      for (const bytes of [get(GOLD_URL), `POST /x HTTP/1.1\r\n${H}Content-Length: 3\r\n\r\nabc`, get('/healthz')]) {
        await early.send(bytes);
      }
      gate.resolve();
      await once(early.socket, 'close');
      expect(replies(early.text).map(({ status, headers }) => [status, headers.connection])).toEqual([[404, 'close']]);
      await gated.close();
    });

    test('a connection may send any number of requests, one after the other', async () => {
      const text = await converse(
        edge,
        ...(Array(99).fill(get(GOLD_URL)) as [string]),
        get(GOLD_URL, 'Connection: close\r\n'),
      );
      expect(replies(text).map(({ status }) => status)).toEqual(Array(100).fill(200));
    });

    test('a client that sends one more and does not read is disconnected', async () => {
      impatient.objects.put({ kind: 'snapshot' }, 'x'.repeat(20_000_000));
      const accepted = once(impatient.server, 'connection');
      const socket = connect(impatient.port, '127.0.0.1').on('error', () => {});
      socket.pause();
      const url = '/api/v1/snapshot';
      socket.write(get(url) + get(url));
      const [connection] = await accepted;
      await once(connection, 'close');
      socket.destroy();
    });
  });

  test('a connection too many is closed, and one more may come when another has gone', async () => {
    const small = await startEdge({ limits: { maxConnections: 1 } });
    const first = connect(small.port, '127.0.0.1').on('error', () => {});
    const [connection] = await once(small.server, 'connection');
    expect(await converse(small, '')).toBe('');
    first.destroy();
    await once(connection, 'close');
    expect((await ask(small, '/healthz')).status).toBe(200);
    await small.close();
  });

  test('a reader that does not drain is cut off', async () => {
    impatient.objects.put({ kind: 'snapshot' }, 'x'.repeat(5_000_000));
    const accepted = once(impatient.server, 'connection');
    const socket = connect(impatient.port, '127.0.0.1').on('error', () => {});
    socket.pause();
    socket.write(`GET /api/v1/snapshot HTTP/1.1\r\n${H}\r\n`.repeat(20));
    const [connection] = await accepted;
    await once(connection, 'close');
    expect(connection.bytesWritten).toBeLessThan(20 * 5_000_000);
    socket.destroy();
  });
});
