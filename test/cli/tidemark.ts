/** `tidemark` in its own process: with pipes, or under a pseudo-terminal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const MAIN = join(import.meta.dirname, '../../cli/main.ts');

/** No configuration file. A command can make the folder, to remember logs there. */
export const NO_CONFIG = join(tmpdir(), 'tidemark-without-config', 'config.json');

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
}

export interface Run {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Nothing of this test run's environment but PATH. No configuration file is found. */
export function environmentOf({ environment = {} }: RunOptions): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, TIDEMARK_CONFIG: NO_CONFIG, TIDEMARK_DATA: '/does/not/exist', ...environment };
}

export function spawnTidemark(words: readonly string[], options: RunOptions = {}): ChildProcess {
  return spawn(process.execPath, [MAIN, ...words], { env: environmentOf(options), cwd: options.cwd });
}

export async function tidemark(words: readonly string[], options: RunOptions = {}): Promise<Run> {
  return await finished(spawnTidemark(words, options), options.input);
}

/**
 * The same under a pseudo-terminal, by `script` of util-linux. What it prints has both streams.
 *
 * @param options.keys these keys are typed as soon as that text is shown
 */
export async function tidemarkOnTerminal(
  words: readonly string[],
  options: RunOptions & { readonly keys?: readonly [after: string, keys: string] } = {},
): Promise<Run> {
  const command = [process.execPath, MAIN, ...words].map((word) => `'${word}'`).join(' ');
  // Its width is that of the terminal of this test run, which may have none.
  const child = spawn('script', ['-qec', `stty cols 100 rows 30; ${command}`, '/dev/null'], {
    env: environmentOf(options),
    cwd: options.cwd,
  });
  const { keys } = options;
  if (keys === undefined) return await finished(child, options.input);
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const wasThere = shown.includes(keys[0]);
    shown += chunk.toString('utf8');
    if (!wasThere && shown.includes(keys[0])) child.stdin.write(keys[1]);
  });
  return await finished(child, null);
}

/** @param input null: the input stays open */
export async function finished(child: ChildProcess, input: string | Uint8Array | null = ''): Promise<Run> {
  let [output, errors] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8');
  });
  // A command may end before it has read everything.
  child.stdin?.on('error', () => {});
  if (input !== null) child.stdin?.end(input);
  const [code] = await once(child, 'close');
  return { code: code as number | null, output, errors };
}
