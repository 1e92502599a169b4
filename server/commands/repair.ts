/**
 * `tidemark repair gold-usd`: sets the record of a market to the sum of its observations, and has the market
 * published again. The server must be stopped.
 */
import { type RepairOutcome, repairOne } from '../../publisher/repair/repair-market.ts';
import { StartError } from '../service/start-error.ts';
import type { Environment } from '../settings/config.ts';
import { useDataFolder } from './stopped-server.ts';

const IN_WORDS: { readonly [Outcome in Exclude<RepairOutcome, 'unknown'>]: string } = {
  unchanged: 'adds up already',
  repaired: 'repaired',
  removed: 'removed: it had observations, but no record that says what they are about',
};

/** @throws StartError as {@link useDataFolder} does */
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
