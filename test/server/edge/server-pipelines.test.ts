/** Requests of one connection are never processed side by side (RFC 9112, section 9.3.2). */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Divert, DivertedHandler } from '../../../server/edge/divert.ts';
import type { EdgeLimits } from '../../../server/edge/limits.ts';
import { converse, type Edge, parseReply, startEdge } from './edge-fixture.ts';

/** Requests of one packet. */
const MANY = 20;
const GOLD_URL = '/api/v1/markets/gold-usd';
const BODY = '{"slug":"gold-usd"}';
const H = 'Host: localhost\r\n';
const CLOSE = 'Connection: close\r\n';

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\n${H}${more}\r\n`;
const post = (path: string, body: string, more = '') =>
  `POST ${path} HTTP/1.1\r\n${H}${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** The output, in order. */
let list: string[] = [];
/** Each request that was begun: its method, and what had been written by then. */
let begun: string[] = [];
/** When set, the first request of these methods waits for it. */
let gate: { readonly methods: string; readonly opened: Promise<void> } | null = null;
let edges: Edge[] = [];
let edge: Edge;
/** Requests that node:http has parsed. */
let parsed = 0;

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

/** Writes the body, some turns of the event loop after it was begun, and resolves as many after its answer. */
const LIST: DivertedHandler = async (request, response) => {
  const query = new URLSearchParams((request.url as string).split('?')[1]);
  const lag = Number(query.get('turns') ?? 2);
  begun.push(`${request.method} ${list.join()}`);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (gate?.methods.includes(request.method as string)) {
    const { opened } = gate;
    gate = null;
    await opened;
  }
  await turns(lag);
  if (query.has('fails')) throw new Error('a fault of the handler');
  if (query.has('closes')) response.shouldKeepAlive = false;
  if (request.method !== 'GET') list.push(Buffer.concat(chunks).toString());
  if (query.has('breaks')) {
    response.writeHead(201, { 'content-length': 10 });
    response.write('half');
    throw new Error('a fault in the middle of the answer');
  }
  if (request.method === 'GET') send(response, 200, list.join());
  else send(response, 201, list.at(-1) as string);
  await turns(lag);
};

/** Refuses without a look at the body, when the gate opens. */
const REFUSE: DivertedHandler = async (_request, response) => {
  await gate?.opened;
  send(response, 401, '');
};

const divert: Divert = (request) => {
  if (request.url === '/refused') return REFUSE;
  return (request.url as string).startsWith('/list') ? LIST : null;
};

describe('the edge', () => {
  async function open(limits: Partial<EdgeLimits> = {}): Promise<Edge> {
    const opened = await startEdge({ divert, limits });
    opened.objects.put({ kind: 'market', slug: 'gold-usd' }, BODY);
    opened.server.on('request', () => parsed++);
    edges.push(opened);
    return opened;
  }

  beforeEach(async () => {
    [list, begun, gate, edges, parsed] = [[], [], null, [], 0];
    edge = await open();
  });

  afterEach(async () => {
    for (const each of edges) await each.close();
  });

  /** Shuts the gate for the first request of these methods; gives what opens it. */
  function shutGate(methods: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = { methods, opened: promise };
    return resolve;
  }

  /** Long enough for all that could be begun to have begun. */
  const settle = () => turns(20);

  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await setImmediate();
  }

  function told(text: string): [number, string][] {
    const starts = Array.from(text.matchAll(/HTTP\/1\.1 [2-5]\d\d /g), ({ index }) => index);
    return starts.map((start, place) => {
      const { status, body } = parseReply(text.slice(start, starts[place + 1]));
      return [status, body.toString()];
    });
  }

  /** An open connection, and the data that it has received. */
  function openSocket({ port }: Edge): { socket: Socket; text: () => string } {
    const socket = connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1');
    let text = '';
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        text += chunk;
      });
    return { socket, text: () => text };
  }

  describe('a client reads its own writes', () => {
    test('in any order, at any speed, and in any packets', async () => {
      const step = fc.record({ kind: fc.constantFrom('write', 'read', 'public'), turns: fc.nat(3) });
      const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), cuts, async (steps, places) => {
          list = [];
          const expected: [number, string][] = [];
          const written: string[] = [];
          const requests = steps.map(({ kind, turns: wanted }, index) => {
            const path = `/list?turns=${wanted}`;
            if (kind === 'write') {
              written.push(`w${index}`);
              expected.push([201, `w${index}`]);
              return post(path, `w${index}`);
            }
            expected.push([200, kind === 'read' ? written.join() : BODY]);
            return get(kind === 'read' ? path : GOLD_URL);
          });
          expected.push([200, written.join()]);
          const bytes = requests.join('') + get('/list', CLOSE);
          const { socket, text } = openSocket(edge);
          let sent = 0;
          for (const end of [
            ...places.map((place) => Math.floor(place * bytes.length)).sort((a, b) => a - b),
            Infinity,
          ]) {
            socket.write(bytes.slice(sent, end));
            sent = end;
            await setImmediate();
          }
          await once(socket, 'close');
          expect(told(text())).toEqual(expected);
        }),
        { numRuns: 100 },
      );
    });

    test('also with a write that has failed before', async () => {
      const text = await converse(edge, post('/list', 'a') + post('/list?fails', 'b') + get('/list', CLOSE));
      expect(told(text).map(([status]) => status)).toEqual([201, 500, 200]);
      expect(told(text).at(-1)).toEqual([200, 'a']);
      expect(edge.reports).toHaveLength(1);
    });
  });

  describe('the order of work on a connection', () => {
    test.each<[string, string, string, string[]]>([
      ['a read waits for a write', 'POST', post('/list', 'a') + get('/list'), ['POST ']],
      ['a write waits for a write', 'POST', post('/list', 'a') + post('/list', 'b'), ['POST ']],
      ['a write waits for a read', 'GET', get('/list') + post('/list', 'a'), ['GET ']],
      ['a read waits for a read', 'GET', get('/list') + get('/list'), ['GET ']],
      ['also after one of the edge', 'GET', get(GOLD_URL) + get('/list') + get('/list'), ['GET ']],
    ])('%s', async (_title, methods, bytes, begunSoFar) => {
      const openGate = shutGate(methods);
      const conversation = converse(edge, bytes + get('/list', CLOSE));
      await until(() => begun.length > 0);
      await settle();
      expect(begun).toEqual(begunSoFar);
      openGate();
      expect(told(await conversation)).toHaveLength(bytes.split('HTTP/1.1').length);
    });

    test('a read of the edge waits for a write, without asking the store', async () => {
      const openGate = shutGate('POST');
      const conversation = converse(edge, post('/list', 'a') + get(GOLD_URL, CLOSE));
      await until(() => begun.length > 0);
      await settle();
      expect(edge.objects.reads).toEqual([]);
      openGate();
      expect(told(await conversation)).toEqual([
        [201, 'a'],
        [200, BODY],
      ]);
    });

    test('a write waits for a read of the edge that the store has not answered', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      edge.objects.gate = promise;
      const conversation = converse(edge, get(GOLD_URL) + post('/list', 'a', CLOSE));
      await until(() => edge.objects.reads.length > 0);
      await settle();
      expect(begun).toEqual([]);
      resolve();
      expect(told(await conversation)).toEqual([
        [200, BODY],
        [201, 'a'],
      ]);
    });

    test('no connection waits for another', async () => {
      const openGate = shutGate('POST');
      const conversation = converse(edge, post('/list', 'a', CLOSE));
      await until(() => begun.length > 0);
      expect(told(await converse(edge, get('/list', CLOSE)))).toEqual([[200, '']]);
      openGate();
      expect(told(await conversation)).toEqual([[201, 'a']]);
    });
  });

  describe('the bounds hold for what waits', () => {
    test('of 40 writes in a packet one is parsed, and all are made, one by one', async () => {
      const texts = Array.from({ length: 40 }, (_, index) => `${index}`);
      const openGate = shutGate('POST');
      const conversation = converse(edge, texts.map((text) => post('/list', text)).join('') + get(GOLD_URL, CLOSE));
      await until(() => begun.length > 0);
      await settle();
      expect(parsed).toBe(1);
      openGate();
      expect(told(await conversation)).toEqual([...texts.map((text) => [201, text]), [200, BODY]]);
      expect(begun).toEqual(texts.map((_, index) => `POST ${texts.slice(0, index).join()}`));
      expect(list).toEqual(texts);
    });

    test('of 40 reads in several packets none is parsed while all wait for a write', async () => {
      const openGate = shutGate('POST');
      const { socket, text } = openSocket(edge);
      socket.write(post('/list', 'a'));
      for (let packet = 0; packet < 4; packet++) {
        socket.write(get('/list').repeat(10));
        await settle();
      }
      expect(parsed).toBe(1);
      openGate();
      await until(() => told(text()).length === 41 && text().endsWith('a'));
      expect(told(text())).toEqual([[201, 'a'], ...Array(40).fill([200, 'a'])]);
      socket.destroy();
    });

    test('heads and bodies that wait take few bytes, however few they are', async () => {
      const large = 4_000;
      const openGate = shutGate('POST');
      const head = get('/list', `X: ${'y'.repeat(large)}\r\n`);
      const conversation = converse(
        edge,
        post('/list', 'a') + (head + post('/list', 'b'.repeat(large))).repeat(10) + get('/list', CLOSE),
      );
      await until(() => begun.length > 0);
      await settle();
      expect(parsed).toBe(1);
      openGate();
      expect(told(await conversation)).toHaveLength(22);
    });

    test('a connection ends when all together have too much that waits, and others go on', async () => {
      const small = await open({ maxWaitingBytes: 1_000 });
      const openGate = shutGate('POST');
      const { socket, text } = openSocket(small);
      socket.write(post('/list', 'a') + get('/list').repeat(2));
      await until(() => begun.length > 0);
      const other = converse(small, get(GOLD_URL).repeat(100));
      expect(told(await other)).toEqual([[200, BODY]]);
      openGate();
      await until(() => told(text()).length === 3 && text().endsWith('a'));
      socket.destroy();
      expect(told(await converse(small, get(GOLD_URL).repeat(10) + get(GOLD_URL, CLOSE)))).toHaveLength(11);
    });

    test('many that are answered make room for others', async () => {
      const { socket, text } = openSocket(edge);
      for (let round = 1; round <= 3; round++) {
        socket.write(post('/list', 'a').repeat(MANY - 2));
        await until(() => told(text()).length === round * (MANY - 2));
      }
      socket.destroy();
    });

    test('a client that asks for large bodies in one packet and reads none has the store read one at a time', async () => {
      const bytes = 5_000_000;
      const slugs = Array.from({ length: MANY - 1 }, (_, index) => `large-${index}`);
      for (const slug of slugs) edge.objects.put({ kind: 'market', slug }, slug.padEnd(bytes, '.'));
      const accepted = once(edge.server, 'connection');
      const { socket, text } = openSocket(edge);
      const [connection] = (await accepted) as [Socket];
      socket.pause();
      socket.write(slugs.map((slug) => get(`/api/v1/markets/${slug}`)).join(''));
      // The kernel has some of it, and takes no more.
      await until(() => connection.writableLength > 0);
      await settle();
      const taken = connection.bytesWritten - connection.writableLength;
      const read = edge.objects.reads.length * bytes;
      expect(read - taken).toBeLessThanOrEqual(bytes);
      socket.resume();
      await until(() => text().length > slugs.length * bytes);
      expect(told(text()).map(([status, body]) => [status, body.replaceAll('.', '')])).toEqual(
        slugs.map((slug) => [200, slug]),
      );
      socket.destroy();
    });

    test('so it is with bodies that are in memory: few answers are made for a client that does not read', async () => {
      edge.objects.put({ kind: 'snapshot' }, 'x'.repeat(5_000_000));
      await converse(edge, get('/api/v1/snapshot', CLOSE));
      const accepted = once(edge.server, 'connection');
      const { socket, text } = openSocket(edge);
      const [connection] = (await accepted) as [Socket];
      socket.pause();
      const answered = edge.counts.classes[2] as number;
      socket.write(get('/api/v1/snapshot').repeat(MANY - 1));
      await until(() => connection.writableLength > 0);
      await settle();
      expect((edge.counts.classes[2] as number) - answered).toBeLessThanOrEqual(3);
      socket.resume();
      await until(() => text().length > (MANY - 1) * 5_000_000);
      expect(told(text()).map(([status]) => status)).toEqual(Array(MANY - 1).fill(200));
      socket.destroy();
    });

    test('a large body is read completely, after the earlier requests', async () => {
      const large = 'x'.repeat(1_000_000);
      const openGate = shutGate('POST');
      const conversation = converse(edge, post('/list', 'a') + post('/list', large, CLOSE));
      await until(() => begun.length > 0);
      await settle();
      expect(begun).toEqual(['POST ']);
      openGate();
      expect(told(await conversation)).toEqual([
        [201, 'a'],
        [201, large],
      ]);
    });

    test('`Expect: 100-continue` is answered after the earlier requests', async () => {
      const openGate = shutGate('POST');
      const { socket, text } = openSocket(edge);
      const head = `POST /list HTTP/1.1\r\n${H}${CLOSE}Expect: 100-continue\r\nContent-Length: 1\r\n\r\n`;
      socket.write(post('/list', 'a') + head);
      await until(() => begun.length > 0);
      await settle();
      expect(text()).toBe('');
      openGate();
      await until(() => text().includes('100 Continue'));
      expect(told(text().replace('HTTP/1.1 100 Continue\r\n\r\n', ''))).toEqual([[201, 'a']]);
      socket.write('b');
      await once(socket, 'close');
      expect(list).toEqual(['a', 'b']);
    });

    test('a late body is answered 408 in order', async () => {
      const impatient = await open({ requestTimeoutMs: 200, checkIntervalMs: 25 });
      const openGate = shutGate('POST');
      const half = `POST /list HTTP/1.1\r\n${H}Content-Length: 10\r\n\r\nhalf`;
      const conversation = converse(impatient, post('/list?turns=0', 'a') + half);
      await until(() => begun.length > 0);
      openGate();
      expect(told(await conversation).map(([status]) => status)).toEqual([201, 408]);
      expect(impatient.reports).toEqual([]);
    });
  });

  describe('what is no request, after requests that are not answered yet, is answered after them', () => {
    test.each<[string, string, (string | number)[]]>([
      ['garbage after a write', `${post('/list', 'a')}\0\0`, [201, 400]],
      ['garbage after a read of the store', `${get(GOLD_URL)}\0\0`, [200, 400]],
      ['garbage after several', `${post('/list', 'a')}${get('/list')}${get(GOLD_URL)}\0\0`, [201, 200, 200, 400]],
      ['an unknown method after a write', `${post('/list', 'a')}FOO / HTTP/1.1\r\n${H}\r\n`, [201, 405]],
    ])('%s', async (_title, bytes, statuses) => {
      expect(told(await converse(edge, bytes)).map(([status]) => status)).toEqual(statuses);
      expect(edge.reports).toEqual([]);
    });

    test('nothing, if the last of them ends the connection', async () => {
      const text = await converse(edge, `${post('/list', 'a')}${post('/list?closes', 'b')}\0\0`);
      expect(told(text)).toEqual([
        [201, 'a'],
        [201, 'b'],
      ]);
    });
  });

  test('a body that turns malformed before its handler answers is one answer, and no fault of ours', async () => {
    const openGate = shutGate('PUT');
    const head = `PUT /refused HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n`;
    const text = await converse(edge, `${head}2\r\nab\r\nq`);
    expect(told(text).map(([status]) => status)).toEqual([400]);
    openGate();
    await settle();
    expect(edge.reports).toEqual([]);
  });

  describe('a waiting request never begins', () => {
    test.each<[string, (socket: Socket) => void]>([
      ['once its connection is reset', (socket) => socket.resetAndDestroy()],
    ])('%s', async (_title, leave) => {
      const openGate = shutGate('POST');
      const accepted = once(edge.server, 'connection');
      const { socket } = openSocket(edge);
      const [connection] = (await accepted) as [Socket];
      const closed = new Promise((resolve) => connection.on('close', resolve));
      socket.write(post('/list', 'a') + post('/list', 'b') + get('/list'));
      await until(() => begun.length > 0);
      leave(socket);
      await closed;
      openGate();
      await settle();
      expect(begun).toEqual(['POST ']);
      expect(list).toEqual(['a']);
      expect(edge.reports).toEqual([]);
    });

    test('after an answer that ends the connection', async () => {
      expect(told(await converse(edge, post('/list?closes&turns=0', 'a') + post('/list', 'b')))).toEqual([[201, 'a']]);
      await settle();
      expect(begun).toEqual(['POST ']);
    });

    test('after an answer that broke off', async () => {
      const text = await converse(edge, post('/list', 'a') + post('/list?breaks', 'b') + post('/list', 'c'));
      expect(told(text)[0]).toEqual([201, 'a']);
      await settle();
      expect(list).toEqual(['a', 'b']);
      expect(edge.reports).toHaveLength(1);
    });
  });
});
