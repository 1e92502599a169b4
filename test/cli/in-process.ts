/** `tidemark` in the process of the test: most of the time of a short command is the start of its process. */
import { Readable } from 'node:stream';
import { vi } from 'vitest';
import { runCommandLine } from '../../cli/program/run-command-line.ts';
import { environmentOf, type Run, type RunOptions, tidemark } from './tidemark.ts';

let last: Promise<unknown> = Promise.resolve();

/** As {@link tidemark}. Calls at once run one after the other. Hooks of Node still need a process. */
export async function tidemarkHere(words: readonly string[], options: RunOptions = {}): Promise<Run> {
  if (options.environment?.NODE_OPTIONS !== undefined) return await tidemark(words, options);
  const run = last.then(() => runHere(words, options));
  last = run.catch(() => {});
  return await run;
}

async function runHere(words: readonly string[], options: RunOptions): Promise<Run> {
  const run = { code: 0, output: '', errors: '' };
  const { stdout, stderr } = process;
  const listeners = stdout.listeners('error');
  const keep = (part: 'output' | 'errors') => (chunk: unknown) => {
    run[part] += String(chunk);
    return true;
  };
  const taken = [
    vi.spyOn(stdout, 'write').mockImplementation(keep('output')),
    vi.spyOn(stderr, 'write').mockImplementation(keep('errors')),
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdinOf(options.input ?? '')),
  ];
  for (const [name, value] of Object.entries(environmentOf(options))) vi.stubEnv(name, value);
  process.exitCode = 0;
  const cwd = process.cwd();
  if (options.cwd !== undefined) process.chdir(options.cwd);
  try {
    await runCommandLine(words);
    run.code = Number(process.exitCode);
  } finally {
    process.exitCode = 0;
    process.chdir(cwd);
    vi.unstubAllEnvs();
    for (const each of taken) each.mockRestore();
    for (const each of stdout.listeners('error'))
      if (!listeners.includes(each)) stdout.off('error', each as () => void);
  }
  return run;
}

function stdinOf(input: string | Uint8Array): typeof process.stdin {
  return Readable.from(input.length === 0 ? [] : [Buffer.from(input)]) as unknown as typeof process.stdin;
}
