/**
 * `npm run repair -- gold-usd`: sets the record of a market to the sum of its observations, and has the market
 * published again. The server must be stopped.
 */
import { type RepairOutcome, repairOne } from '../publisher/repair/repair-market.ts';
import { StartError } from './config.ts';
import { useDataFolder } from './stopped-server.ts';

const USAGE = 'usage: npm run repair -- SLUG ...';

const IN_WORDS: { readonly [Outcome in RepairOutcome]: string } = {
  unchanged: 'adds up already',
  repaired: 'repaired',
  removed: 'removed: it has observations, but no record says what they are about',
  unknown: 'there is no such market',
};

await useDataFolder(async (storage, terminal) => {
  const slugs = process.argv.slice(2);
  if (slugs.length === 0) throw new StartError(USAGE);
  for (const slug of slugs) {
    const outcome = await repairOne(storage, slug);
    if (outcome === 'unknown') process.exitCode = 1;
    terminal.say(`  ${slug}: ${IN_WORDS[outcome]}`);
  }
  terminal.done('The next start publishes them again: npm start');
});
