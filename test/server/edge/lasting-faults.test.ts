/** A connection that has failed does not last. */
import { afterEach, describe, expect, test } from 'vitest';
import { type Edge, parseReply, startEdge } from './edge-fixture.ts';
import { RawClient } from './raw-client.ts';

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
      await expect.poll(() => parseReply(client.text()).status).toBe(status);
    },
  );
});

async function openHalf(edge: Edge) {
  const client = await RawClient.open(edge, { allowHalfOpen: true });
  return { socket: client.socket, accepted: client.accepted, text: () => client.text };
}
