/** Worlds without faults, whose work is measured: a busy market, and two workers that must not obstruct each other. */
import { Poll, startActors } from './actors.ts';
import { baseWorld } from './base-world.ts';
import { Client, sendBatch } from './clients.ts';
import { batchesAnsweredBy, batchesAppliedBy } from './facts.ts';
import { Writer } from './model.ts';
import { judge } from './oracle.ts';
import { CALM, type Conditions, type Trace } from './processes.ts';
import { PLAIN } from './wiring.ts';
import { type Alterations, type Violation, World } from './world.ts';

/** Nothing fails, but transactions become visible slowly. */
const STEADY: Conditions = { ...CALM, staggerRate: 0.5, staggerMs: 50 };
const WRITERS = 4;
const BATCHES = 40;
const GAP_MS = 40;

/** From the last transaction of a batch to its answer. In ten thousand batches the longest time was 750 ms. */
const LONGEST_MS = 1_100;

export async function judgeBusy(seed: number, trace: Trace, alterations: Alterations): Promise<World> {
  const world = new World(seed, await baseWorld(true), STEADY, PLAIN, trace, alterations);
  world.usesPipeline = false;
  world.note('world', `seed ${seed}`, 'a busy market');
  const actors = startActors(world, 2, 2);
  const poll = new Poll(world, actors);
  const appliedAtMs = new Map<string, number>();
  world.onCommit(({ changes }) => {
    const { elapsedMs } = world.scheduler;
    for (const batch of batchesAppliedBy(changes)) appliedAtMs.set(batch, elapsedMs);
    for (const batch of batchesAnsweredBy(changes)) {
      const waitedMs = elapsedMs - (appliedAtMs.get(batch) ?? elapsedMs);
      if (waitedMs > LONGEST_MS)
        world.fail('held-up', `batch ${batch} was public ${waitedMs.toFixed(0)} ms after its end`);
    }
  });
  const write = async (name: string): Promise<void> => {
    const client = new Client(world, actors, name);
    const writer = new Writer(name, world.random, world.expected);
    for (let index = 0; index < BATCHES; index++) {
      await world.scheduler.sleep(world.random.unit() * GAP_MS);
      await sendBatch(world, client, writer.rows('a', 1));
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, index) => write(`writer-${index + 1}`));
  Promise.all(writers).then(
    () => poll.limit(10),
    (error: unknown) => world.fail('simulator', String(error)),
  );
  await world.scheduler.run();
  if (world.violation === null) await judge(world);
  return world;
}

/** Transactions take time, and during that time cancel others on the same items. */
const SLOW: Conditions = { ...CALM, latencyMs: 20, staggerRate: 1, staggerMs: 60 };

/** One worker does the batches of all three lanes together, so two usually take as long. A conflict costs a pause. */
const MORE_TIME = 1.4;
/**
 * For nine batches. A worker may find that another one has the lane, or has just written. In 450 worlds there were 18 or fewer;
 * without leases, half of 250 worlds had 23 or more.
 */
const MORE_TRANSACTIONS = 20;

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
