/** A folder for copies that must not stay, whatever ends the command. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../program/exit-codes.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Only its owner can read it. */
export async function inTemporaryFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-ingest-')).catch(noRoom);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Ctrl-C leaves no copy behind, and ends the process as it does elsewhere.
  const end = (signal: NodeJS.Signals): void => {
    remove();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, end);
  try {
    return await use(folder);
  } finally {
    remove();
    for (const signal of SIGNALS) process.off(signal, end);
  }
}

export function noRoom(cause: Error): never {
  const hint =
    'A large file is copied there first. Make room, or name another folder: TMPDIR=/var/tmp tidemark ingest …';
  throw new CommandError('findings', `${tmpdir()} cannot be written: ${cause.message}.`, hint, { cause });
}
