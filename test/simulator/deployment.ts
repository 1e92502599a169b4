/** A deployment: processes of the new version take over one by one, while those of the old version still run. */
import type { Actors } from './actors.ts';
import type { Settings } from './wiring.ts';
import type { World } from './world.ts';

/** Each version renders something differently. */
const VERSIONS: readonly ((before: Settings) => Partial<Settings>)[] = [
  () => ({ version: 2 }),
  () => ({ pageSizes: { markets: 2, observations: 4 } }),
  () => ({ pageSizes: { markets: 3, observations: 3 }, version: 2 }),
  ({ hasLog }) => ({ hasLog: !hasLog }),
];

/** Resolves when every publisher is of the new version. */
export async function deploy(world: World, { publishers, operator, sweeper }: Actors): Promise<void> {
  const { random, scheduler } = world;
  await scheduler.sleep(random.spread(1, 5_000));
  world.settings = { ...world.settings, ...random.pick(VERSIONS)(world.settings) };
  world.note('world', 'deployment', JSON.stringify(world.settings));
  operator.die();
  sweeper.die();
  for (const publisher of publishers) {
    publisher.die();
    publisher.wake(0);
    await scheduler.sleep(random.pick([1, 100, 60_000]));
  }
}
