/** `tidemark verify-audit`: checks the chains and seals of the audit. The server must be stopped. */
import { verifyAudit } from '../../lambdas/review/verify-audit.ts';
import { StartError } from '../service/start-error.ts';
import type { Environment } from '../settings/config.ts';
import { useDataFolder } from './stopped-server.ts';

/** @throws StartError as {@link useDataFolder} does */
export async function checkAudit(environment: Environment): Promise<void> {
  await useDataFolder(environment, async ({ ledger, nowMs }, terminal) => {
    const { records, chains, sealed, findings } = await verifyAudit(ledger, nowMs());
    for (const { day, id, fault, detail } of findings) terminal.say(`  ${day} ${id}: ${fault}: ${detail}`);
    terminal.say(`  ${sealed === null ? 'No day is sealed yet.' : `Sealed to ${sealed.to}, digest ${sealed.digest}`}`);
    if (findings.length > 0) {
      const detail = 'keep a copy of the data folder, and see docs/operations.md, "Verify the audit"';
      throw new StartError(`The audit has ${findings.length} faults: ${detail}.`);
    }
    terminal.done(`${records} audit records in ${chains} chains, as they were written`);
  });
}
