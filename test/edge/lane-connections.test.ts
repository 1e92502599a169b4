/** What ends a connection, with the fast lane and without: time limits, clients that do not read, the end of the server. */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { EdgeLimits } from '../../embedded/edge/limits.ts';
import { ask, type Edge, parseReply, startEdge } from './edge-fixture.ts';
import { RawClient, startTwins, withoutDate } from './twin-edges.ts';

const GOLD_URL = '/api/v1/markets/gold-usd';
const BODY = '{"slug":"gold-usd"}';
const LARGE_URL = '/api/v1/snapshot';
const LARGE_BYTES = 5_000_000;
const get = (url: string, more = '') => `GET ${url} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

/** Longer than any limit of these tests. */
const FOREVER_MS = 20_000;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function fill({ objects }: Edge): void {
  objects.put({ kind: 'market', slug: 'gold-usd' }, BODY);
  objects.put({ kind: 'snapshot' }, 'x'.repeat(LARGE_BYTES));
}

async function connectTo(edge: Edge, options: { readonly allowHalfOpen?: boolean } = {}): Promise<RawClient> {
  const client = await RawClient.open(edge, options);
  closers.push(() => client.socket.destroy());
  return client;
}

async function isClosed(client: RawClient): Promise<boolean> {
  return client.waitFor(() => false, FOREVER_MS);
}

describe('both say the same at a limit', () => {
  async function seenByBoth(limits: Partial<EdgeLimits>, use: (client: RawClient) => Promise<void>): Promise<string> {
    const twins = await startTwins({ limits });
    closers.push(twins.close);
    const seen = await Promise.all(
      [twins.lane, twins.plain].map(async (edge) => {
        fill(edge);
        await ask(edge, GOLD_URL);
        const client = await connectTo(edge);
        await use(client);
        expect(await isClosed(client)).toBe(true);
        return withoutDate(client.text);
      }),
    );
    expect(seen[0]).toBe(seen[1]);
    return seen[1] as string;
  }
  const impatient = { requestTimeoutMs: 200, checkIntervalMs: 25 };

  test('to a client that sends nothing: 408', async () => {
    expect(parseReply(await seenByBoth(impatient, async () => {})).status).toBe(408);
  });

  test.each(['G', 'GET /api', `GET ${GOLD_URL} HTTP/1.1\r\nHost: a\r\n`, get(GOLD_URL).slice(0, -1), '\r\n'])(
    'to a client that sends only %j: 408',
    async (bytes) => {
      expect(parseReply(await seenByBoth(impatient, (client) => client.send(bytes))).status).toBe(408);
    },
  );

  test('to a client that sends one byte at a time: 408', async () => {
    const text = await seenByBoth(impatient, async (client) => {
      for (const byte of get(GOLD_URL, `X: ${'y'.repeat(1_000)}\r\n`)) {
        if (client.isClosed) break;
        await client.send(byte);
        await setTimeout(10);
      }
    });
    expect(parseReply(text).status).toBe(408);
  });

  test('to half a request after an answer: 408', async () => {
    const text = await seenByBoth(impatient, async (client) => {
      await client.send(get(GOLD_URL));
      await client.waitFor(() => client.text.endsWith(BODY));
      await client.send(get(GOLD_URL).slice(0, 20));
    });
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '408']);
  });

  test.each([0, 1, 999, 1_000, 1_500, 65_000])('about a keep-alive time of %d ms', async (keepAliveTimeoutMs) => {
    const text = await seenByBoth({ keepAliveTimeoutMs }, async (client) => {
      await client.send(get(GOLD_URL));
      await client.waitFor(() => client.text.endsWith(BODY));
      await client.send(get(GOLD_URL, 'Connection: close\r\n'));
    });
    const seconds = Math.floor(keepAliveTimeoutMs / 1000);
    expect(parseReply(text).headers['keep-alive']).toBe(keepAliveTimeoutMs === 0 ? undefined : `timeout=${seconds}`);
  });

  test('nothing, to a client that asks no more for the keep-alive time', async () => {
    const text = await seenByBoth({ keepAliveTimeoutMs: 100 }, (client) => client.send(get(GOLD_URL)));
    expect(text.endsWith(BODY)).toBe(true);
  });
});

describe.each([
  ['with the lane', true],
  ['without it', false],
])('%s', (_title, fastLane) => {
  async function start(limits: Partial<EdgeLimits> = {}): Promise<Edge> {
    const edge = await startEdge({ limits, fastLane });
    closers.push(edge.close);
    fill(edge);
    await ask(edge, GOLD_URL);
    await ask(edge, LARGE_URL);
    return edge;
  }

  test('a client that asks for large bodies and reads none is cut off, and few of them are held for it', async () => {
    const edge = await start({ idleTimeoutMs: 300 });
    const client = await connectTo(edge);
    client.socket.pause();
    let heldBytes = 0;
    for (let sent = 0; sent < 20; sent++) {
      await client.send(get(LARGE_URL));
      heldBytes = Math.max(heldBytes, client.accepted.writableLength);
    }
    expect(heldBytes).toBeLessThan(4 * LARGE_BYTES);
    await new Promise((resolve) => client.accepted.destroyed || client.accepted.on('close', resolve));
    expect(client.accepted.bytesWritten).toBeLessThan(4 * LARGE_BYTES);
    expect(edge.reports).toEqual([]);
  });

  test('a client that asks again and again for small bodies and reads none does not fill the memory', async () => {
    const edge = await start({ idleTimeoutMs: 300 });
    edge.objects.put({ kind: 'market', slug: 'gold-usd' }, 'x'.repeat(16_000));
    edge.purge('everything');
    await ask(edge, GOLD_URL);
    const client = await connectTo(edge);
    client.socket.pause();
    let heldBytes = 0;
    const bytes = get(GOLD_URL);
    for (let sent = 1; sent <= 2_000; sent++) {
      await client.send(bytes);
      heldBytes = Math.max(heldBytes, client.accepted.writableLength);
      // The server waits for the client.
      if (client.accepted.bytesRead < sent * bytes.length) break;
    }
    expect(heldBytes).toBeLessThan(1_000_000);
  });

  test('a client that reads slowly gets everything', async () => {
    const edge = await start({ idleTimeoutMs: 1_500 });
    const client = await connectTo(edge);
    await client.send(get(LARGE_URL));
    const readByNow = () => client.text.length;
    while (readByNow() < LARGE_BYTES && !client.isClosed) {
      client.socket.pause();
      await setTimeout(20);
      const before = readByNow();
      client.socket.resume();
      await client.waitFor(() => readByNow() > before);
    }
    expect(parseReply(client.text).body.length).toBe(LARGE_BYTES);
    await client.send(get(GOLD_URL));
    await client.waitFor(() => client.text.endsWith(BODY));
    expect(client.text.endsWith(BODY)).toBe(true);
  });

  test('a client that ends its side after its request gets the answer', async () => {
    const edge = await start();
    for (const url of [GOLD_URL, LARGE_URL]) {
      const client = await connectTo(edge);
      client.socket.write(get(url));
      client.socket.end();
      expect(await isClosed(client)).toBe(true);
      expect(parseReply(client.text)).toMatchObject({ status: 200 });
      expect(parseReply(client.text).body.length).toBe(url === GOLD_URL ? BODY.length : LARGE_BYTES);
    }
  });

  test('so it does if it ends its side when the request has been read', async () => {
    const edge = await start();
    const client = await connectTo(edge, { allowHalfOpen: true });
    await client.send(get(LARGE_URL));
    client.socket.end();
    await client.waitFor(() => client.socket.readableEnded, FOREVER_MS);
    expect(parseReply(client.text).body.length).toBe(LARGE_BYTES);
  });

  test.each<[string, (edge: Edge, client: RawClient) => Promise<void>]>([
    ['before it asks', async () => {}],
    ['in the middle of a request', (_edge, client) => client.send('GET /api')],
    ['in the middle of an answer', (_edge, client) => client.send(get(LARGE_URL))],
    [
      'while the store is asked',
      async (edge, client) => {
        edge.objects.gate = new Promise(() => {});
        edge.purge('everything');
        await client.send(get(GOLD_URL));
      },
    ],
    ['between two requests', (_edge, client) => client.send(get(GOLD_URL))],
  ])('a client that resets its connection %s leaves nothing behind', async (_when, use) => {
    const edge = await start();
    const client = await connectTo(edge);
    client.socket.pause();
    await use(edge, client);
    // Not events.once: its listener would hide a missing error listener.
    const closed = new Promise((resolve) => client.accepted.on('close', resolve));
    client.socket.resetAndDestroy();
    await closed;
    expect(edge.reports).toEqual([]);
    expect(await openConnections(edge)).toBe(0);
    edge.objects.gate = null;
    edge.clock.advanceSeconds(1);
    expect((await ask(edge, '/healthz')).status).toBe(200);
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['half a request', 'GET /api'],
  ])('a client that sent %s and resets its connection when it is told so ends nothing else', async (_what, bytes) => {
    const edge = await start({ requestTimeoutMs: 50, checkIntervalMs: 10 });
    const client = await connectTo(edge, { allowHalfOpen: true });
    await client.send(bytes);
    await client.waitFor(() => client.text !== '', FOREVER_MS);
    expect(parseReply(client.text).status).toBe(408);
    // Not events.once: its listener would hide a missing error listener.
    const closed = new Promise((resolve) => client.accepted.on('close', resolve));
    client.socket.resetAndDestroy();
    await closed;
    expect((await ask(edge, '/healthz')).status).toBe(200);
  });

  test.each(['G', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf'])(
    'the time of a first request counts from the opening, also if %j comes late',
    async (bytes) => {
      const edge = await start({ requestTimeoutMs: 2_000, checkIntervalMs: 25 });
      const late = await connectTo(edge);
      await setTimeout(1_000);
      const later = await connectTo(edge);
      await setTimeout(500);
      await late.send(bytes);
      await later.waitFor(() => late.text !== '' || later.text !== '', FOREVER_MS);
      expect([late.text !== '', later.text]).toEqual([true, '']);
    },
  );

  test('the time of a second request counts from its first byte, also if the first one came late', async () => {
    const edge = await start({ requestTimeoutMs: 2_000, checkIntervalMs: 25 });
    const client = await connectTo(edge);
    await setTimeout(1_500);
    await client.send(get(GOLD_URL, 'Cookie: \x80\r\n'));
    await client.waitFor(() => client.text.endsWith(BODY));
    await client.send(get(GOLD_URL).slice(0, 9));
    await setTimeout(1_000);
    await client.send(get(GOLD_URL).slice(9));
    await client.waitFor(() => client.text.split(BODY).length === 3);
    expect(client.text.split(BODY)).toHaveLength(3);
  });

  test('a connection that is used goes on beyond all time limits of a request', async () => {
    const edge = await start({ requestTimeoutMs: 300, checkIntervalMs: 20 });
    const client = await connectTo(edge);
    for (let asked = 1; asked <= 20; asked++) {
      await client.send(get(GOLD_URL));
      await client.waitFor(() => client.text.split(BODY).length > asked);
      await setTimeout(20);
    }
    expect(client.text.split(BODY).length).toBe(21);
    expect(client.isUsable).toBe(true);
  });

  test('no more connections than the limit are open: a new one ends the one that was quiet for longest', async () => {
    const edge = await start({ maxConnections: 3, checkIntervalMs: 20 });
    const [quiet, used] = [await connectTo(edge), await connectTo(edge)];
    await quiet.send(get(GOLD_URL));
    await quiet.waitFor(() => quiet.text.endsWith(BODY));
    await setTimeout(100);
    await used.send(get(GOLD_URL));
    await used.waitFor(() => used.text.endsWith(BODY));
    expect((await ask(edge, GOLD_URL)).status).toBe(200);
    expect(await isClosed(quiet)).toBe(true);
    expect(used.isClosed).toBe(false);
  });

  test('connections that are all answered are not ended for a new one, which is closed', async () => {
    const edge = await start({ maxConnections: 2 });
    const gate = Promise.withResolvers<void>();
    edge.objects.gate = gate.promise;
    edge.purge('everything');
    const busy: RawClient[] = [];
    for (let opened = 0; opened < 2; opened++) {
      const client = await connectTo(edge);
      await client.send(get(GOLD_URL));
      busy.push(client);
    }
    expect(await ask(edge, GOLD_URL).catch((error: NodeJS.ErrnoException) => error.code)).toBe('ECONNRESET');
    gate.resolve();
    for (const client of busy) {
      await client.waitFor(() => client.text.endsWith(BODY));
      expect(client.text).toContain('HTTP/1.1 200');
    }
  });

  test('close() ends idle connections, and lets a running answer finish', async () => {
    const edge = await start();
    const [idle, busy] = [await connectTo(edge), await connectTo(edge)];
    await idle.send(get(GOLD_URL));
    await idle.waitFor(() => idle.text.endsWith(BODY));
    const gate = Promise.withResolvers<void>();
    edge.objects.gate = gate.promise;
    edge.purge('everything');
    await busy.send(get(GOLD_URL));
    const closed = once(edge.server, 'close');
    edge.server.close();
    expect(await isClosed(idle)).toBe(true);
    expect(busy.isClosed).toBe(false);
    gate.resolve();
    await busy.waitFor(() => busy.text.endsWith(BODY), FOREVER_MS);
    expect(busy.text.endsWith(BODY)).toBe(true);
    edge.server.closeIdleConnections();
    await closed;
  });

  test('closeAllConnections() ends connections in every state', async () => {
    const edge = await start();
    const clients = await inStates(edge);
    edge.server.closeAllConnections();
    for (const client of clients) expect(await isClosed(client)).toBe(true);
    expect(await openConnections(edge)).toBe(0);
  });

  test('closeIdleConnections() ends connections that have been answered, and no others', async () => {
    const edge = await start();
    const [silent, half, idle, waiting] = (await inStates(edge)) as [RawClient, RawClient, RawClient, RawClient];
    edge.server.closeIdleConnections();
    expect(await isClosed(idle)).toBe(true);
    expect([silent, half, waiting].map((client) => client.isClosed)).toEqual([false, false, false]);
  });
});

/** A connection on which nothing was sent, one with half a request, one with an answer, one that waits for an answer. */
async function inStates(edge: Edge): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  for (const bytes of ['', 'GET /api', get(GOLD_URL), get(LARGE_URL)]) {
    if (bytes === get(LARGE_URL)) {
      edge.objects.gate = new Promise(() => {});
      edge.purge('everything');
    }
    const client = await connectTo(edge);
    await client.send(bytes);
    if (bytes === get(GOLD_URL)) await client.waitFor(() => client.text.endsWith(BODY));
    clients.push(client);
  }
  return clients;
}

async function openConnections({ server }: Edge): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

test('connections of node:http that wait for a request make room for a reader, too', async () => {
  const edge = await startEdge({ limits: { maxConnections: 4 } });
  closers.push(edge.close);
  fill(edge);
  const clients: RawClient[] = [];
  for (let opened = 0; opened < 20; opened++) {
    const client = await connectTo(edge);
    await client.send(get('/api/v1/nothing', 'Cookie: \x80\r\n'));
    await client.waitFor(() => client.text.includes('\r\n\r\n'));
    expect(client.text).toContain('HTTP/1.1 404');
    clients.push(client);
  }
  expect((await ask(edge, GOLD_URL)).status).toBe(200);
});
