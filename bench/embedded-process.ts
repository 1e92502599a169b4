/** `npm start`, without npm: the embedded server in a process of its own. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ServerReport } from './children/loop-watch.ts';
import type { Workspace } from './workspace.ts';

/** Of `tidemark`. */
const MAIN = join(import.meta.dirname, '..', 'cli', 'main.ts');
const LOOP_WATCH = join(import.meta.dirname, 'children', 'loop-watch.ts');
/** The last of the lines that it prints once it serves. */
const STARTED = /curl -i \S+/;

export interface EmbeddedProcess {
  readonly baseUrl: string;
  readonly dataFolder: string;
  /** From its start until it said that it serves, in milliseconds. */
  readonly startedMs: number;
  /** The processor time of the start; NaN if the system does not report it. */
  readonly startedCpuMs: number;
  /** The first API key. */
  operatorKey(): string;
  /** How long its event loops were blocked since this was last asked. */
  loops(): Promise<ServerReport>;
  stop(): Promise<void>;
}

/** Starts it, and waits until it serves. */
export async function startEmbedded(workspace: Workspace, dataFolder: string): Promise<EmbeddedProcess> {
  const { PATH = '', TIDEMARK_PROJECTIONS } = process.env;
  // A test leaves the daily files out: they take most of a first start.
  const settings = TIDEMARK_PROJECTIONS === undefined ? {} : { TIDEMARK_PROJECTIONS };
  const beganAtMs = performance.now();
  const child = workspace.spawn(process.execPath, ['--import', LOOP_WATCH, MAIN, 'start'], {
    env: { PATH, PORT: '0', TIDEMARK_DATA: dataFolder, ...settings },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const baseUrl = await servingAt(child.stdout as Readable);
  const startedMs = performance.now() - beganAtMs;
  return {
    baseUrl,
    dataFolder,
    startedMs,
    startedCpuMs: cpuMsOf(child.pid as number),
    operatorKey: () => readFileSync(join(dataFolder, 'operator-key'), 'utf8').trim(),
    async loops() {
      const answer = once(child, 'message');
      child.send('report');
      return ((await answer) as [ServerReport])[0];
    },
    stop: () => workspace.end(child),
  };
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

/** Of all threads, in user and in system mode: fields 14 and 15 of proc_pid_stat(5), in hundredths of a second. */
function cpuMsOf(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
