/**
 * Publishes the given ledger file into a directory store beside it, and prints the measurements as JSON. The names of
 * projections may follow, e.g. `log`.
 */
import { dirname } from 'node:path';
import { parseProjections } from '../../contract/files/projections.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { DEPLOYMENT, LOG } from './aws/deployment.ts';
import { residentBytes } from './processor-time.ts';
import { publishDue, SettableClock } from './publish-due.ts';
import { elapsedMs } from './rounds.ts';

export interface PublishReport {
  readonly dataFolder: string;
  readonly elapsedMs: number;
  /** The peak memory of this process, Node included. */
  readonly maxRssBytes: number;
}

const [path, ...names] = process.argv.slice(2);
const projections = parseProjections(names.join(',') || 'none');
if (path === undefined || projections === null) throw new RangeError('give the path of a ledger, and projections');
const dataFolder = dirname(path);
const ledger = openSqliteLedger(path, { exclusive: true });
const objects = await openDirectoryObjects(dataFolder);
const clock = new SettableClock(Date.now);
let attempts = 0;
const dependencies = {
  ledger,
  objects,
  nowMs: clock.nowMs,
  newAttemptId: () => `publish-${++attempts}`,
  ...DEPLOYMENT,
  projections,
  ...(projections.has('log') && { log: LOG }),
};
const tookMs = await elapsedMs(() => publishDue(dependencies, clock));
ledger.close();
const report: PublishReport = {
  dataFolder,
  elapsedMs: tookMs,
  maxRssBytes: residentBytes(process.pid).most,
};
console.log(JSON.stringify(report));
