/**
 * Publishes what is marked in a ledger into the directory store beside it, in two steps, bodies and then the list, and
 * prints what each took and asked of storage, as JSON. A process of its own: memory is measured.
 */
import { dirname, join } from 'node:path';
import { openDirectoryObjects } from '../../storage/directory-objects.ts';
import { openSqliteLedger } from '../../storage/sqlite-ledger.ts';
import { countLedger, countObjects } from '../counting-storage.ts';
import { DEPLOYMENT } from '../deployment.ts';
import { OperationCounter, type Operations } from '../operations.ts';
import { maxRssBytes } from '../own-memory.ts';
import { publishMarked } from '../publish-due.ts';
import { cpuMs } from '../rounds.ts';
import { dependenciesOn } from '../synthetic-ledger.ts';

export interface StepReport {
  readonly generations: number;
  readonly cpuMs: number;
  readonly operations: Operations;
}

export interface PublishManyReport {
  readonly bodies: StepReport;
  readonly list: StepReport;
  /** The most memory that this process ever had at once, Node included. */
  readonly maxRssBytes: number;
}

const [path] = process.argv.slice(2);
if (path === undefined) throw new RangeError('give the path of a ledger');
const ledger = openSqliteLedger(path, { exclusive: true });
const counter = new OperationCounter();
const dependencies = {
  ...dependenciesOn(countLedger(ledger, counter)),
  objects: countObjects(await openDirectoryObjects(join(dirname(path), 'objects')), counter),
  ...DEPLOYMENT,
};

async function step(listEverySeconds: () => number): Promise<StepReport> {
  let generations = 0;
  const spentMs = await cpuMs(async () => {
    ({ generations } = await publishMarked({ ...dependencies, listEverySeconds }));
  });
  return { generations, cpuMs: spentMs, operations: counter.take() };
}

const bodies = await step(() => Number.POSITIVE_INFINITY);
const list = await step(() => 0);
ledger.close();
const report: PublishManyReport = { bodies, list, maxRssBytes: maxRssBytes() };
console.log(JSON.stringify(report));
