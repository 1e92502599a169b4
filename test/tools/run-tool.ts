/** Runs a tool to its end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';

export interface ToolRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** Standard output and error, as they came. */
  readonly output: string;
}

/** Never rejects for an exit code. Rejects where the program is missing. Files are UTF-8, wherever this machine is. */
export function runTool(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<ToolRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, LC_ALL: 'C.UTF-8', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, output] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, stdout, output }));
  });
}

/** Runs it in the folder. @throws AssertionError with its output unless it succeeds */
export async function succeed(cwd: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const run = await runTool(program, args, { cwd, env });
  assert.equal(run.exitCode, 0, `${program} ${args.join(' ')}\n${run.output}`);
  return run;
}
