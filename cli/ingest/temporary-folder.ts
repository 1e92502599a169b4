/** A folder for temporary copies. It is removed when the command ends, even after a signal. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../program/exit-codes.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Only its owner can read the folder. */
export async function inTemporaryFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-ingest-')).catch(noRoom);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // After Ctrl-C, the folder is removed, and the process ends as usual.
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
