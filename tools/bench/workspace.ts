/**
 * Temporary folders and child processes of a benchmark: all of them are removed when this process ends, also by Ctrl-C.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Workspace {
  readonly #root: string;
  readonly #children = new Set<ChildProcess>();
  #folders = 0;

  /** `parent`: where the temporary folder is made; the system's own when not given. */
  constructor(parent = tmpdir()) {
    this.#root = mkdtempSync(join(parent, 'tidemark-bench-'));
    process.on('exit', () => this.#clear());
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  }

  /** Makes an empty folder. */
  folder(name: string): string {
    const folder = join(this.#root, `${++this.#folders}-${name}`);
    mkdirSync(folder);
    return folder;
  }

  /** Removes a folder before the end, where it is large. */
  remove(folder: string): void {
    rmSync(folder, { recursive: true, force: true });
  }

  /** Starts a process that ends with this one. */
  spawn(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const child = spawn(command, args, options);
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    child.on('error', () => this.#children.delete(child));
    return child;
  }

  /** Runs a process to its end and gives what it printed. Rejects when it fails or takes longer than `limitMs`. */
  async run(command: string, args: readonly string[], limitMs: number): Promise<string> {
    const child = this.spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
    const output = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.setEncoding('utf8').on('data', (text: string) => {
        output[stream] += text;
      });
    }
    const [code, signal] = await once(child, 'close').finally(() => clearTimeout(timer));
    if (code === 0) return output.stdout;
    throw new Error(`${command} ${args.join(' ')} ended with ${code ?? signal}: ${output.stderr.trim()}`);
  }

  /** Ends a process and waits until it is gone. */
  async end(child: ChildProcess): Promise<void> {
    if (!this.#children.has(child)) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  }

  #clear(): void {
    for (const child of this.#children) child.kill('SIGTERM');
    rmSync(this.#root, { recursive: true, force: true });
  }
}
