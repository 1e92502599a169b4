/** A world that is made once and copied for each test: a copy takes a fifth of the time of the publishes behind it. */
import { type ItemKey, type Ledger, MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';
import { createWorld, SMALL_PAGES, type World } from './world.ts';

/**
 * Each call gives a new world in the state in which `fill` leaves one. The ids of attempts are others.
 *
 * @param adapt gives each world, the first one too, its own dependencies
 */
export function copiesOf(fill: (world: World) => Promise<unknown>, adapt = (world: World) => world) {
  const make = async () => {
    const { ledger, keys } = watchedLedger();
    const world = adapt(createWorld(SMALL_PAGES, ledger));
    await fill(world);
    return { world, keys };
  };
  let made: ReturnType<typeof make> | undefined;
  return async (): Promise<World> => {
    made ??= make();
    const { world, keys } = await made;
    const ledger = await copyOf(world.ledger, [...keys.values()]);
    return adapt(createWorld(SMALL_PAGES, ledger, world.objects.copy(), world.clock.nowMs));
  };
}

/** With the keys of all items that it ever had. */
function watchedLedger() {
  const ledger = openSqliteLedger(':memory:');
  const keys = new Map<string, ItemKey>();
  const watched = wrappedLedger(ledger, {
    transact(changes, options) {
      for (const { key } of changes) keys.set(`${key.partition} ${key.sort}`, key);
      return ledger.transact(changes, options);
    },
  });
  return { ledger: watched, keys };
}

async function copyOf(ledger: Ledger, keys: readonly ItemKey[]): Promise<Ledger> {
  const copy = openSqliteLedger(':memory:');
  for (let start = 0; start < keys.length; start += MAX_TRANSACT_CHANGES) {
    const items = await ledger.getMany(keys.slice(start, start + MAX_TRANSACT_CHANGES));
    const puts = items.flatMap((item) => {
      if (item === null) return [];
      const { attemptId, expiresAtMs, partition, sort, ...rest } = item;
      const expiry = expiresAtMs === null ? {} : { expiresAtMs };
      return [{ kind: 'put', key: { partition, sort }, ...rest, ...expiry, if: { kind: 'absent' } } as const];
    });
    if (puts.length > 0) await copy.transact(puts, { attemptId: `copy-${start}` });
  }
  return copy;
}
