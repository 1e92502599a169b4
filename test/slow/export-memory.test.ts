/**
 * The daily export in a process of its own. Its memory does not grow with the log, because parts are made one after the other; so
 * 140,000 observations, which are two parts and the beginning of a third, have the bound of a million.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { DEPLOYMENT, LOG } from '../../tools/bench/aws/deployment.ts';
import { publishDue, SettableClock } from '../../tools/bench/publish-due.ts';
import { dependenciesOn, fillLedger } from '../../tools/bench/synthetic-ledger.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import type { ExportReports } from './export-child.ts';

const CHILD = join(import.meta.dirname, 'export-child.ts');
const OBSERVATIONS = 140_000;
/** Of the 500 MB that are promised, some are for a machine that tidies its memory later. */
const BYTES_MAX = 475e6;
/** Processor time of the event loop's thread, tidying of memory included, so a busy machine changes it little. */
const STRETCH_MAX_MS = 150;
/** Ends a run that hangs. Not a limit on speed. */
const RUN_LIMIT_MS = 600_000;

/** A small published deployment: its entries are the models of those that are exported. */
async function prepareExports(folder: string, markets: number): Promise<void> {
  const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
  const objects = await openDirectoryObjects(folder);
  const clock = new SettableClock(Date.now);
  await fillLedger(ledger, markets);
  const publisher = { ...dependenciesOn(ledger), nowMs: clock.nowMs, objects, ...DEPLOYMENT, log: LOG };
  await publishDue({ ...publisher, projections: new Set(['log'] as const) }, clock);
  ledger.close();
}

test.runIf(process.platform === 'linux')(
  'an export, and one that changes all its parts, take less than 500 MB and let requests run',
  async () => {
    const folder = await temporaryFolder();
    await prepareExports(folder, 200);
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD, folder, String(OBSERVATIONS)]);
    const { first, corrected } = JSON.parse(stdout) as ExportReports;
    for (const { maxRssBytes, longestCpuMs, p99CpuMs, bytesPut } of [first, corrected]) {
      console.info(`${Math.round(maxRssBytes / 1e6)} MB, longest stretch ${Math.round(longestCpuMs)} ms`);
      expect(bytesPut).toBeGreaterThan(5e6);
      expect(maxRssBytes).toBeLessThan(BYTES_MAX);
      expect(longestCpuMs).toBeLessThan(STRETCH_MAX_MS);
      expect(p99CpuMs).toBeLessThan(50);
    }
  },
  RUN_LIMIT_MS,
);
