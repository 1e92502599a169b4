/** Nothing that goes wrong for a moment lasts longer than that: a connection that has failed, a clock that is set back. */
import { afterEach, describe, expect, test } from 'vitest';
import { ask, type Edge, parseReply, startEdge } from './edge-fixture.ts';
import { RawClient } from './raw-client.ts';

const GOLD_URL = '/api/v1/markets/gold-usd';

describe('the edge', () => {
  let edge: Edge;
  afterEach(() => edge.close());

  test.each([
    ['what is no request', 'nonsense\r\n\r\n', 400],
    ['half a request, too late', 'GET / HTTP/1.1\r\n', 408],
    ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
  ])(
    'after the answer to %s the connection ends, although the client keeps its side open',
    async (_title, bytes, status) => {
      edge = await startEdge({ limits: { requestTimeoutMs: 200, checkIntervalMs: 25 } });
      const { socket, accepted, ...client } = await openHalf(edge);
      socket.write(bytes);
      await expect.poll(() => accepted.destroyed).toBe(true);
      expect(parseReply(client.text()).status).toBe(status);
    },
  );

  test.each([
    ['to a time before the body came', 20, 30],
    ['to a time at which the body has expired', 100, 50],
  ])('a clock that is set back %s while the store fails does not keep what was', async (_title, afterSeconds, back) => {
    edge = await startEdge({});
    const answered = async () => {
      const { status, body } = await ask(edge, GOLD_URL);
      return status === 200 ? body.toString() : status;
    };
    edge.objects.put({ kind: 'market', slug: 'gold-usd' }, 'one');
    expect(await answered()).toBe('one');
    edge.objects.mode = 'unavailable';
    edge.clock.advanceSeconds(afterSeconds);
    expect(await answered()).toBe('one');
    edge.clock.advanceSeconds(-back);
    edge.objects.mode = 'up';
    edge.objects.put({ kind: 'market', slug: 'gold-usd' }, 'two');
    expect(await answered()).toBe('two');
  });

  test('nor does it keep the 503 of a key of which nothing is held', async () => {
    edge = await startEdge({});
    edge.objects.put({ kind: 'market', slug: 'gold-usd' }, 'one');
    edge.objects.mode = 'unavailable';
    expect((await ask(edge, GOLD_URL)).status).toBe(503);
    edge.clock.advanceSeconds(-60);
    edge.objects.mode = 'up';
    expect((await ask(edge, GOLD_URL)).status).toBe(200);
  });
});

async function openHalf(edge: Edge) {
  const client = await RawClient.open(edge, { allowHalfOpen: true });
  return { socket: client.socket, accepted: client.accepted, text: () => client.text };
}
