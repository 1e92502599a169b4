/** Requests with bodies, which other handlers answer on the edge's port. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Divert, DivertedHandler } from '../../../server/edge/bodies.ts';
import type { EdgeLimits } from '../../../server/edge/limits.ts';
import { converse, type Edge, parseReply, startEdge } from './edge-fixture.ts';
import { RawClient } from './raw-client.ts';

const GOLD_URL = '/api/v1/markets/gold-usd';
const BODY = '{"slug":"gold-usd"}';
const H = 'Host: localhost\r\n';
const CLOSE = 'Connection: close\r\n';
const LAST = `GET ${GOLD_URL} HTTP/1.1\r\n${H}${CLOSE}\r\n`;

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** More than this is refused by `limited`, in the middle of the body. */
const LIMIT_BYTES = 10;

/** By the path below `/write/`. */
const HANDLERS: { readonly [name: string]: DivertedHandler } = {
  async echo(request, response) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    send(response, 201, `${request.method} ${Buffer.concat(chunks).toString()}`);
  },
  async refused(_request, response) {
    send(response, 413, 'refused');
  },
  async drained(request, response) {
    response.writeHead(413, { 'content-length': 7 });
    response.flushHeaders();
    request.on('data', () => {});
    response.end('drained');
  },
  async limited(request, response) {
    let bytes = 0;
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > LIMIT_BYTES) break;
    }
    send(response, bytes > LIMIT_BYTES ? 413 : 201, 'limited');
  },
  async unread(_request, response) {
    await setImmediate();
    send(response, 201, 'unread');
  },
  async fails(request) {
    for await (const _ of request);
    throw new Error('a fault of the handler');
  },
  async failsLate(_request, response) {
    response.writeHead(201, { 'content-length': 10 });
    response.write('half');
    throw new Error('a fault of the handler');
  },
};

let edges: Edge[] = [];
/** The paths that were diverted, in order. */
let handled: string[] = [];
/** The number of ended requests, successful or not. */
let ended = 0;
/** When set, diverted requests wait for it before they are handled. */
let gate: Promise<void> | null = null;

const divert: Divert = (request) => {
  const handler = HANDLERS[/^\/write\/(\w+)$/.exec(request.url as string)?.[1] ?? ''];
  if (handler === undefined) return null;
  handled.push(request.url as string);
  const begin: DivertedHandler = (...all) => gate?.then(() => handler(...all)) ?? handler(...all);
  return (...all) => begin(...all).finally(() => ended++);
};

const post = (name: string, body: string, more = '') =>
  `POST /write/${name} HTTP/1.1\r\n${H}${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const chunked = (name: string) => `POST /write/${name} HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n`;

/** The answers of a conversation in order, without any "100 Continue". */
function replies(text: string) {
  const starts = Array.from(text.matchAll(/HTTP\/1\.1 [2-5]\d\d /g), ({ index }) => index);
  return starts.map((start, place) => parseReply(text.slice(start, starts[place + 1])));
}

const told = (text: string) => replies(text).map(({ status, body }) => [status, body.toString()]);

describe('the edge', () => {
  async function open(options: { limits?: Partial<EdgeLimits>; isReady?: () => boolean } = {}): Promise<Edge> {
    const edge = await startEdge({ divert, ...options });
    edge.objects.put({ kind: 'market', slug: 'gold-usd' }, BODY);
    edges.push(edge);
    return edge;
  }

  let edge: Edge;

  beforeEach(async () => {
    handled = [];
    ended = 0;
    gate = null;
    edge = await open();
  });

  afterEach(async () => {
    for (const each of edges) await each.close();
    edges = [];
  });

  describe('a diverted request is given its body', () => {
    test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s with a length', async (method) => {
      const text = await converse(edge, `${method} /write/echo HTTP/1.1\r\n${H}${CLOSE}Content-Length: 3\r\n\r\nabc`);
      expect(told(text)).toEqual([[201, `${method} abc`]]);
    });

    test.each<[string, string, string]>([
      ['in chunks', `${H}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`, 'POST abcde'],
      ['none', `${H}\r\n`, 'POST '],
      ['of length 0', `${H}Content-Length: 0\r\n\r\n`, 'POST '],
    ])('%s, and the connection stays open', async (_title, rest, echoed) => {
      const text = await converse(edge, `POST /write/echo HTTP/1.1\r\n${rest}`, LAST);
      expect(told(text)).toEqual([
        [201, echoed],
        [200, BODY],
      ]);
    });

    test('before the edge is ready for others', async () => {
      const starting = await open({ isReady: () => false });
      expect(told(await converse(starting, post('echo', 'abc', CLOSE)))).toEqual([[201, 'POST abc']]);
      expect(replies(await converse(starting, LAST))[0]?.status).toBe(503);
    });
  });

  describe('with ambiguous framing is not diverted', () => {
    const POST = `POST /write/echo HTTP/1.1\r\n${H}`;
    const CHUNKED = 'Transfer-Encoding: chunked\r\n';
    test.each<[string, string, number]>([
      ['a length and chunks', `${POST}Content-Length: 5\r\n${CHUNKED}\r\n0\r\n\r\n`, 400],
      ['chunks and a length', `${POST}${CHUNKED}Content-Length: 5\r\n\r\n0\r\n\r\n`, 400],
      ['two lengths', `${POST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, 400],
      ['another coding', `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 400],
      ['two hosts', `${POST}${H}Content-Length: 0\r\n\r\n`, 400],
      ['no host', 'POST /write/echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n', 400],
      ['many fields', `${POST}${'X: y\r\n'.repeat(100)}\r\n`, 431],
      ['a GET with a body', `GET /write/echo HTTP/1.1\r\n${H}Content-Length: 1\r\n\r\na`, 413],
      ['a write elsewhere', `POST ${GOLD_URL} HTTP/1.1\r\n${H}Content-Length: 1\r\n\r\na`, 405],
    ])('%s', async (_title, bytes, status) => {
      const all = replies(await converse(edge, bytes + LAST));
      expect(all.map((reply) => reply.status)).toEqual([status]);
      expect(JSON.parse((all[0]?.body ?? '').toString())).toMatchObject({ status });
      expect(handled).toEqual([]);
    });
  });

  describe('a body that does not arrive', () => {
    const impatient = () => open({ limits: { idleTimeoutMs: 200 } });
    const half = `POST /write/echo HTTP/1.1\r\n${H}Content-Length: 10\r\n\r\nhalf`;

    test.each<[string, string, (socket: Socket) => void]>([
      ['well-formed', chunked('echo'), (socket) => socket.write('nonsense\r\n')],
      ['in whole', half, (socket) => socket.end()],
      ['because the client has gone', half, (socket) => socket.resetAndDestroy()],
    ])('%s is not waited for longer by its handler', async (_title, bytes, goOn) => {
      const slow = await impatient();
      const socket = connect(slow.port, '127.0.0.1').on('error', () => {});
      socket.write(bytes);
      while (handled.length === 0) await setImmediate();
      goOn(socket);
      while (ended === 0) await setImmediate();
      expect(slow.reports).toEqual([]);
      socket.destroy();
    });
  });

  describe('a body that is not read to its end', () => {
    const smuggled = `GET ${GOLD_URL} HTTP/1.1\r\n${H}\r\n`;

    test('and nothing is done that comes after it', async () => {
      expect(told(await converse(edge, post('refused', smuggled) + post('echo', 'abc')))).toEqual([[413, 'refused']]);
      expect(handled).toEqual(['/write/refused']);
    });

    test.each(['refused', 'limited'])('by "%s": a client that keeps sending gets the answer', async (name) => {
      const socket = connect(edge.port, '127.0.0.1').setEncoding('latin1');
      const errors: unknown[] = [];
      let text = '';
      socket
        .on('error', (error) => errors.push(error))
        .on('data', (chunk) => {
          text += chunk;
        });
      socket.write(post(name, 'x'.repeat(5_000_000)));
      await new Promise((resolve) => socket.on('close', resolve));
      expect(replies(text).map(({ status }) => status)).toEqual([413]);
      // After a reset, some systems would drop the answer.
      expect(errors).toEqual([]);
    });

    test('although it has arrived completely: the connection stays open', async () => {
      expect(told(await converse(edge, post('unread', 'abc'), LAST))).toEqual([
        [201, 'unread'],
        [200, BODY],
      ]);
    });

    test('by a client that never stops: the connection is cut off', async () => {
      const accepted = once(edge.server, 'connection');
      const socket = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
      const [connection] = await accepted;
      socket.resume();
      socket.write(`POST /write/refused HTTP/1.1\r\n${H}Content-Length: 1000000000\r\n\r\n`);
      const drip = setInterval(() => socket.write('x'), 10);
      await new Promise((resolve) => connection.on('close', resolve));
      clearInterval(drip);
      socket.destroy();
    });
  });

  describe('Expect: 100-continue', () => {
    const expecting = (name: string) =>
      `POST /write/${name} HTTP/1.1\r\n${H}${CLOSE}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`;

    test('is answered when the body is wanted, which is then sent', async () => {
      const client = await RawClient.open(edge);
      client.socket.write(expecting('echo'));
      await once(client.socket, 'data');
      expect(client.text).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      client.socket.write('abc');
      await once(client.socket, 'close');
      expect(told(client.text)).toEqual([[201, 'POST abc']]);
    });

    test.each(['refused', 'drained'])('is not answered when the body is %s', async (name) => {
      const text = await converse(edge, expecting(name));
      expect(text).not.toContain('100 Continue');
      expect(told(text)).toEqual([[413, name]]);
    });
  });

  test('an offer to upgrade is declined, and the request answered as the last', async () => {
    const offer = 'Connection: upgrade\r\nUpgrade: h2c\r\n';
    expect(told(await converse(edge, post('echo', 'abc', offer) + LAST))).toEqual([[201, 'POST abc']]);
  });

  describe('a handler that fails', () => {
    test('is reported, and its request answered 500; the connection stays open', async () => {
      const all = replies(await converse(edge, post('fails', 'abc'), LAST));
      expect(all.map(({ status }) => status)).toEqual([500, 200]);
      expect(JSON.parse((all[0]?.body ?? '').toString())).toMatchObject({ code: 'internal-error' });
      expect(edge.reports).toHaveLength(1);
    });

    test('in the middle of its answer is reported, and the connection cut off', async () => {
      expect(told(await converse(edge, post('failsLate', ''), LAST))).toEqual([[201, 'half']]);
      expect(edge.reports).toHaveLength(1);
    });

    test('before it has begun is reported, and its request answered 500', async () => {
      const broken = await startEdge({
        divert: () => {
          throw new Error('a fault of the table');
        },
      });
      edges.push(broken);
      expect(replies(await converse(broken, post('echo', 'abc', CLOSE))).map(({ status }) => status)).toEqual([500]);
      expect(broken.reports).toHaveLength(1);
    });
  });
});
