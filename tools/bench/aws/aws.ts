/** The publisher and the worker as on AWS: their code on storage with waiting times, and the lower bound that these times set. */
import { DEFAULT_PROJECTIONS, type Projection } from '../../../contract/files/projections.ts';
import { newBatchOfLines } from '../../../lambdas/ingest/stored-batch.ts';
import { AWS_TRANSACTIONS_AT_ONCE, runWork } from '../../../lambdas/worker/run-work.ts';
import { createRunners } from '../../../lambdas/worker/runners.ts';
import { AWS_CONCURRENCY } from '../../../publisher/dependencies.ts';
import { publish } from '../../../publisher/publish.ts';
import { systemRuntime } from '../../../storage/aws/runtime.ts';
import { MAX_SOCKETS } from '../../../storage/dynamodb/dynamodb-client.ts';
import { created } from '../../../storage/ports/changes.ts';
import { inBatches } from '../../../storage/ports/paging.ts';
import { workKey } from '../../../storage/records/batches.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { openMemoryObjects } from '../../../test/storage/memory-objects.ts';
import { OperationCounter, sumOf } from '../operations.ts';
import { residentBytes } from '../processor-time.ts';
import { cpuMs, elapsedMs } from '../rounds.ts';
import { fillLedger, ingest } from '../synthetic-ledger.ts';
import { laterObservation, readSample, type SampleMarket, syntheticMarket } from '../synthetic-markets.ts';
import { markdownTable, megabytes, number } from '../table.ts';
import type { BenchOptions } from '../workspace.ts';
import { countLedger, countObjects } from './counting-storage.ts';
import { DEPLOYMENT, LOG } from './deployment.ts';
import { waitingLedger, waitingObjects, waitsOf } from './waiting-storage.ts';

const SAID = `The code of the functions in this process, over storage in memory that waits: S3 35 ms for a PUT, 12 for a HEAD, 18 for a GET; DynamoDB
13 for a transaction, 4 for a read. These times are assumed. The publisher has a new value of each market to publish; the worker batches
of one row. For the floor, the same requests only wait, with every socket in use; the worker has eight at once.`;

export async function benchAws({ quick }: BenchOptions): Promise<string> {
  const sample = await readSample();
  const markets = quick ? 150 : 5_000;
  const rows = [
    await publishing(sample, markets, 'publisher markets/s, bodies only', new Set()),
    await publishing(sample, markets, 'publisher markets/s', DEFAULT_PROJECTIONS),
    await working(sample, quick, LANES, false),
    await working(sample, quick, LANES, true),
    await working(sample, quick, 1, true),
  ];
  const asked = ['PUTs', 'HEADs', 'GETs', 'transactions', 'reads'];
  return `${SAID}\n\n${markdownTable(['', 'a second', 'floor', 'a CPU second', ...asked, 'most memory'], rows)}`;
}

function openAws() {
  const counter = new OperationCounter();
  const inMemory = openSqliteLedger(':memory:');
  const ledger = waitingLedger(countLedger(inMemory, counter), MAX_SOCKETS);
  const objects = waitingObjects(countObjects(openMemoryObjects(), counter), AWS_CONCURRENCY.objects);
  const measure = async (name: string, isAlone: boolean, work: () => Promise<number>): Promise<string[]> => {
    counter.take();
    let done = 0;
    let spentMs = 0;
    const ms = await elapsedMs(async () => {
      spentMs = await cpuMs(async () => {
        done = await work();
      });
    });
    const { list, other } = counter.take();
    const counts = sumOf(list, other);
    const waits = waitsOf(counts);
    const floor =
      done /
      Math.max(
        waits.objects / AWS_CONCURRENCY.objects,
        waits.ledger / (isAlone ? AWS_TRANSACTIONS_AT_ONCE : MAX_SOCKETS),
      );
    const { objectPuts, objectStats, objectReads, transactions, ledgerReads } = counts;
    const asked = [objectPuts, objectStats, objectReads, transactions, ledgerReads];
    const perSecond = number((done * 1000) / ms, 1);
    console.log(`${name}: ${perSecond}`);
    return [
      name,
      perSecond,
      number(floor, 1),
      number((done * 1000) / spentMs),
      ...asked.map((count) => number(count)),
      megabytes(residentBytes(process.pid).most),
    ];
  };
  return { inMemory, ledger, objects, measure };
}

async function publishing(
  sample: readonly SampleMarket[],
  markets: number,
  name: string,
  projections: ReadonlySet<Projection>,
): Promise<string[]> {
  const { inMemory, ledger, objects, measure } = openAws();
  const dependencies = { ...systemRuntime, ledger, objects, ...DEPLOYMENT, projections, concurrency: AWS_CONCURRENCY };
  const all = async () => {
    while ((await publish({ ...dependencies, ...(projections.has('log') && { log: LOG }) })).isMoreDue);
    return markets;
  };
  await fillLedger(inMemory, markets);
  await all();
  const later = Array.from({ length: markets }, (_, index) => laterObservation(syntheticMarket(sample, index), 1));
  for (const some of inBatches(later, 1_000)) await ingest(inMemory, some);
  return await measure(name, false, all);
}

const LANES = 40;
const MARKETS_OF_FEEDS = 1_000;

/** One worker. @param isTogether several batches share a transaction */
async function working(
  sample: readonly SampleMarket[],
  quick: boolean,
  senders: number,
  isTogether: boolean,
): Promise<string[]> {
  const [waiting, durationMs] = quick ? [300, 1_000] : [20_000, 10_000];
  const { inMemory, ledger, measure } = openAws();
  await fillLedger(inMemory, MARKETS_OF_FEEDS);
  const receivedAt = new Date(systemRuntime.nowMs()).toISOString();
  for (let index = 0; index < waiting; index++) {
    const subject = `bench-${index % senders}`;
    const id = systemRuntime.newId('bat');
    const row = laterObservation(syntheticMarket(sample, index % MARKETS_OF_FEEDS), 1 + index / MARKETS_OF_FEEDS);
    const sent = { id, subject, mode: 'append', partial: false, dryRun: false, receivedAt } as const;
    const work = created(workKey(id, subject), { kind: 'ingest', batch: id, lane: subject, lease: null });
    await inMemory.transact([...newBatchOfLines(sent, [JSON.stringify(row)]).changes, work], { attemptId: id });
  }
  const runtime = { ...systemRuntime, ledger };
  const failed = (_: unknown, error: unknown) => {
    throw error;
  };
  const name = `worker batches/s of ${senders === 1 ? 'one sender' : `${senders} senders`}${isTogether ? ', together' : ''}`;
  const { together, ...alone } = createRunners(runtime);
  return await measure(name, true, async () => {
    const endMs = performance.now() + durationMs;
    const hasTime = () => performance.now() < endMs;
    return (
      await runWork({
        ...runtime,
        owner: 'bench',
        transactionsAtOnce: AWS_TRANSACTIONS_AT_ONCE,
        runners: isTogether && together ? { ...alone, together } : alone,
        failed,
        hasTime,
      })
    ).done;
  });
}
