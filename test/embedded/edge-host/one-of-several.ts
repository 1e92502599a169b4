/** Connections to one edge of several that share a port, and what they are asked over it. */
import { Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';
import type { ServerProcess } from '../server-process.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The processes of the edges, by their numbers, as the log tells them. */
export function edgeProcesses(server: ServerProcess): ReadonlyMap<number, number> {
  const lines = server.output().matchAll(/edge started edge=(\d+) process=(\d+)/g);
  return new Map(Array.from(lines, ([, edge, process]) => [Number(edge), Number(process)]));
}

/** Enough that not all of them are given to edges that stand still. */
const ATTEMPTS = 32;

/** An agent whose connection is one to this edge: the others stand still until one of many connections is answered. */
export async function connectionTo(server: ServerProcess, edge: number): Promise<Agent> {
  const baseUrl = await server.started;
  const others = [...edgeProcesses(server)].filter(([number]) => number !== edge).map(([, process]) => process);
  for (const other of others) process.kill(other, 'SIGSTOP');
  const agents = Array.from({ length: ATTEMPTS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  try {
    const answered = agents.map(async (agent) => {
      await ask(agent, 'GET', `${baseUrl}/healthz`);
      return agent;
    });
    const chosen = await Promise.any(answered);
    for (const agent of agents) if (agent !== chosen) agent.destroy();
    await Promise.allSettled(answered);
    return chosen;
  } finally {
    for (const other of others) process.kill(other, 'SIGCONT');
  }
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function ask(agent: Agent | undefined, method: string, url: string, options: AskOptions = {}): Promise<Reply> {
  const { promise, sent } = begin(agent, method, url, options.headers);
  sent.end(options.body);
  return promise;
}

/** A request whose body is yet to be written. */
export function begin(
  agent: Agent | undefined,
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): { readonly sent: ClientRequest; readonly promise: Promise<Reply> } {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sent = request(url, { method, headers, ...(agent === undefined ? {} : { agent }) }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    response.on('error', reject);
  });
  sent.on('error', reject);
  return { sent, promise };
}
