/** Publishes the ledger whose path is given into a directory store beside it, and prints what that took, as JSON. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { publish } from '../../publisher/publish.ts';
import { openDirectoryObjects } from '../../storage/directory-objects.ts';
import { openSqliteLedger } from '../../storage/sqlite-ledger.ts';
import { DEPLOYMENT } from '../deployment.ts';
import { cpuMs, elapsedMs } from '../rounds.ts';

export interface PublishReport {
  readonly dataFolder: string;
  readonly elapsedMs: number;
  readonly cpuMs: number;
  /** The most memory that this process ever had at once, Node included. */
  readonly maxRssBytes: number;
}

const [path] = process.argv.slice(2);
if (path === undefined) throw new RangeError('give the path of a ledger');
const dataFolder = dirname(path);
const ledger = openSqliteLedger(path, { exclusive: true });
const objects = await openDirectoryObjects(join(dataFolder, 'objects'));
let attempts = 0;
const dependencies = {
  ledger,
  objects,
  nowMs: Date.now,
  newAttemptId: () => `publish-${++attempts}`,
  ...DEPLOYMENT,
};
let spentMs = 0;
const tookMs = await elapsedMs(async () => {
  spentMs = await cpuMs(() => publish(dependencies));
});
ledger.close();
const report: PublishReport = {
  dataFolder,
  elapsedMs: tookMs,
  cpuMs: spentMs,
  maxRssBytes: maxRssBytes(),
};
console.log(JSON.stringify(report));

/**
 * On Linux `resourceUsage().maxRSS` is never below what the parent held when it started this process: the mark survives
 * exec. The mark of this process's own memory is `VmHWM` (proc_pid_status(5)). Both count kilobytes of 1,024 bytes.
 */
function maxRssBytes(): number {
  const own =
    process.platform === 'linux' ? /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) : null;
  return (own === null ? process.resourceUsage().maxRSS : Number(own[1])) * 1024;
}
