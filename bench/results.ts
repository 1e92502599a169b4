/** The results of the last measurement of each benchmark, which `--write` keeps: one file each in bench/results/. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Block } from './section.ts';
import { bytes, number } from './table.ts';

const FOLDER = join(import.meta.dirname, 'results');

export interface StoredResults {
  /** In UTC, e.g. 2026-11-23. */
  readonly measuredOn: string;
  /** How, and on which machine: without a full stop. */
  readonly conditions: string;
  readonly blocks: readonly Block[];
}

/** Null if the benchmark has never been written. */
export function readResults(name: string): StoredResults | null {
  const path = join(FOLDER, `${name}.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
}

export function writeResults(name: string, results: StoredResults): void {
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(results, null, 2)}\n`);
}

/** Of statfs(2). */
const FILE_SYSTEMS = new Map([
  [0xef53, 'ext4'],
  [0x1021994, 'tmpfs'],
  [0x794c7630, 'overlayfs'],
  [0x58465342, 'XFS'],
  [0x9123683e, 'Btrfs'],
]);

/** Processor, memory and programs of this machine, and the file system of the temporary folders. */
export function describeMachine(folder: string): string {
  const files = FILE_SYSTEMS.get(statfsSync(folder).type) ?? 'another file system';
  const [{ model } = { model: 'unknown processor' }] = cpus();
  const system = /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux';
  const count = availableParallelism();
  const processors = `${model.trim()}, ${count} ${count === 1 ? 'processor' : 'processors'}`;
  const kernel = release().split('-')[0];
  return `${processors}, ${bytes(totalmem())} of memory, files on ${files}, ${system}, Linux ${kernel}, Node ${process.version}${nginxVersion()}`;
}

function nginxVersion(): string {
  try {
    // It writes to the error output.
    const text = execFileSync('sh', ['-c', 'nginx -v 2>&1'], { encoding: 'utf8' });
    const version = /nginx\/([\d.]+)/.exec(text)?.[1];
    return version === undefined ? '' : `, nginx ${version}`;
  } catch {
    return '';
  }
}

/** What else ran on the machine: to be asked before the measurement begins. */
export function describeLoad([lastMinute = 0]: readonly number[]): string {
  return `load average before: ${number(lastMinute, 2)}`;
}
