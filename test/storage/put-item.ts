import type { Json } from '../../contract/values/canonical-json.ts';
import type { ItemKey, Ledger } from '../../storage/ports/ledger.ts';

let attempts = 0;

/** Writes an item, whatever was there. */
export async function putItem<Value = Json>(
  ledger: Pick<Ledger, 'transact'>,
  key: ItemKey<Value>,
  value: NoInfer<Value>,
  revision = 0,
): Promise<void> {
  const change = { kind: 'put', key, revision, value, if: { kind: 'any' } } as const;
  await ledger.transact([change as never], { attemptId: `put-item-${++attempts}` });
}

/** Deletes an item, if it is there. */
export async function deleteItem(ledger: Pick<Ledger, 'transact'>, key: ItemKey): Promise<void> {
  await ledger.transact([{ kind: 'delete', key, if: { kind: 'any' } }], { attemptId: `delete-item-${++attempts}` });
}
