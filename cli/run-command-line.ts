/** Runs one command, and turns whatever it throws into a message and an exit code. */
import { styleText } from 'node:util';
import { CommanderError } from 'commander';
import { StartError } from '../embedded/start-error.ts';
import { StorageCorrupt, StorageUnavailable } from '../storage/errors.ts';
import { CommandError, EXIT_CODES } from './exit-codes.ts';
import { printable } from './output.ts';
import { createProgram } from './program.ts';

/** Faults of the machine that a person can correct: printed without a stack. */
const FAULTS_OF_THE_MACHINE = [StartError, StorageUnavailable, StorageCorrupt];

const NO_ROOM = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** @param words the arguments after the name of the command */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  // `tidemark … | head` ends it, and is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? 0) : explain(error)),
  );
  try {
    const program = await createProgram(words);
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    process.exitCode = explain(error);
  }
}

function explain(error: unknown): number {
  // Commander has printed its message, the help or the version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODES.usage.code;
  if (error instanceof CommandError) {
    say(error.message, error.mend);
    return EXIT_CODES[error.exit].code;
  }
  const { syscall, message, code = '' } = error as NodeJS.ErrnoException;
  if (FAULTS_OF_THE_MACHINE.some((kind) => error instanceof kind)) say(message, null);
  else if (syscall !== undefined) say(`${message}.`, NO_ROOM.includes(code) ? 'Make room, or write elsewhere.' : null);
  else console.error(error);
  return EXIT_CODES.findings.code;
}

function say(message: string, mend: string | null): void {
  const label = styleText(['red', 'bold'], 'error', { stream: process.stderr });
  process.stderr.write(`${label} ${printable(message)}\n`);
  if (mend !== null) process.stderr.write(`${printable(mend).replaceAll(/^/gm, '      ')}\n`);
}
