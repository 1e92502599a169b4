/**
 * `npm run restore`: goes on with an older copy of the ledger, beside what was published later. The server must be stopped, and the
 * copy in its place. docs/operations.md says how.
 */
import { restore } from '../publisher/repair/restore.ts';
import { useDataFolder } from './stopped-server.ts';

await useDataFolder(async (storage, terminal) => {
  terminal.working('Looking at every market');
  const { repaired } = await restore(storage);
  terminal.done(repaired.size === 0 ? 'All markets add up' : `Markets that did not add up: ${repaired.size}`);
  for (const [slug, outcome] of repaired) terminal.say(`    ${slug}: ${outcome}`);
  terminal.done('The next start publishes every market again, in place: npm start');
});
