/** Servers under measurement, each in a process of its own. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { placed } from './processor-time.ts';
import type { Workspace } from './workspace.ts';

export interface Server {
  readonly name: string;
  readonly port: number;
  /** Its process, or the parent of its processes. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a script that prints its port once it listens. `options` are those of node itself. */
export async function startScript(
  workspace: Workspace,
  name: string,
  script: string,
  args: readonly string[],
  options: readonly string[] = [],
): Promise<Server> {
  const path = join(import.meta.dirname, script);
  const child = workspace.spawn(...placed('server', process.execPath, [...options, path, ...args]), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout as Readable });
  const gone = once(child, 'exit').then(() => {
    throw new Error(`${script} ended before it listened`);
  });
  const [line] = (await Promise.race([once(lines, 'line'), gone])) as [string];
  gone.catch(() => undefined);
  return { name, port: Number(line), pid: child.pid as number, stop: () => workspace.end(child) };
}

export interface ServerReply {
  readonly status: number;
  readonly etag: string;
  readonly coding: string;
  /** Names and values in turn, as they came. */
  readonly rawFields: readonly string[];
  readonly body: Buffer;
}

const START_LIMIT_MS = 5_000;

/** One request as wrk sends it, tried again until the server listens. */
export async function ask(
  server: Pick<Server, 'port'>,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<ServerReply> {
  for (const startedAtMs = performance.now(); ; ) {
    try {
      return await askOnce(server, path, headers);
    } catch (error) {
      const isStarting = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
      if (!isStarting || performance.now() - startedAtMs > START_LIMIT_MS) throw error;
      await sleep(20);
    }
  }
}

async function askOnce(
  { port }: Pick<Server, 'port'>,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<ServerReply> {
  // On a connection that could be used again, as under load: the answer to another one has other fields.
  const agent = new Agent({ keepAlive: true });
  const sent = request({ host: '127.0.0.1', port, path, headers, agent });
  sent.end();
  const [response] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  agent.destroy();
  const { statusCode, headers: fields, rawHeaders: rawFields } = response;
  return {
    status: statusCode,
    etag: fields.etag ?? '',
    coding: fields['content-encoding'] ?? 'identity',
    rawFields,
    body: Buffer.concat(chunks),
  };
}
