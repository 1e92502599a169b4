/** A restore to a moment with a part of one transaction. */
import type { Change } from '../../storage/ports/ledger.ts';
import { marketWrittenBy } from './facts.ts';
import type { World } from './world.ts';

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
