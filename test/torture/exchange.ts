/** One connection to the service, as a client of its own: what it was answered, or that there was no answer. */
import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Default: {@link ANSWER_LIMIT_MS}. */
  readonly limitMs?: number;
}

/** A service that is up answers sooner, also on a slow machine that does other work. */
export const ANSWER_LIMIT_MS = 20_000;

export interface Connection {
  /** Rejects if there is no whole answer: the connection failed, broke, or gave none in time. */
  ask(path: string, asked?: Asked): Promise<Answer>;
  close(): void;
}

/** Opens the connection with the first request, and again after it broke. Requests wait for each other. */
export function openConnection(port: () => number): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async ask(path, { method = 'GET', headers = {}, body, limitMs = ANSWER_LIMIT_MS } = {}) {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const sent = request({
        host: '127.0.0.1',
        port: port(),
        agent,
        method,
        path,
        headers: { ...headers, ...length },
      });
      const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${limitMs} ms`)), limitMs);
      try {
        const arrived = once(sent, 'response') as Promise<[IncomingMessage]>;
        sent.end(body);
        const [response] = await arrived;
        const text = (await buffer(response)).toString('utf8');
        return { status: response.statusCode ?? 0, headers: response.headers, text };
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => agent.destroy(),
  };
}
