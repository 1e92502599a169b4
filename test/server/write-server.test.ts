/** The limit on bodies that the embedded write API holds in memory. */
import { expect, onTestFinished, test } from 'vitest';
import { OPERATIONS } from '../../contract/operations/operations.ts';
import { problemResult } from '../../lambdas/http/answer.ts';
import type { HttpEvent } from '../../lambdas/http/event.ts';
import type { RefusedRequest } from '../../lambdas/pipeline/handler.ts';
import { WRITE_RESOURCES } from '../../lambdas/pipeline/route.ts';
import { answerWrites, createWriteServer } from '../../server/http/write-server.ts';
import { converse, parseReply, startEdge } from './edge/edge-fixture.ts';

/** The limit of a watchlist's body. */
const MAX_BYTES = 65_536;

async function serving() {
  const handled: HttpEvent[] = [];
  const divert = createWriteServer({
    resources: WRITE_RESOURCES,
    answer: answerWrites(async (head, receive) => {
      try {
        handled.push((await receive?.({ operation: OPERATIONS.createWatchlist, actor: 'user:alice' })) ?? head);
      } catch (error) {
        const { problem } = error as RefusedRequest;
        return { result: problemResult(problem), committed: false };
      }
      return { result: { statusCode: 201, headers: {}, body: '' }, committed: false };
    }),
    nowMs: () => 0,
    newRequestId: () => 'r1',
    addressOf: () => '127.0.0.1',
  });
  // If the handler waited for the rest of the body, the connection would end without an answer.
  const edge = await startEdge({ divert, limits: { idleTimeoutMs: 1_000 } });
  onTestFinished(() => edge.close());
  return { handled, edge };
}

const HEAD =
  'POST /api/v1/watchlists HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n' +
  'Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n';

const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
const END = '0\r\n\r\n';

test('a chunked body is accepted up to the limit', async () => {
  const { handled, edge } = await serving();
  const body = chunk(MAX_BYTES / 2) + chunk(MAX_BYTES / 2) + END;
  expect(parseReply(await converse(edge, HEAD + body)).status).toBe(201);
  expect(handled.map(({ body }) => Buffer.from(body ?? '', 'base64').length)).toEqual([MAX_BYTES]);
});

test('a chunked body is refused as soon as it exceeds the limit, before its end', async () => {
  const { handled, edge } = await serving();
  const reply = parseReply(await converse(edge, HEAD + chunk(MAX_BYTES / 2) + chunk(MAX_BYTES / 2 + 1)));
  expect([reply.status, JSON.parse(reply.body.toString()).code]).toEqual([413, 'content-too-large']);
  expect(handled).toEqual([]);
});
