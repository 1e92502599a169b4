/** From a ledger in which nothing is published to the first generations: SQLite file, directory store, every sync. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import type { PublishReport } from './children/publish-child.ts';
import type { WriteReport } from './children/write-child.ts';
import { interleave, ratios } from './rounds.ts';
import { fillLedger } from './synthetic-ledger.ts';
import { megabytes, number, withSpread } from './table.ts';

const CHILDREN = join(import.meta.dirname, 'children');
const CHILD_LIMIT_MS = 30 * 60 * 1000;

export async function benchPublish({ quick, full, rounds, workspace, section }: BenchOptions): Promise<void> {
  const markets = quick ? 150 : full ? 100_000 : 5_000;
  section.say(
    `${number(markets)} markets, none of them published, in a process of its own. The floor writes the same files, with as many at a time: temporary file, fsync,`,
    'rename, fsync of the folder. Promise: less than 1 GB of memory for 100,000 markets. A [test](../test/publisher/costs-at-scale.test.ts)',
    'counts that one change asks the same of storage among few markets and among many.',
  );
  const original = join(workspace.folder('ledger'), 'ledger.sqlite');
  const ledger = openSqliteLedger(original, { exclusive: true });
  await fillLedger(ledger, markets);
  // Closing moves the write-ahead log into the file, which can then be copied.
  ledger.close();
  const child = async <Report>(script: string, ...args: readonly string[]) =>
    JSON.parse(await workspace.run(process.execPath, [join(CHILDREN, script), ...args], CHILD_LIMIT_MS)) as Report;
  const published: PublishReport[] = [];
  const written: WriteReport[] = [];
  const { tidemark, floor } = await interleave(full ? 1 : rounds, {
    tidemark: async () => {
      const copy = join(workspace.folder('data'), 'ledger.sqlite');
      copyFileSync(original, copy);
      const report = await child<PublishReport>('publish-child.ts', copy);
      published.push(report);
      return report.elapsedMs;
    },
    floor: async () => {
      const { dataFolder } = published.at(-1) as PublishReport;
      const target = workspace.folder('written');
      const report = await child<WriteReport>('write-child.ts', join(dataFolder, 'public'), target);
      written.push(report);
      for (const folder of [dataFolder, target]) workspace.remove(folder);
      return report.elapsedMs;
    },
  });
  const each = (samples: readonly number[], of: (sample: number) => number, digits: number) =>
    withSpread(samples.map(of), digits);
  section.table(
    ['files', 'bytes', 's', 'floor, s', 'times the floor', 'markets/s', 'CPU, s', 'memory at most'],
    [
      [
        number(written[0]?.files ?? 0),
        megabytes(written[0]?.bytes ?? 0),
        each(tidemark, (ms) => ms / 1000, 1),
        each(floor, (ms) => ms / 1000, 1),
        withSpread(ratios(tidemark, floor), 2),
        each(tidemark, (ms) => (markets * 1000) / ms, 0),
        withSpread(
          published.map(({ cpuMs }) => cpuMs / 1000),
          1,
        ),
        megabytes(Math.max(...published.map(({ maxRssBytes }) => maxRssBytes))),
      ],
    ],
  );
}
