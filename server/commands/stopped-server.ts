/** Commands for the data folder of a stopped server: the folder is opened, used, and closed again. */
import { verifyAudit } from '../../lambdas/review/verify-audit.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { DEFAULT_PAGE_SIZES, type PublisherStorage } from '../../publisher/dependencies.ts';
import { type RepairOutcome, repairOne } from '../../publisher/repair/repair-market.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { checkHasLedger, openDataFolder } from '../folder/data-folder.ts';
import { StartError } from '../service/start-error.ts';
import { checkClock, type Environment, readConfig } from '../settings/config.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Runs a command with the data folder of the environment. @throws StartError for a fault that the person can correct */
export async function useDataFolder(
  environment: Environment,
  use: (storage: PublisherStorage, terminal: Terminal) => Promise<void>,
): Promise<void> {
  process.umask(0o077);
  checkClock(Date.now());
  const { dataFolder } = readConfig(environment);
  checkHasLedger(dataFolder);
  const terminal = openTerminal(process.stdout);
  await openStopped(dataFolder, {}, (storage) => use(storage, terminal)).finally(terminal.clear);
}

/**
 * Opens the folder, and closes it after `use`. Errors as of {@link openDataFolder}.
 *
 * @param options.isRestoring see {@link openDataFolder}
 */
export async function openStopped<Result>(
  dataFolder: string,
  options: { readonly isRestoring?: boolean },
  use: (storage: PublisherStorage) => Promise<Result>,
): Promise<Result> {
  const data = await openDataFolder(dataFolder, options);
  try {
    const { ledger, objects } = data;
    return await use({ ...systemRuntime, ledger, objects, pageSizes: DEFAULT_PAGE_SIZES });
  } finally {
    await data.target.release();
    data.close();
  }
}

/** `tidemark gc`: one sweep. @throws StartError as {@link useDataFolder} does */
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

const IN_WORDS: { readonly [Outcome in Exclude<RepairOutcome, 'unknown'>]: string } = {
  unchanged: 'adds up already',
  repaired: 'repaired',
  removed: 'removed: it had observations, but no record that says what they are about',
};

/**
 * `tidemark repair gold-usd`: sets the record of a market to the sum of its observations, and has the market published again.
 *
 * @throws StartError as {@link useDataFolder} does
 */
export async function repairByName(environment: Environment, slugs: readonly string[]): Promise<void> {
  await useDataFolder(environment, async (storage, terminal) => {
    const unknown: string[] = [];
    for (const slug of slugs) {
      const outcome = await repairOne(storage, slug);
      if (outcome === 'unknown') unknown.push(slug);
      else terminal.done(`${slug}: ${IN_WORDS[outcome]}`);
    }
    if (unknown.length < slugs.length) terminal.say('  The next start publishes this again: npm start');
    if (unknown.length === 0) return;
    throw new StartError(`There is no market ${unknown.join(', ')}: look up its slug at /api/v1/markets.`);
  });
}

/** `tidemark verify-audit`: checks the chains and seals of the audit. @throws StartError as {@link useDataFolder} does */
export async function checkAudit(environment: Environment): Promise<void> {
  await useDataFolder(environment, async ({ ledger, nowMs }, terminal) => {
    const { records, chains, sealed, findings } = await verifyAudit(ledger, nowMs());
    for (const { day, id, fault, detail } of findings) terminal.say(`  ${day} ${id}: ${fault}: ${detail}`);
    terminal.say(`  ${sealed === null ? 'No day is sealed yet.' : `Sealed to ${sealed.to}, digest ${sealed.digest}`}`);
    if (findings.length > 0) {
      const detail = 'keep a copy of the data folder, and see docs/operations.md, "Verify the audit"';
      throw new StartError(`The audit has ${findings.length} faults: ${detail}.`);
    }
    terminal.done(`${records} audit records in ${chains} chains, all unchanged`);
  });
}
