/** What befalls a world: a deployment, a restore to an earlier moment, a transaction of which only a part is left. */
import { PROJECTIONS, type Projection } from '../../contract/files/projections.ts';
import type { Change } from '../../storage/ports/ledger.ts';
import type { Actors } from './actors.ts';
import { batchesOf, isAccepted, marketWrittenBy } from './facts.ts';
import { marketsOf } from './model.ts';
import { FILE_PROJECTIONS } from './published.ts';
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

/** Tears one of the first transactions that add observations, stops all processes, and starts them again. */
export function tearOneTransaction(world: World): void {
  const { random, ledger } = world;
  let passed = random.int(0, 3);
  ledger.tear = (changes) => {
    if (marketWrittenBy(changes) === null || passed-- > 0) return null;
    ledger.tear = null;
    for (const market of marketsIn(changes)) world.torn.add(market);
    const kept = new Set([...changes.keys()].filter(() => random.chance(0.5)));
    world.note('world', 'torn', `kept ${[...kept].join(', ')}`);
    return kept;
  };
  ledger.onTorn = () => world.killAll();
}

export function marketsIn(changes: readonly Change[]): readonly string[] {
  const partitions = changes.map(({ key }) => key.partition).filter((name) => name.startsWith('market/'));
  return [...new Set(partitions)].map((name) => name.slice('market/'.length));
}
