/**
 * Publishing k changed markets of many: what is asked of storage, processor time, memory, and dollars by the model of
 * docs/deploy.md. The bodies first, as they are published at once, and then the list, which shows all of them.
 */
import { join } from 'node:path';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import type { PublishManyReport, StepReport } from './children/publish-many-child.ts';
import { sumOf } from './operations.ts';
import { printOperations } from './operations-table.ts';
import { dollarsOf, PRICES } from './prices.ts';
import { copyOfFilledLedger, ingest } from './synthetic-ledger.ts';
import { laterObservation, readSample, type SampleMarket, syntheticMarket } from './synthetic-markets.ts';
import { bytes, number } from './table.ts';
import type { Workspace } from './workspace.ts';

const CHILDREN = join(import.meta.dirname, 'children');
const CHILD_LIMIT_MS = 30 * 60 * 1000;
const CHANGED = [1, 100, 10_000];
const FEWER_TIMES = 5;
const BATCH_ROWS = 1_000;

interface Case {
  readonly name: string;
  readonly changed: number;
  readonly report: PublishManyReport;
}

export async function benchPublishMany({ markets, workspace, section }: BenchOptions): Promise<void> {
  section.say(
    'One observation more for each of k markets, spread evenly: SQLite file, directory store, a process of its own for each.',
    'Every market that changes while the list is not due also costs a record that remembers it: 4 write units until the next list.',
    'Dollars: what S3 and DynamoDB ask for these operations, and the processor time at the price of a function.',
  );
  const cases: Case[] = [];
  for (const total of [Math.round(markets / FEWER_TIMES), markets]) cases.push(...(await measure(workspace, total)));
  const all = ({ operations: { list, other } }: StepReport) => sumOf(list, other);
  printOperations(
    section,
    'bodies, in',
    cases.map(({ name, report: { bodies } }) => [`${name}: ${generations(bodies)}`, all(bodies)]),
  );
  printOperations(
    section,
    'and the list of it, in',
    cases.map(({ name, report: { list } }) => [`${name}: ${generations(list)}`, all(list)]),
  );
  section.table(
    ['together', 'CPU, ms', 'CPU, ms a market', 'most memory', '$ for bodies', 'for the list', 'for CPU', '$ a market'],
    cases.map(({ name, changed, report: { bodies, list, maxRssBytes } }) => {
      const cpuMs = bodies.cpuMs + list.cpuMs;
      const dollars = [dollarsOf(all(bodies)), dollarsOf(all(list)), (cpuMs / 1000) * PRICES.functionSecond];
      const sum = dollars.reduce((left, right) => left + right, 0);
      return [
        name,
        number(cpuMs),
        number(cpuMs / changed, 2),
        bytes(maxRssBytes),
        ...dollars.map((value) => number(value, 6)),
        number(sum / changed, 7),
      ];
    }),
  );
}

function generations(step: StepReport): string {
  return `${step.generations} ${step.generations === 1 ? 'generation' : 'generations'}`;
}

async function measure(workspace: Workspace, markets: number): Promise<readonly Case[]> {
  const sample = await readSample();
  const path = await copyOfFilledLedger(workspace, markets);
  await run(workspace, 'publish-child.ts', path);
  const cases: Case[] = [];
  const sizes = new Set(CHANGED.map((changed) => Math.min(changed, markets / 2)));
  for (const [day, changed] of [...sizes].entries()) {
    await change(path, sample, markets, changed, day + 1);
    const report = await run<PublishManyReport>(workspace, 'publish-many-child.ts', path);
    cases.push({ name: `${number(changed)} of ${number(markets)}`, changed, report });
  }
  workspace.remove(join(path, '..'));
  return cases;
}

async function change(path: string, sample: readonly SampleMarket[], markets: number, changed: number, day: number) {
  const ledger = openSqliteLedger(path, { exclusive: true });
  const step = markets / changed;
  for (let start = 0; start < changed; start += BATCH_ROWS) {
    const places = Array.from({ length: Math.min(BATCH_ROWS, changed - start) }, (_, index) => start + index);
    const indexes = places.map((place) => Math.floor((place + 0.5) * step));
    await ingest(
      ledger,
      indexes.map((index) => laterObservation(syntheticMarket(sample, index), day)),
    );
  }
  ledger.close();
}

async function run<Report>(workspace: Workspace, script: string, path: string): Promise<Report> {
  return JSON.parse(await workspace.run(process.execPath, [join(CHILDREN, script), path], CHILD_LIMIT_MS));
}
