/**
 * `npm run repair -- gold-usd`: sets the record of a market to the sum of its observations, and has the market
 * published again. The server must be stopped.
 */
import { type RepairOutcome, repairOne } from '../publisher/repair/repair-market.ts';
import { readCommandLine, refuseArguments } from './command-line.ts';
import { StartError } from './config.ts';
import { useDataFolder } from './stopped-server.ts';

const USAGE = `usage: npm run repair -- SLUG ...
  Sets the record of each market to what its observations add up to. Stop the server first.
  TIDEMARK_DATA=PATH   the server's data folder (default .tidemark)`;

const IN_WORDS: { readonly [Outcome in Exclude<RepairOutcome, 'unknown'>]: string } = {
  unchanged: 'adds up already',
  repaired: 'repaired',
  removed: 'removed: it had observations, but no record that says what they are about',
};

const { positionals: slugs } = readCommandLine(USAGE, {}, 'words');
if (slugs.length === 0) refuseArguments('Name the market to repair', USAGE);

await useDataFolder(async (storage, terminal) => {
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
