/** A server that answers as a test says: recorded failures. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { type ProblemCode, problem } from '../../contract/problems/problems.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Reply = (request: SeenRequest, response: ServerResponse) => void;

/** Each request takes the next reply; the last one answers all that follow. */
export async function stubServer(...replies: readonly [Reply, ...Reply[]]) {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const taken = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
    const reply = replies[Math.min(seen.length, replies.length - 1)] as Reply;
    seen.push(taken);
    reply(taken, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

export function json(body: unknown, status = 200): Reply {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

export function refusal(code: ProblemCode, headers: Readonly<Record<string, string>> = {}): Reply {
  return (_, response) => {
    const document = problem(code, 'The reason of this test.', { instance: 'urn:request:test' });
    response.writeHead(document.status, { 'content-type': PROBLEM_CONTENT_TYPE, ...headers });
    response.end(JSON.stringify(document));
  };
}

/** The connection breaks before an answer. */
export const broken: Reply = (_, response) => void response.socket?.destroy();
