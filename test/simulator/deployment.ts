/** A deployment: processes of the new version take over one by one, while those of the old version still run. */
import { PROJECTIONS, type Projection } from '../../contract/files/projections.ts';
import type { Actors } from './actors.ts';
import { FILE_PROJECTIONS } from './published-files.ts';
import type { Settings } from './wiring.ts';
import type { World } from './world.ts';

/** Each version renders something differently. `seed`: half of the worlds switch the log, the others the files. */
const VERSIONS: readonly ((before: Settings, seed: number) => Partial<Settings>)[] = [
  () => ({ version: 2 }),
  () => ({ pageSizes: { markets: 2, observations: 4, latest: 5 } }),
  () => ({ pageSizes: { markets: 3, observations: 3 }, version: 2 }),
  ({ projections }, seed) => ({ projections: switched(projections, seed % 2 === 0 ? ['log'] : FILE_PROJECTIONS) }),
];

/** Those of `some` that are on go off, and the others on. */
function switched(before: readonly Projection[], some: readonly Projection[]): readonly Projection[] {
  return PROJECTIONS.filter((name) => before.includes(name) !== some.includes(name));
}

/** Resolves when every publisher is of the new version. */
export async function deploy(world: World, { publishers, operator, sweeper }: Actors): Promise<void> {
  const { random, scheduler } = world;
  await scheduler.sleep(random.spread(1, 5_000));
  world.settings = { ...world.settings, ...random.pick(VERSIONS)(world.settings, world.seed) };
  world.note('world', 'deployment', JSON.stringify(world.settings));
  operator.die();
  sweeper.die();
  for (const publisher of publishers) {
    publisher.die();
    publisher.wake(0);
    await scheduler.sleep(random.pick([1, 100, 60_000]));
  }
}
