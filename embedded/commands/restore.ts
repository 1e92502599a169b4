/**
 * `tidemark restore`: continues with an older copy of the ledger, although later generations were published. The server
 * must be stopped, and the copy must be in place: docs/operations.md.
 */
import { restore } from '../../publisher/repair/restore.ts';
import type { Environment } from '../config.ts';
import { useDataFolder } from './stopped-server.ts';

/** Sets the exit code, as {@link useDataFolder} does. */
export async function restoreLedger(environment: Environment): Promise<void> {
  await useDataFolder(environment, async (storage, terminal) => {
    terminal.working('Checking every market');
    const { repaired } = await restore(storage);
    terminal.done(repaired.size === 0 ? 'All markets add up' : `Markets that did not add up: ${repaired.size}`);
    for (const [slug, outcome] of repaired) terminal.say(`    ${slug}: ${outcome}`);
    terminal.done('The next start publishes every market again, in place: npm start');
  });
}
