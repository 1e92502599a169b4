/** `tidemark start` in a process group of its own, which can be killed and started again on the same port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');
/** The last of the lines that a server prints once it serves. */
const STARTED = /curl -i \S+/;
const OUTPUT_KEPT = 20_000;

export interface ServiceOptions {
  readonly dataFolder: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Options of Node, before the program. */
  readonly nodeOptions?: readonly string[];
  /** A program and its arguments that starts the command which follows, e.g. in a namespace. */
  readonly prefix?: readonly string[];
  /** The data folder as this process sees it, if the service is in another mount namespace. */
  readonly shownFolder?: string;
}

/** `machine`: every process of the service at once. `process`: the first one only, as by the system's OOM killer. */
export type Killed = 'machine' | 'process';

export interface ServiceProcess {
  readonly options: ServiceOptions;
  /** Of the first start; later starts take it again. */
  readonly port: () => number;
  /** Whether it has said that it serves, and was not told to end since. */
  readonly isServing: boolean;
  /** Grows with each start. */
  readonly life: number;
  /** The leader of the process group; 0 before the first start. */
  readonly pid: number;
  /** Resolves when it serves. Rejects with the end of its output if it ends before. */
  start(): Promise<void>;
  /** Begins a start without waiting for its end. */
  begin(): void;
  /** Resolves when it serves, or has ended. */
  served(): Promise<void>;
  kill(what: Killed): Promise<void>;
  /** All processes of the newest life, also those that have outlived the first one. */
  processes(): number;
  /** Ends it in order. Resolves to its exit code, or the signal. */
  stop(): Promise<number | NodeJS.Signals>;
  /** Ends everything of it, at once. */
  end(): Promise<void>;
  /** Its own end, without having been told: null if there was none since the last start. */
  readonly crash: string | null;
  /** The newest part of what it wrote on stderr, of all lives. */
  errors(): string;
  operatorKey(): string;
  /** Resident memory of all its processes, in bytes; NaN where the system does not tell. */
  memoryBytes(): number;
  /** Open sockets of all its processes; 0 where the system does not tell. */
  sockets(): number;
}

export function createService(options: ServiceOptions): ServiceProcess {
  const { dataFolder, environment = {}, nodeOptions = [], prefix = [], shownFolder = dataFolder } = options;
  let child: ChildProcess | null = null;
  let [port, life] = [0, 0];
  let isServing = false;
  let isTold = true;
  let crash: string | null = null;
  let errors = '';
  let served: Promise<void> = Promise.resolve();
  let ended: Promise<number | NodeJS.Signals> = Promise.resolve(0);

  function begin(): void {
    const command = [...prefix, process.execPath, ...nodeOptions, MAIN, 'start'];
    const { PATH = '' } = process.env;
    const started = spawn(command[0] as string, command.slice(1), {
      env: {
        PATH,
        PORT: String(port),
        TIDEMARK_DATA: dataFolder,
        TIDEMARK_SAMPLE: 'no',
        TIDEMARK_PROJECTIONS: 'log',
        TIDEMARK_VERIFY_HOURS: '0',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: its processes are killed together.
      detached: true,
    });
    child = started;
    life++;
    isTold = false;
    crash = null;
    let output = '';
    const serves = Promise.withResolvers<void>();
    started.stdout.on('data', (chunk: Buffer) => {
      if (isServing) return;
      output += chunk.toString('utf8');
      if (!STARTED.test(output) || isTold) return;
      port = Number(/http:\/\/[\w.]+:(\d+)/.exec(output)?.[1]);
      isServing = true;
      serves.resolve();
    });
    started.stderr.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk.toString('utf8')}`.slice(-OUTPUT_KEPT);
    });
    ended = once(started, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
    void ended.then((end) => {
      if (!isTold) crash = `it ended by itself with ${end}: ${errors.slice(-1_000)}`;
      if (child === started) isServing = false;
      serves.reject(new Error(`it ended with ${end} before it served: ${output.slice(-500)} ${errors.slice(-1_000)}`));
    });
    served = serves.promise;
    served.catch(() => {});
  }

  function told(): void {
    isTold = true;
    isServing = false;
  }

  function signalGroup(signal: NodeJS.Signals): void {
    if (child?.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  return {
    options,
    port: () => port,
    get isServing() {
      return isServing;
    },
    get life() {
      return life;
    },
    get pid() {
      return child?.pid ?? 0;
    },
    get crash() {
      return crash;
    },
    begin,
    served: () => served.catch(() => {}),
    async start() {
      begin();
      await served;
    },
    async kill(what) {
      told();
      if (what === 'machine') signalGroup('SIGKILL');
      else child?.kill('SIGKILL');
      await ended;
    },
    processes: () => [...processesOf(child?.pid ?? 0)].length,
    async stop() {
      told();
      child?.kill('SIGINT');
      return await ended;
    },
    async end() {
      told();
      signalGroup('SIGKILL');
      await ended;
    },
    errors: () => errors,
    operatorKey: () => readFileSync(join(shownFolder, 'operator-key'), 'utf8').trim(),
    memoryBytes: () => memoryOfGroup(child?.pid ?? 0),
    sockets: () => socketsOfGroup(child?.pid ?? 0),
  };
}

/** The processes of a group; none where the system does not tell (proc(5)). */
function* processesOf(group: number): Generator<string> {
  if (process.platform !== 'linux') return;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // After the name of the command, which may hold anything: state, parent, group.
      const [, , of] = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      if (Number(of) === group) yield `/proc/${name}`;
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Sums `VmRSS` of the processes of a group. Shared pages count once for each of them. */
function memoryOfGroup(group: number): number {
  const kilobytes = [...processesOf(group)].map((path) => {
    try {
      return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`${path}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return kilobytes.length === 0 ? Number.NaN : kilobytes.reduce((sum, one) => sum + one, 0) * 1024;
}

function socketsOfGroup(group: number): number {
  let sockets = 0;
  for (const path of processesOf(group)) {
    for (const name of readdirSync(`${path}/fd`)) {
      try {
        if (readlinkSync(`${path}/fd/${name}`).startsWith('socket:')) sockets++;
      } catch {
        // It was closed meanwhile.
      }
    }
  }
  return sockets;
}
