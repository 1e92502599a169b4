/** The folders and child processes of benchmarks. All of them are removed when this process ends, even by Ctrl-C. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface BenchOptions {
  /** A small version that only shows that the benchmark runs: its numbers have no meaning. */
  readonly quick: boolean;
  /** Larger sizes: some benchmarks then take many minutes. */
  readonly full: boolean;
  /** The number of measurements of each contestant. */
  readonly rounds: number;
  readonly workspace: Workspace;
}

/** Measures, and returns the Markdown of its section. If it cannot run here: `Skipped: `, the reason and the remedy. */
export type Benchmark = (options: BenchOptions) => Promise<string>;

export class Workspace {
  /** TMPDIR chooses the place: on a tmpfs, the difference shows the cost of fsync. */
  readonly #root = mkdtempSync(join(tmpdir(), 'tidemark-bench-'));
  readonly #children = new Set<ChildProcess>();
  #folders = 0;

  constructor() {
    process.on('exit', () => {
      for (const child of this.#children) child.kill('SIGTERM');
      rmSync(this.#root, { recursive: true, force: true });
    });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  }

  /** Makes an empty folder. */
  folder(name: string): string {
    const folder = join(this.#root, `${++this.#folders}-${name}`);
    mkdirSync(folder);
    return folder;
  }

  /** Starts a process that is ended together with this one. */
  spawn(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const child = spawn(command, args, options);
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    child.on('error', () => this.#children.delete(child));
    return child;
  }

  /** Runs a process to its end and returns its output. Rejects if it fails or takes longer than `limitMs`. */
  async run(command: string, args: readonly string[], limitMs: number): Promise<string> {
    const child = this.spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: limitMs });
    const ended = once(child, 'close');
    const output = await text(child.stdout as NodeJS.ReadableStream);
    const [code, signal] = await ended;
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code ?? signal}`);
    return output;
  }

  /** Ends a process and waits until it is gone. */
  async end(child: ChildProcess): Promise<void> {
    if (!this.#children.has(child)) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  }
}
