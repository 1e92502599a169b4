/** The processor time of other processes, and where they run. For Linux. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** User and system time of a process and of its living children, of all threads, in seconds. */
export function cpuSeconds(pid: number): number {
  const ticks = [pid, ...childrenOf(pid)].map((process) => {
    // The name is in brackets and may contain spaces. utime and stime are the fields 14 and 15, proc(5).
    const fields = readFileSync(`/proc/${process}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

/** The resident memory of a process, in bytes: now, and at its peak. */
export function residentBytes(pid: number): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { now: kilobytes('VmRSS') * 1024, most: kilobytes('VmHWM') * 1024 };
}

function childrenOf(pid: number): readonly number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const own = threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '));
  const children = own.filter((child) => child.trim() !== '').map(Number);
  return [...children, ...children.flatMap(childrenOf)];
}

/** Servers run on the last processor, and the load on the others, so that they neither move nor share one. */
export type Place = 'server' | 'load';

const CORES = availableParallelism();
const CAN_PIN = CORES > 1 && spawnSync('taskset', ['--version'], { stdio: 'ignore' }).error === undefined;

/** A sentence for the document: how the processes are placed on this machine. */
export const PLACEMENT = CAN_PIN
  ? `Each server runs on processor ${CORES - 1} alone, the load on the other${CORES > 2 ? 's' : ''}.`
  : 'Processes run on any processor.';

/** The command, pinned to its place. The process has the same id as without pinning. */
export function placed(place: Place, command: string, args: readonly string[]): [string, readonly string[]] {
  if (!CAN_PIN) return [command, args];
  const processors = place === 'server' ? String(CORES - 1) : `0-${CORES - 2}`;
  return ['taskset', ['-c', processors, command, ...args]];
}
