/**
 * Publishing everything from scratch, through the SQLite ledger and the directory store, against a plain loop that
 * writes the same bytes as durably; and the peak memory, in a process of its own.
 */
import { join } from 'node:path';
import type { BenchOptions } from './benchmark.ts';
import type { PublishReport } from './children/publish-child.ts';
import type { WriteReport } from './children/write-child.ts';
import { interleave, ratios } from './rounds.ts';
import { copyOfFilledLedger } from './synthetic-ledger.ts';
import { bytes, number, withSpread } from './table.ts';
import type { Workspace } from './workspace.ts';

const CHILDREN = join(import.meta.dirname, 'children');
const CHILD_LIMIT_MS = 30 * 60 * 1000;
/** The interleaved rounds each take this fraction of the markets. */
const ROUND_SHARE = 20;
const MEMORY_PROMISE_BYTES = 1e9;

export async function benchPublishAll({ markets, rounds, workspace, section }: BenchOptions): Promise<void> {
  const fewer = Math.max(100, Math.round(markets / ROUND_SHARE));
  section.say(
    'From a ledger in which nothing is published to the first generation: SQLite file, directory store, every sync.',
    'Floor: a loop that writes the same files with as many under way (temporary file, fsync, rename, fsync of the folder).',
    'Promise: less than 1 GB of memory for 100,000 markets.',
  );
  const published: PublishReport[] = [];
  const written: WriteReport[] = [];
  await interleave(rounds, {
    tidemark: async () => {
      const report = await publishIn(workspace, fewer);
      published.push(report);
      return report.elapsedMs;
    },
    floor: async () => {
      const report = await writeLike(workspace, published.at(-1) as PublishReport);
      written.push(report);
      return report.elapsedMs;
    },
  });
  const whole = await publishIn(workspace, markets);
  const wholeWritten = await writeLike(workspace, whole);
  section.table(
    ['', 'rounds', 'files', 'bytes', 'Tidemark, s', 'floor, s', 'ratio', 'markets/s', 'CPU, s'],
    [rowOf(fewer, published, written), rowOf(markets, [whole], [wholeWritten])],
  );
  section.table(
    ['memory at most, of the whole process', 'bytes', 'of 1 GB'],
    [
      memoryRow(fewer, Math.max(...published.map(({ maxRssBytes }) => maxRssBytes))),
      memoryRow(markets, whole.maxRssBytes),
    ],
  );
}

function rowOf(markets: number, published: readonly PublishReport[], written: readonly WriteReport[]): string[] {
  const seconds = published.map(({ elapsedMs }) => elapsedMs / 1000);
  const floor = written.map(({ elapsedMs }) => elapsedMs / 1000);
  return [
    `${number(markets)} markets`,
    number(published.length),
    number(written[0]?.files ?? 0),
    bytes(written[0]?.bytes ?? 0),
    withSpread(seconds, 1),
    withSpread(floor, 1),
    withSpread(ratios(seconds, floor), 2),
    withSpread(
      seconds.map((value) => markets / value),
      0,
    ),
    withSpread(
      published.map(({ cpuMs }) => cpuMs / 1000),
      1,
    ),
  ];
}

function memoryRow(markets: number, maxRssBytes: number): string[] {
  return [`${number(markets)} markets`, bytes(maxRssBytes), number(maxRssBytes / MEMORY_PROMISE_BYTES, 2)];
}

/** Publishes a new copy of the ledger. The folder is kept until {@link writeLike} has read the result. */
async function publishIn(workspace: Workspace, markets: number): Promise<PublishReport> {
  const ledger = await copyOfFilledLedger(workspace, markets);
  return runChild<PublishReport>(workspace, 'publish-child.ts', ledger);
}

async function writeLike(workspace: Workspace, { dataFolder }: PublishReport): Promise<WriteReport> {
  const target = workspace.folder('written');
  const report = await runChild<WriteReport>(workspace, 'write-child.ts', join(dataFolder, 'public'), target);
  workspace.remove(dataFolder);
  workspace.remove(target);
  return report;
}

async function runChild<Report>(workspace: Workspace, script: string, ...args: string[]): Promise<Report> {
  return JSON.parse(await workspace.run(process.execPath, [join(CHILDREN, script), ...args], CHILD_LIMIT_MS));
}
