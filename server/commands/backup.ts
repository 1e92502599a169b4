/** `tidemark backup DIR`: a copy of everything that cannot be made again, while the server runs or not. */
import { readFileSync } from 'node:fs';
import type { CopyStep } from '../backup/copied-files.ts';
import { type BackupReport, writeBackup } from '../backup/write-backup.ts';
import { checkClock, type Environment, readConfig } from '../settings/config.ts';

export interface BackupCommand {
  readonly dir: string;
  readonly keep: number;
  readonly verify: boolean;
  readonly progress: CopyStep;
}

/** @throws StartError for a fault that an operator can correct */
export async function backUp(environment: Environment, command: BackupCommand): Promise<BackupReport> {
  process.umask(0o077);
  const nowMs = Date.now();
  checkClock(nowMs);
  const { dataFolder } = readConfig(environment);
  return await writeBackup({ ...command, dataFolder, nowMs, version: readOwnVersion() });
}

function readOwnVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
