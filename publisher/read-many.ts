/** Reads any number of items by their keys. */
import pMap from 'p-map';
import { type Item, type ItemKey, type Ledger, MAX_GET_KEYS } from '../storage/ledger.ts';
import { inBatches } from '../storage/paging.ts';

const BATCHES_AT_ONCE = 16;

/** An item or null for each of the keys, in their order. */
export async function readMany<Value>(
  ledger: Pick<Ledger, 'getMany'>,
  keys: readonly ItemKey<Value>[],
): Promise<readonly (Item<Value> | null)[]> {
  const getMany = (batch: readonly ItemKey<Value>[]) => ledger.getMany(batch as readonly ItemKey[]);
  const found = (await pMap(inBatches(keys, MAX_GET_KEYS), getMany, { concurrency: BATCHES_AT_ONCE })).flat();
  return found as readonly (Item<Value> | null)[];
}
