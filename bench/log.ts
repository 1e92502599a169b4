/**
 * The log: of a ledger with a million observations, built by an ordinary publication of everything; and what it adds to each
 * generation. The same publications without a log are the floor.
 */
import { copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LOG_ROOT, PUBLIC_PREFIX } from '../contract/public-objects.ts';
import type { PublisherDependencies } from '../publisher/dependencies.ts';
import { publish } from '../publisher/publish.ts';
import { openDirectoryObjects } from '../storage/directory-objects.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import type { PublishReport } from './children/publish-child.ts';
import { countLedger, countObjects } from './counting-storage.ts';
import { DEPLOYMENT, LOG } from './deployment.ts';
import { openMemoryObjects } from './memory-objects.ts';
import { OperationCounter, type OperationCounts, sumOf } from './operations.ts';
import { printOperations } from './operations-table.ts';
import { cpuMs, interleave, ratios } from './rounds.ts';
import { dependenciesOn, fillLedger, fillWithHistories, ingest } from './synthetic-ledger.ts';
import { laterObservation, readSample, syntheticMarket } from './synthetic-markets.ts';
import { bytes, number, withSpread } from './table.ts';
import type { Workspace } from './workspace.ts';

const OBSERVATIONS = 100_000;
const FULL_OBSERVATIONS = 1_000_000;
const QUICK_OBSERVATIONS = 2_000;
const EACH_MARKET = 1_000;
const MEMORY_PROMISE_BYTES = 500e6;
const CHILD = join(import.meta.dirname, 'children', 'publish-child.ts');
const CHILD_LIMIT_MS = 60 * 60 * 1000;

export async function benchLog(options: BenchOptions): Promise<void> {
  const { quick, full, section } = options;
  const observations = quick ? QUICK_OBSERVATIONS : full ? FULL_OBSERVATIONS : OBSERVATIONS;
  section.say(
    `A ledger with ${number(observations)} observations, of which nothing is published: everything published, with the log and without it.`,
    `Then generations of one changed market and of ${CHANGED_AT_ONCE}, in memory, operations counted.`,
    'On the disk of a data folder, bundles are compressed like pages of history.',
    `Promise: less than ${bytes(MEMORY_PROMISE_BYTES)} of memory for ${number(FULL_OBSERVATIONS)} observations.`,
  );
  await buildLog(options, observations);
  await costOfGenerations(options);
}

async function buildLog({ workspace, section }: BenchOptions, observations: number): Promise<void> {
  const original = join(workspace.folder('log-ledger'), 'ledger.sqlite');
  const ledger = openSqliteLedger(original, { exclusive: true });
  await fillWithHistories(ledger, Math.ceil(observations / EACH_MARKET), EACH_MARKET);
  ledger.close();
  const without = await publishedCopy(workspace, original);
  const withLog = await publishedCopy(workspace, original, 'log');
  const ledgerBytes = ({ dataFolder }: PublishReport) => statSync(join(dataFolder, 'ledger.sqlite')).size;
  const row = (name: string, report: PublishReport) => [
    name,
    number(report.elapsedMs / 1000, 1),
    number(report.cpuMs / 1000, 1),
    bytes(report.maxRssBytes),
    bytes(ledgerBytes(report)),
  ];
  section.table(
    ['everything published', 's', 'CPU, s', 'memory at most', 'ledger'],
    [
      row('without the log', without),
      row('with it', withLog),
      [
        'ratio',
        ...(['elapsedMs', 'cpuMs', 'maxRssBytes'] as const).map((name) => number(withLog[name] / without[name], 2)),
        number(ledgerBytes(withLog) / ledgerBytes(without), 2),
      ],
    ],
  );
  const sizes = await sizesOf(join(withLog.dataFolder, 'public'));
  section.table(
    ['files of the log', 'files', 'bytes', 'of each observation'],
    Object.entries(sizes).map(([name, { files, size }]) => [
      name,
      number(files),
      bytes(size),
      `${number(size / observations)} B`,
    ]),
  );
  for (const { dataFolder } of [without, withLog]) workspace.remove(dataFolder);
}

async function publishedCopy(
  workspace: Workspace,
  original: string,
  ...log: readonly string[]
): Promise<PublishReport> {
  const copy = join(workspace.folder('log-data'), 'ledger.sqlite');
  copyFileSync(original, copy);
  return JSON.parse(await workspace.run(process.execPath, [CHILD, copy, ...log], CHILD_LIMIT_MS)) as PublishReport;
}

/** Of the bodies, as readers get them. */
async function sizesOf(folder: string): Promise<Readonly<Record<string, { files: number; size: number }>>> {
  const sizes = {
    'entries, gzipped NDJSON': { files: 0, size: 0 },
    'entries, as bundles': { files: 0, size: 0 },
    hashes: { files: 0, size: 0 },
  };
  const objects = await openDirectoryObjects(folder);
  for (let after: string | null = ''; after !== null; ) {
    const page = await objects.list(`${PUBLIC_PREFIX}${LOG_ROOT}/`, { after });
    for (const key of page.keys) {
      const of = key.includes('/ndjson/')
        ? sizes['entries, gzipped NDJSON']
        : key.includes('/tile/entries/')
          ? sizes['entries, as bundles']
          : key.includes('/tile/')
            ? sizes.hashes
            : null;
      if (of === null) continue;
      of.files++;
      of.size += (await objects.stat(key))?.sizeBytes ?? 0;
    }
    after = page.next;
  }
  return sizes;
}

const MARKETS = 200;
const CHANGED_AT_ONCE = 150;

/** The floor takes turns with it. */
async function costOfGenerations({ rounds, section }: BenchOptions): Promise<void> {
  const [without, withLog] = [
    await openGenerations({}),
    await openGenerations({ log: LOG, projections: new Set(['log']) }),
  ];
  const cases = [
    ['1 market', 1],
    [`${CHANGED_AT_ONCE} markets`, CHANGED_AT_ONCE],
  ] as const;
  for (const [name, changed] of cases) {
    for (const world of [without, withLog]) await world.publish(changed);
    const counts: Record<string, OperationCounts> = {};
    const measured = await interleave(rounds, {
      without: async () => {
        const { spentMs, operations } = await without.publish(changed);
        counts.without = operations;
        return spentMs;
      },
      withLog: async () => {
        const { spentMs, operations } = await withLog.publish(changed);
        counts['with the log'] = operations;
        return spentMs;
      },
    });
    printOperations(section, `a generation of ${name}`, Object.entries(counts));
    section.table(
      ['its processor time', 'ms without', 'ms with the log', 'ratio'],
      [
        [
          name,
          withSpread(measured.without, 1),
          withSpread(measured.withLog, 1),
          withSpread(ratios(measured.withLog, measured.without), 2),
        ],
      ],
    );
  }
}

async function openGenerations(log: Pick<PublisherDependencies, 'log' | 'projections'>) {
  const sample = await readSample();
  const file = openSqliteLedger(':memory:');
  await fillLedger(file, MARKETS);
  const counter = new OperationCounter();
  const dependencies: PublisherDependencies = {
    ...dependenciesOn(countLedger(file, counter)),
    objects: countObjects(openMemoryObjects(), counter),
    ...DEPLOYMENT,
    ...log,
  };
  while ((await publish(dependencies)).isMoreDue);
  let days = 0;
  return {
    async publish(changed: number): Promise<{ readonly spentMs: number; readonly operations: OperationCounts }> {
      days++;
      const markets = Array.from({ length: changed }, (_, index) => syntheticMarket(sample, index));
      await ingest(
        file,
        markets.map((market) => laterObservation(market, days)),
      );
      counter.take();
      const spentMs = await cpuMs(() => publish(dependencies));
      const { list, other } = counter.take();
      return { spentMs, operations: sumOf(list, other) };
    },
  };
}
