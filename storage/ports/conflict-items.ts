/** The items that refused a transaction, by their keys. The only place that casts them to their type. */
import type { Change, Item, ItemKey, Refusal } from './ledger.ts';
import { describeKey } from './ledger-rules.ts';

/** Empty if no transaction was refused. */
export class ConflictItems {
  readonly #items: ReadonlyMap<string, Item | null>;

  constructor(changes: readonly Change[] = [], refusals: readonly Refusal[] = []) {
    this.#items = new Map(
      refusals.flatMap(({ index, found }) => {
        const key = changes[index]?.key;
        return key === undefined ? [] : [[describeKey(key), found]];
      }),
    );
  }

  /** The item that refused a change; null: there was no item; undefined: no change of this key was refused. */
  get<Value>(key: ItemKey<Value>): Item<Value> | null | undefined {
    return this.#items.get(describeKey(key)) as Item<Value> | null | undefined;
  }
}
