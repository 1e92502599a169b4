/** Workers must not obstruct each other: two do the same work in the same time, with hardly more transactions. */
import { startActors } from './actors.ts';
import { baseWorld } from './base-world.ts';
import { Client, sendBatch } from './clients.ts';
import { CALM, type Conditions } from './faults.ts';
import { Writer } from './model.ts';
import { judge } from './oracle.ts';
import { Poll } from './poll.ts';
import type { Trace } from './trace.ts';
import { PLAIN } from './wiring.ts';
import { type Alterations, type Violation, World } from './world.ts';

/** Transactions take time, and during that time cancel others on the same items. */
const SLOW: Conditions = { ...CALM, latencyMs: 20, staggerRate: 1, staggerMs: 60 };

/** One worker does the batches of all three lanes together, so two usually take as long. A conflict costs a pause. */
const MORE_TIME = 1.4;
/** For nine batches. A worker may find that another one has the lane, or has just written. Without leases there are 17 or more. */
const MORE_TRANSACTIONS = 16;

interface Effort {
  readonly elapsedMs: number;
  readonly transactions: number;
  readonly operations: number;
  readonly violation: Violation | null;
}

export async function judgeEfficiency(
  seed: number,
  trace: Trace,
  alterations: Alterations,
): Promise<{ readonly violation: Violation | null; readonly operations: number }> {
  const alone = await work(seed, 1, trace, alterations);
  const together = await work(seed, 2, trace, alterations);
  const operations = alone.operations + together.operations;
  const broken = alone.violation ?? together.violation;
  if (broken !== null) return { violation: broken, operations };
  const said =
    `one worker took ${alone.elapsedMs.toFixed(0)} ms and ${alone.transactions} transactions, ` +
    `two took ${together.elapsedMs.toFixed(0)} ms and ${together.transactions}`;
  trace.note(0, 'oracle', 'efficiency', said, '');
  const isWorse =
    together.elapsedMs > alone.elapsedMs * MORE_TIME || together.transactions > alone.transactions + MORE_TRANSACTIONS;
  return { violation: isWorse ? { rule: 'workers-fight', detail: said } : null, operations };
}

/** Queues batches while no worker runs, then starts this many workers at once. */
async function work(seed: number, workers: number, trace: Trace, alterations: Alterations): Promise<Effort> {
  const world = new World(seed, await baseWorld(true), SLOW, PLAIN, trace, alterations);
  world.note('world', `seed ${seed}`, `${workers} workers`);
  const actors = startActors(world, 1, workers, { isRungByCommits: false });
  const poll = new Poll(world, actors);
  const writers = ['writer-1', 'writer-2', 'writer-3'].map((name) => {
    return { client: new Client(world, actors, name), writer: new Writer(name, world.random, world.expected) };
  });
  let startedMs = 0;
  let finishedMs = 0;
  const begin = async (): Promise<void> => {
    for (const { client, writer } of writers) {
      for (const slug of ['a', 'b', 'c']) await sendBatch(world, client, writer.rows(slug, world.random.int(1, 4)));
    }
    startedMs = world.scheduler.elapsedMs;
    for (const actor of actors.workers) actor.wake(world.random.unit() * 50);
    poll.limit(60);
  };
  world.onCommit(({ by }) => {
    if (by.startsWith('worker')) finishedMs = world.scheduler.elapsedMs;
  });
  begin().catch((error: unknown) => world.fail('simulator', String(error)));
  await world.scheduler.run();
  if (world.violation === null) await judge(world);
  const transactions = [...world.ledger.attempts]
    .filter(([name]) => name.startsWith('worker'))
    .reduce((sum, [, count]) => sum + count, 0);
  return {
    elapsedMs: finishedMs - startedMs,
    transactions,
    operations: world.operations.performed,
    violation: world.violation,
  };
}
