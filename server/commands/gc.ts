/** `tidemark gc`: one sweep of the data folder of a stopped server. */
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import type { Environment } from '../settings/config.ts';
import { useDataFolder } from './stopped-server.ts';

/** @throws StartError as {@link useDataFolder} does */
export async function removeGarbage(environment: Environment, dryRun: boolean): Promise<void> {
  await useDataFolder(environment, async (storage, terminal) => {
    terminal.working('Looking for objects that no reader can reach');
    const { removed, kept, unknown, endedEarly } = await collectGarbage(storage, { dryRun });
    terminal.done(`${dryRun ? 'A run would remove' : 'Removed'}: ${removed.length} objects; kept: ${kept}`);
    if (dryRun) for (const key of removed) terminal.say(`    ${key}`);
    for (const key of unknown) terminal.say(`    ${key}: no rule knows it, so it stays`);
    if (endedEarly) terminal.done('More is left: run it again');
  });
}
