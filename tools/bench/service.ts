/** `npm start` without npm: the server in its own process. */
import { execSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { placed } from './processor-time.ts';
import type { Workspace } from './workspace.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The commands of the start script: the first builds the bundle, the second starts it with little memory. */
const [BUILD, START] = startScript();
/** Matches the last line that the server prints once it responds. */
const STARTED = /curl -i \S+/;

export interface MeasuredServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface ServiceProcess extends MeasuredServer {
  /** The time from its start until it reported that it responds. */
  readonly startedMs: number;
  /** Returns the text of an answer. */
  get(path: string): Promise<string>;
  /** Sends one batch as the operator. Rejects if it is refused. */
  send(records: readonly unknown[]): Promise<void>;
}

/** Starts the server, and waits until it responds. */
export async function startServiceProcess(workspace: Workspace, dataFolder: string): Promise<ServiceProcess> {
  const { PATH = '', TIDEMARK_PROJECTIONS } = process.env;
  // A test switches the daily files off: they take most of a first start.
  const settings = TIDEMARK_PROJECTIONS === undefined ? {} : { TIDEMARK_PROJECTIONS };
  execSync(BUILD, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const beganAtMs = performance.now();
  const child = workspace.spawn(...placed('server', 'sh', ['-c', START]), {
    cwd: ROOT,
    env: { PATH, PORT: '0', TIDEMARK_DATA: dataFolder, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await servingAt(child.stdout as Readable);
  return {
    url,
    pid: child.pid as number,
    startedMs: performance.now() - beganAtMs,
    get: async (path) => await (await fetch(`${url}${path}`)).text(),
    async send(records) {
      const answer = await fetch(`${url}/api/v1/ingest/batches`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${readFileSync(join(dataFolder, 'operator-key'), 'utf8').trim()}`,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        },
        body: JSON.stringify({ records }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`a batch was answered ${answer.status}: ${text}`);
    },
    stop: () => workspace.end(child),
  };
}

function startScript(): [build: string, start: string] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return scripts.start.split(' && ');
}

async function servingAt(stdout: Readable): Promise<string> {
  let output = '';
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const url = /http:\/\/[\w.:]+/.exec(output)?.[0];
    if (STARTED.test(output) && url !== undefined) {
      stdout.resume();
      return url;
    }
  }
  throw new Error(`the embedded server ended before it served:\n${output}`);
}
