/** Runs one command, and turns every error into a message and an exit code. */
import { CommanderError } from 'commander';
import { SettingError, StartError } from '../../server/service/start-error.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { CommandError, EXIT_CODES } from './exit-codes.ts';
import { printError, printUnexpected, watchOutput } from './output.ts';
import { createProgram } from './program.ts';

/** Faults of the machine that a person can correct. They are printed without a stack. */
const FAULTS_OF_THE_MACHINE = [StartError, StorageUnavailable, StorageCorrupt];

const NO_ROOM = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** @param words the arguments after the name of the command */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  watchOutput(explain);
  try {
    const program = await createProgram(words);
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    process.exitCode = explain(error);
  }
}

function explain(error: unknown): number {
  // Commander has already printed its message, the help or the version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODES.usage.code;
  if (error instanceof CommandError) {
    printError(error.message, error.hint);
    return EXIT_CODES[error.exit].code;
  }
  const { syscall, message, code = '' } = error as NodeJS.ErrnoException;
  if (FAULTS_OF_THE_MACHINE.some((kind) => error instanceof kind)) printError(message, null);
  else if (syscall !== undefined)
    printError(`${message}.`, NO_ROOM.includes(code) ? 'Make room, or write elsewhere.' : null);
  else printUnexpected(error);
  return EXIT_CODES[error instanceof SettingError ? 'usage' : 'findings'].code;
}
