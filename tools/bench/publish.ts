/** Measures the first generations of an unpublished ledger: SQLite file, directory store, with every sync. */
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import pMap from 'p-map';
import { OBJECT_CONCURRENCY as concurrency } from '../../publisher/dependencies.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import type { PublishReport } from './publish-child.ts';
import { elapsedMs, interleave, ratios } from './rounds.ts';
import { fillLedger } from './synthetic-ledger.ts';
import { markdownTable, megabytes, number, withSpread } from './table.ts';
import type { BenchOptions } from './workspace.ts';

const CHILD = join(import.meta.dirname, 'publish-child.ts');
const CHILD_LIMIT_MS = 30 * 60 * 1000;
/** The most files in memory. */
const FILES_AT_ONCE = 2_000;

export async function benchPublish({ quick, full, rounds, workspace }: BenchOptions): Promise<string> {
  const markets = quick ? 150 : full ? 100_000 : 5_000;
  const original = join(workspace.folder('ledger'), 'ledger.sqlite');
  const ledger = openSqliteLedger(original, { exclusive: true });
  await fillLedger(ledger, markets);
  // Closing moves the write-ahead log into the file, which can then be copied.
  ledger.close();
  const published: PublishReport[] = [];
  let files = 0;
  const { tidemark, floor } = await interleave(rounds, {
    tidemark: async () => {
      const copy = join(workspace.folder('data'), 'ledger.sqlite');
      copyFileSync(original, copy);
      const report: PublishReport = JSON.parse(await workspace.run(process.execPath, [CHILD, copy], CHILD_LIMIT_MS));
      published.push(report);
      return report.elapsedMs;
    },
    floor: async () => {
      const { dataFolder } = published.at(-1) as PublishReport;
      const target = workspace.folder('written');
      const written = await writeFiles(join(dataFolder, 'public'), target);
      files = written.files;
      for (const folder of [dataFolder, target]) rmSync(folder, { recursive: true });
      return written.ms;
    },
  });
  const perSecond = tidemark.map((ms) => (markets * 1000) / ms);
  const most = Math.max(...published.map(({ maxRssBytes }) => maxRssBytes));
  const row = [number(files), withSpread(ratios(tidemark, floor), 2), withSpread(perSecond, 0), megabytes(most)];
  return `${number(markets)} markets, none of them published. The floor writes the same files, with as many at a time: temporary file, fsync,
rename, fsync of the folder. Promise: less than 1 GB of memory for 100,000 markets.

${markdownTable(['files', 'times the floor', 'markets/s', 'memory at most'], [row])}`;
}

/** Writes the files of one folder into another, durably, in the simplest way. Only writing is measured. */
async function writeFiles(source: string, target: string): Promise<{ readonly ms: number; readonly files: number }> {
  const paths = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(source, join(parentPath, name)));
  for (const folder of new Set(paths.map(dirname))) mkdirSync(join(target, folder), { recursive: true });
  let ms = 0;
  for (let start = 0; start < paths.length; start += FILES_AT_ONCE) {
    const some = paths.slice(start, start + FILES_AT_ONCE);
    const bodies = await pMap(some, (path) => readFile(join(source, path)), { concurrency });
    const writeOne = (path: string, index: number) => writeDurably(join(target, path), bodies[index] as Buffer);
    ms += await elapsedMs(() => pMap(some, writeOne, { concurrency }));
  }
  return { ms, files: paths.length };
}

async function writeDurably(path: string, body: Buffer): Promise<void> {
  const file = await open(`${path}.tmp`, 'wx');
  await file.writeFile(body);
  await file.sync();
  await file.close();
  await rename(`${path}.tmp`, path);
  const folder = await open(dirname(path), 'r');
  await folder.sync();
  await folder.close();
}
