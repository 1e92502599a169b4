/** The daily exports: of many observations for the first time, and after a correction in each part. Memory and stalls. */
import { join } from 'node:path';
import { openDirectoryObjects } from '../storage/directory-objects.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import type { ExportReport, ExportReports } from './children/export-child.ts';
import { DEPLOYMENT, LOG } from './deployment.ts';
import { publishDue, SettableClock } from './publish-due.ts';
import { dependenciesOn, fillLedger } from './synthetic-ledger.ts';
import { bytes, number } from './table.ts';

const OBSERVATIONS = 200_000;
const FULL_OBSERVATIONS = 1_000_000;
const QUICK_OBSERVATIONS = 5_000;
const MARKETS = 1_000;
const QUICK_MARKETS = 50;
const MEMORY_PROMISE_BYTES = 500e6;
const CHILD = join(import.meta.dirname, 'children', 'export-child.ts');
const CHILD_LIMIT_MS = 30 * 60 * 1000;

/** Makes a small published deployment in a folder: its entries are the models of those that are exported. */
export async function prepareExports(folder: string, markets: number): Promise<void> {
  const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
  const objects = await openDirectoryObjects(folder);
  const clock = new SettableClock(Date.now);
  await fillLedger(ledger, markets);
  const projections = new Set(['log'] as const);
  await publishDue(
    { ...dependenciesOn(ledger), nowMs: clock.nowMs, objects, ...DEPLOYMENT, log: LOG, projections },
    clock,
  );
  ledger.close();
}

export async function benchExports({ workspace, quick, full, section }: BenchOptions): Promise<void> {
  const observations = quick ? QUICK_OBSERVATIONS : full ? FULL_OBSERVATIONS : OBSERVATIONS;
  section.say(
    `The export of ${number(observations)} observations in a process of its own; then the next one, after a correction in each part.`,
    'The floor compresses the NDJSON once. The longest stretch is processor time in which no request would be answered.',
    `Promise: less than ${bytes(MEMORY_PROMISE_BYTES)} of memory for ${number(FULL_OBSERVATIONS)} observations.`,
  );
  const folder = workspace.folder('exports');
  await prepareExports(folder, quick ? QUICK_MARKETS : MARKETS);
  const printed = await workspace.run(process.execPath, [CHILD, folder, String(observations)], CHILD_LIMIT_MS);
  const { first, corrected, floorMs } = JSON.parse(printed) as ExportReports;
  const row = (name: string, report: ExportReport) => [
    name,
    number(report.elapsedMs / 1000, 1),
    number(report.cpuMs / 1000, 1),
    number(report.cpuMs / floorMs, 1),
    bytes(report.bytesPut),
    bytes(report.maxRssBytes),
    number(report.longestCpuMs),
  ];
  section.table(
    ['export', 's', 'CPU, s', 'to the floor', 'put', 'memory at most', 'longest stretch, ms'],
    [row('the first one', first), row('all parts corrected', corrected)],
  );
  workspace.remove(folder);
}
