/** The proof that a service has signed two pasts: kept in the folder of the mirror, which follows no further then. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolderSync } from '../../storage/directory/durable-files.ts';
import type { UpstreamForked } from './mirror-log.ts';

export const FORK_FILE = 'fork-evidence.json';

/** Whether an earlier round has found a fork. The file goes when a person removes it. */
export function hasForkEvidence(folder: string): boolean {
  return existsSync(join(folder, FORK_FILE));
}

/** Anybody can check it: both texts are signed by the same key. Evidence that is there already stays. */
export function keepForkEvidence(
  folder: string,
  url: string,
  { message, earlier, later }: UpstreamForked,
  at: string,
): void {
  if (hasForkEvidence(folder)) return;
  const evidence = { what: message, service: url, foundAt: at, earlierCheckpoint: earlier, laterCheckpoint: later };
  writeFileSync(join(folder, FORK_FILE), `${JSON.stringify(evidence, null, 2)}\n`, { flush: true });
  syncFolderSync(folder);
}
