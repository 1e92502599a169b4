/** A market with continuous writes is published continuously, without a pause of its writers. */
import { startActors } from './actors.ts';
import { baseWorld } from './base-world.ts';
import { Client, sendBatch } from './clients.ts';
import { batchesAnsweredBy, batchesAppliedBy } from './facts.ts';
import { CALM, type Conditions } from './faults.ts';
import { Writer } from './model.ts';
import { judge } from './oracle.ts';
import { Poll } from './poll.ts';
import type { Trace } from './trace.ts';
import { PLAIN } from './wiring.ts';
import { type Alterations, World } from './world.ts';

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
