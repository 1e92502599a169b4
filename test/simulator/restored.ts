/** A restore: the ledger loses its last transactions, one of them in part, and the store stays as it is. */
import type { Actors } from './actors.ts';
import { batchesOf, isAccepted } from './facts.ts';
import { marketsOf } from './model.ts';
import { marketsIn } from './torn.ts';
import type { World } from './world.ts';

/** Stops everything, restores an older ledger, and lets an operator follow the procedure. Resolves when work may continue. */
export async function goBack(world: World, actors: Actors): Promise<void> {
  const { random, ledger, scheduler } = world;
  const count = ledger.log?.length ?? 0;
  if (count === 0) return;
  world.operations.age++;
  world.killAll();
  const lost = Math.floor(random.spread(1, count + 0.99));
  const keptShare = random.pick([0, 0.5, 0.9]);
  const torn = ledger.goBack(lost, () => random.chance(keptShare));
  world.note('world', 'ledger goes back', `${lost} of ${count} transactions`);
  const batches = batchesOf(torn);
  const isOfWrites = torn.some(({ key }) => /^(market|batch)\//.test(key.partition));
  const uploads = [...world.acknowledged.values()].filter(({ isUpload }) => isUpload);
  for (const batch of batches) {
    world.untold.add(batch);
    if (!isOfWrites) continue;
    // Any other batch is a part of an upload.
    const sent = world.acknowledged.get(batch);
    for (const market of (sent === undefined ? uploads : [sent]).flatMap(marketsOf)) world.torn.add(market);
  }
  for (const market of marketsIn(torn)) world.torn.add(market);
  world.goBack((batch) => isAccepted(world.items, batch));
  actors.operator.wake(random.spread(10, 3_600_000));
  while (world.isDown) await scheduler.sleep(1_000);
  for (const actor of [...actors.publishers, ...actors.workers]) actor.wake(random.unit() * 60_000);
}
