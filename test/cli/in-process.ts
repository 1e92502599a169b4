/** `tidemark` in the process of the test: most of the time of a short command is the start of its process. */
import { vi } from 'vitest';
import { runCommandLine } from '../../cli/program/run-command-line.ts';
import { environmentOf, type Run, type RunOptions } from './tidemark.ts';

/** As {@link tidemark}, for commands that read no standard input. One at a time. */
export async function tidemarkHere(words: readonly string[], options: Omit<RunOptions, 'input'> = {}): Promise<Run> {
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
